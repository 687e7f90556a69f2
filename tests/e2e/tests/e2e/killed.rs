//! Pods and Ray processes that end.

use kube::api::DeleteParams;
use test_support::{name, uid};

use crate::cluster::{Cluster, SOON, restarts};
use crate::node::kubectl_in;
use crate::told::tell;
use crate::wait::eventually_within;
use crate::{program, shared};

pub(crate) async fn a_deleted_head_comes_back() {
    let cluster = shared::cluster().await;
    let before = cluster.head().await;
    cluster.pods.delete(name(&before), &DeleteParams::default()).await.unwrap();
    let after = replaced(&cluster, "headgroup", uid(&before)).await;
    assert_ne!(name(&after), name(&before), "names are not used twice");
    program::runs_on_every_node(&cluster).await;
    let status = cluster.ready().await;
    assert_eq!(status.head.map(|head| head.pod_name).as_deref(), Some(name(&after)));
}

pub(crate) async fn a_head_whose_ray_dies_comes_back() {
    let cluster = shared::cluster().await;
    kill_in(&cluster, "headgroup", "ray-head", "gcs_server").await;
    program::runs_on_every_node(&cluster).await;
    cluster.ready().await;
}

pub(crate) async fn a_deleted_worker_comes_back() {
    let cluster = shared::cluster().await;
    let (head, other) = (cluster.head().await, cluster.group("large").await.remove(0));
    let before = cluster.group("small").await.remove(0);
    cluster.pods.delete(name(&before), &DeleteParams::default()).await.unwrap();
    replaced(&cluster, "small", uid(&before)).await;
    cluster.ready().await;
    assert_eq!(uid(&cluster.head().await), uid(&head));
    assert_eq!(uid(&cluster.group("large").await[0]), uid(&other));
    program::runs_on_every_node(&cluster).await;
}

pub(crate) async fn a_worker_whose_ray_dies_comes_back() {
    let cluster = shared::cluster().await;
    kill_in(&cluster, "large", "ray-worker", "raylet").await;
    cluster.ready().await;
    program::runs_on_every_node(&cluster).await;
}

/// Waits until a group of one has another pod than the one with that UID.
async fn replaced(cluster: &Cluster, group: &str, before: &str) -> k8s_openapi::api::core::v1::Pod {
    let new = eventually_within(SOON, "another pod in place of the deleted one", async || {
        let pod = cluster.group(group).await.into_iter().find(|pod| uid(pod) != before);
        match pod {
            Some(pod) => Ok(pod),
            None => Err(cluster.describe().await),
        }
    })
    .await;
    tell(format_args!("{} takes over", name(&new)));
    new
}

/// Kills a process of Ray in the only pod of a group, and waits until the container was started again or the pod replaced.
async fn kill_in(cluster: &Cluster, group: &str, container: &str, process: &str) {
    let before = cluster.group(group).await.remove(0);
    let args = ["exec", name(&before), "-c", container, "--", "pkill", "-KILL", process];
    let output = kubectl_in(&cluster.namespace, &args, None).await;
    assert!(output.success, "{}", output.stderr);
    let how = eventually_within(SOON, "restart of the container, or another pod", async || {
        let pods = cluster.group(group).await;
        let restarted = |pod| restarts(pod) > restarts(&before);
        match pods.iter().find(|pod| uid(*pod) != uid(&before) || restarted(pod)) {
            Some(pod) if uid(pod) == uid(&before) => Ok(format!("{} restarted", name(pod))),
            Some(pod) => Ok(format!("{} replaced", name(pod))),
            None => Err(cluster.describe().await),
        }
    })
    .await;
    tell(how);
}
