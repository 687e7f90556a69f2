//! The old version `v1alpha1`: served, not stored.
//!
//! KubeRay gives it a schema of its own, which knows fewer fields; everything else is pruned when a client writes
//! through it. A client that reads a cluster, changes a number and writes it back thereby takes away authentication,
//! network policy or `numOfHosts` of a running cluster without a word. We keep unknown fields instead: nothing that was
//! accepted before is refused, and nothing is lost. Unknown fields reach `v1` only as far as its schema knows them,
//! because the API server prunes again when it reads.
//!
//! Types, defaults and list keys of our own fields are those of `v1`, since the object is read back as `v1`: a text
//! where a number belongs would make it unreadable there. Pod templates and other Kubernetes types are open, and there
//! are no rules: those are checked by the operator.

use serde_json::{Map, Value, json};

use super::CrdError;

/// Name of the version.
pub const VERSION: &str = "v1alpha1";

/// Keywords that are kept; texts and atomic structs are not.
const KEPT: [&str; 8] = [
    "type",
    "format",
    "default",
    "required",
    "nullable",
    "x-kubernetes-int-or-string",
    "x-kubernetes-list-type",
    "x-kubernetes-list-map-keys",
];

/// Fields that hold Kubernetes types; they become open objects or lists of such.
const OPEN: [&str; 13] = [
    "template",
    "headService",
    "resources",
    "securityContext",
    "env",
    "envFrom",
    "volumeMounts",
    "valueFrom",
    "tls",
    "ingressRules",
    "egressRules",
    "size",
    "metadata",
];

/// Schema of the version, from the schema of `v1` before bounds and rules.
///
/// # Errors
/// [`CrdError::NoSuchField`] if `v1` has no `spec` or `status`.
pub fn schema(v1: &Value) -> Result<Value, CrdError> {
    let mut root = loosen("", v1);
    for part in ["spec", "status"] {
        super::path::at(&mut root, part)?;
    }
    if let Some(root) = root.as_object_mut() {
        root.remove("x-kubernetes-preserve-unknown-fields");
        root.insert("description".into(), json!("A Ray cluster. Deprecated: use ray.io/v1."));
    }
    if let Some(metadata) = root.pointer_mut("/properties/metadata") {
        *metadata = json!({"type": "object"});
    }
    Ok(root)
}

fn loosen(name: &str, schema: &Value) -> Value {
    let mut result = Map::new();
    for keyword in KEPT {
        if let Some(value) = schema.get(keyword) {
            result.insert(keyword.into(), value.clone());
        }
    }
    if schema.get("type").and_then(Value::as_str) == Some("object") && schema.get("additionalProperties").is_none() {
        result.insert("x-kubernetes-preserve-unknown-fields".into(), true.into());
    }
    for keyword in ["items", "additionalProperties"] {
        if let Some(inner) = schema.get(keyword) {
            result.insert(keyword.into(), loosen(name, inner));
        }
    }
    if OPEN.contains(&name) {
        close_inside(&mut result);
        return Value::Object(result);
    }
    if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
        let inner = properties.iter().map(|(name, inner)| (name.clone(), loosen(name, inner)));
        result.insert("properties".into(), Value::Object(inner.collect()));
    }
    Value::Object(result)
}

/// Inside an open object nothing may be required and no list may have keys, since its fields are not described.
fn close_inside(schema: &mut Map<String, Value>) {
    for keyword in ["required", "x-kubernetes-list-type", "x-kubernetes-list-map-keys"] {
        schema.remove(keyword);
    }
}
