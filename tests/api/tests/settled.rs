//! A settled cluster costs nothing: no write, no request but the watches.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests fail by panicking")]

use std::time::Duration;

use serde_json::json;
use test_support::{Namespace, Play, name, sample, throughout};

/// How long nothing must happen.
const SILENCE: Duration = Duration::from_secs(15);

/// Waits until the operator has been quiet for a while, longer than any coalescing of status writes.
async fn settle(ns: &Namespace) -> usize {
    let (mut count, mut since) = (ns.audit.requests().len(), std::time::Instant::now());
    test_support::eventually("three quiet seconds", async || {
        let now = ns.audit.requests();
        if now.len() != count {
            (count, since) = (now.len(), std::time::Instant::now());
        }
        if since.elapsed() > Duration::from_secs(3) { Ok(()) } else { Err(format!("{:?}", now.last())) }
    })
    .await;
    count
}

#[tokio::test]
async fn clusters_at_rest_cost_no_request() {
    let ns = Namespace::new("settled").await;
    let _operator = ns.operator().await;
    // Ready, with names nobody has in `workersToDelete`, wanted ones out of bounds, and an unknown one.
    ns.create(&sample::cluster("ready", "[{groupName: a, replicas: 3}, {groupName: b, replicas: 99, maxReplicas: 2}]"))
        .await;
    let mut stale: Vec<String> = (0..500).map(|number| format!("ready-a-worker-{number:05}")).collect();
    stale.push("kube-dns".to_owned());
    ns.patch("ready", json!({"spec": {"rayVersion": "2.60.1"}})).await;
    ns.json_patch(
        "ready",
        json!([{"op": "add", "path": "/spec/workerGroupSpecs/0/scaleStrategy", "value": {"workersToDelete": stale}}]),
    )
    .await;
    // Pending for ever, each in its way.
    ns.create(&sample::cluster("pending", "[{groupName: a, replicas: 2}]")).await;
    // Refused.
    let mut refused = sample::raw("refused", "[{groupName: a, replicas: 1}]");
    refused["spec"]["suspend"] = json!(true);
    refused["spec"]["upgradeStrategy"] = json!({"type": "Recreate"});
    refused["metadata"]["labels"] = json!({"ray.io/originated-from-crd": "RayJob"});
    ns.create(&serde_json::from_value(refused).unwrap()).await;
    // Somebody else's.
    let mut other = sample::raw("other", "[{groupName: a, replicas: 1}]");
    other["spec"]["managedBy"] = json!("kueue.x-k8s.io/multikueue");
    ns.create(&serde_json::from_value(other).unwrap()).await;
    // Without workers.
    ns.create(&sample::cluster("head-only", "[]")).await;

    ns.has("ready", "a", 3).await;
    ns.has("ready", "b", 2).await;
    for cluster in ["ready", "head-only"] {
        ns.has(cluster, "headgroup", 1).await;
        for pod in ns.all_pods(cluster).await {
            ns.kubelet.run(name(&pod)).await;
        }
        ns.ready(cluster).await;
    }
    let workers = ns.has("pending", "a", 2).await;
    ns.kubelet.wait(name(&workers[0]), "ImagePullBackOff", "Back-off pulling image").await;
    ns.kubelet.unschedulable(name(&workers[1]), "0/1 nodes are available").await;
    ns.kubelet.not_ready(name(&ns.head("pending").await.unwrap())).await;

    let count = settle(&ns).await;
    throughout(SILENCE, "silence", async || {
        let later = ns.audit.requests().split_off(count);
        if later.is_empty() { Ok(()) } else { Err(format!("{later:#?}")) }
    })
    .await;
}

#[tokio::test]
async fn what_others_write_about_a_settled_cluster_costs_nothing() {
    let ns = Namespace::new("settled").await;
    let _operator = ns.operator().await;
    let _kubelet = ns.play(Play::All);
    ns.create(&sample::cluster("demo", "[{groupName: a, replicas: 2}]")).await;
    ns.ready("demo").await;
    let count = settle(&ns).await;
    // Labels, annotations, pods of no concern, and heartbeats of pods that change nothing.
    for round in 0..10 {
        ns.patch("demo", json!({"metadata": {"annotations": {"round": round.to_string()}}})).await;
        for pod in ns.all_pods("demo").await {
            let patch = json!({"metadata": {"annotations": {"round": round.to_string()}}});
            let params = kube::api::PatchParams::default();
            ns.pods.patch(name(&pod), &params, &kube::api::Patch::Merge(patch)).await.unwrap();
        }
    }
    throughout(Duration::from_secs(4), "silence", async || {
        let later = ns.audit.requests().split_off(count);
        if later.is_empty() { Ok(()) } else { Err(format!("{later:#?}")) }
    })
    .await;
}
