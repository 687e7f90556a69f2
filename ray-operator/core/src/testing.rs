//! Clusters and pods for unit tests, in few words.

use std::sync::Arc;

use jiff::Timestamp;
use ray_api::RayCluster;
use serde_json::{Value, json};

use crate::config::OperatorConfig;
use crate::observed::{Memory, Observed, ObservedPod, ObservedService};
use crate::plan::{Action, Decision, Verdict, Write, plan};

/// The present of all tests.
pub(crate) fn now() -> Timestamp {
    "2026-01-01T12:00:00Z".parse().unwrap()
}

/// `seconds` after [`now`].
pub(crate) fn after(seconds: i64) -> Timestamp {
    now().checked_add(jiff::SignedDuration::from_secs(seconds)).unwrap()
}

/// A cluster named `demo` with groups of (name, min, replicas, max).
pub(crate) fn cluster(groups: &[(&str, i32, i32, i32)]) -> RayCluster {
    let template = json!({"spec": {"containers": [{"name": "ray", "image": "ray"}]}});
    let groups: Vec<Value> = groups
        .iter()
        .map(|(name, min, replicas, max)| {
            json!({"groupName": name, "minReplicas": min, "replicas": replicas, "maxReplicas": max,
                "template": template})
        })
        .collect();
    serde_json::from_value(json!({
        "metadata": {"name": "demo", "namespace": "ns", "uid": "cluster-uid", "generation": 1},
        "spec": {"headGroupSpec": {"template": template}, "workerGroupSpecs": groups},
    }))
    .unwrap()
}

/// A pod of `demo`, running and ready; `changes` is merged into its JSON.
fn pod(name: &str, node_type: &str, group: &str, changes: &Value) -> Arc<ObservedPod> {
    let mut object = json!({
        "metadata": {
            "name": name, "namespace": "ns", "uid": format!("uid-{name}"), "resourceVersion": "1",
            "creationTimestamp": "2026-01-01T10:00:00Z",
            "labels": {"ray.io/cluster": "demo", "ray.io/node-type": node_type, "ray.io/group": group},
            "ownerReferences": [{"uid": "cluster-uid", "name": "demo", "controller": true}],
        },
        "spec": {"nodeName": "node", "restartPolicy": "Always", "containers": [{"name": "ray"}]},
        "status": {
            "phase": "Running", "podIP": "10.0.0.1",
            "conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": "2026-01-01T10:00:10Z"}],
        },
    });
    merge(&mut object, changes);
    Arc::new(serde_json::from_value(object).unwrap())
}

/// A worker, running and ready.
pub(crate) fn worker(group: &str, name: &str) -> Arc<ObservedPod> {
    pod(name, "worker", group, &Value::Null)
}

/// A worker that differs from a ready one by `changes` (a JSON merge patch).
pub(crate) fn worker_with(group: &str, name: &str, changes: &Value) -> Arc<ObservedPod> {
    pod(name, "worker", group, changes)
}

/// The head, running and ready.
pub(crate) fn head(name: &str) -> Arc<ObservedPod> {
    pod(name, "head", "headgroup", &Value::Null)
}

/// A head that differs from a ready one by `changes`.
pub(crate) fn head_with(name: &str, changes: &Value) -> Arc<ObservedPod> {
    pod(name, "head", "headgroup", changes)
}

/// Merge patches of common states.
pub(crate) mod state {
    use serde_json::{Value, json};

    pub(crate) fn leaving() -> Value {
        json!({"metadata": {"deletionTimestamp": "2026-01-01T12:00:30Z"}})
    }
    pub(crate) fn failed(finished_at: &str) -> Value {
        json!({"status": {"phase": "Failed", "conditions": [], "containerStatuses": [{"name": "ray", "state":
            {"terminated": {"exitCode": 1, "reason": "Error", "finishedAt": finished_at}}}]}})
    }
    pub(crate) fn pending() -> Value {
        json!({"status": {"phase": "Pending", "conditions": []}, "spec": {"nodeName": null}})
    }
    pub(crate) fn not_ready() -> Value {
        json!({"status": {"conditions": [{"type": "Ready", "status": "False"}]}})
    }
    pub(crate) fn costs(cost: i32) -> Value {
        json!({"metadata": {"annotations": {"controller.kubernetes.io/pod-deletion-cost": cost.to_string()}}})
    }
    pub(crate) fn created(at: &str) -> Value {
        json!({"metadata": {"creationTimestamp": at}})
    }
}

fn merge(target: &mut Value, patch: &Value) {
    let Value::Object(patch) = patch else { return };
    for (key, value) in patch {
        match (target.get_mut(key), value) {
            (Some(existing @ Value::Object(_)), Value::Object(_)) => merge(existing, value),
            _ => target[key] = value.clone(),
        }
    }
}

/// What is observed: a cluster, its pods, and its head Service.
pub(crate) fn observed(cluster: RayCluster, pods: Vec<Arc<ObservedPod>>) -> Observed {
    let service: ObservedService = serde_json::from_value(json!({
        "metadata": {"name": "demo-head-svc", "namespace": "ns", "uid": "uid-svc", "resourceVersion": "1",
            "ownerReferences": [{"uid": "cluster-uid", "controller": true}]},
        "spec": {"clusterIP": "None", "ports": [{"name": "dashboard", "port": 8265}]},
    }))
    .unwrap();
    Observed { cluster, pods, services: vec![Arc::new(service)], memory: Memory::default() }
}

/// The plan, which must be to act.
pub(crate) fn decide(observed: &Observed) -> Box<Decision> {
    match plan(observed, &OperatorConfig::default(), now()) {
        Verdict::Act(decision) => decision,
        other => panic!("not an act: {other:?}"),
    }
}

/// Names of the pods that go.
pub(crate) fn deleted<'a>(writes: impl IntoIterator<Item = &'a Write>) -> Vec<&'a str> {
    let name = |write: &'a Write| match &write.action {
        Action::DeletePod { name, .. } => Some(name.as_str()),
        _ => None,
    };
    writes.into_iter().filter_map(name).collect()
}

/// How many pods are made.
pub(crate) fn created<'a>(writes: impl IntoIterator<Item = &'a Write>) -> Vec<&'a str> {
    let name = |write: &'a Write| match &write.action {
        Action::CreatePod { name, .. } => Some(name.as_str()),
        _ => None,
    };
    writes.into_iter().filter_map(name).collect()
}
