//! Decoding: whatever an API server may hold is read, and what is read is written back.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::as_conversions,
    clippy::panic,
    clippy::needless_pass_by_value,
    reason = "a test fails by panicking, and its helpers are outside of test functions"
)]

use std::collections::BTreeSet;

use ray_api::RayCluster;
use serde_json::{Value, json};

fn decode(object: Value) -> RayCluster {
    serde_json::from_value(object).unwrap()
}

/// Where two objects differ.
fn differences(path: &str, a: &Value, b: &Value) -> Vec<String> {
    match (a, b) {
        (Value::Object(x), Value::Object(y)) => {
            let keys: BTreeSet<&String> = x.keys().chain(y.keys()).collect();
            keys.iter().flat_map(|key| differences(&format!("{path}.{key}"), &a[*key], &b[*key])).collect()
        }
        (Value::Array(x), Value::Array(y)) if x.len() == y.len() => {
            (0..x.len()).flat_map(|index| differences(&format!("{path}[{index}]"), &x[index], &y[index])).collect()
        }
        _ if a == b => Vec::new(),
        _ => vec![format!("{path}: {a} and {b}")],
    }
}

#[test]
fn everything_survives_a_round_trip() {
    let text = r#"
apiVersion: ray.io/v1
kind: RayCluster
metadata: {name: acme, namespace: default, labels: {a: b}}
spec:
  rayVersion: 2.57.0
  suspend: false
  managedBy: ray.io/kuberay-operator
  enableInTreeAutoscaling: true
  autoscalerOptions:
    version: v2
    image: x
    imagePullPolicy: Always
    idleTimeoutSeconds: 30
    upscalingMode: Default
    resources: {limits: {cpu: 500m}}
    securityContext: {runAsUser: 1}
    env: [{name: A, value: b}]
    envFrom: [{secretRef: {name: s}}]
    volumeMounts: [{name: v, mountPath: /v}]
    command: [c]
    args: [d]
  headServiceAnnotations: {a: b}
  gcsFaultToleranceOptions:
    backend: rocksdb
    redisAddress: r:1
    redisUsername: {value: u}
    redisPassword: {valueFrom: {secretKeyRef: {name: s, key: k}}}
    externalStorageNamespace: ns
    storage: {claimName: c, size: 1Gi, storageClassName: s, accessModes: [ReadWriteOnce], subPath: p, deletionPolicy: Retain}
  authOptions: {mode: token, secretName: s, enableK8sTokenAuth: true}
  upgradeStrategy: {type: Recreate}
  networkPolicy:
    mode: DenyAll
    head: {ingressRules: [{from: [{podSelector: {matchLabels: {a: b}}}], ports: [{port: 53, protocol: UDP}]}]}
    worker: {egressRules: [{to: [{ipBlock: {cidr: 10.0.0.0/8}}]}]}
    workerGroups: [{groupName: gpu, egressRules: [{ports: [{port: https}]}]}]
  tlsOptions: {enabled: true}
  historyServerOptions:
    collectorOptions: {image: i, imagePullPolicy: Always, resources: {requests: {cpu: 50m}}, env: [{name: A, value: b}]}
  headGroupSpec:
    rayStartParams: {num-cpus: "0"}
    resources: {cpu: "1"}
    labels: {a: b}
    serviceType: NodePort
    headService: {apiVersion: v1, kind: Service, metadata: {name: s}, spec: {ports: [{port: 1, name: p}]}}
    enableIngress: true
    ingressOptions: {host: h, path: /, pathType: Exact, tls: [{hosts: [h], secretName: s}]}
    template: {metadata: {labels: {a: b}}, spec: {containers: [{name: head, image: i, resources: {limits: {cpu: "1"}}}]}}
  workerGroupSpecs:
  - groupName: gpu
    replicas: 0
    minReplicas: 0
    maxReplicas: 2147483647
    numOfHosts: 4
    idleTimeoutSeconds: 5
    priority: 3
    suspend: true
    scaleStrategy: {workersToDelete: [w]}
    rayStartParams: {block: "true"}
    resources: {gpu: "1"}
    labels: {c: d}
    template: {spec: {containers: [{name: worker, image: i}]}}
status:
  state: ready
  desiredCPU: "5"
  desiredMemory: 2Gi
  desiredGPU: "0"
  desiredTPU: "0"
  desiredWorkerReplicas: 4
  minWorkerReplicas: 0
  maxWorkerReplicas: 2147483647
  readyWorkerReplicas: 1
  availableWorkerReplicas: 2
  lastUpdateTime: "2026-01-02T03:04:05Z"
  stateTransitionTimes: {ready: "2026-01-02T03:04:05Z"}
  endpoints: {dashboard: "8265"}
  head: {podIP: 10.0.0.1, podName: p, serviceIP: 10.0.0.1, serviceName: s}
  conditions: [{type: HeadPodReady, status: "True", reason: R, message: m, lastTransitionTime: "2026-01-02T03:04:05Z"}]
  observedGeneration: 7
  headLastOrdinal: 3
  headFailures: {count: 1, lastTime: "2026-01-02T03:04:05Z"}
  workerGroups:
  - name: gpu
    desired: 4
    created: 4
    ready: 3
    lastOrdinal: 5000000000
    unknownWorkersToDelete: [{name: w, reason: NotFound}]
    blocked: {reason: Quota, message: m, since: "2026-01-02T03:04:05Z"}
    failures: {count: 2, lastTime: "2026-01-02T03:04:05Z"}
"#;
    let object: Value = serde_saphyr::from_str(text).unwrap();
    let cluster = decode(object.clone());
    let written = serde_json::to_value(&cluster).unwrap();
    assert_eq!(differences("", &written, &object), Vec::<String>::new());
}

/// Go leaves a field alone when it meets `null`.
#[test]
fn null_is_absent() {
    let cluster = decode(json!({
        "metadata": null,
        "spec": {
            "headGroupSpec": {"template": null, "rayStartParams": null, "resources": null, "labels": null,
                "serviceType": null, "headService": null, "enableIngress": null},
            "workerGroupSpecs": [{"groupName": null, "replicas": null, "scaleStrategy": null, "template": {"spec": null}},
                {"groupName": "a", "scaleStrategy": {"workersToDelete": null}}],
            "rayVersion": null, "suspend": null, "autoscalerOptions": {"env": null},
            "gcsFaultToleranceOptions": {"redisAddress": null, "storage": {"accessModes": null}},
        },
        "status": {"state": null, "endpoints": null, "conditions": null, "head": null, "lastUpdateTime": null},
    }));
    let expected = decode(json!({
        "spec": {
            "headGroupSpec": {}, "workerGroupSpecs": [{}, {"groupName": "a", "scaleStrategy": {}}],
            "autoscalerOptions": {}, "gcsFaultToleranceOptions": {"storage": {}},
        },
        "status": {},
    }));
    assert_eq!(cluster, expected);
}

#[test]
fn odd_objects_are_read() {
    for object in [
        json!({}),
        json!({"spec": null, "status": null}),
        json!({"spec": {}}),
        json!({"apiVersion": "ray.io/v1alpha1", "kind": "RayCluster", "spec": {"headGroupSpec": {}, "unknown": [1, {"a": null}]}}),
        json!({"spec": {"headGroupSpec": {"headService": {"apiVersion": "", "kind": "service", "spec": {}}}}}),
        json!({"spec": {"upgradeStrategy": {"type": "Sideways"}, "authOptions": {"mode": "x"}}}),
    ] {
        decode(object);
    }
}

/// A custom resource holds `cpu: 1` as the number it was written as.
#[test]
fn quantities_may_be_numbers() {
    let container = json!({"name": "r", "resources": {"limits": {"cpu": 1, "memory": 0.5}}});
    let cluster = decode(json!({
        "spec": {
            "headGroupSpec": {"template": {"spec": {"containers": [container], "volumes": [{"name": "v", "emptyDir": {"sizeLimit": 7}}]}}},
            "gcsFaultToleranceOptions": {"storage": {"size": 1024}},
        },
        "status": {"desiredCPU": 3},
    }));
    let spec = cluster.spec.head_group_spec.template.spec.unwrap();
    let limits = spec.containers[0].resources.as_ref().unwrap().limits.as_ref().unwrap();
    assert_eq!((limits["cpu"].0.as_str(), limits["memory"].0.as_str()), ("1", "0.5"));
    assert_eq!(cluster.spec.gcs_fault_tolerance_options.unwrap().storage.unwrap().size.unwrap().0, "1024");
    assert_eq!(cluster.status.unwrap().desired_cpu.unwrap().0, "3");
}

#[test]
fn absent_is_not_zero() {
    let group = |spec: Value| decode(json!({"spec": {"workerGroupSpecs": [spec]}})).spec.worker_group_specs[0].clone();
    let absent = group(json!({"minReplicas": 2}));
    assert_eq!((absent.replicas, absent.effective_replicas()), (None, 2));
    assert_eq!((absent.effective_max_replicas(), absent.effective_num_of_hosts()), (i32::MAX, 1));
    let given = group(json!({"replicas": 0, "minReplicas": 0, "maxReplicas": 0, "numOfHosts": 2}));
    assert_eq!((given.effective_replicas(), given.effective_num_of_hosts()), (0, 2));
    assert_eq!(group(json!({"replicas": 9, "maxReplicas": 3})).effective_replicas(), 3);
    assert_eq!(group(json!({"replicas": -4, "minReplicas": 1})).effective_replicas(), 1);
}
