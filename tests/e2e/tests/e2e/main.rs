//! Tests with real Ray: a real node, the operator as a pod with exactly the shipped manifests, Ray 2.60.0.
//!
//! `scripts/test e2e` brings the node up and installs the operator; then `cargo test -p e2e-tests NAME` runs one test.
//!
//! Starting Ray costs seconds of CPU, so most tests share one cluster: each first puts it back into the shape that the
//! sample says, which costs nothing when it has that shape. Tests run one after the other: on two processors, two
//! clusters that start at once take longer than one after the other, since Ray gives up on what is slow and starts again.
//! The last ones look at what all others left behind.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::needless_pass_by_value,
    reason = "panicking is how a test fails"
)]

mod blocked;
mod cluster;
mod groups;
mod killed;
mod last;
mod node;
mod program;
mod ready;
mod samples;
mod shared;
mod told;
mod wait;

use std::process::ExitCode;
use std::sync::Arc;

use libtest_mimic::{Arguments, Trial};
use tokio::runtime::Runtime;

/// Makes a test of an async function of no arguments.
macro_rules! test {
    ($runtime:expr, $module:ident::$name:ident) => {
        trial($runtime, concat!(stringify!($module), "::", stringify!($name)).to_owned(), $module::$name)
    };
}

fn main() -> ExitCode {
    let mut args = Arguments::from_args();
    let _ = rustls::crypto::ring::default_provider().install_default();
    let runtime = &Arc::new(Runtime::new().expect("a runtime"));

    let mut tests = vec![test!(runtime, blocked::groups_that_cannot_start_say_why_and_hold_up_no_other)];
    tests.extend(samples::names().into_iter().map(|name| {
        let file = name.clone();
        trial(runtime, format!("samples::{name}"), move || samples::gets_ready(file))
    }));
    tests.extend([
        test!(runtime, ready::status_conditions_and_columns_say_so),
        test!(runtime, ready::a_program_runs_on_every_node),
        test!(runtime, groups::a_group_grows_and_shrinks_by_name),
        test!(runtime, groups::a_group_is_added_and_removed),
        test!(runtime, killed::a_deleted_head_comes_back),
        test!(runtime, killed::a_head_whose_ray_dies_comes_back),
        test!(runtime, killed::a_deleted_worker_comes_back),
        test!(runtime, killed::a_worker_whose_ray_dies_comes_back),
    ]);
    let last = vec![
        test!(runtime, last::a_deleted_cluster_leaves_nothing_behind),
        test!(runtime, last::the_operator_ran_through_and_was_never_refused),
    ];

    if !args.list {
        runtime.block_on(node::require_operator());
    }
    args.test_threads.get_or_insert(1);
    let conclusion = libtest_mimic::run(&args, tests);
    let end = libtest_mimic::run(&args, last);
    if !args.list {
        runtime.block_on(shared::put_away());
    }
    if conclusion.has_failed() || end.has_failed() { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

fn trial<F>(runtime: &Arc<Runtime>, name: String, test: impl FnOnce() -> F + Send + 'static) -> Trial
where
    F: Future<Output = ()>,
{
    let runtime = Arc::clone(runtime);
    let title = name.clone();
    Trial::test(name, move || {
        runtime.block_on(told::TEST.scope(title, async move {
            told::tell("starts");
            test().await;
            told::tell("done");
        }));
        Ok(())
    })
}
