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
    let last = before.last_update_time.as_ref().map(|time| time.0);
    if let Some(next) = last.and_then(|last| last.checked_add(PROGRESS_INTERVAL).ok())
        && next > now
        && !urgent
    {
        return (None, Some(next));
    }
    wished.last_update_time = Some(Time(now));
    (Some(StatusPatch { patch: patch::between(before, &wished), wished }), None)
}

/// Whether this very wish was already sent and the API server kept less of it (an older CRD prunes fields it does not
/// know): asking again would change nothing, for ever.
fn is_answered(observed: &Observed, before: &RayClusterStatus, wished: &RayClusterStatus) -> bool {
    let answer = observed.memory.answered_status.as_ref();
    answer.is_some_and(|answer| patch::same(&answer.wished, wished) && patch::same(&answer.got, before))
}
