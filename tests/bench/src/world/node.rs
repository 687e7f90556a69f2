//! The world with a real node: what `local-cluster up` made, as long as nobody else uses it.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, bail};
use kube::core::Request;
use kube::core::params::DeleteParams;
use serde::de::IgnoredAny;
use serde_json::Value;

use super::{Audit, CRDS, FLOOR, OURS, PATIENCE, View, World, client, get, install, prepare, seen};
use crate::options::Options;

impl World {
    /// Uses the node.
    ///
    /// # Errors
    ///
    /// It is not healthy, or somebody uses it: there are RayClusters, or an operator runs on it.
    pub(crate) async fn on_node(options: &Options) -> anyhow::Result<Self> {
        let tool = |argument: &str| -> anyhow::Result<String> {
            let output = Command::new(&options.local_cluster).arg(argument).output()?;
            if !output.status.success() {
                bail!("`local-cluster {argument}` failed; `make cluster` brings a node up");
            }
            Ok(String::from_utf8(output.stdout)?.trim().to_owned())
        };
        tool("status")?;
        let kubeconfig = PathBuf::from(tool("kubeconfig")?);
        let client = client(&kubeconfig).await?;
        for (path, what) in [
            ("/apis/ray.io/v1/rayclusters", "RayClusters"),
            ("/apis/apps/v1/deployments?labelSelector=app.kubernetes.io%2Fname%3Dray-operator", "an operator"),
        ] {
            let list = get(&client, path).await.unwrap_or_default();
            let items = list.get("items").and_then(Value::as_array);
            if items.is_some_and(|items| !items.is_empty()) {
                bail!("there is {what} on the node: somebody uses it");
            }
        }
        let (directory, binary) = prepare(options)?;
        let had_crd = get(&client, &format!("{CRDS}/rayclusters.ray.io")).await.is_ok();
        install(&client, !had_crd).await?;
        Ok(Self {
            pods: View::new(client.clone(), &seen::pods()),
            clusters: View::new(client.clone(), &seen::clusters()),
            audit: Audit::new(directory.join("audit.log")),
            client,
            kubeconfig,
            binary,
            directory,
            made_crd: !had_crd,
            children: Vec::new(),
        })
    }

    /// Removes what [`Self::on_node`] and the measurements made.
    ///
    /// # Errors
    ///
    /// It stays.
    pub(crate) async fn leave_node(&self) -> anyhow::Result<()> {
        let delete = async |path: &str, name: &str| -> anyhow::Result<()> {
            let request = Request::new(path).delete(name, &DeleteParams::default())?;
            self.client.request::<IgnoredAny>(request).await.with_context(|| format!("cannot delete {name}"))?;
            Ok(())
        };
        for name in [OURS, FLOOR] {
            delete("/api/v1/namespaces", name).await?;
        }
        if self.made_crd {
            delete(CRDS, "rayclusters.ray.io").await?;
        }
        let deadline = std::time::Instant::now() + PATIENCE;
        while get(&self.client, &format!("/api/v1/namespaces/{OURS}")).await.is_ok() {
            if std::time::Instant::now() > deadline {
                bail!("namespace {OURS} is not gone after {} s", PATIENCE.as_secs());
            }
            tokio::time::sleep(std::time::Duration::from_millis(200)).await;
        }
        Ok(())
    }
}
