//! One worker group: who stays, who goes, how many are made.

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::Timestamp;
use ray_api::raycluster::{Failures, WorkerGroupStatus};

use crate::backoff;
use crate::build::{self, GcsWait, PodSlot};
use crate::config::OperatorConfig;
use crate::observed::{Memory, NodeType, ObservedPod};
use crate::plan::{Action, Step, Write};
use crate::pod_names::{PodNames, worker_pod_prefix};
use crate::scale_down::{self, UnknownWorker};
use crate::unhealthy;
use crate::valid::{Pods, ValidCluster, WorkerGroup};

/// What was decided about one worker group.
#[derive(Debug, Clone, PartialEq)]
pub struct GroupDecision {
    /// The group's name.
    pub name: String,
    /// How many pods there should be.
    pub desired: Pods,
    /// Pods of the group that stay.
    pub kept: Vec<Arc<ObservedPod>>,
    /// Writes of this step.
    pub writes: Vec<Write>,
    /// Names in `workersToDelete` that delete nothing.
    pub unknown_names: Vec<UnknownWorker>,
    /// Failures so far, this pass's included.
    pub failures: Option<Failures>,
    /// Highest ordinal given to a pod of the group, this pass's included.
    pub last_ordinal: i64,
    /// Replacements wait until then.
    pub waits_until: Option<Timestamp>,
    /// The group has `numOfHosts` above 1, which this operator does not make yet: nothing is touched.
    pub multi_host: bool,
}

/// What the decision about one group looks at.
#[derive(Debug, Clone, Copy)]
pub struct GroupInput<'a> {
    /// The cluster.
    pub cluster: &'a ValidCluster,
    /// The group.
    pub group: &'a WorkerGroup,
    /// The operator's settings.
    pub config: &'a OperatorConfig,
    /// All pods of the cluster, of every group.
    pub pods: &'a [Arc<ObservedPod>],
    /// What failed lately.
    pub memory: &'a Memory,
    /// What the status says of the group so far.
    pub previous: Option<&'a WorkerGroupStatus>,
    /// Whether the head answers already, so that workers need not wait for it.
    pub head_is_ready: bool,
    /// The present.
    pub now: Timestamp,
}

/// Decides about one worker group.
///
/// Every pod of the group is in one of four sets: leaving already, unfit (replaced), named (goes), or supply. Only supply
/// is compared with the desired number, so a pod that goes anyway never makes another one go (invariant 6).
#[must_use]
pub fn decide(input: GroupInput<'_>) -> GroupDecision {
    let group = input.group;
    let step = Step::Group(group.name.clone());
    let prefix = worker_pod_prefix(&input.cluster.id.name, group.name.as_str());
    let members = || {
        let own = |pod: &&Arc<ObservedPod>| pod.node_type == NodeType::Worker && pod.group == group.name.as_str();
        input.pods.iter().filter(own)
    };
    let named = scale_down::match_names(group, &prefix, input.pods);
    let mut failures = input.previous.and_then(|status| status.failures.clone());
    let mut decision = GroupDecision {
        name: group.name.as_str().to_owned(),
        desired: group.desired_pods(),
        kept: Vec::new(),
        writes: Vec::new(),
        unknown_names: named.unknown,
        failures: None,
        last_ordinal: last_ordinal(&input, &step, members()),
        waits_until: None,
        multi_host: group.hosts > 1,
    };
    if decision.multi_host {
        decision.kept = members().filter(|pod| !pod.is_leaving()).cloned().collect();
        decision.failures = failures;
        return decision;
    }

    let mut supply = Vec::new();
    for pod in members().filter(|pod| !pod.is_leaving()) {
        if let Some(reason) = unhealthy::why_replace(pod) {
            failures = Some(backoff::count(failures.as_ref(), pod.ended_at().unwrap_or(input.now)));
            decision.writes.push(delete(&step, pod, reason));
        } else if named.own.contains(&pod.name) {
            decision.writes.push(delete(&step, pod, "workersToDelete names it".to_owned()));
        } else {
            supply.push(Arc::clone(pod));
        }
    }

    let desired = usize::try_from(decision.desired.0).unwrap_or(usize::MAX);
    let surplus = scale_down::surplus(&supply, supply.len().saturating_sub(desired));
    for pod in &surplus {
        let reason = format!("the group has {} workers and wants {desired}", supply.len());
        decision.writes.push(delete(&step, pod, reason));
    }
    supply.retain(|pod| surplus.iter().all(|going| going.uid != pod.uid));

    let missing = desired.saturating_sub(supply.len());
    if missing > 0 {
        decision.waits_until = [backoff::not_before(failures.as_ref()), input.memory.held.get(&step).copied()]
            .into_iter()
            .flatten()
            .filter(|until| *until > input.now)
            .max();
        if decision.waits_until.is_none() {
            create(&input, &step, missing, &supply, &mut decision);
        }
    }
    decision.kept = supply;
    decision.failures = failures;
    decision
}

/// At most this many creates in one pass: the rest follows in the next, so that a mistyped number does not become
/// gigabytes of plan, and one huge group does not keep its own cluster's status waiting.
const CREATES_PER_PASS: usize = 100;

fn create(
    input: &GroupInput<'_>,
    step: &Step,
    missing: usize,
    supply: &[Arc<ObservedPod>],
    decision: &mut GroupDecision,
) {
    let taken: BTreeSet<&str> = input
        .pods
        .iter()
        .map(|pod| pod.name.as_str())
        .chain(input.group.workers_to_delete.iter().map(String::as_str))
        .collect();
    let mut names = PodNames::worker(&input.cluster.id, input.group.name.as_str(), decision.last_ordinal, taken);
    let used: BTreeSet<u32> = supply.iter().filter_map(|pod| pod.replica_index).collect();
    let free = (0..=u32::MAX).filter(|index| !used.contains(index));
    let wait = if input.head_is_ready { GcsWait::HeadIsReady } else { GcsWait::UntilHeadAnswers };
    for replica_index in free.take(missing.min(CREATES_PER_PASS)) {
        let (ordinal, name) = names.next_name();
        let slot = PodSlot { name: &name, ordinal, replica_index };
        let pod = Box::new(build::worker_pod(input.cluster, input.group, input.config, &slot, wait));
        decision.last_ordinal = ordinal;
        decision.writes.push(Write { step: step.clone(), action: Action::CreatePod { pod, name, ordinal } });
    }
}

fn last_ordinal<'a>(
    input: &GroupInput<'_>,
    step: &Step,
    members: impl Iterator<Item = &'a Arc<ObservedPod>>,
) -> i64 {
    let reported = input.previous.and_then(|status| status.last_ordinal).unwrap_or(0);
    let seen = members.map(|pod| pod.ordinal).max().unwrap_or(0);
    let taken = input.memory.taken_ordinals.get(step).copied().unwrap_or(0);
    reported.max(seen).max(taken)
}

fn delete(step: &Step, pod: &ObservedPod, reason: String) -> Write {
    Write {
        step: step.clone(),
        action: Action::DeletePod { name: pod.name.clone(), uid: pod.uid.clone(), reason },
    }
}
