//! `/healthz`, `/readyz` and `/metrics`.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context;
use axum::Router;
use axum::http::{StatusCode, header};
use axum::routing::get;
use prometheus_client::encoding::text::encode;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::metrics::Metrics;

/// Whether the caches are filled, so that the operator does its work.
#[derive(Debug, Clone, Default)]
pub struct Ready(Arc<AtomicBool>);

impl Ready {
    /// Says so.
    pub fn set(&self) {
        self.0.store(true, Ordering::Release);
    }

    fn get(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

/// Serves health on one address and metrics on another until `stop`.
///
/// # Errors
///
/// An address that cannot be bound.
pub async fn serve(
    health: SocketAddr,
    metrics_address: SocketAddr,
    ready: Ready,
    metrics: &Metrics,
    stop: CancellationToken,
) -> anyhow::Result<()> {
    let health_routes = Router::new().route("/healthz", get(async || "ok")).route(
        "/readyz",
        get(async move || match ready.get() {
            true => (StatusCode::OK, "ok"),
            false => (StatusCode::SERVICE_UNAVAILABLE, "the caches are not filled yet"),
        }),
    );
    let registry = Arc::new(metrics.registry());
    let metrics_routes = Router::new().route(
        "/metrics",
        get(async move || {
            let mut text = String::new();
            match encode(&mut text, &registry) {
                Ok(()) => {
                    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
                    (StatusCode::OK, [(header::CONTENT_TYPE, kind)], text)
                }
                Err(error) => {
                    (StatusCode::INTERNAL_SERVER_ERROR, [(header::CONTENT_TYPE, "text/plain")], error.to_string())
                }
            }
        }),
    );
    let bind = async |address: SocketAddr| {
        TcpListener::bind(address).await.with_context(|| format!("cannot listen on {address}"))
    };
    let (health, metrics) = (bind(health).await?, bind(metrics_address).await?);
    let stopped = || stop.clone().cancelled_owned();
    tokio::try_join!(
        axum::serve(health, health_routes).with_graceful_shutdown(stopped()),
        axum::serve(metrics, metrics_routes).with_graceful_shutdown(stopped()),
    )?;
    Ok(())
}
