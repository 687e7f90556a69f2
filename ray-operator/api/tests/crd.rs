//! The custom resource definition: checked in, structural, small enough, and nothing of a pod template missing.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::as_conversions,
    clippy::panic,
    clippy::needless_pass_by_value,
    reason = "a test fails by panicking, and its helpers are outside of test functions"
)]

use std::collections::BTreeSet;

use ray_api::crd;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};

/// Client-side `kubectl apply` keeps the whole object in an annotation; 256 KiB is the limit for all annotations.
const MAX_SIZE: usize = 200 * 1024;

fn definition() -> Value {
    crd::ray_cluster_json().unwrap()
}

fn schema(version: &str) -> Value {
    let versions = definition()["spec"]["versions"].clone();
    let version = versions.as_array().unwrap().iter().find(|v| v["name"] == version).unwrap().clone();
    version["schema"]["openAPIV3Schema"].clone()
}

#[test]
fn checked_in_file_is_up_to_date() {
    let checked_in = include_str!("../../deploy/crds/ray.io_rayclusters.yaml");
    assert!(
        checked_in == crd::ray_cluster_yaml().unwrap(),
        "stale: cargo run -p ray-api --bin crdgen ray-operator/deploy/crds/ray.io_rayclusters.yaml"
    );
    let read: Value = serde_saphyr::from_str(checked_in).unwrap();
    assert!(read == definition(), "the YAML says something else than the JSON");
}

#[test]
fn is_small_enough_for_client_side_apply() {
    let size = serde_json::to_string(&definition()).unwrap().len();
    println!("definition: {size} bytes of compact JSON");
    assert!(size < MAX_SIZE, "{size}");
}

/// The typed form has bounds as floating-point numbers.
fn whole_numbers(value: Value) -> Value {
    match value {
        Value::Number(number) if number.is_f64() => {
            number.to_string().trim_end_matches(".0").parse::<i64>().unwrap().into()
        }
        Value::Array(items) => items.into_iter().map(whole_numbers).collect(),
        Value::Object(fields) => fields.into_iter().map(|(key, value)| (key, whole_numbers(value))).collect(),
        other => other,
    }
}

#[test]
fn typed_form_loses_nothing() {
    let typed = crd::ray_cluster().unwrap();
    let typed = whole_numbers(serde_json::to_value(typed).unwrap());
    // Not `assert_eq`: it would print both.
    assert!(typed == definition());
}

#[test]
fn names_are_kubernetes_conform() {
    let definition = definition();
    assert_eq!(definition["metadata"]["name"], "rayclusters.ray.io");
    let versions = definition["spec"]["versions"].as_array().unwrap().clone();
    let stored: Vec<&Value> = versions.iter().filter(|v| v["storage"] == true).map(|v| &v["name"]).collect();
    assert_eq!(stored, ["v1"]);
    assert!(versions.iter().all(|v| v["served"] == true && v["subresources"]["status"].is_object()));
    assert!(versions[1]["deprecated"] == true && versions[1]["deprecationWarning"].is_string());
}

/// Calls `look` with every sub-schema and its path.
fn walk(path: &str, schema: &Value, look: &mut impl FnMut(&str, &Map<String, Value>)) {
    let Some(fields) = schema.as_object() else { return };
    look(path, fields);
    for (name, inner) in fields.get("properties").and_then(Value::as_object).into_iter().flatten() {
        walk(&format!("{path}.{name}"), inner, look);
    }
    for (keyword, sign) in [("items", "[]"), ("additionalProperties", "{}")] {
        if let Some(inner) = fields.get(keyword) {
            walk(&format!("{path}{sign}"), inner, look);
        }
    }
}

/// The rules of structural schemas that a generator can break.
#[test]
fn schemas_are_structural() {
    for version in ["v1", "v1alpha1"] {
        walk("", &schema(version), &mut |path, fields| {
            let int_or_string = fields.get("x-kubernetes-int-or-string") == Some(&Value::Bool(true));
            match fields.get("type").and_then(Value::as_str) {
                None => assert!(int_or_string, "{version} {path}: no type"),
                Some("array") => assert!(fields.contains_key("items"), "{version} {path}: no items"),
                Some(_) => {}
            }
            assert!(
                !(fields.contains_key("properties") && fields.contains_key("additionalProperties")),
                "{version} {path}: both a map and an object"
            );
            for keyword in ["$ref", "anyOf", "oneOf", "allOf", "title", "$schema"] {
                assert!(!fields.contains_key(keyword), "{version} {path}: {keyword}");
            }
            let known = |name: &str| fields.get("properties").is_some_and(|properties| properties.get(name).is_some());
            for required in fields.get("required").and_then(Value::as_array).into_iter().flatten() {
                assert!(known(required.as_str().unwrap()), "{version} {path}: {required} is required but unknown");
            }
            let keys = fields.get("x-kubernetes-list-map-keys").and_then(Value::as_array);
            for key in keys.into_iter().flatten() {
                let items = &fields["items"];
                let key = key.as_str().unwrap();
                let required = items["required"].as_array().is_some_and(|all| all.iter().any(|r| r == key));
                let property = &items["properties"][key];
                assert!(property.is_object(), "{version} {path}: key {key} is no field");
                assert!(required || property.get("default").is_some(), "{version} {path}: key {key} may be absent");
            }
        });
    }
}

#[test]
fn own_fields_are_described_and_foreign_ones_are_not() {
    let mut undescribed = Vec::new();
    walk("", &schema("v1"), &mut |path, fields| {
        let foreign = ["template.", "headService.", "resources.", "securityContext.", "env[]", "envFrom[]", "Mounts[]"];
        let foreign = foreign.iter().any(|part| path.contains(part)) || path.contains("Rules[]");
        let described = fields.contains_key("description");
        assert!(!(foreign && described), "{path} has a description");
        let leaf = path.rsplit('.').next().unwrap_or_default();
        let ours =
            !foreign && !path.contains("valueFrom.") && !path.contains("tls[]") && !path.contains("conditions[]");
        let header = ["", "apiVersion", "kind", "metadata", "spec", "status"].contains(&leaf);
        if ours && !header && !leaf.ends_with("[]") && !leaf.ends_with("{}") && !described {
            undescribed.push(path.to_owned());
        }
    });
    assert!(undescribed.is_empty(), "{undescribed:?}");
}

/// Names of all fields of a k8s-openapi type, with the path to each; metadata is cut down on purpose.
fn kubernetes_fields<T: schemars::JsonSchema>() -> BTreeSet<String> {
    fn collect(path: &str, node: &Value, definitions: &Map<String, Value>, into: &mut BTreeSet<String>) {
        if path.ends_with(".metadata") {
            into.insert(path.to_owned());
            return;
        }
        if let Some(name) = node["$ref"].as_str() {
            let name = name.trim_start_matches("#/$defs/");
            return collect(path, &definitions[name], definitions, into);
        }
        into.insert(path.to_owned());
        for (name, inner) in node["properties"].as_object().into_iter().flatten() {
            collect(&format!("{path}.{name}"), inner, definitions, into);
        }
        if let Some(items) = node.get("items") {
            collect(&format!("{path}[]"), items, definitions, into);
        }
        if let Some(values) = node.get("additionalProperties") {
            collect(&format!("{path}{{}}"), values, definitions, into);
        }
    }
    let mut generator = SchemaSettings::draft2020_12().into_generator();
    let root = generator.subschema_for::<T>().to_value();
    let definitions = generator.take_definitions(false);
    let mut fields = BTreeSet::new();
    collect("", &root, &definitions, &mut fields);
    fields
}

#[test]
fn no_field_of_a_pod_template_is_missing() {
    let wanted = kubernetes_fields::<k8s_openapi::api::core::v1::PodTemplateSpec>();
    assert!(wanted.len() > 900, "only {} fields: the walk is broken", wanted.len());
    let schema = schema("v1");
    let spec = &schema["properties"]["spec"]["properties"];
    let head = &spec["headGroupSpec"]["properties"]["template"];
    let worker = &spec["workerGroupSpecs"]["items"]["properties"]["template"];
    for (place, template) in [("head", head), ("worker", worker)] {
        let mut present = BTreeSet::new();
        walk("", template, &mut |path, _| {
            present.insert(path.to_owned());
        });
        let missing: Vec<&String> = wanted.difference(&present).collect();
        assert!(missing.is_empty(), "{place}: {missing:?}");
    }
}

#[test]
fn metadata_of_templates_is_what_kuberay_keeps() {
    let schema = schema("v1");
    let metadata = &schema["properties"]["spec"]["properties"]["headGroupSpec"]["properties"]["template"]["properties"]
        ["metadata"]["properties"];
    let fields: Vec<&String> = metadata.as_object().unwrap().keys().collect();
    assert_eq!(fields, ["annotations", "finalizers", "labels", "name", "namespace"]);
}

/// Users write `headService: {spec: …}`.
#[test]
fn head_service_needs_no_metadata() {
    let service = &schema("v1")["properties"]["spec"]["properties"]["headGroupSpec"]["properties"]["headService"];
    let required = service["required"].as_array().into_iter().flatten().count();
    assert!(required == 0, "{}", service["required"]);
}

#[test]
fn v1alpha1_keeps_what_it_does_not_know() {
    let schema = schema("v1alpha1");
    for part in ["spec", "status"] {
        assert_eq!(schema["properties"][part]["x-kubernetes-preserve-unknown-fields"], true, "{part}");
    }
    let size = schema.to_string().len();
    assert!(size < 16 * 1024, "{size}: pod templates got in");
    assert!(!schema.to_string().contains("x-kubernetes-validations"), "rules got in");
}

/// The messages are an interface of sorts: no two rules may say the same, and each has a text.
#[test]
fn every_rule_has_its_own_message() {
    let mut seen = BTreeSet::new();
    for (at, cel, message) in crd::rules::overview() {
        assert!(!message.is_empty() && !message.contains('\n'), "{at}: {cel}");
        assert!(seen.insert((at, message)), "{at}: {message}");
    }
    assert!(seen.len() > 25);
}
