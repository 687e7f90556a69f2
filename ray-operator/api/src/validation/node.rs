//! What head and worker groups have in common (KubeRay's S1 to S4).

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::PodTemplateSpec;

use super::{Errors, HEAD, env, label};
use crate::RayCluster;

/// `ray start` parameters that say the same as the field `resources`.
const RESOURCE_PARAMS: [&str; 4] = ["num-cpus", "num-gpus", "memory", "resources"];

/// The common part of head and worker groups.
pub(super) struct Node<'a> {
    pub(super) path: String,
    pub(super) template: &'a PodTemplateSpec,
    pub(super) params: &'a BTreeMap<String, String>,
    pub(super) resources: &'a BTreeMap<String, String>,
    pub(super) labels: &'a BTreeMap<String, String>,
}

pub(super) fn check_head(cluster: &RayCluster, errors: &mut Errors) {
    let head = &cluster.spec.head_group_spec;
    let node = Node {
        path: HEAD.to_owned(),
        template: &head.template,
        params: &head.ray_start_params,
        resources: &head.resources,
        labels: &head.labels,
    };
    check_containers(&node, errors);
    check_settings(&node, errors);
}

pub(super) fn check_containers(node: &Node<'_>, errors: &mut Errors) {
    if env::ray_container(node.template).is_none() {
        let path = format!("{}.template.spec.containers", node.path);
        errors.spec(path, "must not be empty: the first container runs Ray");
    }
}

pub(super) fn check_settings(node: &Node<'_>, errors: &mut Errors) {
    if !node.resources.is_empty() {
        for param in RESOURCE_PARAMS {
            if node.params.get(param).is_some_and(|value| !value.is_empty()) {
                errors.spec(
                    format!("{}.rayStartParams[{param}]", node.path),
                    "resources are given twice: use either the field resources or this parameter",
                );
            }
        }
    }
    if node.params.contains_key("labels") {
        errors.spec(format!("{}.rayStartParams[labels]", node.path), "must not be set; use the field labels");
    }
    for (key, value) in node.labels {
        if !label::is_key(key) {
            errors.spec(format!("{}.labels[{key}]", node.path), "the key is not a label key");
        }
        if !label::is_value(value) {
            errors.spec(format!("{}.labels[{key}]", node.path), format!("{value:?} is not a label value"));
        }
    }
}
