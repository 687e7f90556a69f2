//! Quantity to canonical text: the largest suffix that leaves no fraction.

use std::fmt;

use super::{Format, NANOS, Quantity};

const DECIMAL: [&str; 10] = ["n", "u", "m", "", "k", "M", "G", "T", "P", "E"];
const BINARY: [&str; 7] = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];

impl fmt::Display for Quantity {
    /// Canonical text, as Go prints a sum. Go prints a quantity that was only read as it was written if that is nearly
    /// canonical (`+5`, `1.500`); we do not keep the text.
    ///
    /// Beyond `999E` and `1023Ei` the number grows, while Go drops the suffix and with it 21 digits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.nanos == 0 {
            return f.write_str("0");
        }
        match self.format {
            // Small or fractional amounts have no binary form.
            Format::BinarySi if self.nanos.unsigned_abs() >= NANOS_OF_1024 && is_multiple(self.nanos, NANOS) => {
                let units = self.nanos.checked_div(NANOS).unwrap_or(0);
                let (number, suffix) = reduce(units, 1024, &BINARY);
                write!(f, "{number}{suffix}")
            }
            Format::BinarySi | Format::DecimalSi => {
                let (number, suffix) = reduce(self.nanos, 1000, &DECIMAL);
                write!(f, "{number}{suffix}")
            }
            Format::DecimalExponent => {
                let mut number = self.nanos;
                let mut exponent: i32 = -9;
                while is_multiple(number, 1000) {
                    number = number.checked_div(1000).unwrap_or(0);
                    exponent = exponent.saturating_add(3);
                }
                if exponent == 0 { write!(f, "{number}") } else { write!(f, "{number}e{exponent}") }
            }
        }
    }
}

const NANOS_OF_1024: u128 = 1024 * 1_000_000_000;

/// Takes out factors of `base` as long as there is a next suffix.
fn reduce<'a>(mut number: i128, base: i128, suffixes: &[&'a str]) -> (i128, &'a str) {
    let mut suffixes = suffixes.iter();
    let mut suffix = suffixes.next().copied().unwrap_or_default();
    while is_multiple(number, base) {
        let Some(next) = suffixes.next() else { break };
        suffix = next;
        number = number.checked_div(base).unwrap_or(0);
    }
    (number, suffix)
}

fn is_multiple(number: i128, of: i128) -> bool {
    number != 0 && number.checked_rem(of) == Some(0)
}
