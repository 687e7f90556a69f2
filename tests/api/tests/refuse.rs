//! Specs that the API server let pass, because they were stored under an older definition: told, and nothing is touched.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests fail by panicking")]

use std::time::Duration;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::Api;
use kube::api::{ApiResource, DynamicObject, Patch, PatchParams, PostParams};
use ray_api::RayCluster;
use serde_json::{Value, json};
use test_support::{Namespace, Play, eventually, name, names, sample, throughout, uid};

/// A namespace in a cluster whose definition says nothing about `spec`. All tests of this file share it.
async fn lax() -> Namespace {
    static LAX: tokio::sync::OnceCell<()> = tokio::sync::OnceCell::const_new();
    let ns = Namespace::new("refuse").await;
    LAX.get_or_init(async || {
        let crds: Api<CustomResourceDefinition> = Api::all(ns.client.clone());
        let mut crd = serde_json::to_value(crds.get("rayclusters.ray.io").await.unwrap()).unwrap();
        for version in crd["spec"]["versions"].as_array_mut().unwrap() {
            let schema = &mut version["schema"]["openAPIV3Schema"];
            schema.as_object_mut().unwrap().remove("x-kubernetes-validations");
            schema["properties"]["spec"] = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
        }
        let crd = serde_json::from_value(crd).unwrap();
        crds.replace("rayclusters.ray.io", &PostParams::default(), &crd).await.unwrap();
        // The new schema serves a moment later.
        eventually("the lax definition", async || {
            let params = PostParams { dry_run: true, ..PostParams::default() };
            let nonsense = json!({"apiVersion": "ray.io/v1", "kind": "RayCluster", "metadata": {"name": "probe"},
                "spec": {"nonsense": true}});
            let object: DynamicObject = serde_json::from_value(nonsense).unwrap();
            let made = untyped(&ns).create(&params, &object).await.map_err(|error| error.to_string())?;
            if made.data["spec"]["nonsense"] == true { Ok(()) } else { Err("pruned".to_owned()) }
        })
        .await;
    })
    .await;
    ns
}

fn untyped(ns: &Namespace) -> Api<DynamicObject> {
    Api::namespaced_with(ns.client.clone(), &ns.name, &ApiResource::erase::<RayCluster>(&()))
}

async fn create(ns: &Namespace, object: Value) {
    let object = serde_json::from_value(object).unwrap();
    untyped(ns).create(&PostParams::default(), &object).await.unwrap();
}

/// Conditions read without our types: the object may not decode.
async fn invalid(ns: &Namespace, cluster: &str) -> Option<(String, String)> {
    let object = untyped(ns).get(cluster).await.unwrap();
    let conditions = object.data["status"]["conditions"].as_array().cloned().unwrap_or_default();
    let condition = conditions.iter().find(|c| c["type"] == "RayClusterSpecInvalid" && c["status"] == "True")?;
    let text = |field: &str| condition[field].as_str().unwrap_or_default().to_owned();
    Some((text("reason"), text("message")))
}

async fn refused(ns: &Namespace, cluster: &str, reason: &str, told: &str) {
    eventually("a refusal", async || match invalid(ns, cluster).await {
        Some((found, message)) if found == reason && message.contains(told) => Ok(()),
        other => Err(format!("{cluster}: {other:?} instead of {reason} with {told:?}")),
    })
    .await;
    let event = ns.event(cluster, reason, told).await;
    assert_eq!(event.kind, "Warning");
}

/// A number for each case, so that names differ.
fn cases() -> Vec<(Value, &'static str, &'static str)> {
    let with = |pointer: &str, value: Value| {
        let mut raw = sample::raw("x", "[{groupName: a}, {groupName: b}]");
        let (parent, key) = pointer.rsplit_once('/').unwrap();
        raw.pointer_mut(parent).unwrap()[key] = value;
        raw
    };
    let a = "/spec/workerGroupSpecs/0";
    let spec = "InvalidRayClusterSpec";
    vec![
        (with(&format!("{a}/minReplicas"), json!(11)), spec, "spec.workerGroupSpecs[0].minReplicas"),
        (with(&format!("{a}/maxReplicas"), json!(-1)), spec, "spec.workerGroupSpecs[0].maxReplicas"),
        (with(&format!("{a}/numOfHosts"), json!(0)), spec, "spec.workerGroupSpecs[0].numOfHosts"),
        (with(&format!("{a}/groupName"), json!("b")), spec, "spec.workerGroupSpecs[1].groupName"),
        (with(&format!("{a}/groupName"), json!("headgroup")), spec, "spec.workerGroupSpecs[0].groupName"),
        (with(&format!("{a}/groupName"), json!("x".repeat(64))), spec, "spec.workerGroupSpecs[0].groupName"),
        (with(&format!("{a}/template"), json!({})), spec, "spec.workerGroupSpecs[0].template.spec.containers"),
        (with("/spec/headGroupSpec/template", json!({})), spec, "spec.headGroupSpec.template.spec.containers"),
        (with("/spec/headGroupSpec/rayStartParams", json!({"labels": "x"})), spec, "spec.headGroupSpec.rayStartParams"),
        (with("/spec/headGroupSpec/labels", json!({"a b": "x"})), spec, "spec.headGroupSpec.labels"),
        (with("/spec/networkPolicy", json!({})), spec, "spec.networkPolicy"),
        // Does not decode at all.
        (with(&format!("{a}/replicas"), json!("three")), spec, "cannot be decoded"),
        (with("/spec/headGroupSpec", json!("nonsense")), spec, "cannot be decoded"),
        (with("/spec/workerGroupSpecs", json!({"a": "b"})), spec, "cannot be decoded"),
        (with("/spec/headGroupSpec/template/spec/containers", json!([5])), spec, "cannot be decoded"),
        // An empty spec is a head without containers.
        (
            json!({"apiVersion": "ray.io/v1", "kind": "RayCluster", "metadata": {}, "spec": {}}),
            spec,
            "spec.headGroupSpec",
        ),
    ]
}

#[tokio::test]
async fn each_mistake_is_told_and_nothing_is_made() {
    let ns = lax().await;
    let _operator = ns.operator().await;
    let _kubelet = ns.play(Play::All);
    let cases = cases();
    for (index, (object, _, _)) in cases.iter().enumerate() {
        let mut object = object.clone();
        object["metadata"]["name"] = json!(format!("bad-{index}"));
        create(&ns, object).await;
    }
    create(&ns, sample::raw(&"x".repeat(54), "[]")).await;
    create(&ns, sample::raw("a.b", "[]")).await;
    // One that is fine is not held up by the others.
    create(&ns, sample::raw("good", "[{groupName: a}]")).await;
    ns.ready("good").await;
    for (index, (_, reason, told)) in cases.iter().enumerate() {
        refused(&ns, &format!("bad-{index}"), reason, told).await;
    }
    refused(&ns, &"x".repeat(54), "InvalidRayClusterMetadata", "metadata.name").await;
    refused(&ns, "a.b", "InvalidRayClusterMetadata", "metadata.name").await;
    let pods = ns.pods.list(&Default::default()).await.unwrap().items;
    assert_eq!(pods.len(), 2, "{:?}", names(&pods));
    assert_eq!(ns.services.list(&Default::default()).await.unwrap().items.len(), 1);
    for index in 0..cases.len() {
        let events = ns.events(&format!("bad-{index}")).await;
        assert_eq!(events.len(), 1, "told once: {events:#?}");
    }
    // Whatever is in it, it can be deleted.
    for index in 0..cases.len() {
        untyped(&ns).delete(&format!("bad-{index}"), &Default::default()).await.unwrap();
        assert!(untyped(&ns).get_opt(&format!("bad-{index}")).await.unwrap().is_none());
    }
}

#[tokio::test]
async fn features_that_are_not_there_yet_are_refused_by_name() {
    let ns = lax().await;
    let _operator = ns.operator().await;
    for (index, (field, value)) in [
        ("gcsFaultToleranceOptions", json!({"redisAddress": "redis:6379"})),
        ("authOptions", json!({"mode": "token"})),
        ("tlsOptions", json!({"enabled": true})),
        ("networkPolicy", json!({"mode": "DenyAll"})),
    ]
    .into_iter()
    .enumerate()
    {
        let cluster = format!("asks-{index}");
        let mut raw = sample::raw(&cluster, "[{groupName: a}]");
        raw["spec"][field] = value;
        create(&ns, raw).await;
        refused(&ns, &cluster, "InvalidRayClusterSpec", &format!("spec.{field}")).await;
        assert!(ns.all_pods(&cluster).await.is_empty());
    }
}

#[tokio::test]
async fn a_running_cluster_that_becomes_invalid_keeps_its_pods_and_runs_on_when_mended() {
    let ns = lax().await;
    let _operator = ns.operator().await;
    let _kubelet = ns.play(Play::All);
    create(&ns, sample::raw("demo", "[{groupName: a, replicas: 3}]")).await;
    ns.ready("demo").await;
    let before: Vec<String> = ns.all_pods("demo").await.iter().map(|pod| uid(pod).to_owned()).collect();
    let patch = |patch: Value| {
        let objects = untyped(&ns);
        async move { objects.patch("demo", &PatchParams::default(), &Patch::Merge(patch)).await.unwrap() }
    };
    // Fewer workers are asked for by the same stroke that makes the spec invalid, once so that it decodes, once not.
    for (head, told) in [
        (json!({"rayStartParams": {"labels": "x"}}), "spec.headGroupSpec.rayStartParams[labels]"),
        (json!({"rayStartParams": 5}), "cannot be decoded"),
    ] {
        let fewer = sample::raw("demo", "[{groupName: a, replicas: 1}]")["spec"]["workerGroupSpecs"].clone();
        patch(json!({"spec": {"headGroupSpec": head, "workerGroupSpecs": fewer}})).await;
        refused(&ns, "demo", "InvalidRayClusterSpec", told).await;
        throughout(Duration::from_secs(1), "the same pods", async || {
            let pods = ns.all_pods("demo").await;
            let now: Vec<String> = pods.iter().map(|pod| uid(pod).to_owned()).collect();
            if now == before { Ok(()) } else { Err(format!("{:?}", names(&pods))) }
        })
        .await;
    }
    patch(json!({"spec": {"headGroupSpec": {"rayStartParams": {}}}})).await;
    ns.has("demo", "a", 1).await;
    let status = ns.ready("demo").await;
    assert!(status.condition("RayClusterSpecInvalid").is_none(), "{status:?}");
}

#[tokio::test]
async fn a_pod_that_fails_meanwhile_is_replaced_once_the_spec_is_mended() {
    let ns = lax().await;
    let _operator = ns.operator().await;
    let _kubelet = ns.play(Play::All);
    create(&ns, sample::raw("demo", "[{groupName: a, replicas: 1}]")).await;
    ns.ready("demo").await;
    let params = PatchParams::default();
    let bad = json!({"spec": {"headGroupSpec": {"rayStartParams": {"labels": "x"}}}});
    untyped(&ns).patch("demo", &params, &Patch::Merge(bad)).await.unwrap();
    refused(&ns, "demo", "InvalidRayClusterSpec", "rayStartParams").await;
    let old = ns.group("demo", "a").await.remove(0);
    ns.kubelet.fail(name(&old), 1).await;
    throughout(Duration::from_secs(1), "no replacement", async || {
        let pods = ns.group("demo", "a").await;
        if names(&pods) == [name(&old)] { Ok(()) } else { Err(format!("{:?}", names(&pods))) }
    })
    .await;
    let good = json!({"spec": {"headGroupSpec": {"rayStartParams": {"labels": null}}}});
    untyped(&ns).patch("demo", &params, &Patch::Merge(good)).await.unwrap();
    ns.ready("demo").await;
    assert_ne!(name(&ns.has("demo", "a", 1).await[0]), name(&old));
}
