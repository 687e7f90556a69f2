//! Bounds, defaults, enumerations and list keys of our own fields.
//!
//! Everything the schema itself can say is said here and not in CEL: it costs nothing and the API server names the
//! field. The bounds on sizes are there for the CEL rules as well, whose cost the API server estimates from them.

use serde_json::{Value, json};

use super::{CrdError, path};
use crate::raycluster::DEFAULT_MAX_REPLICAS;

/// Most worker groups of a cluster. No cluster comes near it: the object would be too large for etcd first.
pub const MAX_WORKER_GROUPS: u32 = 1000;
/// Longest group name: it is a label value.
pub const MAX_GROUP_NAME: u32 = 63;
/// Most names in `workersToDelete` of one group.
const MAX_WORKERS_TO_DELETE: u32 = 20_000;
/// Longest pod name.
const MAX_POD_NAME: u32 = 253;

/// A label's value, as Kubernetes has it.
const LABEL_VALUE: &str = "^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$";
/// Names of condition types, as Kubernetes' own definitions have them.
const CONDITION_TYPE: &str =
    r"^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$";
/// Reasons of conditions.
const CONDITION_REASON: &str = "^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$";

/// List keys, required fields and defaults, which all versions share because one object is written through all.
///
/// # Errors
/// [`CrdError::NoSuchField`] if a path does not exist.
pub(super) fn apply_structure(root: &mut Value) -> Result<(), CrdError> {
    apply(root, structure())
}

/// Bounds, patterns and enumerations of `v1`.
///
/// # Errors
/// [`CrdError::NoSuchField`] if a path does not exist.
pub(super) fn apply_bounds(root: &mut Value) -> Result<(), CrdError> {
    apply(root, spec())?;
    apply(root, status())
}

fn apply(root: &mut Value, limits: Vec<(&'static str, Value)>) -> Result<(), CrdError> {
    for (at, keywords) in limits {
        if let Value::Object(keywords) = keywords {
            path::at(root, at)?.extend(keywords);
        }
    }
    Ok(())
}

fn structure() -> Vec<(&'static str, Value)> {
    vec![
        (
            "spec.workerGroupSpecs",
            json!({"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["groupName"]}),
        ),
        ("status.conditions", json!({"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"]})),
        ("status.workerGroups", json!({"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]})),
        ("status.workerGroups[]", json!({"required": ["name"]})),
        // The only field of ours that may be null, as in KubeRay.
        ("status.lastUpdateTime", json!({"nullable": true})),
        ("spec.workerGroupSpecs[].replicas", json!({"default": 0})),
        ("spec.workerGroupSpecs[].minReplicas", json!({"default": 0})),
        ("spec.workerGroupSpecs[].maxReplicas", json!({"default": DEFAULT_MAX_REPLICAS})),
        ("spec.workerGroupSpecs[]", json!({"required": ["groupName", "maxReplicas", "minReplicas", "template"]})),
        ("spec.headGroupSpec", json!({"required": ["template"]})),
        ("spec", json!({"required": ["headGroupSpec"]})),
        (
            "spec.autoscalerOptions.env",
            json!({"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]}),
        ),
        (
            "spec.autoscalerOptions.volumeMounts",
            json!({"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["mountPath"]}),
        ),
        (
            "spec.historyServerOptions.collectorOptions.env",
            json!({"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]}),
        ),
        ("spec.networkPolicy.workerGroups[]", json!({"required": ["groupName"]})),
        ("spec.workerGroupSpecs[].priority", json!({"default": 0})),
        (
            "spec.networkPolicy.workerGroups",
            json!({"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["groupName"]}),
        ),
        ("spec.workerGroupSpecs[].numOfHosts", json!({"default": 1})),
    ]
}

fn spec() -> Vec<(&'static str, Value)> {
    let not_negative = json!({"minimum": 0});
    vec![
        ("spec.workerGroupSpecs", json!({"maxItems": MAX_WORKER_GROUPS})),
        ("spec.workerGroupSpecs[].groupName", json!({"minLength": 1, "maxLength": MAX_GROUP_NAME})),
        ("spec.workerGroupSpecs[].replicas", not_negative.clone()),
        ("spec.workerGroupSpecs[].minReplicas", not_negative.clone()),
        ("spec.workerGroupSpecs[].maxReplicas", not_negative.clone()),
        ("spec.workerGroupSpecs[].numOfHosts", json!({"minimum": 1})),
        ("spec.workerGroupSpecs[].idleTimeoutSeconds", not_negative.clone()),
        ("spec.workerGroupSpecs[].scaleStrategy.workersToDelete", json!({"maxItems": MAX_WORKERS_TO_DELETE})),
        ("spec.workerGroupSpecs[].scaleStrategy.workersToDelete[]", json!({"maxLength": MAX_POD_NAME})),
        ("spec.workerGroupSpecs[].labels{}", json!({"maxLength": 63, "pattern": LABEL_VALUE})),
        ("spec.headGroupSpec.labels{}", json!({"maxLength": 63, "pattern": LABEL_VALUE})),
        ("spec.headGroupSpec.ingressOptions.pathType", json!({"enum": ["Exact", "Prefix", "ImplementationSpecific"]})),
        ("spec.managedBy", json!({"maxLength": 63})),
        ("spec.rayVersion", json!({"maxLength": 128})),
        ("spec.upgradeStrategy.type", json!({"enum": ["Recreate", "None"]})),
        ("spec.authOptions.mode", json!({"enum": ["disabled", "token"]})),
        ("spec.autoscalerOptions.version", json!({"enum": ["v1", "v2"]})),
        ("spec.autoscalerOptions.upscalingMode", json!({"enum": ["Default", "Aggressive", "Conservative"]})),
        ("spec.autoscalerOptions.idleTimeoutSeconds", not_negative),
        ("spec.gcsFaultToleranceOptions.backend", json!({"enum": ["redis", "rocksdb"]})),
        ("spec.gcsFaultToleranceOptions.storage.deletionPolicy", json!({"enum": ["DeleteWithCluster", "Retain"]})),
        ("spec.networkPolicy.mode", json!({"enum": ["DenyAll", "DenyAllIngress", "DenyAllEgress"]})),
        ("spec.networkPolicy.workerGroups", json!({"maxItems": MAX_WORKER_GROUPS})),
        ("spec.networkPolicy.workerGroups[].groupName", json!({"minLength": 1, "maxLength": MAX_GROUP_NAME})),
        ("spec.historyServerOptions", json!({"required": ["collectorOptions"]})),
        ("spec.historyServerOptions.collectorOptions", json!({"required": ["image"]})),
        ("spec.historyServerOptions.collectorOptions.image", json!({"minLength": 1})),
    ]
}

fn status() -> Vec<(&'static str, Value)> {
    vec![
        ("status.conditions[].type", json!({"maxLength": 316, "pattern": CONDITION_TYPE})),
        ("status.conditions[].status", json!({"enum": ["True", "False", "Unknown"]})),
        ("status.conditions[].reason", json!({"minLength": 1, "maxLength": 1024, "pattern": CONDITION_REASON})),
        ("status.conditions[].message", json!({"maxLength": 32768})),
        ("status.conditions[].observedGeneration", json!({"minimum": 0})),
        ("status.workerGroups[].unknownWorkersToDelete[]", json!({"required": ["name", "reason"]})),
        ("status.workerGroups[].blocked", json!({"required": ["reason", "message"]})),
    ]
}
