//! Bad input is refused by the API server itself, with the field's name.

use serde_json::{Value, json};
use test_support::{Namespace, sample};

use super::dry_run;

/// Changes one sample: JSON pointer → value, `null` removes.
struct Case {
    changes: Vec<(&'static str, Value)>,
    /// All of these are in the message.
    told: &'static [&'static str],
}

fn case(pointer: &'static str, value: Value, told: &'static [&'static str]) -> Case {
    Case { changes: vec![(pointer, value)], told }
}

impl Case {
    fn and(mut self, pointer: &'static str, value: Value) -> Self {
        self.changes.push((pointer, value));
        self
    }

    fn object(&self) -> Value {
        let mut object = sample::raw("demo", "[{groupName: a}, {groupName: b}]");
        for (pointer, value) in &self.changes {
            set(&mut object, pointer, value.clone());
        }
        object
    }
}

fn set(object: &mut Value, pointer: &str, value: Value) {
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    let parent = object.pointer_mut(parent).unwrap_or_else(|| panic!("no {parent}"));
    match (parent, value) {
        (Value::Object(fields), Value::Null) => drop(fields.remove(key)),
        (parent, value) => parent[key] = value,
    }
}

/// Pointer to a field of the head, or of the first worker group.
macro_rules! at {
    (HEAD, $path:literal) => {
        concat!("/spec/headGroupSpec", $path)
    };
    (A, $path:literal) => {
        concat!("/spec/workerGroupSpecs/0", $path)
    };
}

fn numbers() -> Vec<Case> {
    vec![
        case(at!(A, "/minReplicas"), json!(11), &["spec.workerGroupSpecs[0].minReplicas", "greater than maxReplicas"]),
        case(at!(A, "/replicas"), json!(-1), &["spec.workerGroupSpecs[0].replicas", "greater than or equal to 0"]),
        case(
            at!(A, "/minReplicas"),
            json!(-1),
            &["spec.workerGroupSpecs[0].minReplicas", "greater than or equal to 0"],
        ),
        case(
            at!(A, "/maxReplicas"),
            json!(-1),
            &["spec.workerGroupSpecs[0].maxReplicas", "greater than or equal to 0"],
        ),
        case(at!(A, "/numOfHosts"), json!(0), &["spec.workerGroupSpecs[0].numOfHosts", "greater than or equal to 1"]),
        case(at!(A, "/replicas"), json!("three"), &["spec.workerGroupSpecs[0].replicas", "integer"]),
        case(at!(A, "/maxReplicas"), json!(4_294_967_296_i64), &["spec.workerGroupSpecs[0].maxReplicas", "int32"]),
        case(at!(A, "/idleTimeoutSeconds"), json!(60), &["spec.workerGroupSpecs", "autoscaler v2"]),
        case(at!(A, "/priority"), json!(1), &["spec.workerGroupSpecs", "autoscaler v2"]),
    ]
}

fn names() -> Vec<Case> {
    let group = at!(A, "/groupName");
    vec![
        case("/metadata/name", json!("x".repeat(54)), &["metadata.name must have at most 53 characters"]),
        case("/metadata/name", json!("a.b"), &["metadata.name", "lower-case letter"]),
        case("/metadata/name", json!("9a"), &["metadata.name", "lower-case letter"]),
        case("/metadata/name", json!("Demo"), &["metadata.name"]),
        case(group, json!("b"), &["spec.workerGroupSpecs[1]", "Duplicate value"]),
        case(group, json!("x".repeat(64)), &["spec.workerGroupSpecs[0].groupName", "63"]),
        case(group, json!(""), &["spec.workerGroupSpecs[0].groupName"]),
        case(group, json!("headgroup"), &["spec.workerGroupSpecs[0].groupName", "reserved for the head"]),
        case(group, json!("a_b"), &["spec.workerGroupSpecs[0].groupName", "letters, digits"]),
        case(group, json!("-a"), &["spec.workerGroupSpecs[0].groupName", "letters, digits"]),
        case(group, json!("a..b"), &["spec.workerGroupSpecs[0].groupName", "letters, digits"]),
        case(group, Value::Null, &["spec.workerGroupSpecs[0].groupName", "Required"]),
        case("/spec/managedBy", json!("me"), &["spec.managedBy", "ray.io/kuberay-operator"]),
    ]
}

fn templates() -> Vec<Case> {
    vec![
        case(at!(HEAD, ""), Value::Null, &["spec.headGroupSpec", "Required"]),
        case(at!(HEAD, "/template"), Value::Null, &["spec.headGroupSpec.template", "Required"]),
        case(at!(A, "/template"), Value::Null, &["spec.workerGroupSpecs[0].template", "Required"]),
        case(at!(HEAD, "/template/spec/containers"), json!([]), &["spec.headGroupSpec.template", "must not be empty"]),
        case(
            at!(A, "/template/spec/containers"),
            json!([]),
            &["spec.workerGroupSpecs[0].template", "must not be empty"],
        ),
        case(at!(HEAD, "/rayStartParams"), json!({"labels": "a=b"}), &["spec.headGroupSpec.rayStartParams", "labels"]),
        case(
            at!(A, "/rayStartParams"),
            json!({"num-cpus": "1"}),
            &["spec.workerGroupSpecs[0].rayStartParams", "twice"],
        )
        .and(at!(A, "/resources"), json!({"CPU": "1"})),
        case(at!(A, "/labels"), json!({"a": "no spaces"}), &["spec.workerGroupSpecs[0].labels"]),
    ]
}

fn autoscaling() -> Vec<Case> {
    let container = at!(HEAD, "/template/spec/containers/0/env");
    let v2 = json!([{"name": "RAY_enable_autoscaler_v2", "value": "1"}]);
    vec![
        case(at!(A, "/suspend"), json!(true), &["spec.workerGroupSpecs", "suspended while enableInTreeAutoscaling"])
            .and("/spec/enableInTreeAutoscaling", json!(true)),
        case(container, v2.clone(), &["spec.headGroupSpec", "needs enableInTreeAutoscaling"]),
        case(container, v2, &["spec.autoscalerOptions.version", "given twice"])
            .and("/spec/enableInTreeAutoscaling", json!(true))
            .and("/spec/autoscalerOptions", json!({"version": "v1"})),
        case(at!(A, "/template/spec/restartPolicy"), json!("Always"), &["spec", "restartPolicy Never"])
            .and("/spec/enableInTreeAutoscaling", json!(true))
            .and("/spec/autoscalerOptions", json!({"version": "v2"})),
        case("/spec/autoscalerOptions", json!({"version": "v3"}), &["spec.autoscalerOptions.version", "v1"]),
        case("/spec/autoscalerOptions", json!({"upscalingMode": "Fast"}), &["spec.autoscalerOptions.upscalingMode"]),
        case(
            "/spec/autoscalerOptions",
            json!({"env": [{"name": "KUBERAY_GEN_AUTOSCALER_START_CMD", "value": "x"}]}),
            &["spec.autoscalerOptions.env", "set by the operator"],
        ),
    ]
}

fn options() -> Vec<Case> {
    let ft = "/spec/gcsFaultToleranceOptions";
    let rocksdb = |more: Value| {
        let mut options = json!({"backend": "rocksdb"});
        options.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        options
    };
    vec![
        case(
            ft,
            rocksdb(json!({"redisAddress": "redis:6379"})),
            &["spec.gcsFaultToleranceOptions", "backend redis only"],
        ),
        case(ft, json!({"storage": {}}), &["spec.gcsFaultToleranceOptions.storage", "rocksdb only"]),
        case(
            ft,
            rocksdb(json!({"storage": {"claimName": "x", "size": "1Gi"}})),
            &["spec.gcsFaultToleranceOptions.storage.claimName"],
        ),
        case(ft, json!({"backend": "etcd"}), &["spec.gcsFaultToleranceOptions.backend"]),
        case(ft, json!({}), &["spec.headGroupSpec", "password belong there"])
            .and(at!(HEAD, "/rayStartParams"), json!({"redis-password": "x"})),
        case(at!(HEAD, "/rayStartParams"), json!({"redis-username": "x"}), &["spec.headGroupSpec", "redisUsername"]),
        case("/spec/authOptions", json!({"enableK8sTokenAuth": true}), &["spec.authOptions.enableK8sTokenAuth"]),
        case(
            "/spec/authOptions",
            json!({"mode": "token", "enableK8sTokenAuth": true, "secretName": "x"}),
            &["spec.authOptions.secretName", "exclude each other"],
        ),
        case("/spec/authOptions", json!({"mode": "token"}), &["spec.rayVersion"]).and("/spec/rayVersion", Value::Null),
        case("/spec/authOptions", json!({"mode": "x"}), &["spec.authOptions.mode"]),
        case("/spec/upgradeStrategy", json!({"type": "Rolling"}), &["spec.upgradeStrategy.type"]),
        case(
            "/spec/networkPolicy",
            json!({"mode": "DenyAllEgress", "head": {"ingressRules": []}}),
            &["spec.networkPolicy.mode", "no effect"],
        ),
        case(
            "/spec/historyServerOptions",
            json!({"collectorOptions": {"image": "x"}}),
            &["spec.historyServerOptions.collectorOptions.env", "STORAGE_BACKEND"],
        ),
        case("/spec/historyServerOptions", json!({}), &["spec.historyServerOptions.collectorOptions", "Required"]),
    ]
}

#[tokio::test]
async fn each_mistake_is_refused_by_the_name_of_its_field() {
    let ns = Namespace::new("crd").await;
    assert_eq!(dry_run(&ns, &case("/spec/rayVersion", json!("2.60.0"), &[]).object()).await.err(), None);
    let mut wrong = Vec::new();
    let cases: Vec<Case> = [numbers(), names(), templates(), autoscaling(), options()].into_iter().flatten().collect();
    for case in &cases {
        match dry_run(&ns, &case.object()).await {
            Ok(_) => wrong.push(format!("{:?} is accepted", case.changes)),
            Err(message) => {
                let untold: Vec<&&str> = case.told.iter().filter(|told| !message.contains(**told)).collect();
                if !untold.is_empty() {
                    wrong.push(format!("{:?}: {untold:?} is not in: {message}", case.changes));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {} cases:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}
