//! The object itself: metadata, spec and status, and what `kube` needs to know to talk about it.

use std::borrow::Cow;

use k8s_openapi::NamespaceResourceScope;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube_core::Resource;
use serde::ser::SerializeStruct;
use serde::{Deserialize, Serialize, Serializer};

use super::{RayClusterSpec, RayClusterStatus};
use crate::de::null_as_default;

/// Kind of the object.
pub const KIND: &str = "RayCluster";
/// Resource name in URLs.
pub const PLURAL: &str = "rayclusters";
/// Singular resource name, as `kubectl` accepts it.
pub const SINGULAR: &str = "raycluster";

/// Value of `managedBy` that means this operator.
pub const MANAGER: &str = "ray.io/kuberay-operator";

/// A Ray cluster: what the user wants (`spec`) and what the operator saw (`status`).
///
/// Written by hand instead of derived, because a missing `spec` has to decode (Go gives the zero value, and one odd
/// object must not break a list) and because the definition is put together in [`crate::crd`].
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub struct RayCluster {
    /// Standard object metadata.
    #[serde(default, deserialize_with = "null_as_default")]
    pub metadata: ObjectMeta,
    /// The wanted cluster.
    #[serde(default, deserialize_with = "null_as_default")]
    pub spec: RayClusterSpec,
    /// The observed cluster; absent until the operator has seen the object.
    #[serde(default)]
    pub status: Option<RayClusterStatus>,
}

impl RayCluster {
    /// Name of the object; empty if there is none yet (an object with `generateName` before its creation).
    #[must_use]
    pub fn name(&self) -> &str {
        self.metadata.name.as_deref().unwrap_or_default()
    }

    /// Namespace of the object; empty if unset.
    #[must_use]
    pub fn namespace(&self) -> &str {
        self.metadata.namespace.as_deref().unwrap_or_default()
    }

    /// Whether this operator acts on the object: `managedBy` is absent or KubeRay's own name, whose place we take.
    #[must_use]
    pub fn is_managed_by_us(&self) -> bool {
        self.spec.managed_by.as_deref().is_none_or(|manager| manager == MANAGER)
    }

    /// Value of an annotation, or `None`.
    #[must_use]
    pub fn annotation(&self, key: &str) -> Option<&str> {
        self.metadata.annotations.as_ref()?.get(key).map(String::as_str)
    }

    /// Value of a label, or `None`.
    #[must_use]
    pub fn label(&self, key: &str) -> Option<&str> {
        self.metadata.labels.as_ref()?.get(key).map(String::as_str)
    }
}

// `apiVersion` and `kind` are written out because server-side apply needs them in the body.
impl Serialize for RayCluster {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_struct(KIND, 5)?;
        object.serialize_field("apiVersion", &Self::api_version(&()))?;
        object.serialize_field("kind", KIND)?;
        object.serialize_field("metadata", &self.metadata)?;
        object.serialize_field("spec", &self.spec)?;
        match &self.status {
            Some(status) => object.serialize_field("status", status)?,
            None => object.skip_field("status")?,
        }
        object.end()
    }
}

impl Resource for RayCluster {
    type DynamicType = ();
    type Scope = NamespaceResourceScope;

    fn kind(_: &()) -> Cow<'_, str> {
        KIND.into()
    }
    fn group(_: &()) -> Cow<'_, str> {
        crate::GROUP.into()
    }
    fn version(_: &()) -> Cow<'_, str> {
        crate::VERSION.into()
    }
    fn plural(_: &()) -> Cow<'_, str> {
        PLURAL.into()
    }
    fn meta(&self) -> &ObjectMeta {
        &self.metadata
    }
    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.metadata
    }
}
