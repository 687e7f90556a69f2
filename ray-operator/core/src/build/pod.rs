//! Head and worker pods: the user's template with what Ray on Kubernetes needs.

use k8s_openapi::api::core::v1::{Container, Pod, PodSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

use super::context::{NodeContext, NodeKind};
use super::owner::owner_reference;
use super::{GcsWait, PodSlot, annotations, command, env, init, labels, ports, probes, start_params, volumes};
use crate::config::OperatorConfig;
use crate::valid::{ValidCluster, WorkerGroup};

/// The head pod of a cluster. The template's own name is not used: the slot's is.
#[must_use]
pub fn head_pod(cluster: &ValidCluster, config: &OperatorConfig, slot: &PodSlot<'_>) -> Pod {
    pod(&NodeContext { cluster, config, kind: NodeKind::Head }, slot, GcsWait::HeadIsReady)
}

/// A pod of a worker group. With [`GcsWait::UntilHeadAnswers`] it waits for the head in an init container, unless the
/// operator was told not to add one.
#[must_use]
pub fn worker_pod(
    cluster: &ValidCluster,
    group: &WorkerGroup,
    config: &OperatorConfig,
    slot: &PodSlot<'_>,
    wait: GcsWait,
) -> Pod {
    pod(&NodeContext { cluster, config, kind: NodeKind::Worker(group) }, slot, wait)
}

fn pod(ctx: &NodeContext<'_>, slot: &PodSlot<'_>, wait: GcsWait) -> Pod {
    let metadata = metadata(ctx, slot);
    let user_starts_ray = metadata.annotations.as_ref().is_some_and(annotations::user_starts_ray);
    let mut spec = ctx.node().template.spec.clone();
    let ray = ray_container(ctx, &mut spec, user_starts_ray);
    if wait == GcsWait::UntilHeadAnswers && ctx.config.inject_init_container {
        init::add_wait(&mut spec, ctx);
    }
    for container in spec.init_containers.iter_mut().flatten() {
        env::add_to_init(container, ctx);
    }
    // The Ray container stays first: by that position everybody knows it.
    spec.containers = std::iter::once(ray).chain(ctx.node().template.sidecars.iter().cloned()).collect();
    Pod { metadata, spec: Some(spec), status: None }
}

fn ray_container(ctx: &NodeContext<'_>, spec: &mut PodSpec, user_starts_ray: bool) -> Container {
    let mut ray = ctx.node().template.ray.clone();
    let params = start_params::start_params(ctx);
    let ray_start = command::ray_start(ctx.is_head(), &params);
    probes::add(&mut ray, ctx, &params);
    ports::add_metrics_port(&mut ray, spec.host_network == Some(true));
    if !user_starts_ray {
        command::start_ray(&mut ray, &ray_start, ctx.config.login_shell);
    }
    env::add_to_ray(&mut ray, ctx, &ray_start);
    volumes::add_shared_memory(spec, &mut ray, &params);
    ray
}

fn metadata(ctx: &NodeContext<'_>, slot: &PodSlot<'_>) -> ObjectMeta {
    ObjectMeta {
        name: Some(slot.name.to_owned()),
        namespace: Some(ctx.cluster.id.namespace.clone()),
        labels: Some(labels::pod_labels(ctx, slot)),
        annotations: Some(annotations::pod_annotations(ctx, slot)),
        finalizers: ctx.node().template.metadata.finalizers.clone(),
        owner_references: Some(vec![owner_reference(ctx.cluster)]),
        ..ObjectMeta::default()
    }
}
