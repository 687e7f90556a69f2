//! Slim kinds as kube's watcher wants them: something with an `ObjectMeta` that decodes from the API server's JSON.

use std::borrow::Cow;
use std::sync::Arc;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::Resource;
use ray_core::observed::{ObservedPod, ObservedService};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::clusters::{ClusterKey, StoredCluster};

/// A slim object on its way from the watch to the cache.
#[derive(Debug, Clone)]
pub struct Watched<T> {
    /// The few fields that the watcher itself reads.
    meta: ObjectMeta,
    /// The object.
    pub object: T,
}

/// A pod on its way to the cache.
pub type WatchedPod = Watched<ObservedPod>;
/// A Service on its way to the cache.
pub type WatchedService = Watched<ObservedService>;

macro_rules! watched {
    ($object:ty, $kind:literal, $plural:literal) => {
        impl<'de> Deserialize<'de> for Watched<$object> {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let object = <$object>::deserialize(deserializer)?;
                let meta = ObjectMeta {
                    name: Some(object.name.clone()),
                    namespace: Some(object.namespace.clone()),
                    uid: Some(object.uid.clone()),
                    resource_version: Some(object.resource_version.clone()),
                    ..ObjectMeta::default()
                };
                Ok(Self { meta, object })
            }
        }

        impl Resource for Watched<$object> {
            type DynamicType = ();
            type Scope = k8s_openapi::NamespaceResourceScope;
            fn kind((): &()) -> Cow<'_, str> {
                $kind.into()
            }
            fn group((): &()) -> Cow<'_, str> {
                "".into()
            }
            fn version((): &()) -> Cow<'_, str> {
                "v1".into()
            }
            fn plural((): &()) -> Cow<'_, str> {
                $plural.into()
            }
            fn meta(&self) -> &ObjectMeta {
                &self.meta
            }
            fn meta_mut(&mut self) -> &mut ObjectMeta {
                &mut self.meta
            }
        }
    };
}

watched!(ObservedPod, "Pod", "pods");
watched!(ObservedService, "Service", "services");

/// A RayCluster on its way to the cache. It is not decoded here: an object that does not fit our types must not hide the
/// others, so a pass decodes it and reports what is wrong.
#[derive(Debug, Clone)]
pub struct WatchedCluster {
    meta: ObjectMeta,
    pub(super) stored: StoredCluster,
}

impl Clone for StoredCluster {
    fn clone(&self) -> Self {
        Self {
            uid: Arc::clone(&self.uid),
            generation: self.generation,
            resource_version: self.resource_version.clone(),
            json: self.json.clone(),
        }
    }
}

impl WatchedCluster {
    /// Namespace and name.
    #[must_use]
    pub fn key(&self) -> ClusterKey {
        let text = |value: &Option<String>| Arc::from(value.as_deref().unwrap_or_default());
        ClusterKey { namespace: text(&self.meta.namespace), name: text(&self.meta.name) }
    }

    /// `metadata.uid`.
    #[must_use]
    pub fn uid(&self) -> &str {
        &self.stored.uid
    }
}

impl<'de> Deserialize<'de> for WatchedCluster {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut object = Value::deserialize(deserializer)?;
        if let Some(Value::Object(meta)) = object.get_mut("metadata") {
            // Half of a RayCluster's bytes, read by nobody here.
            meta.remove("managedFields");
            if let Some(Value::Object(annotations)) = meta.get_mut("annotations") {
                annotations.remove("kubectl.kubernetes.io/last-applied-configuration");
            }
        }
        let text = |pointer: &str| object.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
        let meta = ObjectMeta {
            name: text("/metadata/name"),
            namespace: text("/metadata/namespace"),
            uid: text("/metadata/uid"),
            resource_version: text("/metadata/resourceVersion"),
            ..ObjectMeta::default()
        };
        let stored = StoredCluster {
            uid: Arc::from(meta.uid.as_deref().unwrap_or_default()),
            generation: object.pointer("/metadata/generation").and_then(Value::as_i64).unwrap_or(0),
            resource_version: meta.resource_version.clone().unwrap_or_default(),
            json: object.to_string().into_boxed_str(),
        };
        Ok(Self { meta, stored })
    }
}

impl Resource for WatchedCluster {
    type DynamicType = ();
    type Scope = k8s_openapi::NamespaceResourceScope;
    fn kind((): &()) -> Cow<'_, str> {
        "RayCluster".into()
    }
    fn group((): &()) -> Cow<'_, str> {
        "ray.io".into()
    }
    fn version((): &()) -> Cow<'_, str> {
        "v1".into()
    }
    fn plural((): &()) -> Cow<'_, str> {
        "rayclusters".into()
    }
    fn meta(&self) -> &ObjectMeta {
        &self.meta
    }
    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.meta
    }
}
