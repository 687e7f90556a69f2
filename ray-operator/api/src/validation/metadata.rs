//! Names of clusters (KubeRay's M1, M2).

use super::Errors;
use crate::RayCluster;
use crate::names::MAX_CLUSTER_NAME;

pub(super) fn check(cluster: &RayCluster, errors: &mut Errors) {
    let name = cluster.name();
    if name.len() > MAX_CLUSTER_NAME {
        errors.metadata(
            "metadata.name",
            format!("must have at most {MAX_CLUSTER_NAME} characters: names of Services are made from it"),
        );
    }
    if !is_dns_1035_label(name) {
        errors.metadata(
            "metadata.name",
            "must begin with a lower-case letter, hold only lower-case letters, digits and '-', and end with a letter \
             or digit: it becomes part of DNS names",
        );
    }
}

fn is_dns_1035_label(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.ends_with(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit())
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
}
