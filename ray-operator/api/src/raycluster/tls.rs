//! `tlsOptions`: mutual TLS between Ray processes (feature gate `RayClusterMTLS`).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Mutual TLS with certificates from cert-manager.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TlsOptions {
    /// `true` switches it on; absent means off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
}

impl TlsOptions {
    /// Whether TLS is on; absent means off.
    #[must_use]
    pub fn is_enabled(&self) -> bool {
        self.enabled.unwrap_or(false)
    }
}
