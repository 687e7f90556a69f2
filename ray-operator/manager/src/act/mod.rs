//! The only place that writes to Kubernetes (invariant 1).

mod api;
mod pace;
mod step;

use std::collections::BTreeMap;

pub use api::{Answer, WriteApi};
use futures::future::join_all;
use ray_core::plan::{Outcome, Step, Write};
use tokio::sync::Semaphore;

use crate::cache::ClusterKey;
use crate::ledger::Ledger;

/// How many writes of one cluster are under way at a time: one whose writes take long (a webhook that does not answer)
/// must not use up every turn of the process.
const WRITES_OF_ONE_CLUSTER: usize = 8;

/// The cluster whose writes are performed, and what they are performed with.
struct Target<'a> {
    api: &'a WriteApi,
    ledger: &'a Ledger,
    key: &'a ClusterKey,
    owner_uid: &'a str,
    /// This cluster's share of the process's turns.
    share: Semaphore,
}

/// Performs the writes of one cluster: steps side by side, each independent of the others.
///
/// Returns the outcomes in the order of `writes`.
pub async fn perform(
    api: &WriteApi,
    ledger: &Ledger,
    key: &ClusterKey,
    owner_uid: &str,
    writes: &[&Write],
) -> Vec<Outcome> {
    let mut steps: BTreeMap<&Step, Vec<(usize, &Write)>> = BTreeMap::new();
    for (index, write) in writes.iter().enumerate() {
        steps.entry(&write.step).or_default().push((index, write));
    }
    let target = Target { api, ledger, key, owner_uid, share: Semaphore::new(WRITES_OF_ONE_CLUSTER) };
    let performed = steps.into_iter().map(|(step, writes)| step::perform(&target, step, writes));
    let mut outcomes: Vec<(usize, Outcome)> = join_all(performed).await.into_iter().flatten().collect();
    outcomes.sort_unstable_by_key(|(index, _)| *index);
    outcomes.into_iter().map(|(_, outcome)| outcome).collect()
}
