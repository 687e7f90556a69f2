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
    /// Highest ordinal given to a head before this pass.
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
                failures = Some(backoff::count(failures.as_ref(), pod, input.now));
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
    let last_ordinal = input.last_ordinal.max(seen).max(taken);
    let mut waits_until = None;
    if head.is_none() && !stays_away(&input) {
        waits_until = [backoff::not_before(failures.as_ref(), input.now), input.memory.held.get(&Step::Head).copied()]
            .into_iter()
            .flatten()
            .filter(|until| *until > input.now)
            .max();
        if waits_until.is_none() {
            let existing: BTreeSet<&str> = input.pods.iter().map(|pod| pod.name.as_str()).collect();
            let (ordinal, name) = PodNames::head(&input.cluster.id, last_ordinal, existing).next_name();
            let slot = PodSlot { name: &name, ordinal, replica_index: 0 };
            let pod = Box::new(build::head_pod(input.cluster, input.config, &slot));
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::testing::{after, cluster, created, decide as plan, deleted, head, head_with, observed, state};

    #[test]
    fn a_missing_head_is_made_and_a_fit_one_is_left_alone() {
        assert_eq!(created(plan(&observed(cluster(&[]), vec![])).writes()).len(), 1);
        for changes in [json!({}), state::pending(), state::not_ready()] {
            assert_eq!(plan(&observed(cluster(&[]), vec![head_with("h", &changes)])).writes().count(), 0);
        }
    }

    #[test]
    fn an_ended_head_is_replaced_whatever_its_restart_policy() {
        let view = observed(cluster(&[]), vec![head_with("h", &state::failed("2026-01-01T11:59:59Z"))]);
        let decision = plan(&view);
        assert_eq!((deleted(decision.writes()), created(decision.writes()).len()), (vec!["h"], 1));
    }

    #[test]
    fn a_head_that_leaves_does_not_block_the_next() {
        let decision = plan(&observed(cluster(&[]), vec![head_with("h", &state::leaving())]));
        assert_eq!((deleted(decision.writes()).len(), created(decision.writes()).len()), (0, 1));
    }

    #[test]
    fn of_two_heads_the_one_that_serves_stays() {
        let starting = head_with("a", &state::not_ready());
        let decision = plan(&observed(cluster(&[]), vec![starting, head("b")]));
        assert_eq!((deleted(decision.writes()), created(decision.writes()).len()), (vec!["a"], 0));
    }

    #[test]
    fn heads_that_end_at_once_come_back_ever_slower() {
        let mut failures: Option<Failures> = None;
        let mut waits = Vec::new();
        let mut at = after(0);
        for _ in 0..8 {
            let mut ended = state::failed(&at.to_string());
            ended["metadata"] = state::created(&at.to_string())["metadata"].take();
            failures = Some(backoff::count(failures.as_ref(), &head_with("h", &ended), at));
            let until = backoff::not_before(failures.as_ref(), at);
            waits.push(until.map_or(0, |until| until.duration_since(at).as_secs()));
            at = until.unwrap_or(at) + jiff::SignedDuration::from_secs(1);
        }
        assert_eq!(waits, [0, 10, 20, 40, 80, 160, 300, 300]);
    }

    #[test]
    fn a_provisioned_head_may_stay_away_on_request() {
        let mut cluster = cluster(&[]);
        let switch = (annotations::DISABLE_PROVISIONED_HEAD_RESTART.to_owned(), "true".to_owned());
        cluster.metadata.annotations = Some([switch].into());
        assert_eq!(created(plan(&observed(cluster.clone(), vec![])).writes()).len(), 1);
        cluster.status = Some(
            serde_json::from_value(json!({"conditions": [{"type": "RayClusterProvisioned", "status": "True",
                "reason": "X", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"}]}))
            .unwrap(),
        );
        assert_eq!(plan(&observed(cluster, vec![])).writes().count(), 0);
    }
}
