//! One cluster for all tests that leave it usable: starting Ray is what takes long.

use std::time::Instant;

use serde_json::Value;
use tokio::sync::{Mutex, MutexGuard};

use crate::cluster::Cluster;
use crate::samples;
use crate::told::tell;

static SHARED: Mutex<Option<Cluster>> = Mutex::const_new(None);

/// The shared cluster, in use by one test at a time.
pub(crate) struct Shared {
    guard: MutexGuard<'static, Option<Cluster>>,
}

impl std::ops::Deref for Shared {
    type Target = Cluster;

    fn deref(&self) -> &Cluster {
        self.guard.as_ref().expect("the cluster")
    }
}

/// What it is made from: a head, and the groups `small` and `large` of one worker each.
pub(crate) fn spec() -> Value {
    samples::read("raycluster.quickstart.yaml")
}

/// Waits for the shared cluster to be free, makes it or puts it back into shape, and waits until it is ready.
pub(crate) async fn cluster() -> Shared {
    let mut guard = SHARED.lock().await;
    let start = Instant::now();
    let fresh = guard.is_none();
    match guard.as_ref() {
        Some(cluster) => cluster.apply(&spec()).await,
        None => *guard = Some(Cluster::create("e2e-shared", &spec()).await),
    }
    let shared = Shared { guard };
    shared.ready().await;
    if fresh {
        tell(format_args!("apply → ready: {:.1} s", start.elapsed().as_secs_f64()));
        shared.tell_phases().await;
    }
    shared
}

/// Removes it, if it was made.
pub(crate) async fn put_away() {
    if let Some(cluster) = SHARED.lock().await.take() {
        cluster.put_away().await;
    }
}
