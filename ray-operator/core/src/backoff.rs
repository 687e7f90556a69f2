//! How long to wait before replacing pods that end again and again.

use jiff::{SignedDuration, Timestamp};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use ray_api::raycluster::Failures;

use crate::observed::ObservedPod;

/// Wait after the second failure in a row; doubles from there.
const FIRST_WAIT_SECONDS: i64 = 10;
/// The longest wait.
const LONGEST_WAIT_SECONDS: i64 = 300;
/// A group whose last failure is this long ago starts anew.
const FORGIVEN_AFTER: SignedDuration = SignedDuration::from_mins(10);

/// Counts the failure of `pod`, seen at `now`; the same failure (or an older one) is counted once.
///
/// In a row means: a pod that was made after the last failure failed too. Pods that are older than the last failure fail
/// beside it, not after it: a node that takes ten workers with it is no reason to let the group wait for minutes.
#[must_use]
pub fn count(previous: Option<&Failures>, pod: &ObservedPod, now: Timestamp) -> Failures {
    // The end is told by a kubelet's clock, which may be wrong; between these two it must be.
    let at = pod.ended_at().unwrap_or(now).max(pod.created.unwrap_or(Timestamp::MIN)).min(now);
    // As the status keeps it, so that what is read back is what was written.
    let at = Timestamp::from_second(at.as_second()).unwrap_or(at);
    let first = Failures { count: Some(1), last_time: Some(Time(at)) };
    let Some(previous) = previous else { return first };
    match previous.last_time.as_ref().map(|time| time.0) {
        // Written by another clock, or by hand: it says nothing.
        Some(last) if last > now => first,
        Some(last) if at <= last => previous.clone(),
        Some(last) if at.duration_since(last) > FORGIVEN_AFTER => first,
        Some(last) if pod.created.is_some_and(|created| created < last) => previous.clone(),
        _ => Failures { count: Some(previous.count.unwrap_or(0).saturating_add(1)), ..first },
    }
}

/// The moment before which no replacement is made; `None` means at once.
///
/// The first failure is replaced at once; then 10 s, doubling up to 300 s after the last failure. A last failure that is
/// yet to come, seen at `now`, is none.
#[must_use]
pub fn not_before(failures: Option<&Failures>, now: Timestamp) -> Option<Timestamp> {
    let failures = failures?;
    let last = failures.last_time.as_ref().map(|time| time.0).filter(|last| *last <= now)?;
    let doublings = u32::try_from(failures.count?).unwrap_or(0).checked_sub(2)?;
    let seconds = FIRST_WAIT_SECONDS.saturating_mul(1_i64.checked_shl(doublings.min(16)).unwrap_or(i64::MAX));
    last.checked_add(SignedDuration::from_secs(seconds.min(LONGEST_WAIT_SECONDS))).ok()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::*;
    use crate::testing::{after, worker_with};

    /// A worker that was made and failed so many seconds after the present of all tests.
    fn failed(created: i64, ended: Option<i64>) -> Arc<ObservedPod> {
        let at = |seconds| after(seconds).to_string();
        let containers = ended
            .map(|ended| json!([{"name": "ray", "state": {"terminated": {"exitCode": 1, "finishedAt": at(ended)}}}]));
        worker_with(
            "g",
            "w",
            &json!({"metadata": {"creationTimestamp": at(created)},
                "status": {"phase": "Failed", "conditions": [], "containerStatuses": containers}}),
        )
    }

    /// What becomes of the count when these fail one after the other, each seen at once.
    fn counts(pods: &[(i64, i64)]) -> Vec<i32> {
        let mut failures = None;
        let mut counts = Vec::new();
        for (created, ended) in pods {
            let counted = count(failures.as_ref(), &failed(*created, Some(*ended)), after(*ended));
            counts.extend(counted.count);
            failures = Some(counted);
        }
        counts
    }

    #[test]
    fn only_pods_made_after_the_last_failure_fail_in_a_row() {
        // Four of a group go down together after hours, each in a second of its own.
        assert_eq!(counts(&[(-9000, 0), (-9000, 1), (-8000, 2), (-9000, 3)]), [1, 1, 1, 1]);
        // Two that crash after five seconds whenever they are made: each round counts once.
        assert_eq!(counts(&[(0, 5), (0, 6), (6, 11), (7, 12), (21, 26), (22, 27)]), [1, 1, 2, 2, 3, 3]);
        // The same failure seen again, and one that is long forgiven.
        assert_eq!(counts(&[(0, 5), (0, 5), (5, 9), (5, 9), (9, 1000)]), [1, 1, 2, 2, 1]);
    }

    #[test]
    fn a_failure_nobody_dated_is_counted_once_however_often_it_is_seen() {
        let pod = failed(0, None);
        let first = count(None, &pod, after(5));
        assert_eq!(count(Some(&first), &pod, after(6)), first);
        assert_eq!(count(Some(&first), &pod, after(60)), first);
    }

    #[test]
    fn a_wrong_clock_neither_stops_nor_hides_failures() {
        let first = count(None, &failed(0, Some(100_000)), after(5));
        assert_eq!(first.last_time, Some(Time(after(5))));
        let second = count(Some(&first), &failed(6, Some(-100_000)), after(8));
        assert_eq!((second.count, second.last_time.clone()), (Some(2), Some(Time(after(6)))));
        assert_eq!(not_before(Some(&second), after(8)), Some(after(16)));
        let future = Failures { count: Some(9), last_time: Some(Time(Timestamp::MAX)) };
        assert_eq!(not_before(Some(&future), after(8)), None);
        assert_eq!(count(Some(&future), &failed(6, Some(7)), after(8)).count, Some(1));
    }
}
