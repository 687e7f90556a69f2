//! Single writes, each with a deadline, the whole process never more than so many at a time.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use k8s_openapi::api::core::v1::{Pod, Service};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::core::params::{DeleteParams, GetParams, Patch, PatchParams, PostParams, Preconditions};
use kube::core::{Request, Status};
use kube::{Client, Error};
use ray_api::labels;
use ray_core::plan::{WriteError, WriteErrorKind};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::sync::Semaphore;

use super::pace::Pace;
use crate::cache::version;
use crate::metrics::Metrics;

/// Who wrote it, in managed fields.
const FIELD_MANAGER: &str = "ray-operator";
/// How long one request may take, waiting for its turn not counted.
const DEADLINE: Duration = Duration::from_secs(15);

/// Writes to the API server.
#[derive(Clone)]
pub struct WriteApi {
    client: Client,
    turns: Arc<Semaphore>,
    pace: Arc<Pace>,
    metrics: Metrics,
}

impl std::fmt::Debug for WriteApi {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WriteApi").finish_non_exhaustive()
    }
}

/// What became of a write; UID and resourceVersion of the object where they are known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// Done by this call.
    Done(Option<(String, u64)>),
    /// It was so already.
    AlreadySo(Option<(String, u64)>),
    /// Failed.
    Failed(WriteError),
}

/// Of an answer nothing else is read.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Slim {
    metadata: SlimMeta,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct SlimMeta {
    uid: String,
    resource_version: String,
    owner_references: Vec<SlimOwner>,
    labels: BTreeMap<String, String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct SlimOwner {
    uid: String,
    controller: bool,
}

impl SlimMeta {
    fn known(&self) -> (String, u64) {
        (self.uid.clone(), version(&self.resource_version))
    }

    fn belongs_to(&self, owner_uid: &str) -> bool {
        self.owner_references.iter().any(|owner| owner.controller && owner.uid == owner_uid)
    }

    /// By what we know a pod, where the API server has it otherwise than it was sent.
    fn changed(&self, sent: &ObjectMeta, owner_uid: &str) -> Option<&'static str> {
        let label = |key: &str| sent.labels.as_ref().and_then(|labels| labels.get(key));
        let reserved = [labels::CLUSTER, labels::NODE_TYPE, labels::GROUP];
        let changed = reserved.into_iter().find(|key| label(key) != self.labels.get(*key));
        changed.or_else(|| (!self.belongs_to(owner_uid)).then_some("metadata.ownerReferences"))
    }
}

impl WriteApi {
    /// Writes through `client`, at most `concurrency` at a time.
    #[must_use]
    pub fn new(client: Client, concurrency: usize, metrics: Metrics) -> Self {
        Self { client, turns: Arc::new(Semaphore::new(concurrency)), pace: Arc::default(), metrics }
    }

    /// Whether the API server has its hands full, so that what can wait should.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        self.pace.is_busy()
    }

    /// Creates a pod. One that exists and belongs to `owner_uid` is ours, made by an earlier call.
    ///
    /// A pod that lost its reserved labels or its owner on its way would be seen by no watch, or as one of another group, and
    /// made again and again. It is taken back.
    pub async fn create_pod(&self, namespace: &str, pod: &Pod, owner_uid: &str) -> Answer {
        let name = pod.metadata.name.as_deref().unwrap_or_default();
        let (answer, created) = self.create(namespace, "pods", name, pod, owner_uid).await;
        let Some((uid, field)) =
            created.and_then(|meta| Some((meta.uid.clone(), meta.changed(&pod.metadata, owner_uid)?)))
        else {
            return answer;
        };
        self.delete_pod(namespace, name, &uid).await;
        let text = format!("{field} of the pod was changed while it was created, by an admission webhook perhaps");
        // Its name is spent all the same.
        Answer::Failed(WriteError { kind: WriteErrorKind::NameTaken, message: text })
    }

    /// Creates a Service. One that exists and belongs to `owner_uid` is ours, made by an earlier call.
    pub async fn create_service(&self, namespace: &str, service: &Service, owner_uid: &str) -> Answer {
        let name = service.metadata.name.as_deref().unwrap_or_default();
        self.create(namespace, "services", name, service, owner_uid).await.0
    }

    /// Creates an object of the core API; the metadata of what was created is returned with the answer. One that exists and belongs to `owner_uid` is ours, made by an earlier call.
    async fn create<T: Serialize>(
        &self,
        namespace: &str,
        plural: &'static str,
        name: &str,
        object: &T,
        owner_uid: &str,
    ) -> (Answer, Option<SlimMeta>) {
        let kind = if plural == "pods" { "Pod" } else { "Service" };
        let body = match serde_json::to_vec(object) {
            Ok(body) => body,
            Err(error) => return (self.failed("create", kind, WriteErrorKind::Refused, error.to_string()), None),
        };
        let post = PostParams { field_manager: Some(FIELD_MANAGER.to_owned()), ..PostParams::default() };
        let path = format!("/api/v1/namespaces/{namespace}/{plural}");
        match self.send::<Slim>(Request::new(&path).create(&post, body)).await {
            Ok(created) => {
                let answer = self.counted("create", kind, Answer::Done(Some(created.metadata.known())));
                (answer, Some(created.metadata))
            }
            Err(Failure::Api(status)) if status.reason == "AlreadyExists" => {
                (self.whose(&path, name, owner_uid, kind, &status).await, None)
            }
            Err(failure) => (self.failure("create", kind, &failure), None),
        }
    }

    /// Whether the object that is in the way is our own.
    async fn whose(&self, path: &str, name: &str, owner_uid: &str, kind: &'static str, status: &Status) -> Answer {
        match self.send::<Slim>(Request::new(path).get(name, &GetParams::default())).await {
            Ok(existing) => {
                if existing.metadata.belongs_to(owner_uid) {
                    return self.counted("create", kind, Answer::AlreadySo(Some(existing.metadata.known())));
                }
                let text = format!("{}; it does not belong to this RayCluster", status.message);
                self.failed("create", kind, WriteErrorKind::NameTaken, text)
            }
            Err(_) => self.failed("create", kind, WriteErrorKind::Unknown, status.message.clone()),
        }
    }

    /// Deletes the pod of that UID, and no other that has its name by now.
    pub async fn delete_pod(&self, namespace: &str, name: &str, uid: &str) -> Answer {
        let preconditions = Preconditions { uid: Some(uid.to_owned()), resource_version: None };
        let params = DeleteParams { preconditions: Some(preconditions), ..DeleteParams::default() };
        let path = format!("/api/v1/namespaces/{namespace}/pods");
        match self.send::<serde::de::IgnoredAny>(Request::new(&path).delete(name, &params)).await {
            Ok(_) => self.counted("delete", "Pod", Answer::Done(None)),
            // Gone, or its name has a new bearer: either way the pod that was to go is gone.
            Err(Failure::Api(status)) if status.code == 404 || status.code == 409 => {
                self.counted("delete", "Pod", Answer::AlreadySo(None))
            }
            Err(failure) => self.failure("delete", "Pod", &failure),
        }
    }

    /// Merge-patches the status of a RayCluster; returns the object that came of it.
    ///
    /// # Errors
    ///
    /// What the API server or the transport said.
    pub async fn patch_status(&self, namespace: &str, name: &str, patch: &Value) -> Result<Value, WriteError> {
        let path = format!("/apis/ray.io/v1/namespaces/{namespace}/rayclusters");
        let params = PatchParams { field_manager: Some(FIELD_MANAGER.to_owned()), ..PatchParams::default() };
        let request = Request::new(&path).patch_subresource("status", name, &params, &Patch::Merge(patch));
        match self.send::<Value>(request).await {
            Ok(object) => {
                self.metrics.count_write("patch", "RayCluster", "done");
                Ok(object)
            }
            Err(failure) => match self.failure("patch", "RayCluster", &failure) {
                Answer::Failed(error) => Err(error),
                Answer::Done(_) | Answer::AlreadySo(_) => Ok(Value::Null),
            },
        }
    }

    /// Creates an Event.
    ///
    /// # Errors
    ///
    /// What the API server or the transport said.
    pub async fn create_event(&self, namespace: &str, event: &impl Serialize) -> Result<(), String> {
        let path = format!("/apis/events.k8s.io/v1/namespaces/{namespace}/events");
        let body = serde_json::to_vec(event).map_err(|error| error.to_string())?;
        let result = self.send::<serde::de::IgnoredAny>(Request::new(&path).create(&PostParams::default(), body)).await;
        self.metrics.count_write("create", "Event", if result.is_ok() { "done" } else { "failed" });
        result.map(|_| ()).map_err(|failure| failure.text())
    }

    async fn send<T: DeserializeOwned>(
        &self,
        request: Result<http::Request<Vec<u8>>, kube::core::request::Error>,
    ) -> Result<T, Failure> {
        let request = request.map_err(|error| Failure::NotSent(error.to_string()))?;
        let Ok(_turn) = self.turns.acquire().await else {
            return Err(Failure::NotSent("the operator is stopping".to_owned()));
        };
        let sent = Instant::now();
        let answer = tokio::time::timeout(DEADLINE, self.client.request(request)).await;
        self.pace.took(sent.elapsed());
        match answer {
            Ok(Ok(object)) => Ok(object),
            Ok(Err(Error::Api(status))) => Err(Failure::Api(status)),
            Ok(Err(error)) => Err(Failure::Unknown(error.to_string())),
            Err(_) => Err(Failure::Unknown(format!("no answer from the API server within {} s", DEADLINE.as_secs()))),
        }
    }

    fn failure(&self, verb: &'static str, kind: &'static str, failure: &Failure) -> Answer {
        self.failed(verb, kind, failure.kind(), failure.text())
    }

    fn failed(&self, verb: &'static str, kind: &'static str, error: WriteErrorKind, message: String) -> Answer {
        self.counted(verb, kind, Answer::Failed(WriteError { kind: error, message }))
    }

    fn counted(&self, verb: &'static str, kind: &'static str, answer: Answer) -> Answer {
        let result = match &answer {
            Answer::Done(_) => "done",
            Answer::AlreadySo(_) => "already",
            Answer::Failed(error) if error.kind == WriteErrorKind::Unknown => "failed",
            Answer::Failed(_) => "refused",
        };
        self.metrics.count_write(verb, kind, result);
        answer
    }
}

enum Failure {
    NotSent(String),
    Unknown(String),
    Api(Box<Status>),
}

impl Failure {
    fn kind(&self) -> WriteErrorKind {
        match self {
            Self::NotSent(_) => WriteErrorKind::Refused,
            Self::Unknown(_) => WriteErrorKind::Unknown,
            // A webhook that does not answer is a server error too, but comes before anything is stored.
            Self::Api(status) if status.message.contains("failed calling webhook") => WriteErrorKind::Refused,
            // With these the server may have done it all the same.
            Self::Api(status) if status.code >= 500 => WriteErrorKind::Unknown,
            Self::Api(_) => WriteErrorKind::Refused,
        }
    }

    fn text(&self) -> String {
        match self {
            Self::NotSent(text) | Self::Unknown(text) => text.clone(),
            Self::Api(status) => status.message.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn only_what_may_have_happened_is_of_unknown_end() {
        let webhook = "Internal error occurred: failed calling webhook \"x\": connection refused";
        for (code, message, expected) in [
            (403, "exceeded quota", WriteErrorKind::Refused),
            (429, "too many requests", WriteErrorKind::Refused),
            (500, webhook, WriteErrorKind::Refused),
            (500, "etcdserver: request timed out", WriteErrorKind::Unknown),
            (504, "timeout", WriteErrorKind::Unknown),
        ] {
            let status = Status { code, message: message.to_owned(), ..Status::default() };
            assert_eq!(Failure::Api(Box::new(status)).kind(), expected, "{code} {message}");
        }
    }

    #[test]
    fn a_pod_that_was_changed_on_its_way_is_told_by_its_reserved_labels_and_owner() {
        let sent =
            json!({"labels": {"ray.io/cluster": "c", "ray.io/node-type": "worker", "ray.io/group": "g", "x": "1"}});
        let sent: ObjectMeta = serde_json::from_value(sent).unwrap();
        let ours = json!([{"uid": "other"}, {"uid": "u", "controller": true}]);
        let changed = |cluster: Option<&str>, group: &str, owners: &Value| {
            let labels =
                json!({"ray.io/cluster": cluster.unwrap_or(""), "ray.io/node-type": "worker", "ray.io/group": group});
            let mut got = json!({"uid": "p", "labels": labels, "ownerReferences": owners});
            if cluster.is_none() {
                got["labels"].as_object_mut().unwrap().remove("ray.io/cluster");
            }
            serde_json::from_value::<SlimMeta>(got).unwrap().changed(&sent, "u")
        };
        assert_eq!(changed(Some("c"), "g", &ours), None);
        assert_eq!(changed(None, "g", &ours), Some("ray.io/cluster"));
        assert_eq!(changed(Some("c"), "other", &ours), Some("ray.io/group"));
        assert_eq!(changed(Some("c"), "g", &json!([{"uid": "u"}])), Some("metadata.ownerReferences"));
    }
}
