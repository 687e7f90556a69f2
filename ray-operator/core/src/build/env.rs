//! Environment of the Ray container and of init containers.

use k8s_openapi::api::core::v1::{Container, EnvVar, EnvVarSource, ObjectFieldSelector};

use super::context::NodeContext;

/// How long Ray waits before it takes a task's worker for dead, and for answers of the GCS; shorter on clusters of a
/// RayService, where a request should fail over fast. Values are KubeRay's.
const SERVICE_TIMEOUTS: [(&str, &str); 3] = [
    ("RAY_timeout_ms_task_wait_for_death_info", "0"),
    ("RAY_gcs_server_request_timeout_seconds", "5"),
    ("RAY_SERVE_KV_TIMEOUT_S", "5"),
];

/// Appends the operator's variables to the Ray container, after the user's.
///
/// Some are appended even where the user set the same name (Kubernetes takes the last), because Ray on Kubernetes does
/// not work without them; the others respect the user.
pub(super) fn add_to_ray(ray: &mut Container, ctx: &NodeContext<'_>, ray_start: &str) {
    let env = ray.env.get_or_insert_default();
    if !ctx.is_head() {
        env.extend(head_names(ctx));
    }
    env.extend([
        field("RAY_CLUSTER_NAME", "metadata.labels['ray.io/cluster']"),
        field("RAY_CLUSTER_NAMESPACE", "metadata.namespace"),
        // By this name the autoscaler recognises a node and names it when it is to be deleted.
        field("RAY_CLOUD_INSTANCE_ID", "metadata.name"),
        field("RAY_NODE_TYPE_NAME", "metadata.labels['ray.io/group']"),
        // For users who overwrite the command and start Ray by this.
        value("KUBERAY_GEN_RAY_START_CMD", ray_start),
    ]);
    if_absent(env, "RAY_PORT", ctx.gcs_port());
    if ctx.serves() {
        for (name, timeout) in SERVICE_TIMEOUTS {
            if_absent(env, name, timeout);
        }
    }
    let address = if ctx.is_head() { format!("127.0.0.1:{}", ctx.gcs_port()) } else { ctx.gcs_address() };
    if_absent(env, "RAY_ADDRESS", &address);
    if_absent(env, "RAY_USAGE_STATS_KUBERAY_IN_USE", "1");
    if ctx.is_head() {
        let version = &ctx.config.operator_version;
        let kind = ctx.cluster.originated_from.kind();
        env.push(value("RAY_USAGE_STATS_EXTRA_TAGS", &format!("kuberay_version={version};kuberay_crd={kind}")));
    }
    if_absent(env, "RAY_DASHBOARD_ENABLE_K8S_DISK_USAGE", "1");
}

/// The head's address for init containers, appended without a look at what is there (as KubeRay does).
pub(super) fn add_to_init(container: &mut Container, ctx: &NodeContext<'_>) {
    container.env.get_or_insert_default().extend(head_names(ctx));
}

/// The head's name: fully qualified, and in `RAY_IP` (long deprecated, still read by users' scripts) the short one.
fn head_names(ctx: &NodeContext<'_>) -> [EnvVar; 2] {
    let fqdn = ctx.head_fqdn();
    let short = fqdn.split('.').next().unwrap_or_default();
    [value("FQ_RAY_IP", &fqdn), value("RAY_IP", short)]
}

fn if_absent(env: &mut Vec<EnvVar>, name: &str, text: &str) {
    if !env.iter().any(|var| var.name == name) {
        env.push(value(name, text));
    }
}

fn value(name: &str, text: &str) -> EnvVar {
    EnvVar { name: name.to_owned(), value: Some(text.to_owned()), value_from: None }
}

fn field(name: &str, path: &str) -> EnvVar {
    let selector = ObjectFieldSelector { api_version: None, field_path: path.to_owned() };
    EnvVar {
        name: name.to_owned(),
        value: None,
        value_from: Some(EnvVarSource { field_ref: Some(selector), ..EnvVarSource::default() }),
    }
}
