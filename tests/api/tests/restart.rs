//! The operator goes away at bad moments and comes back, or there are two of it.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests fail by panicking")]

use std::collections::BTreeSet;
use std::time::Duration;

use test_support::{Namespace, Operator, Play, eventually, is_leaving, name, names, ordinal, sample, throughout};

/// Names of pods whose creation succeeded.
fn created(ns: &Namespace) -> Vec<String> {
    let requests = ns.audit.requests().into_iter();
    requests.filter(|r| r.verb == "create" && r.resource == "pods" && r.code == 201).map(|r| r.name).collect()
}

/// Waits until the audit log shows at least `count` successful requests of that kind.
async fn happened(ns: &Namespace, verb: &str, resource: &str, count: usize) {
    eventually("a number of requests", async || {
        let now = ns.audit.count(verb, resource);
        if now >= count { Ok(()) } else { Err(format!("{now} {verb} {resource}")) }
    })
    .await;
}

#[tokio::test]
async fn a_restart_of_a_settled_operator_writes_nothing() {
    let ns = Namespace::new("restart").await;
    let operator = ns.operator().await;
    let _kubelet = ns.play(Play::All);
    ns.create(&sample::cluster("demo", "[{groupName: a, replicas: 3}, {groupName: b, replicas: 1}]")).await;
    ns.ready("demo").await;
    ns.scale("demo", 0, 2).await;
    ns.ready("demo").await;
    operator.stop().await;
    let (writes, lists) = (ns.audit.writes().len(), ns.audit.count("list", "pods"));
    let _operator = ns.operator().await;
    happened(&ns, "list", "pods", lists + 1).await;
    throughout(Duration::from_secs(4), "no write", async || {
        let later = ns.audit.writes().split_off(writes);
        if later.is_empty() { Ok(()) } else { Err(format!("{later:#?}")) }
    })
    .await;
}

#[tokio::test]
async fn crashes_amid_creates_leave_no_duplicate() {
    let ns = Namespace::new("restart").await;
    let _kubelet = ns.play(Play::All);
    for round in 0..6 {
        let cluster = format!("demo-{round}");
        let operator = ns.operator().await;
        let before = created(&ns).len();
        ns.create(&sample::cluster(
            &cluster,
            "[{groupName: a, replicas: 6, maxReplicas: 30}, {groupName: b, replicas: 6}]",
        ))
        .await;
        // The sooner the crash, the less is known: at once, after the first create, after some.
        eventually("some creates", async || {
            let now = created(&ns).len() - before;
            if now >= round * 2 { Ok(()) } else { Err(format!("{now} creates")) }
        })
        .await;
        operator.crash().await;
        let operator = ns.operator().await;
        ns.has(&cluster, "a", 6).await;
        ns.has(&cluster, "b", 6).await;
        ns.ready(&cluster).await;
        operator.stop().await;
        let all = ns.all_pods(&cluster).await;
        assert_eq!(all.len(), 13, "round {round}: {:?}", names(&all));
        // Creates whose reply was lost in the crash were found or repeated, and those that the crash broke off passed
        // over: of the four that may be under way in a group no more than four numbers are missing.
        for group in ["a", "b"] {
            let last = ns.group(&cluster, group).await.iter().map(ordinal).max().unwrap();
            assert!((6..=10).contains(&last), "round {round}, group {group}: {last}");
        }
    }
    assert_eq!(ns.audit.count("delete", "pods"), 0);
}

#[tokio::test]
async fn a_crash_amid_deletes_deletes_no_more() {
    let ns = Namespace::new("restart").await;
    let operator = ns.operator().await;
    ns.create(&sample::cluster("demo", "[{groupName: a, replicas: 8}]")).await;
    for pod in ns.has("demo", "a", 8).await {
        ns.kubelet.run(name(&pod)).await;
    }
    ns.kubelet.run(name(&ns.head("demo").await.unwrap())).await;
    ns.ready("demo").await;
    ns.scale("demo", 0, 3).await;
    happened(&ns, "delete", "pods", 1).await;
    operator.crash().await;
    let _operator = ns.operator().await;
    ns.has("demo", "a", 3).await;
    ns.ready("demo").await;
    throughout(Duration::from_secs(2), "three workers", async || {
        let now = ns.group("demo", "a").await;
        if now.len() == 3 { Ok(()) } else { Err(format!("{:?}", names(&now))) }
    })
    .await;
    assert_eq!(ns.all_pods("demo").await.iter().filter(|pod| is_leaving(pod)).count(), 5);
    assert_eq!(created(&ns).len(), 9);
}

#[tokio::test]
async fn what_happened_while_it_was_away_is_caught_up() {
    let ns = Namespace::new("restart").await;
    let operator = ns.operator().await;
    let _kubelet = ns.play(Play::All);
    ns.create(&sample::cluster("demo", "[{groupName: a, replicas: 3}]")).await;
    ns.create(&sample::cluster("goes", "[{groupName: a, replicas: 1}]")).await;
    ns.ready("demo").await;
    ns.ready("goes").await;
    operator.stop().await;
    let before = ns.group("demo", "a").await;
    ns.kubelet.fail(name(&before[0]), 1).await;
    ns.kubelet.fail(name(&ns.head("demo").await.unwrap()), 1).await;
    ns.pods.delete(name(&before[1]), &Default::default()).await.unwrap();
    ns.scale("demo", 0, 4).await;
    ns.clusters.delete("goes", &Default::default()).await.unwrap();
    ns.create(&sample::cluster("comes", "[{groupName: a, replicas: 1}]")).await;
    let _operator = ns.operator().await;
    ns.ready("demo").await;
    ns.ready("comes").await;
    let after = ns.has("demo", "a", 4).await;
    let (before, after): (BTreeSet<&str>, BTreeSet<&str>) =
        (names(&before).into_iter().collect(), names(&after).into_iter().collect());
    assert_eq!(before.intersection(&after).count(), 1, "{before:?} {after:?}");
}

#[tokio::test]
async fn two_operators_make_and_delete_what_one_would() {
    let ns = Namespace::new("restart").await;
    let _one = ns.operator().await;
    let _two = Operator::start(&ns.name, "two").await;
    let _kubelet = ns.play(Play::All);
    happened(&ns, "list", "pods", 2).await;
    ns.create(&sample::cluster("demo", "[{groupName: a, replicas: 10, maxReplicas: 30}]")).await;
    ns.has("demo", "a", 10).await;
    ns.ready("demo").await;
    assert_eq!(created(&ns).len(), 11, "{:?}", created(&ns));
    assert_eq!(ns.group("demo", "headgroup").await.len(), 1);
    ns.scale("demo", 0, 20).await;
    ns.has("demo", "a", 20).await;
    ns.ready("demo").await;
    assert_eq!(created(&ns).len(), 21, "{:?}", created(&ns));
    ns.scale("demo", 0, 5).await;
    ns.has("demo", "a", 5).await;
    ns.ready("demo").await;
    throughout(Duration::from_secs(2), "five workers", async || {
        let now = ns.group("demo", "a").await;
        if now.len() == 5 { Ok(()) } else { Err(format!("{:?}", names(&now))) }
    })
    .await;
    assert_eq!(created(&ns).len(), 21, "nothing was deleted too much and made again");
}
