//! What the tests over `tests/golden` share: cases, the normal form, known differences.

// Each test crate uses a part of it; `pub` says what is for them.
#![allow(dead_code, unreachable_pub)]
// Tests fail by panicking.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects
)]

pub mod built;
pub mod case;
pub mod diff;
pub mod known;
pub mod normal;
pub mod quantity;
pub mod scope;
pub mod world;
