//! Wires everything together and runs until told to stop.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use kube::{Client, Config};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::act::WriteApi;
use crate::cache::Cache;
use crate::event_sink::EventSink;
use crate::ledger::Ledger;
use crate::metrics::Metrics;
use crate::options::Options;
use crate::pass::Passes;
use crate::queue::Queue;
use crate::server::{self, Ready};
use crate::watch;

/// How long a stop waits for what is under way. Below the 30 s that Kubernetes gives a pod.
const STOP_DEADLINE: Duration = Duration::from_secs(20);

/// How the API server's audit log and its metrics name us.
const USER_AGENT: &str = concat!("ray-operator/", env!("CARGO_PKG_VERSION"));

/// Runs the operator until SIGTERM or SIGINT.
///
/// # Errors
///
/// No configuration for the API server, or an address that cannot be bound.
pub async fn run(options: Options) -> anyhow::Result<()> {
    let stop = CancellationToken::new();
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    tokio::spawn({
        let stop = stop.clone();
        async move {
            tokio::select! {
                _ = terminate.recv() => tracing::info!("SIGTERM: stopping"),
                _ = interrupt.recv() => tracing::info!("SIGINT: stopping"),
            }
            stop.cancel();
        }
    });
    let mut config =
        Config::infer().await.context("cannot find an API server: neither in a cluster nor a kubeconfig")?;
    // Every write has a deadline and a pace of its own; kube's retries would hide both.
    config.default_retry = false;
    config.headers.push((http::header::USER_AGENT, http::HeaderValue::from_static(USER_AGENT)));
    let client = Client::try_from(config).context("cannot make a client for the API server")?;
    run_with(options, client, stop).await
}

/// Runs the operator with a client until `stop`.
///
/// # Errors
///
/// An address that cannot be bound.
pub async fn run_with(options: Options, client: Client, stop: CancellationToken) -> anyhow::Result<()> {
    let metrics = Metrics::default();
    let ready = Ready::default();
    let serve =
        server::serve(options.health_probe_bind_address, options.metrics_addr, ready.clone(), &metrics, stop.clone());
    let work = work(&options, client, &metrics, ready, stop.clone());
    let serve = async {
        let result = serve.await;
        stop.cancel();
        // Served or not: the work comes to its end first.
        if result.is_ok() {
            std::future::pending::<()>().await;
        }
        result
    };
    // A client that keeps a connection half open would hold up the server's graceful end, but not ours.
    tokio::select! {
        result = serve => result,
        () = work => Ok(()),
    }
}

async fn work(options: &Options, client: Client, metrics: &Metrics, ready: Ready, stop: CancellationToken) {
    let namespaces = options.namespaces();
    let cache = Arc::new(Cache::default());
    let (queue, trigger) = Queue::new();
    let filled = Arc::new(Semaphore::new(0));
    watch::start(&client, &namespaces, &cache, &trigger, &filled, &stop);
    // No decision before everything was listed: an absent pod may be one that was not read yet.
    tokio::select! {
        _ = filled.acquire_many(watch::count(&namespaces)) => {}
        () = stop.cancelled() => return,
    }
    tracing::info!(
        version = env!("CARGO_PKG_VERSION"),
        clusters = cache.clusters.len(),
        pods = cache.pods.len(),
        namespaces = if namespaces.is_empty() { "all".to_owned() } else { namespaces.join(",") },
        "the caches are filled; working"
    );
    ready.set();

    let api = WriteApi::new(client.clone(), options.max_concurrent_writes.into(), metrics.clone());
    let instance = std::env::var("HOSTNAME").unwrap_or_else(|_| "ray-operator".to_owned());
    let (events, publishing) = EventSink::start(api.clone(), instance, metrics.clone());
    let passes = Passes {
        client,
        cache,
        ledger: Arc::new(Ledger::default()),
        api,
        events,
        config: Arc::new(options.config()),
        metrics: metrics.clone(),
    };
    let stopped = async {
        stop.cancelled().await;
        tokio::time::sleep(STOP_DEADLINE).await;
    };
    let work = async {
        queue
            .run(options.reconcile_concurrency.into(), metrics, stop.clone(), move |key| passes.clone().pass(key))
            .await;
        // `passes` is gone, and with it the last sink: what waits is published, then the task ends.
        let _ = publishing.await;
    };
    tokio::select! {
        () = work => tracing::info!("stopped"),
        () = stopped => tracing::warn!("stopped before everything under way was done"),
    }
}
