//! Worker groups that left the spec: their pods go.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::observed::{NodeType, ObservedPod};
use crate::plan::{Action, Step, Write};
use crate::valid::ValidCluster;

/// Deletes of workers whose group the spec does not have. KubeRay leaves them running for ever.
#[must_use]
pub fn decide(cluster: &ValidCluster, pods: &[Arc<ObservedPod>]) -> Vec<Write> {
    let groups: BTreeSet<&str> = cluster.groups.iter().map(|group| group.name.as_str()).collect();
    pods.iter()
        .filter(|pod| pod.node_type == NodeType::Worker && !pod.is_leaving() && !groups.contains(pod.group.as_str()))
        .map(|pod| Write {
            step: Step::RemovedGroup(pod.group.clone()),
            action: Action::DeletePod {
                name: pod.name.clone(),
                uid: pod.uid.clone(),
                reason: format!("worker group {} is no longer in the spec", pod.group),
            },
        })
        .collect()
}
