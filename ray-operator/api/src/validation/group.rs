//! Worker groups (KubeRay's S5 to S7, and what only its webhook checks: unique names).

use std::collections::BTreeSet;

use super::node::{Node, check_containers, check_settings};
use super::{Errors, autoscaler, group_path};
use crate::RayCluster;
use crate::labels::HEAD_GROUP;
use crate::raycluster::WorkerGroupSpec;
use crate::version::RayVersion;

/// Longest group name: it is a label value.
const MAX_NAME: usize = 63;

pub(super) fn check(cluster: &RayCluster, errors: &mut Errors) {
    let mut names = BTreeSet::new();
    let uses_v2 = autoscaler::selects_v2(cluster);
    for (index, group) in cluster.spec.worker_group_specs.iter().enumerate() {
        let node = Node {
            path: group_path(index, ""),
            template: &group.template,
            params: &group.ray_start_params,
            resources: &group.resources,
            labels: &group.labels,
        };
        check_name(index, group, errors);
        if !names.insert(group.group_name.as_str()) {
            errors.spec(group_path(index, "groupName"), format!("there is another group {:?}", group.group_name));
        }
        check_containers(&node, errors);
        check_counts(index, group, errors);
        check_settings(&node, errors);
        check_autoscaling(index, group, &cluster.spec.ray_version, uses_v2, errors);
    }
}

fn check_name(index: usize, group: &WorkerGroupSpec, errors: &mut Errors) {
    let name = group.group_name.as_str();
    let path = group_path(index, "groupName");
    if name == HEAD_GROUP {
        errors.spec(path, format!("{HEAD_GROUP:?} is reserved for the head"));
    } else if name.len() > MAX_NAME {
        errors.spec(path, format!("must have at most {MAX_NAME} characters: it is a label value"));
    } else if !is_group_name(name) {
        errors.spec(
            path,
            "must hold only letters, digits, '-' and '.', each part between dots beginning and ending with a letter or \
             digit: it becomes part of pod names and a label value",
        );
    }
}

/// KubeRay takes any name and fails at each pod if Kubernetes does not take it.
fn is_group_name(name: &str) -> bool {
    name.split('.').all(|part| {
        part.starts_with(|c: char| c.is_ascii_alphanumeric())
            && part.ends_with(|c: char| c.is_ascii_alphanumeric())
            && part.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
    })
}

fn check_counts(index: usize, group: &WorkerGroupSpec, errors: &mut Errors) {
    if group.min_replicas.is_some_and(i32::is_negative) {
        errors.spec(group_path(index, "minReplicas"), "must not be negative");
    }
    if group.max_replicas.is_some_and(i32::is_negative) {
        errors.spec(group_path(index, "maxReplicas"), "must not be negative");
    }
    let (min, max) = (group.effective_min_replicas(), group.effective_max_replicas());
    if min > max {
        errors.spec(group_path(index, "minReplicas"), format!("{min} is greater than maxReplicas, {max}"));
    }
    if group.num_of_hosts.is_some_and(|hosts| hosts < 1) {
        errors.spec(group_path(index, "numOfHosts"), "must be at least 1");
    }
}

fn check_autoscaling(index: usize, group: &WorkerGroupSpec, version: &str, uses_v2: bool, errors: &mut Errors) {
    if let Some(seconds) = group.idle_timeout_seconds {
        let path = group_path(index, "idleTimeoutSeconds");
        if seconds < 0 {
            errors.spec(path, "must not be negative");
        } else if !uses_v2 {
            errors.spec(path, "needs autoscaler v2 (autoscalerOptions.version: v2)");
        }
    }
    if group.priority.is_some_and(|priority| priority != 0) {
        let path = group_path(index, "priority");
        if RayVersion::parse(version).is_none_or(|version| version < RayVersion::GROUP_PRIORITY) {
            errors.spec(path, format!("needs rayVersion {} or later", RayVersion::GROUP_PRIORITY));
        } else if !uses_v2 {
            errors.spec(path, "needs autoscaler v2 (autoscalerOptions.version: v2)");
        }
    }
}
