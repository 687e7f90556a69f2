//! Worker groups in the status: totals as KubeRay has them, and our own list, one entry a group.

use jiff::Timestamp;
use ray_api::RayClusterStatus;
use ray_api::raycluster::{UnknownWorkerToDelete, WorkerGroupStatus};

use super::blocked;
use super::failures::Attempt;
use crate::observed::Phase;
use crate::plan::Decision;
use crate::valid::Pods;

/// How many names of a group are reported; the list is for people.
const UNKNOWN_NAMES_SHOWN: usize = 20;

/// Numbers of worker pods of the whole cluster.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) desired: i32,
    pub(super) min: i32,
    pub(super) max: i32,
    pub(super) ready: i32,
    pub(super) available: i32,
}

/// Sums over groups; saturates, since users write the numbers.
pub(super) fn count(decision: &Decision) -> Counts {
    let mut counts = Counts::default();
    for group in &decision.cluster.groups {
        add(&mut counts.desired, group.desired_pods());
        add(&mut counts.min, group.replicas.min.pods(group.hosts));
        add(&mut counts.max, group.replicas.max.pods(group.hosts));
    }
    for pod in decision.groups.iter().flat_map(|group| &group.kept) {
        let running = pod.phase == Phase::Running;
        add(&mut counts.available, Pods(u32::from(running)));
        add(&mut counts.ready, Pods(u32::from(running && pod.is_ready())));
    }
    counts
}

fn add(sum: &mut i32, pods: Pods) {
    *sum = sum.saturating_add(int32(pods.0));
}

fn int32(count: impl TryInto<i32>) -> i32 {
    count.try_into().unwrap_or(i32::MAX)
}

/// One entry a group, in the order of the spec.
pub(super) fn report(
    decision: &Decision,
    previous: &RayClusterStatus,
    attempt: &Attempt<'_>,
    now: Timestamp,
) -> Vec<WorkerGroupStatus> {
    decision
        .groups
        .iter()
        .map(|group| {
            let ready = group.kept.iter().filter(|pod| pod.phase == Phase::Running && pod.is_ready()).count();
            let unknown = group.unknown_names.iter().take(UNKNOWN_NAMES_SHOWN);
            let unknown_workers_to_delete = unknown
                .map(|unknown| UnknownWorkerToDelete { name: unknown.name.clone(), reason: unknown.reason.clone() })
                .collect();
            let before = previous.worker_group(&group.name);
            let spent = group.writes.first().map_or(0, |write| attempt.spent_ordinal(&write.step));
            WorkerGroupStatus {
                name: group.name.clone(),
                desired: Some(int32(group.desired.0)),
                created: Some(int32(group.kept.len())),
                ready: Some(int32(ready)),
                last_ordinal: Some(group.last_ordinal.max(spent)).filter(|ordinal| *ordinal > 0),
                unknown_workers_to_delete,
                blocked: blocked::why(group, before.and_then(|before| before.blocked.as_ref()), attempt, now),
                failures: group.failures.clone(),
            }
        })
        .collect()
}
