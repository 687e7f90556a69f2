//! What one pod is built from.

use super::head_service::head_fqdn;
use super::ports;
use crate::config::OperatorConfig;
use crate::valid::{OriginatedFrom, RayNode, ValidCluster, WorkerGroup};

/// Head or worker, with what only that kind has.
#[derive(Debug, Clone, Copy)]
pub(super) enum NodeKind<'a> {
    /// The one head.
    Head,
    /// A pod of this group.
    Worker(&'a WorkerGroup),
}

/// The inputs of one pod; every part of the pod is a function of them.
#[derive(Debug, Clone, Copy)]
pub(super) struct NodeContext<'a> {
    /// The cluster.
    pub(super) cluster: &'a ValidCluster,
    /// The operator's settings.
    pub(super) config: &'a OperatorConfig,
    /// Head or worker.
    pub(super) kind: NodeKind<'a>,
}

impl<'a> NodeContext<'a> {
    /// The pod is the head.
    pub(super) fn is_head(&self) -> bool {
        matches!(self.kind, NodeKind::Head)
    }

    /// The template and parameters of the pod's group.
    pub(super) fn node(&self) -> &'a RayNode {
        match self.kind {
            NodeKind::Head => &self.cluster.head.node,
            NodeKind::Worker(group) => &group.node,
        }
    }

    /// The cluster belongs to a RayService, which changes probes, labels and environment.
    pub(super) fn serves(&self) -> bool {
        self.cluster.originated_from == OriginatedFrom::RayService
    }

    /// Fully qualified DNS name of the head Service.
    pub(super) fn head_fqdn(&self) -> String {
        head_fqdn(self.cluster, self.config)
    }

    /// `host:port` at which workers reach the GCS.
    pub(super) fn gcs_address(&self) -> String {
        format!("{}:{}", self.head_fqdn(), self.gcs_port())
    }

    /// Port of the GCS as the head was told it; text, because users may write `$VARIABLE` there.
    pub(super) fn gcs_port(&self) -> &'a str {
        self.cluster.head.node.ray_start_params.get("port").map_or(ports::DEFAULT_GCS_PORT, String::as_str)
    }
}
