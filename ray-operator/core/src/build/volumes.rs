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

#[cfg(test)]
mod tests {
    use super::*;
    use k8s_openapi::api::core::v1::ResourceRequirements;

    fn container(limit: Option<&str>, request: Option<&str>) -> Container {
        let memory = |text: Option<&str>| text.map(|text| [("memory".to_owned(), Quantity(text.to_owned()))].into());
        let resources = ResourceRequirements { limits: memory(limit), requests: memory(request), ..Default::default() };
        Container { resources: Some(resources), ..Container::default() }
    }

    #[test]
    fn as_large_as_the_memory() {
        for (limit, request, expected) in [
            (None, None, None),
            (Some("2Gi"), Some("1Gi"), Some("2Gi")),
            (None, Some("1Gi"), Some("1Gi")),
            (Some("0"), Some("1Gi"), Some("1Gi")),
            (Some("much"), None, None),
        ] {
            let (mut spec, mut ray) = (PodSpec::default(), container(limit, request));
            add_shared_memory(&mut spec, &mut ray, &StartParams::new());
            let volume = spec.volumes.unwrap().remove(0);
            assert_eq!(volume.empty_dir.unwrap().size_limit.map(|limit| limit.0).as_deref(), expected);
            assert_eq!(ray.volume_mounts.unwrap()[0].name, volume.name);
        }
    }

    #[test]
    fn not_where_the_user_decided() {
        let mut ray = container(None, None);
        ray.volume_mounts = Some(vec![VolumeMount { mount_path: "/dev/shm".to_owned(), ..VolumeMount::default() }]);
        let elsewhere = StartParams::from([("plasma-directory".to_owned(), String::new())]);
        for (mut ray, params) in [(ray, StartParams::new()), (container(None, None), elsewhere)] {
            let (mut spec, before) = (PodSpec::default(), ray.clone());
            add_shared_memory(&mut spec, &mut ray, &params);
            assert_eq!((spec, ray), (PodSpec::default(), before));
        }
    }

    #[test]
    fn a_volume_of_that_name_is_used() {
        let own = Volume { name: "shared-mem".to_owned(), ..Volume::default() };
        let mut spec = PodSpec { volumes: Some(vec![own.clone()]), ..PodSpec::default() };
        let mut ray = container(None, None);
        add_shared_memory(&mut spec, &mut ray, &StartParams::new());
        assert_eq!(spec.volumes, Some(vec![own]));
        assert_eq!(ray.volume_mounts.unwrap().len(), 1);
    }
}
