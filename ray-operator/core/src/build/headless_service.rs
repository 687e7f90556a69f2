//! The Service that gives workers of multi-host groups names of their own.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{Service, ServiceSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use ray_api::labels;
use ray_api::names::{self, NodeType};

use super::owner::owner_reference;
use crate::valid::ValidCluster;

/// The headless Service over all workers of the cluster; wanted once if any group has more than one host a replica.
///
/// Workers are published before they are ready: the hosts of a slice find each other in order to become ready.
#[must_use]
pub fn headless_service(cluster: &ValidCluster) -> Service {
    let name = &cluster.id.name;
    let selector = [(labels::CLUSTER, name.as_str()), (labels::NODE_TYPE, NodeType::Worker.as_str())];
    Service {
        metadata: ObjectMeta {
            name: Some(names::headless_service(name)),
            namespace: Some(cluster.id.namespace.clone()),
            labels: Some(BTreeMap::from([(labels::HEADLESS_WORKER_SVC.to_owned(), name.clone())])),
            owner_references: Some(vec![owner_reference(cluster)]),
            ..ObjectMeta::default()
        },
        spec: Some(ServiceSpec {
            type_: Some("ClusterIP".to_owned()),
            cluster_ip: Some("None".to_owned()),
            publish_not_ready_addresses: Some(true),
            selector: Some(selector.map(|(key, value)| (key.to_owned(), value.to_owned())).into()),
            ..ServiceSpec::default()
        }),
        status: None,
    }
}
