//! One pass over one cluster: gather → plan → act → report.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Context;
use jiff::Timestamp;
use kube::api::ListParams;
use kube::{Api, Client};
use ray_api::{FieldError, RayCluster, RayClusterStatus};
use ray_core::config::OperatorConfig;
use ray_core::observed::{AnsweredStatus, Observed};
use ray_core::plan::{Event, Outcome, Rejection, Verdict, Write, plan};
use ray_core::report::{Report, StatusPatch, report};
use serde_json::Value;

use crate::act::{self, WriteApi};
use crate::cache::{Cache, ClusterKey, StoredCluster, WatchedCluster, WatchedPod, WatchedService, now, version};
use crate::event_sink::EventSink;
use crate::ledger::{Gate, Ledger, OVERDUE, Pending};
use crate::metrics::Metrics;
use crate::queue::PassEnd;

/// When a status that can wait is thought of again while the API server has its hands full.
const STATUS_GIVES_WAY: Duration = Duration::from_secs(1);

/// What every pass works with.
#[derive(Clone)]
pub struct Passes {
    /// For live lists.
    pub client: Client,
    /// What the watches showed.
    pub cache: Arc<Cache>,
    /// What we wrote lately.
    pub ledger: Arc<Ledger>,
    /// Writes.
    pub api: WriteApi,
    /// Events.
    pub events: EventSink,
    /// The operator's settings.
    pub config: Arc<OperatorConfig>,
    /// Counters.
    pub metrics: Metrics,
}

impl std::fmt::Debug for Passes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Passes").finish_non_exhaustive()
    }
}

/// How long a live look may take.
const LOOK_DEADLINE: Duration = Duration::from_secs(30);

/// What [`Passes::gather`] found.
enum Gathered {
    /// The cluster is gone.
    Gone,
    /// Our own writes are on their way back.
    NotYet,
    /// The view, the UID that owns everything in it, and what of the cluster does not decode.
    View(Box<Observed>, Arc<str>, Undecodable),
}

/// What of a RayCluster does not fit our types.
#[derive(Debug, Default, PartialEq)]
struct Undecodable {
    /// Something outside the status.
    object: Option<FieldError>,
    /// The status, as it stands there: by somebody's hand, or by another version.
    status: Option<Value>,
}

impl Passes {
    /// One pass.
    pub async fn pass(self, key: ClusterKey) -> PassEnd {
        let started = Instant::now();
        let end = match self.gather(&key).await {
            Ok(Gathered::Gone) => {
                self.ledger.forget(&key);
                PassEnd::Done(None)
            }
            // The watch pokes when the write comes back; this is for the case that it does not.
            Ok(Gathered::NotYet) => PassEnd::Done(Some(OVERDUE)),
            Ok(Gathered::View(observed, uid, undecodable)) => self.work(&key, &observed, &uid, undecodable).await,
            Err(error) => {
                tracing::warn!(cluster = %key, error = format!("{error:#}"), "cannot look at the cluster");
                PassEnd::Failed
            }
        };
        self.metrics.pass_seconds.observe(started.elapsed().as_secs_f64());
        end
    }

    /// The view of one cluster, from memory. Only a write that did not come back in time costs a request.
    async fn gather(&self, key: &ClusterKey) -> anyhow::Result<Gathered> {
        let Some(mut stored) = self.cache.clusters.get(key) else { return Ok(Gathered::Gone) };
        let uid = Arc::clone(&stored.uid);
        let (gate, memory) = self.ledger.look(key, &uid, stored.generation, &self.cache);
        match gate {
            Gate::Open => {}
            Gate::Wait => return Ok(Gathered::NotYet),
            Gate::Overdue => {
                tracing::warn!(cluster = %key, "the watch did not show our writes in time; listing");
                self.metrics.live_lists.inc();
                let look = tokio::time::timeout(LOOK_DEADLINE, self.look(key, &uid));
                let there = look.await.context("no answer in time")?.context("a live look failed")?;
                // Gone or followed by another of its name: the watch will say so, and until then nothing is decided.
                let Some(cluster) = there.then(|| self.cache.clusters.get(key)).flatten().filter(|c| c.uid == uid)
                else {
                    return Ok(Gathered::NotYet);
                };
                stored = cluster;
                self.ledger.settle(key);
            }
        }
        let (cluster, undecodable) = decode(key, &stored);
        let observed =
            Observed { cluster, pods: self.cache.pods.of(&uid), services: self.cache.services.of(&uid), memory };
        Ok(Gathered::View(Box::new(observed), uid, undecodable))
    }

    /// Reads a cluster, its pods and its Services live. Answers whether the cluster of that UID is there.
    async fn look(&self, key: &ClusterKey, uid: &str) -> Result<bool, kube::Error> {
        let clusters: Api<WatchedCluster> = Api::namespaced(self.client.clone(), &key.namespace);
        let Some(cluster) = clusters.get_opt(&key.name).await?.filter(|cluster| cluster.uid() == uid) else {
            return Ok(false);
        };
        self.cache.clusters.apply(cluster);
        let namespace = &key.namespace;
        let pods: Api<WatchedPod> = Api::namespaced(self.client.clone(), namespace);
        let selector = format!("ray.io/cluster={},ray.io/node-type", key.name);
        let pods = pods.list(&ListParams::default().labels(&selector)).await?;
        let listed_at = version(pods.metadata.resource_version.as_deref().unwrap_or_default());
        let own = pods.items.into_iter().map(|pod| pod.object).collect();
        self.cache.pods.replace_owner(namespace, uid, own, listed_at);
        let services: Api<WatchedService> = Api::namespaced(self.client.clone(), namespace);
        let services = services.list(&ListParams::default()).await?;
        let listed_at = version(services.metadata.resource_version.as_deref().unwrap_or_default());
        let services = services.items.into_iter().map(|service| service.object);
        let own = services.filter(|service| service.owner_uid.as_deref() == Some(uid)).collect();
        self.cache.services.replace_owner(namespace, uid, own, listed_at);
        Ok(true)
    }

    /// Plan, act, report.
    async fn work(&self, key: &ClusterKey, observed: &Observed, uid: &Arc<str>, undecodable: Undecodable) -> PassEnd {
        let verdict = match undecodable.object {
            Some(error) => Verdict::Reject(Rejection { errors: vec![error] }),
            None => plan(observed, &self.config, now()),
        };
        let writes: Vec<&Write> = verdict.writes().collect();
        let outcomes =
            if writes.is_empty() { Vec::new() } else { act::perform(&self.api, &self.ledger, key, uid, &writes).await };
        log(key, &writes, &outcomes);
        let Report { status, events, wake_at } = report(observed, &verdict, &outcomes, &self.config, now());
        for event in events {
            self.events.publish(key, uid, event);
        }
        let mut wait = wake_at.map(until);
        if status.as_ref().is_some_and(|status| status.can_wait) && self.api.is_busy() {
            wait = sooner(wait, Some(STATUS_GIVES_WAY));
        } else if let Some(status) = status {
            let status = match &undecodable.status {
                Some(raw) => status.instead_of(raw),
                None => status,
            };
            wait = sooner(wait, self.write_status(key, uid, status).await);
        } else if !writes.is_empty() {
            // The watch pokes when they come back; this is for the case that it does not.
            wait = sooner(wait, Some(OVERDUE));
        }
        // Not done as planned: the ledger has learnt something (how long to hold a step, that a name is spent), and the
        // plan of the next pass knows what follows.
        let plan_again = outcomes.iter().any(|outcome| *outcome != Outcome::Done);
        PassEnd::Done(if plan_again { Some(Duration::ZERO) } else { wait })
    }

    /// Writes the status; answers when to look again. A status that is refused is a matter of its own: it is tried again ever
    /// later, and pods are looked after all the same.
    async fn write_status(&self, key: &ClusterKey, uid: &Arc<str>, status: StatusPatch) -> Option<Duration> {
        if let Some(wait) = self.ledger.status_waits(key, Instant::now()) {
            return Some(wait);
        }
        match self.api.patch_status(&key.namespace, &key.name, &status.patch).await {
            Ok(object) => {
                let text = |pointer| object.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
                let version = version(text("/metadata/resourceVersion"));
                self.ledger.expect(key, Pending::StatusWritten { version });
                let got = object.get("status").cloned().and_then(|status| serde_json::from_value(status).ok());
                let got: RayClusterStatus = got.unwrap_or_default();
                let wished = &status.wished;
                let ready = wished.ready_worker_replicas.unwrap_or(0);
                let desired = wished.desired_worker_replicas.unwrap_or(0);
                tracing::info!(cluster = %key, state = wished.state, workers = %format!("{ready}/{desired}"), "status");
                self.ledger.answered(key, AnsweredStatus { wished: status.wished, got });
                Some(OVERDUE)
            }
            Err(error) => {
                // Deleted meanwhile: the watch will say so.
                self.cache.clusters.get(key)?;
                tracing::warn!(cluster = %key, error = error.message, "cannot write the status");
                let note = format!("cannot write the status: {}", error.message);
                self.events.publish(key, uid, Event::warning("FailedToUpdateStatus", "Update", note));
                Some(self.ledger.hold_status(key, Instant::now()))
            }
        }
    }
}

/// Decodes a stored cluster. One that does not decode keeps its metadata and, if possible, its status, so that the
/// reason can be written on it. A status that does not decode is as good as none: it is written anew.
fn decode(key: &ClusterKey, stored: &StoredCluster) -> (RayCluster, Undecodable) {
    if let Ok(cluster) = serde_json::from_str(&stored.json) {
        return (cluster, Undecodable::default());
    }
    let mut object: Value = serde_json::from_str(&stored.json).unwrap_or_default();
    let raw = object.as_object_mut().and_then(|object| object.remove("status"));
    let status = raw.clone().and_then(|raw| serde_json::from_value::<RayClusterStatus>(raw).ok());
    let mut undecodable = Undecodable { object: None, status: raw.filter(|_| status.is_none()) };
    let mut cluster = serde_json::from_value(object).unwrap_or_else(|error| {
        let text = format!("cannot be decoded: {error}");
        undecodable.object = Some(FieldError::spec("spec".to_owned(), text));
        let mut cluster = RayCluster::default();
        cluster.metadata.namespace = Some(key.namespace.to_string());
        cluster.metadata.name = Some(key.name.to_string());
        cluster.metadata.uid = Some(stored.uid.to_string());
        cluster.metadata.generation = Some(stored.generation);
        cluster
    });
    cluster.status = status;
    (cluster, undecodable)
}

fn sooner(a: Option<Duration>, b: Option<Duration>) -> Option<Duration> {
    [a, b].into_iter().flatten().min()
}

fn until(moment: Timestamp) -> Duration {
    moment.duration_since(now()).try_into().unwrap_or(Duration::ZERO)
}

fn log(key: &ClusterKey, writes: &[&Write], outcomes: &[Outcome]) {
    use ray_core::plan::Action;
    for (write, outcome) in writes.iter().zip(outcomes) {
        let (step, name) = (write.step.to_string(), write.action.name());
        match (outcome, &write.action) {
            (Outcome::Done, Action::CreatePod { .. } | Action::CreateService { .. }) => {
                tracing::info!(cluster = %key, step, name, "created");
            }
            (Outcome::Done, Action::DeletePod { reason, .. }) => {
                tracing::info!(cluster = %key, step, name, reason, "deleted");
            }
            (Outcome::Failed(error), _) => {
                tracing::warn!(cluster = %key, step, name, error = error.message, "write failed");
            }
            (Outcome::AlreadySo | Outcome::Skipped, _) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn decoded(object: &Value) -> (RayCluster, Undecodable) {
        let key = ClusterKey { namespace: "n".into(), name: "c".into() };
        let json = object.to_string().into_boxed_str();
        decode(&key, &StoredCluster { uid: "u".into(), generation: 3, resource_version: "1".into(), json })
    }

    fn object(container: &Value, status: &Value) -> Value {
        let template = json!({"spec": {"containers": [container]}});
        json!({"metadata": {"name": "c", "namespace": "n", "uid": "u", "generation": 3},
            "spec": {"headGroupSpec": {"template": template}}, "status": status})
    }

    #[test]
    fn what_does_not_decode_is_named_and_the_rest_is_kept() {
        let (good, bad) = (json!({"state": "ready"}), json!({"readyWorkerReplicas": 5_000_000_000_i64, "state": "x"}));
        let (fits, odd) = (json!({"name": "ray"}), json!({"name": 7}));
        for (container, status) in [(&fits, &good), (&fits, &bad), (&odd, &good), (&odd, &bad)] {
            let (cluster, undecodable) = decoded(&object(container, status));
            assert_eq!(cluster.metadata.uid.as_deref(), Some("u"));
            assert_eq!(undecodable.object.is_some(), container == &odd);
            assert_eq!(undecodable.status.as_ref(), Some(&bad).filter(|bad| *bad == status));
            assert_eq!(cluster.status.is_some(), status == &good);
        }
    }

    #[test]
    fn a_status_that_does_not_decode_is_replaced_as_a_whole() {
        let raw = json!({"readyWorkerReplicas": 5_000_000_000_i64, "head": {"podIP": 7}, "strange": {"a": 1}});
        let wished = RayClusterStatus { head: Some(Default::default()), ..RayClusterStatus::default() };
        let patch = StatusPatch { patch: Value::Null, wished, can_wait: false }.instead_of(&raw).patch;
        assert_eq!(patch, json!({"status": {"readyWorkerReplicas": null, "head": {"podIP": null}, "strange": null}}));
    }
}
