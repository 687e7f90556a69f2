//! Differences between two JSON values, one line each, by path.

use std::collections::BTreeSet;

use serde_json::Value;

/// Lines `path: expected …, got …`; none if the values are equal.
pub fn differences(expected: &Value, actual: &Value) -> Vec<String> {
    let mut lines = Vec::new();
    compare("", expected, actual, &mut lines);
    lines
}

fn compare(path: &str, expected: &Value, actual: &Value, lines: &mut Vec<String>) {
    match (expected, actual) {
        (Value::Object(left), Value::Object(right)) => {
            for key in left.keys().chain(right.keys()).collect::<BTreeSet<_>>() {
                let absent = Value::Null;
                let at = format!("{path}.{key}");
                compare(&at, left.get(key).unwrap_or(&absent), right.get(key).unwrap_or(&absent), lines);
            }
        }
        (Value::Array(left), Value::Array(right)) if left.len() == right.len() => {
            for (index, (left, right)) in left.iter().zip(right).enumerate() {
                compare(&format!("{path}[{index}]"), left, right, lines);
            }
        }
        _ if expected == actual => {}
        _ => lines.push(format!("{path}:\n    expected {expected}\n    got      {actual}")),
    }
}
