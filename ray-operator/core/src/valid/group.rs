//! Worker groups and their numbers.

use std::collections::BTreeSet;

use super::RayNode;

/// Name of a worker group; unique in its cluster, a valid label value.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroupName(pub(super) String);

impl GroupName {
    /// The name as written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for GroupName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// A number of replicas: units of scale, each one pod or one slice of `numOfHosts` pods.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Replicas(pub u32);

/// A number of pods. Not the same as [`Replicas`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pods(pub u32);

impl Replicas {
    /// Replicas → pods; saturates, since both numbers come from users.
    #[must_use]
    pub fn pods(self, hosts: u32) -> Pods {
        Pods(self.0.saturating_mul(hosts))
    }
}

/// The numbers a group was given, in replicas.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReplicaBounds {
    /// `minReplicas`, 0 if absent.
    pub min: Replicas,
    /// `maxReplicas`, 2147483647 if absent.
    pub max: Replicas,
    /// `replicas` as written; absent means `min`.
    pub asked: Option<Replicas>,
}

impl ReplicaBounds {
    /// How many replicas there should be: `replicas` kept between the bounds (KubeRay clamps silently too).
    #[must_use]
    pub fn desired(&self) -> Replicas {
        let asked = self.asked.unwrap_or(self.min);
        // Not `clamp`, which panics when min > max.
        asked.max(self.min).min(self.max)
    }
}

/// One worker group.
#[derive(Debug, Clone, PartialEq)]
pub struct WorkerGroup {
    /// Its name.
    pub name: GroupName,
    /// Its numbers.
    pub replicas: ReplicaBounds,
    /// `numOfHosts`: pods of one replica; at least 1.
    pub hosts: u32,
    /// `scaleStrategy.workersToDelete`: pod names; wishes, matched only against this group's own pods.
    pub workers_to_delete: BTreeSet<String>,
    /// Template and parameters.
    pub node: RayNode,
}

impl WorkerGroup {
    /// How many pods there should be. Plan, status and every other count use this one function.
    #[must_use]
    pub fn desired_pods(&self) -> Pods {
        self.replicas.desired().pods(self.hosts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bounds(min: u32, asked: Option<u32>, max: u32) -> ReplicaBounds {
        ReplicaBounds { min: Replicas(min), max: Replicas(max), asked: asked.map(Replicas) }
    }

    #[test]
    fn desired_is_kept_between_the_bounds() {
        for (min, asked, max, expected) in [
            (0, Some(3), 5, 3),
            (2, Some(1), 5, 2),
            (0, Some(9), 5, 5),
            (2, None, 5, 2),
            (0, None, 5, 0),
            (4, Some(3), 2, 2), // contradictory bounds must not panic
        ] {
            assert_eq!(bounds(min, asked, max).desired(), Replicas(expected), "{min} {asked:?} {max}");
        }
    }

    #[test]
    fn pods_saturate() {
        assert_eq!(Replicas(u32::MAX).pods(4), Pods(u32::MAX));
        assert_eq!(Replicas(3).pods(4), Pods(12));
    }
}
