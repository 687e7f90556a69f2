//! The API server says no: the reason reaches the user, the rest goes on, and attempts stay few.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests fail by panicking")]

use std::time::Duration;

use k8s_openapi::api::core::v1::{Pod, ResourceQuota, Service};
use kube::Api;
use kube::api::{DeleteParams, Patch, PatchParams, PostParams};
use ray_api::RayClusterStatus;
use ray_core::pod_names::PodNames;
use ray_core::valid::ClusterIdentity;
use serde_json::{Value, json};
use test_support::{Namespace, Play, eventually, name, names, sample, throughout, uid};

fn failure(status: &RayClusterStatus, kind: &str) -> Option<(String, String)> {
    status.condition(kind).filter(|c| c.status == "True").map(|c| (c.reason.clone(), c.message.clone()))
}

async fn quota(ns: &Namespace, hard: Value) {
    let quotas: Api<ResourceQuota> = Api::namespaced(ns.client.clone(), &ns.name);
    let quota =
        json!({"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "quota"}, "spec": {"hard": hard}});
    quotas.patch("quota", &PatchParams::apply("test").force(), &Patch::Apply(&quota)).await.unwrap();
    // It counts only once the controller has set it up.
    eventually("a quota in force", async || {
        let quota = quotas.get("quota").await.unwrap();
        let (spec, status) = (quota.spec.unwrap().hard, quota.status.and_then(|status| status.hard));
        if status.is_some() && status == spec { Ok(()) } else { Err(format!("{spec:?} {status:?}")) }
    })
    .await;
}

/// Creates of pods that were refused.
fn refusals(ns: &Namespace) -> Vec<String> {
    let requests = ns.audit.requests().into_iter();
    requests.filter(|r| r.verb == "create" && r.resource == "pods" && r.code >= 400).map(|r| r.name).collect()
}

#[tokio::test]
async fn a_quota_lets_some_pods_through_and_the_reason_is_told() {
    let ns = Namespace::new("failure").await;
    let _operator = ns.operator().await;
    let _kubelet = ns.play(Play::All);
    quota(&ns, json!({"requests.cpu": "1"})).await;
    let mut raw = sample::raw("demo", "[{groupName: big, replicas: 5}, {groupName: small, replicas: 2}]");
    let big = &mut raw["spec"]["workerGroupSpecs"][0]["template"]["spec"]["containers"][0]["resources"];
    *big = json!({"requests": {"cpu": "2"}, "limits": {"cpu": "2"}});
    ns.create(&serde_json::from_value(raw).unwrap()).await;

    let told = |status: &RayClusterStatus| failure(status, "ReplicaFailure").is_some();
    let status = ns.status_is("demo", "a failure", told).await;
    let (reason, message) = failure(&status, "ReplicaFailure").unwrap();
    assert_eq!(reason, "FailedCreateWorkerPod");
    assert!(message.contains("big") && message.contains("exceeded quota: quota"), "{message}");
    ns.event("demo", "FailedToCreateWorkerPod", "exceeded quota: quota").await;
    // The head and the other group are there all the same.
    ns.has("demo", "small", 2).await;
    ns.has("demo", "headgroup", 1).await;
    let rest = |status: &RayClusterStatus| status.ready_worker_replicas == Some(2);
    let status = ns.status_is("demo", "the rest at work", rest).await;
    let blocked = status.worker_group("big").unwrap().blocked.clone().unwrap();
    assert_eq!(blocked.reason, "CreateFailed");
    assert!(blocked.message.contains("exceeded quota"), "{blocked:?}");
    assert!(!status.condition_is_true("RayClusterProvisioned"), "complete means complete");

    quota(&ns, json!({"requests.cpu": "20"})).await;
    ns.has("demo", "big", 5).await;
    let status = ns.ready("demo").await;
    assert_eq!(failure(&status, "ReplicaFailure"), None);
    assert_eq!(status.worker_group("big").unwrap().blocked, None);
}

#[tokio::test]
async fn refused_pods_are_tried_seldom_and_always_under_the_same_names() {
    let ns = Namespace::new("failure").await;
    quota(&ns, json!({"pods": "1"})).await;
    let _operator = ns.operator().await;
    let _kubelet = ns.play(Play::All);
    ns.create(&sample::cluster("demo", "[{groupName: small, replicas: 5, maxReplicas: 100}]")).await;
    let four = eventually("three attempts", async || {
        let refused = refusals(&ns);
        let times = |name: &String| refused.iter().filter(|other| *other == name).count();
        let attempts = refused.iter().map(times).max().unwrap_or(0);
        if attempts >= 3 { Ok(refused) } else { Err(format!("{refused:?}")) }
    })
    .await;
    let distinct: std::collections::BTreeSet<&String> = four.iter().collect();
    // The head, five workers, and of the first batch the few whose numbers were passed over.
    assert!(distinct.len() <= 9, "{distinct:?}");
    // The first waits are 1, 2, 4, … s: in 5 s no more than three further attempts, four pods each.
    let before = refusals(&ns).len();
    throughout(Duration::from_secs(5), "few attempts", async || {
        let more = refusals(&ns).len() - before;
        if more <= 12 { Ok(()) } else { Err(format!("{more} more")) }
    })
    .await;
    // One message, told once: the status and the events do not grow with the attempts.
    let events = ns.events("demo").await;
    let failed = events.iter().filter(|event| event.reason.starts_with("FailedToCreate")).count();
    assert!(failed <= 3, "{events:#?}");
    quota(&ns, json!({"pods": "100"})).await;
    ns.ready("demo").await;
    // Of the first batch one may have got through before its lower numbers; those few are lost.
    let group = ns.status("demo").await.worker_group("small").cloned().unwrap();
    assert!((5..=8).contains(&group.last_ordinal.unwrap()), "{group:?}");
}

#[tokio::test]
async fn without_room_for_a_head_the_condition_is_kuberays() {
    let ns = Namespace::new("failure").await;
    let _operator = ns.operator().await;
    let _kubelet = ns.play(Play::All);
    ns.create(&sample::cluster("demo", "[]")).await;
    ns.ready("demo").await;
    quota(&ns, json!({"pods": "0"})).await;
    ns.pods.delete(name(&ns.head("demo").await.unwrap()), &DeleteParams::default()).await.unwrap();
    let status = ns
        .status_is("demo", "a failure", |status| {
            failure(status, "ReplicaFailure").is_some() && !status.condition_is_true("HeadPodReady")
        })
        .await;
    let (reason, message) = failure(&status, "ReplicaFailure").unwrap();
    assert_eq!(reason, "FailedCreateHeadPod");
    assert!(message.contains("exceeded quota"), "{message}");
    assert_eq!(status.condition("HeadPodReady").unwrap().reason, "HeadPodNotFound");
    assert!(status.condition_is_true("RayClusterProvisioned"));
}

#[tokio::test]
async fn a_service_name_that_is_taken_is_told_and_waited_for() {
    let ns = Namespace::new("failure").await;
    let stranger: Service = serde_json::from_value(
        json!({"metadata": {"name": "demo-head-svc"}, "spec": {"ports": [{"port": 80}], "selector": {"app": "x"}}}),
    )
    .unwrap();
    let stranger = ns.services.create(&PostParams::default(), &stranger).await.unwrap();
    let _operator = ns.operator().await;
    let _kubelet = ns.play(Play::All);
    ns.create(&sample::cluster("demo", "[{groupName: small, replicas: 2}]")).await;
    let told = |status: &RayClusterStatus| failure(status, "ReconcileFailure").is_some();
    let status = ns.status_is("demo", "a failure", told).await;
    let (reason, message) = failure(&status, "ReconcileFailure").unwrap();
    assert_eq!(reason, "FailedToCreateService");
    assert!(message.contains("demo-head-svc") && message.contains("does not belong"), "{message}");
    assert_eq!(failure(&status, "ReplicaFailure"), None);
    // Pods do not wait for it.
    ns.has("demo", "small", 2).await;
    ns.has("demo", "headgroup", 1).await;
    assert_eq!(uid(&ns.services.get("demo-head-svc").await.unwrap()), uid(&stranger));
    ns.services.delete("demo-head-svc", &DeleteParams::default()).await.unwrap();
    let status = ns.ready("demo").await;
    assert_eq!(failure(&status, "ReconcileFailure"), None);
    assert!(!status.endpoints.is_empty());
}

#[tokio::test]
async fn a_policy_that_refuses_one_group_leaves_the_others() {
    let ns = Namespace::new("failure").await;
    // Policies are of the whole cluster; the binding is for this namespace.
    let policy = json!({
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": ns.name},
        "spec": {
            "matchConstraints": {"resourceRules": [
                {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}]},
            "validations": [{
                "expression": "!has(object.metadata.labels) || object.metadata.labels[?'ray.io/group'].orValue('') != 'bad'",
                "message": "no bad pods here"}]}});
    let binding = json!({
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": {"name": ns.name},
        "spec": {"policyName": ns.name, "validationActions": ["Deny"], "matchResources": {
            "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": ns.name}}}}});
    let list = json!({"apiVersion": "v1", "kind": "List", "items": [policy, binding]}).to_string();
    let applied = ns.kubectl(&["apply", "-f", "-"], Some(list.clone())).await;
    assert!(applied.success, "{}", applied.stderr);
    let probe = json!({"metadata": {"name": "probe", "labels": {"ray.io/group": "bad"}},
        "spec": {"containers": [{"name": "x", "image": "x"}]}});
    let probe: Pod = serde_json::from_value(probe).unwrap();
    eventually("a policy in force", async || {
        let params = PostParams { dry_run: true, ..PostParams::default() };
        match ns.pods.create(&params, &probe).await {
            Err(error) if error.to_string().contains("no bad pods here") => Ok(()),
            other => Err(format!("{:?}", other.map(|_| "accepted"))),
        }
    })
    .await;

    let _operator = ns.operator().await;
    let _kubelet = ns.play(Play::All);
    ns.create(&sample::cluster("demo", "[{groupName: bad, replicas: 2}, {groupName: good, replicas: 2}]")).await;
    ns.has("demo", "good", 2).await;
    let rest = |status: &RayClusterStatus| status.ready_worker_replicas == Some(2);
    let status = ns.status_is("demo", "the rest at work", rest).await;
    let (reason, message) = failure(&status, "ReplicaFailure").unwrap();
    assert_eq!(reason, "FailedCreateWorkerPod");
    assert!(message.contains("worker group bad") && message.contains("no bad pods here"), "{message}");
    assert!(!message.contains("worker group good"), "{message}");
    // What the user asks of the other group works at once.
    ns.scale("demo", 1, 3).await;
    ns.has("demo", "good", 3).await;

    let removed = ns.kubectl(&["delete", "-f", "-"], Some(list)).await;
    assert!(removed.success, "{}", removed.stderr);
    ns.has("demo", "bad", 2).await;
    let status = ns.ready("demo").await;
    assert_eq!(failure(&status, "ReplicaFailure"), None);
}

#[tokio::test]
async fn pods_of_strangers_under_our_names_are_passed_over() {
    let ns = Namespace::new("failure").await;
    let cluster = ns.create(&sample::cluster("demo", "[{groupName: small, replicas: 2}]")).await;
    let id =
        ClusterIdentity { name: "demo".into(), namespace: ns.name.clone(), uid: uid(&cluster).into(), generation: 1 };
    let (_, head) = PodNames::head(&id, 0, Default::default()).next_name();
    let (_, worker) = PodNames::worker(&id, "small", 0, Default::default()).next_name();
    for stranger in [&head, &worker] {
        let pod = json!({"metadata": {"name": stranger, "labels": {"ray.io/cluster": "demo", "ray.io/node-type": "worker",
            "ray.io/group": "small"}}, "spec": {"containers": [{"name": "x", "image": "x"}]}});
        ns.pods.create(&PostParams::default(), &serde_json::from_value(pod).unwrap()).await.unwrap();
    }
    let _operator = ns.operator().await;
    eventually("pods of our own", async || {
        let pods = ns.all_pods("demo").await;
        let own: Vec<Pod> = pods.into_iter().filter(|pod| pod.metadata.owner_references.is_some()).collect();
        if own.len() == 3 { Ok(()) } else { Err(format!("{:?}; {}", names(&own), ns.describe("demo").await)) }
    })
    .await;
    for pod in ns.all_pods("demo").await {
        ns.kubelet.run(name(&pod)).await;
    }
    let status = ns.ready("demo").await;
    assert_ne!(status.head.unwrap().pod_name, head);
    assert_eq!(status.ready_worker_replicas, Some(2), "labels alone make no pod ours");
    ns.scale("demo", 0, 0).await;
    eventually("strangers only", async || {
        let pods = ns.all_pods("demo").await;
        let left: Vec<&Pod> = pods.iter().filter(|pod| pod.metadata.deletion_timestamp.is_none()).collect();
        if left.len() == 3 { Ok(()) } else { Err(ns.describe("demo").await) }
    })
    .await;
    for stranger in [&head, &worker] {
        assert_eq!(ns.pods.get(stranger).await.unwrap().metadata.deletion_timestamp, None);
    }
    assert_eq!(failure(&ns.ready("demo").await, "ReplicaFailure"), None);
}
