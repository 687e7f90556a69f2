//! A pod template keeps every field that the API server knows of pods.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use test_support::{Namespace, sample};

use super::dry_run;

/// Makes a value with every field set, from the API server's own description of a type.
struct Maker {
    schemas: Map<String, Value>,
}

impl Maker {
    fn of(&self, schema: &Value) -> Value {
        let reference = schema.get("$ref").or_else(|| schema.pointer("/allOf/0/$ref"));
        if let Some(reference) = reference.and_then(Value::as_str) {
            let name = reference.rsplit('/').next().unwrap();
            return self.named(name);
        }
        match schema.get("type").and_then(Value::as_str) {
            Some("boolean") => json!(true),
            Some("integer" | "number") => json!(1),
            Some("array") => json!([self.of(&schema["items"])]),
            Some("object") => match (schema.get("properties"), schema.get("additionalProperties")) {
                (Some(properties), _) => self.fields(properties),
                (None, Some(values)) => json!({"key": self.of(values)}),
                (None, None) => json!({}),
            },
            _ if schema["format"] == "date-time" => json!("2026-01-01T00:00:00Z"),
            _ => json!("x"),
        }
    }

    fn named(&self, name: &str) -> Value {
        match name.rsplit('.').next().unwrap() {
            "Quantity" => json!("1"),
            "IntOrString" => json!(1),
            "Time" => json!("2026-01-01T00:00:00Z"),
            // Of metadata, KubeRay's definition keeps five fields.
            "ObjectMeta" => json!({"name": "x", "namespace": "x", "labels": {"a": "b"}, "annotations": {"a": "b"},
                "finalizers": ["a/b"]}),
            _ => self.of(&self.schemas[name]),
        }
    }

    fn fields(&self, properties: &Value) -> Value {
        let fields = properties.as_object().unwrap().iter();
        let fields: BTreeMap<&String, Value> = fields.map(|(name, schema)| (name, self.of(schema))).collect();
        json!(fields)
    }
}

/// Paths of what is in `given` and not in `kept`.
fn lost(given: &Value, kept: Option<&Value>, path: &str, found: &mut Vec<String>) {
    match (given, kept) {
        (Value::Object(given), Some(Value::Object(kept))) => {
            for (key, value) in given {
                lost(value, kept.get(key), &format!("{path}.{key}"), found);
            }
        }
        (Value::Array(given), Some(Value::Array(kept))) => {
            for (index, value) in given.iter().enumerate() {
                lost(value, kept.get(index), &format!("{path}[{index}]"), found);
            }
        }
        (given, kept) if Some(given) != kept => found.push(format!("{path}: {given} became {kept:?}")),
        _ => {}
    }
}

#[tokio::test]
async fn of_a_pod_template_nothing_is_lost() {
    let ns = Namespace::new("crd").await;
    let request = http::Request::get("/openapi/v3/api/v1").body(Vec::new()).unwrap();
    let api: Value = ns.client.request(request).await.unwrap();
    let maker = Maker { schemas: api.pointer("/components/schemas").unwrap().as_object().unwrap().clone() };
    let template = maker.named("io.k8s.api.core.v1.PodTemplateSpec");
    // The sample is as full as it should be.
    assert!(template.pointer("/spec/containers/0/livenessProbe/httpGet/httpHeaders/0/name").is_some());
    assert!(template.to_string().len() > 10_000, "{} bytes", template.to_string().len());
    let mut raw = sample::raw("demo", "[{groupName: a}]");
    raw["spec"]["headGroupSpec"]["template"] = template.clone();
    raw["spec"]["workerGroupSpecs"][0]["template"] = template.clone();
    let made = dry_run(&ns, &raw).await.unwrap();
    let mut found = Vec::new();
    for path in ["/spec/headGroupSpec/template", "/spec/workerGroupSpecs/0/template"] {
        lost(&template, made.pointer(path), path, &mut found);
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}
