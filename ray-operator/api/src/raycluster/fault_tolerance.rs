//! `gcsFaultToleranceOptions`: where the head's state lives so that it outlasts the head pod.

use k8s_openapi::api::core::v1::EnvVarSource;
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::de::null_as_default;

/// Storage of the head's state (Ray's GCS): an external Redis, or a volume with RocksDB.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GcsFaultToleranceOptions {
    /// `redis` or `rocksdb`; absent means `redis`. Cannot be changed.
    #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "String::is_empty")]
    pub backend: String,
    /// Address of the Redis, for example `redis:6379`. Only with `redis`.
    #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "String::is_empty")]
    pub redis_address: String,
    /// User name at the Redis. Only with `redis`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redis_username: Option<RedisCredential>,
    /// Password at the Redis. Only with `redis`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redis_password: Option<RedisCredential>,
    /// Prefix of this cluster's keys in the Redis; absent means the object's UID. Only with `redis`.
    #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "String::is_empty")]
    pub external_storage_namespace: String,
    /// The volume. Only with `rocksdb`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub storage: Option<GcsStorageOptions>,
}

/// Known values of [`GcsFaultToleranceOptions::backend`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GcsBackend {
    /// A Redis outside the cluster.
    Redis,
    /// RocksDB on a volume of the head.
    RocksDb,
}

impl GcsFaultToleranceOptions {
    /// The backend in use; an empty one is Redis.
    ///
    /// # Errors
    /// The unknown value.
    pub fn effective_backend(&self) -> Result<GcsBackend, &str> {
        match self.backend.as_str() {
            "" | "redis" => Ok(GcsBackend::Redis),
            "rocksdb" => Ok(GcsBackend::RocksDb),
            other => Err(other),
        }
    }
}

/// A credential, written out or taken from elsewhere. With both, `value` wins where it is not empty.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RedisCredential {
    /// The text itself.
    #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "String::is_empty")]
    pub value: String,
    /// Where the text comes from, as in a container's environment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value_from: Option<EnvVarSource>,
}

/// The volume of the RocksDB backend: an existing claim, or the properties of one to be made.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GcsStorageOptions {
    /// Name of an existing PersistentVolumeClaim. Excludes `size`, `storageClassName` and `accessModes`.
    #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "String::is_empty")]
    pub claim_name: String,
    /// Size of the claim to make, in bytes; absent means `1Gi`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<Quantity>,
    /// Storage class of the claim to make; absent means the cluster's default class.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub storage_class_name: Option<String>,
    /// Access modes of the claim to make; empty means `ReadWriteOnce`.
    #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "Vec::is_empty")]
    pub access_modes: Vec<String>,
    /// Directory inside the volume; empty means its root.
    #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "String::is_empty")]
    pub sub_path: String,
    /// `DeleteWithCluster` or `Retain`; absent means the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deletion_policy: Option<String>,
}
