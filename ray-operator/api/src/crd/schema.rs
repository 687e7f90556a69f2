//! Rust types to structural schemas.
//!
//! `schemars` describes what serde reads; the API server wants less and stricter: no references, one type a node, no
//! `null` alternatives. Definitions are inlined here, not by `schemars`, because their names are what tells a
//! `Quantity` or a pod's container from our own types.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};

use super::{CrdError, kubernetes};

/// Definitions by name.
type Definitions = Map<String, Value>;

/// Deepest nesting of types; pod templates have about 15.
const MAX_DEPTH: usize = 40;

/// The structural schema of a type.
///
/// # Errors
/// [`CrdError::MissingDefinition`] and [`CrdError::Recursive`], for types that cannot be described.
pub fn of<T: JsonSchema>() -> Result<Value, CrdError> {
    let mut generator = SchemaSettings::draft2020_12().into_generator();
    let reference = generator.subschema_for::<T>().to_value();
    let definitions = generator.take_definitions(false);
    inline(&reference, &definitions, false, 0)
}

/// `foreign`: inside a type of Kubernetes, where descriptions are left out. They would be four fifths of the file, and
/// `kubectl explain pod.spec` has them.
fn inline(node: &Value, definitions: &Definitions, foreign: bool, depth: usize) -> Result<Value, CrdError> {
    let Some(fields) = node.as_object() else { return Ok(Value::Object(Map::new())) };
    if depth > MAX_DEPTH {
        return Err(CrdError::Recursive(fields.get("$ref").map(Value::to_string).unwrap_or_default()));
    }
    let deeper = depth.saturating_add(1);
    let mut result = match referenced(fields) {
        Some(Reference::Definition(name)) => resolve(name, definitions, foreign, deeper)?,
        Some(Reference::Inner(schema)) => as_object(inline(schema, definitions, foreign, deeper)?),
        None => Map::new(),
    };
    for (key, value) in fields {
        match key.as_str() {
            "$ref" | "anyOf" | "title" | "$schema" | "default" | "nullable" => {}
            "description" if foreign => {}
            "description" => drop(result.insert(key.clone(), one_paragraph(value))),
            "type" => drop(result.insert(key.clone(), single_type(value))),
            "properties" => {
                let inner = value.as_object().into_iter().flatten();
                let inner =
                    inner.map(|(name, schema)| Ok((name.clone(), inline(schema, definitions, foreign, deeper)?)));
                result.insert(key.clone(), Value::Object(inner.collect::<Result<_, CrdError>>()?));
            }
            "items" | "additionalProperties" => {
                result.insert(key.clone(), inline(value, definitions, foreign, deeper)?);
            }
            _ => drop(result.insert(key.clone(), value.clone())),
        }
    }
    Ok(Value::Object(result))
}

enum Reference<'a> {
    Definition(&'a str),
    Inner(&'a Value),
}

/// What a node stands for if it is not a schema of its own: a `$ref`, or the non-null branch of an `Option`.
fn referenced(fields: &Map<String, Value>) -> Option<Reference<'_>> {
    if let Some(target) = fields.get("$ref").and_then(Value::as_str) {
        return Some(Reference::Definition(target.trim_start_matches("#/$defs/")));
    }
    let branches = fields.get("anyOf")?.as_array()?;
    branches.iter().find(|branch| branch.get("type").and_then(Value::as_str) != Some("null")).map(Reference::Inner)
}

fn resolve(name: &str, definitions: &Definitions, foreign: bool, depth: usize) -> Result<Map<String, Value>, CrdError> {
    let from_kubernetes = kubernetes::owns(name);
    if let Some(replacement) = kubernetes::replacement(name) {
        return Ok(as_object(replacement));
    }
    let definition = definitions.get(name).ok_or_else(|| CrdError::MissingDefinition(name.to_owned()))?;
    let mut schema = as_object(inline(definition, definitions, foreign || from_kubernetes, depth)?);
    if from_kubernetes {
        kubernetes::complete(name, &mut schema)?;
    } else {
        // The field's own text says more than the type's.
        schema.remove("description");
    }
    Ok(schema)
}

/// Descriptions as one line each paragraph: the line breaks of the source mean nothing to a reader of the schema.
fn one_paragraph(text: &Value) -> Value {
    let text = text.as_str().unwrap_or_default();
    let paragraphs: Vec<String> = text.split("\n\n").map(|paragraph| paragraph.replace('\n', " ")).collect();
    Value::String(paragraphs.join("\n\n"))
}

/// `["string", "null"]` becomes `"string"`. Optional fields are left out, not null, as in KubeRay's schema.
fn single_type(value: &Value) -> Value {
    let Some(types) = value.as_array() else { return value.clone() };
    types.iter().find(|type_| type_.as_str() != Some("null")).cloned().unwrap_or_else(|| value.clone())
}

fn as_object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}
