//! Flags and environment variables; KubeRay's names where it has them.

use std::net::SocketAddr;

use clap::Parser;
use ray_core::config::OperatorConfig;

/// Runs Ray on Kubernetes.
#[derive(Debug, Clone, Parser)]
#[command(name = "ray-operator", version)]
pub struct Options {
    /// Namespaces to watch, comma separated; empty means all
    #[arg(long, default_value = "", value_delimiter = ',')]
    pub watch_namespace: Vec<String>,

    /// How many clusters are worked on at a time
    #[arg(long, default_value_t = 16, value_parser = clap::value_parser!(u16).range(1..))]
    pub reconcile_concurrency: u16,

    /// Writes to the API server that may be under way at a time, over all clusters
    #[arg(long, default_value_t = 32, value_parser = clap::value_parser!(u16).range(1..))]
    pub max_concurrent_writes: u16,

    /// Where metrics are served
    #[arg(long, default_value = "0.0.0.0:8080", value_parser = address)]
    pub metrics_addr: SocketAddr,

    /// Where /healthz and /readyz are served
    #[arg(long, default_value = "0.0.0.0:8082", value_parser = address)]
    pub health_probe_bind_address: SocketAddr,

    /// How the log is written: text or json
    #[arg(long, default_value = "text")]
    pub log_stdout_encoder: LogEncoder,

    /// Threads that run the operator
    #[arg(long, default_value_t = 2, value_parser = threads)]
    pub threads: usize,

    /// DNS domain of the Kubernetes cluster
    #[arg(long, env = "CLUSTER_DOMAIN", default_value = "cluster.local")]
    pub cluster_domain: String,

    /// Let workers wait for the head in an init container; false switches that off
    #[arg(long, env = "ENABLE_INIT_CONTAINER_INJECTION", default_value = "true")]
    pub enable_init_container_injection: String,

    /// Give Ray containers without probes some; false switches that off
    #[arg(long, env = "ENABLE_PROBES_INJECTION", default_value = "true")]
    pub enable_probes_injection: String,

    /// Give head Services a cluster IP instead of making them headless
    #[arg(long, env = "ENABLE_RAY_HEAD_CLUSTER_IP_SERVICE", default_value = "false")]
    pub enable_ray_head_cluster_ip_service: String,

    /// Start Ray from a login shell
    #[arg(long, env = "ENABLE_LOGIN_SHELL", default_value = "false")]
    pub enable_login_shell: String,
}

/// How the log is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum LogEncoder {
    /// For people. KubeRay calls it `console`.
    #[value(alias = "console")]
    Text,
    /// For machines.
    Json,
}

impl Options {
    /// The part of the options that decisions need.
    #[must_use]
    pub fn config(&self) -> OperatorConfig {
        // KubeRay's switches: some are on unless `false`, the others off unless `true`, in any case of letters.
        let unless_false = |value: &str| !value.eq_ignore_ascii_case("false");
        let if_true = |value: &str| value.eq_ignore_ascii_case("true");
        OperatorConfig {
            cluster_domain: self.cluster_domain.clone(),
            inject_init_container: unless_false(&self.enable_init_container_injection),
            inject_probes: unless_false(&self.enable_probes_injection),
            head_cluster_ip_service: if_true(&self.enable_ray_head_cluster_ip_service),
            login_shell: if_true(&self.enable_login_shell),
            ..OperatorConfig::default()
        }
    }

    /// The namespaces to watch; empty means all.
    #[must_use]
    pub fn namespaces(&self) -> Vec<String> {
        let trimmed = self.watch_namespace.iter().map(|namespace| namespace.trim());
        trimmed.filter(|namespace| !namespace.is_empty()).map(str::to_owned).collect()
    }
}

/// `host:port`, or `:port` as Go programs take it.
fn address(text: &str) -> Result<SocketAddr, String> {
    let full = if text.starts_with(':') { format!("0.0.0.0{text}") } else { text.to_owned() };
    full.parse().map_err(|_| format!("'{text}' is not of the form host:port or :port"))
}

fn threads(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|number| (1..=64).contains(number)).ok_or_else(|| "a number from 1 to 64".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kuberays_switches_mean_what_they_mean_there() {
        let options = |args: &[&str]| Options::parse_from(std::iter::once("ray-operator").chain(args.iter().copied()));
        assert!(options(&[]).config().inject_probes);
        assert!(options(&["--enable-probes-injection=no"]).config().inject_probes);
        assert!(!options(&["--enable-probes-injection=FALSE"]).config().inject_probes);
        assert!(!options(&["--enable-login-shell=1"]).config().login_shell);
        assert!(options(&["--enable-login-shell=True"]).config().login_shell);
    }

    #[test]
    fn namespaces_are_trimmed() {
        let options = Options::parse_from(["ray-operator", "--watch-namespace", "a, b,"]);
        assert_eq!(options.namespaces(), ["a", "b"]);
        assert!(Options::parse_from(["ray-operator"]).namespaces().is_empty());
    }

    #[test]
    fn addresses_may_leave_the_host_out() {
        assert_eq!(address(":8080"), Ok("0.0.0.0:8080".parse().unwrap()));
        assert!(address("8080").is_err());
    }
}
