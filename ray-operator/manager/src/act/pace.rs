//! How fast the API server answers of late, and so whether it has its hands full.

use std::time::Duration;

use parking_lot::Mutex;

/// An API server at its ease answers a write in a few milliseconds; one that takes this long has more to do than it can.
const BUSY: Duration = Duration::from_millis(100);

/// A moving average of the time that writes took, the last ones counting most.
#[derive(Debug, Default)]
pub(super) struct Pace {
    average: Mutex<Duration>,
}

impl Pace {
    /// A write took this long.
    pub(super) fn took(&self, time: Duration) {
        let mut average = self.average.lock();
        // A quarter of the new, three quarters of the old.
        *average = average.saturating_mul(3).saturating_add(time).checked_div(4).unwrap_or(time);
    }

    /// Whether the API server has its hands full.
    pub(super) fn is_busy(&self) -> bool {
        *self.average.lock() >= BUSY
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_slow_answer_is_not_yet_a_busy_server_and_a_few_quick_ones_end_it() {
        let pace = Pace::default();
        pace.took(Duration::from_millis(300));
        assert!(!pace.is_busy());
        pace.took(Duration::from_millis(300));
        assert!(pace.is_busy());
        for _ in 0..2 {
            pace.took(Duration::from_millis(5));
        }
        assert!(!pace.is_busy());
    }
}
