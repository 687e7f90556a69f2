//! `spec`: everything the user says about a cluster.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    AuthOptions, AutoscalerOptions, GcsFaultToleranceOptions, HeadGroupSpec, HistoryServerOptions,
    NetworkPolicyOptions, TlsOptions, WorkerGroupSpec,
};
use crate::de::null_as_default;

/// The wanted cluster.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RayClusterSpec {
    /// The one head pod, its Service and its Ingress.
    #[serde(default, deserialize_with = "null_as_default")]
    pub head_group_spec: HeadGroupSpec,
    /// Worker groups; each name occurs once.
    #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "Vec::is_empty")]
    pub worker_group_specs: Vec<WorkerGroupSpec>,
    /// Ray version in the images, for example `2.53.0`. Decides about probes and is checked against features that need
    /// a newer Ray. Empty means unknown.
    #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "String::is_empty")]
    pub ray_version: String,
    /// `true` deletes all pods and keeps everything else; `false` or absent runs the cluster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suspend: Option<bool>,
    /// Who acts on this object: absent or `ray.io/kuberay-operator` means this operator, `kueue.x-k8s.io/multikueue`
    /// means it is left alone. Cannot be changed once set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub managed_by: Option<String>,
    /// `true` runs Ray's autoscaler beside the head; it then writes `replicas` and `scaleStrategy` of the groups.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enable_in_tree_autoscaling: Option<bool>,
    /// Settings of that autoscaler.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub autoscaler_options: Option<AutoscalerOptions>,
    /// Annotations that the head Service gets when it is created.
    #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "BTreeMap::is_empty")]
    pub head_service_annotations: BTreeMap<String, String>,
    /// Keeps the head's state (GCS) outside the head pod, so that a new head carries on. Presence switches it on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gcs_fault_tolerance_options: Option<GcsFaultToleranceOptions>,
    /// Authentication of Ray's own ports.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auth_options: Option<AuthOptions>,
    /// What happens to running pods when the spec changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub upgrade_strategy: Option<UpgradeStrategy>,
    /// NetworkPolicies around the cluster. Needs the feature gate `RayClusterNetworkPolicy`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network_policy: Option<NetworkPolicyOptions>,
    /// Mutual TLS between Ray processes. Needs the feature gate `RayClusterMTLS`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tls_options: Option<TlsOptions>,
    /// Ships events and logs to the history server. Needs the feature gate `RayClusterHistoryServer`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub history_server_options: Option<HistoryServerOptions>,
}

impl RayClusterSpec {
    /// Whether Ray's own autoscaler is on; absent means off.
    #[must_use]
    pub fn autoscaling_enabled(&self) -> bool {
        self.enable_in_tree_autoscaling.unwrap_or(false)
    }

    /// Whether the user wants the cluster suspended; absent means no.
    #[must_use]
    pub fn suspended(&self) -> bool {
        self.suspend.unwrap_or(false)
    }

    /// The group of that name.
    #[must_use]
    pub fn worker_group(&self, name: &str) -> Option<&WorkerGroupSpec> {
        self.worker_group_specs.iter().find(|group| group.group_name == name)
    }
}

/// What happens to running pods when the spec changes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UpgradeStrategy {
    /// `Recreate` replaces all pods when something other than the scale changed; `None` leaves running pods alone.
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
    pub type_: Option<String>,
}

/// Known values of [`UpgradeStrategy::type_`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UpgradeType {
    /// All pods are deleted and made anew.
    Recreate,
    /// Running pods stay as they are.
    None,
}

impl UpgradeStrategy {
    /// The known strategy, or `Err` with the text that is none. An absent type is [`UpgradeType::None`].
    ///
    /// # Errors
    /// The unknown value.
    pub fn effective_type(&self) -> Result<UpgradeType, &str> {
        match self.type_.as_deref() {
            Some("Recreate") => Ok(UpgradeType::Recreate),
            Some("None") | None => Ok(UpgradeType::None),
            Some(other) => Err(other),
        }
    }
}
