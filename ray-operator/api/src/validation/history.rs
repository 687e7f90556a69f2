//! The history server's collector (KubeRay's S21).

use k8s_openapi::api::core::v1::{EnvVar, PodTemplateSpec};

use super::{Errors, HEAD, env, group_path};
use crate::{FeatureGates, RayCluster};

/// Name of the sidecar.
const CONTAINER: &str = "ray-history-collector";
const COLLECTOR: &str = "spec.historyServerOptions.collectorOptions";
/// Variables that the operator sets in the sidecar.
const MANAGED: [&str; 8] = [
    "POD_IP",
    "FQ_RAY_IP",
    "RAY_CLUSTER_NAME",
    "RAY_CLUSTER_NAMESPACE",
    "RAY_ROLE",
    "OWNER_KIND",
    "OWNER_NAME",
    "EVENTS_PORT",
];

pub(super) fn check(cluster: &RayCluster, gates: &FeatureGates, errors: &mut Errors) {
    let Some(options) = &cluster.spec.history_server_options else { return };
    if !gates.ray_cluster_history_server {
        errors.spec("spec.historyServerOptions", "needs the feature gate RayClusterHistoryServer");
        return;
    }
    let Some(collector) = &options.collector_options else {
        errors.spec(COLLECTOR, "must be given");
        return;
    };
    if collector.image.as_deref().unwrap_or_default().is_empty() {
        errors.spec(format!("{COLLECTOR}.image"), "must be given");
    }
    for name in MANAGED.into_iter().filter(|name| env::has(&collector.env, name)) {
        errors.spec(format!("{COLLECTOR}.env[{name}]"), "is set by the operator");
    }
    check_storage(&collector.env, errors);
    check_template(&cluster.spec.head_group_spec.template, HEAD, errors);
    for (index, group) in cluster.spec.worker_group_specs.iter().enumerate() {
        check_template(&group.template, &group_path(index, ""), errors);
    }
}

fn check_storage(env: &[EnvVar], errors: &mut Errors) {
    let Some(backend) = env::literal(env, "STORAGE_BACKEND") else {
        errors.spec(format!("{COLLECTOR}.env[STORAGE_BACKEND]"), "must be given with a value written out");
        return;
    };
    let backend = backend.to_uppercase();
    // One of each list has to be there.
    let needed: &[&[&str]] = match backend.as_str() {
        "GCS" => &[&["GCS_BUCKET"]],
        "S3" => &[&["S3_REGION"]],
        "ALIYUNOSS" => &[&["OSS_BUCKET"], &["OSS_ENDPOINT"], &["OSS_REGION"]],
        "AZUREBLOB" => {
            match env::literal(env, "AZURE_STORAGE_AUTH_MODE").unwrap_or_default().trim().to_lowercase().as_str() {
                "connection_string" => &[&["AZURE_STORAGE_CONNECTION_STRING"]],
                "workload_identity" | "default" => &[&["AZURE_STORAGE_ACCOUNT_URL"]],
                _ => &[&["AZURE_STORAGE_CONNECTION_STRING", "AZURE_STORAGE_ACCOUNT_URL"]],
            }
        }
        // Storages of other collectors are their business.
        _ => &[],
    };
    for names in needed {
        if !names.iter().any(|name| env::has_value(env, name)) {
            errors.spec(
                format!("{COLLECTOR}.env[{}]", names.first().copied().unwrap_or_default()),
                format!("STORAGE_BACKEND {backend} needs {}", names.join(" or ")),
            );
        }
    }
}

fn check_template(template: &PodTemplateSpec, path: &str, errors: &mut Errors) {
    let containers = template.spec.as_ref().map(|spec| spec.containers.as_slice()).unwrap_or_default();
    for (index, _) in containers.iter().enumerate().filter(|(_, container)| container.name == CONTAINER) {
        errors.spec(
            format!("{path}.template.spec.containers[{index}].name"),
            format!("{CONTAINER} is the operator's with historyServerOptions"),
        );
    }
}
