//! Events of a pass: one for the head, one a group and kind, however many pods.

use std::collections::BTreeMap;

use ray_api::RayClusterStatus;

use crate::observed::Observed;
use crate::plan::{Action, Event, Outcome, Step, Verdict, Write};
use crate::status::{Attempt, rejection_message};

/// How many names one event spells out.
const NAMES_SHOWN: usize = 5;

pub(super) fn of(
    observed: &Observed,
    verdict: &Verdict,
    attempt: &Attempt<'_>,
    wished: &RayClusterStatus,
) -> Vec<Event> {
    let mut events = created(attempt);
    events.extend(deleted(attempt));
    events.extend(failed(attempt));
    if let Verdict::Reject(rejection) = verdict {
        events.extend(rejected(observed, &rejection.errors));
    }
    events.extend(unknown_names(observed, wished));
    events
}

fn done<'a>(attempt: &'a Attempt<'a>) -> impl Iterator<Item = &'a Write> {
    attempt.results.iter().filter(|(_, outcome)| **outcome == Outcome::Done).map(|(write, _)| *write)
}

fn created(attempt: &Attempt<'_>) -> Vec<Event> {
    let mut by_step: BTreeMap<&Step, Vec<&str>> = BTreeMap::new();
    for write in done(attempt).filter(|write| !matches!(write.action, Action::DeletePod { .. })) {
        by_step.entry(&write.step).or_default().push(write.action.name());
    }
    // A head and the Services are made together; they share an event.
    let mut services = Vec::new();
    if by_step.contains_key(&Step::Head) {
        let of_services = [Step::HeadService, Step::HeadlessService];
        services = of_services.iter().filter_map(|step| by_step.remove(step)).flatten().collect();
    }
    let event = |(step, names): (&Step, Vec<&str>)| {
        let list = list(&names);
        match step {
            Step::Head => {
                let services = match services.as_slice() {
                    [] => String::new(),
                    [one] => format!(" and Service {one}"),
                    several => format!(" and Services {}", several.join(", ")),
                };
                let note = format!("Created head pod {list}{services}");
                Event::normal("CreatedHeadPod", "Create", note)
            }
            Step::HeadService | Step::HeadlessService => {
                Event::normal("CreatedService", "Create", format!("Created {step} {list}"))
            }
            Step::Group(_) | Step::RemovedGroup(_) => {
                let note = format!("Created {} of {step}: {list}", workers(names.len()));
                Event::normal("CreatedWorkerPod", "Create", note)
            }
        }
    };
    by_step.into_iter().map(event).collect()
}

fn deleted(attempt: &Attempt<'_>) -> Vec<Event> {
    let mut by_reason: BTreeMap<(&Step, &str), Vec<&str>> = BTreeMap::new();
    for write in done(attempt) {
        if let Action::DeletePod { name, reason, .. } = &write.action {
            by_reason.entry((&write.step, reason)).or_default().push(name);
        }
    }
    let event = |((step, reason), names): ((&Step, &str), Vec<&str>)| match step {
        Step::Head => Event::normal("DeletedHeadPod", "Delete", format!("Deleted head pod {}: {reason}", list(&names))),
        _ => {
            let note = format!("Deleted {} of {step}: {}: {reason}", workers(names.len()), list(&names));
            Event::normal("DeletedWorkerPod", "Delete", note)
        }
    };
    by_reason.into_iter().map(event).collect()
}

fn failed(attempt: &Attempt<'_>) -> Vec<Event> {
    let event = |(step, (write, error)): (&Step, (&Write, &crate::plan::WriteError))| {
        let (reason, action, verb) = match (&write.action, step) {
            (Action::DeletePod { .. }, Step::Head) => ("FailedToDeleteHeadPod", "Delete", "delete"),
            (Action::DeletePod { .. }, _) => ("FailedToDeleteWorkerPod", "Delete", "delete"),
            (Action::CreatePod { .. }, Step::Head) => ("FailedToCreateHeadPod", "Create", "create"),
            (Action::CreatePod { .. }, _) => ("FailedToCreateWorkerPod", "Create", "create"),
            (Action::CreateService { .. }, _) => ("FailedToCreateService", "Create", "create"),
        };
        let note = format!("{step}: cannot {verb} {}: {}", write.action.name(), error.message);
        Event::warning(reason, action, note)
    };
    attempt.failed_steps().into_iter().map(event).collect()
}

/// One event when the rules that are broken change, not one a pass.
fn rejected(observed: &Observed, errors: &[ray_api::FieldError]) -> Option<Event> {
    let note = rejection_message(errors);
    let status = observed.cluster.status.as_ref();
    let reported = status.and_then(|status| status.condition(ray_api::conditions::SPEC_INVALID));
    let known = reported.is_some_and(|condition| condition.status == "True" && condition.message == note);
    let reason = errors.first().map_or("InvalidRayClusterSpec", |error| error.reason.as_str());
    (!known).then(|| Event::warning(reason, "Validate", note))
}

/// Names in `workersToDelete` that the status did not report before.
fn unknown_names(observed: &Observed, wished: &RayClusterStatus) -> Vec<Event> {
    let before = observed.cluster.status.as_ref();
    let mut events = Vec::new();
    for group in &wished.worker_groups {
        let known = before.and_then(|status| status.worker_group(&group.name));
        let known = known.map(|known| known.unknown_workers_to_delete.as_slice()).unwrap_or_default();
        let new = |name: &str| !known.iter().any(|entry| entry.name == name);
        let names = group.unknown_workers_to_delete.iter().filter(|entry| new(&entry.name));
        let texts: Vec<String> = names.map(|entry| format!("{} ({})", entry.name, entry.reason)).collect();
        if !texts.is_empty() {
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            let note = format!("workersToDelete of worker group {} deletes nothing for {}", group.name, list(&texts));
            events.push(Event::warning("UnknownWorkerToDelete", "Delete", note));
        }
    }
    events
}

fn workers(count: usize) -> String {
    if count == 1 { "1 worker".to_owned() } else { format!("{count} workers") }
}

fn list(names: &[&str]) -> String {
    let shown: Vec<&str> = names.iter().copied().take(NAMES_SHOWN).collect();
    let more = names.len().saturating_sub(NAMES_SHOWN);
    if more == 0 { shown.join(", ") } else { format!("{} and {more} more", shown.join(", ")) }
}
