//! A RayCluster is created: what is made of it, what is said about it, and how many requests that takes.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests fail by panicking")]

use test_support::{Namespace, Play, names, sample};

#[tokio::test]
async fn a_cluster_becomes_ready_within_nine_writes() {
    let ns = Namespace::new("create").await;
    let _operator = ns.operator().await;
    let _kubelet = ns.play(Play::All);
    ns.create(&sample::cluster("demo", "[{groupName: small, replicas: 3}]")).await;
    ns.ready("demo").await;
    println!("{:?}", names(&ns.all_pods("demo").await));
    println!("{:#?}", ns.audit.requests().iter().map(ToString::to_string).collect::<Vec<_>>());
    println!("{:#?}", ns.events("demo").await);
    println!("{}", ns.describe("demo").await);
}
