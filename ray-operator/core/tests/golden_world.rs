//! Status, events and later changes against what KubeRay really did (`tests/golden`), in a world without an API server.

// Tests fail by panicking.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects
)]

mod support;

use std::collections::BTreeSet;

use ray_api::conditions::{RECONCILE_FAILURE, SPEC_INVALID};
use serde_json::{Value, json};
use support::built;
use support::case::{Case, Observed, all_cases};
use support::diff::differences;
use support::known::{ALSO_REFUSED, FIXED, STRICTER};
use support::quantity::respell;
use support::scope::{Feature, waits_for};
use support::world::World;

/// Where our status differs on purpose: case, pointer into the status, and the row of `docs/kuberay-differences.md`.
const STATUS_DIFFERS: &[(&str, &str, &str)] = &[
    ("005-basic-replicas-below-min", "/desiredCPU", "`desiredCPU` and its like"),
    ("117-template-name", "/head/podName", "Names of pods"),
    ("123-template-deterministic", "/head/podName", "Names of pods"),
];

/// Cases whose later steps need a feature that is not there yet.
const WAIT: &[(&str, Feature)] = &[
    ("015-update-ingress-on-off", Feature::Ingress),
    ("145-multihost-gate-off", Feature::MultiHost),
    ("149-suspend-running", Feature::Suspend),
    ("151-suspend-group-running", Feature::Suspend),
];

/// Conditions that only we have (row "Conditions").
const OUR_CONDITIONS: [&str; 2] = [SPEC_INVALID, RECONCILE_FAILURE];

#[test]
fn status_events_and_changes_are_kuberays() {
    let mut complaints = Vec::new();
    let mut compared = 0;
    let mut steps = 0;
    for case in all_cases().iter().filter(|case| is_comparable(case)) {
        let before = complaints.len();
        let config = case.operator.config().unwrap();
        let mut world = World::new(case.cluster().unwrap().clone(), config);
        world.settle();
        complaints.extend(compare(case, &case.observed, &mut world, "at first"));
        for (number, step) in case.steps.iter().enumerate() {
            change(&mut world, &step.change);
            world.settle();
            complaints.extend(compare(case, &step.observed, &mut world, &format!("after step {}", number + 1)));
            steps += 1;
        }
        compared += 1;
        if let Some((name, feature)) = WAIT.iter().find(|(name, _)| *name == case.name) {
            let failed = complaints.drain(before..).next().is_some();
            assert!(failed, "{name} is listed ({feature:?}), but it would pass");
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
    println!("{compared} cases and {steps} later changes compared");
    assert!(compared >= 80 && steps >= 5, "only {compared} cases and {steps} changes compared");
}

/// Cases in which KubeRay brought a cluster up: refused ones, and those where the API server refused its objects, have
/// no status to compare.
fn is_comparable(case: &Case) -> bool {
    let fixed = FIXED.iter().map(|(name, _)| *name);
    let stricter = STRICTER.iter().map(|(name, ..)| *name);
    let mut excepted = fixed.chain(stricter).chain(ALSO_REFUSED.iter().copied());
    waits_for(&case.name).is_none() && built::valid_cluster(case).is_ok() && !excepted.any(|name| name == case.name)
}

fn change(world: &mut World, change: &Value) {
    match change["do"].as_str().unwrap() {
        "patch" => world.patch(&change["patch"]),
        "delete-pod" => {
            let (key, value) = change["selector"].as_str().unwrap().split_once('=').unwrap();
            world.delete_pod(&json!({key: value}));
        }
        other => panic!("unknown change {other}"),
    }
}

fn compare(case: &Case, observed: &Observed, world: &mut World, when: &str) -> Vec<String> {
    let mut lines = differences(&expected_status(case, observed), &our_status(case, world));
    let (theirs, ours) = (expected_events(observed), our_events(world));
    if theirs != ours {
        lines.push(format!("events: expected {theirs:?}, got {ours:?}"));
    }
    let (theirs, ours) = (expected_pods(observed), our_pods(world));
    if theirs != ours {
        lines.push(format!("pods: expected {theirs:?}, got {ours:?}"));
    }
    lines.into_iter().map(|line| format!("{} {when}: {line}", case.name)).collect()
}

/// Group and replica index of each pod.
fn expected_pods(observed: &Observed) -> Vec<(String, String)> {
    let pods = observed.observation["pods"].as_array().into_iter().flatten();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut pods: Vec<_> = pods.map(|pod| (text(&pod["group"]), text(&pod["replicaIndex"]))).collect();
    pods.sort();
    pods
}

fn our_pods(world: &World) -> Vec<(String, String)> {
    let label = |pod: &Value, key: &str| pod["metadata"]["labels"][key].as_str().unwrap_or_default().to_owned();
    let mut pods: Vec<_> = world
        .pods
        .iter()
        .map(|pod| (label(pod, "ray.io/group"), label(pod, "ray.io/worker-group-replica-index")))
        .collect();
    pods.sort();
    pods
}

/// Reasons of events; a head and its Service share one (row "Events").
fn expected_events(observed: &Observed) -> BTreeSet<String> {
    let reasons: BTreeSet<String> = observed.event_reasons().into_iter().map(str::to_owned).collect();
    let head = reasons.contains("CreatedHeadPod");
    // The headless Service of multi-host groups has an event of its own in both.
    reasons.into_iter().filter(|reason| !(head && reason == "CreatedService")).collect()
}

fn our_events(world: &mut World) -> BTreeSet<String> {
    world.take_events().into_iter().map(|event| event.reason.to_owned()).collect()
}

fn expected_status(case: &Case, observed: &Observed) -> Value {
    let mut status = observed.observation["raycluster"]["status"].clone();
    respell_totals(&mut status);
    for (_, pointer, _) in STATUS_DIFFERS.iter().filter(|(name, ..)| *name == case.name) {
        *status.pointer_mut(pointer).unwrap() = "<differs>".into();
    }
    status
}

/// The notation of a sum follows that of its first summand as the API server stored it, which the cases do not show.
fn respell_totals(status: &mut Value) {
    for total in ["desiredCPU", "desiredMemory", "desiredGPU", "desiredTPU"] {
        respell(&mut status[total]);
    }
}

/// Our status in the cases' normal form, without the fields that only we have.
fn our_status(case: &Case, world: &World) -> Value {
    let mut status = world.cluster["status"].clone();
    let fields = status.as_object_mut().unwrap();
    for ours in ["observedGeneration", "workerGroups", "headLastOrdinal", "headFailures"] {
        fields.remove(ours);
    }
    respell_totals(&mut status);
    status["lastUpdateTime"] = "<time>".into();
    for (_, time) in status["stateTransitionTimes"].as_object_mut().into_iter().flatten() {
        *time = "<time>".into();
    }
    let conditions = status["conditions"].as_array_mut().into_iter();
    for condition in conditions.flat_map(|all| {
        all.retain(|condition| !OUR_CONDITIONS.contains(&condition["type"].as_str().unwrap()));
        all
    }) {
        condition["lastTransitionTime"] = "<time>".into();
        condition.as_object_mut().unwrap().remove("message");
    }
    for (_, port) in status["endpoints"].as_object_mut().into_iter().flatten() {
        if port.as_str().unwrap().starts_with("3000") {
            *port = "<nodePort>".into();
        }
    }
    if let Some(name) = status.pointer("/head/podName").and_then(Value::as_str).map(str::to_owned) {
        status["head"]["podName"] = format!("{}-<rand>", name.rsplit_once('-').unwrap().0).into();
    }
    for (_, pointer, _) in STATUS_DIFFERS.iter().filter(|(name, ..)| *name == case.name) {
        if let Some(value) = status.pointer_mut(pointer) {
            *value = "<differs>".into();
        }
    }
    status
}

#[test]
fn each_difference_has_its_row() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/kuberay-differences.md");
    let page = std::fs::read_to_string(path).unwrap();
    let rows: BTreeSet<&str> = page.lines().filter_map(|line| line.strip_prefix("| ")?.split(" | ").next()).collect();
    for row in STATUS_DIFFERS.iter().map(|(_, _, row)| *row).chain(["Conditions", "Events"]) {
        assert!(rows.contains(row), "docs/kuberay-differences.md has no row {row:?}");
    }
}
