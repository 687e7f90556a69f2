//! Annotation keys and the finalizer; all KubeRay's.

/// On a cluster: `true` (any case) keeps the head's state in Redis, the old way of saying it. On the head pod: whether
/// that is so, by whichever way.
pub const FT_ENABLED: &str = "ray.io/ft-enabled";
/// On a cluster, and copied to the head pod: prefix of the cluster's keys in Redis.
pub const EXTERNAL_STORAGE_NAMESPACE: &str = "ray.io/external-storage-namespace";
/// On a cluster: seconds after which the cleanup of Redis is given up at deletion; 300 without it.
pub const FT_DELETION_TIMEOUT: &str = "ray.io/gcs-ft-deletion-timeout";
/// On a cluster, and copied to its pods: `true` (any case) leaves the Ray containers' command and arguments alone.
pub const OVERWRITE_CONTAINER_CMD: &str = "ray.io/overwrite-container-cmd";
/// On a cluster: exactly `true` makes a Service for Ray Serve.
pub const ENABLE_SERVE_SERVICE: &str = "ray.io/enable-serve-service";
/// On a cluster: exactly `true` leaves a lost head lost once the cluster has been up.
pub const DISABLE_PROVISIONED_HEAD_RESTART: &str = "ray.io/disable-provisioned-head-restart";
/// On a cluster: class of the Ingress.
pub const INGRESS_CLASS: &str = "kubernetes.io/ingress.class";
/// On the head pod: hash of the spec it was made from.
pub const UPGRADE_HASH: &str = "ray.io/upgrade-strategy-recreate-hash";
/// On the head pod: version of the operator that made it.
pub const OPERATOR_VERSION: &str = "ray.io/kuberay-version";
/// On every pod (ours, not KubeRay's): how many pods its group had had when it was named, itself included.
pub const POD_ORDINAL: &str = "ray.io/pod-ordinal";
/// On any pod: Kubernetes' own wish of which pod goes first when a group shrinks; the lowest goes first.
pub const POD_DELETION_COST: &str = "controller.kubernetes.io/pod-deletion-cost";

/// Finalizer that holds a cluster until its keys in Redis are gone.
pub const REDIS_CLEANUP_FINALIZER: &str = "ray.io/gcs-ft-redis-cleanup-finalizer";
