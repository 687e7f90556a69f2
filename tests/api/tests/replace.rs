//! Pods that can work no more are replaced, under new names; pods on their way out are in nobody's way.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "tests fail by panicking")]

use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::api::core::v1::Pod;
use kube::api::{DeleteParams, PostParams};
use serde_json::json;
use test_support::{Namespace, Play, eventually_within, is_leaving, name, names, sample, throughout, uid};

/// Waits for the one pod of a group that is not `old`, and returns it.
async fn successor(ns: &Namespace, cluster: &str, group: &str, old: &Pod) -> Pod {
    test_support::eventually("a successor", async || {
        let mut pods = ns.group(cluster, group).await;
        match pods.pop() {
            Some(pod) if pods.is_empty() && uid(&pod) != uid(old) => Ok(pod),
            Some(pod) => Err(format!("{} and {:?}; {}", name(&pod), names(&pods), ns.describe(cluster).await)),
            None => Err(ns.describe(cluster).await),
        }
    })
    .await
}

/// Lets pods end in each of the ways; `(cluster, group)` → the way.
async fn ends(ns: &Namespace, pod: &Pod, way: &str) {
    let pod = name(pod);
    match way {
        "failed" => ns.kubelet.fail(pod, 1).await,
        "succeeded" => ns.kubelet.succeed(pod).await,
        "evicted" => ns.kubelet.evict(pod).await,
        "ended" => ns.kubelet.end_ray_container(pod, 137).await,
        "deleted" => drop(ns.pods.delete(pod, &DeleteParams::default()).await.unwrap()),
        "killed" => drop(ns.pods.delete(pod, &DeleteParams::default().grace_period(0)).await.unwrap()),
        other => panic!("no such way to end: {other}"),
    }
}

const WAYS: [(&str, &str); 6] = [
    ("failed", "its phase is Failed (Ray container: Error, exit code 1)"),
    ("succeeded", "its phase is Succeeded"),
    ("evicted", "Evicted"),
    ("ended", "its Ray container ended and restartPolicy is Never (Ray container: OOMKilled, exit code 137)"),
    ("deleted", ""),
    ("killed", ""),
];

#[tokio::test]
async fn workers_that_end_in_any_way_are_replaced() {
    let ns = Namespace::new("replace").await;
    let _operator = ns.operator().await;
    let _kubelet = ns.play(Play::All);
    let groups: Vec<String> = WAYS.iter().map(|(way, _)| format!("{{groupName: {way}}}")).collect();
    let mut raw = sample::raw("demo", &format!("[{}]", groups.join(", ")));
    for group in raw["spec"]["workerGroupSpecs"].as_array_mut().unwrap() {
        group["template"]["spec"]["restartPolicy"] = json!("Never");
        let sidecar = json!({"name": "sidecar", "image": "busybox"});
        group["template"]["spec"]["containers"].as_array_mut().unwrap().push(sidecar);
    }
    ns.create(&serde_json::from_value(raw).unwrap()).await;
    ns.ready("demo").await;
    let head = ns.head("demo").await.unwrap();
    for (way, reason) in WAYS {
        let old = ns.group("demo", way).await.remove(0);
        ends(&ns, &old, way).await;
        let new = successor(&ns, "demo", way, &old).await;
        assert_ne!(name(&new), name(&old), "{way}: a name is not used twice");
        if !reason.is_empty() {
            let event = ns.event("demo", "DeletedWorkerPod", name(&old)).await;
            assert!(event.note.contains(reason), "{way}: {}", event.note);
        }
    }
    ns.ready("demo").await;
    assert_eq!(uid(&ns.head("demo").await.unwrap()), uid(&head));
    assert_eq!(ns.audit.count("create", "pods"), 1 + 2 * WAYS.len());
}

#[tokio::test]
async fn heads_that_end_in_any_way_are_replaced_and_workers_stay() {
    let ns = Namespace::new("replace").await;
    let _operator = ns.operator().await;
    let _kubelet = ns.play(Play::All);
    for (way, _) in WAYS {
        let mut raw = sample::raw(way, "[{groupName: small, replicas: 1}]");
        raw["spec"]["headGroupSpec"]["template"]["spec"]["restartPolicy"] = json!("Never");
        ns.create(&serde_json::from_value(raw).unwrap()).await;
    }
    for (way, reason) in WAYS {
        ns.ready(way).await;
        let (old, worker) = (ns.head(way).await.unwrap(), ns.group(way, "small").await.remove(0));
        ends(&ns, &old, way).await;
        let new = successor(&ns, way, "headgroup", &old).await;
        assert_ne!(name(&new), name(&old), "{way}");
        if !reason.is_empty() {
            let event = ns.event(way, "DeletedHeadPod", name(&old)).await;
            assert!(event.note.contains(reason), "{way}: {}", event.note);
        }
        let status = ns
            .status_is(way, "the new head", |status| {
                status.head.as_ref().is_some_and(|head| head.pod_name == name(&new))
            })
            .await;
        assert!(status.condition_is_true("RayClusterProvisioned"), "{way}: once provisioned, for ever");
        ns.ready(way).await;
        assert_eq!(uid(&ns.group(way, "small").await[0]), uid(&worker), "{way}");
    }
}

#[tokio::test]
async fn pods_that_the_kubelet_looks_after_are_left_alone() {
    let ns = Namespace::new("replace").await;
    let _operator = ns.operator().await;
    ns.create(&sample::cluster("demo", "[{groupName: small, replicas: 3}]")).await;
    let workers = ns.has("demo", "small", 3).await;
    let head = ns.head("demo").await.unwrap();
    ns.kubelet.run(name(&head)).await;
    // restartPolicy Always: the kubelet starts the container again.
    ns.kubelet.end_ray_container(name(&workers[0]), 1).await;
    ns.kubelet.wait(name(&workers[1]), "CrashLoopBackOff", "back-off 5m0s restarting failed container").await;
    ns.kubelet.not_ready(name(&workers[2])).await;
    let blocked =
        |status: &ray_api::RayClusterStatus| status.worker_group("small").and_then(|group| group.blocked.clone());
    let status = ns.status_is("demo", "a reason", |status| blocked(status).is_some()).await;
    assert_eq!(blocked(&status).unwrap().reason, "CrashLoopBackOff");
    throughout(Duration::from_secs(2), "the same pods", async || {
        let now = ns.group("demo", "small").await;
        if names(&now) == names(&workers) { Ok(()) } else { Err(format!("{:?}", names(&now))) }
    })
    .await;
    assert_eq!(ns.audit.count("delete", "pods"), 0);
}

#[tokio::test]
async fn pods_that_never_finish_leaving_are_no_supply_and_no_obstacle() {
    let ns = Namespace::new("replace").await;
    let _operator = ns.operator().await;
    ns.create(&sample::cluster("demo", "[{groupName: small, replicas: 2}]")).await;
    let workers = ns.has("demo", "small", 2).await;
    let head = ns.head("demo").await.unwrap();
    for pod in workers.iter().chain([&head]) {
        ns.kubelet.run(name(pod)).await;
    }
    ns.ready("demo").await;
    // The node is lost: what is deleted there stays, leaving, for ever.
    for pod in [&workers[0], &head] {
        ns.pods.delete(name(pod), &DeleteParams::default().grace_period(3600)).await.unwrap();
    }
    let new_head = successor(&ns, "demo", "headgroup", &head).await;
    assert_ne!(name(&new_head), name(&head));
    let now = ns.has("demo", "small", 2).await;
    let new = now.iter().find(|pod| workers.iter().all(|old| uid(old) != uid(*pod))).unwrap();
    assert!(workers.iter().all(|old| name(old) != name(new)), "{:?}", names(&now));
    let status = ns.status_is("demo", "one ready worker", |status| status.ready_worker_replicas == Some(1)).await;
    assert_eq!(status.desired_worker_replicas, Some(2));
    assert!(!status.condition_is_true("HeadPodReady"));

    ns.kubelet.run(name(&new_head)).await;
    ns.kubelet.run(name(new)).await;
    ns.ready("demo").await;
    let all = ns.all_pods("demo").await;
    assert_eq!(all.iter().filter(|pod| is_leaving(pod)).count(), 2, "{:?}", names(&all));
    assert_eq!(ns.audit.count("create", "pods"), 5);
    assert_eq!(ns.audit.count("delete", "pods"), 0);
}

#[tokio::test]
async fn of_two_heads_the_one_that_serves_stays() {
    let ns = Namespace::new("replace").await;
    let operator = ns.operator().await;
    ns.create(&sample::cluster("demo", "[{groupName: small, replicas: 1}]")).await;
    let head = ns.has("demo", "headgroup", 1).await.remove(0);
    ns.has("demo", "small", 1).await;
    ns.observed("demo").await;
    operator.stop().await;
    // A second head, as a confused predecessor may have left it; it is ready and the first is not.
    let mut stray = head.clone();
    stray.metadata.name = Some("demo-head-stray".into());
    stray.metadata.resource_version = None;
    stray.metadata.uid = None;
    stray.status = None;
    ns.pods.create(&PostParams::default(), &stray).await.unwrap();
    ns.kubelet.run("demo-head-stray").await;
    ns.kubelet.bind(name(&head)).await;
    let _operator = ns.operator().await;
    let _kubelet = ns.play(Play::Deletions);
    let left = ns.has("demo", "headgroup", 1).await;
    assert_eq!(names(&left), ["demo-head-stray"]);
    ns.event("demo", "DeletedHeadPod", "a cluster has one head, and demo-head-stray stays").await;
    assert_eq!(ns.group("demo", "small").await.len(), 1);
}

#[tokio::test]
async fn heads_that_crash_in_a_loop_are_replaced_ever_more_slowly() {
    let ns = Namespace::new("replace").await;
    let _operator = ns.operator().await;
    let _kubelet = ns.play(Play::Deletions);
    ns.create(&sample::cluster("demo", "[]")).await;
    let first = ns.has("demo", "headgroup", 1).await.remove(0);
    ns.kubelet.fail(name(&first), 1).await;
    // The first failure is replaced at once.
    let second = successor(&ns, "demo", "headgroup", &first).await;
    // Kubernetes writes whole seconds: the next failure has to be in a later one to be another.
    let second_of = |pod: &Pod| pod.metadata.creation_timestamp.as_ref().unwrap().0.as_second();
    eventually_within(Duration::from_secs(5), "the next second", async || {
        if Timestamp::now().as_second() > second_of(&second) + 1 { Ok(()) } else { Err("not yet".into()) }
    })
    .await;
    let failed_at = Timestamp::now();
    ns.kubelet.fail(name(&second), 1).await;
    let status = ns
        .status_is("demo", "two failures", |status| {
            status.head_failures.as_ref().is_some_and(|failures| failures.count == Some(2))
        })
        .await;
    assert_eq!(status.condition("HeadPodReady").unwrap().reason, "HeadPodNotFound");
    throughout(Duration::from_secs(3), "no head yet", async || {
        let heads = ns.group("demo", "headgroup").await;
        if heads.is_empty() { Ok(()) } else { Err(format!("{:?}", names(&heads))) }
    })
    .await;
    let third = ns.has("demo", "headgroup", 1).await.remove(0);
    let waited = Timestamp::now().duration_since(failed_at).as_secs_f64();
    assert!((8.0..20.0).contains(&waited), "{waited} s");
    assert_ne!(name(&third), name(&first));
    assert_ne!(name(&third), name(&second));
}

#[tokio::test]
async fn workers_that_crash_in_a_loop_say_so_and_wait() {
    let ns = Namespace::new("replace").await;
    let _operator = ns.operator().await;
    let _kubelet = ns.play(Play::Deletions);
    ns.create(&sample::cluster("demo", "[{groupName: bad}, {groupName: good}]")).await;
    let mut worker = ns.has("demo", "bad", 1).await.remove(0);
    ns.kubelet.fail(name(&worker), 1).await;
    worker = successor(&ns, "demo", "bad", &worker).await;
    let born = worker.metadata.creation_timestamp.as_ref().unwrap().0.as_second();
    eventually_within(Duration::from_secs(5), "the next second", async || {
        if Timestamp::now().as_second() > born + 1 { Ok(()) } else { Err("not yet".into()) }
    })
    .await;
    ns.kubelet.fail(name(&worker), 1).await;
    let blocked = |status: &ray_api::RayClusterStatus| {
        status.worker_group("bad").and_then(|group| group.blocked.clone()).unwrap_or_default()
    };
    let status = ns.status_is("demo", "back-off", |status| blocked(status).reason == "BackOff").await;
    assert!(blocked(&status).message.contains("2 times in a row"), "{:?}", blocked(&status));
    // Others do not wait for it.
    ns.scale("demo", 1, 3).await;
    ns.has("demo", "good", 3).await;
    assert_eq!(ns.group("demo", "bad").await.len(), 0);
    ns.has("demo", "bad", 1).await;
}

#[tokio::test]
async fn the_name_of_a_worker_that_lived_for_a_moment_is_not_used_again() {
    let ns = Namespace::new("replace").await;
    let _operator = ns.operator().await;
    let _kubelet = ns.play(Play::All);
    ns.create(&sample::cluster("demo", "[{groupName: small, replicas: 0}]")).await;
    ns.ready("demo").await;
    let mut seen: Vec<String> = Vec::new();
    for replicas in 1..=4 {
        // Deleted before the status can have told of it.
        ns.scale("demo", 0, replicas).await;
        let pods = ns.has("demo", "small", usize::try_from(replicas).unwrap()).await;
        let new = pods.iter().find(|pod| !seen.contains(&name(*pod).to_owned())).unwrap();
        seen.push(name(new).to_owned());
        ns.pods.delete(name(new), &DeleteParams::default().grace_period(0)).await.unwrap();
        let pods = ns.has("demo", "small", usize::try_from(replicas).unwrap()).await;
        for pod in pods {
            if uid(&pod) != uid(new) {
                assert_ne!(name(&pod), name(new), "the name was used again");
                seen.push(name(&pod).to_owned());
            }
        }
    }
}
