//! Builders of the objects of a cluster: pure functions from a valid cluster to Kubernetes objects.
//!
//! They follow KubeRay 1.7 to the byte where a user, Ray's autoscaler or a KubeRay that takes over could see the
//! difference; where they differ on purpose, `docs/kuberay-differences.md` has a row. They are total: whatever cannot
//! be read (a quantity, a port number) is left out or replaced by Ray's default, never a panic. Rules that refuse
//! such input belong to `ray-api`.

mod annotations;
mod command;
mod context;
mod env;
mod head_service;
mod headless_service;
mod init;
mod labels;
mod owner;
mod pod;
mod ports;
mod probes;
mod resources;
mod start_params;
mod volumes;

pub use head_service::{head_fqdn, head_service, head_service_name};
pub use headless_service::headless_service;
pub use pod::{head_pod, worker_pod};
pub use ray_api::annotations::POD_ORDINAL;
pub(crate) use resources::is_gpu;

/// The place of a pod in its group: what is known about it before it exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PodSlot<'a> {
    /// `metadata.name`, chosen by the plan so that a repeated create is `AlreadyExists`.
    pub name: &'a str,
    /// Counts the pods a group ever had; the name derives from it (annotation `ray.io/pod-ordinal`).
    pub ordinal: i64,
    /// Which replica of its group the pod is, from 0 (label `ray.io/worker-group-replica-index`; not used on heads).
    pub replica_index: u32,
}

/// Whether a new worker has to wait for the head before it starts Ray.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GcsWait {
    /// The head is not known to answer: an init container waits for it.
    UntilHeadAnswers,
    /// The head was Ready when the worker was planned: nothing to wait for, Ray's own retries cover the rest.
    HeadIsReady,
}
