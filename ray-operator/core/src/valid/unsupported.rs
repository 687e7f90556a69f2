//! Features that this version does not have and that must not be left out in silence.
//!
//! A cluster that asked for authentication and came up without it, or asked to be suspended and burnt money, is worse than
//! one that says why it does not start. Each row goes when its feature arrives.

use ray_api::annotations::{ENABLE_SERVE_SERVICE, FT_ENABLED};
use ray_api::{FieldError, RayCluster};

/// The fields of `raw` that ask for something this version cannot do.
pub(super) fn unsupported(raw: &RayCluster) -> Vec<FieldError> {
    let spec = &raw.spec;
    let head = &spec.head_group_spec;
    let annotation = |key| raw.annotation(key).unwrap_or_default();
    let asked: [(&str, bool); 10] = [
        ("spec.suspend", spec.suspend == Some(true)),
        ("spec.enableInTreeAutoscaling", spec.enable_in_tree_autoscaling == Some(true)),
        ("spec.gcsFaultToleranceOptions", spec.gcs_fault_tolerance_options.is_some()),
        ("metadata.annotations[ray.io/ft-enabled]", annotation(FT_ENABLED).eq_ignore_ascii_case("true")),
        // In these letters only, as KubeRay reads it.
        ("metadata.annotations[ray.io/enable-serve-service]", annotation(ENABLE_SERVE_SERVICE) == "true"),
        ("spec.authOptions.mode", spec.auth_options.as_ref().is_some_and(|auth| auth.mode == "token")),
        (
            "spec.upgradeStrategy.type",
            spec.upgrade_strategy
                .as_ref()
                .and_then(|upgrade| upgrade.type_.as_deref())
                .is_some_and(|t| t == "Recreate"),
        ),
        ("spec.headGroupSpec.enableIngress", head.enable_ingress == Some(true)),
        ("spec.tlsOptions.enabled", spec.tls_options.as_ref().is_some_and(|tls| tls.enabled == Some(true))),
        ("spec.networkPolicy", spec.network_policy.is_some()),
    ];
    let mut errors: Vec<FieldError> = asked
        .into_iter()
        .filter(|(_, asked)| *asked)
        .map(|(path, _)| FieldError::spec(path.to_owned(), "is not supported by this version of ray-operator"))
        .collect();
    for (index, group) in spec.worker_group_specs.iter().enumerate() {
        if group.suspend == Some(true) {
            let path = format!("spec.workerGroupSpecs[{index}].suspend");
            errors.push(FieldError::spec(path, "is not supported by this version of ray-operator"));
        }
    }
    errors
}
