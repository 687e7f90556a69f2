//! One module a measurement.

pub(crate) mod bring_up;
pub(crate) mod fairness;
pub(crate) mod floor;
pub(crate) mod ray;
pub(crate) mod silence;
pub(crate) mod start;
pub(crate) mod writes;

use std::time::{Duration, Instant};

/// Image named in clusters whose pods are only simulated.
pub(crate) const NO_IMAGE: &str = "rayproject/ray:2.60.0";

/// How long clusters get to settle after the last change before they count as settled.
pub(crate) const SETTLE: Duration = Duration::from_secs(5);

/// The middle one; of an even number the higher of the two in the middle.
pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Seconds between two moments; no number if there is no end.
pub(crate) fn seconds(from: Instant, to: Option<Instant>) -> f64 {
    to.map_or(f64::NAN, |to| to.saturating_duration_since(from).as_secs_f64())
}

/// A count as a figure.
pub(crate) fn figure(count: usize) -> f64 {
    u32::try_from(count).map_or(f64::INFINITY, f64::from)
}

/// Values with two digits, for a note.
pub(crate) fn spread(values: &[f64]) -> String {
    values.iter().map(|value| format!("{value:.2}")).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle_one() {
        assert!((median(vec![3.0, 1.0, 2.0]) - 2.0).abs() < f64::EPSILON);
        assert!((median(vec![2.0, 1.0]) - 2.0).abs() < f64::EPSILON);
        assert!(median(Vec::new()).is_nan());
    }
}
