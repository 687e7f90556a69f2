//! Volumes the operator adds: shared memory for Ray's object store.

use k8s_openapi::api::core::v1::{Container, EmptyDirVolumeSource, PodSpec, Volume, VolumeMount};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;

use super::resources::non_zero;
use super::start_params::StartParams;

const SHARED_MEMORY: &str = "shared-mem";
const SHARED_MEMORY_PATH: &str = "/dev/shm";

/// Mounts memory at `/dev/shm`, where Ray keeps objects; Kubernetes' own `/dev/shm` has only 64 MiB.
///
/// Not where the user mounts something there or puts the store elsewhere (`plasma-directory`).
pub(super) fn add_shared_memory(spec: &mut PodSpec, ray: &mut Container, params: &StartParams) {
    if params.contains_key("plasma-directory") {
        return;
    }
    if ray.volume_mounts.iter().flatten().any(|mount| mount.mount_path == SHARED_MEMORY_PATH) {
        return;
    }
    let volumes = spec.volumes.get_or_insert_default();
    if !volumes.iter().any(|volume| volume.name == SHARED_MEMORY) {
        volumes.push(Volume {
            name: SHARED_MEMORY.to_owned(),
            empty_dir: Some(EmptyDirVolumeSource {
                medium: Some("Memory".to_owned()),
                size_limit: size_limit(ray),
                ..EmptyDirVolumeSource::default()
            }),
            ..Volume::default()
        });
    }
    ray.volume_mounts.get_or_insert_default().push(VolumeMount {
        name: SHARED_MEMORY.to_owned(),
        mount_path: SHARED_MEMORY_PATH.to_owned(),
        ..VolumeMount::default()
    });
}

/// The memory limit, else the request: what is in shared memory counts against the container anyway.
fn size_limit(ray: &Container) -> Option<Quantity> {
    let resources = ray.resources.as_ref()?;
    let memory = |list: &Option<std::collections::BTreeMap<String, Quantity>>| {
        list.as_ref()?.get("memory").filter(|quantity| non_zero(quantity).is_some()).cloned()
    };
    memory(&resources.limits).or_else(|| memory(&resources.requests))
}
