//! The head Service: the address of the GCS for workers, and of dashboard, client and metrics for everybody.

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::api::core::v1::{Service, ServicePort, ServiceSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use ray_api::names;

use super::context::{NodeContext, NodeKind};
use super::owner::owner_reference;
use super::{labels, ports};
use crate::config::OperatorConfig;
use crate::valid::ValidCluster;

/// Name of the head Service: the user's own, else `<cluster>-head-svc`.
#[must_use]
pub fn head_service_name(cluster: &ValidCluster) -> String {
    let own = cluster.head.service.as_ref().and_then(|service| service.metadata.name.clone());
    own.filter(|name| !name.is_empty()).unwrap_or_else(|| names::head_service(&cluster.id.name))
}

/// Fully qualified DNS name of the head Service.
#[must_use]
pub fn head_fqdn(cluster: &ValidCluster, config: &OperatorConfig) -> String {
    names::head_fqdn(&head_service_name(cluster), &cluster.id.namespace, &config.cluster_domain)
}

/// The head Service. Without one of the user's it is headless (unless configured otherwise) and publishes the head
/// before it is ready: workers may connect as soon as the GCS listens.
#[must_use]
pub fn head_service(cluster: &ValidCluster, config: &OperatorConfig) -> Service {
    let spec = match cluster.head.service.as_ref() {
        Some(own) => users_spec(cluster, own.spec.clone().unwrap_or_default()),
        None => default_spec(cluster, config),
    };
    let spec = ServiceSpec { selector: Some(selector(cluster, config)), ..spec };
    Service { metadata: metadata(cluster), spec: Some(spec), status: None }
}

fn metadata(cluster: &ValidCluster) -> ObjectMeta {
    let own = cluster.head.service.as_ref().map(|service| &service.metadata);
    let mut merged_labels = own.and_then(|own| own.labels.clone()).unwrap_or_default();
    merged_labels.extend(labels::head_service_labels(cluster));
    let mut annotations = own.and_then(|own| own.annotations.clone()).unwrap_or_default();
    annotations.extend(cluster.head.service_annotations.clone());
    ObjectMeta {
        name: Some(head_service_name(cluster)),
        namespace: Some(cluster.id.namespace.clone()),
        labels: Some(merged_labels),
        annotations: (!annotations.is_empty()).then_some(annotations),
        finalizers: own.and_then(|own| own.finalizers.clone()),
        owner_references: Some(vec![owner_reference(cluster)]),
        ..ObjectMeta::default()
    }
}

fn default_spec(cluster: &ValidCluster, config: &OperatorConfig) -> ServiceSpec {
    let service_type = service_type(cluster);
    let cluster_ip_type = service_type.as_deref().is_none_or(|name| name == "ClusterIP");
    let headless = cluster_ip_type && !config.head_cluster_ip_service;
    ServiceSpec {
        type_: service_type,
        cluster_ip: headless.then(|| "None".to_owned()),
        publish_not_ready_addresses: headless.then_some(true),
        ports: Some(published(cluster)),
        ..ServiceSpec::default()
    }
}

/// The user's own specification with our ports behind theirs; whether it is headless is the user's choice.
fn users_spec(cluster: &ValidCluster, own: ServiceSpec) -> ServiceSpec {
    let ports = merge(own.ports.clone().unwrap_or_default(), published(cluster));
    ServiceSpec { type_: own.type_.clone().or_else(|| service_type(cluster)), ports: Some(ports), ..own }
}

fn service_type(cluster: &ValidCluster) -> Option<String> {
    cluster.head.service_type.clone().filter(|name| !name.is_empty())
}

fn published(cluster: &ValidCluster) -> Vec<ServicePort> {
    ports::published(&cluster.head.node.template.ray)
        .into_iter()
        .map(|port| {
            let tcp = port.protocol == "TCP";
            ServicePort {
                name: Some(port.name),
                port: port.number,
                protocol: (!tcp).then_some(port.protocol),
                app_protocol: tcp.then(|| "tcp".to_owned()),
                ..ServicePort::default()
            }
        })
        .collect()
}

/// The user's ports, then ours that they do not repeat. The API server wants every name and every number (of one
/// protocol) once and, of several ports, each named; where both claim something, the user's entry stays.
///
/// KubeRay appends without a look, is refused, and the cluster never starts.
fn merge(own: Vec<ServicePort>, ours: Vec<ServicePort>) -> Vec<ServicePort> {
    let key = |port: &ServicePort| (port.port, port.protocol.clone().unwrap_or_else(|| "TCP".to_owned()));
    let named = |port: ServicePort| {
        let name = port.name.filter(|name| !name.is_empty()).unwrap_or_else(|| ports::numbered(port.port));
        ServicePort { name: Some(name), ..port }
    };
    let mut merged: Vec<ServicePort> =
        if own.len().saturating_add(ours.len()) > 1 { own.into_iter().map(named).collect() } else { own };
    let mut numbers: BTreeSet<_> = merged.iter().map(key).collect();
    let mut taken: BTreeSet<_> = merged.iter().filter_map(|port| port.name.clone()).collect();
    for port in ours {
        if !numbers.insert(key(&port)) {
            continue;
        }
        // The name means another number to the user; ours stays reachable under a neutral name.
        let name = port.name.clone().filter(|name| !taken.contains(name)).unwrap_or_else(|| ports::numbered(port.port));
        if taken.insert(name.clone()) {
            merged.push(ServicePort { name: Some(name), ..port });
        }
    }
    merged
}

/// Selects the head: KubeRay's five labels, less those that the user gave the pod another value of.
///
/// KubeRay keeps all five, and a Service that selects nothing cuts every worker off. The two labels that are left in
/// any case, cluster and node type, are reserved and say it all.
fn selector(cluster: &ValidCluster, config: &OperatorConfig) -> BTreeMap<String, String> {
    let pod = labels::group_labels(&NodeContext { cluster, config, kind: NodeKind::Head });
    let mut selector = labels::head_service_labels(cluster);
    selector.retain(|key, value| pod.get(key) == Some(value));
    selector
}

#[cfg(test)]
mod tests {
    use super::*;

    fn port(name: Option<&str>, number: i32) -> ServicePort {
        ServicePort { name: name.map(str::to_owned), port: number, ..ServicePort::default() }
    }

    fn merged(own: &[(Option<&str>, i32)], ours: &[(&str, i32)]) -> String {
        let own = own.iter().map(|(name, number)| port(*name, *number)).collect();
        let ours = ours.iter().map(|(name, number)| port(Some(name), *number)).collect();
        let shown = |port: ServicePort| format!("{}={}", port.name.unwrap_or_default(), port.port);
        merge(own, ours).into_iter().map(shown).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn the_users_ports_win() {
        for (own, ours, expected) in [
            (&[][..], &[("a", 1), ("b", 2)][..], "a=1 b=2"),
            (&[(Some("x"), 9)], &[("a", 1)], "x=9 a=1"),
            (&[(Some("a"), 1)], &[("a", 1)], "a=1"),
            (&[(Some("x"), 1)], &[("a", 1)], "x=1"),
            (&[(Some("a"), 80)], &[("a", 1)], "a=80 1-port=1"),
            (&[(Some("a"), 80), (Some("1-port"), 81)], &[("a", 1)], "a=80 1-port=81"),
            (&[(None, 80)], &[("a", 1)], "80-port=80 a=1"),
            (&[(None, 80)], &[], "=80"),
        ] {
            assert_eq!(merged(own, ours), expected);
        }
    }

    #[test]
    fn a_number_may_stand_once_for_each_protocol() {
        let udp = ServicePort { protocol: Some("UDP".to_owned()), ..port(Some("u"), 1) };
        assert_eq!(merge(vec![udp], vec![port(Some("t"), 1)]).len(), 2);
    }
}
