//! What the builders make of a case's input.

use ray_api::names::{NodeType, pod_name_prefix, worker_prefix};
use ray_api::{FieldError, RayCluster};
use ray_core::build::{self, GcsWait, PodSlot};
use ray_core::config::OperatorConfig;
use ray_core::valid::{ValidCluster, parse};
use serde_json::Value;

use super::case::Case;

/// Ordinal of every pod that is built here.
pub const ORDINAL: i64 = 1;

/// Parses the case's RayCluster as the operator would.
///
/// # Errors
///
/// What cannot be configured, read, or is refused.
pub fn valid_cluster(case: &Case) -> Result<(ValidCluster, OperatorConfig), String> {
    let config = case.operator.config()?;
    let raw = raw_cluster(case)?;
    let cluster = parse(raw, &config.gates).map_err(|errors| listed(&errors))?;
    Ok((cluster, config))
}

/// The RayCluster with what the API server adds.
///
/// # Errors
///
/// The case is about something else, or the object cannot be read.
pub fn raw_cluster(case: &Case) -> Result<RayCluster, String> {
    let mut raw = case.cluster().ok_or("not a RayCluster")?.clone();
    raw["metadata"]["uid"] = "00000000-0000-0000-0000-000000000001".into();
    raw["metadata"]["generation"] = 1.into();
    serde_json::from_value(raw).map_err(|error| error.to_string())
}

/// A cluster from YAML; for tests that write their own.
pub fn from_yaml(text: &str) -> ValidCluster {
    let mut raw: RayCluster = serde_saphyr::from_str(text).unwrap();
    raw.metadata.namespace.get_or_insert_with(|| "default".to_owned());
    raw.metadata.uid = Some("00000000-0000-0000-0000-000000000001".to_owned());
    parse(raw, &OperatorConfig::default().gates).unwrap_or_else(|errors| panic!("{}", listed(&errors)))
}

/// The errors, one a line.
pub fn listed(errors: &[FieldError]) -> String {
    errors.iter().map(|error| error.to_string()).collect::<Vec<_>>().join("\n")
}

/// The head, one worker of each group that wants any, and the Services.
pub fn objects(cluster: &ValidCluster, config: &OperatorConfig) -> Vec<Value> {
    let name = head_name(&cluster.id.name);
    let head = build::head_pod(cluster, config, &PodSlot { name: &name, ordinal: ORDINAL, replica_index: 0 });
    let mut objects = vec![serde_json::to_value(head).unwrap()];
    for group in cluster.groups.iter().filter(|group| group.desired_pods().0 > 0) {
        let name = worker_name(&cluster.id.name, group.name.as_str());
        let slot = PodSlot { name: &name, ordinal: ORDINAL, replica_index: 0 };
        let worker = build::worker_pod(cluster, group, config, &slot, GcsWait::UntilHeadAnswers);
        objects.push(serde_json::to_value(worker).unwrap());
    }
    objects.push(serde_json::to_value(build::head_service(cluster, config)).unwrap());
    if cluster.groups.iter().any(|group| group.hosts > 1) {
        objects.push(serde_json::to_value(build::headless_service(cluster)).unwrap());
    }
    objects
}

/// Name of a cluster's head, as the cases write generated names.
pub fn head_name(cluster: &str) -> String {
    format!("{}-<rand>", pod_name_prefix(cluster, NodeType::Head))
}

/// Name of a group's workers, as the cases write generated names.
pub fn worker_name(cluster: &str, group: &str) -> String {
    format!("{}-<rand>", pod_name_prefix(&worker_prefix(cluster, group), NodeType::Worker))
}

/// What tells an object from the others: kind and group, or kind and name.
pub fn key(object: &Value) -> String {
    let group = object["metadata"]["labels"]["ray.io/group"].as_str();
    let name = group.or(object["metadata"]["name"].as_str()).unwrap_or_default();
    format!("{} {name}", object["kind"].as_str().unwrap_or_default())
}
