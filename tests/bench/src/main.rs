//! Measures the operator: writes, time, memory, fairness; see `docs/benchmarks.md`.
//!
//! Everything that is started ends with this process. Figures of a bare client that makes the same objects are taken in the
//! same run: absolute times hold for one machine at one moment only.

#![allow(clippy::arithmetic_side_effects, reason = "measurements of our own making, not user input")]

mod measure;
mod options;
mod table;
mod world;

use std::sync::OnceLock;
use std::time::Instant;

use clap::Parser;
use measure::{NO_IMAGE, bring_up, fairness, ray, silence, start, writes};
use options::{Options, Part};
use table::Table;
use world::{Model, OURS, Operator, PATIENCE, World, all_ready, cluster};

/// Clusters in the measurements that aim at a number of them.
const HUNDRED: usize = 100;

fn main() -> anyhow::Result<()> {
    let options = Options::parse();
    let _ = began();
    let _ = rustls::crypto::ring::default_provider().install_default();
    let load_before = world::load();
    if load_before > 1.0 {
        say(&format!("the machine is busy (load {load_before}): times below are upper bounds"));
    }
    let mut table = Table::default();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let result = runtime.block_on(async {
        if options.ray { ray::measure(&options, &mut table).await } else { simulated(&options, &mut table).await }
    });
    drop(runtime);
    print_all(&table.markdown());
    table.save(&options.json, load_before)?;
    result?;
    say(if table.all_met() { "every aim is met" } else { "aims are missed" });
    Ok(())
}

/// Everything that needs no real Ray.
async fn simulated(options: &Options, table: &mut Table) -> anyhow::Result<()> {
    let world = World::start(options).await?;
    let wants = |part| options.wants(part);
    let operator = Operator::start(&world).await?;
    let model = model(&world).await?;
    if wants(Part::Memory) {
        start::memory(&operator, 1, Some(15.0), "brought up", table).await?;
    }
    world.clear().await?;
    if wants(Part::Writes) {
        writes::measure(&world, &operator, &model, table).await?;
    }
    drop(operator);

    let rounds = if wants(Part::BringUp) { options.rounds() } else { 1 };
    let mut operator = bring_up::measure(&world, &model, HUNDRED, rounds, table).await?;
    if wants(Part::Memory) {
        start::memory(&operator, HUNDRED, Some(22.0), "brought up", table).await?;
    }
    if wants(Part::Silence) {
        silence::measure(&world, &operator, HUNDRED, options.silence(), table).await?;
    }
    if wants(Part::Fairness) {
        fairness::measure(&world, &operator, &model, table).await?;
    }
    if wants(Part::Start) {
        drop(operator);
        operator = start::measure(&world, HUNDRED, table).await?;
        start::memory(&operator, HUNDRED, Some(22.0), "after a start", table).await?;
    }
    if wants(Part::Memory) || options.only.contains(&Part::Start) {
        let many = options.many();
        let peak = bring_up::add(&world, &operator, HUNDRED, many).await?;
        say(&format!("peak while {HUNDRED} became {many}: {peak:.1} MiB"));
        start::memory(&operator, many, Some(45.0), "brought up", table).await?;
        drop(operator);
        operator = start::measure(&world, many, table).await?;
        start::memory(&operator, many, Some(45.0), "after a start", table).await?;
    }
    drop(operator);
    Ok(())
}

/// Lets the operator make one cluster and takes its objects as models for the bare client; the cluster stays.
async fn model(world: &World) -> anyhow::Result<Model> {
    const NAME: &str = "model";
    world.create(OURS, &[("rayclusters", cluster(NAME, NO_IMAGE, 3))]).await?;
    world.clusters.until(OURS, "the first cluster is ready", PATIENCE, |all| all_ready(all, 1)).await?;
    Model::learn(&world.client, NAME).await
}

fn began() -> Instant {
    static BEGAN: OnceLock<Instant> = OnceLock::new();
    *BEGAN.get_or_init(Instant::now)
}

/// Progress, on standard error: standard output is for the table.
#[allow(clippy::print_stderr, reason = "a program for people")]
pub(crate) fn say(text: &str) {
    eprintln!("[{:6.1}s] {text}", began().elapsed().as_secs_f64());
}

#[allow(clippy::print_stdout, reason = "a program for people")]
fn print_all(text: &str) {
    println!("\n{text}");
}
