//! What was asked of the API server, from its own audit log.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Seek, SeekFrom};
use std::path::PathBuf;

use anyhow::Context;
use jiff::Timestamp;
use serde::Deserialize;

/// How the operator's requests begin to name themselves.
const OPERATOR: &str = "ray-operator/";

/// One request that was answered.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    /// `get`, `list`, `create`, `patch`, `delete`.
    pub(crate) verb: String,
    /// Plural, with the subresource after a slash.
    pub(crate) resource: String,
    /// Name of the object, if it is about one.
    pub(crate) name: String,
    /// HTTP status.
    pub(crate) code: u16,
    /// When the answer was sent.
    pub(crate) answered: Timestamp,
}

impl Request {
    /// Whether it can change something.
    pub(crate) fn is_write(&self) -> bool {
        !matches!(self.verb.as_str(), "get" | "list")
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
    stage_timestamp: Timestamp,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Object {
    resource: String,
    subresource: String,
    name: String,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Response {
    code: u16,
}

/// The log.
#[derive(Debug)]
pub(crate) struct Audit {
    path: PathBuf,
}

/// A place in the log: the present of some moment.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mark(u64);

impl Audit {
    /// The log in this file.
    pub(crate) fn new(path: PathBuf) -> Self {
        Self { path }
    }

    /// The present.
    ///
    /// # Errors
    ///
    /// There is no log.
    pub(crate) fn mark(&self) -> anyhow::Result<Mark> {
        Ok(Mark(std::fs::metadata(&self.path).context("the API server writes no audit log")?.len()))
    }

    /// The operator's requests since then, watches left out, in the order of their answers. The server writes a line before
    /// it sends the answer, so what was answered is in it.
    ///
    /// # Errors
    ///
    /// The log cannot be read.
    pub(crate) fn operator_since(&self, mark: Mark) -> anyhow::Result<Vec<Request>> {
        let mut file = std::fs::File::open(&self.path)?;
        file.seek(SeekFrom::Start(mark.0))?;
        let mut requests = Vec::new();
        for line in BufReader::new(file).lines().map_while(Result::ok).filter(|line| line.contains(OPERATOR)) {
            // Half a line at the end is no line yet.
            let Ok(line) = serde_json::from_str::<Line>(&line) else { continue };
            if line.stage != "ResponseComplete" || line.verb == "watch" || !line.user_agent.starts_with(OPERATOR) {
                continue;
            }
            let object = line.object_ref;
            let slash = if object.subresource.is_empty() { "" } else { "/" };
            requests.push(Request {
                verb: line.verb,
                resource: format!("{}{slash}{}", object.resource, object.subresource),
                name: object.name,
                code: line.response_status.code,
                answered: line.stage_timestamp,
            });
        }
        Ok(requests)
    }
}

/// Requests by kind, as text: `events 2, pods 4`.
pub(crate) fn by_kind<'a>(requests: impl Iterator<Item = &'a Request>) -> String {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for request in requests {
        let failed = if request.code >= 400 { format!(" answered {}", request.code) } else { String::new() };
        let count = counts.entry(format!("{} {}{failed}", request.verb, request.resource)).or_default();
        *count = count.saturating_add(1);
    }
    counts.iter().map(|(kind, count)| format!("{kind} {count}")).collect::<Vec<_>>().join(", ")
}
