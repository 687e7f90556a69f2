//! `status`: what the operator saw. KubeRay's fields, then ours (`headLastOrdinal`, `headFailures`, `workerGroups`).

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::de::null_as_default;

/// The observed cluster. All worker numbers are pods, not replicas.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RayClusterStatus {
    /// `ready`, `suspended` or empty. Deprecated by KubeRay in favour of `conditions`, still kept.
    #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "String::is_empty")]
    pub state: String,
    /// Always empty in KubeRay; kept for its clients.
    #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// CPUs of all wanted pods.
    #[serde(rename = "desiredCPU", default, skip_serializing_if = "Option::is_none")]
    pub desired_cpu: Option<Quantity>,
    /// Memory of all wanted pods, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub desired_memory: Option<Quantity>,
    /// GPUs of all wanted pods.
    #[serde(rename = "desiredGPU", default, skip_serializing_if = "Option::is_none")]
    pub desired_gpu: Option<Quantity>,
    /// TPU chips of all wanted pods.
    #[serde(rename = "desiredTPU", default, skip_serializing_if = "Option::is_none")]
    pub desired_tpu: Option<Quantity>,
    /// Wanted worker pods.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub desired_worker_replicas: Option<i32>,
    /// Least number of worker pods.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_worker_replicas: Option<i32>,
    /// Greatest number of worker pods.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_worker_replicas: Option<i32>,
    /// Worker pods that are running and ready.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ready_worker_replicas: Option<i32>,
    /// Worker pods that are running.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub available_worker_replicas: Option<i32>,
    /// When this status was last computed and written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_update_time: Option<Time>,
    /// State to the time at which it was entered last.
    #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "BTreeMap::is_empty")]
    pub state_transition_times: BTreeMap<String, Time>,
    /// Port name of the head Service to port number or name, as text.
    #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "BTreeMap::is_empty")]
    pub endpoints: BTreeMap<String, String>,
    /// The head pod and its Service.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<HeadInfo>,
    /// Conditions, one of each type.
    #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
    /// Generation of the object this status was computed from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// Highest number a head pod's name was ever made from. Names count on from here and are never used twice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head_last_ordinal: Option<i64>,
    /// Heads that failed in a row; spaces out replacements.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head_failures: Option<Failures>,
    /// One entry for each worker group.
    #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "Vec::is_empty")]
    pub worker_groups: Vec<WorkerGroupStatus>,
}

impl RayClusterStatus {
    /// The entry of that group.
    #[must_use]
    pub fn worker_group(&self, name: &str) -> Option<&WorkerGroupStatus> {
        self.worker_groups.iter().find(|group| group.name == name)
    }

    /// The condition of that type.
    #[must_use]
    pub fn condition(&self, type_: &str) -> Option<&Condition> {
        self.conditions.iter().find(|condition| condition.type_ == type_)
    }
}

/// Values of [`RayClusterStatus::state`], as KubeRay writes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClusterState {
    /// All wanted pods have been running at once.
    Ready,
    /// Suspended, and no pod is left.
    Suspended,
    /// Known to clients; never written.
    Failed,
}

impl ClusterState {
    /// The text in the status.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ready => "ready",
            Self::Suspended => "suspended",
            Self::Failed => "failed",
        }
    }
}

/// Where the head is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HeadInfo {
    /// IP of the head pod.
    #[serde(rename = "podIP", default, deserialize_with = "null_as_default", skip_serializing_if = "String::is_empty")]
    pub pod_ip: String,
    /// Name of the head pod.
    #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "String::is_empty")]
    pub pod_name: String,
    /// Cluster IP of the head Service; for a headless one the head pod's IP.
    #[serde(
        rename = "serviceIP",
        default,
        deserialize_with = "null_as_default",
        skip_serializing_if = "String::is_empty"
    )]
    pub service_ip: String,
    /// Name of the head Service.
    #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "String::is_empty")]
    pub service_name: String,
}

/// One worker group as observed. Not in KubeRay.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkerGroupStatus {
    /// Name of the group.
    #[serde(default, deserialize_with = "null_as_default")]
    pub name: String,
    /// Wanted pods.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub desired: Option<i32>,
    /// Pods that exist and are not on their way out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created: Option<i32>,
    /// Those of them that are running and ready.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ready: Option<i32>,
    /// Highest number a pod name of the group was ever made from. Names count on from here and are never used twice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_ordinal: Option<i64>,
    /// Entries of `workersToDelete` that name no worker of this group, and why.
    #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "Vec::is_empty")]
    pub unknown_workers_to_delete: Vec<UnknownWorkerToDelete>,
    /// Why the group cannot reach its wanted size; absent if nothing is in the way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocked: Option<Blocked>,
    /// Workers that failed in a row; spaces out replacements.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failures: Option<Failures>,
}

/// An entry of `workersToDelete` that was not acted on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UnknownWorkerToDelete {
    /// The name as given.
    #[serde(default, deserialize_with = "null_as_default")]
    pub name: String,
    /// Why it was not acted on, in one word.
    #[serde(default, deserialize_with = "null_as_default")]
    pub reason: String,
}

/// Something in the way of a group.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Blocked {
    /// In one word, for machines.
    #[serde(default, deserialize_with = "null_as_default")]
    pub reason: String,
    /// For people.
    #[serde(default, deserialize_with = "null_as_default")]
    pub message: String,
    /// Since when.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<Time>,
}

/// Pods that failed in a row.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Failures {
    /// How many.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<i32>,
    /// When the last one failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_time: Option<Time>,
}
