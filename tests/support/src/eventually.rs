//! Waiting for conditions, with deadlines and last words.

use std::time::{Duration, Instant};

/// How long a test waits for what should take a moment: far more than that, since test machines are slow at times.
pub const DEADLINE: Duration = Duration::from_secs(30);

const PAUSE: Duration = Duration::from_millis(40);

/// Polls `check` until it is `Ok`; the error is the state that was seen, and the last one is in the failure's text.
///
/// # Panics
///
/// When [`DEADLINE`] has passed.
#[track_caller]
pub fn eventually<T>(
    what: impl Into<String>,
    check: impl AsyncFnMut() -> Result<T, String>,
) -> impl Future<Output = T> {
    eventually_within(DEADLINE, what, check)
}

/// [`eventually`] with a deadline of the caller's.
///
/// # Panics
///
/// When the deadline has passed.
#[track_caller]
pub fn eventually_within<T>(
    deadline: Duration,
    what: impl Into<String>,
    mut check: impl AsyncFnMut() -> Result<T, String>,
) -> impl Future<Output = T> {
    let (caller, what) = (std::panic::Location::caller(), what.into());
    // Boxed: tests hold many of these, and each would be as large as all that its check does.
    Box::pin(async move {
        let start = Instant::now();
        let mut last = "nothing was seen yet".to_owned();
        loop {
            let rest = deadline.saturating_sub(start.elapsed()) + PAUSE;
            match tokio::time::timeout(rest, check()).await {
                Ok(Ok(value)) => return value,
                Ok(Err(seen)) => last = seen,
                Err(_) => last = format!("a check that did not end; before it: {last}"),
            }
            assert!(
                start.elapsed() < deadline,
                "{caller}: within {} s there was no: {what}\nlast seen: {last}",
                deadline.as_secs()
            );
            tokio::time::sleep(PAUSE).await;
        }
    })
}

/// Polls `check` for `span` and fails as soon as it is an error: for what must stay as it is.
///
/// # Panics
///
/// When `check` says no.
#[track_caller]
pub fn throughout(
    span: Duration,
    what: impl Into<String>,
    mut check: impl AsyncFnMut() -> Result<(), String>,
) -> impl Future<Output = ()> {
    let (caller, what) = (std::panic::Location::caller(), what.into());
    // Boxed: tests hold many of these, and each would be as large as all that its check does.
    Box::pin(async move {
        let start = Instant::now();
        while start.elapsed() < span {
            if let Err(seen) = check().await {
                panic!("{caller}: after {} ms no longer: {what}\nseen: {seen}", start.elapsed().as_millis());
            }
            tokio::time::sleep(PAUSE).await;
        }
    })
}
