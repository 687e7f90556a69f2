//! Probes of the Ray container.
//!
//! Two ways of asking the same: since 2.53 Ray answers over HTTP for the whole node; before, KubeRay's shell
//! command asks the agent and, on the head, the dashboard about the GCS.
//!
//! | Given by the user | Added |
//! |---|---|
//! | none of the three | startup, readiness and liveness, the latter two without a delay of their own |
//! | any | readiness and liveness where missing, with KubeRay's delays; no startup probe |
//!
//! A startup probe of ours would hold back a readiness or liveness probe of the user's until Ray's health endpoints
//! answer, and could kill a container that the user's own liveness probe is meant to judge (one without a dashboard
//! agent, say). So whoever writes a probe gets exactly what KubeRay adds to it.

use k8s_openapi::api::core::v1::{Container, ExecAction, HTTPGetAction, Probe};
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use ray_api::version::RayVersion;

use super::context::NodeContext;
use super::ports::ProbePorts;
use super::start_params::StartParams;

/// Seconds between two probes once Ray is up.
const PERIOD: i32 = 5;
/// Seconds between two probes while Ray starts.
const STARTUP_PERIOD: i32 = 1;
/// Seconds before KubeRay's first liveness and readiness probes.
const LIVENESS_DELAY: i32 = 30;
const READINESS_DELAY: i32 = 10;
/// Failures in a row after which a container is killed, or counts as not ready.
const LIVENESS_FAILURES: i32 = 120;
const READINESS_FAILURES: i32 = 10;
/// Startup failures until a container that never answered is killed: 630 s, the earliest moment at which KubeRay's
/// liveness probe would (30 s, then 120 times 5 s).
const STARTUP_FAILURES: i32 = 630;

/// Adds the probes the user did not give.
pub(super) fn add(ray: &mut Container, ctx: &NodeContext<'_>, params: &StartParams) {
    if !ctx.config.inject_probes {
        return;
    }
    let own = ray.startup_probe.is_some() || ray.readiness_probe.is_some() || ray.liveness_probe.is_some();
    let delay = |seconds| own.then_some(seconds);
    let alive = Handler::alive(ctx, params, ray);
    let ready = Handler::ready(ctx, params, ray);
    // A worker of a RayService that serves nothing leaves the Service at once.
    let readiness_failures = if ctx.serves() && !ctx.is_head() { 1 } else { READINESS_FAILURES };
    // The shell command on the head asks two endpoints.
    let timeout = if ctx.is_head() { 5 } else { 2 };

    if !own {
        // Whether Serve runs here is no condition for having started: a worker may never get a replica.
        ray.startup_probe = Some(alive.probe(timeout, None, STARTUP_PERIOD, STARTUP_FAILURES));
    }
    ray.liveness_probe.get_or_insert_with(|| alive.probe(timeout, delay(LIVENESS_DELAY), PERIOD, LIVENESS_FAILURES));
    ray.readiness_probe.get_or_insert_with(|| ready.probe(timeout, delay(READINESS_DELAY), PERIOD, readiness_failures));
}

/// How a probe asks.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Handler {
    /// One HTTP request to this port.
    Http(i32),
    /// A command of the shell.
    Shell(String),
}

impl Handler {
    /// Is Ray's node process alive (on the head: the GCS as well)?
    fn alive(ctx: &NodeContext<'_>, params: &StartParams, ray: &Container) -> Self {
        let ports = ProbePorts::read(params, ray);
        if ctx.cluster.ray_version.is_some_and(|version| version >= RayVersion::HTTP_PROBES) {
            return Self::Http(ports.agent);
        }
        let mut checks = vec![raylet(ports)];
        if ctx.is_head() {
            checks.push(check(10, ports.dashboard, "api/gcs_healthz"));
        }
        Self::Shell(checks.join(" && "))
    }

    /// Can it take work? On workers of a RayService: does Serve's proxy answer?
    fn ready(ctx: &NodeContext<'_>, params: &StartParams, ray: &Container) -> Self {
        if !ctx.serves() || ctx.is_head() {
            return Self::alive(ctx, params, ray);
        }
        let ports = ProbePorts::read(params, ray);
        Self::Shell([raylet(ports), check(10, ports.serve, "-/healthz")].join(" && "))
    }

    fn probe(&self, timeout: i32, delay: Option<i32>, period: i32, failures: i32) -> Probe {
        let mut probe = Probe {
            initial_delay_seconds: delay,
            timeout_seconds: Some(timeout),
            period_seconds: Some(period),
            success_threshold: Some(1),
            failure_threshold: Some(failures),
            ..Probe::default()
        };
        match self {
            Self::Http(port) => {
                probe.http_get = Some(HTTPGetAction {
                    path: Some("/api/healthz".to_owned()),
                    port: IntOrString::Int(*port),
                    ..HTTPGetAction::default()
                });
            }
            Self::Shell(command) => {
                let words = ["bash", "-c", command.as_str()];
                probe.exec = Some(ExecAction { command: Some(words.map(str::to_owned).to_vec()) });
            }
        }
        probe
    }
}

fn raylet(ports: ProbePorts) -> String {
    check(2, ports.agent, "api/local_raylet_healthz")
}

fn check(timeout: u32, port: i32, path: &str) -> String {
    format!("wget --tries 1 -T {timeout} -q -O- http://localhost:{port}/{path} | grep success")
}
