//! The rules a RayCluster has to keep: all of KubeRay's that need only the object (and the feature gates), and a few
//! of ours.
//!
//! KubeRay stops at the first broken rule; here all are reported, in KubeRay's order. Much of this stands in the
//! definition as CEL too ([`crate::crd::rules`]), but objects stored under another definition, or written through
//! `v1alpha1`, never met those.
//!
//! Not an error although KubeRay says so: absent `minReplicas` or `maxReplicas`. They have defaults, and a field that an
//! old definition did not have must not stop a cluster. Not an error, as in KubeRay: negative `replicas`; they are
//! lifted to `minReplicas`.

mod auth;
mod autoscaler;
mod env;
mod fault_tolerance;
mod group;
mod history;
mod label;
mod metadata;
mod network_policy;
mod node;
mod suspend;
mod tls;
mod upgrade;

use std::fmt;

use crate::{FeatureGates, RayCluster};

/// Which part of the object breaks a rule; the text is the reason of KubeRay's event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reason {
    /// Name or other metadata.
    InvalidRayClusterMetadata,
    /// The spec.
    InvalidRayClusterSpec,
}

impl Reason {
    /// The reason as KubeRay writes it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::InvalidRayClusterMetadata => "InvalidRayClusterMetadata",
            Self::InvalidRayClusterSpec => "InvalidRayClusterSpec",
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A broken rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {message}")]
pub struct FieldError {
    /// The field, as `spec.workerGroupSpecs[1].minReplicas`.
    pub path: String,
    /// Which part of the object it belongs to.
    pub reason: Reason,
    /// What is wrong, for people.
    pub message: String,
}

impl FieldError {
    /// A broken rule of the spec.
    pub fn spec(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self { path: path.into(), reason: Reason::InvalidRayClusterSpec, message: message.into() }
    }

    /// A broken rule of the metadata.
    pub fn metadata(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self { path: path.into(), reason: Reason::InvalidRayClusterMetadata, message: message.into() }
    }
}

/// Every rule the object breaks; empty means it is fine.
#[must_use]
pub fn validate(cluster: &RayCluster, gates: &FeatureGates) -> Vec<FieldError> {
    let mut errors = Errors::default();
    metadata::check(cluster, &mut errors);
    node::check_head(cluster, &mut errors);
    group::check(cluster, &mut errors);
    fault_tolerance::check(cluster, gates, &mut errors);
    suspend::check(cluster, gates, &mut errors);
    autoscaler::check(cluster, &mut errors);
    history::check(cluster, gates, &mut errors);
    auth::check(cluster, &mut errors);
    network_policy::check(cluster, gates, &mut errors);
    tls::check(cluster, gates, &mut errors);
    upgrade::check(cluster, &mut errors);
    errors.0
}

/// Collects broken rules.
#[derive(Default)]
struct Errors(Vec<FieldError>);

impl Errors {
    fn spec(&mut self, path: impl Into<String>, message: impl Into<String>) {
        self.0.push(FieldError::spec(path, message));
    }

    fn metadata(&mut self, path: impl Into<String>, message: impl Into<String>) {
        self.0.push(FieldError::metadata(path, message));
    }
}

/// Path of a worker group, or of a field of it.
fn group_path(index: usize, field: &str) -> String {
    let dot = if field.is_empty() { "" } else { "." };
    format!("spec.workerGroupSpecs[{index}]{dot}{field}")
}

const HEAD: &str = "spec.headGroupSpec";
