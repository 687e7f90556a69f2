//! The writes of one step: a few at a time, and no more creates once one was refused.

use futures::future::join_all;
use ray_core::plan::{Action, Outcome, Step, Write, WriteErrorKind};

use super::Target;
use super::api::Answer;
use crate::cache::now;
use crate::ledger::Pending;

/// Size of the first batch; doubles while all goes well, as Kubernetes' own controllers start slowly, so that a full
/// quota is hit by a few requests and not by hundreds.
const FIRST_BATCH: usize = 4;
/// Largest batch: what one step has under way at a time.
const LARGEST_BATCH: usize = 16;

pub(super) async fn perform(target: &Target<'_>, step: &Step, writes: Vec<(usize, &Write)>) -> Vec<(usize, Outcome)> {
    let (deletes, creates): (Vec<_>, Vec<_>) =
        writes.into_iter().partition(|(_, write)| matches!(write.action, Action::DeletePod { .. }));
    // Deletes first: what they free may be what the creates need.
    let mut outcomes = in_batches(target, deletes, false).await;
    outcomes.extend(in_batches(target, creates, true).await);
    if outcomes.iter().any(|(_, outcome)| matches!(outcome, Outcome::Failed(_))) {
        target.ledger.hold(target.key, step, now());
    } else {
        target.ledger.release(target.key, step);
    }
    outcomes
}

async fn in_batches(target: &Target<'_>, writes: Vec<(usize, &Write)>, stop_at_failure: bool) -> Vec<(usize, Outcome)> {
    let mut outcomes = Vec::with_capacity(writes.len());
    let mut rest = writes.as_slice();
    let mut size = FIRST_BATCH;
    while !rest.is_empty() {
        let (batch, later) = rest.split_at(size.min(rest.len()));
        let performed = batch.iter().map(async |(index, write)| (*index, one(target, write).await));
        let batch = join_all(performed).await;
        let failed = batch.iter().any(|(_, outcome)| matches!(outcome, Outcome::Failed(_)));
        outcomes.extend(batch);
        if failed && stop_at_failure {
            outcomes.extend(later.iter().map(|(index, _)| (*index, Outcome::Skipped)));
            break;
        }
        rest = later;
        size = size.saturating_mul(2).min(LARGEST_BATCH);
    }
    outcomes
}

/// One write, remembered before it is sent so that a lost answer is no lost write.
async fn one(target: &Target<'_>, write: &Write) -> Outcome {
    let Target { api, ledger, key, owner_uid, share } = target;
    // Never closed: it lives as long as the pass.
    let _turn = share.acquire().await;
    let pending = |known| match &write.action {
        Action::CreatePod { name, .. } => Pending::PodCreated { name: name.clone(), known },
        Action::CreateService { name, .. } => Pending::ServiceCreated { name: name.clone(), known },
        Action::DeletePod { uid, .. } => Pending::PodDeleted { uid: uid.clone() },
    };
    ledger.expect(key, pending(None));
    let answer = match &write.action {
        Action::CreatePod { pod, .. } => api.create_pod(&key.namespace, pod, owner_uid).await,
        Action::CreateService { service, .. } => api.create_service(&key.namespace, service, owner_uid).await,
        Action::DeletePod { name, uid, .. } => api.delete_pod(&key.namespace, name, uid).await,
    };
    match answer {
        Answer::Done(known) => {
            ledger.expect(key, pending(known));
            // The pod may be gone again before the status has told of its number; its name is spent all the same.
            if let Action::CreatePod { ordinal, .. } = &write.action {
                ledger.name_taken(key, &write.step, *ordinal);
            }
            Outcome::Done
        }
        Answer::AlreadySo(known) => {
            // Also of a pod that is gone: a view that still has it is old, and would have it deleted again and again.
            ledger.expect(key, pending(known));
            // A pod of ours whose labels somebody took away is seen by no watch; its name is spent all the same.
            if let Action::CreatePod { ordinal, .. } = &write.action {
                ledger.name_taken(key, &write.step, *ordinal);
            }
            Outcome::AlreadySo
        }
        Answer::Failed(error) => {
            // Of an unknown end the ledger keeps its entry: the watch or a live list will tell.
            if error.kind != WriteErrorKind::Unknown {
                ledger.withdraw(key, &pending(None));
            }
            if let (WriteErrorKind::NameTaken, Action::CreatePod { ordinal, .. }) = (error.kind, &write.action) {
                ledger.name_taken(key, &write.step, *ordinal);
            }
            Outcome::Failed(error)
        }
    }
}
