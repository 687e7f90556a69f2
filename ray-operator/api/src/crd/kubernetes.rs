//! What Kubernetes says about its own types beyond their fields: list keys, defaults, atomic structs.
//!
//! k8s-openapi carries names and types of fields only. The rest is taken from the markers in Kubernetes' Go types, as
//! KubeRay's definition has them: without the list keys server-side apply would replace whole lists of containers, and
//! the API server would not notice two ports of one number.

use serde_json::{Map, Value, json};

use super::CrdError;

/// Prefix of the names of all Kubernetes types.
const PREFIX: &str = "io.k8s.";

/// Whether the definition is a Kubernetes type.
#[must_use]
pub fn owns(name: &str) -> bool {
    name.starts_with(PREFIX)
}

/// Texts that are quantities, as in KubeRay's definition.
const QUANTITY_PATTERN: &str = r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$";

/// Schemas that stand in for a whole type.
#[must_use]
pub fn replacement(name: &str) -> Option<Value> {
    Some(match name.rsplit('.').next()? {
        "Quantity" => json!({"x-kubernetes-int-or-string": true, "pattern": QUANTITY_PATTERN}),
        "IntOrString" => json!({"x-kubernetes-int-or-string": true}),
        "Time" => json!({"type": "string", "format": "date-time"}),
        // Metadata of things to be made (pods, claims, the head Service): these five fields and no others, as KubeRay
        // keeps them. A `generateName` is dropped: pod names are the operator's business.
        "ObjectMeta" => json!({
            "type": "object",
            "properties": {
                "annotations": {"type": "object", "additionalProperties": {"type": "string"}},
                "finalizers": {"type": "array", "items": {"type": "string"}},
                "labels": {"type": "object", "additionalProperties": {"type": "string"}},
                "name": {"type": "string"},
                "namespace": {"type": "string"},
            },
        }),
        _ => return None,
    })
}

/// Lists that are maps: type, field, key fields.
const LIST_MAPS: [(&str, &str, &[&str]); 22] = [
    ("PodSpec", "containers", &["name"]),
    ("PodSpec", "ephemeralContainers", &["name"]),
    ("PodSpec", "hostAliases", &["ip"]),
    ("PodSpec", "imagePullSecrets", &["name"]),
    ("PodSpec", "initContainers", &["name"]),
    ("PodSpec", "resourceClaims", &["name"]),
    ("PodSpec", "schedulingGates", &["name"]),
    ("PodSpec", "topologySpreadConstraints", &["topologyKey", "whenUnsatisfiable"]),
    ("PodSpec", "volumes", &["name"]),
    ("Container", "env", &["name"]),
    ("Container", "ports", &["containerPort", "protocol"]),
    ("Container", "volumeDevices", &["devicePath"]),
    ("Container", "volumeMounts", &["mountPath"]),
    ("EphemeralContainer", "env", &["name"]),
    ("EphemeralContainer", "ports", &["containerPort", "protocol"]),
    ("EphemeralContainer", "volumeDevices", &["devicePath"]),
    ("EphemeralContainer", "volumeMounts", &["mountPath"]),
    ("ResourceRequirements", "claims", &["name"]),
    ("ServiceSpec", "ports", &["port", "protocol"]),
    ("ServiceStatus", "conditions", &["type"]),
    ("PersistentVolumeClaimStatus", "conditions", &["type"]),
    ("PodStatus", "conditions", &["type"]),
];

/// Lists that are sets: type, field.
const LIST_SETS: [(&str, &str); 1] = [("ContainerRestartRuleOnExitCodes", "values")];

/// Defaults: type, field, value as JSON text.
const DEFAULTS: [(&str, &str, &str); 22] = [
    ("ContainerPort", "protocol", r#""TCP""#),
    ("ServicePort", "protocol", r#""TCP""#),
    ("LocalObjectReference", "name", r#""""#),
    ("ConfigMapEnvSource", "name", r#""""#),
    ("ConfigMapKeySelector", "name", r#""""#),
    ("ConfigMapProjection", "name", r#""""#),
    ("ConfigMapVolumeSource", "name", r#""""#),
    ("SecretEnvSource", "name", r#""""#),
    ("SecretKeySelector", "name", r#""""#),
    ("SecretProjection", "name", r#""""#),
    ("FileKeySelector", "optional", "false"),
    ("GRPCAction", "service", r#""""#),
    ("RBDVolumeSource", "pool", r#""rbd""#),
    ("RBDVolumeSource", "user", r#""admin""#),
    ("RBDVolumeSource", "keyring", r#""/etc/ceph/keyring""#),
    ("ISCSIVolumeSource", "iscsiInterface", r#""default""#),
    ("AzureDiskVolumeSource", "cachingMode", r#""ReadWrite""#),
    ("AzureDiskVolumeSource", "fsType", r#""ext4""#),
    ("AzureDiskVolumeSource", "kind", r#""Shared""#),
    ("AzureDiskVolumeSource", "readOnly", "false"),
    ("ScaleIOVolumeSource", "storageMode", r#""ThinProvisioned""#),
    ("ScaleIOVolumeSource", "fsType", r#""xfs""#),
];

/// Structs that server-side apply takes as a whole.
const ATOMIC: [&str; 11] = [
    "ConfigMapKeySelector",
    "FileKeySelector",
    "LabelSelector",
    "LocalObjectReference",
    "NodeSelector",
    "NodeSelectorTerm",
    "ObjectFieldSelector",
    "ResourceFieldSelector",
    "SecretKeySelector",
    "SecretReference",
    "TypedLocalObjectReference",
];

/// Adds to the schema of a Kubernetes type what its field list does not say.
///
/// # Errors
/// [`CrdError::NoSuchField`] if the tables name a field that the type no longer has.
pub fn complete(name: &str, schema: &mut Map<String, Value>) -> Result<(), CrdError> {
    let type_ = name.rsplit('.').next().unwrap_or(name);
    for (_, field, keys) in LIST_MAPS.iter().filter(|(of, ..)| *of == type_) {
        let list = property(schema, type_, field)?;
        list.insert("x-kubernetes-list-type".into(), json!("map"));
        list.insert("x-kubernetes-list-map-keys".into(), json!(keys));
    }
    for (_, field) in LIST_SETS.iter().filter(|(of, _)| *of == type_) {
        property(schema, type_, field)?.insert("x-kubernetes-list-type".into(), json!("set"));
    }
    for (_, field, value) in DEFAULTS.iter().filter(|(of, ..)| *of == type_) {
        property(schema, type_, field)?.insert("default".into(), serde_json::from_str(value)?);
    }
    // k8s-openapi has `metadata` of a Service as required; Kubernetes, and KubeRay's definition, do not.
    if let Some(Value::Array(required)) = schema.get_mut("required") {
        required.retain(|field| field != "metadata");
        // The API server drops an empty list, and every later apply would find the definition changed.
        if required.is_empty() {
            schema.remove("required");
        }
    }
    if ATOMIC.contains(&type_) {
        schema.insert("x-kubernetes-map-type".into(), json!("atomic"));
    }
    Ok(())
}

fn property<'a>(
    schema: &'a mut Map<String, Value>,
    type_: &str,
    field: &str,
) -> Result<&'a mut Map<String, Value>, CrdError> {
    schema
        .get_mut("properties")
        .and_then(|properties| properties.get_mut(field))
        .and_then(Value::as_object_mut)
        .ok_or_else(|| CrdError::NoSuchField(format!("{type_}.{field}")))
}
