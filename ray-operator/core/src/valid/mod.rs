//! The parsed cluster: a `RayCluster` whose rules hold, in the shape the decisions need.
//!
//! A raw object becomes a [`ValidCluster`] once, in [`parse`]; nothing behind that point validates again,
//! and no builder can fail on what a user wrote.

mod group;
mod parse;
mod template;
mod unsupported;

use std::collections::BTreeMap;

pub use group::{GroupName, Pods, ReplicaBounds, Replicas, WorkerGroup};
use k8s_openapi::api::core::v1::Service;
pub use parse::parse;
use ray_api::version::RayVersion;
pub use template::RayPodTemplate;

/// Which kind of object asked for this cluster (label `ray.io/originated-from-crd`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OriginatedFrom {
    /// Written by a user, or by anything that did not say.
    RayCluster,
    /// Made by a RayJob.
    RayJob,
    /// Made by a RayService.
    RayService,
}

impl OriginatedFrom {
    /// The kind's name, as in `KUBERAY_CRD` usage tags.
    #[must_use]
    pub fn kind(self) -> &'static str {
        match self {
            Self::RayCluster => "RayCluster",
            Self::RayJob => "RayJob",
            Self::RayService => "RayService",
        }
    }
}

/// Who the cluster is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClusterIdentity {
    /// `metadata.name`; at most 53 characters, a DNS-1035 label.
    pub name: String,
    /// `metadata.namespace`.
    pub namespace: String,
    /// `metadata.uid`; owner references and pod names derive from it.
    pub uid: String,
    /// `metadata.generation`.
    pub generation: i64,
}

/// What head and worker groups have in common: a pod template and what is told to `ray start`.
#[derive(Debug, Clone, PartialEq)]
pub struct RayNode {
    /// The user's pod template, with the Ray container taken apart from the others.
    pub template: RayPodTemplate,
    /// `rayStartParams`: arguments of `ray start`, without the leading dashes.
    pub ray_start_params: BTreeMap<String, String>,
    /// `resources`: Ray's logical resources, quantities as written.
    pub resources: BTreeMap<String, String>,
    /// `labels`: Ray node labels, also put on the pod.
    pub labels: BTreeMap<String, String>,
}

/// The head group.
#[derive(Debug, Clone, PartialEq)]
pub struct HeadGroup {
    /// Template and parameters.
    pub node: RayNode,
    /// `serviceType`; empty when the user gave none.
    pub service_type: Option<String>,
    /// The user's own head Service.
    pub service: Option<Service>,
    /// `headServiceAnnotations`.
    pub service_annotations: BTreeMap<String, String>,
}

/// A `RayCluster` that obeys every rule.
#[derive(Debug, Clone, PartialEq)]
pub struct ValidCluster {
    /// Who it is.
    pub id: ClusterIdentity,
    /// What asked for it.
    pub originated_from: OriginatedFrom,
    /// Annotations of the RayCluster (several of KubeRay's switches are annotations).
    pub annotations: BTreeMap<String, String>,
    /// `rayVersion`, where it can be read as a version.
    pub ray_version: Option<RayVersion>,
    /// The head.
    pub head: HeadGroup,
    /// The worker groups, in the order of the spec.
    pub groups: Vec<WorkerGroup>,
}
