//! Many clusters at once.

use std::time::Instant;

use super::floor::{self, AFTERWARDS, Floor};
use super::{NO_IMAGE, SETTLE, figure, median, seconds, spread};
use crate::table::{Row, Table};
use crate::world::{Model, OURS, Operator, PATIENCE, World, all_ready, by_kind, cluster, last};

/// Pods of one cluster.
const PODS: usize = 4;

/// What one round showed.
#[derive(Debug)]
struct Round {
    floor: Floor,
    ready: f64,
    pods_created: f64,
    pods_ready: f64,
    cpu: f64,
    /// CPU time of the Kubernetes side, milliseconds.
    kubernetes: f64,
    writes: f64,
    kinds: String,
    peak: f64,
}

/// Brings `count` clusters up and down, turn by turn with the floor; the clusters of the last round stay.
///
/// # Errors
///
/// Clusters or pods do not become ready.
pub(crate) async fn measure(
    world: &World,
    model: &Model,
    count: usize,
    rounds: usize,
    table: &mut Table,
) -> anyhow::Result<Operator> {
    let mut all = Vec::new();
    let mut stays = None;
    for number in 0..rounds {
        if stays.take().is_some() {
            // The operator ended; what it made is cleared by Kubernetes itself.
            world.clear().await?;
        }
        let floor = floor::run(world, model, count).await?;
        let operator = Operator::start(world).await?;
        let round = round(world, &operator, floor, number, count).await?;
        crate::say(&format!(
            "round {number}: {:.2} s, floor {:.2} s (pods created {:.2} and {:.2} s)",
            round.ready, round.floor.ready, round.pods_created, round.floor.created
        ));
        all.push(round);
        stays = Some(operator);
    }
    report(&all, count, table);
    stays.ok_or_else(|| anyhow::anyhow!("no round"))
}

async fn round(world: &World, operator: &Operator, floor: Floor, number: usize, count: usize) -> anyhow::Result<Round> {
    let clusters: Vec<_> = (0..count)
        .map(|index| ("rayclusters", cluster(&format!("r{number}c{index:03}"), NO_IMAGE, PODS - 1)))
        .collect();
    operator.forget_peak()?;
    let (mark, cpu_before) = (world.audit.mark()?, operator.cpu()?);
    let kubernetes = world.cpu();
    let start = Instant::now();
    world.create(OURS, &clusters).await?;
    let ready = world.clusters.until(OURS, "clusters are ready", PATIENCE, |all| all_ready(all, count)).await?;
    tokio::time::sleep(AFTERWARDS).await;
    let kubernetes = world.cpu() - kubernetes;
    let pods = world.pods.of(OURS);
    tokio::time::sleep(SETTLE).await;
    let requests = world.audit.operator_since(mark)?;
    Ok(Round {
        floor,
        ready: seconds(start, last(&ready, |moments| moments.ready)),
        pods_created: seconds(start, last(&pods, |moments| moments.created)),
        pods_ready: seconds(start, last(&pods, |moments| moments.ready)),
        cpu: (operator.cpu()? - cpu_before) / figure(count),
        kubernetes,
        writes: figure(requests.len()) / figure(count),
        kinds: by_kind(requests.iter()),
        peak: operator.memory()?.peak,
    })
}

fn report(rounds: &[Round], count: usize, table: &mut Table) {
    let all = |value: fn(&Round) -> f64| rounds.iter().map(value).collect::<Vec<f64>>();
    let middle = |value: fn(&Round) -> f64| median(all(value));
    let ratios: Vec<f64> = rounds.iter().map(|round| round.ready / round.floor.ready).collect();
    let kinds = rounds.last().map(|round| round.kinds.clone()).unwrap_or_default();
    let note = format!(
        "pods created {:.2} s (floor {:.2}), pods Ready {:.2} s; all: {}; floors: {}",
        middle(|round| round.pods_created),
        middle(|round| round.floor.created),
        middle(|round| round.pods_ready),
        spread(&all(|round| round.ready)),
        spread(&all(|round| round.floor.ready)),
    );
    let name = |text: &str| format!("{count} clusters at once{text}");
    table.add(
        Row::new(name(", apply → all ready"), middle(|round| round.ready), "s")
            .floor(middle(|round| round.floor.ready))
            .note(note),
    );
    table.add(Row::new(name(", times the floor"), median(ratios.clone()), "×").aim(1.3).note(spread(&ratios)));
    let work: Vec<f64> =
        rounds.iter().map(|round| (round.kubernetes + round.cpu * figure(count)) / round.floor.cpu).collect();
    let note = format!(
        "Kubernetes {:.1} s and the operator {:.1} s, floor {:.1} s; on a busy machine steadier than time; all: {}",
        middle(|round| round.kubernetes) / 1000.0,
        middle(|round| round.cpu) * figure(count) / 1000.0,
        middle(|round| round.floor.cpu) / 1000.0,
        spread(&work)
    );
    table.add(Row::new(name(", CPU of everything, times the floor's"), median(work), "×").note(note));
    table.add(
        Row::new(name(", CPU of the operator per cluster"), middle(|round| round.cpu), "ms")
            .aim(6.0)
            .note(format!("KubeRay 28–32 ms; all: {}", spread(&all(|round| round.cpu)))),
    );
    table.add(Row::new(name(", requests per cluster"), middle(|round| round.writes), "").aim(9.0).note(kinds));
    table.add(Row::new(name(", peak memory"), middle(|round| round.peak), "MiB"));
}

/// Brings more clusters up, for measurements that need many; returns the peak memory meanwhile, MiB.
///
/// # Errors
///
/// They do not become ready.
pub(crate) async fn add(world: &World, operator: &Operator, present: usize, total: usize) -> anyhow::Result<f64> {
    operator.forget_peak()?;
    let names = (present..total).map(|index| format!("m{index:03}"));
    let clusters: Vec<_> = names.map(|name| ("rayclusters", cluster(&name, NO_IMAGE, PODS - 1))).collect();
    world.create(OURS, &clusters).await?;
    world.clusters.until(OURS, "clusters are ready", PATIENCE, |all| all_ready(all, total)).await?;
    tokio::time::sleep(SETTLE).await;
    Ok(operator.memory()?.peak)
}
