//! What holds for the plan of any view: random clusters, random pods, random wishes.

// Tests fail by panicking.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects
)]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::Timestamp;
use proptest::prelude::*;
use ray_api::RayCluster;
use ray_core::config::OperatorConfig;
use ray_core::observed::{Memory, Observed, ObservedPod};
use ray_core::plan::{Action, Decision, Step, Verdict, plan};
use ray_core::unhealthy::why_replace;
use serde_json::{Value, json};

const GROUPS: [&str; 3] = ["a", "b", "c"];

fn now() -> Timestamp {
    "2026-01-01T12:00:00Z".parse().unwrap()
}

#[derive(Debug, Clone)]
struct Group {
    name: &'static str,
    min: i32,
    replicas: Option<i32>,
    max: i32,
    /// Which pods to name in `workersToDelete`; taken modulo the number of pods.
    named: Vec<usize>,
}

#[derive(Debug, Clone)]
struct Pod {
    /// 0 is the head, 1–3 a group, 4 a group that is in no spec.
    role: usize,
    phase: &'static str,
    ready: bool,
    leaving: bool,
    ray_ended: bool,
    restart_policy: &'static str,
    scheduled: bool,
    cost: i32,
}

fn groups() -> impl Strategy<Value = Vec<Group>> {
    let group = |name| {
        (0..4_i32, proptest::option::of(0..6_i32), 0..6_i32, proptest::collection::vec(any::<usize>(), 0..4))
            .prop_map(move |(min, replicas, span, named)| Group { name, min, replicas, max: min + span, named })
    };
    (group(GROUPS[0]), group(GROUPS[1]), group(GROUPS[2]), 0..4_usize)
        .prop_map(|(a, b, c, count)| [a, b, c].into_iter().take(count).collect())
}

fn pod() -> impl Strategy<Value = Pod> {
    let phase =
        prop::sample::select(vec!["Pending", "Running", "Running", "Running", "Failed", "Succeeded", "Unknown"]);
    let policy = prop::sample::select(vec!["Always", "OnFailure", "Never"]);
    let flags = (any::<bool>(), prop::bool::weighted(0.2), prop::bool::weighted(0.2), any::<bool>());
    (0..5_usize, phase, flags, policy, -3..3_i32).prop_map(
        |(role, phase, (ready, leaving, ray_ended, scheduled), restart_policy, cost)| Pod {
            role,
            phase,
            ready,
            leaving,
            ray_ended,
            restart_policy,
            scheduled,
            cost,
        },
    )
}

fn name(index: usize) -> String {
    format!("pod-{index}")
}

fn slim(index: usize, pod: &Pod) -> Arc<ObservedPod> {
    let (node_type, group) = match pod.role {
        0 => ("head", "headgroup"),
        role => ("worker", GROUPS.get(role - 1).copied().unwrap_or("removed")),
    };
    let state = if pod.ray_ended { json!({"terminated": {"exitCode": 1}}) } else { json!({"running": {}}) };
    let object = json!({
        "metadata": {
            "name": name(index), "namespace": "ns", "uid": format!("uid-{index}"), "resourceVersion": "1",
            "creationTimestamp": "2026-01-01T10:00:00Z",
            "deletionTimestamp": pod.leaving.then_some("2026-01-01T12:00:30Z"),
            "labels": {"ray.io/cluster": "demo", "ray.io/node-type": node_type, "ray.io/group": group},
            "annotations": {"controller.kubernetes.io/pod-deletion-cost": pod.cost.to_string()},
            "ownerReferences": [{"uid": "cluster-uid", "controller": true}],
        },
        "spec": {
            "nodeName": pod.scheduled.then_some("node"), "restartPolicy": pod.restart_policy,
            "containers": [{"name": "ray"}],
        },
        "status": {
            "phase": pod.phase,
            "conditions": [{"type": "Ready", "status": if pod.ready { "True" } else { "False" }}],
            "containerStatuses": [{"name": "ray", "state": state}],
        },
    });
    Arc::new(serde_json::from_value(object).unwrap())
}

fn view(groups: &[Group], pods: &[Pod]) -> Observed {
    let template = json!({"spec": {"containers": [{"name": "ray", "image": "ray"}]}});
    let specs: Vec<Value> = groups
        .iter()
        .map(|group| {
            let named = group.named.iter().filter(|_| !pods.is_empty()).map(|index| name(index % pods.len()));
            json!({"groupName": group.name, "minReplicas": group.min, "replicas": group.replicas,
                "maxReplicas": group.max, "template": template,
                "scaleStrategy": {"workersToDelete": named.collect::<Vec<_>>()}})
        })
        .collect();
    let cluster: RayCluster = serde_json::from_value(json!({
        "metadata": {"name": "demo", "namespace": "ns", "uid": "cluster-uid", "generation": 1},
        "spec": {"headGroupSpec": {"template": template}, "workerGroupSpecs": specs},
    }))
    .unwrap();
    let pods = pods.iter().enumerate().map(|(index, pod)| slim(index, pod)).collect();
    Observed { cluster, pods, services: vec![], memory: Memory::default() }
}

fn decide(observed: &Observed) -> Box<Decision> {
    match plan(observed, &OperatorConfig::default(), now()) {
        Verdict::Act(decision) => decision,
        other => panic!("not an act: {other:?}"),
    }
}

/// The view once every write was done and everything that leaves is gone, new pods being ready.
fn carried_out(observed: &Observed, decision: &Decision) -> Observed {
    let mut after = observed.clone();
    let gone: BTreeSet<&str> = decision
        .writes()
        .filter_map(|write| match &write.action {
            Action::DeletePod { uid, .. } => Some(uid.as_str()),
            _ => None,
        })
        .collect();
    after.pods.retain(|pod| !pod.is_leaving() && !gone.contains(pod.uid.as_str()));
    for write in decision.writes() {
        let object = match &write.action {
            Action::CreatePod { pod, .. } => serde_json::to_value(pod).unwrap(),
            Action::CreateService { service, .. } => {
                let service = serde_json::to_value(service).unwrap();
                after.services.push(Arc::new(serde_json::from_value(service).unwrap()));
                continue;
            }
            Action::DeletePod { .. } => continue,
        };
        let mut pod: ObservedPod = serde_json::from_value(object).unwrap();
        pod.uid = format!("uid-of-{}", pod.name);
        after.pods.push(Arc::new(pod));
    }
    after
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn any_view_has_a_safe_plan(groups in groups(), pods in proptest::collection::vec(pod(), 0..14)) {
        let observed = view(&groups, &pods);
        let decision = decide(&observed);
        prop_assert_eq!(&decision, &decide(&observed), "the same view gives the same plan");

        let by_uid: BTreeMap<&str, &Arc<ObservedPod>> =
            observed.pods.iter().map(|pod| (pod.uid.as_str(), pod)).collect();
        let mut deleted = BTreeSet::new();
        let mut names: BTreeSet<&str> = observed.pods.iter().map(|pod| pod.name.as_str()).collect();
        for write in decision.writes() {
            match &write.action {
                Action::DeletePod { name, uid, .. } => {
                    let pod = by_uid.get(uid.as_str()).expect("a pod of the cluster");
                    prop_assert_eq!(&pod.name, name);
                    prop_assert!(!pod.is_leaving(), "{} leaves already", name);
                    prop_assert!(deleted.insert(uid.clone()), "{} twice", name);
                    let of_step = match &write.step {
                        Step::Head => pod.group == "headgroup",
                        Step::Group(group) => pod.group == group.as_str(),
                        Step::RemovedGroup(group) => pod.group == *group,
                        _ => false,
                    };
                    prop_assert!(of_step, "{} by {}", name, write.step);
                }
                Action::CreatePod { name, .. } => prop_assert!(names.insert(name), "{} is taken", name),
                Action::CreateService { .. } => {}
            }
        }

        // Done once, nothing is left to do.
        let after = carried_out(&observed, &decision);
        let again = decide(&after);
        let failed_twice = again.head.waits_until.is_some() || again.groups.iter().any(|g| g.waits_until.is_some());
        prop_assert!(failed_twice || again.writes().count() == 0, "not settled: {:?}", again.writes().collect::<Vec<_>>());
    }

    #[test]
    fn a_group_never_loses_more_than_it_must(groups in groups(), pods in proptest::collection::vec(pod(), 0..14)) {
        let observed = view(&groups, &pods);
        let decision = decide(&observed);
        for (group, spec) in decision.groups.iter().zip(&decision.cluster.groups) {
            let fit: Vec<_> = observed
                .pods
                .iter()
                .filter(|pod| pod.group == group.name && !pod.is_leaving() && why_replace(pod).is_none())
                .collect();
            let named = fit.iter().filter(|pod| spec.workers_to_delete.contains(&pod.name)).count();
            let desired = usize::try_from(group.desired.0).unwrap();
            let gone = |pod: &ObservedPod| {
                group.writes.iter().any(|write| matches!(&write.action, Action::DeletePod { uid, .. } if *uid == pod.uid))
            };
            let fit_and_gone = fit.iter().filter(|pod| gone(pod)).count();
            // The named ones, and beyond them only what the number asks for.
            prop_assert_eq!(fit_and_gone, named + (fit.len() - named).saturating_sub(desired));
            for pod in fit.iter().filter(|pod| spec.workers_to_delete.contains(&pod.name)) {
                prop_assert!(gone(pod), "{} was named", pod.name);
            }
            let made = group.writes.iter().filter(|write| matches!(write.action, Action::CreatePod { .. })).count();
            if group.waits_until.is_none() {
                prop_assert_eq!(made, desired.saturating_sub(fit.len() - named));
            } else {
                prop_assert_eq!(made, 0);
            }
        }
    }

    #[test]
    fn there_is_one_head(pods in proptest::collection::vec(pod(), 0..8)) {
        let observed = view(&[], &pods);
        let decision = decide(&observed);
        let after = carried_out(&observed, &decision);
        let heads = after.pods.iter().filter(|pod| pod.group == "headgroup").count();
        prop_assert!(heads == 1 || (heads == 0 && decision.head.waits_until.is_some()), "{} heads", heads);
        if let Some(head) = &decision.head.head {
            let ready = |pod: &&Arc<ObservedPod>| pod.group == "headgroup" && pod.is_ready() && !pod.is_leaving();
            let any_ready = observed.pods.iter().filter(ready).any(|pod| why_replace(pod).is_none());
            prop_assert!(head.is_ready() || !any_ready, "a ready head was passed over");
        }
    }
}
