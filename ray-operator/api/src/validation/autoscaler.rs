//! Ray's autoscaler (KubeRay's S15 and S17 to S20).

use k8s_openapi::api::core::v1::PodTemplateSpec;

use super::{Errors, HEAD, env, group_path};
use crate::RayCluster;
use crate::raycluster::AutoscalerVersion;

const V2_ENV: &str = "RAY_enable_autoscaler_v2";
const START_COMMAND_ENV: &str = "KUBERAY_GEN_AUTOSCALER_START_CMD";

/// Whether the user chose autoscaler v2: by option, or by the head's environment. Independent of whether autoscaling is
/// on. A v2 that Ray chooses by itself does not count (KubeRay).
pub(super) fn selects_v2(cluster: &RayCluster) -> bool {
    version(cluster) == Some(AutoscalerVersion::V2) || is_on(cluster)
}

fn version(cluster: &RayCluster) -> Option<AutoscalerVersion> {
    cluster.spec.autoscaler_options.as_ref()?.known_version()
}

fn is_on(cluster: &RayCluster) -> bool {
    matches!(env::literal(env::head_env(cluster), V2_ENV), Some("1" | "true"))
}

pub(super) fn check(cluster: &RayCluster, errors: &mut Errors) {
    let spec = &cluster.spec;
    let autoscaling = spec.autoscaling_enabled();
    if !autoscaling && is_on(cluster) {
        errors.spec(format!("{HEAD}.template.spec.containers[0].env[{V2_ENV}]"), "needs enableInTreeAutoscaling: true");
    }
    let Some(options) = &spec.autoscaler_options else { return };
    if let (Some(version), None) = (&options.version, options.known_version()) {
        errors.spec("spec.autoscalerOptions.version", format!("must be v1 or v2, not {version:?}"));
    }
    if autoscaling && options.version.is_some() && env::has(env::head_env(cluster), V2_ENV) {
        errors.spec(
            "spec.autoscalerOptions.version",
            format!("the version is given twice: use either this field or env {V2_ENV} of the head"),
        );
    }
    if autoscaling && options.known_version() == Some(AutoscalerVersion::V2) {
        check_restart_policy(&spec.head_group_spec.template, HEAD, errors);
        for (index, group) in spec.worker_group_specs.iter().enumerate() {
            check_restart_policy(&group.template, &group_path(index, ""), errors);
        }
    }
    if options.idle_timeout_seconds.is_some_and(i32::is_negative) {
        errors.spec("spec.autoscalerOptions.idleTimeoutSeconds", "must not be negative");
    }
    if env::has(&options.env, START_COMMAND_ENV) {
        errors.spec(format!("spec.autoscalerOptions.env[{START_COMMAND_ENV}]"), "is set by the operator");
    }
}

/// Autoscaler v2 counts a worker that stopped as gone; a container restarted in its place would be one too many.
fn check_restart_policy(template: &PodTemplateSpec, path: &str, errors: &mut Errors) {
    let policy = template.spec.as_ref().and_then(|spec| spec.restart_policy.as_deref()).unwrap_or_default();
    if !matches!(policy, "" | "Never") {
        errors.spec(
            format!("{path}.template.spec.restartPolicy"),
            format!("must be Never or absent with autoscaler v2, not {policy:?}"),
        );
    }
}
