//! A small change that comes a second after a very large one.

use std::time::{Duration, Instant};

use jiff::Timestamp;
use serde_json::json;

use super::{NO_IMAGE, seconds};
use crate::table::{Row, Table};
use crate::world::{Entry, FLOOR, Model, OURS, Operator, PATIENCE, World, cluster, last};

/// Pods that the large cluster asks for.
const MANY: usize = 500;
/// Pods that the small one asks for.
const FEW: usize = 2;

/// Asks for many pods in one cluster and, a second later, for a few in another.
///
/// # Errors
///
/// They do not come.
pub(crate) async fn measure(
    world: &World,
    operator: &Operator,
    model: &Model,
    table: &mut Table,
) -> anyhow::Result<()> {
    let (large, small) = ("large", "small");
    let clusters = [large, small].map(|name| ("rayclusters", cluster(name, NO_IMAGE, 0)));
    world.create(OURS, &clusters).await?;
    let floor = model.named("beside")?;
    let both = |entries: &[Entry]| {
        [large, small].iter().all(|name| entries.iter().any(|e| e.facts.name == *name && e.facts.ready))
    };
    world.clusters.until(OURS, "two clusters are ready", PATIENCE, both).await?;
    tokio::time::sleep(super::SETTLE).await;

    operator.forget_peak()?;
    let start = Instant::now();
    world.patch_cluster(large, &scale(MANY)).await?;
    tokio::time::sleep(Duration::from_secs(1)).await;
    let before = world.pods.of(OURS).iter().filter(|entry| entry.facts.cluster == large).count();
    let mark = world.audit.mark()?;
    let (patched, patched_at) = (Instant::now(), Timestamp::now());
    world.patch_cluster(small, &scale(FEW)).await?;
    let workers = |entries: &[Entry], of: &str| -> Vec<Entry> {
        let worker = format!("{of}-workers-");
        entries.iter().filter(|e| e.facts.cluster == of && e.facts.name.starts_with(&worker)).cloned().collect()
    };
    // What a bare client takes for the same at the same moment: a patch was just answered, two pods are created.
    let answered = patched.elapsed().as_secs_f64();
    let pods: Vec<_> = floor.into_iter().filter(|(kind, _)| *kind == "pods").take(FEW).collect();
    world.create(FLOOR, &pods).await?;
    let bare = patched.elapsed().as_secs_f64();
    let ready = |of: &'static str, count: usize| {
        move |entries: &[Entry]| {
            let workers = workers(entries, of);
            workers.len() >= count && workers.iter().all(|worker| worker.facts.ready)
        }
    };
    let entries = world.pods.until(OURS, "the small cluster's pods are Ready", PATIENCE, ready(small, FEW)).await?;
    let few = workers(&entries, small);
    let created = seconds(patched, last(&few, |moments| moments.created));
    let requests = world.audit.operator_since(mark)?;
    let names = requests.iter().filter(|r| r.verb == "create" && few.iter().any(|pod| pod.facts.name == r.name));
    let logged = names.map(|r| r.answered.duration_since(patched_at).as_secs_f64()).fold(f64::NAN, f64::max);
    let note = format!(
        "by the server's log after {logged:.3} s; the patch itself took {answered:.3} s; floor: as long, and two pods \
         from a bare client at the same time; {before} of {MANY} pods of the large one were there at the patch; KubeRay 11–13 s"
    );
    table.add(Row::new("0 → 2 behind 0 → 500 of another: created", created, "s").aim(0.3).floor(bare).note(note));
    let ready_after = seconds(patched, last(&few, |moments| moments.ready));
    let note = "the scheduler takes pods in their order".to_owned();
    table.add(Row::new("0 → 2 behind 0 → 500 of another: Ready", ready_after, "s").note(note));
    let entries = world.pods.until(OURS, "the large cluster's pods are Ready", PATIENCE, ready(large, MANY)).await?;
    let many = workers(&entries, large);
    let note = format!("peak memory {:.1} MiB", operator.memory()?.peak);
    table.add(Row::new("0 → 500 of one cluster: created", seconds(start, last(&many, |m| m.created)), "s").note(note));
    world.delete_all(FLOOR, "pods").await?;
    for name in [large, small] {
        world.delete_cluster(name).await?;
    }
    let gone = |entries: &[Entry]| !entries.iter().any(|e| [large, small].contains(&e.facts.cluster.as_str()));
    world.pods.until(OURS, "their pods are gone", PATIENCE, gone).await?;
    Ok(())
}

fn scale(replicas: usize) -> serde_json::Value {
    // A merge patch replaces the whole list.
    let groups = cluster("", NO_IMAGE, replicas).pointer("/spec/workerGroupSpecs").cloned();
    json!({"spec": {"workerGroupSpecs": groups}})
}
