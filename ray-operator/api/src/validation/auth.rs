//! Authentication (KubeRay's S22 and S23).

use super::Errors;
use crate::RayCluster;
use crate::raycluster::{AuthMode, AuthOptions};
use crate::version::RayVersion;

const OPTIONS: &str = "spec.authOptions";

pub(super) fn check(cluster: &RayCluster, errors: &mut Errors) {
    let Some(options) = &cluster.spec.auth_options else { return };
    if !matches!(options.mode.as_str(), "" | "disabled" | "token") {
        errors.spec(format!("{OPTIONS}.mode"), format!("must be disabled or token, not {:?}", options.mode));
    }
    match options.known_mode() {
        AuthMode::Token => check_token(options, &cluster.spec.ray_version, errors),
        AuthMode::Unset | AuthMode::Disabled => {
            if options.k8s_token_auth() {
                errors.spec(format!("{OPTIONS}.enableK8sTokenAuth"), "needs mode: token");
            }
        }
    }
}

fn check_token(options: &AuthOptions, version: &str, errors: &mut Errors) {
    let (feature, least) = if options.k8s_token_auth() {
        ("enableK8sTokenAuth", RayVersion::KUBERNETES_TOKEN_AUTH)
    } else {
        ("mode token", RayVersion::TOKEN_AUTH)
    };
    match RayVersion::parse(version) {
        None => errors.spec("spec.rayVersion", format!("authOptions.{feature} needs a version of {least} or later")),
        Some(version) if version < least => {
            errors
                .spec("spec.rayVersion", format!("{version} is too old for authOptions.{feature}: {least} is needed"));
        }
        Some(_) => {}
    }
    if options.k8s_token_auth() && options.secret_name.as_deref().is_some_and(|name| !name.is_empty()) {
        errors.spec(format!("{OPTIONS}.secretName"), "excludes enableK8sTokenAuth");
    }
}
