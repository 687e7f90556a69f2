//! What `kubectl get rayclusters` prints; KubeRay's columns, in its order.

use serde_json::{Value, json};

/// Printer columns of `RayCluster`, the same in all versions. Priority 1 shows with `-o wide` only.
#[must_use]
pub fn ray_cluster() -> Value {
    json!([
        {"name": "desired workers", "type": "integer", "jsonPath": ".status.desiredWorkerReplicas"},
        {"name": "available workers", "type": "integer", "jsonPath": ".status.availableWorkerReplicas"},
        {"name": "cpus", "type": "string", "jsonPath": ".status.desiredCPU"},
        {"name": "memory", "type": "string", "jsonPath": ".status.desiredMemory"},
        {"name": "gpus", "type": "string", "jsonPath": ".status.desiredGPU"},
        {"name": "tpus", "type": "string", "jsonPath": ".status.desiredTPU", "priority": 1},
        {"name": "status", "type": "string", "jsonPath": ".status.state"},
        {"name": "age", "type": "date", "jsonPath": ".metadata.creationTimestamp"},
        {"name": "head pod IP", "type": "string", "jsonPath": ".status.head.podIP", "priority": 1},
        {"name": "head service IP", "type": "string", "jsonPath": ".status.head.serviceIP", "priority": 1},
    ])
}
