//! Condition `HeadPodReady`.

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use ray_api::conditions::HEAD_POD_READY;

use super::conditions::set;
use crate::observed::{ContainerState, ObservedPod};

pub(super) fn report(conditions: &mut Vec<Condition>, head: Option<&ObservedPod>, now: Timestamp) {
    let Some(head) = head else {
        return set(conditions, HEAD_POD_READY, "False", "HeadPodNotFound", "there is no head pod", now);
    };
    let Some(ready) = &head.ready else {
        // The scheduler's word is the best there is before a kubelet knows the pod. KubeRay has only `Unknown` here.
        if let Some(scheduled) = head.scheduled.as_ref().filter(|scheduled| !scheduled.is_true()) {
            return set(conditions, HEAD_POD_READY, "False", &scheduled.reason, &scheduled.message, now);
        }
        return set(
            conditions,
            HEAD_POD_READY,
            "False",
            "Unknown",
            "the kubelet has not reported on the head yet",
            now,
        );
    };
    let mut reason = ready.reason.clone();
    let mut message = ready.message.clone();
    if ready.is_true() && reason.is_empty() {
        "HeadPodRunningAndReady".clone_into(&mut reason);
    }
    // "Containers are not ready" says nothing; the first container that does not run says why.
    if reason == "ContainersNotReady"
        && let Some((why, text)) = head.containers.iter().find_map(|container| not_running(&container.state))
    {
        message = format!("{message}; {text}");
        reason = why;
    }
    set(conditions, HEAD_POD_READY, &ready.status, &reason, &message, now);
}

/// Reason and text of a container that waits or ended.
fn not_running(state: &ContainerState) -> Option<(String, String)> {
    match state {
        ContainerState::Waiting { reason, message } => Some((reason.clone(), message.clone())),
        ContainerState::Terminated { reason, message, exit_code, .. } => {
            Some((reason.clone(), format!("exit code {exit_code} {message}").trim_end().to_owned()))
        }
        ContainerState::Running | ContainerState::Unknown => None,
    }
}
