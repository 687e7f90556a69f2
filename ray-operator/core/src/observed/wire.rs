//! The API server's JSON, as far as the slim types read it. serde skips everything not named here.

use std::collections::BTreeMap;

use jiff::Timestamp;
use ray_api::{annotations, labels};
use serde::Deserialize;

use super::container::{ContainerState, ObservedContainer};
use super::pod::{NodeType, ObservedPod, Phase, PodCondition, RestartPolicy};
use super::service::{ObservedService, ObservedServicePort, TargetPort};

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Meta {
    namespace: String,
    name: String,
    uid: String,
    resource_version: String,
    creation_timestamp: Option<Timestamp>,
    deletion_timestamp: Option<Timestamp>,
    labels: Option<BTreeMap<String, String>>,
    annotations: Option<BTreeMap<String, String>>,
    owner_references: Option<Vec<OwnerReference>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct OwnerReference {
    uid: String,
    name: String,
    controller: Option<bool>,
}

impl Meta {
    fn owner(&self) -> Option<&OwnerReference> {
        self.owner_references.as_ref()?.iter().find(|owner| owner.controller == Some(true))
    }

    fn label(&self, key: &str) -> Option<&str> {
        self.labels.as_ref()?.get(key).map(String::as_str)
    }

    fn annotation(&self, key: &str) -> Option<&str> {
        self.annotations.as_ref()?.get(key).map(String::as_str)
    }
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Pod {
    metadata: Meta,
    spec: PodSpec,
    status: PodStatus,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct PodSpec {
    node_name: Option<String>,
    restart_policy: Option<String>,
    containers: Vec<Named>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Named {
    name: String,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct PodStatus {
    phase: Option<String>,
    reason: Option<String>,
    message: Option<String>,
    #[serde(rename = "podIP")]
    pod_ip: Option<String>,
    conditions: Option<Vec<Condition>>,
    init_container_statuses: Option<Vec<ContainerStatus>>,
    container_statuses: Option<Vec<ContainerStatus>>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Condition {
    r#type: String,
    status: String,
    reason: Option<String>,
    message: Option<String>,
    last_transition_time: Option<Timestamp>,
}

impl Condition {
    fn slim(&self) -> PodCondition {
        PodCondition {
            status: self.status.clone(),
            reason: self.reason.clone().unwrap_or_default(),
            message: self.message.clone().unwrap_or_default(),
            since: self.last_transition_time,
        }
    }
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct ContainerStatus {
    name: String,
    restart_count: i32,
    state: Option<State>,
    last_state: Option<State>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct State {
    waiting: Option<Waiting>,
    running: Option<serde::de::IgnoredAny>,
    terminated: Option<Terminated>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Waiting {
    reason: Option<String>,
    message: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Terminated {
    reason: Option<String>,
    message: Option<String>,
    exit_code: i32,
    finished_at: Option<Timestamp>,
}

impl From<ContainerStatus> for ObservedContainer {
    fn from(wire: ContainerStatus) -> Self {
        let state = match wire.state {
            Some(State { terminated: Some(t), .. }) => ContainerState::Terminated {
                reason: t.reason.unwrap_or_default(),
                message: t.message.unwrap_or_default(),
                exit_code: t.exit_code,
                finished_at: t.finished_at,
            },
            Some(State { waiting: Some(w), .. }) => {
                ContainerState::Waiting { reason: w.reason.unwrap_or_default(), message: w.message.unwrap_or_default() }
            }
            Some(State { running: Some(_), .. }) => ContainerState::Running,
            _ => ContainerState::Unknown,
        };
        let last_exit_code = wire.last_state.and_then(|last| last.terminated).map(|t| t.exit_code);
        Self { name: wire.name, state, last_exit_code, restart_count: wire.restart_count }
    }
}

impl From<Pod> for ObservedPod {
    fn from(Pod { metadata, spec, status }: Pod) -> Self {
        let conditions = status.conditions.unwrap_or_default();
        let condition = |kind: &str| conditions.iter().find(|c| c.r#type == kind).map(Condition::slim);
        let node_type = match metadata.label(labels::NODE_TYPE) {
            Some("head") => NodeType::Head,
            Some("worker") => NodeType::Worker,
            _ => NodeType::Other,
        };
        let group = metadata.label(labels::GROUP).unwrap_or_default().to_owned();
        let replica_index = metadata.label(labels::REPLICA_INDEX).and_then(|v| v.parse().ok());
        let ordinal = metadata.annotation(crate::build::POD_ORDINAL).and_then(|v| v.parse().ok()).unwrap_or(0).max(0);
        let deletion_cost = metadata.annotation(annotations::POD_DELETION_COST).and_then(|v| v.parse().ok());
        let phase = match status.phase.as_deref() {
            Some("Running") => Phase::Running,
            Some("Succeeded") => Phase::Succeeded,
            Some("Failed") => Phase::Failed,
            Some("Unknown") => Phase::Unknown,
            _ => Phase::Pending,
        };
        let restart_policy = match spec.restart_policy.as_deref() {
            Some("Never") => RestartPolicy::Never,
            Some("OnFailure") => RestartPolicy::OnFailure,
            _ => RestartPolicy::Always,
        };
        let slim = |statuses: Option<Vec<ContainerStatus>>| {
            statuses.unwrap_or_default().into_iter().map(ObservedContainer::from).collect()
        };
        // Ownership and reserved labels decide together. A pod that was given another cluster's label is left alone, as a
        // ReplicaSet leaves what it no longer selects; live lists, which go by label, do not find it either.
        let labelled = metadata.label(labels::CLUSTER);
        let owner = metadata.owner().filter(|owner| labelled.is_none_or(|label| label == owner.name));
        Self {
            owner_uid: owner.map(|owner| owner.uid.clone()),
            node_type,
            group,
            replica_index,
            ordinal,
            deletion_cost: deletion_cost.unwrap_or(0),
            created: metadata.creation_timestamp,
            deletion: metadata.deletion_timestamp,
            namespace: metadata.namespace,
            name: metadata.name,
            uid: metadata.uid,
            resource_version: metadata.resource_version,
            node_name: spec.node_name,
            restart_policy,
            ray_container: spec.containers.into_iter().next().map(|c| c.name).unwrap_or_default(),
            phase,
            status_reason: status.reason.unwrap_or_default(),
            status_message: status.message.unwrap_or_default(),
            pod_ip: status.pod_ip.filter(|ip| !ip.is_empty()),
            ready: condition("Ready"),
            scheduled: condition("PodScheduled"),
            init_containers: slim(status.init_container_statuses),
            containers: slim(status.container_statuses),
        }
    }
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Service {
    metadata: Meta,
    spec: ServiceSpec,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct ServiceSpec {
    #[serde(rename = "clusterIP")]
    cluster_ip: Option<String>,
    ports: Option<Vec<ServicePort>>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct ServicePort {
    name: Option<String>,
    port: i32,
    target_port: Option<IntOrString>,
    node_port: Option<i32>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum IntOrString {
    Int(i32),
    String(String),
}

impl From<Service> for ObservedService {
    fn from(Service { metadata, spec }: Service) -> Self {
        let ports = spec.ports.unwrap_or_default().into_iter().map(|port| ObservedServicePort {
            name: port.name.unwrap_or_default(),
            target: match port.target_port {
                Some(IntOrString::String(name)) => TargetPort::Name(name),
                Some(IntOrString::Int(number)) => TargetPort::Number(number),
                None => TargetPort::Number(port.port),
            },
            node_port: port.node_port.filter(|port| *port != 0),
        });
        Self {
            owner_uid: metadata.owner().map(|owner| owner.uid.clone()),
            ports: ports.collect(),
            leaving: metadata.deletion_timestamp.is_some(),
            namespace: metadata.namespace,
            name: metadata.name,
            uid: metadata.uid,
            resource_version: metadata.resource_version,
            cluster_ip: spec.cluster_ip.filter(|ip| !ip.is_empty()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{ContainerState, NodeType, ObservedPod, ObservedService, Phase, RestartPolicy, TargetPort};

    #[test]
    fn a_pod_is_read_from_the_api_servers_json() {
        let pod: ObservedPod = serde_json::from_str(
            r#"{"metadata":{"name":"w","namespace":"n","uid":"u","resourceVersion":"7",
                "managedFields":[{"a":1}],"creationTimestamp":"2026-01-02T03:04:05Z","deletionTimestamp":null,
                "labels":{"ray.io/node-type":"worker","ray.io/group":"g","ray.io/worker-group-replica-index":"3"},
                "annotations":{"controller.kubernetes.io/pod-deletion-cost":"-5"},
                "ownerReferences":[{"uid":"x"},{"uid":"c","controller":true}]},
                "spec":{"nodeName":"node","restartPolicy":"Never","containers":[{"name":"ray"},{"name":"side"}]},
                "status":{"phase":"Running","podIP":"10.0.0.1",
                "conditions":[{"type":"Ready","status":"False","reason":"ContainersNotReady",
                "lastTransitionTime":"2026-01-02T03:04:06Z"}],
                "containerStatuses":[{"name":"side","state":{"running":{}}},
                {"name":"ray","restartCount":2,"state":{"terminated":{"exitCode":137,"reason":"OOMKilled",
                "finishedAt":"2026-01-02T03:05:00Z"}},"lastState":{"terminated":{"exitCode":1}}}]}}"#,
        )
        .unwrap();
        assert_eq!(pod.owner_uid.as_deref(), Some("c"));
        assert_eq!((pod.node_type, pod.group.as_str(), pod.replica_index), (NodeType::Worker, "g", Some(3)));
        assert_eq!((pod.deletion_cost, pod.ordinal), (-5, 0));
        assert_eq!((pod.phase, pod.restart_policy), (Phase::Running, RestartPolicy::Never));
        assert!(!pod.is_leaving() && !pod.is_ready() && !pod.is_running_and_ready());
        assert!(matches!(pod.ray_state(), ContainerState::Terminated { exit_code: 137, .. }));
        assert_eq!(pod.ended_at(), Some("2026-01-02T03:05:00Z".parse().unwrap()));
        assert_eq!(pod.max_restarts(), 2);
    }

    #[test]
    fn a_pod_belongs_to_its_owner_only_under_its_label() {
        for (label, expected) in [("demo", Some("c")), ("other", None)] {
            let pod: ObservedPod = serde_json::from_value(serde_json::json!({"metadata": {
                "labels": {"ray.io/cluster": label},
                "ownerReferences": [{"uid": "c", "name": "demo", "controller": true}]}}))
            .unwrap();
            assert_eq!(pod.owner_uid.as_deref(), expected);
        }
    }

    #[test]
    fn an_empty_object_is_no_error() {
        let pod: ObservedPod = serde_json::from_str("{}").unwrap();
        assert_eq!(pod.phase, Phase::Pending);
        let service: ObservedService = serde_json::from_str("{}").unwrap();
        assert!(service.ports.is_empty());
    }

    #[test]
    fn a_service_port_leads_where_its_target_says() {
        let service: ObservedService = serde_json::from_str(
            r#"{"spec":{"clusterIP":"None","ports":[{"name":"a","port":1,"targetPort":"x"},
                {"name":"b","port":2,"targetPort":3,"nodePort":30000},{"name":"c","port":4}]}}"#,
        )
        .unwrap();
        let targets: Vec<_> = service.ports.iter().map(|p| (p.target.clone(), p.node_port)).collect();
        assert_eq!(
            targets,
            [(TargetPort::Name("x".into()), None), (TargetPort::Number(3), Some(30000)), (TargetPort::Number(4), None)]
        );
    }
}
