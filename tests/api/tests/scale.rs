//! Worker groups grow and shrink: how many, and which ones.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests fail by panicking")]

use std::time::Duration;

use jiff::SignedDuration;
use k8s_openapi::api::core::v1::Pod;
use kube::api::{DeleteParams, Patch, PatchParams};
use serde_json::json;
use test_support::{Namespace, Play, deletion_cost, is_leaving, name, names, sample, throughout, uid};

/// Of the pods of a group, the names that are not leaving.
async fn present(ns: &Namespace, group: &str) -> Vec<String> {
    ns.group("demo", group).await.iter().map(|pod| name(pod).to_owned()).collect()
}

fn owned(pods: &[Pod]) -> Vec<String> {
    pods.iter().map(|pod| name(pod).to_owned()).collect()
}

/// Waits until the operator has looked at the newest spec, then until a little later.
async fn stays(ns: &Namespace, group: &str, expected: &[String]) {
    ns.observed("demo").await;
    throughout(Duration::from_millis(1500), "the same workers", async || {
        let now = present(ns, group).await;
        if now == expected { Ok(()) } else { Err(format!("{now:?} instead of {expected:?}")) }
    })
    .await;
}

#[tokio::test]
async fn a_group_grows_without_touching_what_is_there() {
    let ns = Namespace::new("scale").await;
    let _operator = ns.operator().await;
    let _kubelet = ns.play(Play::All);
    ns.create(&sample::cluster("demo", "[{groupName: small, replicas: 1}]")).await;
    ns.ready("demo").await;
    let before = present(&ns, "small").await;
    ns.scale("demo", 0, 4).await;
    ns.has("demo", "small", 4).await;
    let status = ns.ready("demo").await;
    assert_eq!(status.ready_worker_replicas, Some(4));
    assert!(present(&ns, "small").await.contains(&before[0]));
    assert_eq!(ns.audit.count("delete", "pods"), 0);
}

#[tokio::test]
async fn the_least_useful_worker_goes_first() {
    let ns = Namespace::new("scale").await;
    let _operator = ns.operator().await;
    let _kubelet = ns.play(Play::Deletions);
    ns.create(&sample::cluster("demo", "[{groupName: small, replicas: 6}]")).await;
    let pods = owned(&ns.has("demo", "small", 6).await);
    let [unscheduled, pending, unready, cheap, young, old] = [0, 1, 2, 3, 4, 5].map(|index| pods[index].as_str());
    ns.kubelet.run(name(&ns.head("demo").await.unwrap())).await;
    ns.kubelet.wait(pending, "ContainerCreating", "").await;
    ns.kubelet.not_ready(unready).await;
    ns.kubelet.run_since(cheap, SignedDuration::from_hours(9)).await;
    ns.kubelet.run_since(young, SignedDuration::from_secs(30)).await;
    ns.kubelet.run_since(old, SignedDuration::from_hours(5)).await;
    ns.pods.patch(cheap, &PatchParams::default(), &Patch::Merge(deletion_cost(-10))).await.unwrap();
    ns.status_is("demo", "three ready workers", |status| status.ready_worker_replicas == Some(3)).await;
    let mut left: Vec<&str> = pods.iter().map(String::as_str).collect();
    for going in [unscheduled, pending, unready, cheap, young, old] {
        let replicas = i32::try_from(left.len() - 1).unwrap();
        ns.scale("demo", 0, replicas).await;
        left.retain(|pod| *pod != going);
        let now = owned(&ns.has("demo", "small", left.len()).await);
        assert_eq!(now, left, "{replicas} replicas: {going} was to go");
    }
    assert_eq!(ns.audit.count("delete", "pods"), 6);
}

#[tokio::test]
async fn named_workers_go_and_no_others() {
    let ns = Namespace::new("scale").await;
    let _operator = ns.operator().await;
    let _kubelet = ns.play(Play::All);
    ns.create(&sample::cluster("demo", "[{groupName: small, replicas: 5}]")).await;
    ns.ready("demo").await;
    let mut pods = present(&ns, "small").await;
    let named = [pods.remove(3), pods.remove(1)];
    // As the autoscaler does it: one JSON patch with the names and the number.
    ns.json_patch(
        "demo",
        json!([
            {"op": "replace", "path": "/spec/workerGroupSpecs/0/replicas", "value": 3},
            {"op": "replace", "path": "/spec/workerGroupSpecs/0/scaleStrategy", "value": {"workersToDelete": named}},
        ]),
    )
    .await;
    assert_eq!(owned(&ns.has("demo", "small", 3).await), pods);
    stays(&ns, "small", &pods).await;
    // The autoscaler takes the names out again.
    ns.json_patch("demo", json!([{"op": "remove", "path": "/spec/workerGroupSpecs/0/scaleStrategy"}])).await;
    stays(&ns, "small", &pods).await;
    assert_eq!(ns.audit.count("delete", "pods"), 2);
}

#[tokio::test]
async fn a_named_worker_is_replaced_under_another_name_when_the_number_stays() {
    let ns = Namespace::new("scale").await;
    let _operator = ns.operator().await;
    let _kubelet = ns.play(Play::All);
    ns.create(&sample::cluster("demo", "[{groupName: small, replicas: 2}]")).await;
    ns.ready("demo").await;
    let before = present(&ns, "small").await;
    let strategy = json!({"workersToDelete": [before[0]]});
    ns.json_patch("demo", json!([{"op": "add", "path": "/spec/workerGroupSpecs/0/scaleStrategy", "value": strategy}]))
        .await;
    ns.event("demo", "DeletedWorkerPod", "workersToDelete names it").await;
    let after = owned(&ns.has("demo", "small", 2).await);
    assert!(after.contains(&before[1]) && !after.contains(&before[0]), "{before:?} {after:?}");
    stays(&ns, "small", &after).await;
}

#[tokio::test]
async fn names_of_others_delete_nothing_and_are_reported_once() {
    let ns = Namespace::new("scale").await;
    let _operator = ns.operator().await;
    let _kubelet = ns.play(Play::All);
    ns.create(&sample::cluster("demo", "[{groupName: small, replicas: 2}, {groupName: large, replicas: 1}]")).await;
    ns.create(&sample::cluster("other", "[{groupName: small, replicas: 1}]")).await;
    ns.ready("demo").await;
    ns.ready("other").await;
    let head = name(&ns.head("demo").await.unwrap()).to_owned();
    let of_large = present(&ns, "large").await.remove(0);
    let of_other = name(&ns.group("other", "small").await[0]).to_owned();
    let stranger = "kube-dns".to_owned();
    let before: Vec<String> = ns.pods.list(&Default::default()).await.unwrap().iter().map(|p| uid(p).into()).collect();
    let strategy =
        json!({"workersToDelete": [head, of_large, of_other, stranger, "../../x", "demo-small-worker-zzzzz"]});
    ns.json_patch("demo", json!([{"op": "add", "path": "/spec/workerGroupSpecs/0/scaleStrategy", "value": strategy}]))
        .await;
    let status = ns.observed("demo").await;
    let unknown = &status.worker_groups[0].unknown_workers_to_delete;
    let reason = |name: &str| {
        let entry = unknown.iter().find(|entry| entry.name == name);
        entry.map(|entry| entry.reason.clone()).unwrap_or_default()
    };
    assert_eq!(reason(&head), "this is the head of the cluster");
    assert_eq!(reason(&of_large), "this pod belongs to worker group large");
    for nobody in [of_other.as_str(), "kube-dns", "../../x"] {
        assert_eq!(reason(nobody), "no pod of this worker group has or had this name", "{nobody}");
    }
    // A name that a worker of this group may well have had is no mistake: the pod is gone, as was wished.
    assert_eq!(unknown.len(), 5, "{unknown:?}");
    ns.event("demo", "UnknownWorkerToDelete", "small").await;
    // Something else changes: nothing is said again.
    ns.scale("demo", 1, 2).await;
    ns.has("demo", "large", 2).await;
    ns.ready("demo").await;
    let events = ns.events("demo").await;
    let said = events.iter().filter(|event| event.reason == "UnknownWorkerToDelete").count();
    assert_eq!(said, 1, "{events:#?}");
    assert_eq!(ns.audit.count("delete", "pods"), 0);
    let now: Vec<String> = ns.pods.list(&Default::default()).await.unwrap().iter().map(|p| uid(p).into()).collect();
    assert!(before.iter().all(|uid| now.contains(uid)));
}

#[tokio::test]
async fn replicas_are_kept_between_min_and_max() {
    let ns = Namespace::new("scale").await;
    let _operator = ns.operator().await;
    let _kubelet = ns.play(Play::All);
    ns.create(&sample::cluster("demo", "[{groupName: small, replicas: 9, minReplicas: 2, maxReplicas: 4}]")).await;
    let status = ns.ready("demo").await;
    assert_eq!((status.desired_worker_replicas, status.ready_worker_replicas), (Some(4), Some(4)));
    ns.scale("demo", 0, 0).await;
    ns.has("demo", "small", 2).await;
    let status = ns.ready("demo").await;
    assert_eq!(status.desired_worker_replicas, Some(2));
    // The spec is the user's: it stays as it was written.
    let group = &ns.clusters.get("demo").await.unwrap().spec.worker_group_specs[0];
    assert_eq!((group.replicas, group.min_replicas, group.max_replicas), (Some(0), Some(2), Some(4)));
    assert_eq!(ns.audit.count("patch", "rayclusters"), 0);
}

#[tokio::test]
async fn groups_are_scaled_independently_added_and_removed() {
    let ns = Namespace::new("scale").await;
    let _operator = ns.operator().await;
    let _kubelet = ns.play(Play::All);
    ns.create(&sample::cluster("demo", "[{groupName: a, replicas: 2}, {groupName: b, replicas: 2}]")).await;
    ns.ready("demo").await;
    let (a, b) = (present(&ns, "a").await, present(&ns, "b").await);
    ns.json_patch(
        "demo",
        json!([
            {"op": "replace", "path": "/spec/workerGroupSpecs/0/replicas", "value": 1},
            {"op": "replace", "path": "/spec/workerGroupSpecs/1/replicas", "value": 3},
        ]),
    )
    .await;
    let a_now = owned(&ns.has("demo", "a", 1).await);
    let b_now = owned(&ns.has("demo", "b", 3).await);
    assert!(a.contains(&a_now[0]) && b.iter().all(|pod| b_now.contains(pod)));

    let c = sample::group(serde_json::from_value(json!({"groupName": "c", "replicas": 2})).unwrap());
    ns.json_patch("demo", json!([{"op": "add", "path": "/spec/workerGroupSpecs/1", "value": c}])).await;
    ns.has("demo", "c", 2).await;
    ns.ready("demo").await;
    assert_eq!((present(&ns, "a").await, present(&ns, "b").await), (a_now.clone(), b_now));

    ns.json_patch("demo", json!([{"op": "remove", "path": "/spec/workerGroupSpecs/2"}])).await;
    ns.has("demo", "b", 0).await;
    ns.event("demo", "DeletedWorkerPod", "worker group b is no longer in the spec").await;
    let status = ns.ready("demo").await;
    assert_eq!(status.worker_groups.iter().map(|group| group.name.as_str()).collect::<Vec<_>>(), ["a", "c"]);
    assert_eq!(present(&ns, "a").await, a_now);
}

#[tokio::test]
async fn stale_names_cost_nothing() {
    let ns = Namespace::new("scale").await;
    let _operator = ns.operator().await;
    let _kubelet = ns.play(Play::All);
    ns.create(&sample::cluster("demo", "[{groupName: small, replicas: 2}]")).await;
    ns.ready("demo").await;
    let before = ns.audit.requests().len();
    let stale: Vec<String> = (0..500).map(|number| format!("demo-small-worker-{number:05}")).collect();
    ns.patch("demo", json!({"metadata": {"annotations": {"a": "b"}}})).await;
    ns.json_patch(
        "demo",
        json!([{"op": "add", "path": "/spec/workerGroupSpecs/0/scaleStrategy", "value": {"workersToDelete": stale}}]),
    )
    .await;
    let status = ns.observed("demo").await;
    assert!(status.worker_groups[0].unknown_workers_to_delete.is_empty());
    let pods = present(&ns, "small").await;
    stays(&ns, "small", &pods).await;
    let requests = ns.audit.requests().split_off(before);
    // `observedGeneration`, and nothing else.
    assert_eq!(requests.len(), 1, "{requests:#?}");
    assert!(ns.events("demo").await.iter().all(|event| event.kind == "Normal"));
}

#[tokio::test]
async fn ten_steps_up_in_a_second_make_ten_workers() {
    let ns = Namespace::new("scale").await;
    let _operator = ns.operator().await;
    let _kubelet = ns.play(Play::All);
    ns.create(&sample::cluster("demo", "[{groupName: small, replicas: 0}]")).await;
    ns.ready("demo").await;
    for replicas in 1..=10 {
        ns.scale("demo", 0, replicas).await;
    }
    ns.has("demo", "small", 10).await;
    ns.ready("demo").await;
    let created = ns.audit.requests().iter().filter(|r| r.verb == "create" && r.resource == "pods").count();
    assert_eq!(created, 11, "one head, ten workers");
    assert_eq!(ns.audit.count("delete", "pods"), 0);
}

#[tokio::test]
async fn steps_down_take_one_worker_each_however_slowly_pods_end() {
    let ns = Namespace::new("scale").await;
    let _operator = ns.operator().await;
    ns.create(&sample::cluster("demo", "[{groupName: small, replicas: 10}]")).await;
    let pods = ns.has("demo", "small", 10).await;
    // Bound and running, and no kubelet finishes what is deleted: the pods stay, leaving, for their grace period.
    for pod in &pods {
        ns.kubelet.run(name(pod)).await;
    }
    for replicas in [9_i32, 8, 7] {
        ns.scale("demo", 0, replicas).await;
        let left = ns.has("demo", "small", usize::try_from(replicas).unwrap()).await;
        stays(&ns, "small", &owned(&left)).await;
    }
    let all = ns.all_pods("demo").await;
    assert_eq!(all.len(), 11, "{:?}", names(&all));
    assert_eq!(all.iter().filter(|pod| is_leaving(pod)).count(), 3);
    assert_eq!(ns.audit.count("delete", "pods"), 3);
    assert_eq!(ns.audit.count("create", "pods"), 11);
}

#[tokio::test]
async fn a_worker_that_leaves_by_itself_counts_as_the_one_that_was_to_go() {
    let ns = Namespace::new("scale").await;
    let operator = ns.operator().await;
    ns.create(&sample::cluster("demo", "[{groupName: small, replicas: 4}]")).await;
    let pods = ns.has("demo", "small", 4).await;
    for pod in &pods {
        ns.kubelet.run(name(pod)).await;
    }
    ns.status_is("demo", "four ready workers", |status| status.ready_worker_replicas == Some(4)).await;
    // Both at once, as far as the operator can see.
    operator.stop().await;
    ns.pods.delete(name(&pods[0]), &DeleteParams::default().grace_period(60)).await.unwrap();
    ns.scale("demo", 0, 3).await;
    let _operator = ns.operator().await;
    stays(&ns, "small", &owned(&pods[1..])).await;
    assert_eq!(ns.audit.count("delete", "pods"), 0);
    assert_eq!(ns.audit.count("create", "pods"), 5);
}
