//! Suspended worker groups (KubeRay's S14 and S16).

use super::{Errors, group_path};
use crate::{FeatureGates, RayCluster};

pub(super) fn check(cluster: &RayCluster, gates: &FeatureGates, errors: &mut Errors) {
    for (index, group) in cluster.spec.worker_group_specs.iter().enumerate() {
        if !group.suspended() {
            continue;
        }
        let path = group_path(index, "suspend");
        if !gates.ray_job_deletion_policy {
            errors.spec(path, "needs the feature gate RayJobDeletionPolicy");
        } else if cluster.spec.autoscaling_enabled() {
            errors.spec(path, "a group cannot be suspended while enableInTreeAutoscaling is true");
        }
    }
}
