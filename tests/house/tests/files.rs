//! Files stay small enough to read, and say nothing they should not.

// Tests fail by panicking.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use std::path::Path;
use std::process::Command;

/// No source is longer than this.
const LONGEST: usize = 800;
/// Nine of ten sources are shorter than this.
const USUAL: usize = 400;

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

fn tracked() -> Vec<String> {
    let output = Command::new("git").args(["ls-files"]).current_dir(root()).output().unwrap();
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

#[test]
fn sources_are_short() {
    let mut lengths: Vec<(usize, String)> = tracked()
        .into_iter()
        .filter(|path| path.ends_with(".rs") || path.ends_with(".go"))
        .filter_map(|path| Some((std::fs::read_to_string(root().join(&path)).ok()?.lines().count(), path)))
        .collect();
    lengths.sort();
    let (longest, path) = lengths.last().unwrap();
    assert!(*longest <= LONGEST, "{path} has {longest} lines");
    let (usual, path) = &lengths[lengths.len() * 9 / 10];
    assert!(*usual <= USUAL, "one in ten sources has {usual} lines or more, such as {path}");
    println!("{} sources, median {} lines, nine of ten below {usual}", lengths.len(), lengths[lengths.len() / 2].0);
}

#[test]
fn documents_exist() {
    for file in
        ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "LICENSE", "docs/kuberay-differences.md"]
    {
        let text = std::fs::read_to_string(root().join(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
        assert!(text.lines().count() > 5, "{file} is empty");
    }
}

/// Every path that a document names exists.
#[test]
fn documents_name_existing_files() {
    for file in ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"] {
        let text = std::fs::read_to_string(root().join(file)).unwrap();
        let roots = ["ray-operator/", "tests/", "local-cluster/", "docs/", "scripts/"];
        let quoted = text.split('`').skip(1).step_by(2);
        for path in quoted
            .filter(|path| roots.iter().any(|root| path.starts_with(root)) && !path.contains([' ', '*', '{', '<']))
        {
            assert!(root().join(path).exists(), "{file} names {path}, which does not exist");
        }
    }
}
