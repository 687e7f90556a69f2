//! Condition `RayClusterProvisioned`: the cluster was complete once.

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use ray_api::conditions::PROVISIONED;

use super::conditions::set;
use crate::plan::Decision;

/// Whether every pod that should be there is, and runs, and is ready. KubeRay compares no numbers here, so a cluster whose
/// workers cannot be created counts as provisioned there.
pub(super) fn is_complete(decision: &Decision) -> bool {
    let head = decision.head.head.as_ref().is_some_and(|head| head.is_running_and_ready());
    head && decision.groups.iter().all(|group| {
        usize::try_from(group.desired.0).is_ok_and(|desired| desired == group.kept.len())
            && group.kept.iter().all(|pod| pod.is_running_and_ready())
    })
}

pub(super) fn report(conditions: &mut Vec<Condition>, complete: bool, now: Timestamp) {
    if conditions.iter().any(|condition| condition.type_ == PROVISIONED && condition.status == "True") {
        return;
    }
    if complete {
        set(conditions, PROVISIONED, "True", "AllPodRunningAndReadyFirstTime", "every pod runs and is ready", now);
    } else {
        set(conditions, PROVISIONED, "False", "RayClusterPodsProvisioning", "pods are still starting", now);
    }
}
