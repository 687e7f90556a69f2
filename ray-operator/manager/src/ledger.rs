//! What the operator itself wrote and has not seen come back, and what failed lately.
//!
//! No decision is taken on a view older than our own writes (invariant 5): while a write is on its way back through the
//! watch, its cluster waits. The wait is short, and bounded: after [`OVERDUE`] a live list settles the question. All of it
//! is advisory: a restart forgets it and starts from a live list.

use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};
use parking_lot::Mutex;
use ray_core::observed::{AnsweredStatus, Memory};
use ray_core::plan::Step;

use crate::cache::{Cache, ClusterKey, version};

/// After this long the watch is no longer waited for.
pub const OVERDUE: Duration = Duration::from_secs(10);

/// First wait after a step failed; doubles with each failure in a row.
const FIRST_HOLD_SECONDS: i64 = 1;
/// The longest wait.
const LONGEST_HOLD_SECONDS: i64 = 60;

/// A write whose effect the watch has not shown yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pending {
    /// A pod was created, or perhaps was: then nobody knows its version.
    PodCreated {
        /// Its name.
        name: String,
        /// UID and resourceVersion from the API server's answer.
        known: Option<(String, u64)>,
    },
    /// A pod's deletion was asked for.
    PodDeleted {
        /// Its UID.
        uid: String,
    },
    /// A Service was created, or perhaps was.
    ServiceCreated {
        /// Its name.
        name: String,
        /// UID and resourceVersion from the API server's answer.
        known: Option<(String, u64)>,
    },
    /// The status was written.
    StatusWritten {
        /// resourceVersion from the answer.
        version: u64,
    },
}

/// Whether a cluster may be decided about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gate {
    /// The view shows everything we wrote.
    Open,
    /// It does not yet.
    Wait,
    /// It should have by now: look for yourself.
    Overdue,
}

/// The ledger of all clusters.
#[derive(Debug, Default)]
pub struct Ledger {
    entries: Mutex<HashMap<ClusterKey, Entry>>,
}

#[derive(Debug, Default)]
struct Entry {
    /// The cluster's UID; an entry of a predecessor of the same name is worthless.
    uid: String,
    generation: i64,
    pending: Vec<(Pending, Instant)>,
    failures: BTreeMap<Step, u32>,
    memory: Memory,
    /// Status writes that failed in a row, and when the next may be tried.
    status_failures: u32,
    status_held: Option<Instant>,
}

impl Ledger {
    /// Whether the cluster's view is complete, and what is remembered of its failures.
    ///
    /// A changed spec clears the holds: what was refused may be accepted now.
    pub fn look(&self, key: &ClusterKey, uid: &str, generation: i64, cache: &Cache) -> (Gate, Memory) {
        let mut entries = self.entries.lock();
        let entry = entries.entry(key.clone()).or_default();
        if entry.uid != uid {
            *entry = Entry { uid: uid.to_owned(), generation, ..Entry::default() };
        }
        if entry.generation != generation {
            entry.generation = generation;
            entry.failures.clear();
            entry.memory.held.clear();
            entry.status_failures = 0;
            entry.status_held = None;
        }
        entry.pending.retain(|(pending, _)| !has_come_back(pending, key, uid, cache));
        let gate = match entry.pending.iter().map(|(_, since)| *since).min() {
            None => Gate::Open,
            Some(since) if since.elapsed() >= OVERDUE => Gate::Overdue,
            Some(_) => Gate::Wait,
        };
        (gate, entry.memory.clone())
    }

    /// A live list was taken: nothing is pending any more.
    pub fn settle(&self, key: &ClusterKey) {
        if let Some(entry) = self.entries.lock().get_mut(key) {
            entry.pending.clear();
        }
    }

    /// Remembers a write until the watch shows it. Called before the write is sent, so that one whose answer is lost is
    /// remembered too; called again with the answer.
    pub fn expect(&self, key: &ClusterKey, pending: Pending) {
        let mut entries = self.entries.lock();
        let entry = entries.entry(key.clone()).or_default();
        let now = Instant::now();
        match entry.pending.iter_mut().find(|(old, _)| same_object(old, &pending)) {
            Some(old) => *old = (pending, now),
            None => entry.pending.push((pending, now)),
        }
    }

    /// The write did not happen.
    pub fn withdraw(&self, key: &ClusterKey, pending: &Pending) {
        if let Some(entry) = self.entries.lock().get_mut(key) {
            entry.pending.retain(|(old, _)| !same_object(old, pending));
        }
    }

    /// A step failed: hold it back for a while, longer each time.
    pub fn hold(&self, key: &ClusterKey, step: &Step, now: Timestamp) {
        let mut entries = self.entries.lock();
        let entry = entries.entry(key.clone()).or_default();
        let failures = entry.failures.entry(step.clone()).or_default();
        let wait = SignedDuration::from_secs(hold_seconds(*failures));
        *failures = failures.saturating_add(1);
        entry.memory.held.insert(step.clone(), now.checked_add(wait).unwrap_or(now));
    }

    /// A step worked.
    pub fn release(&self, key: &ClusterKey, step: &Step) {
        if let Some(entry) = self.entries.lock().get_mut(key) {
            entry.failures.remove(step);
            entry.memory.held.remove(step);
        }
    }

    /// A pod name is spent: given to a pod of ours, or somebody else's.
    pub fn name_taken(&self, key: &ClusterKey, step: &Step, ordinal: i64) {
        let mut entries = self.entries.lock();
        let taken = entries.entry(key.clone()).or_default().memory.taken_ordinals.entry(step.clone()).or_default();
        *taken = ordinal.max(*taken);
    }

    /// What the API server made of a status.
    pub fn answered(&self, key: &ClusterKey, answer: AnsweredStatus) {
        let mut entries = self.entries.lock();
        let entry = entries.entry(key.clone()).or_default();
        // An API server that kept everything, the usual one, leaves nothing to remember.
        entry.memory.answered_status = Some(answer).filter(|answer| answer.got != answer.wished);
        entry.status_failures = 0;
        entry.status_held = None;
    }

    /// The status could not be written; returns how long to wait before it is tried again, longer each time.
    pub fn hold_status(&self, key: &ClusterKey, now: Instant) -> Duration {
        let mut entries = self.entries.lock();
        let entry = entries.entry(key.clone()).or_default();
        let wait = Duration::from_secs(hold_seconds(entry.status_failures).unsigned_abs());
        entry.status_failures = entry.status_failures.saturating_add(1);
        entry.status_held = now.checked_add(wait);
        wait
    }

    /// How long the status must wait because its last write failed.
    pub fn status_waits(&self, key: &ClusterKey, now: Instant) -> Option<Duration> {
        let until = self.entries.lock().get(key)?.status_held?;
        until.checked_duration_since(now).filter(|wait| !wait.is_zero())
    }

    /// The cluster is gone.
    pub fn forget(&self, key: &ClusterKey) {
        self.entries.lock().remove(key);
    }
}

/// The wait after a failure that so many others came before.
fn hold_seconds(failures: u32) -> i64 {
    FIRST_HOLD_SECONDS.checked_shl(failures.min(16)).unwrap_or(LONGEST_HOLD_SECONDS).min(LONGEST_HOLD_SECONDS)
}

fn has_come_back(pending: &Pending, key: &ClusterKey, owner: &str, cache: &Cache) -> bool {
    match pending {
        // Seen itself, or something later of its kind: then it came and went between two looks.
        Pending::PodCreated { name, known } => match known {
            Some((uid, version)) => cache.pods.get(owner, uid).is_some() || cache.pods.seen(&key.namespace) >= *version,
            None => cache.pods.of(owner).iter().any(|pod| pod.name == *name),
        },
        Pending::PodDeleted { uid } => cache.pods.get(owner, uid).is_none_or(|pod| pod.is_leaving()),
        Pending::ServiceCreated { name, known } => match known {
            Some((uid, version)) => {
                cache.services.get(owner, uid).is_some() || cache.services.seen(&key.namespace) >= *version
            }
            None => cache.services.of(owner).iter().any(|service| service.name == *name),
        },
        Pending::StatusWritten { version: written } => {
            cache.clusters.get(key).is_none_or(|cluster| version(&cluster.resource_version) >= *written)
        }
    }
}

/// Whether two entries are about one object, so that the later replaces the earlier.
fn same_object(a: &Pending, b: &Pending) -> bool {
    match (a, b) {
        (Pending::PodCreated { name: a, .. }, Pending::PodCreated { name: b, .. })
        | (Pending::ServiceCreated { name: a, .. }, Pending::ServiceCreated { name: b, .. })
        | (Pending::PodDeleted { uid: a }, Pending::PodDeleted { uid: b }) => a == b,
        (Pending::StatusWritten { .. }, Pending::StatusWritten { .. }) => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key() -> ClusterKey {
        ClusterKey { namespace: "n".into(), name: "c".into() }
    }

    fn pod(uid: &str, version: u64) -> ray_core::observed::ObservedPod {
        serde_json::from_value(serde_json::json!({"metadata": {
            "name": format!("name-{uid}"), "uid": uid, "resourceVersion": version.to_string(),
            "ownerReferences": [{"uid": "owner", "controller": true}]}}))
        .unwrap()
    }

    /// A ledger that has looked at the cluster once, as every pass begins.
    fn known() -> (Ledger, Cache) {
        let (ledger, cache) = (Ledger::default(), Cache::default());
        assert_eq!(gate(&ledger, &cache), Gate::Open);
        (ledger, cache)
    }

    fn gate(ledger: &Ledger, cache: &Cache) -> Gate {
        ledger.look(&key(), "owner", 1, cache).0
    }

    #[test]
    fn a_created_pod_is_waited_for_until_the_watch_shows_it() {
        let (ledger, cache) = known();
        let name = "name-p".to_owned();
        ledger.expect(&key(), Pending::PodCreated { name: name.clone(), known: None });
        ledger.expect(&key(), Pending::PodCreated { name, known: Some(("p".into(), 7)) });
        assert_eq!(gate(&ledger, &cache), Gate::Wait);
        cache.pods.apply(None, pod("p", 7));
        assert_eq!(gate(&ledger, &cache), Gate::Open);
    }

    #[test]
    fn a_pod_that_came_and_went_is_not_waited_for() {
        let (ledger, cache) = known();
        ledger.expect(&key(), Pending::PodCreated { name: "name-p".into(), known: Some(("p".into(), 7)) });
        cache.pods.apply(None, pod("other", 8));
        assert_eq!(gate(&ledger, &cache), Gate::Open);
    }

    #[test]
    fn a_lost_reply_is_waited_for_by_name() {
        let (ledger, cache) = known();
        ledger.expect(&key(), Pending::PodCreated { name: "name-p".into(), known: None });
        cache.pods.apply(None, pod("other", 99));
        assert_eq!(gate(&ledger, &cache), Gate::Wait);
        cache.pods.apply(None, pod("p", 100));
        assert_eq!(gate(&ledger, &cache), Gate::Open);
    }

    #[test]
    fn a_delete_has_come_back_when_the_pod_leaves_or_is_gone() {
        let (ledger, cache) = known();
        cache.pods.apply(None, pod("p", 7));
        ledger.expect(&key(), Pending::PodDeleted { uid: "p".into() });
        assert_eq!(gate(&ledger, &cache), Gate::Wait);
        let leaving = ray_core::observed::ObservedPod { deletion: Some(Timestamp::UNIX_EPOCH), ..pod("p", 8) };
        cache.pods.apply(None, leaving);
        assert_eq!(gate(&ledger, &cache), Gate::Open);
    }

    #[test]
    fn holds_grow_and_a_new_spec_clears_them() {
        let (ledger, cache) = known();
        let now = Timestamp::UNIX_EPOCH;
        let held = |generation| ledger.look(&key(), "owner", generation, &cache).1.held.get(&Step::Head).copied();
        assert_eq!(held(1), None);
        for expected in [1, 2, 4, 8, 16, 32, 60, 60] {
            ledger.hold(&key(), &Step::Head, now);
            assert_eq!(held(1), Some(Timestamp::from_second(expected).unwrap()));
        }
        assert_eq!(held(2), None);
        ledger.hold(&key(), &Step::Head, now);
        assert_eq!(held(2), Some(Timestamp::from_second(1).unwrap()));
        ledger.release(&key(), &Step::Head);
        assert_eq!(held(2), None);
    }

    #[test]
    fn a_status_that_is_refused_waits_longer_each_time_until_one_is_taken() {
        let (ledger, _) = known();
        let now = Instant::now();
        assert_eq!(ledger.status_waits(&key(), now), None);
        for expected in [1, 2, 4, 8, 16, 32, 60, 60] {
            let wait = Duration::from_secs(expected);
            assert_eq!(ledger.hold_status(&key(), now), wait);
            assert_eq!((ledger.status_waits(&key(), now), ledger.status_waits(&key(), now + wait)), (Some(wait), None));
        }
        ledger.answered(&key(), AnsweredStatus { wished: Default::default(), got: Default::default() });
        assert_eq!(ledger.status_waits(&key(), now), None);
    }

    #[test]
    fn a_watch_of_another_namespace_says_nothing_of_ours() {
        let (ledger, cache) = (Ledger::default(), Cache::default());
        cache.pods.apply(Some("n"), pod("early", 5));
        ledger.look(&key(), "owner", 1, &cache);
        ledger.expect(&key(), Pending::PodCreated { name: "name-p".into(), known: Some(("p".into(), 7)) });
        cache.pods.apply(Some("elsewhere"), pod("other", 8));
        assert_eq!(gate(&ledger, &cache), Gate::Wait);
        cache.pods.apply(Some("n"), pod("another", 9));
        assert_eq!(gate(&ledger, &cache), Gate::Open);
    }
}
