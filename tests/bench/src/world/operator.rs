//! The operator: its release binary, with default settings, as a child process.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};

use super::process::{self, Memory};
use super::{Guarded, PATIENCE, World};

/// A running operator; it ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Operator {
    process: Guarded,
    metrics: SocketAddr,
    /// When it was started.
    pub(crate) started: Instant,
    /// How long it took until `/readyz` said yes.
    pub(crate) ready_after: Duration,
}

impl Operator {
    /// Starts it and waits until it is ready to work.
    ///
    /// # Errors
    ///
    /// It does not become ready.
    pub(crate) async fn start(world: &World) -> anyhow::Result<Self> {
        Self::start_with(&world.binary, &world.kubeconfig, &world.directory.join("operator.log")).await
    }

    /// The same with the files it needs.
    ///
    /// # Errors
    ///
    /// It does not become ready.
    pub(crate) async fn start_with(binary: &Path, kubeconfig: &Path, log: &Path) -> anyhow::Result<Self> {
        let (health, metrics) = (free_address()?, free_address()?);
        let arguments = ["--health-probe-bind-address", &health.to_string(), "--metrics-addr", &metrics.to_string()];
        let kubeconfig = kubeconfig.to_string_lossy().into_owned();
        let started = Instant::now();
        let process = Guarded::start(binary, &arguments, &[("KUBECONFIG", &kubeconfig)], log)?;
        while get(health, "/readyz").is_err() {
            if started.elapsed() > PATIENCE {
                bail!("the operator is not ready after {} s; {} says why", PATIENCE.as_secs(), log.display());
            }
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        Ok(Self { process, metrics, started, ready_after: started.elapsed() })
    }

    /// Waits until it has done so many passes; returns how long after its start that was.
    ///
    /// # Errors
    ///
    /// It has not.
    pub(crate) async fn until_passes(&self, count: usize) -> anyhow::Result<Duration> {
        while self.metric("ray_operator_pass_seconds_count")? < count {
            if self.started.elapsed() > PATIENCE {
                bail!("the operator has not done {count} passes after {} s", PATIENCE.as_secs());
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        Ok(self.started.elapsed())
    }

    /// A metric that is a whole number.
    fn metric(&self, name: &str) -> anyhow::Result<usize> {
        let text = get(self.metrics, "/metrics")?;
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        line.with_context(|| format!("no metric {name}"))?.trim().parse().context("a metric that is no number")
    }

    /// Its memory.
    ///
    /// # Errors
    ///
    /// It ended.
    pub(crate) fn memory(&self) -> anyhow::Result<Memory> {
        process::memory(self.process.pid).context("the operator ended")
    }

    /// Lets the peak of its memory start anew.
    ///
    /// # Errors
    ///
    /// It ended.
    pub(crate) fn forget_peak(&self) -> anyhow::Result<()> {
        process::forget_peak(self.process.pid)
    }

    /// CPU time it used so far, milliseconds.
    ///
    /// # Errors
    ///
    /// It ended.
    pub(crate) fn cpu(&self) -> anyhow::Result<f64> {
        process::cpu_milliseconds(self.process.pid).context("the operator ended")
    }
}

/// A free port on loopback: taken and given back, so somebody else may take it in between; then the start fails.
fn free_address() -> anyhow::Result<SocketAddr> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?)
}

/// The body of a successful answer. It blocks, for the moment that a local server takes.
fn get(address: SocketAddr, path: &str) -> anyhow::Result<String> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(Duration::from_secs(5)))?;
    let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes())?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    let (head, body) = answer.split_once("\r\n\r\n").context("no HTTP")?;
    if !head.starts_with("HTTP/1.1 200") {
        bail!("{}", head.lines().next().unwrap_or_default());
    }
    Ok(body.to_owned())
}
