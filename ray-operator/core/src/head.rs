//! The head pod: there is one.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::Timestamp;
use ray_api::annotations;
use ray_api::raycluster::Failures;

use crate::backoff;
use crate::build::{self, PodSlot};
use crate::config::OperatorConfig;
use crate::observed::{Memory, NodeType, ObservedPod};
use crate::plan::{Action, Step, Write};
use crate::pod_names::PodNames;
use crate::unhealthy;
use crate::valid::ValidCluster;

/// What was decided about the head.
#[derive(Debug, Clone, PartialEq)]
pub struct HeadDecision {
    /// The head that stays, if there is one.
    pub head: Option<Arc<ObservedPod>>,
    /// Writes of this step.
    pub writes: Vec<Write>,
    /// Failures so far, this pass's included.
    pub failures: Option<Failures>,
    /// Highest ordinal given to a head, this pass's included.
    pub last_ordinal: i64,
    /// A replacement waits until then.
    pub waits_until: Option<Timestamp>,
}

/// What the decision about the head looks at.
#[derive(Debug, Clone, Copy)]
pub struct HeadInput<'a> {
    /// The cluster.
    pub cluster: &'a ValidCluster,
    /// The operator's settings.
    pub config: &'a OperatorConfig,
    /// All pods of the cluster.
    pub pods: &'a [Arc<ObservedPod>],
    /// What failed lately.
    pub memory: &'a Memory,
    /// `status.headLastOrdinal`.
    pub last_ordinal: i64,
    /// `status.headFailures`.
    pub failures: Option<&'a Failures>,
    /// Whether the cluster was once complete (condition `RayClusterProvisioned`).
    pub provisioned: bool,
    /// The present.
    pub now: Timestamp,
}

/// Decides about the head.
#[must_use]
pub fn decide(input: HeadInput<'_>) -> HeadDecision {
    let heads = || input.pods.iter().filter(|pod| pod.node_type == NodeType::Head);
    let mut failures = input.failures.cloned();
    let mut writes = Vec::new();
    let mut fit = Vec::new();
    for pod in heads().filter(|pod| !pod.is_leaving()) {
        match unhealthy::why_replace(pod) {
            None => fit.push(Arc::clone(pod)),
            Some(reason) => {
                failures = Some(backoff::count(failures.as_ref(), pod.ended_at().unwrap_or(input.now)));
                writes.push(delete(pod, reason));
            }
        }
    }
    // The one that serves stays: ready before not ready, then the oldest.
    fit.sort_by_key(|pod| (Reverse(pod.is_ready()), pod.created, pod.ordinal, pod.name.clone()));
    let mut fit = fit.into_iter();
    let head = fit.next();
    if let Some(head) = &head {
        let reason = format!("a cluster has one head, and {} stays", head.name);
        writes.extend(fit.map(|pod| delete(&pod, reason.clone())));
    }

    let seen = heads().map(|pod| pod.ordinal).max().unwrap_or(0);
    let taken = input.memory.taken_ordinals.get(&Step::Head).copied().unwrap_or(0);
    let mut last_ordinal = input.last_ordinal.max(seen).max(taken);
    let mut waits_until = None;
    if head.is_none() && !stays_away(&input) {
        waits_until = [backoff::not_before(failures.as_ref()), input.memory.held.get(&Step::Head).copied()]
            .into_iter()
            .flatten()
            .filter(|until| *until > input.now)
            .max();
        if waits_until.is_none() {
            let existing: BTreeSet<&str> = input.pods.iter().map(|pod| pod.name.as_str()).collect();
            let (ordinal, name) = PodNames::head(&input.cluster.id, last_ordinal, existing).next_name();
            let slot = PodSlot { name: &name, ordinal, replica_index: 0 };
            let pod = Box::new(build::head_pod(input.cluster, input.config, &slot));
            last_ordinal = ordinal;
            writes.push(Write { step: Step::Head, action: Action::CreatePod { pod, name, ordinal } });
        }
    }
    HeadDecision { head, writes, failures, last_ordinal, waits_until }
}

/// RayJob's sidecar mode wants a head that ended to stay away once the cluster was complete.
fn stays_away(input: &HeadInput<'_>) -> bool {
    let switch = input.cluster.annotations.get(annotations::DISABLE_PROVISIONED_HEAD_RESTART);
    input.provisioned && switch.is_some_and(|value| value == "true")
}

fn delete(pod: &ObservedPod, reason: String) -> Write {
    Write { step: Step::Head, action: Action::DeletePod { name: pod.name.clone(), uid: pod.uid.clone(), reason } }
}
