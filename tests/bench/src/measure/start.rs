//! Start of the operator with clusters present, and its memory with them.

use super::SETTLE;
use crate::table::{Row, Table};
use crate::world::{Operator, World};

/// Starts an operator anew and measures how soon it works.
///
/// # Errors
///
/// It does not become ready.
pub(crate) async fn measure(world: &World, clusters: usize, table: &mut Table) -> anyhow::Result<Operator> {
    let operator = Operator::start(world).await?;
    let all = operator.until_passes(clusters).await?.as_secs_f64();
    let ready = operator.ready_after.as_secs_f64();
    let note = format!("first pass over all after {all:.2} s; KubeRay 0.3 s with none, 0.4 s with 100");
    table.add(Row::new(format!("start with {clusters} clusters → ready to work"), ready, "s").note(note));
    Ok(operator)
}

/// Reports the memory of an operator whose clusters are settled.
///
/// # Errors
///
/// It ended.
pub(crate) async fn memory(
    operator: &Operator,
    clusters: usize,
    aim: Option<f64>,
    how: &str,
    table: &mut Table,
) -> anyhow::Result<()> {
    tokio::time::sleep(SETTLE).await;
    let memory = operator.memory()?;
    let note = format!("anonymous {:.1} MiB, peak {:.1} MiB", memory.anonymous, memory.peak);
    let row = Row::new(format!("memory with {clusters} settled clusters of 4 pods, {how}"), memory.resident, "MiB");
    table.add(Row { aim, ..row }.note(note));
    Ok(())
}
