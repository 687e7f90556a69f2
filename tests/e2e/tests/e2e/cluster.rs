//! A RayCluster in a namespace of its own.

use std::time::{Duration, Instant};

use k8s_openapi::api::core::v1::{Namespace, Pod, PodCondition, Service, ServiceAccount};
use kube::api::{DeleteParams, ListParams, Patch, PatchParams, PostParams};
use kube::{Api, Client};
use ray_api::{RayCluster, RayClusterStatus};
use serde_json::{Value, json};
use test_support::{is_leaving, name};

use crate::node;
use crate::told::tell;
use crate::wait::eventually_within;

/// How long Ray may take. It takes a tenth of it on a quiet machine.
pub(crate) const RAY: Duration = Duration::from_secs(300);
/// How long the operator and the kubelet may take for what needs no Ray to start.
pub(crate) const SOON: Duration = Duration::from_secs(90);

/// A RayCluster and the namespace it is alone in.
#[derive(Clone)]
pub(crate) struct Cluster {
    /// Name of the RayCluster.
    pub(crate) name: String,
    /// Name of the namespace.
    pub(crate) namespace: String,
    client: Client,
    clusters: Api<RayCluster>,
    pub(crate) pods: Api<Pod>,
}

impl Cluster {
    /// Makes a fresh namespace and a cluster in it. What an earlier run left under that name goes first.
    pub(crate) async fn create(namespace: &str, object: &Value) -> Self {
        let client = node::client().await;
        let namespaces: Api<Namespace> = Api::all(client.clone());
        let made = serde_json::from_value(json!({"metadata": {"name": namespace}})).unwrap();
        eventually_within(SOON, "a fresh namespace", async || {
            let _ = namespaces.delete(namespace, &DeleteParams::default()).await;
            namespaces.create(&PostParams::default(), &made).await.map_err(|error| error.to_string())
        })
        .await;
        let accounts: Api<ServiceAccount> = Api::namespaced(client.clone(), namespace);
        eventually_within(SOON, "a default ServiceAccount", async || {
            accounts.get("default").await.map_err(|error| error.to_string())
        })
        .await;
        let cluster = Self {
            name: object.pointer("/metadata/name").and_then(Value::as_str).expect("a name").to_owned(),
            namespace: namespace.to_owned(),
            clusters: Api::namespaced(client.clone(), namespace),
            pods: Api::namespaced(client.clone(), namespace),
            client,
        };
        cluster.apply(object).await;
        cluster
    }

    /// Gives the cluster that spec, whole, as `kubectl replace` would.
    pub(crate) async fn apply(&self, object: &Value) {
        let parameters = PatchParams::apply("e2e-tests").force();
        self.clusters.patch(&self.name, &parameters, &Patch::Apply(object)).await.unwrap();
    }

    /// JSON-patches the cluster, as Ray's autoscaler does.
    pub(crate) async fn patch(&self, operations: Value) {
        let patch: Patch<RayCluster> = Patch::Json(serde_json::from_value(operations).unwrap());
        self.clusters.patch(&self.name, &PatchParams::default(), &patch).await.unwrap();
    }

    /// The object.
    pub(crate) async fn object(&self) -> RayCluster {
        self.clusters.get(&self.name).await.unwrap()
    }

    /// Its pods, leaving ones too.
    pub(crate) async fn all_pods(&self) -> Vec<Pod> {
        self.pods.list(&self.selector()).await.unwrap().items
    }

    /// Its pods of a group that do not leave; the head's group is `headgroup`. Oldest first.
    pub(crate) async fn group(&self, group: &str) -> Vec<Pod> {
        let label = |pod: &Pod| pod.metadata.labels.as_ref().and_then(|labels| labels.get("ray.io/group").cloned());
        let mut pods = self.all_pods().await;
        pods.retain(|pod| !is_leaving(pod) && label(pod).as_deref() == Some(group));
        pods.sort_by_key(test_support::ordinal);
        pods
    }

    /// Its only head.
    pub(crate) async fn head(&self) -> Pod {
        let mut heads = self.group("headgroup").await;
        assert_eq!(heads.len(), 1, "{:?}", test_support::names(&heads));
        heads.remove(0)
    }

    /// Waits until everything that the newest spec asks for is there and ready, and nothing else.
    #[track_caller]
    pub(crate) fn ready(&self) -> impl Future<Output = RayClusterStatus> {
        eventually_within(RAY, "ready cluster", async move || {
            let object = self.object().await;
            let status = object.status.clone().unwrap_or_default();
            let pods = self.all_pods().await;
            let wanted = status.desired_worker_replicas.unwrap_or(-1);
            let complete = status.observed_generation == object.metadata.generation
                && status.state == "ready"
                && status.condition_is_true("HeadPodReady")
                && status.ready_worker_replicas == Some(wanted)
                && i32::try_from(pods.len()).ok() == wanted.checked_add(1)
                && pods.iter().all(|pod| !is_leaving(pod) && condition(pod, "Ready").is_some());
            if complete { Ok(status) } else { Err(self.describe().await) }
        })
    }

    /// Waits until the status fulfils `wanted`.
    #[track_caller]
    pub(crate) fn status_is(
        &self,
        what: &'static str,
        mut wanted: impl FnMut(&RayClusterStatus) -> bool,
    ) -> impl Future<Output = RayClusterStatus> {
        eventually_within(RAY, what, async move || {
            let status = self.object().await.status.unwrap_or_default();
            if wanted(&status) { Ok(status) } else { Err(self.describe().await) }
        })
    }

    /// Deletes the cluster and waits until no pod and no Service of it is left.
    pub(crate) async fn delete(&self) {
        let start = Instant::now();
        self.clusters.delete(&self.name, &DeleteParams::default()).await.unwrap();
        let services: Api<Service> = Api::namespaced(self.client.clone(), &self.namespace);
        eventually_within(SOON, "end of everything with the cluster's label", async || {
            let pods = self.all_pods().await;
            let services = services.list(&self.selector()).await.unwrap().items;
            let gone = self.clusters.get_opt(&self.name).await.unwrap().is_none();
            if gone && pods.is_empty() && services.is_empty() {
                return Ok(());
            }
            Err(format!("{:?}, {:?}", test_support::names(&pods), test_support::names(&services)))
        })
        .await;
        tell(format_args!("delete → nothing left: {:.1} s", start.elapsed().as_secs_f64()));
    }

    /// Deletes the namespace, without waiting.
    pub(crate) async fn put_away(&self) {
        let namespaces: Api<Namespace> = Api::all(self.client.clone());
        let _ = namespaces.delete(&self.namespace, &DeleteParams::default()).await;
    }

    /// The cluster in words, for failures.
    pub(crate) async fn describe(&self) -> String {
        let pods = self.all_pods().await;
        let pods = pods.iter().map(|pod| {
            let phase = pod.status.as_ref().and_then(|status| status.phase.clone()).unwrap_or_default();
            let ready = if condition(pod, "Ready").is_some() { " ready" } else { "" };
            format!("{} {phase}{ready}{}", name(pod), if is_leaving(pod) { " leaving" } else { "" })
        });
        let pods: Vec<String> = pods.collect();
        let status = self.clusters.get_opt(&self.name).await.ok().flatten().and_then(|object| object.status);
        format!("pods [{}]; status {}", pods.join(", "), serde_json::to_string(&status).unwrap_or_default())
    }

    /// Tells how long each pod took for what: whole seconds, which is all that Kubernetes keeps.
    pub(crate) async fn tell_phases(&self) {
        for pod in self.all_pods().await {
            let Some(created) = pod.metadata.creation_timestamp.clone() else { continue };
            let after = |kind| match condition(&pod, kind).and_then(|found| found.last_transition_time) {
                Some(time) => format!("{kind} +{} s", time.0.duration_since(created.0).as_secs()),
                None => format!("not {kind}"),
            };
            let started = pod.status.as_ref().and_then(|status| status.container_statuses.as_ref()?.first().cloned());
            let started = started.and_then(|status| status.state?.running?.started_at).map_or_else(
                || "not started".to_owned(),
                |time| format!("started +{} s", time.0.duration_since(created.0).as_secs()),
            );
            let phases = [after("PodScheduled"), after("Initialized"), started, after("Ready")];
            tell(format_args!("{}: {}", name(&pod), phases.join(", ")));
        }
    }

    fn selector(&self) -> ListParams {
        ListParams::default().labels(&format!("ray.io/cluster={}", self.name))
    }
}

/// A condition of a pod, if it is true.
pub(crate) fn condition(pod: &Pod, kind: &str) -> Option<PodCondition> {
    let conditions = pod.status.as_ref()?.conditions.as_ref()?;
    conditions.iter().find(|condition| condition.type_ == kind && condition.status == "True").cloned()
}

/// How often the containers of a pod were started again.
pub(crate) fn restarts(pod: &Pod) -> i32 {
    let statuses = pod.status.as_ref().and_then(|status| status.container_statuses.as_ref());
    statuses.into_iter().flatten().map(|status| status.restart_count).sum()
}
