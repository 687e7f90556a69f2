//! What the watches have shown: slim, indexed by owner, replaced as a whole after a relist.

mod clusters;
mod owned;
mod watched;

pub use clusters::{ClusterKey, Clusters, StoredCluster};
use jiff::Timestamp;
pub use owned::{Owned, OwnedStore};
use ray_core::observed::{ObservedPod, ObservedService};
pub use watched::{Watched, WatchedCluster, WatchedPod, WatchedService};

/// Everything the operator knows of the cluster's objects.
#[derive(Debug, Default)]
pub struct Cache {
    /// RayClusters.
    pub clusters: Clusters,
    /// Pods, by the RayCluster that owns them.
    pub pods: OwnedStore<ObservedPod>,
    /// Services, by the RayCluster that owns them.
    pub services: OwnedStore<ObservedService>,
}

/// A resourceVersion as a number. Kubernetes promises since 1.35 that those of one kind can be compared so.
#[must_use]
pub fn version(resource_version: &str) -> u64 {
    resource_version.parse().unwrap_or(0)
}

/// The present.
#[must_use]
pub fn now() -> Timestamp {
    Timestamp::now()
}
