//! A cluster that is ready.

use crate::node::kubectl_in;
use crate::{program, shared};

pub(crate) async fn status_conditions_and_columns_say_so() {
    let cluster = shared::cluster().await;
    let status = cluster.ready().await;
    for kind in ["HeadPodReady", "RayClusterProvisioned"] {
        assert!(status.condition_is_true(kind), "{kind}: {:?}", status.conditions);
    }
    for kind in ["ReplicaFailure", "ReconcileFailure", "RayClusterSpecInvalid"] {
        assert!(!status.condition_is_true(kind), "{kind}: {:?}", status.conditions);
    }
    let head = cluster.head().await;
    let told = status.head.clone().expect("status.head");
    assert_eq!(told.pod_name, test_support::name(&head));
    assert_eq!(Some(told.pod_ip), head.status.and_then(|status| status.pod_ip));
    for group in ["small", "large"] {
        let group = status.worker_group(group).expect("a status of each group");
        assert_eq!((group.desired, group.ready, &group.blocked), (Some(1), Some(1), &None));
    }

    let output = kubectl_in(&cluster.namespace, &["get", "raycluster", &cluster.name], None).await;
    let columns = |line: Option<&str>| {
        line.unwrap_or_default()
            .split("  ")
            .map(str::trim)
            .map(str::to_owned)
            .filter(|cell| !cell.is_empty())
            .collect::<Vec<_>>()
    };
    let mut lines = output.stdout.lines();
    let (titles, cells) = (columns(lines.next()), columns(lines.next()));
    assert_eq!(titles, ["NAME", "DESIRED WORKERS", "AVAILABLE WORKERS", "CPUS", "MEMORY", "GPUS", "STATUS", "AGE"]);
    assert_eq!(cells[..7], ["quickstart", "2", "2", "500m", "2Gi", "0", "ready"], "{}", output.stdout);
}

pub(crate) async fn a_program_runs_on_every_node() {
    program::runs_on_every_node(&*shared::cluster().await).await;
}
