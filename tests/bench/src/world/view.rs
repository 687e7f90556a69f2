//! A live view of all objects of one kind, with the moment at which each first was in some state.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::bail;
use futures::StreamExt;
use kube::core::ApiResource;
use kube::runtime::WatchStreamExt;
use kube::runtime::watcher::{self, Event, watcher};
use kube::{Api, Client};
use tokio::sync::Notify;

use super::seen::{Facts, Seen};

/// Moments at which an object was first seen in a state.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Moments {
    /// At all.
    pub(crate) created: Option<Instant>,
    /// A node was chosen.
    pub(crate) scheduled: Option<Instant>,
    /// Init containers are done.
    pub(crate) initialized: Option<Instant>,
    /// The first container runs.
    pub(crate) running: Option<Instant>,
    /// Its startup probe succeeded.
    pub(crate) started: Option<Instant>,
    /// Ready.
    pub(crate) ready: Option<Instant>,
}

/// An object and its moments.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    /// Its present state.
    pub(crate) facts: Facts,
    /// When it reached which.
    pub(crate) moments: Moments,
}

#[derive(Debug, Default)]
struct Shared {
    entries: Mutex<HashMap<(String, String), Entry>>,
    changed: Notify,
}

/// The view; it ends with its last clone.
#[derive(Debug, Clone)]
pub(crate) struct View {
    shared: Arc<Shared>,
    _task: Arc<Task>,
}

#[derive(Debug)]
struct Task(tokio::task::JoinHandle<()>);

impl Drop for Task {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl View {
    /// Watches all namespaces.
    pub(crate) fn new(client: Client, kind: &ApiResource) -> Self {
        let shared = Arc::new(Shared::default());
        let api: Api<Seen> = Api::all_with(client, kind);
        let task = tokio::spawn(follow(api, Arc::clone(&shared)));
        Self { shared, _task: Arc::new(Task(task)) }
    }

    /// What there is of a namespace.
    pub(crate) fn of(&self, namespace: &str) -> Vec<Entry> {
        let entries = self.shared.entries.lock().unwrap_or_else(PoisonError::into_inner);
        entries.values().filter(|entry| entry.facts.namespace == namespace).cloned().collect()
    }

    /// Waits until `condition` holds for what there is of a namespace; returns that.
    ///
    /// # Errors
    ///
    /// It did not hold in time; the text says what was waited for and how far it was.
    pub(crate) async fn until(
        &self,
        namespace: &str,
        what: &str,
        patience: Duration,
        condition: impl Fn(&[Entry]) -> bool,
    ) -> anyhow::Result<Vec<Entry>> {
        let deadline = tokio::time::Instant::now() + patience;
        loop {
            let changed = self.shared.changed.notified();
            let entries = self.of(namespace);
            if condition(&entries) {
                return Ok(entries);
            }
            if tokio::time::timeout_at(deadline, changed).await.is_err() {
                let ready = entries.iter().filter(|entry| entry.facts.ready).count();
                bail!("{what}: not after {} s ({} there, {ready} ready)", patience.as_secs(), entries.len());
            }
            // Looking at each of hundreds of events would cost more than it tells.
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

async fn follow(api: Api<Seen>, shared: Arc<Shared>) {
    let events = watcher(api, watcher::Config::default()).default_backoff();
    let mut events = std::pin::pin!(events);
    while let Some(event) = events.next().await {
        let now = Instant::now();
        let Ok(event) = event else { continue };
        let mut entries = shared.entries.lock().unwrap_or_else(PoisonError::into_inner);
        match event {
            // A relist would hide deletions; in the minutes of a run there is none but the first.
            Event::Init | Event::InitDone => {}
            Event::InitApply(object) | Event::Apply(object) => note(&mut entries, object.facts, now),
            Event::Delete(object) => {
                entries.remove(&(object.facts.namespace, object.facts.name));
            }
        }
        drop(entries);
        shared.changed.notify_waiters();
    }
}

fn note(entries: &mut HashMap<(String, String), Entry>, facts: Facts, now: Instant) {
    let key = (facts.namespace.clone(), facts.name.clone());
    let moments = entries.get(&key).map(|entry| entry.moments).unwrap_or_default();
    let first = |old: Option<Instant>, holds: bool| old.or_else(|| holds.then_some(now));
    let moments = Moments {
        created: first(moments.created, true),
        scheduled: first(moments.scheduled, facts.scheduled),
        initialized: first(moments.initialized, facts.initialized),
        running: first(moments.running, facts.running),
        started: first(moments.started, facts.started),
        ready: first(moments.ready, facts.ready),
    };
    entries.insert(key, Entry { facts, moments });
}

/// The last moment of a kind; `None` if one entry has none.
pub(crate) fn last(entries: &[Entry], moment: impl Fn(&Moments) -> Option<Instant>) -> Option<Instant> {
    let moments: Option<Vec<Instant>> = entries.iter().map(|entry| moment(&entry.moments)).collect();
    moments?.into_iter().max()
}

/// Whether at least `count` are there, all ready and none leaving.
pub(crate) fn all_ready(entries: &[Entry], count: usize) -> bool {
    entries.len() >= count && entries.iter().all(|entry| entry.facts.ready && !entry.facts.leaving)
}
