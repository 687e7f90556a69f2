//! Whole objects: snapshots of typical clusters (`tests/clusters`), and rules that no single builder owns.

// Tests fail by panicking.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, clippy::arithmetic_side_effects)]

mod support;

use std::collections::BTreeSet;

use k8s_openapi::api::core::v1::{Container, ExecAction, PodTemplateSpec, Probe};
use proptest::prelude::*;
use ray_core::build::{GcsWait, PodSlot, head_fqdn, head_pod, head_service, head_service_name, worker_pod};
use ray_core::config::OperatorConfig;
use ray_core::valid::{RayPodTemplate, ValidCluster};
use serde_json::Value;
use support::built::{self, from_yaml, objects};
use support::case::case;
use support::known::{FIXED, mask_wait_script};

const MINIMAL: &str = include_str!("clusters/minimal.yaml");

/// Pods and Services; the operator's version is not the snapshot's business.
fn shown(cluster: &ValidCluster) -> Vec<Value> {
    let config = OperatorConfig { operator_version: "ray-operator-test".to_owned(), ..OperatorConfig::default() };
    let mut objects = objects(cluster, &config);
    objects.iter_mut().for_each(mask_wait_script);
    objects
}

#[test]
fn minimal() {
    insta::assert_yaml_snapshot!(shown(&from_yaml(MINIMAL)));
}

#[test]
fn gpu() {
    insta::assert_yaml_snapshot!(shown(&from_yaml(include_str!("clusters/gpu.yaml"))));
}

#[test]
fn service() {
    insta::assert_yaml_snapshot!(shown(&from_yaml(include_str!("clusters/service.yaml"))));
}

#[test]
fn own_ways() {
    insta::assert_yaml_snapshot!(shown(&from_yaml(include_str!("clusters/own_ways.yaml"))));
}

/// What the API server refuses KubeRay for, in the cases where ours works.
#[test]
fn nothing_stands_twice_where_kuberay_is_refused() {
    for (name, _) in FIXED {
        let number = name.split('-').next().unwrap().parse().unwrap();
        let (cluster, config) = built::valid_cluster(&case(number)).unwrap();
        for object in objects(&cluster, &config) {
            let lists = match object["kind"].as_str().unwrap() {
                "Service" => vec![strings(&object, "/spec/ports", "name"), strings(&object, "/spec/ports", "port")],
                _ => vec![strings(&object, "/spec/initContainers", "name")],
            };
            for list in lists {
                let unique: BTreeSet<&String> = list.iter().collect();
                assert_eq!(unique.len(), list.len(), "{name}: {list:?}");
            }
        }
    }
}

fn strings(object: &Value, list: &str, field: &str) -> Vec<String> {
    let items = object.pointer(list).and_then(Value::as_array);
    items.into_iter().flatten().map(|item| item[field].to_string()).collect()
}

fn slot() -> PodSlot<'static> {
    PodSlot { name: "p", ordinal: 7, replica_index: 3 }
}

/// The first worker of the first group.
fn worker_of(cluster: &ValidCluster, wait: GcsWait) -> k8s_openapi::api::core::v1::Pod {
    worker_pod(cluster, &cluster.groups[0], &OperatorConfig::default(), &slot(), wait)
}

#[test]
fn a_slot_shows_on_the_pod() {
    let cluster = from_yaml(MINIMAL);
    let worker = worker_of(&cluster, GcsWait::HeadIsReady).metadata;
    assert_eq!(worker.name.as_deref(), Some("p"));
    assert_eq!(worker.annotations.unwrap()["ray.io/pod-ordinal"], "7");
    assert_eq!(worker.labels.unwrap()["ray.io/worker-group-replica-index"], "3");
    let head = head_pod(&cluster, &OperatorConfig::default(), &slot()).metadata;
    assert_eq!(head.annotations.unwrap()["ray.io/pod-ordinal"], "7");
    assert!(!head.labels.unwrap().contains_key("ray.io/worker-group-replica-index"));
}

#[test]
fn no_wait_where_the_head_is_ready() {
    let cluster = from_yaml(MINIMAL);
    assert!(worker_of(&cluster, GcsWait::HeadIsReady).spec.unwrap().init_containers.is_none());
    assert_eq!(worker_of(&cluster, GcsWait::UntilHeadAnswers).spec.unwrap().init_containers.unwrap().len(), 1);
}

#[test]
fn parameters_of_ray_start() {
    let given = |pairs: &[(&str, &str)]| pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    let start = |cluster: &ValidCluster| {
        let ray = worker_of(cluster, GcsWait::HeadIsReady).spec.unwrap().containers.remove(0);
        let variable = ray.env.unwrap().into_iter().find(|variable| variable.name == "KUBERAY_GEN_RAY_START_CMD");
        variable.unwrap().value.unwrap().split_whitespace().skip(2).map(str::to_owned).collect::<Vec<_>>()
    };
    let mut cluster = from_yaml(MINIMAL);
    let gcs = "--address=minimal-head-svc.default.svc.cluster.local:6379";
    assert_eq!(start(&cluster), [gcs, "--block", "--dashboard-agent-listen-port=52365", "--metrics-export-port=8080"]);

    let node = &mut cluster.groups[0].node;
    node.ray_start_params = given(&[
        ("address", "elsewhere:1"),
        ("block", "false"),
        ("dashboard-agent-listen-port", "1"),
        ("metrics-export-port", "2"),
        ("num-cpus", "9"),
    ]);
    node.resources = given(&[("cpu", "1500m"), ("Slots", "3")]);
    node.labels = given(&[("b", "2"), ("a", "1")]);
    let expected = [
        "--address=elsewhere:1",
        "--block",
        "--dashboard-agent-listen-port=1",
        "--labels=a=1,b=2",
        "--metrics-export-port=2",
        "--num-cpus=2",
        r#"--resources='{"Slots":3}'"#,
    ];
    assert_eq!(start(&cluster), expected);
}

/// Every combination of probes of the user's: theirs stay, and the start is watched only where they wrote none.
#[test]
fn probes_of_the_user() {
    let own = || Probe {
        exec: Some(ExecAction { command: Some(vec!["own".to_owned()]) }),
        initial_delay_seconds: Some(99),
        ..Probe::default()
    };
    for combination in 0..8 {
        let [startup, readiness, liveness] = [1, 2, 4].map(|bit| (combination & bit != 0).then(own));
        let mut cluster = from_yaml(MINIMAL);
        let ray = &mut cluster.head.node.template.ray;
        (ray.startup_probe, ray.readiness_probe, ray.liveness_probe) =
            (startup.clone(), readiness.clone(), liveness.clone());
        let pod = head_pod(&cluster, &OperatorConfig::default(), &slot());
        let ray = pod.spec.unwrap().containers.remove(0);
        let delay = |probe: &Option<Probe>| probe.as_ref().unwrap().initial_delay_seconds;
        if combination == 0 {
            let startup = ray.startup_probe.unwrap();
            assert_eq!((startup.period_seconds, startup.failure_threshold), (Some(1), Some(630)));
            assert_eq!(startup.exec, ray.liveness_probe.as_ref().unwrap().exec);
            assert_eq!((delay(&ray.readiness_probe), delay(&ray.liveness_probe)), (None, None));
            continue;
        }
        assert_eq!(ray.startup_probe, startup, "{combination}");
        assert_eq!(delay(&ray.readiness_probe), Some(if readiness.is_some() { 99 } else { 10 }), "{combination}");
        assert_eq!(delay(&ray.liveness_probe), Some(if liveness.is_some() { 99 } else { 30 }), "{combination}");
    }
}

#[test]
fn the_head_is_found_under_the_name_of_its_service() {
    let mut cluster = from_yaml(MINIMAL);
    let config = OperatorConfig { cluster_domain: "example.test".to_owned(), ..OperatorConfig::default() };
    assert_eq!(head_fqdn(&cluster, &config), "minimal-head-svc.default.svc.example.test");
    cluster.head.service = Some(Default::default());
    assert_eq!(head_service_name(&cluster), "minimal-head-svc");
    cluster.head.service.as_mut().unwrap().metadata.name = Some("front".to_owned());
    assert_eq!(head_fqdn(&cluster, &config), "front.default.svc.example.test");
    assert_eq!(head_service(&cluster, &config).metadata.name.as_deref(), Some("front"));
}

#[test]
fn what_the_operator_does_not_know_passes_through() {
    let mut cluster = from_yaml(MINIMAL);
    let text = r#"{"metadata": {"finalizers": ["example.test/f"]},
        "spec": {"containers": [{"name": "r", "image": "i", "stdin": true, "resizePolicy": [{"resourceName": "cpu", "restartPolicy": "NotRequired"}]}, {"name": "s"}],
                 "hostAliases": [{"ip": "10.0.0.1"}], "schedulingGates": [{"name": "g"}], "resourceClaims": [{"name": "c"}]}}"#;
    let template: PodTemplateSpec = serde_json::from_str(text).unwrap();
    cluster.head.node.template = RayPodTemplate::new(template.clone()).unwrap();
    let pod = head_pod(&cluster, &OperatorConfig::default(), &slot());
    assert_eq!(pod.metadata.finalizers, template.metadata.unwrap().finalizers);
    let (before, after) = (template.spec.unwrap(), pod.spec.unwrap());
    assert_eq!(after.containers[0].stdin, Some(true));
    assert_eq!(after.containers[0].resize_policy, before.containers[0].resize_policy);
    assert_eq!(after.containers[1..], before.containers[1..]);
    assert_eq!(after.host_aliases, before.host_aliases);
    assert_eq!(after.scheduling_gates, before.scheduling_gates);
    assert_eq!(after.resource_claims, before.resource_claims);
}

proptest! {
    /// Nothing a user writes into these fields makes a builder panic, and the Service always selects the head.
    #[test]
    fn builders_are_total(
        params in prop::collection::btree_map("(port|dashboard-port|resources|num-cpus|block|[a-z]{1,4})", ".{0,10}", 0..4),
        resources in prop::collection::btree_map("(cpu|memory|nvidia.com/gpu|.{0,6})", ".{0,8}", 0..3),
        labels in prop::collection::btree_map("(ray.io/identifier|app.kubernetes.io/name|ray.io/cluster|[a-z]{1,3})", "[a-z]{0,4}", 0..4),
        image in prop::option::of(".{0,10}"),
    ) {
        let mut cluster = from_yaml(MINIMAL);
        let node = &mut cluster.head.node;
        node.ray_start_params = params;
        node.resources = resources;
        node.labels = labels.clone();
        node.template.metadata.labels = Some(labels);
        node.template.ray = Container { image, ..node.template.ray.clone() };
        cluster.groups[0].node = cluster.head.node.clone();
        let config = OperatorConfig::default();
        let head = head_pod(&cluster, &config, &slot()).metadata.labels.unwrap();
        worker_of(&cluster, GcsWait::UntilHeadAnswers);
        let selector = head_service(&cluster, &config).spec.unwrap().selector.unwrap();
        prop_assert!(selector.iter().all(|(key, value)| head.get(key) == Some(value)));
        prop_assert_eq!(&selector["ray.io/cluster"], "minimal");
        prop_assert_eq!(&selector["ray.io/node-type"], "head");
    }
}
