//! Loading of cases: an input and what KubeRay made of it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use ray_api::gates::GateError;
use ray_core::config::OperatorConfig;
use serde::Deserialize;
use serde_json::Value;

/// One folder of `tests/golden`.
#[derive(Debug)]
pub struct Case {
    /// Name of the folder, `NNN-subject-detail`.
    pub name: String,
    /// The objects that were created, in order; the last is the one the case is about.
    pub input: Vec<Value>,
    /// How KubeRay was configured.
    pub operator: Operator,
    /// What was there once everything had settled.
    pub observed: Observed,
    /// Later changes and what was there after each.
    pub steps: Vec<Step>,
}

/// Configuration of KubeRay in a case.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Operator {
    /// Command-line flags.
    #[serde(default)]
    pub flags: Vec<String>,
    /// Environment variables.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// Content of the configuration file.
    pub config: Option<Value>,
}

/// What was in the API server, in normal form.
#[derive(Debug)]
pub struct Observed {
    /// Status, events and lists of names.
    pub observation: Value,
    /// The objects, pods first.
    pub objects: Vec<Value>,
}

/// A later change.
#[derive(Debug)]
pub struct Step {
    /// `patch`, `delete` or `delete-pod`, with their arguments.
    pub change: Value,
    /// What was there afterwards.
    pub observed: Observed,
}

/// Where the cases are.
pub fn golden_dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

/// All cases, by name.
pub fn all_cases() -> Vec<Case> {
    case_dirs().iter().map(|dir| load_case(dir)).collect()
}

/// The case of this number.
pub fn case(number: u32) -> Case {
    let prefix = format!("{number:03}-");
    let named = |dir: &PathBuf| dir.file_name().unwrap().to_str().unwrap().starts_with(&prefix);
    load_case(&case_dirs().into_iter().find(named).unwrap())
}

fn case_dirs() -> Vec<PathBuf> {
    let entries = fs::read_dir(golden_dir()).unwrap().map(|entry| entry.unwrap().path());
    let mut dirs: Vec<PathBuf> = entries.filter(|path| path.join("input.yaml").exists()).collect();
    dirs.sort();
    dirs
}

/// Reads one case.
pub fn load_case(dir: &Path) -> Case {
    let operator = dir.join("operator.yaml");
    let operator = if operator.exists() {
        serde_saphyr::from_str(&fs::read_to_string(operator).unwrap()).unwrap()
    } else {
        Operator::default()
    };
    let steps = (1..)
        .map(|step| (dir.join(format!("step-{step}.yaml")), dir.join(format!("observed-{step}.yaml"))))
        .take_while(|(change, _)| change.exists())
        .map(|(change, observed)| Step { change: documents(&change).remove(0), observed: load_observed(&observed) })
        .collect();
    Case {
        name: dir.file_name().unwrap().to_str().unwrap().to_owned(),
        input: documents(&dir.join("input.yaml")),
        operator,
        observed: load_observed(&dir.join("observed.yaml")),
        steps,
    }
}

fn load_observed(path: &Path) -> Observed {
    let mut documents = documents(path);
    let observation = documents.remove(0)["observation"].take();
    Observed { observation, objects: documents }
}

fn documents(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap();
    // Unquoted `y` and `no` are text, as for the API server's YAML.
    let options = serde_saphyr::options! { strict_booleans: true };
    serde_saphyr::from_multiple_with_options(&text, options)
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

impl Case {
    /// The RayCluster of the case, if it is about one.
    pub fn cluster(&self) -> Option<&Value> {
        self.input.last().filter(|object| object["kind"] == "RayCluster")
    }
}

impl Observed {
    /// Reasons of the events.
    pub fn event_reasons(&self) -> Vec<&str> {
        self.events().filter_map(|event| event["reason"].as_str()).collect()
    }

    /// The events.
    pub fn events(&self) -> impl Iterator<Item = &Value> {
        self.observation["events"].as_array().into_iter().flatten()
    }

    /// Field paths for which the API server refused the input; `None` if it did not.
    pub fn refused_fields(&self) -> Option<Vec<&str>> {
        let causes = self.observation.get("refusedByApiServer")?["causes"].as_array();
        Some(causes.into_iter().flatten().filter_map(|cause| cause["field"].as_str()).collect())
    }

    /// Kinds of objects that KubeRay tried to create and the API server refused: `Service`, `HeadPod`, `WorkerPod`.
    pub fn refused_creations(&self) -> Vec<&str> {
        self.event_reasons().into_iter().filter_map(|reason| reason.strip_prefix("FailedToCreate")).collect()
    }
}

impl Operator {
    /// The same configuration for us.
    ///
    /// # Errors
    ///
    /// The first setting that we do not have (yet).
    pub fn config(&self) -> Result<OperatorConfig, String> {
        let mut config = OperatorConfig::default();
        if self.config.is_some() {
            return Err("configuration file".to_owned());
        }
        for flag in &self.flags {
            match flag.strip_prefix("--feature-gates=") {
                Some(gates) => config.gates = gates.parse().map_err(|error: GateError| error.to_string())?,
                None => return Err(format!("flag {flag}")),
            }
        }
        for (name, value) in &self.env {
            let on = value.eq_ignore_ascii_case("true");
            let off = value.eq_ignore_ascii_case("false");
            match name.as_str() {
                "ENABLE_INIT_CONTAINER_INJECTION" => config.inject_init_container = !off,
                "ENABLE_PROBES_INJECTION" => config.inject_probes = !off,
                "ENABLE_RAY_HEAD_CLUSTER_IP_SERVICE" => config.head_cluster_ip_service = on,
                "ENABLE_LOGIN_SHELL" => config.login_shell = on,
                // Our names are always known before the call.
                "ENABLE_DETERMINISTIC_HEAD_POD_NAME" => {}
                _ => return Err(format!("environment variable {name}")),
            }
        }
        Ok(config)
    }
}
