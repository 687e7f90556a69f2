//! Annotations of pods.

use std::collections::BTreeMap;

use ray_api::annotations;

use super::PodSlot;
use super::context::NodeContext;

/// Annotations of a pod in the given place: the template's, and the operator's over them.
pub(super) fn pod_annotations(ctx: &NodeContext<'_>, slot: &PodSlot<'_>) -> BTreeMap<String, String> {
    let mut merged = ctx.node().template.metadata.annotations.clone().unwrap_or_default();
    if is_true(ctx.cluster.annotations.get(annotations::OVERWRITE_CONTAINER_CMD)) {
        merged.insert(annotations::OVERWRITE_CONTAINER_CMD.to_owned(), "true".to_owned());
    }
    if ctx.is_head() {
        merged.insert(annotations::FT_ENABLED.to_owned(), "false".to_owned());
        merged.insert(annotations::OPERATOR_VERSION.to_owned(), ctx.config.operator_version.clone());
        // A head without the hash is never compared, by us or by a KubeRay that takes over; a user's value would be.
        merged.remove(annotations::UPGRADE_HASH);
    }
    merged.insert(annotations::POD_ORDINAL.to_owned(), slot.ordinal.to_string());
    merged
}

/// The user starts Ray: command and arguments of the Ray container stay as they are.
pub(super) fn user_starts_ray(pod_annotations: &BTreeMap<String, String>) -> bool {
    is_true(pod_annotations.get(annotations::OVERWRITE_CONTAINER_CMD))
}

fn is_true(value: Option<&String>) -> bool {
    value.is_some_and(|value| value.eq_ignore_ascii_case("true"))
}
