//! The shell around `ray-core`: watches, writes, reports.
//!
//! ```text
//!  watch ─▶ cache ─▶ pass: gather ─▶ plan (ray-core) ─▶ act ─▶ report (ray-core) ─▶ status, events
//!             └────▶ queue ──┘ which cluster next           └─▶ ledger: what we wrote and have not seen come back
//! ```

pub mod act;
pub mod cache;
pub mod event_sink;
pub mod ledger;
pub mod logging;
pub mod metrics;
pub mod options;
pub mod pass;
pub mod queue;
pub mod run;
pub mod server;
pub mod watch;
