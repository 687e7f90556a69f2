//! Writes and what became of them.

use k8s_openapi::api::core::v1::{Pod, Service};

use crate::valid::GroupName;

/// An independent part of a cluster. An error in one neither hides nor delays another (invariant 7).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Step {
    /// The head Service.
    HeadService,
    /// The headless Service of multi-host groups.
    HeadlessService,
    /// The head pod.
    Head,
    /// One worker group of the spec.
    Group(GroupName),
    /// The pods of a worker group that left the spec.
    RemovedGroup(String),
}

impl std::fmt::Display for Step {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::HeadService => f.write_str("head Service"),
            Self::HeadlessService => f.write_str("headless worker Service"),
            Self::Head => f.write_str("head"),
            Self::Group(name) => write!(f, "worker group {name}"),
            Self::RemovedGroup(name) => write!(f, "removed worker group {name}"),
        }
    }
}

/// One write to Kubernetes, with the part of the cluster it is for.
#[derive(Debug, Clone, PartialEq)]
pub struct Write {
    /// The part of the cluster that wants it.
    pub step: Step,
    /// What to do.
    pub action: Action,
}

/// What can be written.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// Create a pod. Its name is set; a repeated call is `AlreadyExists`.
    CreatePod {
        /// The pod.
        pod: Box<Pod>,
        /// The name, also in `pod`.
        name: String,
        /// Creation number in its group; the name derives from it.
        ordinal: i64,
    },
    /// Create a Service.
    CreateService {
        /// The Service.
        service: Box<Service>,
        /// The name, also in `service`.
        name: String,
    },
    /// Delete the pod that this decision was taken for: `uid` is a precondition.
    DeletePod {
        /// The pod's name.
        name: String,
        /// The pod's UID.
        uid: String,
        /// Why, in words the user reads.
        reason: String,
    },
}

impl Action {
    /// Name of the object that is written.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::CreatePod { name, .. } | Self::CreateService { name, .. } | Self::DeletePod { name, .. } => name,
        }
    }
}

/// What became of one write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// Done: created or deleted by this call.
    Done,
    /// It was so already: our own object of that name exists, or the pod to delete is gone.
    AlreadySo,
    /// Not tried, because an earlier write of the same step was refused.
    Skipped,
    /// Failed.
    Failed(WriteError),
}

/// Why a write failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WriteError {
    /// Its kind.
    pub kind: WriteErrorKind,
    /// The API server's own words, or the transport's.
    pub message: String,
}

/// Kinds of failed writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteErrorKind {
    /// The API server said no and will say no again soon: quota, admission, validation.
    Refused,
    /// The name is taken by an object that is not ours, or that was changed on its way so that it cannot be ours.
    NameTaken,
    /// Nobody knows whether it happened: a time-out, a broken connection, a server error.
    Unknown,
}
