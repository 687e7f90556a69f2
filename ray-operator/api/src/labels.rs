//! Label keys and values; all KubeRay's, because other tools select by them.

/// On every Ray pod: [`IS_RAY_NODE_YES`].
pub const IS_RAY_NODE: &str = "ray.io/is-ray-node";
/// Value of [`IS_RAY_NODE`].
pub const IS_RAY_NODE_YES: &str = "yes";
/// Name of the cluster. Cannot be overridden by the user.
pub const CLUSTER: &str = "ray.io/cluster";
/// `head`, `worker` or `redis-cleanup`. Cannot be overridden by the user.
pub const NODE_TYPE: &str = "ray.io/node-type";
/// Name of the worker group, or [`HEAD_GROUP`]. Cannot be overridden by the user.
pub const GROUP: &str = "ray.io/group";
/// Value of [`GROUP`] on the head; no worker group may have this name.
pub const HEAD_GROUP: &str = "headgroup";
/// Cluster and node type in one value; the head Service selects by it.
pub const IDENTIFIER: &str = "ray.io/identifier";
/// The labels that a user's template or `labels` cannot override: they say whose a pod is.
pub const PROTECTED: [&str; 3] = [CLUSTER, NODE_TYPE, GROUP];
/// Whether the pod takes Serve traffic: `true` or `false`, only in clusters of a RayService.
pub const SERVE: &str = "ray.io/serve";
/// Number of the replica in its group, from 0.
pub const REPLICA_INDEX: &str = "ray.io/worker-group-replica-index";
/// Name shared by all pods of a multi-host replica.
pub const REPLICA_NAME: &str = "ray.io/worker-group-replica-name";
/// Number of the host in its multi-host replica, from 0.
pub const HOST_INDEX: &str = "ray.io/replica-host-index";

/// Kubernetes' recommended label for the application's name: [`APP_NAME_KUBERAY`].
pub const APP_NAME: &str = "app.kubernetes.io/name";
/// Value of [`APP_NAME`].
pub const APP_NAME_KUBERAY: &str = "kuberay";
/// Kubernetes' recommended label for the maker: [`CREATED_BY_OPERATOR`].
pub const CREATED_BY: &str = "app.kubernetes.io/created-by";
/// Value of [`CREATED_BY`].
pub const CREATED_BY_OPERATOR: &str = "kuberay-operator";
/// Kubernetes' recommended label for the part of the application; on certificates and issuers.
pub const COMPONENT: &str = "app.kubernetes.io/component";

/// On a cluster that another object of ours made: that object's kind.
pub const ORIGINATED_FROM_CRD: &str = "ray.io/originated-from-crd";
/// On a cluster that another object of ours made: that object's name.
pub const ORIGINATED_FROM_CR_NAME: &str = "ray.io/originated-from-cr-name";
/// On a cluster of a RayJob: how the job is submitted.
pub const JOB_SUBMISSION_MODE: &str = "ray.io/job-submission-mode";
/// Asks the batch scheduler to start all pods or none.
pub const GANG_SCHEDULING: &str = "ray.io/gang-scheduling-enabled";
/// Priority class for the batch scheduler.
pub const PRIORITY_CLASS: &str = "ray.io/priority-class-name";

/// On the headless Service of multi-host workers: name of the cluster. KubeRay finds that Service by it.
pub const HEADLESS_WORKER_SVC: &str = "ray.io/headless-worker-svc";
