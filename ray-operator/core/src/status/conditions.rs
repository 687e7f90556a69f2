//! Standard conditions in a list keyed by type.

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use ray_api::conditions::{SUSPENDED, SUSPENDING};

/// Sets a condition in place, or appends it; the transition time changes only with the status.
pub(super) fn set(
    conditions: &mut Vec<Condition>,
    kind: &str,
    status: &str,
    reason: &str,
    message: &str,
    now: Timestamp,
) {
    let reason = if is_reason(reason) { reason } else { "Unknown" };
    let message: String = message.chars().take(4096).collect();
    if let Some(existing) = conditions.iter_mut().find(|condition| condition.type_ == kind) {
        if existing.status != status {
            existing.last_transition_time = Time(now);
            status.clone_into(&mut existing.status);
        }
        reason.clone_into(&mut existing.reason);
        existing.message = message;
        return;
    }
    conditions.push(Condition {
        type_: kind.to_owned(),
        status: status.to_owned(),
        reason: reason.to_owned(),
        message,
        last_transition_time: Time(now),
        observed_generation: None,
    });
}

/// Takes a condition out.
pub(super) fn remove(conditions: &mut Vec<Condition>, kind: &str) {
    conditions.retain(|condition| condition.type_ != kind);
}

/// The pair of suspend conditions that every cluster shows.
pub(super) fn report_not_suspended(conditions: &mut Vec<Condition>, now: Timestamp) {
    for kind in [SUSPENDED, SUSPENDING] {
        set(conditions, kind, "False", kind, "", now);
    }
}

/// Kubernetes refuses a whole status for one condition whose reason does not look like this; kubelets leave it empty at
/// times.
fn is_reason(reason: &str) -> bool {
    let inner = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | ',' | ':');
    let mut chars = reason.chars();
    chars.next().is_some_and(|first| first.is_ascii_alphabetic())
        && reason.chars().all(inner)
        && reason.chars().next_back().is_some_and(|last| last.is_ascii_alphanumeric() || last == '_')
        && reason.len() <= 1024
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_transition_time_changes_with_the_status_only() {
        let time = |second| Timestamp::from_second(second).unwrap();
        let mut all = Vec::new();
        set(&mut all, "A", "False", "X", "", time(1));
        set(&mut all, "A", "False", "Y", "why", time(2));
        assert_eq!((all[0].reason.as_str(), all[0].last_transition_time.0), ("Y", time(1)));
        set(&mut all, "A", "True", "Y", "why", time(3));
        assert_eq!(all[0].last_transition_time.0, time(3));
        assert_eq!(all.len(), 1);
    }

    #[test]
    fn a_reason_that_kubernetes_would_refuse_becomes_unknown() {
        for bad in ["", "1x", "a b", "a:", "é"] {
            let mut all = Vec::new();
            set(&mut all, "A", "True", bad, "", Timestamp::UNIX_EPOCH);
            assert_eq!(all[0].reason, "Unknown", "{bad:?}");
        }
    }
}
