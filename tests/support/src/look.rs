//! Small views of objects, for assertions.

use k8s_openapi::api::core::v1::Pod;
use k8s_openapi::api::events::v1::Event;
use kube::Resource;

/// An event, as far as tests look.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct SeenEvent {
    /// `Normal` or `Warning`.
    pub kind: String,
    /// Its reason.
    pub reason: String,
    /// Its text.
    pub note: String,
}

impl From<Event> for SeenEvent {
    fn from(event: Event) -> Self {
        Self {
            kind: event.type_.unwrap_or_default(),
            reason: event.reason.unwrap_or_default(),
            note: event.note.unwrap_or_default(),
        }
    }
}

/// Name of an object.
#[must_use]
pub fn name<K: Resource>(object: &K) -> &str {
    object.meta().name.as_deref().unwrap_or_default()
}

/// UID of an object.
#[must_use]
pub fn uid<K: Resource>(object: &K) -> &str {
    object.meta().uid.as_deref().unwrap_or_default()
}

/// Names of objects, in their order.
#[must_use]
pub fn names<K: Resource>(objects: &[K]) -> Vec<&str> {
    objects.iter().map(name).collect()
}

/// Whether a pod is being deleted.
#[must_use]
pub fn is_leaving(pod: &Pod) -> bool {
    pod.metadata.deletion_timestamp.is_some()
}

/// The number the operator gave a pod in its group, -1 without one.
#[must_use]
pub fn ordinal(pod: &Pod) -> i64 {
    let annotations = pod.metadata.annotations.as_ref();
    let text = annotations.and_then(|annotations| annotations.get(ray_api::annotations::POD_ORDINAL));
    text.and_then(|text| text.parse().ok()).unwrap_or(-1)
}

/// A merge patch that gives a pod a deletion cost.
#[must_use]
pub fn deletion_cost(cost: i32) -> serde_json::Value {
    serde_json::json!({"metadata": {"annotations": {ray_api::annotations::POD_DELETION_COST: cost.to_string()}}})
}
