//! What the benchmarks watch: pods and RayClusters, of each only a handful of fields, so that watching costs little.

use std::borrow::Cow;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::Resource;
use kube::core::ApiResource;
use serde::Deserialize;

/// A pod or RayCluster, slim.
#[derive(Debug, Clone, Deserialize)]
#[serde(from = "Wire")]
pub(crate) struct Seen {
    meta: ObjectMeta,
    /// What it says about itself.
    pub(crate) facts: Facts,
}

/// What an object says about itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Facts {
    /// Namespace.
    pub(crate) namespace: String,
    /// Name.
    pub(crate) name: String,
    /// Label `ray.io/cluster`.
    pub(crate) cluster: String,
    /// A pod's condition `PodScheduled`.
    pub(crate) scheduled: bool,
    /// A pod's condition `Initialized`.
    pub(crate) initialized: bool,
    /// The first container runs.
    pub(crate) running: bool,
    /// The first container's startup probe succeeded (at once, if it has none).
    pub(crate) started: bool,
    /// A pod's condition `Ready`; a RayCluster's state `ready`.
    pub(crate) ready: bool,
    /// It is being deleted.
    pub(crate) leaving: bool,
}

#[derive(Deserialize)]
struct Wire {
    metadata: Meta,
    #[serde(default)]
    status: Status,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Meta {
    name: String,
    #[serde(default)]
    namespace: String,
    #[serde(default)]
    uid: String,
    #[serde(default)]
    resource_version: String,
    #[serde(default)]
    deletion_timestamp: Option<String>,
    #[serde(default)]
    labels: Labels,
}

#[derive(Deserialize, Default)]
struct Labels {
    #[serde(default, rename = "ray.io/cluster")]
    cluster: String,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Status {
    state: String,
    conditions: Vec<Condition>,
    container_statuses: Vec<Container>,
}

#[derive(Deserialize)]
struct Condition {
    r#type: String,
    status: String,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Container {
    started: bool,
    state: State,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct State {
    running: Option<serde::de::IgnoredAny>,
}

impl From<Wire> for Seen {
    fn from(wire: Wire) -> Self {
        let (meta, status) = (wire.metadata, wire.status);
        let holds = |kind: &str| status.conditions.iter().any(|c| c.r#type == kind && c.status == "True");
        let container = status.container_statuses.first();
        let facts = Facts {
            namespace: meta.namespace.clone(),
            name: meta.name.clone(),
            cluster: meta.labels.cluster,
            scheduled: holds("PodScheduled"),
            initialized: holds("Initialized"),
            running: container.is_some_and(|container| container.state.running.is_some()),
            started: container.is_some_and(|container| container.started),
            ready: holds("Ready") || status.state == "ready",
            leaving: meta.deletion_timestamp.is_some(),
        };
        let meta = ObjectMeta {
            name: Some(meta.name),
            namespace: Some(meta.namespace),
            uid: Some(meta.uid),
            resource_version: Some(meta.resource_version),
            ..ObjectMeta::default()
        };
        Self { meta, facts }
    }
}

impl Resource for Seen {
    type DynamicType = ApiResource;
    type Scope = k8s_openapi::NamespaceResourceScope;
    fn kind(kind: &ApiResource) -> Cow<'_, str> {
        kind.kind.as_str().into()
    }
    fn group(kind: &ApiResource) -> Cow<'_, str> {
        kind.group.as_str().into()
    }
    fn version(kind: &ApiResource) -> Cow<'_, str> {
        kind.version.as_str().into()
    }
    fn plural(kind: &ApiResource) -> Cow<'_, str> {
        kind.plural.as_str().into()
    }
    fn meta(&self) -> &ObjectMeta {
        &self.meta
    }
    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.meta
    }
}

/// Pods.
pub(crate) fn pods() -> ApiResource {
    resource("", "v1", "Pod", "pods")
}

/// RayClusters.
pub(crate) fn clusters() -> ApiResource {
    resource("ray.io", "v1", "RayCluster", "rayclusters")
}

fn resource(group: &str, version: &str, kind: &str, plural: &str) -> ApiResource {
    let api_version = if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") };
    ApiResource {
        group: group.to_owned(),
        version: version.to_owned(),
        api_version,
        kind: kind.to_owned(),
        plural: plural.to_owned(),
    }
}
