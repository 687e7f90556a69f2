//! Dependencies point one way, and the pure crates stay pure.

// Tests fail by panicking.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// Crates that mean I/O, a runtime, a clock of its own or randomness.
const IMPURE: [&str; 10] =
    ["tokio", "hyper", "kube-client", "kube-runtime", "kube", "reqwest", "rand", "getrandom", "tower", "rustls"];

/// Our crates, lowest first: each may depend on those before it.
const LAYERS: [&str; 3] = ["ray-api", "ray-core", "ray-operator"];

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// Package name → names of its normal dependencies (no dev, no build), as resolved.
fn dependencies() -> BTreeMap<String, BTreeSet<String>> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version=1", "--locked", "--offline"])
        .current_dir(root())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let names: BTreeMap<&str, &str> = metadata["packages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|package| (package["id"].as_str().unwrap(), package["name"].as_str().unwrap()))
        .collect();
    let nodes = metadata["resolve"]["nodes"].as_array().unwrap().iter();
    nodes
        .map(|node| {
            let normal = node["deps"]
                .as_array()
                .unwrap()
                .iter()
                .filter(|dep| dep["dep_kinds"].as_array().unwrap().iter().any(|kind| kind["kind"].is_null()));
            let all = normal.map(|dep| names[dep["pkg"].as_str().unwrap()].to_owned()).collect();
            (names[node["id"].as_str().unwrap()].to_owned(), all)
        })
        .collect()
}

#[test]
fn api_and_core_do_no_io() {
    let dependencies = dependencies();
    for name in ["ray-api", "ray-core"] {
        let mut reached = BTreeSet::new();
        let mut next = vec![name.to_owned()];
        while let Some(name) = next.pop() {
            if reached.insert(name.clone()) {
                next.extend(dependencies[&name].iter().cloned());
            }
        }
        for impure in IMPURE {
            assert!(!reached.contains(impure), "{name} reaches {impure}");
        }
    }
}

#[test]
fn layers_depend_downwards_only() {
    let dependencies = dependencies();
    for (index, name) in LAYERS.iter().enumerate() {
        for above in &LAYERS[index + 1..] {
            assert!(!dependencies[*name].contains(*above), "{name} depends on {above}");
        }
    }
}

/// Every Rust source below `folder`, with its text.
fn sources(folder: &str) -> Vec<(String, String)> {
    let output = Command::new("git").args(["ls-files", folder]).current_dir(root()).output().unwrap();
    let paths = String::from_utf8(output.stdout).unwrap();
    let sources: Vec<_> = paths
        .lines()
        .filter(|path| path.ends_with(".rs"))
        .map(|path| (path.to_owned(), std::fs::read_to_string(root().join(path)).unwrap()))
        .collect();
    assert!(!sources.is_empty(), "nothing below {folder}");
    sources
}

#[test]
fn api_and_core_read_no_clock() {
    for folder in ["ray-operator/api/src", "ray-operator/core/src"] {
        for (path, text) in sources(folder) {
            for clock in ["Timestamp::now", "Zoned::now", "SystemTime", "Instant::now", "std::env::var", "std::fs"] {
                let allowed = path.contains("/bin/") || path.ends_with("tests.rs");
                assert!(allowed || !text.contains(clock), "{path} uses {clock}");
            }
        }
    }
}

#[test]
fn only_act_writes_to_kubernetes() {
    let writes = ["PostParams", "DeleteParams", "PatchParams", "Patch::"];
    for (path, text) in sources("ray-operator/manager/src") {
        for write in writes {
            assert!(path.contains("/src/act/") || !text.contains(write), "{path} uses {write}");
        }
    }
}
