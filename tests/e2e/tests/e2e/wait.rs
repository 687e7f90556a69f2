//! Waiting, at a pace that leaves the processors to Ray.

use std::time::Duration;

const PAUSE: Duration = Duration::from_millis(250);

/// [`test_support::eventually_within`] with longer pauses.
#[track_caller]
pub(crate) fn eventually_within<T>(
    deadline: Duration,
    what: &str,
    mut check: impl AsyncFnMut() -> Result<T, String>,
) -> impl Future<Output = T> {
    test_support::eventually_within(deadline, what, async move || {
        let result = check().await;
        if result.is_err() {
            tokio::time::sleep(PAUSE).await;
        }
        result
    })
}
