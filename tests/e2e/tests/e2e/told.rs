//! Progress, since these tests take minutes: one line a step, with the test it belongs to and the time it took so far.

use std::sync::LazyLock;
use std::time::Instant;

tokio::task_local! {
    /// Name of the test that runs in this task.
    pub(crate) static TEST: String;
}

static START: LazyLock<Instant> = LazyLock::new(Instant::now);

/// Prints a line of progress.
pub(crate) fn tell(text: impl std::fmt::Display) {
    let test = TEST.try_with(Clone::clone).unwrap_or_default();
    eprintln!("[{:6.1}s] {test}: {text}", START.elapsed().as_secs_f64());
}
