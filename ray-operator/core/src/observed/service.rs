//! A Service, slim.

use serde::Deserialize;

use super::wire;

/// Where a Service port leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TargetPort {
    /// A port number.
    Number(i32),
    /// The name of a container port.
    Name(String),
}

/// One port of a Service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObservedServicePort {
    /// Its name; empty when the Service has one unnamed port.
    pub name: String,
    /// Where it leads.
    pub target: TargetPort,
    /// The node port, if the type gives it one.
    pub node_port: Option<i32>,
}

/// A Service of a Ray cluster: the fields that are read, nothing else.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(from = "wire::Service")]
pub struct ObservedService {
    /// `metadata.namespace`.
    pub namespace: String,
    /// `metadata.name`.
    pub name: String,
    /// `metadata.uid`.
    pub uid: String,
    /// `metadata.resourceVersion`.
    pub resource_version: String,
    /// UID of the controller owner, if there is one.
    pub owner_uid: Option<String>,
    /// Whether the Service was asked to go.
    pub leaving: bool,
    /// `spec.clusterIP`: an address, or `None` for a headless Service.
    pub cluster_ip: Option<String>,
    /// `spec.ports`.
    pub ports: Vec<ObservedServicePort>,
}
