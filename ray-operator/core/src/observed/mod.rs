//! What the operator knows when it decides: slim views of the cluster's objects.
//!
//! The cache holds exactly these types. They keep the fields that decisions read and nothing else, which is what
//! makes a thousand clusters cheap: a full pod costs fifteen times the memory and six times the decoding.

mod container;
mod pod;
mod service;
mod wire;

use std::collections::BTreeMap;
use std::sync::Arc;

pub use container::{ContainerState, ObservedContainer};
use jiff::Timestamp;
pub use pod::{NodeType, ObservedPod, Phase, PodCondition, RestartPolicy};
use ray_api::{RayCluster, RayClusterStatus};
pub use service::{ObservedService, ObservedServicePort, TargetPort};

use crate::plan::Step;

/// Everything one pass over one cluster is decided from.
#[derive(Debug, Clone)]
pub struct Observed {
    /// The RayCluster as it stands in the API server (or: as the watch last showed it).
    pub cluster: RayCluster,
    /// Pods whose controller owner is this RayCluster, in any order.
    pub pods: Vec<Arc<ObservedPod>>,
    /// Services whose controller owner is this RayCluster.
    pub services: Vec<Arc<ObservedService>>,
    /// What the operator's own recent attempts taught; advisory, losing it costs a retry and nothing else.
    pub memory: Memory,
}

/// Knowledge that comes from the operator's own failed writes, not from objects.
///
/// A restart forgets it. Nothing may depend on it but the pace of retries (invariant 10).
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Memory {
    /// Steps that failed lately → the moment before which they are not tried again.
    pub held: BTreeMap<Step, Timestamp>,
    /// Steps → the highest ordinal whose pod name is spent: by a pod of ours that the status may not tell of yet, or because
    /// somebody else's pod has it.
    pub taken_ordinals: BTreeMap<Step, i64>,
    /// The last status that was sent, and what the API server made of it.
    pub answered_status: Option<AnsweredStatus>,
}

/// A status that was sent, and what the API server kept of it.
#[derive(Debug, Clone, PartialEq)]
pub struct AnsweredStatus {
    /// What was sent.
    pub wished: RayClusterStatus,
    /// What came back.
    pub got: RayClusterStatus,
}
