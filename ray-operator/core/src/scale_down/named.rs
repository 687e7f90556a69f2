//! `workersToDelete`: wishes, matched against the group's own pods only (invariant 2).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::observed::{NodeType, ObservedPod};
use crate::valid::WorkerGroup;

/// A name in `workersToDelete` that deletes nothing, and why.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct UnknownWorker {
    /// The name as written.
    pub name: String,
    /// Why nothing is deleted, in words the user reads.
    pub reason: String,
}

/// What became of the names of one group.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct NamedWorkers {
    /// Names of this group's own pods; these go.
    pub own: BTreeSet<String>,
    /// Names of pods that live, but are not this group's to delete.
    pub unknown: Vec<UnknownWorker>,
}

/// Sorts the names of `group`'s `workersToDelete`; `pods` are all pods the cluster owns.
///
/// A name that no pod of the cluster carries is nobody's business: the pod is gone, which is what was wished (the
/// autoscaler clears such names itself) — unless no pod of this group can ever have had it: then it is a mistake.
#[must_use]
pub fn match_names(group: &WorkerGroup, prefix: &str, pods: &[Arc<ObservedPod>]) -> NamedWorkers {
    let mut named = NamedWorkers::default();
    if group.workers_to_delete.is_empty() {
        return named;
    }
    // Both lists can be thousands long.
    let by_name: BTreeMap<&str, &Arc<ObservedPod>> = pods.iter().map(|pod| (pod.name.as_str(), pod)).collect();
    for name in &group.workers_to_delete {
        match by_name.get(name.as_str()) {
            Some(pod) if pod.node_type == NodeType::Worker && pod.group == group.name.as_str() => {
                named.own.insert(name.clone());
            }
            Some(pod) if pod.node_type == NodeType::Head => named
                .unknown
                .push(UnknownWorker { name: name.clone(), reason: "this is the head of the cluster".to_owned() }),
            Some(pod) => named.unknown.push(UnknownWorker {
                name: name.clone(),
                reason: format!("this pod belongs to worker group {}", pod.group),
            }),
            None if !name.starts_with(prefix) => named.unknown.push(UnknownWorker {
                name: name.clone(),
                reason: "no pod of this worker group has or had this name".to_owned(),
            }),
            None => {}
        }
    }
    named
}
