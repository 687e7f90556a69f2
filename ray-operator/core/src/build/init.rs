//! The init container that makes a worker wait for the head.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{Container, PodSpec, ResourceRequirements};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;

use super::command;
use super::context::NodeContext;

/// Name of the init container, also the name KubeRay uses.
const NAME: &str = "wait-gcs-ready";

/// Bash, with `@ADDRESS@` to be replaced by `host:port`.
const SCRIPT: &str = include_str!("wait-gcs-ready.sh");

/// Appends the init container, after the user's own; one of the same name is taken for the user's way of waiting
/// (KubeRay adds a second, and the API server refuses the pod).
///
/// It is like the Ray container in all that can decide whether it starts and reaches the head: image, pull policy,
/// security context, environment and mounts as the user wrote them.
pub(super) fn add_wait(spec: &mut PodSpec, ctx: &NodeContext<'_>) {
    if spec.init_containers.iter().flatten().any(|container| container.name == NAME) {
        return;
    }
    let ray = &ctx.node().template.ray;
    spec.init_containers.get_or_insert_default().push(Container {
        name: NAME.to_owned(),
        image: ray.image.clone(),
        image_pull_policy: ray.image_pull_policy.clone(),
        security_context: ray.security_context.clone(),
        env: ray.env.clone(),
        volume_mounts: ray.volume_mounts.clone(),
        command: Some(command::shell(ctx.config.login_shell)),
        args: Some(vec![script(&ctx.gcs_address())]),
        resources: Some(resources()),
        ..Container::default()
    });
}

/// The script without its comments (they explain it to us, and every pod object would carry them).
fn script(address: &str) -> String {
    let lines = SCRIPT.lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| format!("{line}\n")).collect::<String>().replace("@ADDRESS@", address)
}

/// What KubeRay reserves for it. The scheduler counts the larger of init and main containers, so less would free
/// nothing, and namespaces with a quota want requests and limits on every container.
fn resources() -> ResourceRequirements {
    let amounts: BTreeMap<String, Quantity> = [("cpu", "200m"), ("memory", "256Mi")]
        .map(|(name, amount)| (name.to_owned(), Quantity(amount.to_owned())))
        .into();
    ResourceRequirements { limits: Some(amounts.clone()), requests: Some(amounts), ..ResourceRequirements::default() }
}
