//! Quantities in one spelling, independent of the code under test: the API server rewrites what users wrote.

use serde_json::Value;

/// Rewrites all values of a `limits` or `requests` map.
pub fn respell_all(quantities: &mut Value) {
    for quantity in quantities.as_object_mut().into_iter().flat_map(|map| map.values_mut()) {
        respell(quantity);
    }
}

/// Rewrites a quantity as a whole number of billionths; leaves alone what is none.
pub fn respell(quantity: &mut Value) {
    let text = match &*quantity {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        _ => return,
    };
    if let Some(billionths) = billionths(&text) {
        *quantity = Value::from(format!("{billionths}n"));
    }
}

fn billionths(text: &str) -> Option<i128> {
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.').len();
    let (number, suffix) = text.split_at(digits);
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let mantissa: i128 = format!("{whole}{fraction}").parse().ok()?;
    let (binary, exponent) = match suffix {
        "n" => (1, -9),
        "u" => (1, -6),
        "m" => (1, -3),
        "" => (1, 0),
        "k" => (1, 3),
        "M" => (1, 6),
        "G" => (1, 9),
        "T" => (1, 12),
        "Ki" => (1 << 10, 0),
        "Mi" => (1 << 20, 0),
        "Gi" => (1 << 30, 0),
        "Ti" => (1_i128 << 40, 0),
        _ => (1, suffix.strip_prefix(['e', 'E'])?.parse::<i32>().ok()?),
    };
    let shift = exponent + 9 - i32::try_from(fraction.len()).ok()?;
    let power = 10_i128.checked_pow(shift.unsigned_abs())?;
    let scaled = mantissa.checked_mul(binary)?;
    if shift >= 0 { scaled.checked_mul(power) } else { Some(scaled / power) }
}

#[cfg(test)]
mod tests {
    use super::billionths;

    #[test]
    fn spellings() {
        for (one, other) in [("1e9", "1G"), ("1e-1", "100e-3"), ("100m", "1e-1"), ("1.5Gi", "1536Mi"), ("0.5", "500m")]
        {
            assert!(billionths(one).is_some());
            assert_eq!(billionths(one), billionths(other), "{one} {other}");
        }
        assert_eq!(billionths("lots"), None);
    }
}
