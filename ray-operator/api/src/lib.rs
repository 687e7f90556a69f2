//! The `ray.io` API: types, names, rules, quantities and the custom resource definitions.
//!
//! Everything here is plain data and pure functions; nothing talks to a cluster, reads a clock or draws random numbers.

pub mod conditions;
pub mod crd;
pub mod raycluster;

mod de;

pub use raycluster::{RayCluster, RayClusterSpec, RayClusterStatus};

/// API group of every kind in this crate.
pub const GROUP: &str = "ray.io";
/// Version that is stored and that this crate's types describe.
pub const VERSION: &str = "v1";
