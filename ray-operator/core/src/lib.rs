//! The decisions of ray-operator: what is observed goes in, what to do comes out.
//!
//! Nothing here does I/O, reads a clock or draws a random number. One pass over one cluster is
//! [`plan::plan`] (what to write) and, after the writes were tried, [`report::report`] (what to tell).

pub mod backoff;
pub mod build;
pub mod config;
pub mod group;
pub mod head;
pub mod observed;
pub mod plan;
pub mod pod_names;
pub mod removed_groups;
pub mod report;
pub mod scale_down;
pub mod services;
pub mod status;
pub mod unhealthy;
pub mod valid;

#[cfg(test)]
mod testing;
