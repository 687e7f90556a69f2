//! The status: what is going on, computed from the same partition of pods as the plan.

mod blocked;
mod conditions;
mod endpoints;
mod failures;
mod groups;
mod head_ready;
mod provisioned;
mod resources;

pub use failures::Attempt;
use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use ray_api::{FieldError, RayClusterStatus};

use crate::observed::Observed;
use crate::plan::{Decision, Step};

/// `state` of a cluster whose pods all run and are ready. Kept through later failures, as KubeRay does: it says that the
/// cluster was complete once. Conditions tell the present.
const READY: &str = "ready";

/// The status of a cluster that was planned, after the attempts of this pass.
#[must_use]
pub fn of_decision(
    observed: &Observed,
    decision: &Decision,
    attempt: &Attempt<'_>,
    now: Timestamp,
) -> RayClusterStatus {
    let now = seconds(now);
    let previous = observed.cluster.status.clone().unwrap_or_default();
    let counts = groups::count(decision);
    let service = endpoints::head_service(observed, decision);
    // Who waits for a ready cluster reads its endpoints next, so the Service has to be there (KubeRay reports nothing
    // at all without it).
    let complete =
        service.is_some() && provisioned::is_complete(decision) && !attempt.has_failures() && decision.held.is_empty();

    let mut conditions = previous.conditions.clone();
    conditions::remove(&mut conditions, ray_api::conditions::SPEC_INVALID);
    failures::report(&mut conditions, attempt, decision, now);
    head_ready::report(&mut conditions, decision.head.head.as_deref(), now);
    provisioned::report(&mut conditions, complete, now);
    conditions::report_not_suspended(&mut conditions, now);

    let state = if complete { READY.to_owned() } else { previous.state.clone() };
    let mut state_transition_times = previous.state_transition_times.clone();
    if state != previous.state {
        state_transition_times.insert(state.clone(), Time(now));
    }
    let totals = resources::totals(&decision.cluster);
    RayClusterStatus {
        state,
        reason: String::new(),
        desired_cpu: Some(totals.cpu),
        desired_memory: Some(totals.memory),
        desired_gpu: Some(totals.gpu),
        desired_tpu: Some(totals.tpu),
        desired_worker_replicas: nonzero(counts.desired),
        min_worker_replicas: nonzero(counts.min),
        max_worker_replicas: nonzero(counts.max),
        ready_worker_replicas: nonzero(counts.ready),
        available_worker_replicas: nonzero(counts.available),
        last_update_time: previous.last_update_time.clone(),
        state_transition_times,
        endpoints: service.map(endpoints::of).unwrap_or_default(),
        head: Some(endpoints::head_info(decision.head.head.as_deref(), service)),
        conditions,
        observed_generation: Some(decision.cluster.id.generation),
        worker_groups: groups::report(decision, &previous, attempt, now),
        head_last_ordinal: Some(decision.head.last_ordinal.max(attempt.spent_ordinal(&Step::Head)))
            .filter(|ordinal| *ordinal > 0),
        head_failures: decision.head.failures.clone(),
    }
}

/// The status of a cluster whose spec was refused: everything stays as it was, and one condition says why.
#[must_use]
pub fn of_rejection(observed: &Observed, errors: &[FieldError], now: Timestamp) -> RayClusterStatus {
    let mut status = observed.cluster.status.clone().unwrap_or_default();
    let reason = errors.first().map_or("InvalidRayClusterSpec", |error| error.reason.as_str());
    let message = rejection_message(errors);
    conditions::set(&mut status.conditions, ray_api::conditions::SPEC_INVALID, "True", reason, &message, seconds(now));
    status.observed_generation = observed.cluster.metadata.generation;
    status
}

/// All broken rules in one text.
#[must_use]
pub fn rejection_message(errors: &[FieldError]) -> String {
    let lines: Vec<String> = errors.iter().map(ToString::to_string).collect();
    let text = lines.join("; ");
    // A condition's message may have 32768 characters, an event's note 1024.
    text.chars().take(1000).collect()
}

/// Kubernetes writes times in whole seconds; a status that kept fractions would differ from itself read back.
pub(crate) fn seconds(now: Timestamp) -> Timestamp {
    Timestamp::from_second(now.as_second()).unwrap_or(now)
}

/// KubeRay leaves counters of zero out.
fn nonzero(count: i32) -> Option<i32> {
    Some(count).filter(|count| *count != 0)
}
