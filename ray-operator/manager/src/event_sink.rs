//! Publishes Events: beside the passes, never in their way, and never more than a person can read.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use k8s_openapi::api::core::v1::ObjectReference;
use k8s_openapi::api::events::v1::Event as KubernetesEvent;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{MicroTime, ObjectMeta};
use ray_core::plan::{Event, EventType};
use tokio::sync::mpsc;

use crate::act::WriteApi;
use crate::cache::{ClusterKey, now};
use crate::metrics::Metrics;

/// Who reports, by KubeRay's name, so that filters keep working.
const CONTROLLER: &str = "raycluster-controller";
/// How many events may wait; more are dropped and counted.
const WAITING: usize = 1000;
/// The same text about the same cluster is not published again within this time.
const QUIET: Duration = Duration::from_mins(5);
/// Events one cluster may publish at once …
const BURST: f64 = 25.0;
/// … and afterwards, one in so many seconds.
const SECONDS_PER_EVENT: f64 = 10.0;
/// Entries of either memory; beyond, the old ones are cleared out.
const REMEMBERED: usize = 10_000;

/// Takes events; a task of its own publishes them.
#[derive(Debug, Clone)]
pub struct EventSink {
    sender: mpsc::Sender<Job>,
    metrics: Metrics,
}

#[derive(Debug)]
struct Job {
    key: ClusterKey,
    uid: Arc<str>,
    event: Event,
}

impl EventSink {
    /// Starts the task; it ends when the last sink is dropped.
    #[must_use]
    pub fn start(api: WriteApi, instance: String, metrics: Metrics) -> (Self, tokio::task::JoinHandle<()>) {
        let (sender, receiver) = mpsc::channel(WAITING);
        let task = tokio::spawn(publish_all(api, instance, receiver, metrics.clone()));
        (Self { sender, metrics }, task)
    }

    /// Publishes an event about a cluster, some time soon.
    pub fn publish(&self, key: &ClusterKey, uid: &Arc<str>, event: Event) {
        if self.sender.try_send(Job { key: key.clone(), uid: Arc::clone(uid), event }).is_err() {
            self.metrics.dropped_events.inc();
        }
    }
}

async fn publish_all(api: WriteApi, instance: String, mut jobs: mpsc::Receiver<Job>, metrics: Metrics) {
    let mut limits = Limits::default();
    let mut count: u64 = 0;
    while let Some(job) = jobs.recv().await {
        if !limits.admit(&job, Instant::now()) {
            metrics.dropped_events.inc();
            continue;
        }
        count = count.wrapping_add(1);
        let object = object(&job, &instance, count);
        if let Err(error) = api.create_event(&job.key.namespace, &object).await {
            tracing::warn!(cluster = %job.key, %error, reason = job.event.reason, "cannot publish an event");
        }
    }
}

/// What keeps events readable: no repetitions, and a budget for each cluster.
#[derive(Debug, Default)]
struct Limits {
    /// (cluster UID, reason, note) → when it was last published.
    published: HashMap<(Arc<str>, &'static str, String), Instant>,
    /// Cluster UID → events it may still publish, and when that was worked out.
    budgets: HashMap<Arc<str>, (f64, Instant)>,
}

impl Limits {
    fn admit(&mut self, job: &Job, at: Instant) -> bool {
        if self.published.len() >= REMEMBERED {
            self.published.retain(|_, last| at.duration_since(*last) < QUIET);
        }
        if self.budgets.len() >= REMEMBERED {
            self.budgets.retain(|_, (left, since)| grown(*left, *since, at) < BURST);
        }
        let text = (Arc::clone(&job.uid), job.event.reason, job.event.note.clone());
        if self.published.get(&text).is_some_and(|last| at.duration_since(*last) < QUIET) {
            return false;
        }
        let (left, since) = self.budgets.entry(Arc::clone(&job.uid)).or_insert((BURST, at));
        *left = grown(*left, *since, at);
        *since = at;
        if *left < 1.0 {
            return false;
        }
        *left -= 1.0;
        self.published.insert(text, at);
        true
    }
}

/// What a budget has become.
fn grown(left: f64, since: Instant, at: Instant) -> f64 {
    (left + at.duration_since(since).as_secs_f64() / SECONDS_PER_EVENT).min(BURST)
}

fn object(job: &Job, instance: &str, count: u64) -> KubernetesEvent {
    let moment = now();
    // As client-go names events: the object's name and something that does not repeat.
    let unique = format!("{:x}{count:x}", moment.as_nanosecond());
    KubernetesEvent {
        metadata: ObjectMeta {
            name: Some(format!("{}.{unique}", job.key.name)),
            namespace: Some(job.key.namespace.to_string()),
            ..ObjectMeta::default()
        },
        event_time: Some(MicroTime(moment)),
        reporting_controller: Some(CONTROLLER.to_owned()),
        reporting_instance: Some(instance.to_owned()),
        action: Some(job.event.action.to_owned()),
        reason: Some(job.event.reason.to_owned()),
        regarding: Some(ObjectReference {
            api_version: Some("ray.io/v1".to_owned()),
            kind: Some("RayCluster".to_owned()),
            namespace: Some(job.key.namespace.to_string()),
            name: Some(job.key.name.to_string()),
            uid: Some(job.uid.to_string()),
            ..ObjectReference::default()
        }),
        // The API refuses longer notes.
        note: Some(job.event.note.chars().take(1000).collect()),
        type_: Some(match job.event.kind {
            EventType::Normal => "Normal".to_owned(),
            EventType::Warning => "Warning".to_owned(),
        }),
        ..KubernetesEvent::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(uid: &str, note: &str) -> Job {
        let key = ClusterKey { namespace: "n".into(), name: "c".into() };
        Job { key, uid: uid.into(), event: Event::normal("CreatedHeadPod", "Create", note.to_owned()) }
    }

    #[test]
    fn the_same_text_is_published_once_in_a_while() {
        let (mut limits, start) = (Limits::default(), Instant::now());
        assert!(limits.admit(&job("a", "x"), start));
        assert!(!limits.admit(&job("a", "x"), start + Duration::from_secs(60)));
        assert!(limits.admit(&job("a", "y"), start));
        assert!(limits.admit(&job("b", "x"), start));
        assert!(limits.admit(&job("a", "x"), start + QUIET));
    }

    #[test]
    fn a_cluster_that_shouts_does_not_use_up_the_others_budget() {
        let (mut limits, start) = (Limits::default(), Instant::now());
        let admitted = (0..100).filter(|n| limits.admit(&job("loud", &n.to_string()), start)).count();
        assert_eq!(admitted, 25);
        assert!(limits.admit(&job("quiet", "x"), start));
        assert!(limits.admit(&job("loud", "later"), start + Duration::from_secs(11)));
    }

    #[test]
    fn clusters_that_were_quiet_for_long_are_forgotten() {
        let (mut limits, start) = (Limits::default(), Instant::now());
        for cluster in 0..REMEMBERED {
            limits.admit(&job(&cluster.to_string(), "x"), start);
        }
        limits.admit(&job("last", "x"), start + QUIET);
        assert_eq!((limits.budgets.len(), limits.published.len()), (1, 1));
    }
}
