//! Mutual TLS (KubeRay's S26 and S27).

use k8s_openapi::api::core::v1::{EnvVar, VolumeMount};

use super::{Errors, HEAD, env, group_path};
use crate::raycluster::TlsOptions;
use crate::{FeatureGates, RayCluster};

const ENV: [&str; 4] = ["RAY_USE_TLS", "RAY_TLS_SERVER_CERT", "RAY_TLS_SERVER_KEY", "RAY_TLS_CA_CERT"];
const VOLUME: &str = "ray-tls";
const MOUNT_PATH: &str = "/etc/ray/tls";

pub(super) fn check(cluster: &RayCluster, gates: &FeatureGates, errors: &mut Errors) {
    let spec = &cluster.spec;
    if spec.tls_options.is_some() && !gates.ray_cluster_mtls {
        errors.spec("spec.tlsOptions", "needs the feature gate RayClusterMTLS, even with enabled: false");
    }
    if !spec.tls_options.as_ref().is_some_and(TlsOptions::is_enabled) {
        return;
    }
    let head = std::iter::once((HEAD.to_owned(), &spec.head_group_spec.template));
    let groups = spec.worker_group_specs.iter().enumerate();
    for (path, template) in head.chain(groups.map(|(index, group)| (group_path(index, ""), &group.template))) {
        let mounts = env::ray_container(template).and_then(|container| container.volume_mounts.as_deref());
        let path = format!("{path}.template.spec.containers[0]");
        check_container(&path, env::ray_env(template), mounts.unwrap_or_default(), errors);
    }
    if let Some(options) = &spec.autoscaler_options {
        check_container("spec.autoscalerOptions", &options.env, &options.volume_mounts, errors);
    }
}

/// What the operator puts into the container must not be there already.
fn check_container(path: &str, env: &[EnvVar], mounts: &[VolumeMount], errors: &mut Errors) {
    for name in ENV.into_iter().filter(|name| env::has(env, name)) {
        errors.spec(format!("{path}.env[{name}]"), "is set by the operator with tlsOptions");
    }
    for (index, mount) in mounts.iter().enumerate() {
        if mount.name == VOLUME || mount.mount_path == MOUNT_PATH {
            errors.spec(
                format!("{path}.volumeMounts[{index}]"),
                format!("name {VOLUME} and path {MOUNT_PATH} are the operator's with tlsOptions"),
            );
        }
    }
}
