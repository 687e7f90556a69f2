//! A RayCluster is deleted: everything goes, nothing comes back.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests fail by panicking")]

use std::time::Duration;

use k8s_openapi::api::core::v1::{ConfigMap, Namespace as KubernetesNamespace};
use kube::Api;
use kube::api::{DeleteParams, PostParams, PropagationPolicy};
use serde_json::json;
use test_support::{Namespace, Play, eventually, eventually_within, name, names, sample, uid};

/// A namespace in a cluster whose garbage collector knows RayClusters by now: it looks for new kinds every 30 s.
async fn collected() -> Namespace {
    static KNOWN: tokio::sync::OnceCell<()> = tokio::sync::OnceCell::const_new();
    KNOWN
        .get_or_init(async || {
            let ns = Namespace::new("collector").await;
            let maps: Api<ConfigMap> = Api::namespaced(ns.client.clone(), &ns.name);
            let owner = ns.create(&sample::cluster("probe", "[]")).await;
            let reference =
                json!({"apiVersion": "ray.io/v1", "kind": "RayCluster", "name": "probe", "uid": uid(&owner)});
            let map = json!({"metadata": {"name": "probe", "ownerReferences": [reference]}});
            maps.create(&PostParams::default(), &serde_json::from_value(map).unwrap()).await.unwrap();
            ns.clusters.delete("probe", &DeleteParams::default()).await.unwrap();
            eventually_within(Duration::from_secs(120), "garbage collection of RayClusters", async || {
                match maps.get_opt("probe").await {
                    Ok(None) => Ok(()),
                    other => Err(format!("{:?}", other.map(|_| "still there"))),
                }
            })
            .await;
        })
        .await;
    Namespace::new("deletion").await
}

/// Waits until nothing of the cluster is left.
async fn gone(ns: &Namespace, cluster: &str) {
    eventually("nothing left", async || {
        let pods = ns.all_pods(cluster).await;
        let mut services = ns.services.list(&Default::default()).await.unwrap().items;
        services.retain(|service| name(service).starts_with(&format!("{cluster}-")));
        let object = ns.clusters.get_opt(cluster).await.unwrap();
        if pods.is_empty() && services.is_empty() && object.is_none() {
            return Ok(());
        }
        Err(format!("pods {:?}, Services {:?}, object {}", names(&pods), names(&services), object.is_some()))
    })
    .await;
}

/// Deletes a ready cluster and says how many pods were created in the end.
async fn delete_ready(policy: PropagationPolicy) {
    let ns = collected().await;
    let _operator = ns.operator().await;
    let _kubelet = ns.play(Play::All);
    ns.create(&sample::cluster("demo", "[{groupName: small, replicas: 3}]")).await;
    ns.ready("demo").await;
    let params = DeleteParams { propagation_policy: Some(policy), ..DeleteParams::default() };
    ns.clusters.delete("demo", &params).await.unwrap();
    gone(&ns, "demo").await;
    assert_eq!(ns.audit.count("create", "pods"), 4, "nothing was made anew");
    assert_eq!(ns.audit.count("delete", "pods"), 0, "garbage collection does it");
}

#[tokio::test]
async fn in_the_background() {
    delete_ready(PropagationPolicy::Background).await;
}

/// The object outlives its pods, which must not be replaced meanwhile.
#[tokio::test]
async fn in_the_foreground() {
    delete_ready(PropagationPolicy::Foreground).await;
}

#[tokio::test]
async fn while_pods_are_pending() {
    let ns = collected().await;
    let _operator = ns.operator().await;
    ns.create(&sample::cluster("demo", "[{groupName: small, replicas: 3}]")).await;
    ns.has("demo", "small", 3).await;
    ns.clusters.delete("demo", &DeleteParams::default()).await.unwrap();
    gone(&ns, "demo").await;
}

#[tokio::test]
async fn at_once_after_the_creation() {
    let ns = collected().await;
    let _operator = ns.operator().await;
    let _kubelet = ns.play(Play::Deletions);
    // Pods that are created for an owner that is gone are collected all the same.
    for round in 0..5 {
        let name = format!("demo-{round}");
        ns.create(&sample::cluster(&name, "[{groupName: small, replicas: 20}]")).await;
        ns.clusters.delete(&name, &DeleteParams::default()).await.unwrap();
    }
    for round in 0..5 {
        gone(&ns, &format!("demo-{round}")).await;
    }
}

#[tokio::test]
async fn a_successor_of_the_same_name_gets_pods_of_its_own() {
    let ns = collected().await;
    let _operator = ns.operator().await;
    let _kubelet = ns.play(Play::All);
    let sample = sample::cluster("demo", "[{groupName: small, replicas: 2}]");
    ns.create(&sample).await;
    ns.ready("demo").await;
    let before = ns.all_pods("demo").await;
    ns.clusters.delete("demo", &DeleteParams::default()).await.unwrap();
    let successor = ns.create(&sample).await;
    // The old Service still has the name for a moment; that is waited out.
    ns.ready("demo").await;
    eventually("the successor's pods only", async || {
        let pods = ns.all_pods("demo").await;
        let own = |pod: &k8s_openapi::api::core::v1::Pod| {
            pod.metadata.owner_references.iter().flatten().any(|owner| owner.uid == uid(&successor))
        };
        if pods.len() == 3 && pods.iter().all(own) { Ok(()) } else { Err(format!("{:?}", names(&pods))) }
    })
    .await;
    let service = ns.services.get("demo-head-svc").await.unwrap();
    assert_eq!(service.metadata.owner_references.unwrap()[0].uid, uid(&successor));
    let after = ns.all_pods("demo").await;
    assert!(before.iter().all(|old| after.iter().all(|new| name(old) != name(new))));
    let status = ns.status("demo").await;
    assert!(status.condition("ReconcileFailure").is_none(), "{status:?}");
}

#[tokio::test]
async fn with_its_namespace() {
    let ns = collected().await;
    let _operator = ns.operator().await;
    let _kubelet = ns.play(Play::All);
    ns.create(&sample::cluster("demo", "[{groupName: small, replicas: 3}]")).await;
    ns.ready("demo").await;
    let namespaces: Api<KubernetesNamespace> = Api::all(ns.client.clone());
    namespaces.delete(&ns.name, &DeleteParams::default()).await.unwrap();
    eventually("no namespace", async || match namespaces.get_opt(&ns.name).await {
        Ok(None) => Ok(()),
        other => Err(format!("{:?}", other.map(|namespace| namespace.and_then(|namespace| namespace.status)))),
    })
    .await;
    // Whatever order the namespace's content goes in, replacing it is tried a few times at most.
    let creates = ns.audit.requests().into_iter().filter(|request| request.verb == "create");
    let refused: Vec<_> = creates.filter(|request| request.code >= 400).collect();
    assert!(refused.len() <= 24, "{refused:#?}");
}

#[tokio::test]
async fn while_the_operator_is_away() {
    let ns = collected().await;
    let operator = ns.operator().await;
    let _kubelet = ns.play(Play::All);
    ns.create(&sample::cluster("demo", "[{groupName: small, replicas: 2}]")).await;
    ns.ready("demo").await;
    operator.stop().await;
    ns.clusters.delete("demo", &DeleteParams::default()).await.unwrap();
    let _operator = ns.operator().await;
    gone(&ns, "demo").await;
    assert_eq!(ns.audit.count("create", "pods"), 3);
}
