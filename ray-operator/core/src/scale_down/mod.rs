//! Which workers go: the named ones first, then by rank until the desired number is met.

mod named;
mod rank;

pub use named::{NamedWorkers, UnknownWorker, match_names};
pub use rank::surplus;
