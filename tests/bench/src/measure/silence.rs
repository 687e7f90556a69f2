//! What settled clusters cost.

use std::time::Duration;

use super::figure;
use crate::table::{Row, Table};
use crate::world::{Operator, World, by_kind};

/// Counts the operator's requests while nothing happens.
///
/// # Errors
///
/// The operator ended.
pub(crate) async fn measure(
    world: &World,
    operator: &Operator,
    clusters: usize,
    time: Duration,
    table: &mut Table,
) -> anyhow::Result<()> {
    let (mark, cpu) = (world.audit.mark()?, operator.cpu()?);
    tokio::time::sleep(time).await;
    let requests = world.audit.operator_since(mark)?;
    let cpu = operator.cpu()? - cpu;
    let name = format!("{clusters} settled clusters for {} s", time.as_secs());
    let count = figure(requests.len());
    table.add(Row::new(format!("{name}: requests"), count, "").aim(0.0).note(by_kind(requests.iter())));
    table.add(Row::new(format!("{name}: CPU"), cpu, "ms").note("KubeRay 310–440 ms in 300 s"));
    Ok(())
}
