//! The rules: every one of them, broken once.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::as_conversions,
    clippy::panic,
    clippy::needless_pass_by_value,
    reason = "a test fails by panicking, and its helpers are outside of test functions"
)]

use ray_api::{FeatureGates, RayCluster, validate};
use serde_json::{Value, json};

/// A cluster that keeps all rules, with `patch` merged into it.
fn cluster(patch: &Value) -> RayCluster {
    let template = json!({"spec": {"containers": [{"name": "ray"}]}});
    let mut object = json!({
        "metadata": {"name": "acme"},
        "spec": {
            "rayVersion": "2.57.0",
            "headGroupSpec": {"template": template},
            "workerGroupSpecs": [
                {"groupName": "a", "minReplicas": 0, "maxReplicas": 5, "template": template},
                {"groupName": "GPU-1.x", "template": template},
            ],
        },
    });
    merge(&mut object, patch);
    serde_json::from_value(object).unwrap()
}

/// JSON merge patch, except that a list of objects is merged item by item.
fn merge(target: &mut Value, patch: &Value) {
    match (target, patch) {
        (Value::Object(target), Value::Object(patch)) => {
            for (key, value) in patch {
                if value.is_null() {
                    target.remove(key);
                } else {
                    merge(target.entry(key).or_insert(Value::Null), value);
                }
            }
        }
        (Value::Array(target), Value::Array(patch)) if patch.iter().all(Value::is_object) && !patch.is_empty() => {
            for (index, value) in patch.iter().enumerate() {
                match target.get_mut(index) {
                    Some(item) => merge(item, value),
                    None => target.push(value.clone()),
                }
            }
        }
        (target, patch) => *target = patch.clone(),
    }
}

fn errors(patch: &Value, gates: &str) -> Vec<String> {
    let gates: FeatureGates = gates.parse().unwrap();
    validate(&cluster(patch), &gates).iter().map(ToString::to_string).collect()
}

/// `patch` breaks exactly the rules whose errors begin so.
#[track_caller]
fn refused(patch: Value, expected: &[&str]) {
    let found = errors(&patch, "AllAlpha=true");
    let fits =
        found.len() == expected.len() && found.iter().zip(expected).all(|(found, start)| found.starts_with(start));
    assert!(fits, "{patch}\nfound {found:#?}\nexpected {expected:#?}");
}

#[track_caller]
fn accepted(patch: Value) {
    refused(patch, &[]);
}

fn head(patch: Value) -> Value {
    json!({"spec": {"headGroupSpec": patch}})
}

fn head_env(name: &str, value: &str) -> Value {
    head(json!({"template": {"spec": {"containers": [{"env": [{"name": name, "value": value}]}]}}}))
}

fn group(patch: Value) -> Value {
    json!({"spec": {"workerGroupSpecs": [patch]}})
}

fn both(mut a: Value, b: Value) -> Value {
    merge(&mut a, &b);
    a
}

fn options(patch: Value) -> Value {
    json!({"spec": {"gcsFaultToleranceOptions": patch}})
}

const ENV: &str = "spec.headGroupSpec.template.spec.containers[0].env";

#[test]
fn a_plain_cluster_is_fine() {
    accepted(json!({}));
    accepted(json!({"spec": {"workerGroupSpecs": null}}));
    // As KubeRay: lifted to minReplicas.
    accepted(group(json!({"replicas": -1})));
    accepted(group(json!({"minReplicas": null, "maxReplicas": null})));
}

#[test]
fn names() {
    let name = |name: &str| json!({"metadata": {"name": name}});
    accepted(name(&"a".repeat(53)));
    refused(name(&"a".repeat(54)), &["metadata.name: must have at most 53"]);
    for bad in ["a.b", "1a", "a-", "", "Ab", "日本"] {
        refused(name(bad), &["metadata.name: must begin"]);
    }
    let found = validate(&cluster(&name("1a")), &FeatureGates::default());
    assert_eq!(found[0].reason.as_str(), "InvalidRayClusterMetadata");
    let found = validate(&cluster(&group(json!({"minReplicas": -1}))), &FeatureGates::default());
    assert_eq!(found[0].reason.as_str(), "InvalidRayClusterSpec");
}

#[test]
fn containers() {
    let none = json!({"template": {"spec": {"containers": []}}});
    refused(head(none.clone()), &["spec.headGroupSpec.template.spec.containers: must not be empty"]);
    refused(group(none), &["spec.workerGroupSpecs[0].template.spec.containers: must not be empty"]);
    refused(head(json!({"template": {"spec": null}})), &["spec.headGroupSpec.template.spec.containers"]);
}

#[test]
fn start_parameters() {
    let twice = json!({"resources": {"cpu": "1"}, "rayStartParams": {"num-cpus": "1", "memory": ""}});
    refused(head(twice.clone()), &["spec.headGroupSpec.rayStartParams[num-cpus]: resources are given twice"]);
    refused(group(twice), &["spec.workerGroupSpecs[0].rayStartParams[num-cpus]"]);
    refused(group(json!({"rayStartParams": {"labels": ""}})), &["spec.workerGroupSpecs[0].rayStartParams[labels]"]);
    accepted(head(json!({"resources": {"cpu": "1"}, "rayStartParams": {"num-cpus": ""}})));
}

#[test]
fn labels() {
    accepted(head(json!({"labels": {"a": "", "example.test/b_c.d": "E-f"}})));
    for key in ["", "a/", "/a", "a/b/c", "-a", "é", &"a".repeat(64), "A.b/c", &format!("{}/a", "a".repeat(254))] {
        refused(head(json!({"labels": {key: "x"}})), &["spec.headGroupSpec.labels["]);
    }
    for value in ["x y", "-x", "x_", "é", &"a".repeat(64)] {
        refused(group(json!({"labels": {"a": value}})), &["spec.workerGroupSpecs[0].labels[a]: "]);
    }
}

#[test]
fn groups() {
    for bad in ["", "a_b", "a..b", "-a", "a.", "é", "a b"] {
        refused(group(json!({"groupName": bad})), &["spec.workerGroupSpecs[0].groupName: must hold only"]);
    }
    refused(group(json!({"groupName": "g".repeat(64)})), &["spec.workerGroupSpecs[0].groupName: must have at most 63"]);
    refused(
        group(json!({"groupName": "headgroup"})),
        &["spec.workerGroupSpecs[0].groupName: \"headgroup\" is reserved"],
    );
    refused(group(json!({"groupName": "GPU-1.x"})), &["spec.workerGroupSpecs[1].groupName: there is another group"]);
    refused(
        group(json!({"minReplicas": 6})),
        &["spec.workerGroupSpecs[0].minReplicas: 6 is greater than maxReplicas, 5"],
    );
    refused(group(json!({"minReplicas": -1})), &["spec.workerGroupSpecs[0].minReplicas: must not be negative"]);
    refused(
        group(json!({"maxReplicas": -1})),
        &["spec.workerGroupSpecs[0].maxReplicas: must not be negative", "spec.workerGroupSpecs[0].minReplicas: 0 is"],
    );
    refused(group(json!({"numOfHosts": 0})), &["spec.workerGroupSpecs[0].numOfHosts: must be at least 1"]);
}

#[test]
fn autoscaler_of_groups() {
    let v2 = json!({"spec": {"autoscalerOptions": {"version": "v2"}}});
    let idle = "spec.workerGroupSpecs[0].idleTimeoutSeconds: ";
    refused(group(json!({"idleTimeoutSeconds": 5})), &[&format!("{idle}needs autoscaler v2")]);
    refused(both(group(json!({"idleTimeoutSeconds": -5})), v2.clone()), &[&format!("{idle}must not be negative")]);
    accepted(both(group(json!({"idleTimeoutSeconds": 5, "priority": 2})), v2.clone()));
    refused(group(json!({"priority": 2})), &["spec.workerGroupSpecs[0].priority: needs autoscaler v2"]);
    accepted(group(json!({"priority": 0})));
    for version in ["2.55.0", "", "nightly"] {
        let old = json!({"spec": {"rayVersion": version}});
        refused(
            both(both(group(json!({"priority": 2})), v2.clone()), old),
            &["spec.workerGroupSpecs[0].priority: needs rayVersion 2.56.0"],
        );
    }
}

#[test]
fn autoscaler() {
    let on = json!({"spec": {"enableInTreeAutoscaling": true}});
    let option = |options: Value| both(on.clone(), json!({"spec": {"autoscalerOptions": options}}));
    let env = |value: &str| head_env("RAY_enable_autoscaler_v2", value);
    refused(env("1"), &[&format!("{ENV}[RAY_enable_autoscaler_v2]: needs enableInTreeAutoscaling")]);
    accepted(env("0"));
    accepted(both(env("true"), on.clone()));
    refused(
        both(env("0"), option(json!({"version": "v1"}))),
        &["spec.autoscalerOptions.version: the version is given twice"],
    );
    refused(option(json!({"version": "v3"})), &["spec.autoscalerOptions.version: must be v1 or v2, not \"v3\""]);
    let restart = |policy: &str| json!({"template": {"spec": {"restartPolicy": policy}}});
    let v2 = option(json!({"version": "v2"}));
    refused(both(v2.clone(), group(restart("OnFailure"))), &["spec.workerGroupSpecs[0].template.spec.restartPolicy"]);
    refused(both(v2.clone(), head(restart("Always"))), &["spec.headGroupSpec.template.spec.restartPolicy"]);
    accepted(both(v2, head(restart("Never"))));
    refused(option(json!({"idleTimeoutSeconds": -1})), &["spec.autoscalerOptions.idleTimeoutSeconds: must not be"]);
    refused(
        option(json!({"env": [{"name": "KUBERAY_GEN_AUTOSCALER_START_CMD"}]})),
        &["spec.autoscalerOptions.env[KUBERAY_GEN_AUTOSCALER_START_CMD]"],
    );
    refused(both(on, group(json!({"suspend": true}))), &["spec.workerGroupSpecs[0].suspend: a group cannot"]);
    accepted(group(json!({"suspend": true})));
}

#[test]
fn fault_tolerance_with_redis() {
    let ft = || options(json!({"redisAddress": "r:1"}));
    let annotation = |key: &str, value: &str| json!({"metadata": {"annotations": {key: value}}});
    refused(
        both(ft(), annotation("ray.io/ft-enabled", "false")),
        &["metadata.annotations[ray.io/ft-enabled]: excludes"],
    );
    refused(
        head_env("RAY_REDIS_ADDRESS", "x"),
        &[&format!("{ENV}[RAY_REDIS_ADDRESS]: needs gcsFaultToleranceOptions")],
    );
    accepted(both(head_env("RAY_REDIS_ADDRESS", "x"), annotation("ray.io/ft-enabled", "TRUE")));
    refused(both(ft(), head_env("RAY_REDIS_ADDRESS", "x")), &[&format!("{ENV}[RAY_REDIS_ADDRESS]: use")]);
    refused(both(ft(), head_env("REDIS_PASSWORD", "x")), &[&format!("{ENV}[REDIS_PASSWORD]: use")]);
    refused(
        both(ft(), head(json!({"rayStartParams": {"redis-password": "x"}}))),
        &["spec.headGroupSpec.rayStartParams[redis-password]: use"],
    );
    refused(
        both(ft(), annotation("ray.io/external-storage-namespace", "n")),
        &["metadata.annotations[ray.io/external-storage-namespace]: use"],
    );
    refused(head_env("REDIS_USERNAME", "x"), &[&format!("{ENV}[REDIS_USERNAME]: use")]);
    refused(
        head(json!({"rayStartParams": {"redis-username": "x"}})),
        &["spec.headGroupSpec.rayStartParams[redis-username]"],
    );
    refused(options(json!({"storage": {}})), &["spec.gcsFaultToleranceOptions.storage: is for backend rocksdb"]);
    refused(options(json!({"backend": "x"})), &["spec.gcsFaultToleranceOptions.backend: must be redis or rocksdb"]);
}

#[test]
fn fault_tolerance_with_rocksdb() {
    let ft = |patch: Value| both(options(json!({"backend": "rocksdb"})), options(patch));
    accepted(ft(json!({"storage": {"size": "1Gi"}})));
    refused(ft(json!({"redisAddress": "r:1"})), &["spec.gcsFaultToleranceOptions.redisAddress: is for backend redis"]);
    refused(
        ft(json!({"storage": {"claimName": "c", "size": "1"}})),
        &["spec.gcsFaultToleranceOptions.storage.claimName"],
    );
    refused(ft(json!({"storage": {"deletionPolicy": "x"}})), &["spec.gcsFaultToleranceOptions.storage.deletionPolicy"]);
    refused(both(ft(json!({})), head_env("RAY_gcs_storage", "x")), &[&format!("{ENV}[RAY_gcs_storage]: is set")]);
    let mount =
        json!({"template": {"spec": {"containers": [{"volumeMounts": [{"name": "v", "mountPath": "/data/gcs"}]}]}}});
    refused(both(ft(json!({})), head(mount)), &["spec.headGroupSpec.template.spec.containers[0].volumeMounts[0]"]);
    let volume = json!({"template": {"spec": {"volumes": [{"name": "gcs-storage"}]}}});
    refused(both(ft(json!({})), head(volume)), &["spec.headGroupSpec.template.spec.volumes[0].name"]);
}

#[test]
fn authentication() {
    let auth = |options: Value| json!({"spec": {"authOptions": options}});
    let version = |patch: Value, version: &str| both(patch, json!({"spec": {"rayVersion": version}}));
    let token = || auth(json!({"mode": "token"}));
    accepted(token());
    accepted(auth(json!({})));
    for unknown in ["", "nightly"] {
        refused(version(token(), unknown), &["spec.rayVersion: authOptions.mode token needs a version of 2.52.0"]);
    }
    refused(version(token(), "2.51.9"), &["spec.rayVersion: 2.51.9 is too old"]);
    let kubernetes = || auth(json!({"mode": "token", "enableK8sTokenAuth": true}));
    accepted(kubernetes());
    refused(version(kubernetes(), "2.54.0"), &["spec.rayVersion: 2.54.0 is too old"]);
    refused(both(kubernetes(), auth(json!({"secretName": "s"}))), &["spec.authOptions.secretName: excludes"]);
    refused(auth(json!({"enableK8sTokenAuth": true})), &["spec.authOptions.enableK8sTokenAuth: needs mode: token"]);
    refused(auth(json!({"mode": "x"})), &["spec.authOptions.mode: must be"]);
}

#[test]
fn history_server() {
    let collector = |options: Value| json!({"spec": {"historyServerOptions": {"collectorOptions": options}}});
    let stored = |pairs: &[(&str, &str)]| {
        let env: Vec<Value> = pairs.iter().map(|(name, value)| json!({"name": name, "value": value})).collect();
        collector(json!({"image": "i", "env": env}))
    };
    const ENV: &str = "spec.historyServerOptions.collectorOptions.env";
    refused(
        json!({"spec": {"historyServerOptions": {}}}),
        &["spec.historyServerOptions.collectorOptions: must be given"],
    );
    refused(
        collector(json!({})),
        &["spec.historyServerOptions.collectorOptions.image", &format!("{ENV}[STORAGE_BACKEND]")],
    );
    refused(
        stored(&[("STORAGE_BACKEND", "gcs"), ("POD_IP", "x")]),
        &[&format!("{ENV}[POD_IP]"), &format!("{ENV}[GCS_BUCKET]")],
    );
    refused(stored(&[("STORAGE_BACKEND", "S3")]), &[&format!("{ENV}[S3_REGION]")]);
    accepted(stored(&[("STORAGE_BACKEND", "s3"), ("S3_REGION", "r")]));
    accepted(stored(&[("STORAGE_BACKEND", "other")]));
    let azure = |mode: &str, name: &str| {
        stored(&[("STORAGE_BACKEND", "AzureBlob"), ("AZURE_STORAGE_AUTH_MODE", mode), (name, "x")])
    };
    accepted(azure("", "AZURE_STORAGE_ACCOUNT_URL"));
    accepted(azure(" Default ", "AZURE_STORAGE_ACCOUNT_URL"));
    refused(
        azure("connection_string", "AZURE_STORAGE_ACCOUNT_URL"),
        &[&format!("{ENV}[AZURE_STORAGE_CONNECTION_STRING]")],
    );
    refused(
        stored(&[("STORAGE_BACKEND", "AliyunOSS"), ("OSS_BUCKET", "b")]),
        &[&format!("{ENV}[OSS_ENDPOINT]"), &format!("{ENV}[OSS_REGION]")],
    );
    let sidecar = group(json!({"template": {"spec": {"containers": [{}, {"name": "ray-history-collector"}]}}}));
    refused(
        both(stored(&[("STORAGE_BACKEND", "x")]), sidecar),
        &["spec.workerGroupSpecs[0].template.spec.containers[1].name"],
    );
}

#[test]
fn network_policies() {
    // The second group's name is no DNS label, which only matters here.
    let policy = |policy: Value| {
        both(
            json!({"spec": {"networkPolicy": policy}}),
            json!({"spec": {"workerGroupSpecs": [{}, {"groupName": "b"}]}}),
        )
    };
    accepted(policy(json!({"head": {"ingressRules": [{}], "egressRules": [{}]}})));
    refused(json!({"spec": {"networkPolicy": {}}}), &["spec.workerGroupSpecs[1].groupName: must hold only lower-case"]);
    refused(policy(json!({"mode": "x"})), &["spec.networkPolicy.mode: must be"]);
    refused(
        policy(json!({"mode": "DenyAllEgress", "head": {"ingressRules": [{}]}, "worker": {"egressRules": [{}]}})),
        &["spec.networkPolicy.head.ingressRules"],
    );
    refused(
        policy(json!({"mode": "DenyAllIngress", "workerGroups": [{"groupName": "b", "egressRules": [{}]}]})),
        &["spec.networkPolicy.workerGroups[0].egressRules"],
    );
    refused(
        policy(json!({"workerGroups": [{"groupName": "c"}]})),
        &["spec.networkPolicy.workerGroups[0].groupName: there is no"],
    );
}

#[test]
fn tls() {
    let tls = || json!({"spec": {"tlsOptions": {"enabled": true}}});
    accepted(tls());
    refused(both(tls(), head_env("RAY_USE_TLS", "1")), &[&format!("{ENV}[RAY_USE_TLS]")]);
    let mount =
        json!({"template": {"spec": {"containers": [{"volumeMounts": [{"name": "ray-tls", "mountPath": "/x"}]}]}}});
    refused(both(tls(), group(mount)), &["spec.workerGroupSpecs[0].template.spec.containers[0].volumeMounts[0]"]);
    let autoscaler = json!({"spec": {"autoscalerOptions": {
        "env": [{"name": "RAY_TLS_CA_CERT"}], "volumeMounts": [{"name": "v", "mountPath": "/etc/ray/tls"}]}}});
    refused(
        both(tls(), autoscaler.clone()),
        &["spec.autoscalerOptions.env[RAY_TLS_CA_CERT]", "spec.autoscalerOptions.volumeMounts[0]"],
    );
    accepted(both(json!({"spec": {"tlsOptions": {}}}), autoscaler));
}

#[test]
fn upgrades() {
    let upgrade = |kind: &str| json!({"spec": {"upgradeStrategy": {"type": kind}}});
    let owned = |kind: &str| json!({"metadata": {"labels": {"ray.io/originated-from-crd": kind}}});
    accepted(upgrade("Recreate"));
    accepted(both(upgrade("None"), owned("Other")));
    refused(upgrade("x"), &["spec.upgradeStrategy.type: must be Recreate or None"]);
    refused(
        both(upgrade("None"), owned("RayService")),
        &["spec.upgradeStrategy.type: must not be set on the cluster of a RayService"],
    );
}

#[test]
fn feature_gates() {
    for (gate, patch, path) in [
        ("RayJobDeletionPolicy", group(json!({"suspend": true})), "spec.workerGroupSpecs[0].suspend"),
        ("RayClusterNetworkPolicy", json!({"spec": {"networkPolicy": {}}}), "spec.networkPolicy"),
        ("RayClusterMTLS", json!({"spec": {"tlsOptions": {"enabled": false}}}), "spec.tlsOptions"),
        ("RayClusterHistoryServer", json!({"spec": {"historyServerOptions": {}}}), "spec.historyServerOptions"),
        (
            "GCSFaultToleranceEmbeddedStorage",
            options(json!({"backend": "rocksdb"})),
            "spec.gcsFaultToleranceOptions.backend",
        ),
    ] {
        let found = errors(&patch, &format!("AllBeta=true,{gate}=false"));
        assert!(found.len() == 1 && found[0].starts_with(&format!("{path}: ")) && found[0].contains(gate), "{found:?}");
    }
}

/// KubeRay stops at the first broken rule.
#[test]
fn all_broken_rules_are_reported() {
    let patch = both(group(json!({"minReplicas": -1, "groupName": ""})), json!({"metadata": {"name": "."}}));
    refused(patch, &["metadata.name", "spec.workerGroupSpecs[0].groupName", "spec.workerGroupSpecs[0].minReplicas"]);
}
