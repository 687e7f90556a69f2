//! What the tests over `tests/golden` share: cases, the normal form, known differences.

// Each test crate uses a part of it; `pub` says what is for them.
#![allow(dead_code, unreachable_pub)]

pub mod built;
pub mod case;
pub mod diff;
pub mod known;
pub mod normal;
pub mod quantity;
pub mod scope;
