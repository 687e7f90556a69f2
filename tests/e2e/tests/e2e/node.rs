//! The node, and the operator on it.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::Pod;
use kube::api::{ListParams, LogParams};
use kube::{Api, Client};
use test_support::{Output, kubectl, workspace};
use tokio::sync::OnceCell;

const NAMESPACE: &str = "ray-system";
const NAME: &str = "ray-operator";

/// Kubeconfig of the node: never the user's own.
pub(crate) fn kubeconfig() -> &'static Path {
    static KUBECONFIG: OnceLock<PathBuf> = OnceLock::new();
    KUBECONFIG.get_or_init(|| {
        let program =
            std::env::var_os("LOCAL_CLUSTER").map_or_else(|| workspace().join("target/local-cluster"), PathBuf::from);
        let output = Command::new(&program)
            .arg("kubeconfig")
            .output()
            .unwrap_or_else(|error| panic!("cannot start {}: {error}; run `scripts/test e2e`", program.display()));
        PathBuf::from(String::from_utf8(output.stdout).unwrap().trim())
    })
}

/// An administrator's client. All tests run in one runtime and share it.
pub(crate) async fn client() -> Client {
    static CLIENT: OnceCell<Client> = OnceCell::const_new();
    let make = async || Client::try_from(test_support::config(kubeconfig(), "e2e-tests").await).unwrap();
    CLIENT.get_or_init(make).await.clone()
}

/// Runs `kubectl` on the node.
pub(crate) async fn kubectl_in(namespace: &str, args: &[&str], stdin: Option<String>) -> Output {
    let mut all = vec!["--namespace", namespace];
    all.extend(args);
    kubectl(kubeconfig(), &all, stdin).await
}

/// Ends early, with a text, when there is no operator to test.
pub(crate) async fn require_operator() {
    let how = "run `scripts/test e2e`, which brings the node up and installs the operator";
    assert!(kubeconfig().exists(), "the node is not up; {how}");
    let deployments: Api<Deployment> = Api::namespaced(client().await, NAMESPACE);
    let deployment = deployments.get(NAME).await.unwrap_or_else(|error| panic!("no operator ({error}); {how}"));
    let ready = deployment.status.and_then(|status| status.ready_replicas).unwrap_or(0);
    assert_eq!(ready, 1, "the operator is not ready; {how}");
}

/// The operator's pod.
pub(crate) async fn operator() -> Pod {
    let pods: Api<Pod> = Api::namespaced(client().await, NAMESPACE);
    let selector = ListParams::default().labels(&format!("app.kubernetes.io/name={NAME}"));
    let mut pods = pods.list(&selector).await.unwrap().items;
    pods.retain(|pod| !test_support::is_leaving(pod));
    assert_eq!(pods.len(), 1, "{:?}", test_support::names(&pods));
    pods.remove(0)
}

/// The operator's log, from its start.
pub(crate) async fn operator_log() -> String {
    let pods: Api<Pod> = Api::namespaced(client().await, NAMESPACE);
    pods.logs(test_support::name(&operator().await), &LogParams::default()).await.unwrap()
}
