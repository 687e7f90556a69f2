//! One API server a test process.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::time::Instant;

use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use serde::Deserialize;

use crate::eventually::DEADLINE;
use crate::kubectl::{kubectl_blocking, kubectl_ok};
use crate::paper_node;

/// A Kubernetes API without nodes, started by the first test that asks for it.
///
/// It ends when this process does: it reads our end of a pipe. So does nothing else, which is why nobody stops it.
#[derive(Debug)]
pub struct ApiCluster {
    /// Path of an administrator's kubeconfig.
    pub kubeconfig: PathBuf,
    /// Path of the API server's audit log: one JSON line a request.
    pub audit_log: PathBuf,
    /// Directory of the cluster: `logs/` holds what its programs say.
    pub dir: PathBuf,
    _child: Child,
}

#[derive(Deserialize)]
struct Started {
    kubeconfig: PathBuf,
    dir: PathBuf,
}

/// Root of the workspace.
#[must_use]
pub fn workspace() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// The program `local-cluster`: `$LOCAL_CLUSTER`, or what `make target/local-cluster` builds.
pub(crate) fn local_cluster() -> PathBuf {
    std::env::var_os("LOCAL_CLUSTER").map_or_else(|| workspace().join("target/local-cluster"), PathBuf::from)
}

impl ApiCluster {
    /// The cluster of this process, with the CRDs, the operator's role and a node that exists on paper only.
    ///
    /// # Panics
    ///
    /// When it does not start; the text says what is missing.
    pub fn get() -> &'static Self {
        static CLUSTER: OnceLock<ApiCluster> = OnceLock::new();
        CLUSTER.get_or_init(|| {
            // Several libraries bring rustls; the choice is made once, before the first connection.
            let _ = rustls::crypto::ring::default_provider().install_default();
            let cluster = Self::start();
            cluster.prepare();
            paper_node::keep_alive(cluster.kubeconfig.clone());
            cluster
        })
    }

    fn start() -> Self {
        let program = local_cluster();
        let binary = std::env::current_exe().unwrap();
        let logs = workspace().join("target/api-tests");
        std::fs::create_dir_all(&logs).unwrap();
        let test = binary.file_stem().unwrap().to_string_lossy().into_owned();
        // `scale-0123456789abcdef` → `scale`: one file a test binary, overwritten by its next run.
        let test = test.rsplit_once('-').map_or(test.as_str(), |(name, _)| name).to_owned();
        let audit_log = logs.join(format!("{test}.audit.log"));
        let _ = std::fs::remove_file(&audit_log);
        let mut child = Command::new(&program)
            // Without a scheduler nothing touches a pod but the operator and the test.
            .args(["api", "run", "--output", "json", "--without", "scheduler", "--audit-log"])
            .arg(&audit_log)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| {
                panic!(
                    "cannot start {}: {error}; run `make target/local-cluster`, or set LOCAL_CLUSTER",
                    program.display()
                )
            });
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let started: Started = serde_json::from_str(&line)
            .unwrap_or_else(|error| panic!("{} api run did not start a cluster: {error}: {line:?}", program.display()));
        Self { kubeconfig: started.kubeconfig, audit_log, dir: started.dir, _child: child }
    }

    fn prepare(&self) {
        let path = |path: &str| workspace().join(path).to_string_lossy().into_owned();
        kubectl_ok(&self.kubeconfig, &["apply", "-f", &path("ray-operator/deploy/crds")]);
        wait_until_served(&self.kubeconfig);
        for file in ["cluster_role.yaml", "cluster_role_binding.yaml"] {
            kubectl_ok(&self.kubeconfig, &["apply", "-f", &path(&format!("ray-operator/deploy/kustomize/{file}"))]);
        }
    }

    /// How to reach it as an administrator, under a name of the caller's choice (`User-Agent`).
    pub async fn config(&self, user_agent: &str) -> Config {
        config(&self.kubeconfig, user_agent).await
    }

    /// An administrator's client. A client lives in the runtime that it is made in, so each test makes its own.
    ///
    /// # Panics
    ///
    /// When the kubeconfig is none.
    pub async fn client(&self) -> Client {
        Client::try_from(self.config("test").await).unwrap()
    }
}

/// Until the new kind can be listed. `kubectl wait` will not do: it fails on a definition without conditions yet.
fn wait_until_served(kubeconfig: &Path) {
    let start = Instant::now();
    let list = ["get", "rayclusters", "--all-namespaces", "-o", "name"].map(str::to_owned);
    loop {
        let output = kubectl_blocking(kubeconfig, &list, None);
        if output.success {
            return;
        }
        assert!(start.elapsed() < DEADLINE, "RayClusters are not served: {}", output.stderr);
    }
}

/// How to reach the API server that a kubeconfig names, under a name of the caller's choice (`User-Agent`).
///
/// # Panics
///
/// When it is none.
pub async fn config(kubeconfig: &Path, user_agent: &str) -> Config {
    let kubeconfig = Kubeconfig::read_from(kubeconfig).unwrap();
    let mut config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await.unwrap();
    config.headers.push((http::header::USER_AGENT, user_agent.parse().unwrap()));
    config
}
