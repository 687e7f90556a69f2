//! The only place that writes to Kubernetes (invariant 1).

mod api;
mod step;

use std::collections::BTreeMap;
use std::sync::Arc;

pub use api::{Answer, WriteApi};
use futures::future::join_all;
use ray_core::plan::{Outcome, Step, Write};

use crate::cache::ClusterKey;
use crate::ledger::Ledger;

/// Performs the writes of one cluster: steps side by side, each independent of the others.
///
/// Returns the outcomes in the order of `writes`.
pub async fn perform(
    api: &WriteApi,
    ledger: &Ledger,
    key: &ClusterKey,
    owner_uid: &Arc<str>,
    writes: &[&Write],
) -> Vec<Outcome> {
    let mut steps: BTreeMap<&Step, Vec<(usize, &Write)>> = BTreeMap::new();
    for (index, write) in writes.iter().enumerate() {
        steps.entry(&write.step).or_default().push((index, write));
    }
    let performed = steps.into_iter().map(|(step, writes)| step::perform(api, ledger, key, owner_uid, step, writes));
    let mut outcomes: Vec<(usize, Outcome)> = join_all(performed).await.into_iter().flatten().collect();
    outcomes.sort_unstable_by_key(|(index, _)| *index);
    outcomes.into_iter().map(|(_, outcome)| outcome).collect()
}
