//! `historyServerOptions`: ships events and logs to the history server (feature gate `RayClusterHistoryServer`).

use k8s_openapi::api::core::v1::{EnvVar, ResourceRequirements};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::de::null_as_default;

/// What the history server is fed with.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HistoryServerOptions {
    /// The collector sidecar.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub collector_options: Option<CollectorOptions>,
}

/// The sidecar `ray-history-collector` of head and workers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CollectorOptions {
    /// Image of the collector; has to be given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
    /// Pull policy; absent means `IfNotPresent`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image_pull_policy: Option<String>,
    /// Resources; absent means requests 50m CPU and 64Mi memory, limits 200m and 256Mi.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resources: Option<ResourceRequirements>,
    /// Environment: `STORAGE_BACKEND` and what that storage needs.
    #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "Vec::is_empty")]
    pub env: Vec<EnvVar>,
}
