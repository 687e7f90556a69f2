//! Every sample is tried: the folder is the list.

use std::time::Instant;

use serde_json::Value;
use test_support::workspace;

use crate::cluster::Cluster;
use crate::program;
use crate::told::tell;

/// Files with samples.
pub(crate) fn names() -> Vec<String> {
    let files = std::fs::read_dir(workspace().join("ray-operator/deploy/samples")).unwrap();
    let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.filter(|name| name.ends_with(".yaml")).collect();
    names.sort();
    names
}

/// The one object in a sample.
pub(crate) fn read(name: &str) -> Value {
    let text = std::fs::read_to_string(workspace().join("ray-operator/deploy/samples").join(name)).unwrap();
    serde_saphyr::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Applies a sample and waits until it is ready.
pub(crate) async fn gets_ready(name: String) {
    let object = read(&name);
    let kind = object.get("kind").and_then(Value::as_str);
    assert_eq!(kind, Some("RayCluster"), "{name}: say here what ready means for that kind");
    let start = Instant::now();
    let namespace = format!("e2e-{}", name.trim_end_matches(".yaml").replace('.', "-"));
    let cluster = Cluster::create(&namespace, &object).await;
    cluster.ready().await;
    tell(format_args!("apply → ready: {:.1} s", start.elapsed().as_secs_f64()));
    cluster.tell_phases().await;
    program::runs_on_every_node(&cluster).await;
    cluster.delete().await;
    cluster.put_away().await;
}
