//! How scalers write: JSON patches by index, server-side apply by group name. And what may not be changed.

use kube::api::{Patch, PatchParams};
use serde_json::{Value, json};
use test_support::{Namespace, sample};

#[tokio::test]
async fn the_autoscalers_json_patches_work() {
    let ns = Namespace::new("crd").await;
    ns.create(&sample::cluster("demo", "[{groupName: a}, {groupName: b}]")).await;
    // `replace` of a `scaleStrategy` that is not there yet is what Ray sends.
    let patched = ns
        .json_patch(
            "demo",
            json!([
                {"op": "replace", "path": "/spec/workerGroupSpecs/1/replicas", "value": 7},
                {"op": "replace", "path": "/spec/workerGroupSpecs/1/scaleStrategy", "value": {"workersToDelete": ["x"]}},
                {"op": "test", "path": "/spec/workerGroupSpecs/0/groupName", "value": "a"},
            ]),
        )
        .await;
    let [a, b] = patched.spec.worker_group_specs.as_slice() else { panic!("two groups") };
    assert_eq!((a.replicas, b.replicas), (Some(1), Some(7)));
    assert_eq!((a.workers_to_delete(), b.workers_to_delete()), ([].as_slice(), ["x".to_owned()].as_slice()));
}

#[tokio::test]
async fn a_scaler_can_own_the_replicas_of_one_group() {
    let ns = Namespace::new("crd").await;
    let mut raw = sample::raw("demo", "[{groupName: a}, {groupName: b}]");
    // The user leaves the number of `b` to the scaler.
    raw["spec"]["workerGroupSpecs"][1].as_object_mut().unwrap().remove("replicas");
    let user = PatchParams::apply("user");
    ns.clusters.patch("demo", &user, &Patch::Apply(&raw)).await.unwrap();
    let scale = |replicas: i32| {
        json!({"apiVersion": "ray.io/v1", "kind": "RayCluster", "metadata": {"name": "demo"},
               "spec": {"workerGroupSpecs": [{"groupName": "b", "replicas": replicas}]}})
    };
    let scaler = PatchParams::apply("scaler");
    let scaled = ns.clusters.patch("demo", &scaler, &Patch::Apply(&scale(5))).await;
    // Alone, the patch lacks what the definition requires; what counts is the merged object.
    let scaled = scaled.unwrap();
    let replicas = |cluster: &ray_api::RayCluster| -> Vec<Option<i32>> {
        cluster.spec.worker_group_specs.iter().map(|group| group.replicas).collect()
    };
    assert_eq!(replicas(&scaled), [Some(1), Some(5)]);
    // The user applies again and does not take the number back.
    raw["spec"]["workerGroupSpecs"][0]["replicas"] = json!(2);
    let applied = ns.clusters.patch("demo", &user, &Patch::Apply(&raw)).await.unwrap();
    assert_eq!(replicas(&applied), [Some(2), Some(5)]);
    // And the scaler may not touch the user's.
    let mut theirs: Value = scale(9);
    theirs["spec"]["workerGroupSpecs"][0]["groupName"] = json!("a");
    let refused = ns.clusters.patch("demo", &scaler, &Patch::Apply(&theirs)).await.unwrap_err().to_string();
    assert!(refused.contains("conflict") && refused.contains("replicas"), "{refused}");
}

#[tokio::test]
async fn what_must_not_change_cannot() {
    let ns = Namespace::new("crd").await;
    let mut raw = sample::raw("demo", "[]");
    raw["spec"]["managedBy"] = json!("ray.io/kuberay-operator");
    raw["spec"]["gcsFaultToleranceOptions"] = json!({"redisAddress": "redis:6379"});
    ns.create(&serde_json::from_value(raw).unwrap()).await;
    for (patch, told) in [
        (json!({"spec": {"managedBy": "kueue.x-k8s.io/multikueue"}}), "managedBy cannot be changed"),
        (
            json!({"spec": {"gcsFaultToleranceOptions": {"backend": "rocksdb", "redisAddress": null}}}),
            "backend cannot be changed",
        ),
    ] {
        let refused = ns.clusters.patch("demo", &PatchParams::default(), &Patch::Merge(&patch)).await;
        let text = refused.map(|_| "accepted".to_owned()).unwrap_or_else(|error| error.to_string());
        assert!(text.contains(told), "{patch}: {text}");
    }
}
