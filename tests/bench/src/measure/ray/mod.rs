//! Real Ray on a real node: how long a person waits, and where the time goes.

mod shape;

use std::time::{Duration, Instant};

use anyhow::Context;
use serde_json::{Value, json};

use super::seconds;
use crate::options::Options;
use crate::table::{Row, Table};
use crate::world::{Entry, Model, Moments, OURS, Operator, World, all_ready, cluster, last};

/// Name of our cluster, and of the one in KubeRay's shape.
const NAMES: [&str; 2] = ["bench-ours", "bench-kube"];
/// Workers at first.
const WORKERS: usize = 2;
/// A cold start of Ray on a small, busy machine.
const PATIENCE: Duration = Duration::from_secs(300);

/// What one way of making pods took, seconds.
struct Times {
    cluster: f64,
    cluster_parts: String,
    worker: f64,
    worker_parts: String,
}

/// Measures our way, then KubeRay's.
///
/// # Errors
///
/// The node is not ours to use, or a pod does not become Ready.
pub(crate) async fn measure(options: &Options, table: &mut Table) -> anyhow::Result<()> {
    let world = World::on_node(options).await?;
    let result = tokio::select! {
        result = both(&world, options) => result,
        _ = tokio::signal::ctrl_c() => Err(anyhow::anyhow!("interrupted")),
    };
    world.leave_node().await?;
    let [ours, kuberay] = result?;
    let workers = format!("head + {WORKERS} workers");
    let add = |table: &mut Table, what: &str, ours: (f64, String), kuberay: (f64, String), aim: f64| {
        table.add(Row::new(format!("{what}, KubeRay's shape"), kuberay.0, "s").note(kuberay.1));
        table.add(Row::new(what, ours.0, "s").floor(kuberay.0).note(format!("{}; floor: KubeRay's shape", ours.1)));
        table.add(Row::new(format!("{what}, times KubeRay's shape"), ours.0 / kuberay.0, "×").aim(aim));
    };
    let what = format!("{workers}: apply → ready");
    add(table, &what, (ours.cluster, ours.cluster_parts), (kuberay.cluster, kuberay.cluster_parts), 0.6);
    let what = "one more worker: patch → Ready";
    add(table, what, (ours.worker, ours.worker_parts), (kuberay.worker, kuberay.worker_parts), 0.4);
    Ok(())
}

async fn both(world: &World, options: &Options) -> anyhow::Result<[Times; 2]> {
    let operator = Operator::start(world).await?;
    let (ours, model) = ours(world, options).await?;
    world.clear().await?;
    drop(operator);
    world.delete_all(OURS, "services").await?;
    Ok([ours, kuberay(world, &model).await?])
}

async fn ours(world: &World, options: &Options) -> anyhow::Result<(Times, Model)> {
    let [name, _] = NAMES;
    crate::say("our shape: apply");
    let start = Instant::now();
    world.create(OURS, &[("rayclusters", cluster(name, &options.ray_image, WORKERS))]).await?;
    let ready = world.clusters.until(OURS, "the cluster is ready", PATIENCE, |all| all_ready(all, 1)).await?;
    let cluster_time = seconds(start, last(&ready, |moments| moments.ready));
    let pods = world.pods.of(OURS);
    let cluster_parts = pods.iter().map(|pod| parts(start, pod)).collect::<Vec<_>>().join("; ");
    let model = Model::learn(&world.client, name).await?;

    crate::say("our shape: one more worker");
    let start = Instant::now();
    let groups = cluster(name, &options.ray_image, WORKERS + 1).pointer("/spec/workerGroupSpecs").cloned();
    world.patch_cluster(name, &json!({"spec": {"workerGroupSpecs": groups}})).await?;
    let new = newcomer(world, &pods, "the new worker is Ready").await?;
    let worker = seconds(start, new.moments.ready);
    Ok((Times { cluster: cluster_time, cluster_parts, worker, worker_parts: parts(start, &new) }, model))
}

async fn kuberay(world: &World, model: &Model) -> anyhow::Result<Times> {
    let [_, name] = NAMES;
    let gcs = format!("{name}-head-svc.{OURS}.svc.cluster.local:6379");
    let mut objects = Vec::new();
    for (kind, object) in model.named(name)? {
        let label = object.pointer("/metadata/labels/ray.io~1node-type").and_then(Value::as_str);
        let is_worker = label == Some("worker");
        objects.push((kind, if kind == "pods" { shape::kuberay(object, &gcs, is_worker)? } else { object }));
    }
    crate::say("KubeRay's shape: create");
    let start = Instant::now();
    world.create(OURS, &objects).await?;
    let pods = world.pods.until(OURS, "pods are Ready", PATIENCE, |all| all_ready(all, WORKERS + 1)).await?;
    let cluster = seconds(start, last(&pods, |moments| moments.ready));
    let cluster_parts = pods.iter().map(|pod| parts(start, pod)).collect::<Vec<_>>().join("; ");

    crate::say("KubeRay's shape: one more worker");
    let is_worker = |object: &Value| object.pointer("/spec/initContainers/0").is_some();
    let mut worker = objects.into_iter().find(|(_, object)| is_worker(object)).context("no worker")?;
    if let Some(new) = worker.1.pointer_mut("/metadata/name") {
        *new = json!(format!("{name}-workers-worker-more"));
    }
    let start = Instant::now();
    world.create(OURS, &[worker]).await?;
    let new = newcomer(world, &pods, "the new worker is Ready").await?;
    let worker = seconds(start, new.moments.ready);
    Ok(Times { cluster, cluster_parts, worker, worker_parts: parts(start, &new) })
}

/// Waits until a pod that was not there before is Ready.
async fn newcomer(world: &World, before: &[Entry], what: &str) -> anyhow::Result<Entry> {
    let is_new = |entry: &Entry| before.iter().all(|old| old.facts.name != entry.facts.name);
    let ready = |all: &[Entry]| all.iter().any(|entry| is_new(entry) && entry.facts.ready);
    let entries = world.pods.until(OURS, what, PATIENCE, ready).await?;
    entries.into_iter().find(is_new).context("the new pod is gone")
}

/// Where a pod's time went, seconds since the wish.
fn parts(start: Instant, pod: &Entry) -> String {
    let Moments { created, scheduled, initialized, running, started, ready } = pod.moments;
    let kind = if pod.facts.name.contains("-head") { "head" } else { "worker" };
    let steps = [
        ("created", created),
        ("scheduled", scheduled),
        ("init done", initialized),
        ("running", running),
        ("Ray answers", started),
        ("Ready", ready),
    ];
    let texts = steps.map(|(step, moment)| format!("{step} {:.1}", seconds(start, moment)));
    format!("{kind}: {}", texts.join(", "))
}
