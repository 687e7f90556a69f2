//! Which pods go when more are there than wanted and nobody named enough of them.
//!
//! The order is that of Kubernetes' ReplicaSet controller, so that `controller.kubernetes.io/pod-deletion-cost` means here
//! what it means there.

use std::cmp::{Ordering, Reverse};
use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;

use crate::observed::{ObservedPod, Phase};

/// What makes one pod go before another; compared field by field, the smallest goes first.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Rank<'a> {
    /// Without a node before with one.
    scheduled: bool,
    /// Pending before unknown before running.
    phase: u8,
    /// Not ready before ready.
    ready: bool,
    /// The cheaper before the dearer.
    deletion_cost: i32,
    /// The node with more of these pods first, which keeps them spread.
    neighbours: Reverse<usize>,
    /// Ready for a shorter time first; a pod that does not say since when counts as just now.
    ready_since: Reverse<Timestamp>,
    /// More restarts first.
    restarts: Reverse<i32>,
    /// Younger first.
    created: Reverse<Timestamp>,
    /// So that the answer is always the same.
    name: &'a str,
}

/// The `count` pods to delete among `pods`, first to go first.
#[must_use]
pub fn surplus(pods: &[Arc<ObservedPod>], count: usize) -> Vec<Arc<ObservedPod>> {
    let mut on_node: BTreeMap<&str, usize> = BTreeMap::new();
    for node in pods.iter().filter_map(|pod| pod.node_name.as_deref()) {
        let number = on_node.entry(node).or_default();
        *number = number.saturating_add(1);
    }
    let mut ranked: Vec<&Arc<ObservedPod>> = pods.iter().collect();
    ranked.sort_by(|a, b| compare(a, b, &on_node));
    ranked.into_iter().take(count).cloned().collect()
}

fn compare(a: &ObservedPod, b: &ObservedPod, on_node: &BTreeMap<&str, usize>) -> Ordering {
    rank(a, on_node).cmp(&rank(b, on_node))
}

fn rank<'a>(pod: &'a ObservedPod, on_node: &BTreeMap<&str, usize>) -> Rank<'a> {
    let node = pod.node_name.as_deref().filter(|node| !node.is_empty());
    let ready = pod.is_ready();
    let since = if ready { pod.ready.as_ref().and_then(|ready| ready.since) } else { None };
    Rank {
        scheduled: node.is_some(),
        phase: match pod.phase {
            Phase::Pending => 0,
            Phase::Unknown => 1,
            Phase::Running | Phase::Succeeded | Phase::Failed => 2,
        },
        ready,
        deletion_cost: pod.deletion_cost,
        neighbours: Reverse(node.and_then(|node| on_node.get(node)).copied().unwrap_or(0)),
        ready_since: Reverse(since.unwrap_or(Timestamp::MAX)),
        restarts: Reverse(pod.max_restarts()),
        created: Reverse(pod.created.unwrap_or(Timestamp::MAX)),
        name: &pod.name,
    }
}
