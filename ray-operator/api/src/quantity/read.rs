//! Text to quantity.

use std::str::FromStr;

use super::{Format, Quantity};

/// A text that is no quantity.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseError {
    /// The empty text.
    #[error("a quantity must not be empty")]
    Empty,
    /// Something that is neither digits, one dot nor a suffix.
    #[error("{0:?} is not a number with an optional suffix")]
    Number(String),
    /// Letters after the number that are no suffix.
    #[error("{0:?} is not a suffix of a quantity")]
    Suffix(String),
}

/// Digits after the decimal point that are kept: billionths.
const NANO_DIGITS: i64 = 9;
/// More decimal digits than any `i128` has.
const MANY_DIGITS: i64 = 40;

impl FromStr for Quantity {
    type Err = ParseError;

    /// Reads what Go reads, including oddities such as `.` and `Ki` (both zero). What is finer than a billionth is
    /// rounded away from zero; in binary notation anything beyond the largest int64 becomes that.
    fn from_str(text: &str) -> Result<Self, ParseError> {
        if text.is_empty() {
            return Err(ParseError::Empty);
        }
        let (negative, unsigned) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        let (whole, rest) = digits(unsigned);
        let (fraction, suffix) = rest.strip_prefix('.').map_or(("", rest), digits);
        let scale = Scale::parse(suffix).ok_or_else(|| {
            if suffix.bytes().all(|byte| byte.is_ascii_alphabetic()) {
                ParseError::Suffix(suffix.to_owned())
            } else {
                ParseError::Number(text.to_owned())
            }
        })?;

        let mut mantissa: Vec<u8> = whole
            .bytes()
            .chain(fraction.bytes())
            .map(|byte| byte.saturating_sub(b'0'))
            .skip_while(|d| *d == 0)
            .collect();
        for _ in 0..scale.powers_of_1024 {
            multiply_by_1024(&mut mantissa);
        }
        let fraction_digits = i64::try_from(fraction.len()).unwrap_or(i64::MAX);
        let exponent = scale.exponent.saturating_sub(fraction_digits);
        let mut nanos = to_integer(&mantissa, exponent.saturating_add(NANO_DIGITS));

        let mut format = scale.format;
        if format == Format::BinarySi {
            nanos = nanos.min(i128::from(i64::MAX).saturating_mul(super::NANOS));
            if nanos > 0 && nanos < super::NANOS {
                // Binary notation has no fractions.
                format = Format::DecimalSi;
            }
        }
        Ok(Self { nanos: if negative { nanos.saturating_neg() } else { nanos }, format })
    }
}

/// Leading ASCII digits, and the rest.
fn digits(text: &str) -> (&str, &str) {
    text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()))
}

/// What a suffix multiplies by.
struct Scale {
    exponent: i64,
    powers_of_1024: u8,
    format: Format,
}

impl Scale {
    fn parse(suffix: &str) -> Option<Self> {
        let decimal = |exponent| Some(Self { exponent, powers_of_1024: 0, format: Format::DecimalSi });
        let binary = |powers_of_1024| Some(Self { exponent: 0, powers_of_1024, format: Format::BinarySi });
        match suffix {
            "n" => decimal(-9),
            "u" => decimal(-6),
            "m" => decimal(-3),
            "" => decimal(0),
            "k" => decimal(3),
            "M" => decimal(6),
            "G" => decimal(9),
            "T" => decimal(12),
            "P" => decimal(15),
            "E" => decimal(18),
            "Ki" => binary(1),
            "Mi" => binary(2),
            "Gi" => binary(3),
            "Ti" => binary(4),
            "Pi" => binary(5),
            "Ei" => binary(6),
            _ => {
                let exponent = exponent(suffix.strip_prefix(['e', 'E'])?)?;
                Some(Self { exponent, powers_of_1024: 0, format: Format::DecimalExponent })
            }
        }
    }
}

/// A whole number with optional sign. Too large ones are as good as the largest.
fn exponent(text: &str) -> Option<i64> {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    if unsigned.is_empty() || !unsigned.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let size: i64 = unsigned.parse().unwrap_or(i64::MAX);
    Some(if text.starts_with('-') { size.saturating_neg() } else { size })
}

/// Multiplies decimal digits, most significant first. Exact for any length, where 128 bits would not do.
fn multiply_by_1024(mantissa: &mut Vec<u8>) {
    let mut carry: u32 = 0;
    for digit in mantissa.iter_mut().rev() {
        let product = u32::from(*digit).saturating_mul(1024).saturating_add(carry);
        *digit = last_digit(product);
        carry = product.checked_div(10).unwrap_or(0);
    }
    while carry > 0 {
        mantissa.insert(0, last_digit(carry));
        carry = carry.checked_div(10).unwrap_or(0);
    }
}

fn last_digit(number: u32) -> u8 {
    u8::try_from(number.checked_rem(10).unwrap_or(0)).unwrap_or(0)
}

/// `mantissa` times ten to the `exponent`, rounded up, at most the largest `i128`.
fn to_integer(mantissa: &[u8], exponent: i64) -> i128 {
    let length = i64::try_from(mantissa.len()).unwrap_or(i64::MAX);
    if mantissa.is_empty() {
        return 0;
    }
    if length.saturating_add(exponent) > MANY_DIGITS {
        return i128::MAX;
    }
    let kept = usize::try_from(length.saturating_add(exponent.min(0))).unwrap_or(0);
    let (kept, dropped) = mantissa.split_at(kept);
    let mut result = kept.iter().fold(0_i128, |sum, digit| sum.saturating_mul(10).saturating_add(i128::from(*digit)));
    for _ in 0..exponent.max(0) {
        result = result.saturating_mul(10);
    }
    if dropped.iter().any(|digit| *digit != 0) { result.saturating_add(1) } else { result }
}
