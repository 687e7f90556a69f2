//! The ports of a Ray node: one model for the pod, the head Service and the probes.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{Container, ContainerPort};

/// The GCS on the head; text because `rayStartParams.port` is (it may name a variable).
pub(super) const DEFAULT_GCS_PORT: &str = "6379";
/// Ray Client on the head.
const DEFAULT_CLIENT_PORT: i32 = 10001;
/// The dashboard on the head.
const DEFAULT_DASHBOARD_PORT: i32 = 8265;
/// Ray Serve's proxy, on every node.
const DEFAULT_SERVE_PORT: i32 = 8000;
/// The Prometheus endpoint, on every node.
pub(super) const DEFAULT_METRICS_PORT: i32 = 8080;
/// The dashboard's agent, on every node.
pub(super) const DEFAULT_AGENT_PORT: i32 = 52365;

/// Name of the metrics port on pods and Services.
const METRICS: &str = "metrics";

/// The local ports the probes ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ProbePorts {
    /// The dashboard's agent.
    pub(super) agent: i32,
    /// The dashboard (head only).
    pub(super) dashboard: i32,
    /// Ray Serve's proxy.
    pub(super) serve: i32,
}

impl ProbePorts {
    /// Reads them from the completed parameters and the Ray container; what is no port number is Ray's default.
    pub(super) fn read(params: &BTreeMap<String, String>, ray: &Container) -> Self {
        let param = |key: &str, default| params.get(key).and_then(|text| number(text)).unwrap_or(default);
        Self {
            agent: param("dashboard-agent-listen-port", DEFAULT_AGENT_PORT),
            dashboard: param("dashboard-port", DEFAULT_DASHBOARD_PORT),
            serve: named(ray, "serve").unwrap_or(DEFAULT_SERVE_PORT),
        }
    }
}

fn number(text: &str) -> Option<i32> {
    text.parse::<i32>().ok().filter(|port| (1..=65535).contains(port))
}

fn named(container: &Container, name: &str) -> Option<i32> {
    container.ports.iter().flatten().find(|port| port.name.as_deref() == Some(name)).map(|port| port.container_port)
}

/// Gives the Ray container a port called `metrics`, for PodMonitors that select by that name.
///
/// On the host network each container port is also a host port and may stand there only once, so a number that is
/// taken under another name is not repeated; elsewhere a repeated number is harmless and the name is what counts.
pub(super) fn add_metrics_port(ray: &mut Container, host_network: bool) {
    let taken = |ports: &[ContainerPort]| {
        ports.iter().any(|port| port.container_port == DEFAULT_METRICS_PORT && protocol(port) == "TCP")
    };
    let ports = ray.ports.get_or_insert_default();
    if ports.iter().any(|port| port.name.as_deref() == Some(METRICS)) || (host_network && taken(ports)) {
        return;
    }
    ports.push(ContainerPort {
        name: Some(METRICS.to_owned()),
        container_port: DEFAULT_METRICS_PORT,
        ..ContainerPort::default()
    });
}

fn protocol(port: &ContainerPort) -> &str {
    port.protocol.as_deref().unwrap_or("TCP")
}

/// A port of the head that its Service publishes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PublishedPort {
    /// Unique among the published ports.
    pub(super) name: String,
    /// Unique among the published ports of this protocol.
    pub(super) number: i32,
    /// `TCP`, `UDP` or `SCTP`.
    pub(super) protocol: String,
}

/// What the head Service publishes, sorted by name: the container's ports, or Ray's usual ones when it lists none,
/// and in any case the metrics port.
///
/// No number stands there twice. KubeRay adds `metrics` 8080 even where 8080 is listed under another name; the API
/// server refuses such a Service, and the cluster never starts.
pub(super) fn published(ray: &Container) -> Vec<PublishedPort> {
    let listed = ray.ports.as_deref().unwrap_or_default();
    let mut ports: BTreeMap<String, (i32, String)> = BTreeMap::new();
    for port in listed {
        let name = match port.name.as_deref() {
            Some(name) if !name.is_empty() => name.to_owned(),
            _ => numbered(port.container_port),
        };
        ports.insert(name, (port.container_port, protocol(port).to_owned()));
    }
    if listed.is_empty() {
        let gcs = number(DEFAULT_GCS_PORT).unwrap_or_default();
        for (name, port) in [
            ("client", DEFAULT_CLIENT_PORT),
            ("gcs-server", gcs),
            ("dashboard", DEFAULT_DASHBOARD_PORT),
            ("serve", DEFAULT_SERVE_PORT),
        ] {
            ports.insert(name.to_owned(), (port, "TCP".to_owned()));
        }
    }
    let metrics_taken = ports.values().any(|(port, protocol)| *port == DEFAULT_METRICS_PORT && protocol == "TCP");
    if !ports.contains_key(METRICS) && !metrics_taken {
        ports.insert(METRICS.to_owned(), (DEFAULT_METRICS_PORT, "TCP".to_owned()));
    }
    let mut seen = std::collections::BTreeSet::new();
    ports
        .into_iter()
        .filter(|(_, number_and_protocol)| seen.insert(number_and_protocol.clone()))
        .map(|(name, (number, protocol))| PublishedPort { name, number, protocol })
        .collect()
}

/// The name of a port that has none.
pub(super) fn numbered(port: i32) -> String {
    format!("{port}-port")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn container(ports: &[(Option<&str>, i32, Option<&str>)]) -> Container {
        let port = |(name, number, protocol): &(Option<&str>, i32, Option<&str>)| ContainerPort {
            name: name.map(str::to_owned),
            container_port: *number,
            protocol: protocol.map(str::to_owned),
            ..ContainerPort::default()
        };
        Container { ports: Some(ports.iter().map(port).collect()), ..Container::default() }
    }

    fn shown(ray: &Container) -> String {
        published(ray).iter().map(|p| format!("{}={}/{}", p.name, p.number, p.protocol)).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn published_ports() {
        for (given, expected) in [
            (container(&[]), "client=10001/TCP dashboard=8265/TCP gcs-server=6379/TCP metrics=8080/TCP serve=8000/TCP"),
            (container(&[(Some("client"), 10001, None)]), "client=10001/TCP metrics=8080/TCP"),
            (container(&[(Some("metrics"), 9100, None)]), "metrics=9100/TCP"),
            (container(&[(Some("stats"), 8080, None)]), "stats=8080/TCP"),
            (container(&[(Some("stats"), 8080, Some("UDP"))]), "metrics=8080/TCP stats=8080/UDP"),
            (container(&[(None, 8265, None), (Some(""), 1, None)]), "1-port=1/TCP 8265-port=8265/TCP metrics=8080/TCP"),
            (container(&[(Some("web"), 1, None), (Some("web"), 2, None)]), "metrics=8080/TCP web=2/TCP"),
            (container(&[(Some("b"), 1, None), (Some("a"), 1, None)]), "a=1/TCP metrics=8080/TCP"),
        ] {
            assert_eq!(shown(&given), expected);
        }
    }

    #[test]
    fn the_container_gets_a_metrics_port_once() {
        let added = |given: &Container, host_network| {
            let mut ray = given.clone();
            add_metrics_port(&mut ray, host_network);
            ray.ports.unwrap().len() - given.ports.as_ref().unwrap().len()
        };
        assert_eq!(added(&container(&[]), false), 1);
        assert_eq!(added(&container(&[(Some("metrics"), 9100, None)]), false), 0);
        assert_eq!(added(&container(&[(Some("stats"), 8080, None)]), false), 1);
        assert_eq!(added(&container(&[(Some("stats"), 8080, None)]), true), 0);
        assert_eq!(added(&container(&[(Some("stats"), 8080, Some("UDP"))]), true), 1);
    }

    #[test]
    fn probe_ports() {
        let params = |pairs: &[(&str, &str)]| pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        let none = Container::default();
        let read = |pairs: &[(&str, &str)]| ProbePorts::read(&params(pairs), &none);
        assert_eq!(read(&[]), ProbePorts { agent: 52365, dashboard: 8265, serve: 8000 });
        assert_eq!(read(&[("dashboard-port", "9265")]).dashboard, 9265);
        for bad in ["x", "", "0", "-1", "65536", "99999999999999999999"] {
            assert_eq!(read(&[("dashboard-agent-listen-port", bad)]).agent, 52365, "{bad}");
        }
        assert_eq!(ProbePorts::read(&params(&[]), &container(&[(Some("serve"), 9000, None)])).serve, 9000);
    }
}
