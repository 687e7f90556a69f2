//! What was asked of the API server, from its own audit log.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;

use serde::Deserialize;

/// One request that was answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// `get`, `list`, `watch`, `create`, `patch`, `delete`, ….
    pub verb: String,
    /// Plural, with the subresource after a slash: `rayclusters/status`.
    pub resource: String,
    /// Name of the object, if the request is about one.
    pub name: String,
    /// HTTP status of the answer.
    pub code: u16,
}

impl std::fmt::Display for Request {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {} {} -> {}", self.verb, self.resource, self.name, self.code)
    }
}

impl Request {
    /// Whether it can change something.
    #[must_use]
    pub fn is_write(&self) -> bool {
        !matches!(self.verb.as_str(), "get" | "list" | "watch")
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Line {
    stage: String,
    verb: String,
    #[serde(default)]
    user_agent: String,
    #[serde(default)]
    object_ref: Object,
    #[serde(default)]
    response_status: Response,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Object {
    resource: String,
    subresource: String,
    namespace: String,
    name: String,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Response {
    code: u16,
}

/// Reads the log. Written before each answer is sent, so that what was answered is in it.
#[derive(Debug, Clone)]
pub struct Audit {
    path: PathBuf,
    namespace: String,
}

impl Audit {
    pub(crate) fn new(path: PathBuf, namespace: &str) -> Self {
        Self { path, namespace: namespace.to_owned() }
    }

    /// Requests of operators in this namespace so far, watches left out, in the order of their ends.
    ///
    /// # Panics
    ///
    /// When the log cannot be read.
    #[must_use]
    pub fn requests(&self) -> Vec<Request> {
        self.of(&format!("ray-operator/{}/", self.namespace))
    }

    /// The writes among them.
    #[must_use]
    pub fn writes(&self) -> Vec<Request> {
        self.requests().into_iter().filter(Request::is_write).collect()
    }

    /// Writes of one resource (`pods`, `rayclusters/status`) so far, by verb.
    #[must_use]
    pub fn count(&self, verb: &str, resource: &str) -> usize {
        self.requests().iter().filter(|request| request.verb == verb && request.resource == resource).count()
    }

    /// Requests of those whose `User-Agent` begins with `user_agent`.
    ///
    /// # Panics
    ///
    /// When the log cannot be read.
    #[must_use]
    pub fn of(&self, user_agent: &str) -> Vec<Request> {
        let file = BufReader::new(std::fs::File::open(&self.path).expect("the audit log"));
        let mut requests = Vec::new();
        // The last line may be half written.
        for line in file.lines().map_while(Result::ok) {
            if !line.contains(user_agent) {
                continue;
            }
            let Ok(line) = serde_json::from_str::<Line>(&line) else { continue };
            let ours = line.user_agent.starts_with(user_agent) && line.object_ref.namespace == self.namespace;
            if ours && line.stage == "ResponseComplete" && line.verb != "watch" {
                let object = line.object_ref;
                let dot = if object.subresource.is_empty() { "" } else { "/" };
                requests.push(Request {
                    verb: line.verb,
                    resource: format!("{}{dot}{}", object.resource, object.subresource),
                    name: object.name,
                    code: line.response_status.code,
                });
            }
        }
        requests
    }
}
