//! Others move what is ours: children deleted by hand, labels taken away, finalizers of strangers, a status wiped.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests fail by panicking")]

use std::time::Duration;

use kube::api::{DeleteParams, Patch, PatchParams};
use serde_json::{Value, json};
use test_support::{Namespace, Play, eventually, is_leaving, name, names, sample, throughout, uid};

async fn patch_pod(ns: &Namespace, pod: &str, patch: Value) {
    ns.pods.patch(pod, &PatchParams::default(), &Patch::Merge(patch)).await.unwrap();
}

#[tokio::test]
async fn a_head_service_that_is_deleted_is_made_anew() {
    let ns = Namespace::new("world").await;
    let _operator = ns.operator().await;
    let _kubelet = ns.play(Play::All);
    ns.create(&sample::cluster("demo", "[{groupName: small}]")).await;
    ns.ready("demo").await;
    let pods: Vec<String> = ns.all_pods("demo").await.iter().map(|pod| uid(pod).to_owned()).collect();
    let old = ns.services.get("demo-head-svc").await.unwrap();
    ns.services.delete("demo-head-svc", &DeleteParams::default()).await.unwrap();
    eventually("a new Service", async || match ns.services.get_opt("demo-head-svc").await.unwrap() {
        Some(service) if uid(&service) != uid(&old) => Ok(()),
        other => Err(format!("{:?}", other.map(|service| service.metadata.uid))),
    })
    .await;
    ns.event("demo", "CreatedService", "demo-head-svc").await;
    let now: Vec<String> = ns.all_pods("demo").await.iter().map(|pod| uid(pod).to_owned()).collect();
    assert_eq!(now, pods);
    ns.status_is("demo", "endpoints again", |status| !status.endpoints.is_empty()).await;
}

/// KubeRay's own acceptance test: finalizers hold what is deleted, and it stays the only one that is.
#[tokio::test]
async fn a_foreign_finalizer_makes_no_second_worker_go() {
    let ns = Namespace::new("world").await;
    let _operator = ns.operator().await;
    let _kubelet = ns.play(Play::All);
    ns.create(&sample::cluster("demo", "[{groupName: small, replicas: 3}]")).await;
    ns.ready("demo").await;
    let pods = ns.all_pods("demo").await;
    for pod in &pods {
        patch_pod(&ns, name(pod), json!({"metadata": {"finalizers": ["example.com/hold"]}})).await;
    }
    ns.scale("demo", 0, 2).await;
    ns.has("demo", "small", 2).await;
    ns.ready("demo").await;
    throughout(Duration::from_secs(2), "one leaving worker", async || {
        let all = ns.all_pods("demo").await;
        let leaving = all.iter().filter(|pod| is_leaving(pod)).count();
        if all.len() == 4 && leaving == 1 { Ok(()) } else { Err(ns.describe("demo").await) }
    })
    .await;
    for pod in &pods {
        patch_pod(&ns, name(pod), json!({"metadata": {"finalizers": null}})).await;
    }
    eventually("its end", async || {
        let all = ns.all_pods("demo").await;
        if all.len() == 3 { Ok(()) } else { Err(format!("{:?}", names(&all))) }
    })
    .await;
}

#[tokio::test]
async fn a_worker_without_its_labels_is_replaced_under_another_name_and_left_alone() {
    let ns = Namespace::new("world").await;
    let _operator = ns.operator().await;
    let _kubelet = ns.play(Play::All);
    ns.create(&sample::cluster("demo", "[{groupName: small, replicas: 2}]")).await;
    ns.ready("demo").await;
    let old = ns.group("demo", "small").await;
    // As somebody does who wants to look at a pod in peace.
    let without = json!({"metadata": {"labels": {"ray.io/cluster": null, "ray.io/node-type": null}}});
    patch_pod(&ns, name(&old[0]), without).await;
    let now = ns.has("demo", "small", 2).await;
    assert!(now.iter().all(|pod| name(pod) != name(&old[0])), "{:?}", names(&now));
    ns.ready("demo").await;
    let quarantined = ns.pods.get(name(&old[0])).await.unwrap();
    assert_eq!(quarantined.metadata.deletion_timestamp, None);
}

#[tokio::test]
async fn a_worker_that_is_given_to_somebody_else_is_not_touched_any_more() {
    let ns = Namespace::new("world").await;
    let _operator = ns.operator().await;
    let _kubelet = ns.play(Play::All);
    ns.create(&sample::cluster("demo", "[{groupName: small, replicas: 2}]")).await;
    ns.ready("demo").await;
    let old = ns.group("demo", "small").await;
    patch_pod(&ns, name(&old[0]), json!({"metadata": {"ownerReferences": null}})).await;
    ns.has("demo", "small", 3).await;
    ns.scale("demo", 0, 0).await;
    let left = ns.has("demo", "small", 1).await;
    assert_eq!(uid(&left[0]), uid(&old[0]), "an orphan is nobody's to delete");
}

#[tokio::test]
async fn a_status_that_somebody_wiped_is_written_again_and_no_name_comes_back() {
    let ns = Namespace::new("world").await;
    let _operator = ns.operator().await;
    let _kubelet = ns.play(Play::All);
    ns.create(&sample::cluster("demo", "[{groupName: small, replicas: 2}]")).await;
    ns.ready("demo").await;
    let old = ns.group("demo", "small").await;
    let wipe = Patch::Merge(json!({"status": null}));
    ns.clusters.patch_status("demo", &PatchParams::default(), &wipe).await.unwrap();
    let status = ns.ready("demo").await;
    assert_eq!(status.worker_groups[0].last_ordinal, Some(2));
    assert_eq!(ns.audit.count("delete", "pods"), 0);
    ns.kubelet.fail(name(&old[1]), 1).await;
    eventually("a successor", async || {
        let now = ns.group("demo", "small").await;
        let fresh = now.iter().any(|pod| old.iter().all(|old| name(old) != name(pod)));
        if now.len() == 2 && fresh { Ok(()) } else { Err(format!("{:?}", names(&now))) }
    })
    .await;
}
