//! A Ray program on a cluster.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use test_support::{name, names, workspace};

use crate::cluster::{Cluster, RAY};
use crate::node::kubectl_in;
use crate::told::tell;
use crate::wait::eventually_within;

/// Runs a task on every Ray node of the cluster. Asserts that these are exactly the cluster's pods.
///
/// Tried again for a while: Ray knows only after some seconds of a node that is gone.
pub(crate) async fn runs_on_every_node(cluster: &Cluster) {
    let start = Instant::now();
    let program = std::fs::read_to_string(workspace().join("ray-operator/deploy/samples/where_am_i.py")).unwrap();
    eventually_within(RAY, "task on every node", async || {
        let head = cluster.head().await;
        let args = ["exec", "-i", name(&head), "-c", "ray-head", "--", "python", "-"];
        let output = kubectl_in(&cluster.namespace, &args, Some(program.clone())).await;
        let ran = output.stdout.lines().filter_map(|line| line.strip_prefix("a task ran on "));
        let ran: BTreeSet<String> = ran.map(str::to_owned).collect();
        let pods = cluster.all_pods().await;
        let wanted: BTreeSet<String> = names(&pods).into_iter().map(str::to_owned).collect();
        if output.success && ran == wanted {
            return Ok(());
        }
        // Each try imports Ray, which costs whoever has yet to start more time than it tells us.
        tokio::time::sleep(Duration::from_secs(2)).await;
        let end: Vec<&str> = output.stderr.lines().rev().take(3).collect();
        Err(format!("tasks ran on {ran:?}, pods are {wanted:?}; {end:?}"))
    })
    .await;
    tell(format_args!("a program ran on every node after {:.1} s", start.elapsed().as_secs_f64()));
}
