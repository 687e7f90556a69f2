//! The operator, in this process.

use std::sync::Once;

use clap::Parser;
use kube::Client;
use ray_operator::options::Options;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::api_cluster::ApiCluster;

/// The ServiceAccount that the shipped role is bound to.
const SERVICE_ACCOUNT: &str = "system:serviceaccount:ray-system:ray-operator";

/// An operator that watches one namespace, with the rights of its shipped role and no more.
#[derive(Debug)]
pub struct Operator {
    user_agent: String,
    stop: CancellationToken,
    task: JoinHandle<anyhow::Result<()>>,
}

impl Operator {
    /// Starts one; `instance` tells several in one namespace apart.
    ///
    /// # Panics
    ///
    /// When the flags are refused or the cluster cannot be reached.
    pub async fn start(namespace: &str, instance: &str) -> Self {
        log();
        let user_agent = format!("ray-operator/{namespace}/{instance}");
        let mut config = ApiCluster::get().config(&user_agent).await;
        config.default_retry = false;
        config.auth_info.impersonate = Some(SERVICE_ACCOUNT.to_owned());
        config.auth_info.impersonate_groups =
            Some(vec!["system:serviceaccounts".to_owned(), "system:authenticated".to_owned()]);
        let client = Client::try_from(config).unwrap();
        let options = Options::parse_from([
            "ray-operator",
            "--watch-namespace",
            namespace,
            "--metrics-addr=127.0.0.1:0",
            "--health-probe-bind-address=127.0.0.1:0",
        ]);
        let stop = CancellationToken::new();
        let task = tokio::spawn(ray_operator::run::run_with(options, client, stop.clone()));
        Self { user_agent, stop, task }
    }

    /// What it calls itself towards the API server.
    #[must_use]
    pub fn user_agent(&self) -> &str {
        &self.user_agent
    }

    /// Stops it gracefully and waits for its end.
    ///
    /// # Panics
    ///
    /// When it ended in an error.
    pub async fn stop(mut self) {
        self.stop.cancel();
        (&mut self.task).await.expect("the operator does not panic").expect("the operator ends well");
    }

    /// Ends it as a crash would: in the midst of what it does.
    pub async fn crash(mut self) {
        self.task.abort();
        let _ = (&mut self.task).await;
    }
}

impl Drop for Operator {
    fn drop(&mut self) {
        self.stop.cancel();
        self.task.abort();
    }
}

/// The operator's log goes where the test's output goes; `RUST_LOG` chooses what is in it.
fn log() {
    static STARTED: Once = Once::new();
    STARTED.call_once(|| {
        let filter = tracing_subscriber::EnvFilter::try_from_default_env()
            .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new("warn,ray_operator=info"));
        let _ = tracing_subscriber::fmt().with_env_filter(filter).with_ansi(false).with_test_writer().try_init();
    });
}
