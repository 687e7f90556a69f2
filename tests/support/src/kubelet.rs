//! Plays the kubelet: what it would write about a pod, written by hand.

use std::sync::atomic::{AtomicU32, Ordering};

use jiff::{SignedDuration, Timestamp};
use k8s_openapi::api::core::v1::{Binding, ObjectReference, Pod};
use kube::api::{DeleteParams, Patch, PatchParams, PostParams};
use kube::{Api, Client};
use serde_json::{Value, json};

use crate::paper_node::PAPER_NODE;

/// The kubelet of one namespace. Each call makes one change, as a kubelet would make it.
#[derive(Debug, Clone)]
pub struct Kubelet {
    pods: Api<Pod>,
}

static ADDRESSES: AtomicU32 = AtomicU32::new(1);

impl Kubelet {
    /// For the pods of `namespace`.
    #[must_use]
    pub fn new(client: Client, namespace: &str) -> Self {
        Self { pods: Api::namespaced(client, namespace) }
    }

    /// Binds a pod to the paper node, as the scheduler would. A pod without a node vanishes as soon as it is deleted.
    pub async fn bind(&self, name: &str) {
        let binding = Binding {
            metadata: kube::core::ObjectMeta { name: Some(name.to_owned()), ..kube::core::ObjectMeta::default() },
            target: ObjectReference {
                kind: Some("Node".to_owned()),
                name: Some(PAPER_NODE.to_owned()),
                ..ObjectReference::default()
            },
        };
        let sent: Result<Value, _> =
            self.pods.create_subresource("binding", name, &PostParams::default(), &binding).await;
        sent.unwrap_or_else(|error| panic!("cannot bind {name}: {error}"));
    }

    /// The pod runs and is ready; it is bound first if it is not.
    pub async fn run(&self, name: &str) {
        self.run_since(name, SignedDuration::ZERO).await;
    }

    /// The pod runs and has been ready for `age`.
    pub async fn run_since(&self, name: &str, age: SignedDuration) {
        let pod = self.bound(name).await;
        let since = seconds(Timestamp::now().checked_sub(age).unwrap());
        let state = json!({"running": {"startedAt": since}});
        let ip = pod.status.as_ref().and_then(|status| status.pod_ip.clone()).unwrap_or_else(next_address);
        self.status(&pod, "Running", &ready("True", None, since), &state, json!({"podIP": ip, "podIPs": [{"ip": ip}]}))
            .await;
    }

    /// The pod runs and is not ready.
    pub async fn not_ready(&self, name: &str) {
        let pod = self.bound(name).await;
        let now = seconds(Timestamp::now());
        let ip = pod.status.as_ref().and_then(|status| status.pod_ip.clone()).unwrap_or_else(next_address);
        let ready = ready("False", Some(("ContainersNotReady", "containers with unready status")), now);
        let state = json!({"running": {"startedAt": now}});
        self.status(&pod, "Running", &ready, &state, json!({"podIP": ip, "podIPs": [{"ip": ip}]})).await;
    }

    /// The pod has a node and waits, as for an image: `reason` such as `ImagePullBackOff`.
    pub async fn wait(&self, name: &str, reason: &str, message: &str) {
        let pod = self.bound(name).await;
        let now = seconds(Timestamp::now());
        let ready = ready("False", Some(("ContainersNotReady", "containers with unready status: [ray]")), now);
        let state = json!({"waiting": {"reason": reason, "message": message}});
        self.status(&pod, "Pending", &ready, &state, json!({})).await;
    }

    /// The scheduler finds no node.
    pub async fn unschedulable(&self, name: &str, message: &str) {
        let scheduled = json!([{"type": "PodScheduled", "status": "False", "reason": "Unschedulable",
            "message": message, "lastTransitionTime": seconds(Timestamp::now())}]);
        self.patch(name, &json!({"status": {"conditions": scheduled}})).await;
    }

    /// The pod failed: its containers ended with `exit_code` and nothing restarts them.
    pub async fn fail(&self, name: &str, exit_code: i32) {
        let pod = self.bound(name).await;
        self.end(&pod, "Failed", exit_code, json!({})).await;
    }

    /// The pod ended well.
    pub async fn succeed(&self, name: &str) {
        let pod = self.bound(name).await;
        self.end(&pod, "Succeeded", 0, json!({})).await;
    }

    /// The kubelet evicted the pod.
    pub async fn evict(&self, name: &str) {
        let pod = self.bound(name).await;
        let extra = json!({"reason": "Evicted", "message": "The node was low on resource: memory."});
        self.end(&pod, "Failed", 137, extra).await;
    }

    /// The first container (Ray) ended while the pod goes on.
    pub async fn end_ray_container(&self, name: &str, exit_code: i32) {
        let pod = self.bound(name).await;
        let now = seconds(Timestamp::now());
        let mut containers = statuses(&pod, &json!({"running": {"startedAt": now}}));
        containers[0]["ready"] = json!(false);
        containers[0]["state"] = terminated(exit_code, now);
        let ready = ready("False", Some(("ContainersNotReady", "containers with unready status")), now);
        let status = json!({"phase": "Running", "conditions": ready, "containerStatuses": containers});
        self.patch(name, &json!({"status": status})).await;
    }

    /// The kubelet is done with a pod that was being deleted: the object goes.
    pub async fn finish_deletion(&self, name: &str) {
        let _ = self.pods.delete(name, &DeleteParams::default().grace_period(0)).await;
    }

    async fn end(&self, pod: &Pod, phase: &str, exit_code: i32, extra: Value) {
        let now = seconds(Timestamp::now());
        let reason = if phase == "Succeeded" { "PodCompleted" } else { "PodFailed" };
        self.status(pod, phase, &ready("False", Some((reason, "")), now), &terminated(exit_code, now), extra).await;
    }

    async fn bound(&self, name: &str) -> Pod {
        let pod = self.pods.get(name).await.unwrap_or_else(|error| panic!("no pod {name}: {error}"));
        if pod.spec.as_ref().is_some_and(|spec| spec.node_name.is_some()) {
            return pod;
        }
        self.bind(name).await;
        pod
    }

    async fn status(&self, pod: &Pod, phase: &str, conditions: &Value, state: &Value, extra: Value) {
        let mut status = extra;
        status["phase"] = json!(phase);
        status["conditions"] = conditions.clone();
        status["containerStatuses"] = json!(statuses(pod, state));
        self.patch(pod.metadata.name.as_deref().unwrap(), &json!({"status": status})).await;
    }

    async fn patch(&self, name: &str, patch: &Value) {
        let patched = self.pods.patch_status(name, &PatchParams::default(), &Patch::Merge(patch)).await;
        patched.unwrap_or_else(|error| panic!("cannot write the status of {name}: {error}"));
    }
}

fn ready(status: &str, why: Option<(&str, &str)>, since: Timestamp) -> Value {
    let (reason, message) = why.unwrap_or_default();
    let condition = |kind: &str| json!({"type": kind, "status": status, "reason": reason, "message": message, "lastTransitionTime": since});
    json!([
        {"type": "PodScheduled", "status": "True", "lastTransitionTime": since},
        condition("Ready"),
        condition("ContainersReady"),
    ])
}

fn terminated(exit_code: i32, at: Timestamp) -> Value {
    let reason = match exit_code {
        0 => "Completed",
        137 => "OOMKilled",
        _ => "Error",
    };
    json!({"terminated": {"exitCode": exit_code, "reason": reason, "startedAt": at, "finishedAt": at}})
}

fn statuses(pod: &Pod, state: &Value) -> Vec<Value> {
    let running = state.get("running").is_some();
    let containers = pod.spec.iter().flat_map(|spec| &spec.containers);
    containers
        .map(|container| {
            json!({"name": container.name, "image": container.image, "imageID": "", "ready": running,
                   "started": running, "restartCount": 0, "state": state})
        })
        .collect()
}

fn next_address() -> String {
    let number = ADDRESSES.fetch_add(1, Ordering::Relaxed);
    format!("10.{}.{}.{}", 64 + number / 65536 % 64, number / 256 % 256, number % 256)
}

fn seconds(moment: Timestamp) -> Timestamp {
    Timestamp::from_second(moment.as_second()).unwrap()
}
