//! Writes that bring one cluster up, and how long that takes.

use std::time::{Duration, Instant};

use super::{NO_IMAGE, figure, median, seconds, spread};
use crate::measure::floor;
use crate::table::{Row, Table};
use crate::world::{Model, OURS, Operator, PATIENCE, World, all_ready, by_kind, cluster, last};

/// Clusters, one after the other.
const TIMES: usize = 5;
/// Events come after the state; this is enough for them.
const AFTERWARDS: Duration = Duration::from_millis(1500);

/// Brings clusters up one by one.
///
/// # Errors
///
/// One does not become ready.
pub(crate) async fn measure(
    world: &World,
    operator: &Operator,
    model: &Model,
    table: &mut Table,
) -> anyhow::Result<()> {
    let (mut writes, mut times, mut kinds) = (Vec::new(), Vec::new(), String::new());
    let mut cpu = Vec::new();
    for number in 0..TIMES {
        let name = format!("one{number}");
        let (mark, cpu_before) = (world.audit.mark()?, operator.cpu()?);
        let start = Instant::now();
        world.create(OURS, &[("rayclusters", cluster(&name, NO_IMAGE, 3))]).await?;
        let ready = world.clusters.until(OURS, "one cluster is ready", PATIENCE, |all| all_ready(all, 1)).await?;
        times.push(seconds(start, last(&ready, |moments| moments.ready)));
        tokio::time::sleep(AFTERWARDS).await;
        let requests = world.audit.operator_since(mark)?;
        writes.push(figure(requests.iter().filter(|request| request.is_write()).count()));
        kinds = by_kind(requests.iter());
        cpu.push(operator.cpu()? - cpu_before);
        world.clear().await?;
    }
    let note = format!("last: {kinds}; all: {}", spread(&writes));
    table.add(
        Row::new("requests other than watches, one cluster of 4 pods, apply → ready", median(writes), "")
            .aim(9.0)
            .note(note),
    );
    let floor = floor::run(world, model, 1).await?;
    let note =
        format!("KubeRay 0.19 s; all: {}; CPU {:.0} ms each", spread(&times), cpu.iter().sum::<f64>() / figure(TIMES));
    table.add(Row::new("one cluster, apply → ready", median(times), "s").floor(floor.ready).note(note));
    Ok(())
}
