//! Labels of pods.

use std::collections::BTreeMap;

use ray_api::labels;
use ray_api::names::{NodeType, identifier};

use super::PodSlot;
use super::context::{NodeContext, NodeKind};
use crate::valid::ValidCluster;

/// Labels by key.
pub(super) type Labels = BTreeMap<String, String>;

/// Labels of a pod in the given place.
pub(super) fn pod_labels(ctx: &NodeContext<'_>, slot: &PodSlot<'_>) -> Labels {
    let mut labels = group_labels(ctx);
    if !ctx.is_head() && ctx.config.gates.ray_multi_host_indexing {
        labels.insert(labels::REPLICA_INDEX.to_owned(), slot.replica_index.to_string());
    }
    labels
}

/// Labels that all pods of the group share. Later wins: the operator's, the template's, the group's; but the three
/// keys by which pods are found belong to the operator.
pub(super) fn group_labels(ctx: &NodeContext<'_>) -> Labels {
    let cluster = &ctx.cluster.id.name;
    let (node_type, group) = match ctx.kind {
        NodeKind::Head => (NodeType::Head, labels::HEAD_GROUP),
        NodeKind::Worker(group) => (NodeType::Worker, group.name.as_str()),
    };
    let reserved =
        [(labels::CLUSTER, cluster.as_str()), (labels::NODE_TYPE, node_type.as_str()), (labels::GROUP, group)];

    let mut merged = Labels::from([
        (labels::IS_RAY_NODE.to_owned(), labels::IS_RAY_NODE_YES.to_owned()),
        (labels::IDENTIFIER.to_owned(), identifier(cluster, node_type)),
        (labels::APP_NAME.to_owned(), labels::APP_NAME_KUBERAY.to_owned()),
        (labels::CREATED_BY.to_owned(), labels::CREATED_BY_OPERATOR.to_owned()),
    ]);
    let node = ctx.node();
    for (key, value) in node.template.metadata.labels.iter().flatten().chain(&node.labels) {
        merged.insert(key.clone(), value.clone());
    }
    for (key, value) in reserved {
        merged.insert(key.to_owned(), value.to_owned());
    }
    if ctx.serves() {
        // Heads take part in Serve only where the RayService says so, by changing this label later.
        merged.insert(labels::SERVE.to_owned(), (!ctx.is_head()).to_string());
    }
    merged
}

/// The five labels of the head Service, and KubeRay's way to find it.
pub(super) fn head_service_labels(cluster: &ValidCluster) -> Labels {
    let template = cluster.head.node.template.metadata.labels.as_ref();
    let app = template.and_then(|labels| labels.get(labels::APP_NAME)).map_or(labels::APP_NAME_KUBERAY, String::as_str);
    Labels::from([
        (labels::CLUSTER.to_owned(), cluster.id.name.clone()),
        (labels::NODE_TYPE.to_owned(), NodeType::Head.as_str().to_owned()),
        (labels::IDENTIFIER.to_owned(), identifier(&cluster.id.name, NodeType::Head)),
        (labels::APP_NAME.to_owned(), app.to_owned()),
        (labels::CREATED_BY.to_owned(), labels::CREATED_BY_OPERATOR.to_owned()),
    ])
}
