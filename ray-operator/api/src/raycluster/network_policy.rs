//! `networkPolicy`: NetworkPolicies around head and groups (feature gate `RayClusterNetworkPolicy`).

use k8s_openapi::api::networking::v1::{NetworkPolicyEgressRule, NetworkPolicyIngressRule};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::de::null_as_default;

/// Which traffic is denied, and what is let through beyond traffic inside the cluster.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NetworkPolicyOptions {
    /// `DenyAll`, `DenyAllIngress` or `DenyAllEgress`; absent means `DenyAll`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    /// What the head may do in addition.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<NetworkPolicyRules>,
    /// What workers may do in addition, unless their group has an entry of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worker: Option<NetworkPolicyRules>,
    /// Rules of single groups; an entry replaces `worker` for its group.
    #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "Vec::is_empty")]
    pub worker_groups: Vec<WorkerGroupNetworkPolicy>,
}

/// Traffic let through.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NetworkPolicyRules {
    /// Incoming traffic.
    #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "Vec::is_empty")]
    pub ingress_rules: Vec<NetworkPolicyIngressRule>,
    /// Outgoing traffic.
    #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "Vec::is_empty")]
    pub egress_rules: Vec<NetworkPolicyEgressRule>,
}

/// Traffic let through for one worker group.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkerGroupNetworkPolicy {
    /// The group.
    #[serde(default, deserialize_with = "null_as_default")]
    pub group_name: String,
    /// Incoming traffic.
    #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "Vec::is_empty")]
    pub ingress_rules: Vec<NetworkPolicyIngressRule>,
    /// Outgoing traffic.
    #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "Vec::is_empty")]
    pub egress_rules: Vec<NetworkPolicyEgressRule>,
}

/// Known values of [`NetworkPolicyOptions::mode`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NetworkPolicyMode {
    /// Both directions are denied.
    DenyAll,
    /// Incoming traffic is denied.
    DenyAllIngress,
    /// Outgoing traffic is denied.
    DenyAllEgress,
}

impl NetworkPolicyMode {
    /// Whether incoming traffic is restricted.
    #[must_use]
    pub fn denies_ingress(self) -> bool {
        matches!(self, Self::DenyAll | Self::DenyAllIngress)
    }

    /// Whether outgoing traffic is restricted.
    #[must_use]
    pub fn denies_egress(self) -> bool {
        matches!(self, Self::DenyAll | Self::DenyAllEgress)
    }
}

impl NetworkPolicyOptions {
    /// The mode; an absent one is [`NetworkPolicyMode::DenyAll`].
    ///
    /// # Errors
    /// The unknown value.
    pub fn effective_mode(&self) -> Result<NetworkPolicyMode, &str> {
        match self.mode.as_deref() {
            None | Some("DenyAll") => Ok(NetworkPolicyMode::DenyAll),
            Some("DenyAllIngress") => Ok(NetworkPolicyMode::DenyAllIngress),
            Some("DenyAllEgress") => Ok(NetworkPolicyMode::DenyAllEgress),
            Some(other) => Err(other),
        }
    }
}
