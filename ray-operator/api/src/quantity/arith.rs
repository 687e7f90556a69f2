//! Arithmetic on quantities.

use std::cmp::Ordering;
use std::hash::{Hash, Hasher};
use std::iter::Sum;

use super::{Format, NANOS, Quantity};

impl Quantity {
    /// Whether the amount is nothing.
    #[must_use]
    pub const fn is_zero(&self) -> bool {
        self.nanos == 0
    }

    /// Sum in the notation of `self`, or of `other` if `self` is zero. Saturates.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        let format = if self.is_zero() { other.format } else { self.format };
        Self { nanos: self.nanos.saturating_add(other.nanos), format }
    }

    /// Difference in the notation of `self`, or of `other` if `self` is zero. Saturates.
    #[must_use]
    pub fn minus(self, other: Self) -> Self {
        self.plus(Self { nanos: other.nanos.saturating_neg(), format: other.format })
    }

    /// So many times the amount, in the same notation. Saturates.
    #[must_use]
    pub fn times(self, count: i64) -> Self {
        Self { nanos: self.nanos.saturating_mul(i128::from(count)), format: self.format }
    }

    /// Whole units, rounded away from zero (Go's `Value`): `1500m` CPU are 2. Saturates.
    #[must_use]
    pub fn ceil(self) -> i64 {
        self.ceil_to(NANOS)
    }

    /// Thousandths of the unit, rounded away from zero (Go's `MilliValue`): milli-CPU. Saturates.
    #[must_use]
    pub fn ceil_milli(self) -> i64 {
        self.ceil_to(1_000_000)
    }

    /// Whole units, rounded away from zero, beyond the reach of [`Self::ceil`].
    #[must_use]
    pub fn ceil_to_i128(self) -> i128 {
        self.ceil_nanos(NANOS)
    }

    fn ceil_to(self, nanos: i128) -> i64 {
        let rounded = self.ceil_nanos(nanos);
        i64::try_from(rounded).unwrap_or(if rounded < 0 { i64::MIN } else { i64::MAX })
    }

    fn ceil_nanos(self, nanos: i128) -> i128 {
        let whole = self.nanos.checked_div(nanos).unwrap_or(0);
        let exact = self.nanos.checked_rem(nanos).unwrap_or(0) == 0;
        if exact { whole } else { whole.saturating_add(self.nanos.signum()) }
    }

    /// The nearest floating-point number of units. (Go's `AsApproximateFloat64` may be off in the last digit.)
    #[must_use]
    pub fn approx_f64(self) -> f64 {
        // Through text, because that conversion is exact and an integer cast is not.
        format!("{}e-9", self.nanos).parse().unwrap_or(0.0)
    }

    /// The same amount in another notation.
    #[must_use]
    pub const fn with_format(self, format: Format) -> Self {
        Self { format, ..self }
    }
}

impl PartialEq for Quantity {
    fn eq(&self, other: &Self) -> bool {
        self.nanos == other.nanos
    }
}

impl Eq for Quantity {}

impl Hash for Quantity {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.nanos.hash(state);
    }
}

impl PartialOrd for Quantity {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Quantity {
    fn cmp(&self, other: &Self) -> Ordering {
        self.nanos.cmp(&other.nanos)
    }
}

impl Sum for Quantity {
    /// In the notation of the first summand that is not zero.
    fn sum<I: Iterator<Item = Self>>(summands: I) -> Self {
        summands.fold(Self::ZERO, Self::plus)
    }
}
