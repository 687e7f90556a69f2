//! Whether a pod must be replaced: a chain of rules, the first answer wins, its text reaches the user.

use crate::observed::{ContainerState, ObservedPod, Phase, RestartPolicy};

/// A rule: why this pod cannot do its work any more, or nothing.
type Rule = fn(&ObservedPod) -> Option<String>;

/// In order; KubeRay's rules, which leave everything else to the kubelet: pods that wait, restart or are not ready.
const RULES: [Rule; 2] = [ended, ray_ended_for_good];

/// Why the pod must be replaced; `None` means it is left alone.
#[must_use]
pub fn why_replace(pod: &ObservedPod) -> Option<String> {
    RULES.iter().find_map(|rule| rule(pod))
}

fn ended(pod: &ObservedPod) -> Option<String> {
    let phase = match pod.phase {
        Phase::Failed => "Failed",
        Phase::Succeeded => "Succeeded",
        Phase::Pending | Phase::Running | Phase::Unknown => return None,
    };
    Some(format!("its phase is {phase}{}", details(pod)))
}

fn ray_ended_for_good(pod: &ObservedPod) -> Option<String> {
    let terminated = matches!(pod.ray_state(), ContainerState::Terminated { .. });
    (pod.phase == Phase::Running && terminated && pod.restart_policy == RestartPolicy::Never)
        .then(|| format!("its Ray container ended and restartPolicy is Never{}", details(pod)))
}

/// What is known about the end: the pod's reason, the container's exit code.
fn details(pod: &ObservedPod) -> String {
    let mut known = Vec::new();
    if !pod.status_reason.is_empty() {
        known.push(pod.status_reason.clone());
    }
    if let ContainerState::Terminated { reason, exit_code, .. } = pod.ray_state() {
        let reason = if reason.is_empty() { "ended" } else { reason };
        known.push(format!("Ray container: {reason}, exit code {exit_code}"));
    }
    if known.is_empty() { String::new() } else { format!(" ({})", known.join("; ")) }
}
