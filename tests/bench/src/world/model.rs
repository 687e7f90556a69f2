//! What is created: RayClusters for the operator, and for the bare client the very objects the operator makes of one.

use anyhow::Context;
use kube::Client;
use serde_json::{Value, json};

use super::{OURS, collection, get};

/// A RayCluster with one group.
pub(crate) fn cluster(name: &str, image: &str, workers: usize) -> Value {
    let template = |container: &str, cpu: &str, memory: &str| {
        json!({"spec": {"containers": [{
            "name": container,
            "image": image,
            "resources": {"requests": {"cpu": "100m", "memory": memory}, "limits": {"cpu": cpu, "memory": "2Gi"}},
        }]}})
    };
    json!({
        "apiVersion": "ray.io/v1",
        "kind": "RayCluster",
        "metadata": {"name": name},
        "spec": {
            "rayVersion": "2.60.0",
            "headGroupSpec": {
                "rayStartParams": {"num-cpus": "1"},
                "template": template("ray-head", "2", "1Gi"),
            },
            "workerGroupSpecs": [{
                "groupName": "workers",
                "replicas": workers,
                "minReplicas": 0,
                "maxReplicas": 1000,
                "rayStartParams": {"num-cpus": "1"},
                "template": template("ray-worker", "1", "512Mi"),
            }],
        },
    })
}

/// The objects of one cluster as the operator made them, fit to be created again by somebody else.
#[derive(Debug, Clone)]
pub(crate) struct Model {
    cluster: String,
    /// (`pods` or `services`, object).
    pub(crate) objects: Vec<(&'static str, Value)>,
}

impl Model {
    /// Learns from a cluster that is ready.
    ///
    /// # Errors
    ///
    /// It is not there.
    pub(crate) async fn learn(client: &Client, cluster: &str) -> anyhow::Result<Self> {
        let mut objects = Vec::new();
        for kind in ["pods", "services"] {
            let list = get(client, &collection(OURS, kind)).await?;
            let items = list.get("items").and_then(Value::as_array).context("no list")?;
            let ours = items.iter().filter(|object| {
                let name = object.pointer("/metadata/name").and_then(Value::as_str).unwrap_or_default();
                name.starts_with(&format!("{cluster}-"))
            });
            objects.extend(ours.map(|object| (kind, strip(object.clone()))));
        }
        Ok(Self { cluster: cluster.to_owned(), objects })
    }

    /// The same objects for a cluster of another name.
    ///
    /// # Errors
    ///
    /// The name does not fit into JSON.
    pub(crate) fn named(&self, name: &str) -> anyhow::Result<Vec<(&'static str, Value)>> {
        self.objects.iter().map(|(kind, object)| Ok((*kind, rename(object, &self.cluster, name)?))).collect()
    }
}

/// An object in which every mention of one cluster's name is another's.
///
/// # Errors
///
/// The name does not fit into JSON.
pub(crate) fn rename(object: &Value, from: &str, to: &str) -> anyhow::Result<Value> {
    Ok(serde_json::from_str(&object.to_string().replace(from, to))?)
}

/// Takes out what the API server and the scheduler put in, and the owner.
fn strip(mut object: Value) -> Value {
    let mut remove = |pointer: &str, keys: &[&str]| {
        if let Some(map) = object.pointer_mut(pointer).and_then(Value::as_object_mut) {
            keys.iter().for_each(|key| drop(map.remove(*key)));
        }
    };
    let meta =
        ["uid", "resourceVersion", "creationTimestamp", "managedFields", "ownerReferences", "generation", "namespace"];
    remove("/metadata", &meta);
    remove("", &["status"]);
    remove("/spec", &["nodeName", "serviceAccount", "serviceAccountName", "tolerations"]);
    // The token of the service account; admission adds it again.
    let is_token = |value: &Value| {
        let name = value.get("name").and_then(Value::as_str).unwrap_or_default();
        name.starts_with("kube-api-access-")
    };
    let mut prune = |list: &mut Value| {
        if let Some(list) = list.as_array_mut() {
            list.retain(|entry| !is_token(entry));
        }
    };
    if let Some(volumes) = object.pointer_mut("/spec/volumes") {
        prune(volumes);
    }
    for kind in ["/spec/containers", "/spec/initContainers"] {
        let containers = object.pointer_mut(kind).and_then(Value::as_array_mut);
        let mounts = containers.into_iter().flatten().filter_map(|container| container.get_mut("volumeMounts"));
        mounts.for_each(&mut prune);
    }
    object
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_put_in_is_taken_out() {
        let pod = json!({
            "metadata": {"name": "m-head", "uid": "u", "labels": {"a": "m"}, "ownerReferences": []},
            "spec": {
                "nodeName": "n",
                "volumes": [{"name": "kube-api-access-x"}, {"name": "shared"}],
                "containers": [{"name": "ray", "volumeMounts": [{"name": "kube-api-access-x"}, {"name": "shared"}]}],
            },
            "status": {"phase": "Running"},
        });
        let expected = json!({
            "metadata": {"name": "m-head", "labels": {"a": "m"}},
            "spec": {
                "volumes": [{"name": "shared"}],
                "containers": [{"name": "ray", "volumeMounts": [{"name": "shared"}]}],
            },
        });
        assert_eq!(strip(pod), expected);
    }

    #[test]
    fn a_model_takes_other_names() {
        let model =
            Model { cluster: "model".into(), objects: vec![("pods", json!({"metadata": {"name": "model-head"}}))] };
        assert_eq!(model.named("c1").unwrap(), [("pods", json!({"metadata": {"name": "c1-head"}}))]);
    }
}
