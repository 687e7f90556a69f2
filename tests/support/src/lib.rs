//! What tests against a real Kubernetes API server share.
//!
//! ```text
//! ApiCluster   one API server a test process: etcd, kube-apiserver, controller-manager; no scheduler, no kubelet
//! Namespace    one a test: its objects, looked at the way the assertions need them
//! Operator     the operator in this process, restricted to that namespace, with the rights of its shipped role
//! Kubelet      plays the kubelet: moves pods through their states by hand, or all of them by itself
//! Audit        what the operator asked of the API server, from the server's own log
//! ```
//!
//! Nothing here waits by sleeping: [`eventually`] polls a condition until a deadline and then says what it saw last.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "a crate of test helpers: panicking is how a test fails"
)]

mod api_cluster;
mod audit;
mod eventually;
mod kubectl;
mod kubelet;
mod look;
mod namespace;
mod operator;
mod paper_node;
mod player;
pub mod sample;

pub use api_cluster::{ApiCluster, config, workspace};
pub use audit::{Audit, Request};
pub use eventually::{DEADLINE, eventually, eventually_within, throughout};
pub use kubectl::{Output, kubectl, kubectl_ok};
pub use kubelet::Kubelet;
pub use look::{SeenEvent, deletion_cost, is_leaving, name, names, ordinal, uid};
pub use namespace::Namespace;
pub use operator::Operator;
pub use paper_node::PAPER_NODE;
pub use player::{Play, Player};
