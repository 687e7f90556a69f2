//! Looking into the Ray container, which is the first container of a template whatever its name (KubeRay).

use k8s_openapi::api::core::v1::{Container, EnvVar, PodTemplateSpec};

use crate::RayCluster;

/// The container that runs Ray.
pub(super) fn ray_container(template: &PodTemplateSpec) -> Option<&Container> {
    template.spec.as_ref()?.containers.first()
}

/// Environment of the container that runs Ray.
pub(super) fn ray_env(template: &PodTemplateSpec) -> &[EnvVar] {
    ray_container(template).and_then(|container| container.env.as_deref()).unwrap_or_default()
}

/// Environment of the head's Ray container.
pub(super) fn head_env(cluster: &RayCluster) -> &[EnvVar] {
    ray_env(&cluster.spec.head_group_spec.template)
}

/// The variable of that name.
pub(super) fn find<'a>(env: &'a [EnvVar], name: &str) -> Option<&'a EnvVar> {
    env.iter().find(|variable| variable.name == name)
}

/// Whether there is a variable of that name, from wherever its value comes.
pub(super) fn has(env: &[EnvVar], name: &str) -> bool {
    find(env, name).is_some()
}

/// The value written out, if it is and is not empty.
pub(super) fn literal<'a>(env: &'a [EnvVar], name: &str) -> Option<&'a str> {
    find(env, name)?.value.as_deref().filter(|value| !value.is_empty())
}

/// Whether the variable has a value, written out or from elsewhere.
pub(super) fn has_value(env: &[EnvVar], name: &str) -> bool {
    literal(env, name).is_some() || find(env, name).is_some_and(|variable| variable.value_from.is_some())
}
