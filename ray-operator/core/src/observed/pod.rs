//! A pod, slim.

use jiff::Timestamp;
use serde::Deserialize;

use super::container::{ContainerState, ObservedContainer};
use super::wire;

/// Role of a pod in its Ray cluster (label `ray.io/node-type`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NodeType {
    /// The head.
    Head,
    /// A worker.
    Worker,
    /// Anything else that carries our labels, such as KubeRay's Redis cleanup.
    Other,
}

/// `status.phase`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Phase {
    /// Not all containers started yet.
    #[default]
    Pending,
    /// At least one container runs.
    Running,
    /// Every container ended well.
    Succeeded,
    /// Every container ended, one badly; or the pod was evicted.
    Failed,
    /// The node does not answer.
    Unknown,
}

/// `spec.restartPolicy`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RestartPolicy {
    /// The kubelet restarts every container that ends.
    #[default]
    Always,
    /// The kubelet restarts containers that end badly.
    OnFailure,
    /// The kubelet restarts nothing.
    Never,
}

/// A pod condition that decisions or status read (`Ready`, `PodScheduled`).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PodCondition {
    /// `True`, `False` or `Unknown`.
    pub status: String,
    /// Machine-readable reason; may be empty.
    pub reason: String,
    /// Text; may be empty.
    pub message: String,
    /// When `status` last changed.
    pub since: Option<Timestamp>,
}

impl PodCondition {
    /// Whether the condition holds.
    #[must_use]
    pub fn is_true(&self) -> bool {
        self.status == "True"
    }
}

/// A pod of a Ray cluster: the fields that are read, nothing else.
///
/// Decoded straight from the API server's JSON.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(from = "wire::Pod")]
pub struct ObservedPod {
    /// `metadata.namespace`.
    pub namespace: String,
    /// `metadata.name`.
    pub name: String,
    /// `metadata.uid`; every delete carries it.
    pub uid: String,
    /// `metadata.resourceVersion`.
    pub resource_version: String,
    /// UID of the controller owner, if there is one.
    pub owner_uid: Option<String>,
    /// Label `ray.io/node-type`.
    pub node_type: NodeType,
    /// Label `ray.io/group`.
    pub group: String,
    /// Label `ray.io/worker-group-replica-index`; absent on pods older than that label.
    pub replica_index: Option<u32>,
    /// Annotation with the creation number within the group; 0 on pods of another operator.
    pub ordinal: i64,
    /// Annotation `controller.kubernetes.io/pod-deletion-cost`; 0 if absent or unreadable, as in Kubernetes.
    pub deletion_cost: i32,
    /// `metadata.creationTimestamp`.
    pub created: Option<Timestamp>,
    /// `metadata.deletionTimestamp`: when the grace period ends. Set means: leaving.
    pub deletion: Option<Timestamp>,
    /// `spec.nodeName`.
    pub node_name: Option<String>,
    /// `spec.restartPolicy`.
    pub restart_policy: RestartPolicy,
    /// Name of `spec.containers[0]`, the Ray container.
    pub ray_container: String,
    /// `status.phase`.
    pub phase: Phase,
    /// `status.reason`, such as `Evicted`.
    pub status_reason: String,
    /// `status.message`.
    pub status_message: String,
    /// `status.podIP`.
    pub pod_ip: Option<String>,
    /// Condition `Ready`.
    pub ready: Option<PodCondition>,
    /// Condition `PodScheduled`.
    pub scheduled: Option<PodCondition>,
    /// Init containers, then containers, in the order of the status.
    pub init_containers: Vec<ObservedContainer>,
    /// Containers in the order of the status.
    pub containers: Vec<ObservedContainer>,
}

impl ObservedPod {
    /// Whether the pod was asked to go. A leaving pod is never supply and never chosen again.
    #[must_use]
    pub fn is_leaving(&self) -> bool {
        self.deletion.is_some()
    }

    /// Whether its Ready condition holds.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.ready.as_ref().is_some_and(PodCondition::is_true)
    }

    /// Running with nothing against it; KubeRay counts a pod without a Ready condition as ready here.
    #[must_use]
    pub fn is_running_and_ready(&self) -> bool {
        self.phase == Phase::Running && self.ready.as_ref().is_none_or(PodCondition::is_true)
    }

    /// State of the Ray container.
    #[must_use]
    pub fn ray_state(&self) -> &ContainerState {
        self.containers.iter().find(|c| c.name == self.ray_container).map_or(&ContainerState::Unknown, |c| &c.state)
    }

    /// When the pod's last container ended, or when it stopped being ready: the moment of a failure.
    #[must_use]
    pub fn ended_at(&self) -> Option<Timestamp> {
        self.containers
            .iter()
            .filter_map(|c| match &c.state {
                ContainerState::Terminated { finished_at, .. } => *finished_at,
                _ => None,
            })
            .max()
            .or_else(|| self.ready.as_ref().and_then(|ready| ready.since))
    }

    /// Number of restarts of the container that restarted most.
    #[must_use]
    pub fn max_restarts(&self) -> i32 {
        self.containers.iter().map(|c| c.restart_count).max().unwrap_or(0)
    }
}
