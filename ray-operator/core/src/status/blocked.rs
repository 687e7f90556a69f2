//! Why a worker group has fewer ready workers than wanted: a chain of questions, the first answer wins.

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use ray_api::raycluster::Blocked;

use super::failures::Attempt;
use crate::group::GroupDecision;
use crate::observed::{ContainerState, ObservedContainer, ObservedPod};
use crate::plan::Step;

/// What the questions look at.
struct Context<'a> {
    group: &'a GroupDecision,
    before: Option<&'a Blocked>,
    attempt: &'a Attempt<'a>,
}

/// A reason, a text, and since when if something other than this operator knows it.
type Answer = (String, String, Option<Timestamp>);

const QUESTIONS: [fn(&Context<'_>) -> Option<Answer>; 5] =
    [multi_host, create_failed, keeps_failing, waits_for_next_attempt, pod_does_not_start];

/// The reason, or nothing when the group has what it wants or is on its way.
pub(super) fn why(
    group: &GroupDecision,
    before: Option<&Blocked>,
    attempt: &Attempt<'_>,
    now: Timestamp,
) -> Option<Blocked> {
    let context = Context { group, before, attempt };
    let (reason, message, since) = QUESTIONS.iter().find_map(|question| question(&context))?;
    let known = before.filter(|before| before.reason == reason).and_then(|before| before.since.clone());
    let since = since.map(Time).or(known).unwrap_or(Time(now));
    Some(Blocked { reason, message: message.chars().take(1024).collect(), since: Some(since) })
}

fn multi_host(context: &Context<'_>) -> Option<Answer> {
    let text = "numOfHosts above 1 is not supported by this version of ray-operator; the group is left as it is";
    context.group.multi_host.then(|| ("MultiHostNotSupported".to_owned(), text.to_owned(), None))
}

fn create_failed(context: &Context<'_>) -> Option<Answer> {
    let failed = context.attempt.failed_steps();
    let (_, (_, error)) = failed.iter().find(|(step, _)| is_of(step, context.group))?;
    Some(("CreateFailed".to_owned(), error.message.clone(), None))
}

fn keeps_failing(context: &Context<'_>) -> Option<Answer> {
    let until = context.group.waits_until?;
    let failures = context.group.failures.as_ref()?;
    let until_failures = crate::backoff::not_before(Some(failures), until)?;
    (until == until_failures).then(|| {
        let text = format!("workers ended {} times in a row; the next is made at {until}", failures.count.unwrap_or(0));
        ("BackOff".to_owned(), text, None)
    })
}

/// The step waits for its next attempt: what was said about its failure still holds.
fn waits_for_next_attempt(context: &Context<'_>) -> Option<Answer> {
    context.group.waits_until?;
    let before = context.before?;
    Some((before.reason.clone(), before.message.clone(), None))
}

fn pod_does_not_start(context: &Context<'_>) -> Option<Answer> {
    context.group.kept.iter().filter(|pod| !pod.is_ready()).find_map(|pod| {
        let (reason, message, since) = unschedulable(pod).or_else(|| container_waits(pod))?;
        Some((reason, format!("{}: {message}", pod.name), since))
    })
}

fn unschedulable(pod: &ObservedPod) -> Option<Answer> {
    let scheduled = pod.scheduled.as_ref().filter(|scheduled| !scheduled.is_true())?;
    Some((scheduled.reason.clone(), scheduled.message.clone(), scheduled.since))
}

/// Reasons of a container that is merely on its way.
const ON_ITS_WAY: [&str; 3] = ["ContainerCreating", "PodInitializing", ""];

fn container_waits(pod: &ObservedPod) -> Option<Answer> {
    pod.init_containers.iter().chain(&pod.containers).find_map(|container| match &container.state {
        ContainerState::Waiting { reason, message } if !ON_ITS_WAY.contains(&reason.as_str()) => {
            Some((reason.clone(), text(container, message), None))
        }
        _ => None,
    })
}

fn text(container: &ObservedContainer, message: &str) -> String {
    match container.last_exit_code {
        Some(code) => format!("container {} ended with exit code {code}; {message}", container.name),
        None => format!("container {}: {message}", container.name),
    }
}

fn is_of(step: &Step, group: &GroupDecision) -> bool {
    matches!(step, Step::Group(name) if name.as_str() == group.name)
}
