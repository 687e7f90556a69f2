//! `RayCluster` (`ray.io/v1`): one head pod and any number of worker groups.
//!
//! Field names and meaning are KubeRay's (1.7); what we add stands in [`status`] and says so. A field whose default
//! lives in the CRD stays an `Option`: an object stored under an older CRD may lack it, and "absent" must not be read
//! as zero. Methods named `effective_…` give the value with the default put in.

pub mod auth;
pub mod autoscaler;
pub mod fault_tolerance;
pub mod head;
pub mod history;
pub mod network_policy;
pub mod spec;
pub mod status;
pub mod tls;
pub mod worker;

mod object;

pub use auth::{AuthMode, AuthOptions};
pub use autoscaler::{AutoscalerOptions, AutoscalerVersion};
pub use fault_tolerance::{GcsBackend, GcsFaultToleranceOptions, GcsStorageOptions, RedisCredential};
pub use head::{HeadGroupSpec, IngressOptions};
pub use history::{CollectorOptions, HistoryServerOptions};
pub use network_policy::{NetworkPolicyMode, NetworkPolicyOptions, NetworkPolicyRules, WorkerGroupNetworkPolicy};
pub use object::{KIND, MANAGER, PLURAL, RayCluster, SINGULAR};
pub use spec::{RayClusterSpec, UpgradeStrategy, UpgradeType};
pub use status::{
    Blocked, ClusterState, Failures, HeadInfo, RayClusterStatus, UnknownWorkerToDelete, WorkerGroupStatus,
};
pub use tls::TlsOptions;
pub use worker::{DEFAULT_MAX_REPLICAS, ScaleStrategy, WorkerGroupSpec};
