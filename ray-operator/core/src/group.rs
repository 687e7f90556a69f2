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
    /// Highest ordinal given to a pod of the group before this pass.
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
            failures = Some(backoff::count(failures.as_ref(), pod, input.now));
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
    let going: BTreeSet<&str> = surplus.iter().map(|pod| pod.uid.as_str()).collect();
    supply.retain(|pod| !going.contains(pod.uid.as_str()));

    let missing = desired.saturating_sub(supply.len());
    if missing > 0 {
        decision.waits_until =
            [backoff::not_before(failures.as_ref(), input.now), input.memory.held.get(&step).copied()]
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
        decision.writes.push(Write { step: step.clone(), action: Action::CreatePod { pod, name, ordinal } });
    }
}

fn last_ordinal<'a>(input: &GroupInput<'_>, step: &Step, members: impl Iterator<Item = &'a Arc<ObservedPod>>) -> i64 {
    let reported = input.previous.and_then(|status| status.last_ordinal).unwrap_or(0);
    let seen = members.map(|pod| pod.ordinal).max().unwrap_or(0);
    let taken = input.memory.taken_ordinals.get(step).copied().unwrap_or(0);
    reported.max(seen).max(taken)
}

fn delete(step: &Step, pod: &ObservedPod, reason: String) -> Write {
    Write { step: step.clone(), action: Action::DeletePod { name: pod.name.clone(), uid: pod.uid.clone(), reason } }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::testing::{
        after, cluster, created, decide as plan, deleted, head, observed, state, worker, worker_with,
    };

    fn named(names: &[&str]) -> ray_api::RayCluster {
        let mut cluster = cluster(&[("g", 0, 2, 10), ("other", 0, 1, 10)]);
        let strategy = serde_json::from_value(json!({"workersToDelete": names})).unwrap();
        cluster.spec.worker_group_specs[0].scale_strategy = Some(strategy);
        cluster
    }

    #[test]
    fn missing_workers_are_made_with_the_lowest_free_index() {
        let one = worker_with("g", "w1", &json!({"metadata": {"labels": {"ray.io/worker-group-replica-index": "1"}}}));
        let decision = plan(&observed(cluster(&[("g", 0, 4, 10)]), vec![head("h"), one]));
        let index = |write: &Write| match &write.action {
            Action::CreatePod { pod, .. } => {
                pod.metadata.labels.clone().unwrap()["ray.io/worker-group-replica-index"].clone()
            }
            other => panic!("{other:?}"),
        };
        assert_eq!(decision.groups[0].writes.iter().map(index).collect::<Vec<_>>(), ["0", "2", "3"]);
    }

    #[test]
    fn named_workers_go_and_no_other_when_the_numbers_match() {
        let pods = vec![head("h"), worker("g", "a"), worker("g", "b"), worker("g", "c"), worker("other", "d")];
        let decision = plan(&observed(named(&["b"]), pods));
        assert_eq!(deleted(decision.writes()), ["b"]);
        assert!(created(decision.writes()).is_empty());
    }

    #[test]
    fn a_named_worker_that_leaves_already_makes_no_other_go() {
        let b = worker_with("g", "b", &state::leaving());
        let pods = vec![head("h"), worker("g", "a"), b, worker("g", "c"), worker("other", "d")];
        let decision = plan(&observed(named(&["b"]), pods));
        assert_eq!(decision.writes().count(), 0);
    }

    #[test]
    fn names_of_others_delete_nothing_and_are_told() {
        let pods = vec![head("h"), worker("g", "a"), worker("g", "b"), worker("other", "d")];
        let decision = plan(&observed(named(&["h", "d", "stranger", "demo-g-worker-gone1"]), pods));
        assert_eq!(decision.writes().count(), 0);
        let told: Vec<&str> = decision.groups[0].unknown_names.iter().map(|unknown| unknown.name.as_str()).collect();
        // A name this group's pods may have had is a pod that is gone: just what was wished.
        assert_eq!(told, ["d", "h", "stranger"]);
    }

    #[test]
    fn a_name_that_is_to_be_deleted_is_not_made_anew() {
        let first = created(plan(&observed(named(&[]), vec![head("h")])).writes())[0].to_owned();
        let decision = plan(&observed(named(&[&first]), vec![head("h")]));
        assert!(!created(decision.writes()).contains(&first.as_str()));
        assert_eq!(created(&decision.groups[0].writes).len(), 2);
    }

    #[test]
    fn the_surplus_goes_by_rank() {
        let changes = [
            ("unscheduled", state::pending()),
            ("not-ready", state::not_ready()),
            ("cheap", state::costs(-1)),
            ("young", state::created("2026-01-01T11:00:00Z")),
            ("plain", json!({})),
            ("dear", state::costs(100)),
        ];
        let pods: Vec<_> = changes.iter().map(|(name, changes)| worker_with("g", name, changes)).collect();
        for (desired, expected) in [
            (6, vec![]),
            (5, vec!["unscheduled"]),
            (3, vec!["unscheduled", "not-ready", "cheap"]),
            (1, vec!["unscheduled", "not-ready", "cheap", "young", "plain"]),
        ] {
            let mut pods = pods.clone();
            pods.push(head("h"));
            let decision = plan(&observed(cluster(&[("g", 0, desired, 10)]), pods));
            assert_eq!(deleted(decision.writes()), expected, "{desired}");
        }
    }

    #[test]
    fn leaving_workers_are_replaced_at_once_and_never_chosen_again() {
        let pods = vec![head("h"), worker_with("g", "a", &state::leaving()), worker("g", "b")];
        let decision = plan(&observed(cluster(&[("g", 0, 2, 10)]), pods));
        assert_eq!(created(decision.writes()).len(), 1);
        assert!(deleted(decision.writes()).is_empty());
    }

    #[test]
    fn a_failed_worker_is_replaced_in_the_same_pass_under_a_new_name() {
        let failed = worker_with("g", "a", &state::failed("2026-01-01T11:59:59Z"));
        let decision = plan(&observed(cluster(&[("g", 0, 1, 10)]), vec![head("h"), failed]));
        assert_eq!(deleted(decision.writes()), ["a"]);
        assert_eq!(created(decision.writes()).len(), 1);
        assert_eq!(decision.groups[0].failures.clone().unwrap().count, Some(1));
    }

    #[test]
    fn workers_that_fail_again_and_again_wait_before_they_are_replaced() {
        let mut cluster = cluster(&[("g", 0, 1, 10)]);
        cluster.status = Some(
            serde_json::from_value(json!({"workerGroups": [{"name": "g",
                "failures": {"count": 3, "lastTime": "2026-01-01T11:59:30Z"}}]}))
            .unwrap(),
        );
        let mut failed = state::failed("2026-01-01T11:59:59Z");
        failed["metadata"] = state::created("2026-01-01T11:59:50Z")["metadata"].take();
        let decision = plan(&observed(cluster, vec![head("h"), worker_with("g", "a", &failed)]));
        assert_eq!(deleted(decision.writes()), ["a"]);
        assert!(created(decision.writes()).is_empty());
        // Fourth failure: 40 s after it happened.
        assert_eq!(decision.groups[0].waits_until, Some(after(39)));
        assert_eq!(decision.wake_at(), Some(after(39)));
    }

    #[test]
    fn a_node_that_takes_many_workers_with_it_does_not_delay_their_replacements() {
        let failed = |second: usize| {
            let at = format!("2026-01-01T11:59:0{second}Z");
            worker_with("g", &format!("w{second}"), &state::failed(&at))
        };
        let mut pods: Vec<_> = (0..8).map(failed).collect();
        pods.push(head("h"));
        let decision = plan(&observed(cluster(&[("g", 0, 8, 10)]), pods));
        assert_eq!((deleted(decision.writes()).len(), created(decision.writes()).len()), (8, 8));
        assert_eq!(decision.groups[0].failures.clone().unwrap().count, Some(1));
    }

    #[test]
    fn groups_do_not_wait_for_one_another() {
        let mut view = observed(cluster(&[("a", 0, 1, 10), ("b", 0, 1, 10)]), vec![head("h")]);
        let held = Step::Group(plan(&view).cluster.groups[0].name.clone());
        view.memory.held.insert(held, after(5));
        let decision = plan(&view);
        assert!(decision.groups[0].writes.is_empty());
        assert_eq!(created(&decision.groups[1].writes).len(), 1);
        assert_eq!(decision.wake_at(), Some(after(5)));
    }

    #[test]
    fn a_huge_number_becomes_a_bounded_plan() {
        let decision = plan(&observed(cluster(&[("g", 0, i32::MAX, i32::MAX)]), vec![head("h")]));
        assert_eq!(created(decision.writes()).len(), CREATES_PER_PASS);
    }

    #[test]
    fn workers_wait_for_the_head_only_until_it_is_ready() {
        let waits = |pods| {
            let decision = plan(&observed(cluster(&[("g", 0, 1, 10)]), pods));
            let Action::CreatePod { pod, .. } = &decision.groups[0].writes[0].action else { panic!() };
            pod.spec.as_ref().unwrap().init_containers.as_ref().is_some_and(|init| !init.is_empty())
        };
        assert!(waits(vec![crate::testing::head_with("h", &state::not_ready())]));
        assert!(!waits(vec![head("h")]));
    }
}
