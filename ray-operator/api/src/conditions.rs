//! Types of the conditions in `status.conditions`, and how a status is asked about them.

use crate::RayClusterStatus;

/// The Ready condition of the head pod, with the reason of the container that does not run (KubeRay).
pub const HEAD_POD_READY: &str = "HeadPodReady";
/// Every pod ran and was ready once (KubeRay).
pub const PROVISIONED: &str = "RayClusterProvisioned";
/// A pod could not be created or deleted (KubeRay). Absent when nothing fails.
pub const REPLICA_FAILURE: &str = "ReplicaFailure";
/// The cluster's pods are being deleted because it was suspended (KubeRay).
pub const SUSPENDING: &str = "RayClusterSuspending";
/// The cluster is suspended (KubeRay).
pub const SUSPENDED: &str = "RayClusterSuspended";
/// Something other than a pod could not be created (ours). Absent when nothing fails.
pub const RECONCILE_FAILURE: &str = "ReconcileFailure";
/// The spec breaks a rule; nothing is created or deleted until it is mended (ours). Absent when the spec is valid.
pub const SPEC_INVALID: &str = "RayClusterSpecInvalid";

impl RayClusterStatus {
    /// Whether the condition of that type is `True`.
    #[must_use]
    pub fn condition_is_true(&self, type_: &str) -> bool {
        self.condition(type_).is_some_and(|condition| condition.status == "True")
    }
}
