//! `authOptions`: authentication of Ray's own ports.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::de::null_as_default;

/// Authentication of Ray's own ports.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuthOptions {
    /// `token` or `disabled`. Absent does not mean `token`: nothing is switched on then, as in KubeRay.
    #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "String::is_empty")]
    pub mode: String,
    /// Existing Secret whose key `auth_token` holds the token; absent means that one is made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret_name: Option<String>,
    /// `true` lets Kubernetes decide about tokens of service accounts. Needs mode `token` and Ray 2.55.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enable_k8s_token_auth: Option<bool>,
}

/// What [`AuthOptions::mode`] comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AuthMode {
    /// No mode given.
    Unset,
    /// Switched off by the user.
    Disabled,
    /// Token authentication.
    Token,
}

impl AuthOptions {
    /// The mode; anything unknown counts as unset (the rules report it).
    #[must_use]
    pub fn known_mode(&self) -> AuthMode {
        match self.mode.as_str() {
            "token" => AuthMode::Token,
            "disabled" => AuthMode::Disabled,
            _ => AuthMode::Unset,
        }
    }

    /// Whether Kubernetes decides about tokens; absent means no.
    #[must_use]
    pub fn k8s_token_auth(&self) -> bool {
        self.enable_k8s_token_auth.unwrap_or(false)
    }
}
