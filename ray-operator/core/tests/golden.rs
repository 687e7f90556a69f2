//! The builders against what KubeRay really created (`tests/golden`).

// Tests fail by panicking.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, clippy::arithmetic_side_effects)]

mod support;

use std::collections::BTreeSet;

use ray_api::validate;
use serde_json::Value;
use support::built::{self, key};
use support::case::{Case, all_cases};
use support::diff::differences;
use support::known::{ALSO_REFUSED, FIXED, KNOWN, OTHER_FIELD, STRICTER, Why, mask_wait_script};
use support::normal::normal_form;
use support::scope::{OUT_OF_SCOPE, waits_for};

#[test]
fn every_case_is_compared_or_listed() {
    let mut compared = 0;
    let mut complaints = Vec::new();
    for case in all_cases() {
        match (compare(&case), waits_for(&case.name)) {
            (Ok(()), None) => compared += 1,
            (Err(_), Some(_)) => {}
            (Ok(()), Some(feature)) => {
                complaints.push(format!("{}: listed ({feature:?}), but it would pass", case.name));
            }
            (Err(difference), None) => complaints.push(format!("{}:\n  {difference}", case.name)),
        }
    }
    assert!(complaints.is_empty(), "{} cases differ:\n{}", complaints.len(), complaints.join("\n"));
    println!("{compared} cases compared, {} wait for features", OUT_OF_SCOPE.len());
    assert!(compared >= 100, "only {compared} cases compared");
}

/// Compares one case: its objects, or that it is refused.
fn compare(case: &Case) -> Result<(), String> {
    if case.cluster().is_some() && is_refused(case) {
        return compare_refusal(case);
    }
    if let Some((_, path, _)) = STRICTER.iter().find(|(name, ..)| *name == case.name) {
        let told = refusal(case)?;
        return if told.contains(path) { Ok(()) } else { Err(told) };
    }
    let (cluster, config) = built::valid_cluster(case)?;
    let expected = expected(case);
    let mut actual: Vec<Value> = built::objects(&cluster, &config).into_iter().map(normal_form).collect();
    actual.iter_mut().for_each(mask_wait_script);
    if FIXED.iter().any(|(name, _)| *name == case.name) || ALSO_REFUSED.contains(&case.name.as_str()) {
        // What the API server refused is missing on KubeRay's side.
        actual.retain(|ours| expected.iter().any(|theirs| key(theirs) == key(ours)));
    }
    compare_objects(&expected, &actual)
}

fn compare_objects(expected: &[Value], actual: &[Value]) -> Result<(), String> {
    let keys = |objects: &[Value]| objects.iter().map(key).collect::<BTreeSet<_>>();
    let (wanted, got) = (keys(expected), keys(actual));
    if wanted != got || expected.len() != actual.len() {
        return Err(format!("expected objects {wanted:?}\n  got {got:?}"));
    }
    let lines: Vec<String> = expected
        .iter()
        .flat_map(|theirs| {
            let ours = actual.iter().find(|ours| key(ours) == key(theirs)).unwrap();
            differences(theirs, ours).into_iter().map(move |line| format!("{} {line}", key(theirs)))
        })
        .collect();
    if lines.is_empty() { Ok(()) } else { Err(lines.join("\n  ")) }
}

/// The case's pods and Services in normal form, with the known differences applied. Other kinds stay as they are, so
/// that a case with an Ingress differs until Ingresses are built.
fn expected(case: &Case) -> Vec<Value> {
    let mut objects: Vec<Value> = case.observed.objects.iter().cloned().map(normal_form).collect();
    for known in KNOWN {
        (known.apply)(&mut objects, case);
    }
    objects
}

fn is_refused(case: &Case) -> bool {
    let observed = &case.observed;
    observed.refused_fields().is_some() || observed.event_reasons().iter().any(|reason| reason.starts_with("Invalid"))
}

/// Where KubeRay or the schema refuse, we do, too, and we talk about the same field.
fn compare_refusal(case: &Case) -> Result<(), String> {
    let told = refusal(case)?;
    let mut named = case.observed.refused_fields().unwrap_or_default();
    for event in case.observed.events() {
        named.extend(event["identifiers"].as_array().into_iter().flatten().filter_map(Value::as_str));
    }
    named.extend(OTHER_FIELD.iter().filter(|(name, _)| *name == case.name).map(|(_, field)| *field));
    match named.iter().any(|name| told.contains(name)) || named.is_empty() {
        true => Ok(()),
        false => Err(format!("refused for another reason: KubeRay names {named:?}, we say\n  {told}")),
    }
}

/// Our reasons to refuse the case's RayCluster, one a line.
fn refusal(case: &Case) -> Result<String, String> {
    let config = case.operator.config()?;
    let errors = validate(&built::raw_cluster(case)?, &config.gates);
    if errors.is_empty() { Err("accepted, but should be refused".to_owned()) } else { Ok(built::listed(&errors)) }
}

#[test]
fn tables_name_existing_cases_once() {
    let cases: BTreeSet<String> = all_cases().into_iter().map(|case| case.name).collect();
    let mut seen = BTreeSet::new();
    let listed = OUT_OF_SCOPE.iter().map(|(name, _)| *name);
    let pairs = FIXED.iter().chain(OTHER_FIELD).map(|(name, _)| *name);
    let stricter = STRICTER.iter().map(|(name, ..)| *name);
    for name in listed.chain(pairs).chain(stricter).chain(ALSO_REFUSED.iter().copied()) {
        assert!(cases.contains(name), "{name} is no case");
        assert!(seen.insert(name), "{name} is listed twice");
    }
}

#[test]
fn each_known_difference_has_its_row_and_is_needed() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/kuberay-differences.md");
    let page = std::fs::read_to_string(path).unwrap();
    let rows: BTreeSet<&str> = page.lines().filter_map(|line| line.strip_prefix("| ")?.split(" | ").next()).collect();
    let deliberate = KNOWN.iter().filter_map(|known| match known.why {
        Why::Row(row) => Some(row),
        Why::Kuberay17 => None,
    });
    let tables = FIXED.iter().map(|(_, row)| *row).chain(STRICTER.iter().map(|(_, _, row)| *row));
    for row in deliberate.chain(tables) {
        assert!(rows.contains(row), "docs/kuberay-differences.md has no row {row:?}");
    }

    let cases: Vec<Case> = all_cases();
    for known in KNOWN {
        let changes = |case: &Case| {
            let mut objects: Vec<Value> = case.observed.objects.iter().cloned().map(normal_form).collect();
            let before = objects.clone();
            (known.apply)(&mut objects, case);
            objects != before
        };
        assert!(cases.iter().any(changes), "{} changes no case", known.name);
    }
}

#[test]
fn normal_form_is_stable() {
    for case in all_cases() {
        for object in case.observed.objects {
            let once = normal_form(object);
            assert_eq!(normal_form(once.clone()), once, "{}", case.name);
        }
    }
}
