//! A pod template in which the Ray container is known to exist.

use k8s_openapi::api::core::v1::{Container, PodSpec, PodTemplateSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

/// A user's pod template, taken apart so that the Ray container cannot be missing.
///
/// KubeRay knows the Ray container by position: it is the first, whatever its name.
#[derive(Debug, Clone, PartialEq)]
pub struct RayPodTemplate {
    /// `template.metadata`.
    pub metadata: ObjectMeta,
    /// `template.spec` with `containers` emptied; the containers are in the two fields below.
    pub spec: PodSpec,
    /// `containers[0]`.
    pub ray: Container,
    /// `containers[1..]`.
    pub sidecars: Vec<Container>,
}

impl RayPodTemplate {
    /// Takes a template apart; `None` when it has no container.
    #[must_use]
    pub fn new(template: PodTemplateSpec) -> Option<Self> {
        let mut spec = template.spec?;
        let mut containers = std::mem::take(&mut spec.containers).into_iter();
        let ray = containers.next()?;
        Some(Self { metadata: template.metadata.unwrap_or_default(), spec, ray, sidecars: containers.collect() })
    }

    /// All containers, the Ray container first.
    pub fn containers(&self) -> impl Iterator<Item = &Container> {
        std::iter::once(&self.ray).chain(&self.sidecars)
    }
}
