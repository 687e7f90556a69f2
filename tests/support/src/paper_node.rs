//! A node that exists on paper only, so that pods can be bound.
//!
//! Without the object the controller-manager's pod collector would take bound pods for orphans; without a heartbeat its
//! node controller would soon call the node lost and mark the pods.

use std::path::PathBuf;
use std::time::Duration;

use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::Node;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime;
use kube::Api;
use kube::api::{Patch, PatchParams, PostParams};
use serde_json::json;

use crate::api_cluster::config;

/// Name of the node.
pub const PAPER_NODE: &str = "paper";

const HEARTBEAT: Duration = Duration::from_secs(10);

/// Makes the node and keeps it alive, from a thread of its own that ends with the process.
pub(crate) fn keep_alive(kubeconfig: PathBuf) {
    let (made, wait) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async move {
            let client = kube::Client::try_from(config(&kubeconfig, "paper-node").await).unwrap();
            create(&client).await;
            made.send(()).unwrap();
            // Errors mean that the process and the cluster are ending.
            while heartbeat(&client).await.is_ok() {
                tokio::time::sleep(HEARTBEAT).await;
            }
        });
    });
    wait.recv().expect("the paper node is made");
}

async fn create(client: &kube::Client) {
    let nodes: Api<Node> = Api::all(client.clone());
    let node = serde_json::from_value(json!({"metadata": {"name": PAPER_NODE}})).unwrap();
    nodes.create(&PostParams::default(), &node).await.unwrap();
    let ready = json!({"status": {"conditions": [{
        "type": "Ready", "status": "True", "reason": "KubeletReady", "message": "on paper",
        "lastHeartbeatTime": jiff::Timestamp::now(), "lastTransitionTime": jiff::Timestamp::now()}]}});
    nodes.patch_status(PAPER_NODE, &PatchParams::default(), &Patch::Merge(&ready)).await.unwrap();
}

async fn heartbeat(client: &kube::Client) -> kube::Result<Lease> {
    let leases: Api<Lease> = Api::namespaced(client.clone(), "kube-node-lease");
    let lease = json!({
        "apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": PAPER_NODE},
        "spec": {"holderIdentity": PAPER_NODE, "leaseDurationSeconds": 40,
                 "renewTime": MicroTime(jiff::Timestamp::now())}});
    leases.patch(PAPER_NODE, &PatchParams::apply("paper").force(), &Patch::Apply(&lease)).await
}
