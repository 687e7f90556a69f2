//! What can be chosen on the command line.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Parser, ValueEnum};

/// Measures the operator's speed and size; prints one table.
#[derive(Debug, Clone, Parser)]
#[command(name = "bench")]
pub(crate) struct Options {
    /// The operator's binary, built with --release
    #[arg(long, default_value = "target/release/ray-operator")]
    pub(crate) operator: PathBuf,

    /// The tool that starts Kubernetes
    #[arg(long, env = "LOCAL_CLUSTER", default_value = "target/local-cluster")]
    pub(crate) local_cluster: PathBuf,

    /// Folder for logs and figures; what an earlier run left there is replaced
    #[arg(long, default_value = "target/bench")]
    pub(crate) directory: PathBuf,

    /// Where the figures go as JSON
    #[arg(long, default_value = "target/bench.json")]
    pub(crate) json: PathBuf,

    /// Measure only this (may be repeated); figures about settled clusters then count those that are there
    #[arg(long)]
    pub(crate) only: Vec<Part>,

    /// A quick look for development: a minute of silence, one round, 200 clusters instead of 500
    #[arg(long)]
    pub(crate) short: bool,

    /// How often bring-up and its floor are measured, turn by turn; the middle one counts
    #[arg(long)]
    pub(crate) rounds: Option<usize>,

    /// Seconds of silence that are watched
    #[arg(long)]
    pub(crate) silence: Option<u64>,

    /// Real Ray on the node of `local-cluster up` instead of everything else
    #[arg(long)]
    pub(crate) ray: bool,

    /// Image with Ray in it that the node has
    #[arg(long, default_value = "rayproject/ray:2.60.0")]
    pub(crate) ray_image: String,
}

/// One measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Part {
    /// Writes that bring one cluster up
    Writes,
    /// 100 clusters at once
    BringUp,
    /// Requests of settled clusters
    Silence,
    /// A small change behind a large one
    Fairness,
    /// Memory with many clusters
    Memory,
    /// Start with many clusters present
    Start,
}

impl Options {
    /// Whether a part is wanted.
    pub(crate) fn wants(&self, part: Part) -> bool {
        self.only.is_empty() || self.only.contains(&part)
    }

    /// How long silence is watched.
    pub(crate) fn silence(&self) -> Duration {
        Duration::from_secs(self.silence.unwrap_or(if self.short { 60 } else { 300 }))
    }

    /// How often bring-up is measured.
    pub(crate) fn rounds(&self) -> usize {
        self.rounds.unwrap_or(if self.short { 1 } else { 3 }).max(1)
    }

    /// How many clusters "many" are.
    pub(crate) fn many(&self) -> usize {
        if self.short { 200 } else { 500 }
    }
}
