//! The old version: written, read, and checked by the operator since the API server does not.

use serde_json::{Value, json};
use test_support::{Namespace, sample};

fn old(name: &str, groups: &str) -> Value {
    let mut raw = sample::raw(name, groups);
    raw["apiVersion"] = json!("ray.io/v1alpha1");
    raw
}

#[tokio::test]
async fn it_is_written_and_read() {
    let ns = Namespace::new("crd").await;
    let mut raw = old("demo", "[{groupName: a, replicas: 3}]");
    let container = &mut raw["spec"]["headGroupSpec"]["template"]["spec"]["containers"][0];
    container["lifecycle"] = json!({"preStop": {"exec": {"command": ["ray", "stop"]}}});
    let written = ns.kubectl(&["create", "-f", "-"], Some(raw.to_string())).await;
    assert!(written.success, "{}", written.stderr);
    assert!(written.stderr.contains("deprecated"), "{}", written.stderr);
    let new = ns.clusters.get("demo").await.unwrap();
    assert_eq!(new.spec.worker_group_specs[0].replicas, Some(3));
    let container = &new.spec.head_group_spec.template.spec.unwrap().containers[0];
    assert!(container.lifecycle.as_ref().unwrap().pre_stop.is_some());
    ns.scale("demo", 0, 4).await;
    let read = ns.kubectl(&["get", "rayclusters.v1alpha1.ray.io", "demo", "-o", "json"], None).await;
    let read: Value = serde_json::from_str(&read.stdout).unwrap();
    assert_eq!(read["apiVersion"], "ray.io/v1alpha1");
    assert_eq!(read["spec"]["workerGroupSpecs"][0]["replicas"], 4);
    assert!(read.pointer("/spec/headGroupSpec/template/spec/containers/0/lifecycle/preStop").is_some());
}

#[tokio::test]
async fn mistakes_that_come_in_through_it_are_told_by_the_operator() {
    let ns = Namespace::new("crd").await;
    let _operator = ns.operator().await;
    let raw = old("demo", "[{groupName: a, minReplicas: 5, maxReplicas: 2}]");
    let written = ns.kubectl(&["create", "-f", "-"], Some(raw.to_string())).await;
    assert!(written.success, "{}", written.stderr);
    // The status is written through v1, whose rules the spec breaks: the API server must let it pass.
    let status = ns.status_is("demo", "a refusal", |status| status.condition_is_true("RayClusterSpecInvalid")).await;
    let message = &status.condition("RayClusterSpecInvalid").unwrap().message;
    assert!(message.contains("spec.workerGroupSpecs[0].minReplicas"), "{message}");
    ns.event("demo", "InvalidRayClusterSpec", "spec.workerGroupSpecs[0].minReplicas").await;
    assert!(ns.all_pods("demo").await.is_empty());
}
