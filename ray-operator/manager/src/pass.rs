//! One pass over one cluster: gather → plan → act → report.

use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use kube::api::ListParams;
use kube::{Api, Client};
use ray_api::{FieldError, RayCluster, RayClusterStatus};
use ray_core::config::OperatorConfig;
use ray_core::observed::{AnsweredStatus, Observed};
use ray_core::plan::{Outcome, Rejection, Verdict, Write, plan};
use ray_core::report::{Report, StatusPatch, report};

use crate::act::{self, WriteApi};
use crate::cache::{Cache, ClusterKey, StoredCluster, WatchedPod, WatchedService, now, version};
use crate::event_sink::EventSink;
use crate::ledger::{Gate, Ledger, OVERDUE, Pending};
use crate::metrics::Metrics;
use crate::queue::PassEnd;

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

/// What [`Passes::gather`] found.
enum Gathered {
    /// The cluster is gone.
    Gone,
    /// Our own writes are on their way back.
    NotYet,
    /// The view, and the UID that owns everything in it.
    View(Box<Observed>, Arc<str>, Option<FieldError>),
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
                tracing::warn!(cluster = %key, %error, "cannot look at the cluster");
                PassEnd::Failed
            }
        };
        self.metrics.pass_seconds.observe(started.elapsed().as_secs_f64());
        end
    }

    /// The view of one cluster, from memory. Only a write that did not come back in time costs a request.
    async fn gather(&self, key: &ClusterKey) -> Result<Gathered, kube::Error> {
        let Some(stored) = self.cache.clusters.get(key) else { return Ok(Gathered::Gone) };
        let uid = Arc::clone(&stored.uid);
        let (gate, memory) = self.ledger.look(key, &uid, stored.generation, &self.cache);
        match gate {
            Gate::Open => {}
            Gate::Wait => return Ok(Gathered::NotYet),
            Gate::Overdue => {
                tracing::warn!(cluster = %key, "the watch did not show our writes in time; listing");
                self.metrics.live_lists.inc();
                self.list(key, &uid).await?;
                self.ledger.settle(key);
            }
        }
        let (cluster, undecodable) = decode(key, &stored);
        let observed =
            Observed { cluster, pods: self.cache.pods.of(&uid), services: self.cache.services.of(&uid), memory };
        Ok(Gathered::View(Box::new(observed), uid, undecodable))
    }

    /// Reads a cluster's pods and Services live.
    async fn list(&self, key: &ClusterKey, uid: &str) -> Result<(), kube::Error> {
        let pods: Api<WatchedPod> = Api::namespaced(self.client.clone(), &key.namespace);
        let pods = pods.list(&ListParams::default().labels(&format!("ray.io/cluster={}", key.name))).await?;
        let listed_at = version(pods.metadata.resource_version.as_deref().unwrap_or_default());
        self.cache.pods.replace_owner(uid, pods.items.into_iter().map(|pod| pod.object).collect(), listed_at);
        let services: Api<WatchedService> = Api::namespaced(self.client.clone(), &key.namespace);
        let services = services.list(&ListParams::default()).await?;
        let listed_at = version(services.metadata.resource_version.as_deref().unwrap_or_default());
        let services = services.items.into_iter().map(|service| service.object);
        let own = services.filter(|service| service.owner_uid.as_deref() == Some(uid)).collect();
        self.cache.services.replace_owner(uid, own, listed_at);
        Ok(())
    }

    /// Plan, act, report.
    async fn work(
        &self,
        key: &ClusterKey,
        observed: &Observed,
        uid: &Arc<str>,
        undecodable: Option<FieldError>,
    ) -> PassEnd {
        let verdict = match undecodable {
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
        if let Some(status) = status
            && !self.write_status(key, status).await
        {
            return PassEnd::Failed;
        }
        // Not done as planned: the ledger has learnt something (how long to hold a step, that a name is spent), and the
        // plan of the next pass knows what follows.
        let plan_again = outcomes.iter().any(|outcome| *outcome != Outcome::Done);
        PassEnd::Done(if plan_again { Some(Duration::ZERO) } else { wake_at.map(until) })
    }

    /// Whether the status was written (or there is nobody left to write it to).
    async fn write_status(&self, key: &ClusterKey, status: StatusPatch) -> bool {
        match self.api.patch_status(&key.namespace, &key.name, &status.patch).await {
            Ok(object) => {
                let text = |pointer| object.pointer(pointer).and_then(serde_json::Value::as_str).unwrap_or_default();
                let version = version(text("/metadata/resourceVersion"));
                self.ledger.expect(key, Pending::StatusWritten { version });
                let got = object.get("status").cloned().and_then(|status| serde_json::from_value(status).ok());
                let got: RayClusterStatus = got.unwrap_or_default();
                let wished = &status.wished;
                let ready = wished.ready_worker_replicas.unwrap_or(0);
                let desired = wished.desired_worker_replicas.unwrap_or(0);
                tracing::info!(cluster = %key, state = wished.state, workers = %format!("{ready}/{desired}"), "status");
                self.ledger.answered(key, AnsweredStatus { wished: status.wished, got });
                true
            }
            Err(error) => {
                // Deleted meanwhile: the watch will say so.
                if self.cache.clusters.get(key).is_none() {
                    return true;
                }
                tracing::warn!(cluster = %key, error = error.message, "cannot write the status");
                false
            }
        }
    }
}

/// Decodes a stored cluster. One that does not decode keeps its metadata and, if possible, its status, so that the
/// reason can be written on it.
fn decode(key: &ClusterKey, stored: &StoredCluster) -> (RayCluster, Option<FieldError>) {
    match serde_json::from_str(&stored.json) {
        Ok(cluster) => (cluster, None),
        Err(error) => {
            let mut cluster = RayCluster::default();
            let object: serde_json::Value = serde_json::from_str(&stored.json).unwrap_or_default();
            cluster.metadata.namespace = Some(key.namespace.to_string());
            cluster.metadata.name = Some(key.name.to_string());
            cluster.metadata.uid = Some(stored.uid.to_string());
            cluster.metadata.generation = Some(stored.generation);
            cluster.status = object.get("status").cloned().and_then(|status| serde_json::from_value(status).ok());
            (cluster, Some(FieldError::spec("spec".to_owned(), format!("cannot be decoded: {error}"))))
        }
    }
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
