//! The plan: what one pass wants to write, as data.

mod cluster;
mod event;
mod write;

pub use cluster::{Decision, Rejection, Verdict, plan};
pub use event::{Event, EventType};
pub use write::{Action, Outcome, Step, Write, WriteError, WriteErrorKind};
