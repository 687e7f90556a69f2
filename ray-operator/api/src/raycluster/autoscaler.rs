//! `autoscalerOptions`: Ray's autoscaler, run as a sidecar of the head.

use k8s_openapi::api::core::v1::{EnvFromSource, EnvVar, ResourceRequirements, SecurityContext, VolumeMount};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::de::null_as_default;

/// Settings of the autoscaler sidecar.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AutoscalerOptions {
    /// Replaces the sidecar's resources; absent means 500m CPU and 512Mi memory, requests equal to limits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resources: Option<ResourceRequirements>,
    /// Image of the sidecar; absent means the head's Ray image.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
    /// Pull policy of the sidecar; absent means `IfNotPresent`, whatever the head uses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image_pull_policy: Option<String>,
    /// Security context of the sidecar.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub security_context: Option<SecurityContext>,
    /// Environment variables, appended to the sidecar's own.
    #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "Vec::is_empty")]
    pub env: Vec<EnvVar>,
    /// Sources of environment variables, appended.
    #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "Vec::is_empty")]
    pub env_from: Vec<EnvFromSource>,
    /// Volume mounts, appended. The volumes are the head template's.
    #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "Vec::is_empty")]
    pub volume_mounts: Vec<VolumeMount>,
    /// Replaces the sidecar's command if not empty.
    #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
    /// Replaces the sidecar's arguments if not empty.
    #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<String>,
    /// Autoscaler generation, `v1` or `v2`; absent leaves the choice to Ray.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Seconds without work after which the autoscaler removes a worker; absent means Ray's 60.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle_timeout_seconds: Option<i32>,
    /// `Default`, `Aggressive` or `Conservative`; read by the autoscaler alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub upscaling_mode: Option<String>,
}

/// Known values of [`AutoscalerOptions::version`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AutoscalerVersion {
    /// The first autoscaler.
    V1,
    /// The rewritten one.
    V2,
}

impl AutoscalerOptions {
    /// The generation the user asked for, if it is a known one.
    #[must_use]
    pub fn known_version(&self) -> Option<AutoscalerVersion> {
        match self.version.as_deref() {
            Some("v1") => Some(AutoscalerVersion::V1),
            Some("v2") => Some(AutoscalerVersion::V2),
            _ => None,
        }
    }
}
