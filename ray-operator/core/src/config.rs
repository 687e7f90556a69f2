//! What the person who runs the operator decided, as far as decisions need it.

/// Settings of the operator that shape the objects it builds.
///
/// The manager fills it once from flags and environment variables; the names of KubeRay's variables
/// stand beside each field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OperatorConfig {
    /// DNS domain of the Kubernetes cluster (`CLUSTER_DOMAIN`).
    pub cluster_domain: String,
    /// Add the init container that makes workers wait for the head (`ENABLE_INIT_CONTAINER_INJECTION`).
    pub inject_init_container: bool,
    /// Add probes to Ray containers that have none (`ENABLE_PROBES_INJECTION`).
    pub inject_probes: bool,
    /// Give the head Service a cluster IP instead of making it headless (`ENABLE_RAY_HEAD_CLUSTER_IP_SERVICE`).
    pub head_cluster_ip_service: bool,
    /// Start Ray from a login shell, `bash -cl` (`ENABLE_LOGIN_SHELL`).
    pub login_shell: bool,
    /// Version of this operator, written into `ray.io/kuberay-version` of head pods.
    ///
    /// It must differ from every version KubeRay ever had, or a KubeRay that takes over would compare
    /// its hash with ours (KubeRay skips the comparison across versions).
    pub operator_version: String,
    /// Feature gates, by KubeRay's names.
    pub gates: ray_api::FeatureGates,
}

impl Default for OperatorConfig {
    fn default() -> Self {
        Self {
            cluster_domain: "cluster.local".to_owned(),
            inject_init_container: true,
            inject_probes: true,
            head_cluster_ip_service: false,
            login_shell: false,
            operator_version: concat!("ray-operator-", env!("CARGO_PKG_VERSION")).to_owned(),
            gates: ray_api::FeatureGates::default(),
        }
    }
}
