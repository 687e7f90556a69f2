//! Which changes of the status cannot wait.

use ray_api::RayClusterStatus;
use ray_api::conditions::{HEAD_POD_READY, PROVISIONED, RECONCILE_FAILURE, REPLICA_FAILURE, SPEC_INVALID};

/// Whether the change matters to somebody who waits: the cluster became complete, something fails or fails no longer, a
/// ready head is lost. Growing numbers can wait a second or two and are then written together.
pub(super) fn is_urgent(before: &RayClusterStatus, wished: &RayClusterStatus) -> bool {
    let changed = |kind: &str| said(before, kind) != said(wished, kind);
    let head_lost = before.condition_is_true(HEAD_POD_READY) && !wished.condition_is_true(HEAD_POD_READY);
    let became_complete = wished.condition_is_true(PROVISIONED) && !before.condition_is_true(PROVISIONED);
    let failures = |status: &RayClusterStatus| {
        let groups = status.worker_groups.iter();
        let groups: Vec<_> = groups.map(|group| group.failures.clone()).collect();
        (status.head_failures.clone(), groups.into_iter().flatten().collect::<Vec<_>>())
    };
    head_lost
        || became_complete
        || before.state != wished.state
        || failures(before) != failures(wished)
        || is_settled(wished)
        || [REPLICA_FAILURE, RECONCILE_FAILURE, SPEC_INVALID].into_iter().any(changed)
}

/// All workers that are wanted are ready and so is the head: nothing more will happen by itself.
fn is_settled(status: &RayClusterStatus) -> bool {
    status.desired_worker_replicas.unwrap_or(0) == status.ready_worker_replicas.unwrap_or(0)
        && status.condition_is_true(HEAD_POD_READY)
}

/// Status and reason of a condition.
fn said<'a>(status: &'a RayClusterStatus, kind: &str) -> Option<(&'a str, &'a str)> {
    let condition = status.condition(kind)?;
    Some((condition.status.as_str(), condition.reason.as_str()))
}
