//! The `ray.io` API: types, names, rules, quantities and the custom resource definitions.
//!
//! Everything here is plain data and pure functions; nothing talks to a cluster, reads a clock or draws random numbers.

pub mod annotations;
pub mod conditions;
pub mod crd;
pub mod gates;
pub mod labels;
pub mod names;
pub mod quantity;
pub mod raycluster;
pub mod validation;
pub mod version;

mod de;

pub use gates::FeatureGates;
pub use raycluster::{RayCluster, RayClusterSpec, RayClusterStatus};
pub use validation::{FieldError, validate};

/// API group of every kind in this crate.
pub const GROUP: &str = "ray.io";
/// Version that is stored and that this crate's types describe.
pub const VERSION: &str = "v1";
