//! The floor: a bare client creates the objects the operator would, with as many requests under way, and nobody thinks.

use std::time::{Duration, Instant};

use super::seconds;
use crate::world::{FLOOR, Model, PATIENCE, World, all_ready, last};

/// Seconds until everything was created and until all pods were Ready.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Floor {
    /// Until the last request was answered.
    pub(crate) created: f64,
    /// Until the last pod was Ready.
    pub(crate) ready: f64,
    /// CPU time of the Kubernetes side, milliseconds.
    pub(crate) cpu: f64,
}

/// What is counted beside time goes on a little after the last pod is Ready.
pub(super) const AFTERWARDS: Duration = Duration::from_secs(2);

/// Creates the objects of so many clusters, waits until their pods are Ready, and clears up.
///
/// # Errors
///
/// A request is refused, or pods do not become Ready.
pub(crate) async fn run(world: &World, model: &Model, clusters: usize) -> anyhow::Result<Floor> {
    let named: anyhow::Result<Vec<_>> = (0..clusters).map(|number| model.named(&format!("floor{number:03}"))).collect();
    let objects: Vec<_> = named?.into_iter().flatten().collect();
    let pods = objects.iter().filter(|(kind, _)| *kind == "pods").count();
    let cpu = world.cpu();
    let start = Instant::now();
    world.create(FLOOR, &objects).await?;
    let created = start.elapsed().as_secs_f64();
    let entries = world.pods.until(FLOOR, "pods are Ready", PATIENCE, |pods_there| all_ready(pods_there, pods)).await?;
    let ready = seconds(start, last(&entries, |moments| moments.ready));
    tokio::time::sleep(AFTERWARDS).await;
    let cpu = world.cpu() - cpu;
    for kind in ["pods", "services"] {
        world.delete_all(FLOOR, kind).await?;
    }
    world.until_no_pods(FLOOR).await?;
    Ok(Floor { created, ready, cpu })
}
