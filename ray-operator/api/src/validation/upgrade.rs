//! Upgrades (KubeRay's U1 and U2).

use super::Errors;
use crate::{RayCluster, labels};

pub(super) fn check(cluster: &RayCluster, errors: &mut Errors) {
    let Some(strategy) = &cluster.spec.upgrade_strategy else { return };
    let path = "spec.upgradeStrategy.type";
    if let Err(other) = strategy.effective_type() {
        errors.spec(path, format!("must be Recreate or None, not {other:?}"));
    }
    // Their owners replace the whole cluster, or must not lose it.
    let owner = cluster.label(labels::ORIGINATED_FROM_CRD).filter(|kind| matches!(*kind, "RayJob" | "RayService"));
    if let (Some(owner), Some(_)) = (owner, &strategy.type_) {
        errors.spec(path, format!("must not be set on the cluster of a {owner}, which decides about upgrades itself"));
    }
}
