//! The normal form of pods and Services in which cases and built objects are compared: what the API server would put
//! in is put in or taken out on both sides (rules: `tests/golden/README.md`).

use serde_json::{Value, json};

use super::quantity::{respell, respell_all};

/// Brings a pod or Service into normal form. Doing it twice changes nothing.
pub fn normal_form(mut object: Value) -> Value {
    drop_fields(
        &mut object["metadata"],
        &["uid", "resourceVersion", "generation", "creationTimestamp", "managedFields"],
    );
    for owner in items(&mut object["metadata"], "ownerReferences") {
        drop_fields(owner, &["uid"]);
    }
    drop_fields(&mut object, &["status"]);
    match object["kind"].as_str() {
        Some("Pod") => pod_spec(&mut object["spec"]),
        Some("Service") => service_spec(&mut object["spec"]),
        _ => {}
    }
    object
}

/// `field` of `parent` as a list; nothing if there is none.
pub fn items<'a>(parent: &'a mut Value, field: &str) -> impl Iterator<Item = &'a mut Value> {
    parent.get_mut(field).and_then(Value::as_array_mut).into_iter().flatten()
}

/// All containers of a pod, init containers first.
pub fn containers(spec: &mut Value) -> Vec<&mut Value> {
    let fields = spec.as_object_mut().into_iter().flatten();
    let lists = fields.filter(|(name, _)| name.as_str() == "initContainers" || name.as_str() == "containers");
    lists.filter_map(|(_, list)| list.as_array_mut()).flatten().collect()
}

fn drop_fields(parent: &mut Value, fields: &[&str]) {
    if let Some(parent) = parent.as_object_mut() {
        for field in fields {
            parent.remove(*field);
        }
    }
}

fn drop_defaults(parent: &mut Value, defaults: &[(&str, Value)]) {
    if let Some(parent) = parent.as_object_mut() {
        for (field, default) in defaults {
            if parent.get(*field) == Some(default) {
                parent.remove(*field);
            }
        }
    }
}

fn pod_spec(spec: &mut Value) {
    drop_fields(spec, &["serviceAccount", "nodeName"]);
    drop_defaults(
        spec,
        &[
            ("restartPolicy", json!("Always")),
            ("dnsPolicy", json!("ClusterFirst")),
            ("schedulerName", json!("default-scheduler")),
            ("securityContext", json!({})),
            ("terminationGracePeriodSeconds", json!(30)),
            ("enableServiceLinks", json!(true)),
            ("preemptionPolicy", json!("PreemptLowerPriority")),
            ("priority", json!(0)),
            ("serviceAccountName", json!("default")),
        ],
    );
    if spec.get("priorityClassName").is_some() {
        // Looked up by admission.
        drop_fields(spec, &["priority"]);
    }
    for volume in items(spec, "volumes") {
        volume_source(volume);
    }
    let host_network = spec.get("hostNetwork") == Some(&json!(true));
    for part in containers(spec) {
        container(part, host_network);
    }
}

fn volume_source(volume: &mut Value) {
    for source in ["secret", "configMap", "projected", "downwardAPI"] {
        if let Some(source) = volume.get_mut(source) {
            drop_defaults(source, &[("defaultMode", json!(420))]);
        }
    }
    if let Some(path) = volume.get_mut("hostPath") {
        drop_defaults(path, &[("type", json!(""))]);
    }
    if let Some(limit) = volume.pointer_mut("/emptyDir/sizeLimit") {
        respell(limit);
    }
}

fn container(container: &mut Value, host_network: bool) {
    let policy = default_pull_policy(container["image"].as_str().unwrap_or_default());
    drop_defaults(
        container,
        &[
            ("imagePullPolicy", json!(policy)),
            ("terminationMessagePath", json!("/dev/termination-log")),
            ("terminationMessagePolicy", json!("File")),
        ],
    );
    if let Some(resources) = container.get_mut("resources") {
        resource_defaults(resources);
    }
    drop_defaults(container, &[("resources", json!({}))]);
    for port in items(container, "ports") {
        drop_defaults(port, &[("protocol", json!("TCP"))]);
        if host_network && port.get("hostPort").is_none() {
            port["hostPort"] = port["containerPort"].clone();
        }
    }
    for variable in items(container, "env") {
        drop_defaults(variable, &[("value", json!(""))]);
        if let Some(field) = variable.pointer_mut("/valueFrom/fieldRef") {
            drop_defaults(field, &[("apiVersion", json!("v1"))]);
        }
        if let Some(field) = variable.pointer_mut("/valueFrom/resourceFieldRef") {
            drop_defaults(field, &[("divisor", json!("0"))]);
        }
    }
    for probe in ["startupProbe", "readinessProbe", "livenessProbe"] {
        if let Some(probe) = container.get_mut(probe) {
            probe_defaults(probe);
        }
    }
}

/// A limit without a request is the request, too.
fn resource_defaults(resources: &mut Value) {
    if let Some(limits) = resources.get("limits").and_then(Value::as_object).cloned() {
        for (name, limit) in limits {
            if resources["requests"].get(&name).is_none() {
                resources["requests"][&name] = limit;
            }
        }
    }
    for list in ["limits", "requests"] {
        if let Some(quantities) = resources.get_mut(list) {
            respell_all(quantities);
        }
    }
}

fn probe_defaults(probe: &mut Value) {
    drop_defaults(
        probe,
        &[
            ("timeoutSeconds", json!(1)),
            ("periodSeconds", json!(10)),
            ("successThreshold", json!(1)),
            ("failureThreshold", json!(3)),
        ],
    );
    if let Some(request) = probe.get_mut("httpGet") {
        drop_defaults(request, &[("scheme", json!("HTTP"))]);
    }
}

/// Kubernetes pulls again and again what may change under its tag.
fn default_pull_policy(image: &str) -> &'static str {
    let last = image.rsplit('/').next().unwrap_or_default();
    let moving = !image.contains('@') && (!last.contains(':') || last.ends_with(":latest"));
    if moving { "Always" } else { "IfNotPresent" }
}

fn service_spec(spec: &mut Value) {
    if spec.get("type").is_none() {
        spec["type"] = json!("ClusterIP");
    }
    let on_nodes = matches!(spec["type"].as_str(), Some("NodePort" | "LoadBalancer"));
    drop_fields(spec, &["clusterIPs", "ipFamilies", "ipFamilyPolicy", "internalTrafficPolicy"]);
    drop_defaults(
        spec,
        &[
            ("sessionAffinity", json!("None")),
            ("externalTrafficPolicy", json!("Cluster")),
            ("allocateLoadBalancerNodePorts", json!(true)),
        ],
    );
    for port in items(spec, "ports") {
        let number = port["port"].clone();
        drop_defaults(port, &[("protocol", json!("TCP")), ("targetPort", number)]);
        if on_nodes && port.get("nodePort").is_none() {
            port["nodePort"] = json!("<nodePort>");
        }
    }
    if let Some(ports) = spec.get_mut("ports").and_then(Value::as_array_mut) {
        ports.sort_by_key(|port| port["name"].as_str().unwrap_or_default().to_owned());
    }
}
