//! A small world around the core: an API server that accepts everything and a kubelet that makes every pod ready.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use ray_api::RayCluster;
use ray_core::config::OperatorConfig;
use ray_core::observed::{Memory, Observed};
use ray_core::plan::{Action, Event, Outcome, Write, plan};
use ray_core::report::report;
use serde_json::{Value, json};

/// The world of one cluster.
#[derive(Debug)]
pub struct World {
    /// The RayCluster as JSON, with its status.
    pub cluster: Value,
    /// Pods, oldest first.
    pub pods: Vec<Value>,
    /// Services by name.
    pub services: BTreeMap<String, Value>,
    /// Events since [`World::take_events`].
    events: Vec<Event>,
    /// The time; every pass takes a second.
    now: Timestamp,
    config: OperatorConfig,
    uids: u32,
}

impl World {
    /// A world in which somebody just created the cluster.
    pub fn new(mut cluster: Value, config: OperatorConfig) -> Self {
        cluster["metadata"]["uid"] = "00000000-0000-0000-0000-000000000001".into();
        cluster["metadata"]["generation"] = 1.into();
        let now = "2026-01-01T00:00:00Z".parse().unwrap();
        Self { cluster, pods: vec![], services: BTreeMap::new(), events: vec![], now, config, uids: 0 }
    }

    /// Passes and kubelets take turns until nothing changes any more.
    pub fn settle(&mut self) {
        for _ in 0..100 {
            let passed = self.pass();
            let moved = self.kubelet();
            if !passed && !moved {
                return;
            }
        }
        panic!("not settled after 100 rounds:\n{}", serde_json::to_string_pretty(&self.cluster["status"]).unwrap());
    }

    /// Merges a change into the spec, as a user would.
    pub fn patch(&mut self, patch: &Value) {
        merge(&mut self.cluster, patch);
        let generation = self.cluster["metadata"]["generation"].as_i64().unwrap();
        self.cluster["metadata"]["generation"] = (generation + 1).into();
    }

    /// Deletes the first pod of these labels, as a user would.
    pub fn delete_pod(&mut self, labels: &Value) {
        let matches = |pod: &&mut Value| {
            labels.as_object().unwrap().iter().all(|(key, value)| pod["metadata"]["labels"][key] == *value)
        };
        let pod = self.pods.iter_mut().find(matches).expect("a pod of these labels");
        pod["metadata"]["deletionTimestamp"] = self.now.to_string().into();
    }

    /// The events since the last call.
    pub fn take_events(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.events)
    }

    /// The view of the operator.
    pub fn observed(&self) -> Observed {
        let slim = |object: &Value| serde_json::from_value(object.clone()).unwrap();
        Observed {
            cluster: serde_json::from_value::<RayCluster>(self.cluster.clone()).unwrap(),
            pods: self.pods.iter().map(|pod| Arc::new(slim(pod))).collect(),
            services: self
                .services
                .values()
                .map(|service| Arc::new(serde_json::from_value(service.clone()).unwrap()))
                .collect(),
            memory: Memory::default(),
        }
    }

    /// One pass of the operator. Returns whether anything was written.
    pub fn pass(&mut self) -> bool {
        self.now += SignedDuration::from_secs(3);
        let observed = self.observed();
        let verdict = plan(&observed, &self.config, self.now);
        let writes: Vec<Write> = verdict.writes().cloned().collect();
        let outcomes: Vec<Outcome> = writes.iter().map(|write| self.write(write)).collect();
        let report = report(&observed, &verdict, &outcomes, &self.config, self.now);
        self.events.extend(report.events);
        let wrote_status = report.status.is_some();
        if let Some(status) = report.status {
            merge(&mut self.cluster, &status.patch);
        }
        !writes.is_empty() || wrote_status
    }

    fn write(&mut self, write: &Write) -> Outcome {
        match &write.action {
            Action::CreatePod { pod, name, .. } => {
                assert!(!self.pods.iter().any(|pod| pod["metadata"]["name"] == **name), "{name} exists");
                let mut pod = serde_json::to_value(pod).unwrap();
                self.uids += 1;
                pod["metadata"]["uid"] = format!("pod-{}", self.uids).into();
                pod["metadata"]["creationTimestamp"] = self.now.to_string().into();
                pod["status"] = json!({"phase": "Pending"});
                self.pods.push(pod);
            }
            Action::CreateService { service, name } => {
                let mut service = serde_json::to_value(service).unwrap();
                let headless = service["spec"]["clusterIP"] == "None";
                let typed = service["spec"]["type"].as_str().unwrap_or("ClusterIP").to_owned();
                if !headless {
                    service["spec"]["clusterIP"] = "<clusterIP>".into();
                }
                if typed == "NodePort" || typed == "LoadBalancer" {
                    for (index, port) in service["spec"]["ports"].as_array_mut().unwrap().iter_mut().enumerate() {
                        port["nodePort"] = (30000 + index).into();
                    }
                }
                assert!(self.services.insert(name.clone(), service).is_none(), "{name} exists");
            }
            Action::DeletePod { name, uid, .. } => {
                let pod = self.pods.iter_mut().find(|pod| pod["metadata"]["uid"] == **uid).expect("the pod to delete");
                assert_eq!(pod["metadata"]["name"], **name);
                pod["metadata"]["deletionTimestamp"] = self.now.to_string().into();
            }
        }
        Outcome::Done
    }

    /// Leaving pods go, the others become ready. Returns whether anything changed.
    fn kubelet(&mut self) -> bool {
        let before = self.pods.clone();
        self.pods.retain(|pod| pod["metadata"].get("deletionTimestamp").is_none_or(Value::is_null));
        for pod in &mut self.pods {
            pod["spec"]["nodeName"] = "node".into();
            pod["status"]["phase"] = "Running".into();
            pod["status"]["podIP"] = "<podIP>".into();
            if pod["status"]["conditions"].is_null() {
                let since = self.now.to_string();
                pod["status"]["conditions"] = json!([{"type": "Ready", "status": "True", "lastTransitionTime": since}]);
            }
        }
        self.pods != before
    }
}

/// JSON merge patch (RFC 7386).
pub fn merge(target: &mut Value, patch: &Value) {
    let Value::Object(patch) = patch else {
        *target = patch.clone();
        return;
    };
    if !target.is_object() {
        *target = json!({});
    }
    for (key, value) in patch {
        if value.is_null() {
            target.as_object_mut().unwrap().remove(key);
        } else {
            merge(&mut target[key], value);
        }
    }
}
