//! Quantities: the same answers as Kubernetes' own library, and the laws they keep.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::as_conversions,
    clippy::panic,
    clippy::needless_pass_by_value,
    reason = "a test fails by panicking, and its helpers are outside of test functions"
)]

use proptest::prelude::*;
use ray_api::quantity::{Format, Quantity, parse};

fn name(format: Format) -> &'static str {
    match format {
        Format::DecimalSi => "DecimalSI",
        Format::BinarySi => "BinarySI",
        Format::DecimalExponent => "DecimalExponent",
    }
}

#[test]
fn answers_as_go_does() {
    let table = include_str!("data/quantities.tsv");
    let mut wrong = Vec::new();
    let mut rows = 0;
    for line in table.lines().filter(|line| !line.starts_with('#')) {
        rows += 1;
        let fields: Vec<&str> = line.split('\t').collect();
        // Without `parse`'s trimming: the table has texts with blanks, which Go refuses here.
        let read = |text: &str| text.parse::<Quantity>();
        let ours = match fields.as_slice() {
            ["parse", text, "error"] => {
                vec!["parse".into(), (*text).into(), read(text).map_or("error".into(), |q| q.to_string())]
            }
            ["parse", text, _, _, value, milli] => {
                let Ok(q) = read(text) else {
                    wrong.push(format!("{line}: not read"));
                    continue;
                };
                let keep = |known: &str, ours: i64| if known == "-" { "-".to_owned() } else { ours.to_string() };
                vec![
                    "parse".into(),
                    (*text).into(),
                    name(q.format()).into(),
                    q.to_string(),
                    keep(value, q.ceil()),
                    keep(milli, q.ceil_milli()),
                ]
            }
            ["add", a, b, _, _, _] => {
                let (x, y) = (read(a).unwrap(), read(b).unwrap());
                let order = x.cmp(&y) as i32;
                let (sum, difference) = (x.plus(y).to_string(), x.minus(y).to_string());
                vec!["add".into(), (*a).into(), (*b).into(), sum, difference, order.to_string()]
            }
            _ => panic!("{line}"),
        };
        if ours != fields {
            wrong.push(format!("Go:   {line}\nours: {}", ours.join("\t")));
        }
    }
    assert!(rows > 1500, "{rows} rows");
    assert!(wrong.is_empty(), "{} of {rows}:\n{}", wrong.len(), wrong.join("\n"));
}

/// Sums that KubeRay was seen to write into a status.
#[test]
fn sums_of_kuberay() {
    let sum = |texts: &[&str]| texts.iter().map(|text| parse(text).unwrap()).sum::<Quantity>().to_string();
    assert_eq!(sum(&["1e-1", "1001m"]), "1101e-3");
    assert_eq!(sum(&["1e9", "1234567890123m"]), "2234567890123e-3");
    assert_eq!(sum(&["1500M", "2.5Gi"]), "4184354560");
    assert_eq!(sum(&["0", "1Gi", "1024Mi"]), "2Gi");
    assert_eq!(sum(&[]), "0");
}

#[test]
fn approximations() {
    let approx = |text: &str| parse(text).unwrap().approx_f64();
    assert_eq!([approx("1500m"), approx("0.1"), approx("2Ki"), approx("-3")], [1.5, 0.1, 2048.0, -3.0]);
    assert_eq!(approx("1n"), 1e-9);
}

#[test]
fn huge_amounts_saturate() {
    for text in ["1e400", "1e99999999999999999999", "999999999999999999999999999999999999999999E", "-1e2147483647"] {
        let q = parse(text).unwrap();
        assert_eq!(q.plus(q).plus(q), q.plus(q), "{text}");
        assert!(q.ceil() == i64::MAX || q.ceil() == i64::MIN);
        assert!(!q.to_string().is_empty());
    }
    assert_eq!(parse("1e-99999999999999999999").unwrap().to_string(), "1e-9");
    assert_eq!(parse(&format!("0.{}1Ei", "0".repeat(5000))).unwrap().to_string(), "1n");
    assert_eq!(parse("500E").unwrap().times(4).to_string(), "2000E");
}

/// Any text that is a quantity, of amounts that do not saturate.
fn texts() -> impl Strategy<Value = String> {
    let suffix = prop::sample::select(vec![
        "", "n", "u", "m", "k", "M", "G", "T", "P", "Ki", "Mi", "Gi", "Ti", "e3", "E-2", "e+1", "e-9",
    ]);
    ("[+-]?[0-9]{1,7}(\\.[0-9]{0,7})?", suffix).prop_map(|(number, suffix)| format!("{number}{suffix}"))
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in ".*") {
        if let Ok(q) = text.parse::<Quantity>() {
            let _ = q.to_string();
        }
    }

    #[test]
    fn numbers_of_any_length(text in "[+-]?[0-9]{0,80}\\.?[0-9]{0,80}(e[+-]?[0-9]{1,20}|[KMGTPE]i|[numkMGTPE])?") {
        if let Ok(q) = text.parse::<Quantity>() {
            prop_assert_eq!(q.to_string().parse::<Quantity>().unwrap().to_string(), q.to_string());
        }
    }

    #[test]
    fn printing_loses_nothing(text in texts()) {
        let q: Quantity = text.parse().unwrap();
        let printed = q.to_string();
        let again: Quantity = printed.parse().unwrap();
        prop_assert_eq!(q, again);
        prop_assert_eq!(&printed, &again.to_string());
    }

    #[test]
    fn sums_do_not_depend_on_order(a in texts(), b in texts(), c in texts()) {
        let [a, b, c]: [Quantity; 3] = [&a, &b, &c].map(|text| text.parse().unwrap());
        prop_assert_eq!(a.plus(b), b.plus(a));
        prop_assert_eq!(a.plus(b).plus(c), a.plus(b.plus(c)));
        prop_assert_eq!(a.plus(b).minus(b), a);
        // The text depends on the first summand alone.
        if !a.is_zero() && !a.plus(b).is_zero() {
            prop_assert_eq!(a.plus(b).plus(c).to_string(), a.plus(b.plus(c)).to_string());
        }
    }

    #[test]
    fn order_agrees_with_subtraction(a in texts(), b in texts()) {
        let [a, b]: [Quantity; 2] = [&a, &b].map(|text| text.parse().unwrap());
        prop_assert_eq!(a.cmp(&b), a.minus(b).cmp(&Quantity::ZERO));
        prop_assert!(a.ceil_to_i128() as f64 >= a.approx_f64() || a < Quantity::ZERO);
    }

    #[test]
    fn times_is_repeated_addition(a in texts(), count in 0_i64..20) {
        let a: Quantity = a.parse().unwrap();
        let sum: Quantity = (0..count).map(|_| a).sum();
        prop_assert_eq!(a.times(count), sum);
    }
}
