//! `workerGroupSpecs[]`: groups of equal worker pods.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::PodTemplateSpec;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::de::null_as_default;

/// CRD default of `maxReplicas` (KubeRay: the largest int32).
pub const DEFAULT_MAX_REPLICAS: i32 = i32::MAX;

/// A group of equal workers. The unit of scale is a *replica*: `numOfHosts` pods that live and die together.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkerGroupSpec {
    /// Name of the group, unique in the cluster. Part of pod names and the value of the label `ray.io/group`.
    #[serde(default, deserialize_with = "null_as_default")]
    pub group_name: String,
    /// Wanted replicas (not pods). Kept between `minReplicas` and `maxReplicas`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replicas: Option<i32>,
    /// Least number of replicas.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_replicas: Option<i32>,
    /// Greatest number of replicas.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_replicas: Option<i32>,
    /// Pods of one replica, for accelerators that span several hosts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub num_of_hosts: Option<i32>,
    /// Seconds without work after which Ray's autoscaler (version 2 only) removes a worker of this group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle_timeout_seconds: Option<i32>,
    /// Rank among groups that fit a demand equally well; the greatest is scaled first. Read by Ray's autoscaler version
    /// 2 from Ray 2.56 on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<i32>,
    /// `true` deletes the group's pods. Set by RayJob's deletion rules, not meant for users.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suspend: Option<bool>,
    /// Which workers an autoscaler has chosen to go.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scale_strategy: Option<ScaleStrategy>,
    /// Arguments of `ray start`, name without dashes to value. Absent and empty mean the same.
    #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "BTreeMap::is_empty")]
    pub ray_start_params: BTreeMap<String, String>,
    /// Ray's logical resources of one worker, name to quantity (`cpu`, `memory` in bytes, `gpu`, custom names). Does
    /// not change the container's resources.
    #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "BTreeMap::is_empty")]
    pub resources: BTreeMap<String, String>,
    /// Ray node labels of the workers; put on the pods as well.
    #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    /// Pod template of the workers. Its first container runs Ray.
    #[serde(default, deserialize_with = "null_as_default")]
    pub template: PodTemplateSpec,
}

impl WorkerGroupSpec {
    /// `minReplicas` in replicas; absent means the CRD default 0.
    #[must_use]
    pub fn effective_min_replicas(&self) -> i32 {
        self.min_replicas.unwrap_or(0)
    }

    /// `maxReplicas` in replicas; absent means the CRD default [`DEFAULT_MAX_REPLICAS`].
    #[must_use]
    pub fn effective_max_replicas(&self) -> i32 {
        self.max_replicas.unwrap_or(DEFAULT_MAX_REPLICAS)
    }

    /// Wanted replicas within the bounds. Absent `replicas` means `minReplicas` (as in KubeRay), never zero by itself.
    /// When the bounds contradict each other the upper one wins, as in KubeRay.
    #[must_use]
    pub fn effective_replicas(&self) -> i32 {
        let min = self.effective_min_replicas();
        self.replicas.unwrap_or(min).max(min).min(self.effective_max_replicas())
    }

    /// Pods of one replica; absent means 1, and so does anything below 1.
    #[must_use]
    pub fn effective_num_of_hosts(&self) -> i32 {
        self.num_of_hosts.unwrap_or(1).max(1)
    }

    /// Whether the group is suspended; absent means no.
    #[must_use]
    pub fn suspended(&self) -> bool {
        self.suspend.unwrap_or(false)
    }

    /// Names of pods an autoscaler wants gone.
    #[must_use]
    pub fn workers_to_delete(&self) -> &[String] {
        self.scale_strategy.as_ref().map_or(&[], |strategy| &strategy.workers_to_delete)
    }
}

/// Which workers an autoscaler has chosen to go. The operator reads it and never writes it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ScaleStrategy {
    /// Names of pods of this group.
    #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "Vec::is_empty")]
    pub workers_to_delete: Vec<String>,
}
