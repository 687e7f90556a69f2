//! Fault tolerance of the head (KubeRay's S8 to S13).

use k8s_openapi::api::core::v1::PodTemplateSpec;

use super::{Errors, HEAD, env};
use crate::raycluster::{GcsBackend, GcsFaultToleranceOptions, GcsStorageOptions};
use crate::{FeatureGates, RayCluster, annotations};

const ADDRESS_ENV: &str = "RAY_REDIS_ADDRESS";
const PASSWORD_ENV: &str = "REDIS_PASSWORD";
const USERNAME_ENV: &str = "REDIS_USERNAME";
/// Volume of the RocksDB backend, and where it is mounted.
const VOLUME: &str = "gcs-storage";
const MOUNT_PATH: &str = "/data/gcs";
const OPTIONS: &str = "spec.gcsFaultToleranceOptions";

pub(super) fn check(cluster: &RayCluster, gates: &FeatureGates, errors: &mut Errors) {
    let annotation = cluster.annotation(annotations::FT_ENABLED).unwrap_or_default();
    match &cluster.spec.gcs_fault_tolerance_options {
        Some(options) => {
            if !annotation.is_empty() {
                errors.spec(
                    format!("metadata.annotations[{}]", annotations::FT_ENABLED),
                    "excludes gcsFaultToleranceOptions, whatever its value",
                );
            }
            check_elsewhere(cluster, errors);
            check_options(options, cluster, gates, errors);
        }
        None if !annotation.eq_ignore_ascii_case("true") && env::has(env::head_env(cluster), ADDRESS_ENV) => {
            errors.spec(head_env_path(ADDRESS_ENV), "needs gcsFaultToleranceOptions: without it Redis is not used");
        }
        None => {}
    }
    if has_param(cluster, "redis-username") {
        errors.spec(head_param_path("redis-username"), "use gcsFaultToleranceOptions.redisUsername");
    }
    if env::has(env::head_env(cluster), USERNAME_ENV) {
        errors.spec(head_env_path(USERNAME_ENV), "use gcsFaultToleranceOptions.redisUsername");
    }
}

fn head_env_path(name: &str) -> String {
    format!("{HEAD}.template.spec.containers[0].env[{name}]")
}

fn head_param_path(name: &str) -> String {
    format!("{HEAD}.rayStartParams[{name}]")
}

fn has_param(cluster: &RayCluster, name: &str) -> bool {
    cluster.spec.head_group_spec.ray_start_params.get(name).is_some_and(|value| !value.is_empty())
}

/// Settings that have their place in the options must not stand elsewhere as well.
fn check_elsewhere(cluster: &RayCluster, errors: &mut Errors) {
    let head_env = env::head_env(cluster);
    if has_param(cluster, "redis-password") {
        errors.spec(head_param_path("redis-password"), "use gcsFaultToleranceOptions.redisPassword");
    }
    if env::has(head_env, PASSWORD_ENV) {
        errors.spec(head_env_path(PASSWORD_ENV), "use gcsFaultToleranceOptions.redisPassword");
    }
    if env::has(head_env, ADDRESS_ENV) {
        errors.spec(head_env_path(ADDRESS_ENV), "use gcsFaultToleranceOptions.redisAddress");
    }
    if cluster.annotation(annotations::EXTERNAL_STORAGE_NAMESPACE).is_some_and(|value| !value.is_empty()) {
        errors.spec(
            format!("metadata.annotations[{}]", annotations::EXTERNAL_STORAGE_NAMESPACE),
            "use gcsFaultToleranceOptions.externalStorageNamespace",
        );
    }
}

fn check_options(options: &GcsFaultToleranceOptions, cluster: &RayCluster, gates: &FeatureGates, errors: &mut Errors) {
    match options.effective_backend() {
        Err(other) => {
            errors.spec(format!("{OPTIONS}.backend"), format!("must be redis or rocksdb, not {other:?}"));
        }
        Ok(GcsBackend::Redis) => {
            if options.storage.is_some() {
                errors.spec(format!("{OPTIONS}.storage"), "is for backend rocksdb only");
            }
        }
        Ok(GcsBackend::RocksDb) => {
            if !gates.gcs_fault_tolerance_embedded_storage {
                errors.spec(
                    format!("{OPTIONS}.backend"),
                    "rocksdb needs the feature gate GCSFaultToleranceEmbeddedStorage",
                );
            }
            check_no_redis(options, errors);
            if let Some(storage) = &options.storage {
                check_storage(storage, errors);
            }
            check_template(&cluster.spec.head_group_spec.template, errors);
        }
    }
}

fn check_no_redis(options: &GcsFaultToleranceOptions, errors: &mut Errors) {
    let given = [
        ("redisAddress", !options.redis_address.is_empty()),
        ("redisUsername", options.redis_username.is_some()),
        ("redisPassword", options.redis_password.is_some()),
        ("externalStorageNamespace", !options.external_storage_namespace.is_empty()),
    ];
    for (field, _) in given.into_iter().filter(|(_, given)| *given) {
        errors.spec(format!("{OPTIONS}.{field}"), "is for backend redis only");
    }
}

fn check_storage(storage: &GcsStorageOptions, errors: &mut Errors) {
    let made = storage.size.is_some() || storage.storage_class_name.is_some() || !storage.access_modes.is_empty();
    if !storage.claim_name.is_empty() && made {
        errors.spec(
            format!("{OPTIONS}.storage.claimName"),
            "names an existing claim and excludes size, storageClassName and accessModes",
        );
    }
    if let Some(policy) = storage.deletion_policy.as_deref()
        && !matches!(policy, "DeleteWithCluster" | "Retain")
    {
        errors.spec(
            format!("{OPTIONS}.storage.deletionPolicy"),
            format!("must be DeleteWithCluster or Retain, not {policy:?}"),
        );
    }
}

/// What the operator puts into the head pod must not be there already.
fn check_template(template: &PodTemplateSpec, errors: &mut Errors) {
    for name in ["RAY_gcs_storage", "RAY_gcs_storage_path"] {
        if env::has(env::ray_env(template), name) {
            errors.spec(head_env_path(name), "is set by the operator with backend rocksdb");
        }
    }
    let mounts = env::ray_container(template).and_then(|container| container.volume_mounts.as_deref());
    for (index, mount) in mounts.unwrap_or_default().iter().enumerate() {
        if mount.name == VOLUME || mount.mount_path == MOUNT_PATH {
            errors.spec(
                format!("{HEAD}.template.spec.containers[0].volumeMounts[{index}]"),
                format!("name {VOLUME} and path {MOUNT_PATH} are the operator's with backend rocksdb"),
            );
        }
    }
    let volumes = template.spec.as_ref().and_then(|spec| spec.volumes.as_deref()).unwrap_or_default();
    for (index, _) in volumes.iter().enumerate().filter(|(_, volume)| volume.name == VOLUME) {
        errors.spec(
            format!("{HEAD}.template.spec.volumes[{index}].name"),
            format!("{VOLUME} is the operator's with backend rocksdb"),
        );
    }
}
