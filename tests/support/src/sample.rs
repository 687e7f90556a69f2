//! RayClusters for tests, from a few lines of YAML.

use ray_api::RayCluster;
use serde_json::{Map, Value, json};

/// A cluster with worker groups given as a YAML list, such as `[{groupName: small, replicas: 3}]`.
///
/// What is not said is filled in: a template with one container each, bounds 0 to 10.
///
/// # Panics
///
/// When the YAML is none, or makes no RayCluster.
#[must_use]
pub fn cluster(name: &str, groups: &str) -> RayCluster {
    serde_json::from_value(raw(name, groups)).expect("a RayCluster")
}

/// The same as plain JSON, for objects that no type of ours could hold.
///
/// # Panics
///
/// When the YAML is none.
#[must_use]
pub fn raw(name: &str, groups: &str) -> Value {
    let groups: Vec<Map<String, Value>> = serde_saphyr::from_str(groups).expect("a YAML list of worker groups");
    json!({
        "apiVersion": "ray.io/v1",
        "kind": "RayCluster",
        "metadata": {"name": name},
        "spec": {
            "rayVersion": "2.60.0",
            "headGroupSpec": {"rayStartParams": {}, "template": template("ray-head")},
            "workerGroupSpecs": groups.into_iter().map(group).collect::<Vec<_>>(),
        },
    })
}

/// A worker group with everything that `given` leaves out.
#[must_use]
pub fn group(given: Map<String, Value>) -> Value {
    let mut group = json!({
        "groupName": "small",
        "replicas": 1,
        "minReplicas": 0,
        "maxReplicas": 10,
        "rayStartParams": {},
        "template": template("ray-worker"),
    });
    for (key, value) in given {
        group[key] = value;
    }
    group
}

/// A pod template with one container.
#[must_use]
pub fn template(container: &str) -> Value {
    json!({"spec": {"containers": [{
        "name": container,
        "image": "rayproject/ray:2.60.0",
        "resources": {"requests": {"cpu": "100m", "memory": "128Mi"}, "limits": {"cpu": "1", "memory": "256Mi"}},
    }]}})
}
