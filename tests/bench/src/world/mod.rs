//! What is measured against: a Kubernetes API of upstream's own programs, nodes that kwok plays, and the operator.

mod audit;
mod guarded;
mod model;
mod node;
mod operator;
mod process;
mod seen;
mod view;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use futures::{StreamExt, TryStreamExt};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::core::Request;
use kube::core::params::{DeleteParams, ListParams, Patch, PatchParams, PostParams};
use kube::{Client, Config};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Value, json};

pub(crate) use audit::{Audit, by_kind};
pub(crate) use guarded::Guarded;
pub(crate) use model::{Model, cluster};
pub(crate) use operator::Operator;
pub(crate) use process::load;
pub(crate) use view::{Entry, Moments, View, all_ready, last};

use crate::options::Options;

/// Namespace in which the operator works.
pub(crate) const OURS: &str = "bench";
/// Namespace in which the bare client works.
pub(crate) const FLOOR: &str = "bench-floor";
/// Requests the bare client has under way at a time: the operator's own default.
pub(crate) const CONCURRENCY: usize = 32;
/// How long anything may take before it counts as broken.
pub(crate) const PATIENCE: Duration = Duration::from_secs(180);
/// Where definitions of resources are.
const CRDS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
/// Simulated nodes; each takes 1000 pods.
const NODES: &str = "5";

/// The world; everything in it ends when it is dropped.
pub(crate) struct World {
    /// Pods, live.
    pub(crate) pods: View,
    /// RayClusters, live.
    pub(crate) clusters: View,
    /// The API server's log.
    pub(crate) audit: Audit,
    /// The bare client.
    pub(crate) client: Client,
    /// Path of an administrator's kubeconfig.
    pub(crate) kubeconfig: PathBuf,
    /// The operator's binary; a copy, so that a build meanwhile changes nothing.
    pub(crate) binary: PathBuf,
    /// Folder for logs.
    pub(crate) directory: PathBuf,
    made_crd: bool,
    /// In the order in which they end.
    children: Vec<Guarded>,
}

#[derive(Deserialize)]
struct Started {
    kubeconfig: PathBuf,
}

impl World {
    /// Starts everything but the operator.
    ///
    /// # Errors
    ///
    /// Something does not start; the text says what.
    pub(crate) async fn start(options: &Options) -> anyhow::Result<Self> {
        let (directory, binary) = prepare(options)?;
        let audit = directory.join("audit.log");
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let arguments = ["api", "run", "--output", "json", "--audit-log", &text(&audit)];
        let api = Guarded::start(&options.local_cluster, &arguments, &[], &directory.join("api.log"))?;
        let started: Started = serde_json::from_str(&api.line(PATIENCE)?).context("api run")?;
        let kubeconfig = started.kubeconfig;
        let arguments = ["kwok", "--kubeconfig", &text(&kubeconfig), "--nodes", NODES];
        let kwok = Guarded::start(&options.local_cluster, &arguments, &[], &directory.join("kwok.log"))?;
        kwok.line(PATIENCE)?;
        let client = client(&kubeconfig).await?;
        install(&client, true).await?;
        crate::say("API server and simulated nodes are up");
        Ok(Self {
            pods: View::new(client.clone(), &seen::pods()),
            clusters: View::new(client.clone(), &seen::clusters()),
            audit: Audit::new(audit),
            client,
            kubeconfig,
            binary,
            directory,
            made_crd: true,
            children: vec![kwok, api],
        })
    }

    /// Creates objects, [`CONCURRENCY`] at a time; `path` is that of their collection, as in `pods` or
    /// `rayclusters`.
    ///
    /// # Errors
    ///
    /// One is refused.
    pub(crate) async fn create(&self, namespace: &str, objects: &[(&str, Value)]) -> anyhow::Result<()> {
        let create = |(kind, object): (&str, Value)| {
            let client = self.client.clone();
            let path = collection(namespace, kind);
            async move { create(&client, &path, &object).await }
        };
        futures::stream::iter(objects.iter().cloned()).map(create).buffer_unordered(CONCURRENCY).try_collect().await
    }

    /// Deletes everything of a kind in a namespace.
    ///
    /// # Errors
    ///
    /// It is refused.
    pub(crate) async fn delete_all(&self, namespace: &str, kind: &str) -> anyhow::Result<()> {
        let (delete, list) = (DeleteParams::default(), ListParams::default());
        let request = Request::new(collection(namespace, kind)).delete_collection(&delete, &list)?;
        self.client.request::<IgnoredAny>(request).await?;
        Ok(())
    }

    /// CPU time the Kubernetes side used so far, milliseconds: API server, etcd, controllers, scheduler, simulated nodes.
    pub(crate) fn cpu(&self) -> f64 {
        process::tree_cpu_milliseconds(&self.children.iter().map(|child| child.pid).collect::<Vec<_>>())
    }

    /// Merge-patches a RayCluster.
    ///
    /// # Errors
    ///
    /// It is refused.
    pub(crate) async fn patch_cluster(&self, name: &str, patch: &Value) -> anyhow::Result<()> {
        let request = Request::new(collection(OURS, "rayclusters"));
        let request = request.patch(name, &PatchParams::default(), &Patch::Merge(patch))?;
        self.client.request::<IgnoredAny>(request).await?;
        Ok(())
    }

    /// Deletes a RayCluster.
    ///
    /// # Errors
    ///
    /// It is refused.
    pub(crate) async fn delete_cluster(&self, name: &str) -> anyhow::Result<()> {
        let request = Request::new(collection(OURS, "rayclusters")).delete(name, &DeleteParams::default())?;
        self.client.request::<IgnoredAny>(request).await?;
        Ok(())
    }

    /// Waits until nothing is left of a namespace's pods.
    ///
    /// # Errors
    ///
    /// Some stay.
    pub(crate) async fn until_no_pods(&self, namespace: &str) -> anyhow::Result<()> {
        self.pods.until(namespace, "pods are gone", PATIENCE, <[Entry]>::is_empty).await.map(|_| ())
    }

    /// Deletes our RayClusters and waits for the end of their pods.
    ///
    /// # Errors
    ///
    /// They stay.
    pub(crate) async fn clear(&self) -> anyhow::Result<()> {
        self.delete_all(OURS, "rayclusters").await?;
        self.clusters.until(OURS, "clusters are gone", PATIENCE, <[Entry]>::is_empty).await?;
        self.until_no_pods(OURS).await
    }
}

/// The folder, empty, and the operator's binary in it.
fn prepare(options: &Options) -> anyhow::Result<(PathBuf, PathBuf)> {
    let directory = std::path::absolute(&options.directory)?;
    match std::fs::remove_dir_all(&directory) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error.into()),
        _ => std::fs::create_dir_all(&directory)?,
    }
    let binary = directory.join("ray-operator");
    std::fs::copy(&options.operator, &binary)
        .with_context(|| format!("no operator at {}; `make bench` builds it", options.operator.display()))?;
    Ok((directory, binary))
}

/// A client that names itself `bench` and repeats nothing.
///
/// # Errors
///
/// The kubeconfig is none.
pub(crate) async fn client(kubeconfig: &Path) -> anyhow::Result<Client> {
    let kubeconfig = Kubeconfig::read_from(kubeconfig)?;
    let mut config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?;
    config.default_retry = false;
    config.headers.push((http::header::USER_AGENT, http::HeaderValue::from_static("bench")));
    Ok(Client::try_from(config)?)
}

/// Creates the namespaces and, if wanted, the CRD, and waits until both can be used.
async fn install(client: &Client, with_crd: bool) -> anyhow::Result<()> {
    if with_crd {
        let text = std::fs::read_to_string("ray-operator/deploy/crds/ray.io_rayclusters.yaml").context("the CRD")?;
        let crd: Value = serde_saphyr::from_str(&text).context("the CRD")?;
        create(client, CRDS, &crd).await?;
    }
    for name in [OURS, FLOOR] {
        let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}});
        create(client, "/api/v1/namespaces", &namespace).await?;
        // Pods are refused before.
        until_found(client, &format!("/api/v1/namespaces/{name}/serviceaccounts/default")).await?;
    }
    until_found(client, &collection(OURS, "rayclusters")).await
}

async fn until_found(client: &Client, path: &str) -> anyhow::Result<()> {
    let deadline = Instant::now() + PATIENCE;
    while get(client, path).await.is_err() {
        if Instant::now() > deadline {
            bail!("{path} is not there after {} s", PATIENCE.as_secs());
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    Ok(())
}

/// Reads whatever is at a path.
///
/// # Errors
///
/// Nothing is.
pub(crate) async fn get(client: &Client, path: &str) -> anyhow::Result<Value> {
    Ok(client.request(http::Request::get(path).body(Vec::new())?).await?)
}

/// Path of all objects of a kind in a namespace.
pub(crate) fn collection(namespace: &str, kind: &str) -> String {
    let api = if kind == "rayclusters" { "/apis/ray.io/v1" } else { "/api/v1" };
    format!("{api}/namespaces/{namespace}/{kind}")
}

async fn create(client: &Client, path: &str, object: &Value) -> anyhow::Result<()> {
    let request = Request::new(path).create(&PostParams::default(), serde_json::to_vec(object)?)?;
    client.request::<IgnoredAny>(request).await.with_context(|| format!("cannot create in {path}"))?;
    Ok(())
}
