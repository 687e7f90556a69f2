//! Paths into a schema: `spec.workerGroupSpecs[].template` walks `properties`, `[]` walks `items`, `{}` the values of a
//! map.

use serde_json::{Map, Value};

use super::CrdError;

/// The sub-schema at `path`; the empty path is the schema itself.
///
/// # Errors
/// [`CrdError::NoSuchField`] if there is none.
pub fn at<'a>(schema: &'a mut Value, path: &str) -> Result<&'a mut Map<String, Value>, CrdError> {
    walk(schema, path).and_then(Value::as_object_mut).ok_or_else(|| CrdError::NoSuchField(path.to_owned()))
}

fn walk<'a>(schema: &'a mut Value, path: &str) -> Option<&'a mut Value> {
    let mut here = schema;
    for step in path.split('.').filter(|step| !step.is_empty()) {
        let name = step.trim_end_matches(['[', ']', '{', '}']);
        here = here.get_mut("properties")?.get_mut(name)?;
        if step.ends_with("[]") {
            here = here.get_mut("items")?;
        } else if step.ends_with("{}") {
            here = here.get_mut("additionalProperties")?;
        }
    }
    Some(here)
}
