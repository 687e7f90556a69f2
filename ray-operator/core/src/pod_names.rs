//! Names of pods: known before the call, derived from what the pod is for, never used twice.

use std::collections::BTreeSet;
use std::hash::Hasher;

use fnv::FnvHasher;
use ray_api::labels::HEAD_GROUP;
use ray_api::names::{NodeType, pod_name_prefix, worker_prefix};

use crate::valid::ClusterIdentity;

/// Letters of generated names: Kubernetes' own choice, without vowels and look-alikes.
const ALPHABET: &[u8; 27] = b"bcdfghjklmnpqrstvwxz2456789";

/// Length of the generated part, as Kubernetes' `generateName` has it.
const SUFFIX_LENGTH: usize = 5;

/// Nobody ever counted beyond this: somebody wrote such a number into a status or an annotation. It is not believed, or the
/// end of the numbers would be near, where every name is the same.
const HIGHEST_BELIEVED: i64 = i64::MAX / 2;

fn believed(ordinal: i64) -> i64 {
    if ordinal > HIGHEST_BELIEVED { 0 } else { ordinal }
}

/// Hands out the names of one group's next pods.
///
/// The name is a hash of (cluster UID, group, ordinal). The ordinal counts every pod a group ever had: the highest is
/// kept in the status and on the pods themselves, so the same view of the cluster gives the same names (a repeated
/// create is `AlreadyExists`), while a pod's replacement never inherits the name of the pod it replaces, which an
/// autoscaler may still hold.
#[derive(Debug)]
pub struct PodNames<'a> {
    prefix: String,
    cluster: &'a ClusterIdentity,
    group: &'a str,
    last: i64,
    taken: BTreeSet<&'a str>,
}

impl<'a> PodNames<'a> {
    /// Names for head pods; `last` is the highest ordinal that was ever used.
    #[must_use]
    pub fn head(cluster: &'a ClusterIdentity, last: i64, taken: BTreeSet<&'a str>) -> Self {
        Self { prefix: head_prefix(&cluster.name), cluster, group: HEAD_GROUP, last: believed(last), taken }
    }

    /// Names for workers of `group`; `taken` are names that must not be made: pods that exist or are to be deleted.
    #[must_use]
    pub fn worker(cluster: &'a ClusterIdentity, group: &'a str, last: i64, taken: BTreeSet<&'a str>) -> Self {
        Self { prefix: worker_pod_prefix(&cluster.name, group), cluster, group, last: believed(last), taken }
    }

    /// The next ordinal and its name.
    pub fn next_name(&mut self) -> (i64, String) {
        loop {
            self.last = self.last.saturating_add(1);
            let name = format!("{}{}", self.prefix, suffix(&self.cluster.uid, self.group, self.last));
            if !self.taken.contains(name.as_str()) {
                return (self.last, name);
            }
        }
    }
}

fn head_prefix(cluster: &str) -> String {
    format!("{}-", pod_name_prefix(cluster, NodeType::Head))
}

/// What every name of a group's pods begins with, KubeRay's too.
#[must_use]
pub fn worker_pod_prefix(cluster: &str, group: &str) -> String {
    format!("{}-", pod_name_prefix(&worker_prefix(cluster, group), NodeType::Worker))
}

fn suffix(uid: &str, group: &str, ordinal: i64) -> String {
    let mut hasher = FnvHasher::default();
    hasher.write(uid.as_bytes());
    hasher.write_u8(0);
    hasher.write(group.as_bytes());
    hasher.write_u8(0);
    hasher.write(&ordinal.to_be_bytes());
    // FNV's last input bytes reach only part of its bits; this spreads them (the finaliser of MurmurHash3).
    let mut bits = hasher.finish();
    bits ^= bits >> 33;
    bits = bits.wrapping_mul(0xff51_afd7_ed55_8ccd);
    bits ^= bits >> 33;
    let base = u64::try_from(ALPHABET.len()).unwrap_or(1);
    let mut text = String::with_capacity(SUFFIX_LENGTH);
    for _ in 0..SUFFIX_LENGTH {
        let digit = bits.checked_rem(base).and_then(|digit| usize::try_from(digit).ok()).unwrap_or(0);
        text.push(ALPHABET.get(digit).copied().map_or('x', char::from));
        bits = bits.checked_div(base).unwrap_or(0);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cluster(uid: &str) -> ClusterIdentity {
        ClusterIdentity { name: "demo".into(), namespace: "ns".into(), uid: uid.into(), generation: 1 }
    }

    #[test]
    fn the_same_view_gives_the_same_names() {
        let id = cluster("u");
        let names = |last| PodNames::worker(&id, "small", last, BTreeSet::new()).next_name();
        assert_eq!(names(3), names(3));
        assert_ne!(names(3), names(4));
        assert_eq!(names(3).0, 4);
        assert!(names(0).1.starts_with("demo-small-worker-"), "{}", names(0).1);
    }

    #[test]
    fn names_differ_between_clusters_of_one_name() {
        let (a, b) = (cluster("a"), cluster("b"));
        assert_ne!(
            PodNames::head(&a, 0, BTreeSet::new()).next_name(),
            PodNames::head(&b, 0, BTreeSet::new()).next_name()
        );
    }

    #[test]
    fn a_taken_name_is_passed_over() {
        let id = cluster("u");
        let (_, first) = PodNames::worker(&id, "g", 0, BTreeSet::new()).next_name();
        let (ordinal, second) = PodNames::worker(&id, "g", 0, BTreeSet::from([first.as_str()])).next_name();
        assert_eq!(ordinal, 2);
        assert_ne!(first, second);
    }

    #[test]
    fn ten_thousand_names_hardly_clash() {
        let id = cluster("u");
        let mut names = PodNames::worker(&id, "g", 0, BTreeSet::new());
        let all: BTreeSet<String> = (0..10_000).map(|_| names.next_name().1).collect();
        assert!(all.len() > 9_980, "{}", all.len());
    }

    #[test]
    fn a_forged_number_does_not_end_the_numbers() {
        let id = cluster("u");
        let mut names = PodNames::worker(&id, "g", i64::MAX, BTreeSet::new());
        assert_eq!((names.next_name().0, names.next_name().0), (1, 2));
    }

    #[test]
    fn known_names_stay() {
        // A change here would make an upgraded operator repeat creates under new names.
        let id = cluster("6f1c6a1e-0000-4000-8000-000000000001");
        insta::assert_snapshot!(PodNames::head(&id, 0, BTreeSet::new()).next_name().1, @"demo-head-92wzl");
    }
}
