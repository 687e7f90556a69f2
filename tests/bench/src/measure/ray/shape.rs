//! Pods as KubeRay shapes them, made of ours, so that both can be compared without its binary.
//!
//! What differs: KubeRay's readiness and liveness probes wait 10 s and 30 s by configuration and there is no startup
//! probe; every worker, also one that joins a running cluster, waits for the GCS in an init container that starts Ray's own
//! command line for each look, at 0.2 CPU.

use anyhow::Context;
use serde_json::{Value, json};

/// One of our pods as KubeRay would have made it. `gcs` is `host:port` of the head.
///
/// # Errors
///
/// It has no Ray container.
pub(super) fn kuberay(mut pod: Value, gcs: &str, is_worker: bool) -> anyhow::Result<Value> {
    let ray = pod.pointer_mut("/spec/containers/0").and_then(Value::as_object_mut).context("no Ray container")?;
    ray.remove("startupProbe");
    for (probe, delay) in [("livenessProbe", 30), ("readinessProbe", 10)] {
        if let Some(probe) = ray.get_mut(probe).and_then(Value::as_object_mut) {
            probe.insert("initialDelaySeconds".to_owned(), json!(delay));
        }
    }
    let wait = is_worker.then(|| {
        json!({
            "name": "wait-gcs-ready",
            "image": ray.get("image"),
            "command": ["/bin/bash", "-c", "--"],
            "args": [format!("until ray health-check --address {gcs} >/dev/null 2>&1; do sleep 5; done")],
            "resources": {
                "requests": {"cpu": "200m", "memory": "256Mi"},
                "limits": {"cpu": "200m", "memory": "256Mi"},
            },
        })
    });
    let spec = pod.pointer_mut("/spec").and_then(Value::as_object_mut).context("no spec")?;
    spec.insert("initContainers".to_owned(), wait.into_iter().collect());
    Ok(pod)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_wait_in_an_init_container_and_probes_are_late() {
        let ours = json!({"spec": {"containers": [{
            "image": "ray", "startupProbe": {}, "livenessProbe": {"periodSeconds": 5}, "readinessProbe": {}}]}});
        let pod = kuberay(ours.clone(), "head:6379", true).unwrap();
        let ray = &pod["spec"]["containers"][0];
        assert_eq!(ray["livenessProbe"], json!({"periodSeconds": 5, "initialDelaySeconds": 30}));
        assert_eq!(ray["readinessProbe"], json!({"initialDelaySeconds": 10}));
        assert!(ray.get("startupProbe").is_none());
        let script = pod["spec"]["initContainers"][0]["args"][0].as_str().unwrap();
        assert!(script.contains("ray health-check --address head:6379"));
        assert_eq!(kuberay(ours, "head:6379", false).unwrap()["spec"]["initContainers"], json!([]));
    }
}
