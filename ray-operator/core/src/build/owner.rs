//! The owner reference every object of a cluster carries.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;

use crate::valid::ValidCluster;

/// The cluster as the one controlling owner; Kubernetes deletes the object when the cluster is gone.
///
/// `ray.io/v1` also for clusters that were written through an older version, as KubeRay does: owner lookups compare
/// group and kind.
pub(super) fn owner_reference(cluster: &ValidCluster) -> OwnerReference {
    OwnerReference {
        api_version: "ray.io/v1".to_owned(),
        kind: "RayCluster".to_owned(),
        name: cluster.id.name.clone(),
        uid: cluster.id.uid.clone(),
        controller: Some(true),
        block_owner_deletion: Some(true),
    }
}
