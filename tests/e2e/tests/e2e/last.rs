//! What is looked at after all other tests.

use crate::cluster::restarts;
use crate::{node, shared};

pub(crate) async fn a_deleted_cluster_leaves_nothing_behind() {
    shared::cluster().await.delete().await;
    shared::put_away().await;
}

/// Runs after everything else: the operator was kept busy, and none of it may have gone wrong.
pub(crate) async fn the_operator_ran_through_and_was_never_refused() {
    assert_eq!(restarts(&node::operator().await), 0, "the operator was restarted");
    let log = node::operator_log().await;
    let refused: Vec<&str> = log.lines().filter(|line| line.to_lowercase().contains("forbidden")).collect();
    assert!(refused.is_empty(), "missing rights:\n{}", refused.join("\n"));
    let wrong: Vec<&str> =
        log.lines().filter(|line| [" WARN ", " ERROR ", "panicked"].iter().any(|word| line.contains(word))).collect();
    assert!(wrong.is_empty(), "warnings in the operator's log:\n{}", wrong.join("\n"));
}
