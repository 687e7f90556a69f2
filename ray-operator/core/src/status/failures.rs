//! Conditions about writes that failed: `ReplicaFailure` for pods, `ReconcileFailure` for everything else.

use std::collections::BTreeMap;

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use ray_api::conditions::{RECONCILE_FAILURE, REPLICA_FAILURE};
use ray_api::raycluster::Failures;

use super::conditions::{remove, set};
use crate::backoff;
use crate::plan::{Action, Decision, Outcome, Step, Write, WriteError, WriteErrorKind};

/// The writes of a pass, each with what became of it.
#[derive(Debug, Clone, Default)]
pub struct Attempt<'a> {
    /// Writes and outcomes.
    pub results: Vec<(&'a Write, &'a Outcome)>,
}

impl<'a> Attempt<'a> {
    /// The writes that failed.
    pub fn failures(&self) -> impl Iterator<Item = (&'a Write, &'a WriteError)> + '_ {
        self.results.iter().filter_map(|(write, outcome)| match outcome {
            Outcome::Failed(error) => Some((*write, error)),
            Outcome::Done | Outcome::AlreadySo | Outcome::Skipped => None,
        })
    }

    /// Whether anything failed.
    #[must_use]
    pub fn has_failures(&self) -> bool {
        self.failures().next().is_some()
    }

    /// Highest ordinal whose name a create of this step used up; 0 if none did.
    ///
    /// A refused create used up nothing, and one of unknown end must be repeated under the same name, so that the
    /// repetition is `AlreadyExists` (invariant 4).
    #[must_use]
    pub fn spent_ordinal(&self, step: &Step) -> i64 {
        let spent = self.results.iter().filter_map(|(write, outcome)| match (&write.action, outcome) {
            (Action::CreatePod { ordinal, .. }, Outcome::Done | Outcome::AlreadySo) if write.step == *step => {
                Some(*ordinal)
            }
            (Action::CreatePod { ordinal, .. }, Outcome::Failed(error))
                if write.step == *step && error.kind == WriteErrorKind::NameTaken =>
            {
                Some(*ordinal)
            }
            _ => None,
        });
        spent.max().unwrap_or(0)
    }

    /// Steps that failed → the first error of each.
    #[must_use]
    pub fn failed_steps(&self) -> BTreeMap<&'a Step, (&'a Write, &'a WriteError)> {
        let mut steps = BTreeMap::new();
        for (write, error) in self.failures() {
            steps.entry(&write.step).or_insert((write, error));
        }
        steps
    }
}

/// Sets or removes the two conditions. A step that waits for its next attempt keeps what was said about it.
pub(super) fn report(conditions: &mut Vec<Condition>, attempt: &Attempt<'_>, decision: &Decision, now: Timestamp) {
    let failed = attempt.failed_steps();
    // A wait because pods ended again and again is no failed write, and says so elsewhere.
    let refused = |until: Option<Timestamp>, failures: Option<&Failures>| {
        until.is_some_and(|until| backoff::not_before(failures, until) != Some(until))
    };
    let waits = |about_pods: bool| {
        let head = refused(decision.head.waits_until, decision.head.failures.as_ref());
        let groups = decision.groups.iter().any(|group| refused(group.waits_until, group.failures.as_ref()));
        decision.held.iter().any(|(step, _)| is_about_pods(step) == about_pods) || (about_pods && (head || groups))
    };
    for (kind, about_pods) in [(REPLICA_FAILURE, true), (RECONCILE_FAILURE, false)] {
        let mine: Vec<_> = failed.iter().filter(|(step, _)| is_about_pods(step) == about_pods).collect();
        if let Some((_, (first, _))) = mine.first() {
            let texts: Vec<String> = mine
                .iter()
                .map(|(step, (write, error))| {
                    format!("{step}: {} {}: {}", verb(write), write.action.name(), error.message)
                })
                .collect();
            set(conditions, kind, "True", reason(first), &texts.join("\n"), now);
            continue;
        }
        if !waits(about_pods) {
            remove(conditions, kind);
        }
    }
}

fn is_about_pods(step: &Step) -> bool {
    match step {
        Step::Head | Step::Group(_) | Step::RemovedGroup(_) => true,
        Step::HeadService | Step::HeadlessService => false,
    }
}

fn verb(write: &Write) -> &'static str {
    match write.action {
        Action::CreatePod { .. } | Action::CreateService { .. } => "cannot create",
        Action::DeletePod { .. } => "cannot delete",
    }
}

/// KubeRay's reasons.
fn reason(write: &Write) -> &'static str {
    match (&write.step, &write.action) {
        (Step::Head, Action::DeletePod { .. }) => "FailedDeleteHeadPod",
        (Step::Head, _) => "FailedCreateHeadPod",
        (Step::Group(_) | Step::RemovedGroup(_), Action::DeletePod { .. }) => "FailedDeleteWorkerPod",
        (Step::Group(_) | Step::RemovedGroup(_), _) => "FailedCreateWorkerPod",
        (Step::HeadService | Step::HeadlessService, _) => "FailedToCreateService",
    }
}
