//! The CEL rules: what needs more than one field, or a text better than the schema's own.
//!
//! The same rules stand in [`crate::validation`] once more, because objects stored under an older definition or written
//! through `v1alpha1` never met these. What needs a feature gate, an annotation, a version comparison or a walk over
//! two lists at a time is only there.

mod auth;
mod fault_tolerance;
mod groups;
mod history;
mod network_policy;
mod scaling;

use serde_json::{Value, json};

use super::{CrdError, path};

/// One rule at one place of the schema.
struct Rule {
    /// Where: see [`path`].
    at: &'static str,
    /// CEL that has to be true; `self` is the value at `at`.
    cel: String,
    /// What the user reads.
    message: &'static str,
    /// Kubernetes' word for the kind of mistake.
    reason: Reason,
    /// Field the message belongs to, below `at`.
    field: &'static str,
    /// Also evaluated with no old value to compare with; `oldSelf` is an optional then.
    optional_old_self: bool,
}

#[derive(Clone, Copy)]
enum Reason {
    Invalid,
    Forbidden,
    Required,
}

impl Reason {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Invalid => "FieldValueInvalid",
            Self::Forbidden => "FieldValueForbidden",
            Self::Required => "FieldValueRequired",
        }
    }
}

fn rule(at: &'static str, reason: Reason, cel: impl Into<String>, message: &'static str) -> Rule {
    Rule { at, cel: cel.into(), message, reason, field: "", optional_old_self: false }
}

impl Rule {
    fn on(self, field: &'static str) -> Self {
        Self { field, ..self }
    }

    fn at_creation_only(self) -> Self {
        // `oldSelf` exists from the first update on; by then the rule is not asked any more.
        Self { cel: format!("oldSelf.hasValue() || {}", self.cel), optional_old_self: true, ..self }
    }

    fn to_json(&self) -> Value {
        let mut json = json!({"rule": self.cel, "message": self.message, "reason": self.reason.as_str()});
        if let Value::Object(fields) = &mut json {
            if !self.field.is_empty() {
                fields.insert("fieldPath".into(), self.field.into());
            }
            if self.optional_old_self {
                fields.insert("optionalOldSelf".into(), true.into());
            }
        }
        json
    }
}

/// Puts all rules into the schema of the whole object.
///
/// # Errors
/// [`CrdError::NoSuchField`] if a path does not exist.
pub(super) fn apply(root: &mut Value) -> Result<(), CrdError> {
    for rule in all() {
        let schema = path::at(root, rule.at)?;
        let list = schema.entry("x-kubernetes-validations").or_insert_with(|| json!([]));
        if let Value::Array(list) = list {
            list.push(rule.to_json());
        }
    }
    Ok(())
}

/// Place, CEL and message of every rule, for documentation and tests.
#[must_use]
pub fn overview() -> Vec<(&'static str, String, &'static str)> {
    all().into_iter().map(|rule| (rule.at, rule.cel, rule.message)).collect()
}

fn all() -> Vec<Rule> {
    let mut rules = metadata();
    rules.extend(ownership());
    rules.extend(groups::rules());
    rules.extend(scaling::rules());
    rules.extend(fault_tolerance::rules());
    rules.extend(auth::rules());
    rules.extend(network_policy::rules());
    rules.extend(history::rules());
    rules
}

// Names cannot change, so these are asked at creation only: an object with a bad name from before this definition must
// still be able to lose its finalizers.
fn metadata() -> Vec<Rule> {
    vec![
        rule(
            "",
            Reason::Invalid,
            "size(self.metadata.name) <= 53",
            "metadata.name must have at most 53 characters: names of Services are made from it",
        )
        .at_creation_only(),
        rule(
            "",
            Reason::Invalid,
            "self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",
            "metadata.name must begin with a lower-case letter and hold only lower-case letters, digits and '-' (it \
             becomes part of DNS names)",
        )
        .at_creation_only(),
    ]
}

fn ownership() -> Vec<Rule> {
    vec![
        rule("spec.managedBy", Reason::Invalid, "self == oldSelf", "managedBy cannot be changed"),
        rule(
            "spec.managedBy",
            Reason::Invalid,
            "self in ['ray.io/kuberay-operator', 'kueue.x-k8s.io/multikueue']",
            "managedBy must be 'ray.io/kuberay-operator' or 'kueue.x-k8s.io/multikueue'",
        ),
    ]
}

/// Whether the environment of the head's Ray container fulfils a condition on `e` somewhere.
fn head_env(condition: &str) -> String {
    format!(
        "(has(self.headGroupSpec.template.spec) && size(self.headGroupSpec.template.spec.containers) > 0 && \
         has(self.headGroupSpec.template.spec.containers[0].env) && \
         self.headGroupSpec.template.spec.containers[0].env.exists(e, {condition}))"
    )
}
