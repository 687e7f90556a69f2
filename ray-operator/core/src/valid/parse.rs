//! Raw object → [`ValidCluster`].

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::PodTemplateSpec;
use ray_api::raycluster::WorkerGroupSpec;
use ray_api::version::RayVersion;
use ray_api::{FeatureGates, FieldError, RayCluster, labels, validate};

use super::group::{GroupName, ReplicaBounds, Replicas, WorkerGroup};
use super::unsupported::unsupported;
use super::{ClusterIdentity, HeadGroup, OriginatedFrom, RayNode, RayPodTemplate, ValidCluster};

/// Parses a RayCluster.
///
/// # Errors
///
/// Every rule the object breaks, each with the path of its field; among them features that this version does not have
/// and that cannot be left out silently.
pub fn parse(raw: RayCluster, gates: &FeatureGates) -> Result<ValidCluster, Vec<FieldError>> {
    let mut errors = validate(&raw, gates);
    errors.extend(unsupported(&raw));
    if !errors.is_empty() {
        return Err(errors);
    }
    let RayCluster { metadata, spec, .. } = raw;
    let head_spec = spec.head_group_spec;
    let head = HeadGroup {
        node: node(
            "spec.headGroupSpec",
            head_spec.template,
            head_spec.ray_start_params,
            head_spec.resources,
            head_spec.labels,
        )?,
        service_type: Some(head_spec.service_type).filter(|kind| !kind.is_empty()),
        service: head_spec.head_service,
        service_annotations: spec.head_service_annotations,
    };
    let groups = spec.worker_group_specs.into_iter().enumerate().map(|(index, group)| worker_group(index, group));
    let annotations = metadata.annotations.unwrap_or_default();
    let originated_from = match metadata.labels.as_ref().and_then(|labels| labels.get(labels::ORIGINATED_FROM_CRD)) {
        Some(kind) if kind == "RayJob" => OriginatedFrom::RayJob,
        Some(kind) if kind == "RayService" => OriginatedFrom::RayService,
        _ => OriginatedFrom::RayCluster,
    };
    Ok(ValidCluster {
        id: ClusterIdentity {
            name: metadata.name.unwrap_or_default(),
            namespace: metadata.namespace.unwrap_or_default(),
            uid: metadata.uid.unwrap_or_default(),
            generation: metadata.generation.unwrap_or_default(),
        },
        originated_from,
        annotations,
        ray_version: RayVersion::parse(&spec.ray_version),
        head,
        groups: groups.collect::<Result<_, _>>()?,
    })
}

fn worker_group(index: usize, spec: WorkerGroupSpec) -> Result<WorkerGroup, Vec<FieldError>> {
    let path = format!("spec.workerGroupSpecs[{index}]");
    let replicas = ReplicaBounds {
        min: Replicas(count(spec.min_replicas).unwrap_or(0)),
        max: Replicas(count(spec.max_replicas).unwrap_or(i32::MAX.unsigned_abs())),
        asked: count(spec.replicas).map(Replicas),
    };
    let named = spec.scale_strategy.map(|strategy| strategy.workers_to_delete).unwrap_or_default();
    Ok(WorkerGroup {
        name: GroupName(spec.group_name),
        replicas,
        hosts: count(spec.num_of_hosts).unwrap_or(1),
        workers_to_delete: named.into_iter().collect(),
        node: node(&path, spec.template, spec.ray_start_params, spec.resources, spec.labels)?,
    })
}

/// Absent stays absent. Validation refused negative numbers before.
fn count(number: Option<i32>) -> Option<u32> {
    number.map(|number| u32::try_from(number).unwrap_or(0))
}

type Map = BTreeMap<String, String>;

fn node(
    path: &str,
    template: PodTemplateSpec,
    params: Map,
    resources: Map,
    labels: Map,
) -> Result<RayNode, Vec<FieldError>> {
    let template = RayPodTemplate::new(template).ok_or_else(|| {
        vec![FieldError::spec(format!("{path}.template.spec.containers"), "at least one container is needed")]
    })?;
    Ok(RayNode { template, ray_start_params: params, resources, labels })
}
