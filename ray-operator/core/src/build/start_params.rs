//! The parameters of `ray start`: what the user gave, completed.

use std::collections::BTreeMap;

use super::context::NodeContext;
use super::{ports, resources};

/// Parameters by name (without dashes), in the order of the command line.
pub(super) type StartParams = BTreeMap<String, String>;

/// The user's parameters completed as KubeRay does; a key that is present with an empty value counts as given.
pub(super) fn start_params(ctx: &NodeContext<'_>) -> StartParams {
    let node = ctx.node();
    let mut params = node.ray_start_params.clone();
    resources::from_group(&node.resources, &mut params);
    if !node.labels.is_empty() {
        params.insert("labels".to_owned(), joined(&node.labels));
    }
    if ctx.is_head() {
        // Ray's own default listens on localhost only, where no Service reaches it.
        default(&mut params, "dashboard-host", || "0.0.0.0".to_owned());
    } else {
        default(&mut params, "address", || ctx.gcs_address());
    }
    default(&mut params, "metrics-export-port", || ports::DEFAULT_METRICS_PORT.to_string());
    // Without it `ray start` returns and the container ends.
    params.insert("block".to_owned(), "true".to_owned());
    default(&mut params, "dashboard-agent-listen-port", || ports::DEFAULT_AGENT_PORT.to_string());
    resources::from_container(&node.template.ray, &mut params);
    params
}

fn default(params: &mut StartParams, key: &str, value: impl FnOnce() -> String) {
    if !params.contains_key(key) {
        params.insert(key.to_owned(), value());
    }
}

fn joined(labels: &BTreeMap<String, String>) -> String {
    labels.iter().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>().join(",")
}
