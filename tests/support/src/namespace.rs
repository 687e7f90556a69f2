//! A namespace of one test.

use std::sync::atomic::{AtomicU32, Ordering};

use k8s_openapi::api::core::v1::{Namespace as KubernetesNamespace, Pod, Service, ServiceAccount};
use k8s_openapi::api::events::v1::Event;
use kube::api::{DeleteParams, ListParams, Patch, PatchParams, PostParams};
use kube::{Api, Client};
use ray_api::{RayCluster, RayClusterStatus};
use serde_json::{Value, json};

use crate::api_cluster::ApiCluster;
use crate::audit::Audit;
use crate::eventually::eventually;
use crate::kubectl::{Output, kubectl};
use crate::kubelet::Kubelet;
use crate::look::{SeenEvent, is_leaving, name};
use crate::operator::Operator;
use crate::player::{Play, Player};

/// A namespace with a name of its own, deleted at the end of the test.
pub struct Namespace {
    /// Its name.
    pub name: String,
    /// An administrator's client.
    pub client: Client,
    /// RayClusters in it.
    pub clusters: Api<RayCluster>,
    /// Pods in it.
    pub pods: Api<Pod>,
    /// Services in it.
    pub services: Api<Service>,
    /// Its kubelet.
    pub kubelet: Kubelet,
    /// What operators asked of the API server about it.
    pub audit: Audit,
}

impl std::fmt::Debug for Namespace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Namespace").field("name", &self.name).finish_non_exhaustive()
    }
}

static COUNT: AtomicU32 = AtomicU32::new(1);

impl Namespace {
    /// Makes one and waits until pods can be made in it.
    ///
    /// # Panics
    ///
    /// When the API server refuses.
    pub async fn new(prefix: &str) -> Self {
        let cluster = ApiCluster::get();
        let client = cluster.client().await;
        let name = format!("{prefix}-{}", COUNT.fetch_add(1, Ordering::Relaxed));
        let object = serde_json::from_value(json!({"metadata": {"name": name}})).unwrap();
        let namespaces: Api<KubernetesNamespace> = Api::all(client.clone());
        namespaces.create(&PostParams::default(), &object).await.unwrap();
        let accounts: Api<ServiceAccount> = Api::namespaced(client.clone(), &name);
        eventually("a default ServiceAccount", async || {
            accounts.get("default").await.map_err(|error| error.to_string())
        })
        .await;
        Self {
            clusters: Api::namespaced(client.clone(), &name),
            pods: Api::namespaced(client.clone(), &name),
            services: Api::namespaced(client.clone(), &name),
            kubelet: Kubelet::new(client.clone(), &name),
            audit: Audit::new(cluster.audit_log.clone(), &name),
            name,
            client,
        }
    }

    /// Starts an operator in it.
    pub async fn operator(&self) -> Operator {
        Operator::start(&self.name, "one").await
    }

    /// Starts a kubelet that plays by itself.
    #[must_use]
    pub fn play(&self, play: Play) -> Player {
        Player::start(self.client.clone(), &self.name, play)
    }

    /// Creates a RayCluster.
    ///
    /// # Panics
    ///
    /// When the API server refuses it.
    pub async fn create(&self, cluster: &RayCluster) -> RayCluster {
        self.clusters.create(&PostParams::default(), cluster).await.unwrap()
    }

    /// Merge-patches a RayCluster.
    ///
    /// # Panics
    ///
    /// When the API server refuses it.
    pub async fn patch(&self, cluster: &str, patch: Value) -> RayCluster {
        self.clusters.patch(cluster, &PatchParams::default(), &Patch::Merge(patch)).await.unwrap()
    }

    /// Patches a RayCluster by JSON patch, as Ray's autoscaler does.
    ///
    /// # Panics
    ///
    /// When the API server refuses it.
    pub async fn json_patch(&self, cluster: &str, operations: Value) -> RayCluster {
        let patch: Patch<RayCluster> = Patch::Json(serde_json::from_value(operations).unwrap());
        self.clusters.patch(cluster, &PatchParams::default(), &patch).await.unwrap()
    }

    /// Sets the replicas of the group at `index`.
    pub async fn scale(&self, cluster: &str, index: usize, replicas: i32) {
        let path = format!("/spec/workerGroupSpecs/{index}/replicas");
        self.json_patch(cluster, json!([{"op": "replace", "path": path, "value": replicas}])).await;
    }

    /// All pods with the cluster's label, by name; leaving ones too.
    ///
    /// # Panics
    ///
    /// When they cannot be listed.
    pub async fn all_pods(&self, cluster: &str) -> Vec<Pod> {
        let selector = ListParams::default().labels(&format!("ray.io/cluster={cluster}"));
        self.pods.list(&selector).await.unwrap().items
    }

    /// Pods of a group that are not leaving, by name; the head's group is `headgroup`.
    pub async fn group(&self, cluster: &str, group: &str) -> Vec<Pod> {
        let label = |pod: &Pod| pod.metadata.labels.as_ref().and_then(|labels| labels.get("ray.io/group").cloned());
        let pods = self.all_pods(cluster).await.into_iter();
        pods.filter(|pod| !is_leaving(pod) && label(pod).as_deref() == Some(group)).collect()
    }

    /// The head that is not leaving, if there is one.
    pub async fn head(&self, cluster: &str) -> Option<Pod> {
        self.group(cluster, "headgroup").await.into_iter().next()
    }

    /// Waits until a group has `count` pods that are not leaving; returns them, by name.
    #[track_caller]
    pub fn has(&self, cluster: &str, group: &str, count: usize) -> impl Future<Output = Vec<Pod>> {
        let check = async move || {
            let pods = self.group(cluster, group).await;
            if pods.len() == count {
                return Ok(pods);
            }
            Err(format!("{} pods: {:?}; {}", pods.len(), crate::names(&pods), self.describe(cluster).await))
        };
        let what = format!("{count} pods in {group} of {cluster}");
        eventually(what, check)
    }

    /// The status of a cluster; empty while there is none.
    ///
    /// # Panics
    ///
    /// When there is no such cluster.
    pub async fn status(&self, cluster: &str) -> RayClusterStatus {
        self.clusters.get(cluster).await.unwrap().status.unwrap_or_default()
    }

    /// Waits until the status fulfils `wanted`; returns it.
    #[track_caller]
    pub fn status_is(
        &self,
        cluster: &str,
        what: &'static str,
        mut wanted: impl FnMut(&RayClusterStatus) -> bool,
    ) -> impl Future<Output = RayClusterStatus> {
        eventually(what, async move || {
            let status = self.status(cluster).await;
            if wanted(&status) { Ok(status) } else { Err(self.describe(cluster).await) }
        })
    }

    /// Waits until the cluster is complete, as the newest spec wants it.
    #[track_caller]
    pub fn ready(&self, cluster: &str) -> impl Future<Output = RayClusterStatus> {
        eventually("ready cluster", async move || {
            let object = self.clusters.get(cluster).await.unwrap();
            let status = object.status.clone().unwrap_or_default();
            let newest = status.observed_generation == object.metadata.generation;
            let complete = status.state == "ready"
                && status.condition_is_true("HeadPodReady")
                && status.desired_worker_replicas == status.ready_worker_replicas;
            if newest && complete { Ok(status) } else { Err(self.describe(cluster).await) }
        })
    }

    /// Waits until the operator has worked on the spec as it is now.
    #[track_caller]
    pub fn observed(&self, cluster: &str) -> impl Future<Output = RayClusterStatus> {
        eventually("status of the newest spec", async move || {
            let object = self.clusters.get(cluster).await.unwrap();
            let status = object.status.clone().unwrap_or_default();
            let newest = status.observed_generation == object.metadata.generation;
            if newest { Ok(status) } else { Err(self.describe(cluster).await) }
        })
    }

    /// Events about a cluster, sorted.
    ///
    /// # Panics
    ///
    /// When they cannot be listed.
    pub async fn events(&self, cluster: &str) -> Vec<SeenEvent> {
        let events: Api<Event> = Api::namespaced(self.client.clone(), &self.name);
        let events = events.list(&ListParams::default()).await.unwrap().items.into_iter();
        let about = |event: &Event| {
            let regarding = event.regarding.as_ref();
            regarding.is_some_and(|object| {
                object.kind.as_deref() == Some("RayCluster") && object.name.as_deref() == Some(cluster)
            })
        };
        let mut events: Vec<SeenEvent> = events.filter(about).map(SeenEvent::from).collect();
        events.sort();
        events
    }

    /// Waits for an event with that reason whose text contains `text`.
    #[track_caller]
    pub fn event(&self, cluster: &str, reason: &str, text: &str) -> impl Future<Output = SeenEvent> {
        eventually("event", async move || {
            let events = self.events(cluster).await;
            let found = events.iter().find(|event| event.reason == reason && event.note.contains(text)).cloned();
            found.ok_or_else(|| format!("no {reason} with {text:?} among {events:#?}"))
        })
    }

    /// Runs `kubectl` in this namespace.
    pub async fn kubectl(&self, args: &[&str], stdin: Option<String>) -> Output {
        let mut all = vec!["--namespace", self.name.as_str()];
        all.extend(args);
        kubectl(&ApiCluster::get().kubeconfig, &all, stdin).await
    }

    /// A cluster in words, for failures.
    pub async fn describe(&self, cluster: &str) -> String {
        let pods = self.all_pods(cluster).await;
        let pods = pods.iter().map(|pod| {
            let phase = pod.status.as_ref().and_then(|status| status.phase.clone()).unwrap_or_default();
            format!("{} {phase}{}", name(pod), if is_leaving(pod) { " leaving" } else { "" })
        });
        let pods: Vec<String> = pods.collect();
        let status = match self.clusters.get_opt(cluster).await {
            Ok(Some(object)) => serde_json::to_string(&object.status).unwrap_or_default(),
            other => format!("{:?}", other.map(|_| "no such cluster")),
        };
        format!("pods [{}]; status {status}", pods.join(", "))
    }
}

impl Drop for Namespace {
    /// Asks for the namespace's end from a thread of its own: a runtime that ends cannot wait for it.
    fn drop(&mut self) {
        let name = self.name.clone();
        let deleting = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async move {
                let namespaces: Api<KubernetesNamespace> = Api::all(ApiCluster::get().client().await);
                let _ = namespaces.delete(&name, &DeleteParams::default()).await;
            });
        });
        let _ = deleting.join();
    }
}
