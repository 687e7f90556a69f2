//! The end of a pass: what the API server is told, when to look again.

mod events;
mod patch;
mod urgency;

use jiff::{SignedDuration, Timestamp};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use ray_api::RayClusterStatus;
use serde_json::Value;

use crate::config::OperatorConfig;
use crate::observed::Observed;
use crate::plan::{Event, Outcome, Verdict, Write};
use crate::status::{self, Attempt};

/// Changes that are mere progress are written at most this often; whole seconds, since the status keeps no fractions.
const PROGRESS_INTERVAL: SignedDuration = SignedDuration::from_secs(2);
/// … and, where the API server has its hands full, at least this often.
const PROGRESS_WHEN_BUSY: SignedDuration = SignedDuration::from_secs(10);

/// What a pass leaves to do after its writes.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Report {
    /// JSON merge patch of the status, and the status it leads to; only when something changed.
    pub status: Option<StatusPatch>,
    /// Events to publish.
    pub events: Vec<Event>,
    /// When to look at the cluster again though nothing happened.
    pub wake_at: Option<Timestamp>,
}

/// A change of the status.
#[derive(Debug, Clone, PartialEq)]
pub struct StatusPatch {
    /// `{"status": {…}}` with the fields that change; a field that goes is `null`.
    pub patch: Value,
    /// The whole status that is wished.
    pub wished: RayClusterStatus,
    /// Mere progress that nobody has waited long for: while the API server has its hands full, there is better to write.
    pub can_wait: bool,
}

impl StatusPatch {
    /// The same wish for an object whose status says `raw`, which does not decode: everything in it that is not wished goes.
    #[must_use]
    pub fn instead_of(self, raw: &Value) -> Self {
        Self { patch: patch::instead_of(raw, &self.wished), ..self }
    }
}

/// Works out status, events and the next look from a verdict and the outcomes of its writes, in the verdict's order.
#[must_use]
pub fn report(
    observed: &Observed,
    verdict: &Verdict,
    outcomes: &[Outcome],
    config: &OperatorConfig,
    now: Timestamp,
) -> Report {
    let attempt = Attempt { results: verdict.writes().zip(outcomes).collect::<Vec<(&Write, &Outcome)>>() };
    let mut wished = match verdict {
        Verdict::LeaveAlone => return Report::default(),
        Verdict::Reject(rejection) => status::of_rejection(observed, &rejection.errors, now),
        Verdict::Act(decision) => status::of_decision(observed, decision, &attempt, now),
    };
    if !config.gates.ray_cluster_status_conditions {
        wished.conditions.clear();
    }
    let events = events::of(observed, verdict, &attempt, &wished);
    let before = observed.cluster.status.clone().unwrap_or_default();
    let (status, look_again) = decide_status(observed, verdict, &attempt, &before, wished, now);
    let wake_at = match verdict {
        Verdict::Act(decision) => decision.wake_at(),
        Verdict::Reject(_) | Verdict::LeaveAlone => None,
    };
    Report { status, events, wake_at: [wake_at, look_again].into_iter().flatten().min() }
}

/// Whether to write the status now, later, or not at all.
fn decide_status(
    observed: &Observed,
    verdict: &Verdict,
    attempt: &Attempt<'_>,
    before: &RayClusterStatus,
    mut wished: RayClusterStatus,
    now: Timestamp,
) -> (Option<StatusPatch>, Option<Timestamp>) {
    if patch::same(before, &wished) || is_answered(observed, before, &wished) {
        return (None, None);
    }
    // What was just created comes back through the watch in a moment, and the status is then written once, complete.
    let creates = matches!(verdict, Verdict::Act(decision) if decision.creates_anything());
    let urgent = urgency::is_urgent(before, &wished);
    if creates && !attempt.has_failures() && !urgent {
        return (None, None);
    }
    // A cluster that becomes ready faster than this needs no status before: of all writes it costs the API server most.
    let last = before.last_update_time.as_ref().or(observed.cluster.metadata.creation_timestamp.as_ref());
    // A time in the future comes from another clock and says nothing.
    let last = last.map(|time| time.0).filter(|last| *last <= now);
    if let Some(next) = last.and_then(|last| last.checked_add(PROGRESS_INTERVAL).ok())
        && next > now
        && !urgent
    {
        return (None, Some(next));
    }
    let overdue = last.and_then(|last| last.checked_add(PROGRESS_WHEN_BUSY).ok());
    let can_wait = !urgent && overdue.is_some_and(|overdue| now < overdue);
    wished.last_update_time = Some(Time(status::seconds(now)));
    (Some(StatusPatch { patch: patch::between(before, &wished), wished, can_wait }), None)
}

/// Whether this very wish was already sent and the API server kept less of it (an older CRD prunes fields it does not
/// know): asking again would change nothing, for ever.
fn is_answered(observed: &Observed, before: &RayClusterStatus, wished: &RayClusterStatus) -> bool {
    let answer = observed.memory.answered_status.as_ref();
    answer.is_some_and(|answer| patch::same(&answer.wished, wished) && patch::same(&answer.got, before))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::observed::AnsweredStatus;
    use crate::plan::{WriteError, WriteErrorKind, plan};
    use crate::testing::{after, cluster, head, head_with, now, observed, state, worker, worker_with};

    /// A pass in which every write has the same outcome.
    fn pass(view: &Observed, outcome: &Outcome, at: Timestamp) -> Report {
        let config = OperatorConfig::default();
        let verdict = plan(view, &config, at);
        let outcomes = vec![outcome.clone(); verdict.writes().count()];
        report(view, &verdict, &outcomes, &config, at)
    }

    fn refused() -> Outcome {
        Outcome::Failed(WriteError { kind: WriteErrorKind::Refused, message: "exceeded quota".to_owned() })
    }

    /// The view after the status was written.
    fn with_status(mut view: Observed, report: Report) -> Observed {
        view.cluster.status = Some(report.status.expect("a status").wished);
        view
    }

    #[test]
    fn a_pass_that_creates_leaves_the_status_to_the_next_one() {
        let view = observed(cluster(&[("g", 0, 1, 10)]), vec![]);
        let report = pass(&view, &Outcome::Done, now());
        assert_eq!(report.status, None);
        assert_eq!(report.events.len(), 2);
    }

    #[test]
    fn progress_is_written_every_two_seconds_and_completion_at_once() {
        let starting = worker_with("g", "w", &state::not_ready());
        let spec = || cluster(&[("g", 0, 1, 10)]);
        let first =
            pass(&observed(spec(), vec![head_with("h", &state::not_ready()), starting.clone()]), &Outcome::Done, now());
        let written = first.status.expect("the first status").wished;
        let mut view = observed(spec(), vec![head("h"), starting]);
        view.cluster.status = Some(written);
        let too_early = pass(&view, &Outcome::Done, after(1));
        assert_eq!((too_early.status, too_early.wake_at), (None, Some(after(2))));
        assert!(pass(&view, &Outcome::Done, after(2)).status.is_some());
        view.pods = vec![head("h"), worker("g", "w")];
        let complete = pass(&view, &Outcome::Done, after(1)).status.expect("completion does not wait").wished;
        assert_eq!(complete.state, "ready");
    }

    #[test]
    fn a_young_cluster_is_given_the_time_to_become_ready_before_its_first_status() {
        let mut view =
            observed(cluster(&[("g", 0, 1, 10)]), vec![head("h"), worker_with("g", "w", &state::not_ready())]);
        view.cluster.metadata.creation_timestamp = Some(Time(now()));
        let young = pass(&view, &Outcome::Done, after(1));
        assert_eq!((young.status, young.wake_at), (None, Some(after(2))));
        let can_wait = |view: &Observed, at| pass(view, &Outcome::Done, at).status.expect("a status").can_wait;
        assert!(can_wait(&view, after(2)) && can_wait(&view, after(9)) && !can_wait(&view, after(10)));
        view.pods = vec![head("h"), worker("g", "w")];
        assert!(!can_wait(&view, after(1)));
    }

    #[test]
    fn a_settled_cluster_is_left_alone() {
        let view = observed(cluster(&[("g", 0, 1, 10)]), vec![head("h"), worker("g", "w")]);
        let report = pass(&view, &Outcome::Done, now());
        let view = with_status(view, report);
        assert_eq!(pass(&view, &Outcome::Done, after(3600)), Report::default());
    }

    #[test]
    fn a_time_from_another_clock_does_not_stop_the_status() {
        let mut view = observed(cluster(&[]), vec![head("h")]);
        view.cluster.status = Some(serde_json::from_value(json!({"lastUpdateTime": "2100-01-01T00:00:00Z"})).unwrap());
        assert!(pass(&view, &Outcome::Done, now()).status.is_some());
    }

    #[test]
    fn a_status_that_an_older_crd_prunes_is_not_sent_for_ever() {
        let mut view = observed(cluster(&[("g", 0, 1, 10)]), vec![head("h"), worker("g", "w")]);
        let wished = pass(&view, &Outcome::Done, now()).status.expect("a status").wished;
        let got = RayClusterStatus { worker_groups: vec![], ..wished.clone() };
        view.cluster.status = Some(got.clone());
        assert!(pass(&view, &Outcome::Done, after(60)).status.is_some());
        view.memory.answered_status = Some(AnsweredStatus { wished, got });
        assert_eq!(pass(&view, &Outcome::Done, after(60)).status, None);
    }

    #[test]
    fn a_refusal_is_told_at_once_kept_while_held_and_taken_back_when_over() {
        let view = observed(cluster(&[("a", 0, 1, 10), ("b", 0, 0, 10)]), vec![head("h")]);
        let report = pass(&view, &refused(), now());
        assert_eq!(report.events[0].reason, "FailedToCreateWorkerPod");
        let mut view = with_status(view, report);
        let failure = |view: &Observed| view.cluster.status.as_ref()?.condition("ReplicaFailure").cloned();
        let told = failure(&view).expect("a condition");
        assert_eq!((told.status.as_str(), told.reason.as_str()), ("True", "FailedCreateWorkerPod"));
        assert!(told.message.contains("worker group a") && told.message.contains("exceeded quota"));
        let blocked = view.cluster.status.as_ref().unwrap().worker_group("a").unwrap().blocked.clone();
        assert!(blocked.unwrap().message.contains("exceeded quota"));

        // Held: nothing is tried, what was said stays.
        let group = crate::testing::decide(&view).cluster.groups[0].name.clone();
        view.memory.held.insert(crate::plan::Step::Group(group), after(30));
        let waiting = pass(&view, &Outcome::Done, after(10));
        assert_eq!((waiting.status, waiting.wake_at), (None, Some(after(30))));

        view.memory.held.clear();
        view.pods.push(worker("a", "w"));
        let report = pass(&view, &Outcome::Done, after(31));
        assert_eq!(failure(&with_status(view, report)), None);
    }

    #[test]
    fn a_refusal_that_is_over_is_taken_back_though_another_group_keeps_failing() {
        let mut view = observed(cluster(&[("a", 0, 1, 10), ("b", 0, 1, 10)]), vec![head("h"), worker("a", "w")]);
        view.cluster.status = Some(
            serde_json::from_value(json!({
                "conditions": [{"type": "ReplicaFailure", "status": "True", "reason": "FailedCreateWorkerPod",
                    "message": "worker group a: exceeded quota", "lastTransitionTime": "2026-01-01T11:00:00Z"}],
                "workerGroups": [{"name": "b", "failures": {"count": 5, "lastTime": "2026-01-01T11:59:59Z"}}]}))
            .unwrap(),
        );
        let report = pass(&view, &Outcome::Done, now());
        assert_eq!(report.wake_at, Some(after(79)));
        let status = report.status.unwrap().wished;
        assert_eq!(status.condition("ReplicaFailure"), None);
        assert_eq!(status.worker_group("b").unwrap().blocked.clone().unwrap().reason, "BackOff");
    }

    #[test]
    fn a_broken_rule_is_told_once_and_changes_nothing_else() {
        let mut broken = cluster(&[("g", 5, 1, 2)]);
        broken.status = Some(serde_json::from_value(json!({"state": "ready", "readyWorkerReplicas": 1})).unwrap());
        let view = observed(broken, vec![head("h"), worker("g", "w")]);
        let report = pass(&view, &Outcome::Done, now());
        assert_eq!(report.events[0].reason, "InvalidRayClusterSpec");
        assert!(report.events[0].note.contains("spec.workerGroupSpecs[0]"), "{}", report.events[0].note);
        let view = with_status(view, report);
        let status = view.cluster.status.clone().unwrap();
        assert_eq!((status.state.as_str(), status.ready_worker_replicas), ("ready", Some(1)));
        assert_eq!(pass(&view, &Outcome::Done, after(60)), Report::default());

        // Mended, the condition goes.
        let mut mended = observed(cluster(&[("g", 0, 1, 2)]), view.pods);
        mended.cluster.status = Some(status);
        let status = pass(&mended, &Outcome::Done, after(90)).status.unwrap().wished;
        assert_eq!(status.condition(ray_api::conditions::SPEC_INVALID), None);
    }

    #[test]
    fn names_that_delete_nothing_are_told_once() {
        let mut spec = cluster(&[("g", 0, 1, 10)]);
        let strategy = serde_json::from_value(json!({"workersToDelete": ["h"]})).unwrap();
        spec.spec.worker_group_specs[0].scale_strategy = Some(strategy);
        let view = observed(spec, vec![head("h"), worker("g", "w")]);
        let report = pass(&view, &Outcome::Done, now());
        assert_eq!(report.events.iter().map(|event| event.reason).collect::<Vec<_>>(), ["UnknownWorkerToDelete"]);
        let view = with_status(view, report);
        assert_eq!(pass(&view, &Outcome::Done, after(60)), Report::default());
    }
}
