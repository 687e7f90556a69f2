//! The status as a JSON merge patch.

use ray_api::RayClusterStatus;
use serde_json::{Map, Value};

/// Whether two statuses say the same; the time of the last write says nothing.
pub(super) fn same(a: &RayClusterStatus, b: &RayClusterStatus) -> bool {
    let strip = |status: &RayClusterStatus| RayClusterStatus { last_update_time: None, ..status.clone() };
    strip(a) == strip(b)
}

/// The merge patch (RFC 7386) that turns one status into the other.
pub(super) fn between(before: &RayClusterStatus, wished: &RayClusterStatus) -> Value {
    instead_of(&value(before), wished)
}

/// The same from a status that stands as JSON.
pub(super) fn instead_of(before: &Value, wished: &RayClusterStatus) -> Value {
    let mut patch = Map::new();
    patch.insert("status".to_owned(), difference(before, &value(wished)).unwrap_or_else(|| Map::new().into()));
    Value::Object(patch)
}

fn value(status: &RayClusterStatus) -> Value {
    serde_json::to_value(status).unwrap_or(Value::Null)
}

fn difference(before: &Value, wished: &Value) -> Option<Value> {
    let (Value::Object(old), Value::Object(new)) = (before, wished) else {
        return (before != wished).then(|| wished.clone());
    };
    let mut patch = Map::new();
    for (key, value) in new {
        let change = old.get(key).map_or_else(|| Some(value.clone()), |old| difference(old, value));
        if let Some(change) = change {
            patch.insert(key.clone(), change);
        }
    }
    for key in old.keys().filter(|key| !new.contains_key(*key)) {
        patch.insert(key.clone(), Value::Null);
    }
    if patch.is_empty() { None } else { Some(Value::Object(patch)) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_what_changes_is_in_the_patch() {
        for (before, after, expected) in [
            (json!({"a": 1}), json!({"a": 1}), None),
            (json!({"a": 1}), json!({"a": 2, "b": 3}), Some(json!({"a": 2, "b": 3}))),
            (json!({"a": {"x": 1, "y": 2}}), json!({"a": {"x": 1, "y": 3}}), Some(json!({"a": {"y": 3}}))),
            (json!({"a": {"x": 1}, "b": 1}), json!({"a": {}}), Some(json!({"a": {"x": null}, "b": null}))),
            (json!({"a": [1, 2]}), json!({"a": [1]}), Some(json!({"a": [1]}))),
        ] {
            assert_eq!(difference(&before, &after), expected, "{before} {after}");
        }
    }
}
