//! The custom resource definition of `RayCluster`, made from the Rust types.
//!
//! [`schema`] turns the types into a structural schema, [`kubernetes`] adds what Kubernetes' own types say about
//! themselves elsewhere than in their field lists, [`limits`] adds bounds, defaults and enumerations, [`rules`] the CEL
//! rules, [`v1alpha1`] the old version, [`columns`] what `kubectl get` prints. The result is checked in under
//! `deploy/crds` and a test compares the two.

pub mod columns;
pub mod kubernetes;
pub mod limits;
pub mod path;
pub mod rules;
pub mod schema;
pub mod v1alpha1;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use serde_json::{Value, json};

use crate::raycluster::{KIND, PLURAL, RayClusterSpec, RayClusterStatus, SINGULAR};

/// Why a definition cannot be made. All of these are mistakes in this crate, none depends on input.
#[derive(Debug, thiserror::Error)]
pub enum CrdError {
    /// A schema refers to a definition that does not exist.
    #[error("the schema refers to {0}, which has no definition")]
    MissingDefinition(String),
    /// Types contain each other, which a structural schema cannot say.
    #[error("{0} contains itself")]
    Recursive(String),
    /// A rule or limit names a field that the schema lacks.
    #[error("the schema has no field {0}")]
    NoSuchField(String),
    /// The result is not a CustomResourceDefinition.
    #[error("not a CustomResourceDefinition: {0}")]
    Shape(#[from] serde_json::Error),
    /// The result cannot be written as YAML.
    #[error("not writable as YAML: {0}")]
    Yaml(#[from] serde_saphyr::ser::Error),
}

/// What a client is told when it uses `v1alpha1`.
const V1ALPHA1_WARNING: &str = "ray.io/v1alpha1 RayCluster is deprecated and will be removed; use ray.io/v1";

/// The definition of `RayCluster` as typed object, with the versions `v1` (stored) and `v1alpha1` (served).
///
/// # Errors
/// See [`CrdError`]; a test of this crate makes sure that there are none.
pub fn ray_cluster() -> Result<CustomResourceDefinition, CrdError> {
    Ok(serde_json::from_value(ray_cluster_json()?)?)
}

/// The definition of `RayCluster` as JSON, keys sorted.
///
/// # Errors
/// See [`CrdError`].
pub fn ray_cluster_json() -> Result<Value, CrdError> {
    let mut v1 = plain_schema()?;
    let v1alpha1 = v1alpha1::schema(&v1)?;
    limits::apply_bounds(&mut v1)?;
    rules::apply(&mut v1)?;
    Ok(json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{PLURAL}.{}", crate::GROUP)},
        "spec": {
            "group": crate::GROUP,
            "names": {
                "kind": KIND,
                "listKind": format!("{KIND}List"),
                "plural": PLURAL,
                "singular": SINGULAR,
                "categories": ["all"],
            },
            "scope": "Namespaced",
            "conversion": {"strategy": "None"},
            "versions": [
                {
                    "name": crate::VERSION,
                    "served": true,
                    "storage": true,
                    "subresources": {"status": {}},
                    "additionalPrinterColumns": columns::ray_cluster(),
                    "schema": {"openAPIV3Schema": v1},
                },
                {
                    "name": v1alpha1::VERSION,
                    "served": true,
                    "storage": false,
                    "deprecated": true,
                    "deprecationWarning": V1ALPHA1_WARNING,
                    "subresources": {"status": {}},
                    "additionalPrinterColumns": columns::ray_cluster(),
                    "schema": {"openAPIV3Schema": v1alpha1},
                },
            ],
        },
    }))
}

/// The definition as the YAML file that is checked in.
///
/// # Errors
/// See [`CrdError`].
pub fn ray_cluster_yaml() -> Result<String, CrdError> {
    let body = serde_saphyr::to_string(&ray_cluster_json()?)?;
    Ok(format!("# Made by `cargo run -p ray-api --bin crdgen`. Do not edit.\n{body}"))
}

/// The types, with list keys and defaults but without bounds and rules.
fn plain_schema() -> Result<Value, CrdError> {
    let mut root = json!({
        "description": "A Ray cluster: one head pod and any number of worker groups.",
        "type": "object",
        "properties": {
            // Without descriptions: the API server has its own for these three.
            "apiVersion": {"type": "string"},
            "kind": {"type": "string"},
            "metadata": {"type": "object"},
            "spec": schema::of::<RayClusterSpec>()?,
            "status": schema::of::<RayClusterStatus>()?,
        },
    });
    limits::apply_structure(&mut root)?;
    Ok(root)
}
