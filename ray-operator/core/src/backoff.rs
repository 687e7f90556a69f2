//! How long to wait before replacing pods that end again and again.

use jiff::{SignedDuration, Timestamp};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use ray_api::raycluster::Failures;

/// Wait after the second failure in a row; doubles from there.
const FIRST_WAIT_SECONDS: i64 = 10;
/// The longest wait.
const LONGEST_WAIT_SECONDS: i64 = 300;
/// A group whose last failure is this long ago starts anew.
const FORGIVEN_AFTER: SignedDuration = SignedDuration::from_mins(10);

/// Counts a failure that happened at `at`; the same failure (or an older one) is counted once.
#[must_use]
pub fn count(previous: Option<&Failures>, at: Timestamp) -> Failures {
    let Some(previous) = previous else {
        return Failures { count: Some(1), last_time: Some(Time(at)) };
    };
    match previous.last_time.as_ref().map(|time| time.0) {
        Some(last) if at <= last => previous.clone(),
        Some(last) if at.duration_since(last) > FORGIVEN_AFTER => {
            Failures { count: Some(1), last_time: Some(Time(at)) }
        }
        _ => {
            let count = previous.count.unwrap_or(0).saturating_add(1);
            Failures { count: Some(count), last_time: Some(Time(at)) }
        }
    }
}

/// The moment before which no replacement is made; `None` means at once.
///
/// The first failure is replaced at once; then 10 s, doubling up to 300 s after the last failure.
#[must_use]
pub fn not_before(failures: Option<&Failures>) -> Option<Timestamp> {
    let failures = failures?;
    let doublings = u32::try_from(failures.count?).unwrap_or(0).checked_sub(2)?;
    let seconds = FIRST_WAIT_SECONDS.saturating_mul(1_i64.checked_shl(doublings.min(16)).unwrap_or(i64::MAX));
    let wait = SignedDuration::from_secs(seconds.min(LONGEST_WAIT_SECONDS));
    failures.last_time.as_ref()?.0.checked_add(wait).ok()
}
