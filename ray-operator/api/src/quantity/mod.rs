//! Kubernetes quantities (`500m`, `2Gi`, `1e3`), computed and printed as Kubernetes' own library does it.
//!
//! Sums of quantities appear in the status, so their text is part of the API: a quantity remembers in which of three
//! notations it was written, a sum keeps the notation of its first summand, and the text is made canonical when it is
//! printed. No crate does this the way Go does (`kube_quantity` prints `1024Mi` as it came, Go prints `1Gi`).
//!
//! A value is a whole number of billionths (nano-units), which is the finest that Kubernetes keeps, in an `i128`. That
//! reaches to 1.7e29, where addition and parsing stop growing (saturate) instead of wrapping; Go goes on with big
//! integers. Nothing real is within ten orders of magnitude of that.

mod arith;
mod print;
mod read;

use k8s_openapi::apimachinery::pkg::api::resource::Quantity as Text;

pub use read::ParseError;

/// Notation a quantity was written in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// `1500m`, `2k`: suffixes for powers of ten.
    #[default]
    DecimalSi,
    /// `1Ki`, `3Gi`: suffixes for powers of 1024.
    BinarySi,
    /// `1e3`, `5e-3`: an exponent of ten.
    DecimalExponent,
}

/// An amount and the notation it was written in.
///
/// Comparison and equality look at the amount alone: `1024Mi` equals `1Gi`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Quantity {
    /// Billionths of the unit.
    nanos: i128,
    format: Format,
}

/// Nano-units in one unit.
const NANOS: i128 = 1_000_000_000;

impl Quantity {
    /// Nothing, in the notation of whatever is added first.
    pub const ZERO: Self = Self { nanos: 0, format: Format::DecimalSi };

    /// A whole number of units.
    #[must_use]
    pub fn from_units(units: i64, format: Format) -> Self {
        Self { nanos: i128::from(units).saturating_mul(NANOS), format }
    }

    /// The notation it was written in.
    #[must_use]
    pub const fn format(&self) -> Format {
        self.format
    }

    /// The amount in billionths of the unit.
    #[must_use]
    pub const fn nanos(&self) -> i128 {
        self.nanos
    }
}

impl TryFrom<&Text> for Quantity {
    type Error = ParseError;

    fn try_from(text: &Text) -> Result<Self, ParseError> {
        parse(&text.0)
    }
}

impl From<Quantity> for Text {
    fn from(quantity: Quantity) -> Self {
        Self(quantity.to_string())
    }
}

/// Reads a quantity; blanks around it are ignored, as Go ignores them when it reads JSON.
///
/// # Errors
/// [`ParseError`] if the text is no quantity.
pub fn parse(text: &str) -> Result<Quantity, ParseError> {
    text.trim().parse()
}
