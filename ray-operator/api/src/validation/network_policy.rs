//! NetworkPolicies (KubeRay's S24 and S25).

use super::{Errors, group_path, label};
use crate::raycluster::NetworkPolicyOptions;
use crate::{FeatureGates, RayCluster};

const POLICY: &str = "spec.networkPolicy";

pub(super) fn check(cluster: &RayCluster, gates: &FeatureGates, errors: &mut Errors) {
    let Some(policy) = &cluster.spec.network_policy else { return };
    if !gates.ray_cluster_network_policy {
        errors.spec(POLICY, "needs the feature gate RayClusterNetworkPolicy");
        return;
    }
    check_rules(policy, errors);
    for (index, group) in cluster.spec.worker_group_specs.iter().enumerate() {
        if !label::is_dns_label(&group.group_name) {
            errors.spec(
                group_path(index, "groupName"),
                "must hold only lower-case letters, digits and '-' when networkPolicy is set: it becomes part of the \
                 policy's name",
            );
        }
    }
    for (index, entry) in policy.worker_groups.iter().enumerate() {
        if cluster.spec.worker_group(&entry.group_name).is_none() {
            errors.spec(
                format!("{POLICY}.workerGroups[{index}].groupName"),
                format!("there is no worker group {:?}", entry.group_name),
            );
        }
    }
}

fn check_rules(policy: &NetworkPolicyOptions, errors: &mut Errors) {
    let mode = match policy.effective_mode() {
        Ok(mode) => mode,
        Err(other) => {
            let known = "DenyAll, DenyAllIngress or DenyAllEgress";
            errors.spec(format!("{POLICY}.mode"), format!("must be {known}, not {other:?}"));
            return;
        }
    };
    let single = [("head", &policy.head), ("worker", &policy.worker)].into_iter().filter_map(|(name, rules)| {
        let rules = rules.as_ref()?;
        Some((format!("{POLICY}.{name}"), !rules.ingress_rules.is_empty(), !rules.egress_rules.is_empty()))
    });
    let groups = policy.worker_groups.iter().enumerate().map(|(index, entry)| {
        let path = format!("{POLICY}.workerGroups[{index}]");
        (path, !entry.ingress_rules.is_empty(), !entry.egress_rules.is_empty())
    });
    for (path, ingress, egress) in single.chain(groups) {
        if ingress && !mode.denies_ingress() {
            errors.spec(format!("{path}.ingressRules"), "have no effect with mode DenyAllEgress");
        }
        if egress && !mode.denies_egress() {
            errors.spec(format!("{path}.egressRules"), "have no effect with mode DenyAllIngress");
        }
    }
}
