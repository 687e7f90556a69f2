//! `headGroupSpec`: the head pod, its Service and its Ingress.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{PodTemplateSpec, Service};
use k8s_openapi::api::networking::v1::IngressTLS;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::de::{null_as_default, service};

/// The head of a cluster.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HeadGroupSpec {
    /// Pod template of the head. Its first container runs Ray.
    #[serde(default, deserialize_with = "null_as_default")]
    pub template: PodTemplateSpec,
    /// Arguments of `ray start`, name without dashes to value. Absent and empty mean the same.
    #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "BTreeMap::is_empty")]
    pub ray_start_params: BTreeMap<String, String>,
    /// Ray's logical resources of the head, name to quantity (`cpu`, `memory` in bytes, `gpu`, custom names). Does not
    /// change the container's resources.
    #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "BTreeMap::is_empty")]
    pub resources: BTreeMap<String, String>,
    /// Ray node labels of the head; put on the pod as well.
    #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    /// Type of the head Service (`ClusterIP`, `NodePort`, `LoadBalancer`, …). Empty means `ClusterIP`, headless.
    #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "String::is_empty")]
    pub service_type: String,
    /// The user's own head Service, taken over with selector and missing ports filled in.
    #[serde(default, deserialize_with = "service", skip_serializing_if = "Option::is_none")]
    pub head_service: Option<Service>,
    /// `true` makes an Ingress (on OpenShift a Route) for the dashboard.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enable_ingress: Option<bool>,
    /// Details of that Ingress.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ingress_options: Option<IngressOptions>,
}

/// Details of the head's Ingress.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct IngressOptions {
    /// Host name the rule is for; absent means every host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// URL path; absent means `/`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// `Exact`, `Prefix` or `ImplementationSpecific`; absent means `Prefix`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_type: Option<String>,
    /// TLS entries, copied to the Ingress.
    #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "Vec::is_empty")]
    pub tls: Vec<IngressTLS>,
}
