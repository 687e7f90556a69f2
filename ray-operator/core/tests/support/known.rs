//! Known differences between the cases (KubeRay 1.6.2) and us, as changes to the expected objects.

use serde_json::{Value, json};

use super::built::{ORDINAL, head_name};
use super::case::Case;
use super::normal::{containers, items};

/// Why something differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// KubeRay 1.7, which we follow, does it as we do; 1.6.2 did not.
    Kuberay17,
    /// On purpose: the first column of a row in `docs/kuberay-differences.md`.
    Row(&'static str),
}

/// One known difference.
pub struct Known {
    /// What it is about.
    pub name: &'static str,
    /// Why we differ.
    pub why: Why,
    /// Turns what KubeRay 1.6.2 made into what we want to make.
    pub apply: fn(&mut [Value], &Case),
}

/// All of them, in the order in which they are applied.
pub const KNOWN: &[Known] = &[
    Known { name: "limit of open files", why: Why::Kuberay17, apply: ulimit },
    Known { name: "operator version", why: Why::Row("`ray.io/kuberay-version`, `kuberay_version=`"), apply: version },
    Known { name: "spec hash", why: Why::Row("`ray.io/upgrade-strategy-recreate-hash`"), apply: no_hash },
    Known { name: "pod names", why: Why::Row("Names of pods"), apply: pod_names },
    Known { name: "waiting for the head", why: Why::Row("Init container `wait-gcs-ready`"), apply: wait_script },
    Known { name: "startup probe", why: Why::Row("Probes"), apply: startup_probe },
    Known { name: "selector", why: Why::Row("Selector of the head Service"), apply: selector },
];

/// Cases in which the API server refuses what KubeRay makes, for ever, and ours works; with the row that says so.
pub const FIXED: &[(&str, &str)] = &[
    ("029-ports-metrics-number-taken", "Ports of the head Service"),
    ("040-service-user-duplicate-port", "Ports of the head Service"),
    ("106-containers-wait-user-name", "Init container `wait-gcs-ready`"),
];

/// Inputs that KubeRay accepts and we refuse: the field we name, and the row that says so.
pub const STRICTER: &[(&str, &str, &str)] = &[
    ("024-names-group-70", "spec.workerGroupSpecs[0].groupName", "Names of worker groups"),
    ("144-multihost-zero-hosts", "spec.workerGroupSpecs[0].numOfHosts", "`numOfHosts: 0`"),
];

/// Refused inputs where KubeRay's text names another field than the one that is wrong, and the one we name.
pub const OTHER_FIELD: &[(&str, &str)] = &[("207-invalid-redis-username-env", "env[REDIS_USERNAME]")];

/// Cases in which the API server refuses what KubeRay makes and would refuse ours, too, which takes an API server to see.
/// What KubeRay did create there is compared.
pub const ALSO_REFUSED: &[&str] = &["030-ports-duplicate-names", "035-service-externalname", "219-invalid-pod-field"];

fn pods(objects: &mut [Value]) -> impl Iterator<Item = &mut Value> {
    objects.iter_mut().filter(|object| object["kind"] == "Pod")
}

fn is_head(pod: &Value) -> bool {
    pod["metadata"]["labels"]["ray.io/node-type"] == "head"
}

fn replace_in_text(value: &mut Value, from: &str, to: &str) {
    if let Value::String(text) = value {
        *text = text.replace(from, to);
    }
}

fn ulimit(objects: &mut [Value], _: &Case) {
    for pod in pods(objects) {
        for argument in items(&mut pod["spec"]["containers"][0], "args") {
            replace_in_text(argument, "ulimit -n 65536; ", "ulimit -n ${RAY_START_ULIMIT_OPEN_FILES:-65536}; ");
        }
    }
}

fn version(objects: &mut [Value], _: &Case) {
    let ours = ray_core::config::OperatorConfig::default().operator_version;
    for pod in pods(objects).filter(|pod| is_head(pod)) {
        pod["metadata"]["annotations"]["ray.io/kuberay-version"] = json!(ours);
        for variable in items(&mut pod["spec"]["containers"][0], "env") {
            if variable["name"] == "RAY_USAGE_STATS_EXTRA_TAGS" {
                replace_in_text(&mut variable["value"], "kuberay_version=v1.6.2;", &format!("kuberay_version={ours};"));
            }
        }
    }
}

fn no_hash(objects: &mut [Value], _: &Case) {
    for pod in pods(objects) {
        if let Some(annotations) = pod["metadata"].get_mut("annotations").and_then(Value::as_object_mut) {
            annotations.remove("ray.io/upgrade-strategy-recreate-hash");
        }
    }
}

fn pod_names(objects: &mut [Value], case: &Case) {
    let cluster = case.cluster().and_then(|cluster| cluster["metadata"]["name"].as_str()).unwrap_or_default();
    for pod in pods(objects) {
        if is_head(pod) {
            // A name in the head's template, or the one without a suffix that KubeRay can be told to use.
            pod["metadata"]["name"] = json!(head_name(cluster));
        }
        pod["metadata"].as_object_mut().unwrap().remove("generateName");
        pod["metadata"]["annotations"]["ray.io/pod-ordinal"] = json!(ORDINAL.to_string());
    }
}

fn wait_script(objects: &mut [Value], _: &Case) {
    for pod in pods(objects) {
        for container in items(&mut pod["spec"], "initContainers") {
            for argument in items(container, "args") {
                replace_in_text(argument, "ray health-check --address ", "connects to ");
            }
        }
    }
}

/// Replaces our script by what it does, as the cases do with KubeRay's.
pub fn mask_wait_script(object: &mut Value) {
    for container in containers(&mut object["spec"]) {
        if container["name"] != "wait-gcs-ready" {
            continue;
        }
        for argument in items(container, "args") {
            let text = argument.as_str().unwrap_or_default();
            let address = text.lines().find_map(|line| line.strip_prefix("address=\"")?.strip_suffix('"'));
            if let (Some(address), true) = (address, text.contains("/dev/tcp/")) {
                *argument = json!(format!("<script wait-gcs-ready: connects to {address}>"));
            }
        }
    }
}

/// Where KubeRay put in both probes: a startup probe asks what its liveness probe asks, and neither has a delay.
fn startup_probe(objects: &mut [Value], _: &Case) {
    for pod in pods(objects) {
        let ray = &mut pod["spec"]["containers"][0];
        let liveness = ray["livenessProbe"]["failureThreshold"] == 120;
        let readiness = ray["readinessProbe"]["initialDelaySeconds"] == 10;
        if !liveness || !readiness || ray.get("startupProbe").is_some() {
            continue;
        }
        for probe in ["livenessProbe", "readinessProbe"] {
            ray[probe].as_object_mut().unwrap().remove("initialDelaySeconds");
        }
        ray["startupProbe"] = ray["livenessProbe"].clone();
        ray["startupProbe"]["periodSeconds"] = json!(1);
        ray["startupProbe"]["failureThreshold"] = json!(630);
    }
}

fn selector(objects: &mut [Value], _: &Case) {
    let Some(head) = objects.iter().find(|object| object["kind"] == "Pod" && is_head(object)) else { return };
    let labels = head["metadata"]["labels"].clone();
    for service in objects.iter_mut().filter(|object| object["metadata"]["labels"]["ray.io/node-type"] == "head") {
        if service["kind"] == "Service" {
            let selector = service["spec"]["selector"].as_object_mut().unwrap();
            selector.retain(|key, value| labels.get(key) == Some(&*value));
        }
    }
}
