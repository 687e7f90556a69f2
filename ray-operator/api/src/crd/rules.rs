//! The CEL rules: what needs more than one field, or a text better than the schema's own.
//!
//! The same rules stand in [`crate::validation`] once more, because objects stored under an older definition or written
//! through `v1alpha1` never met these. What needs a feature gate, an annotation, a version comparison or a walk over
//! two lists at a time is only there.

use serde_json::{Value, json};

use super::{CrdError, path};

/// One rule at one place of the schema.
struct Rule {
    /// Where: see [`path`].
    at: &'static str,
    /// CEL that has to be true; `self` is the value at `at`.
    cel: String,
    /// What the user reads.
    message: &'static str,
    /// Kubernetes' word for the kind of mistake.
    reason: Reason,
    /// Field the message belongs to, below `at`.
    field: &'static str,
    /// Also evaluated with no old value to compare with; `oldSelf` is an optional then.
    optional_old_self: bool,
}

#[derive(Clone, Copy)]
enum Reason {
    Invalid,
    Forbidden,
    Required,
}

impl Reason {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Invalid => "FieldValueInvalid",
            Self::Forbidden => "FieldValueForbidden",
            Self::Required => "FieldValueRequired",
        }
    }
}

fn rule(at: &'static str, reason: Reason, cel: impl Into<String>, message: &'static str) -> Rule {
    Rule { at, cel: cel.into(), message, reason, field: "", optional_old_self: false }
}

impl Rule {
    fn on(self, field: &'static str) -> Self {
        Self { field, ..self }
    }

    fn at_creation_only(self) -> Self {
        // `oldSelf` exists from the first update on; by then the rule is not asked any more.
        Self { cel: format!("oldSelf.hasValue() || {}", self.cel), optional_old_self: true, ..self }
    }

    fn to_json(&self) -> Value {
        let mut json = json!({"rule": self.cel, "message": self.message, "reason": self.reason.as_str()});
        if let Value::Object(fields) = &mut json {
            if !self.field.is_empty() {
                fields.insert("fieldPath".into(), self.field.into());
            }
            if self.optional_old_self {
                fields.insert("optionalOldSelf".into(), true.into());
            }
        }
        json
    }
}

/// Puts all rules into the schema of the whole object.
///
/// # Errors
/// [`CrdError::NoSuchField`] if a path does not exist.
pub(super) fn apply(root: &mut Value) -> Result<(), CrdError> {
    for rule in all() {
        let schema = path::at(root, rule.at)?;
        let list = schema.entry("x-kubernetes-validations").or_insert_with(|| json!([]));
        if let Value::Array(list) = list {
            list.push(rule.to_json());
        }
    }
    Ok(())
}

/// Place, CEL and message of every rule, for documentation and tests.
#[must_use]
pub fn overview() -> Vec<(&'static str, String, &'static str)> {
    all().into_iter().map(|rule| (rule.at, rule.cel, rule.message)).collect()
}

fn all() -> Vec<Rule> {
    let mut rules = metadata();
    rules.extend(ownership());
    rules.extend(groups());
    rules.extend(scaling());
    rules.extend(fault_tolerance());
    rules.extend(auth());
    rules.extend(network_policy());
    rules.extend(history());
    rules
}

// Names cannot change, so these are asked at creation only: an object with a bad name from before this definition must
// still be able to lose its finalizers.
fn metadata() -> Vec<Rule> {
    vec![
        rule(
            "",
            Reason::Invalid,
            "size(self.metadata.name) <= 53",
            "metadata.name must have at most 53 characters: names of Services are made from it",
        )
        .at_creation_only(),
        rule(
            "",
            Reason::Invalid,
            "self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",
            "metadata.name must begin with a lower-case letter and hold only lower-case letters, digits and '-' (it \
             becomes part of DNS names)",
        )
        .at_creation_only(),
    ]
}

fn ownership() -> Vec<Rule> {
    vec![
        rule("spec.managedBy", Reason::Invalid, "self == oldSelf", "managedBy cannot be changed"),
        rule(
            "spec.managedBy",
            Reason::Invalid,
            "self in ['ray.io/kuberay-operator', 'kueue.x-k8s.io/multikueue']",
            "managedBy must be 'ray.io/kuberay-operator' or 'kueue.x-k8s.io/multikueue'",
        ),
    ]
}

/// `ray start` parameters that say the same as the field `resources`.
const RESOURCE_PARAMS: &str = "['num-cpus', 'num-gpus', 'memory', 'resources']";

fn groups() -> Vec<Rule> {
    let mut rules = vec![
        rule(
            "spec.workerGroupSpecs[].groupName",
            Reason::Invalid,
            "self.matches('^[A-Za-z0-9]([-A-Za-z0-9]*[A-Za-z0-9])?([.][A-Za-z0-9]([-A-Za-z0-9]*[A-Za-z0-9])?)*$')",
            "groupName must hold only letters, digits, '-' and '.', each part between dots beginning and ending with a \
             letter or digit (it becomes part of pod names and a label value)",
        ),
        rule(
            "spec.workerGroupSpecs[].groupName",
            Reason::Forbidden,
            "self != 'headgroup'",
            "groupName 'headgroup' is reserved for the head",
        ),
        rule(
            "spec.workerGroupSpecs[]",
            Reason::Invalid,
            "!has(self.minReplicas) || !has(self.maxReplicas) || self.minReplicas <= self.maxReplicas",
            "minReplicas must not be greater than maxReplicas",
        )
        .on(".minReplicas"),
    ];
    for group in ["spec.headGroupSpec", "spec.workerGroupSpecs[]"] {
        rules.push(
            rule(
                group,
                Reason::Required,
                "has(self.template.spec) && size(self.template.spec.containers) > 0",
                "template.spec.containers must not be empty: the first container runs Ray",
            )
            .on(".template"),
        );
        rules.push(
            rule(
                group,
                Reason::Forbidden,
                "!has(self.rayStartParams) || !('labels' in self.rayStartParams)",
                "rayStartParams must not contain 'labels'; use the field labels",
            )
            .on(".rayStartParams"),
        );
        rules.push(
            rule(
                group,
                Reason::Forbidden,
                format!(
                    "!has(self.resources) || size(self.resources) == 0 || !has(self.rayStartParams) || \
                     {RESOURCE_PARAMS}.all(p, !(p in self.rayStartParams) || self.rayStartParams[p] == '')"
                ),
                "resources are given twice: use either the field resources or num-cpus, num-gpus, memory and resources \
                 in rayStartParams",
            )
            .on(".rayStartParams"),
        );
    }
    rules
}

/// Whether the environment of the head's Ray container fulfils a condition on `e` somewhere.
fn head_env(condition: &str) -> String {
    format!(
        "(has(self.headGroupSpec.template.spec) && size(self.headGroupSpec.template.spec.containers) > 0 && \
         has(self.headGroupSpec.template.spec.containers[0].env) && \
         self.headGroupSpec.template.spec.containers[0].env.exists(e, {condition}))"
    )
}

const AUTOSCALING: &str = "(has(self.enableInTreeAutoscaling) && self.enableInTreeAutoscaling)";
const VERSION_2: &str =
    "(has(self.autoscalerOptions) && has(self.autoscalerOptions.version) && self.autoscalerOptions.version == 'v2')";
const V2_ENV_ON: &str = "e.name == 'RAY_enable_autoscaler_v2' && has(e.value) && e.value in ['1', 'true']";
/// Restart policy of a template at `t`.
const RESTART_OK: &str = "!has(t.template.spec) || !has(t.template.spec.restartPolicy) || \
                          t.template.spec.restartPolicy in ['', 'Never']";

fn scaling() -> Vec<Rule> {
    let v2 = format!("({VERSION_2} || {})", head_env(V2_ENV_ON));
    let every_group =
        |condition: &str| format!("!has(self.workerGroupSpecs) || self.workerGroupSpecs.all(g, {condition})");
    vec![
        rule(
            "spec",
            Reason::Forbidden,
            format!("{} || {v2}", every_group("!has(g.idleTimeoutSeconds)")),
            "idleTimeoutSeconds of a worker group needs autoscaler v2 (autoscalerOptions.version: v2)",
        )
        .on(".workerGroupSpecs"),
        rule(
            "spec",
            Reason::Forbidden,
            format!("{} || {v2}", every_group("!has(g.priority) || g.priority == 0")),
            "priority of a worker group needs autoscaler v2 (autoscalerOptions.version: v2) and Ray 2.56",
        )
        .on(".workerGroupSpecs"),
        rule(
            "spec",
            Reason::Forbidden,
            format!("!{AUTOSCALING} || {}", every_group("!has(g.suspend) || !g.suspend")),
            "a worker group cannot be suspended while enableInTreeAutoscaling is true",
        )
        .on(".workerGroupSpecs"),
        rule(
            "spec",
            Reason::Forbidden,
            format!("{AUTOSCALING} || !{}", head_env(V2_ENV_ON)),
            "env RAY_enable_autoscaler_v2 of the head needs enableInTreeAutoscaling: true",
        )
        .on(".headGroupSpec"),
        rule(
            "spec",
            Reason::Forbidden,
            format!(
                "!{AUTOSCALING} || !has(self.autoscalerOptions) || !has(self.autoscalerOptions.version) || !{}",
                head_env("e.name == 'RAY_enable_autoscaler_v2'")
            ),
            "the autoscaler's version is given twice: use either autoscalerOptions.version or env \
             RAY_enable_autoscaler_v2 of the head",
        )
        .on(".autoscalerOptions.version"),
        rule(
            "spec",
            Reason::Invalid,
            format!(
                "!{AUTOSCALING} || !{VERSION_2} || ([self.headGroupSpec].all(t, {RESTART_OK}) && \
                 (!has(self.workerGroupSpecs) || self.workerGroupSpecs.all(t, {RESTART_OK})))"
            ),
            "autoscaler v2 needs restartPolicy Never (or none) in the templates of the head and of all worker groups",
        ),
        rule(
            "spec.autoscalerOptions",
            Reason::Forbidden,
            "!has(self.env) || !self.env.exists(e, e.name == 'KUBERAY_GEN_AUTOSCALER_START_CMD')",
            "env KUBERAY_GEN_AUTOSCALER_START_CMD is set by the operator",
        )
        .on(".env"),
    ]
}

fn fault_tolerance() -> Vec<Rule> {
    const OPTIONS: &str = "spec.gcsFaultToleranceOptions";
    const ROCKSDB: &str = "(has(self.backend) && self.backend == 'rocksdb')";
    vec![
        rule(
            OPTIONS,
            Reason::Invalid,
            "(has(self.backend) ? self.backend : 'redis') == (has(oldSelf.backend) ? oldSelf.backend : 'redis')",
            "backend cannot be changed (none given means redis): the state stays in the old one",
        )
        .on(".backend"),
        rule(
            OPTIONS,
            Reason::Forbidden,
            format!(
                "!{ROCKSDB} || (!has(self.redisAddress) && !has(self.redisUsername) && !has(self.redisPassword) && \
                 !has(self.externalStorageNamespace))"
            ),
            "redisAddress, redisUsername, redisPassword and externalStorageNamespace are for backend redis only",
        ),
        rule(
            OPTIONS,
            Reason::Forbidden,
            format!("!has(self.storage) || {ROCKSDB}"),
            "storage is for backend rocksdb only",
        )
        .on(".storage"),
        rule(
            "spec.gcsFaultToleranceOptions.storage",
            Reason::Forbidden,
            "!has(self.claimName) || self.claimName == '' || \
             (!has(self.size) && !has(self.storageClassName) && !has(self.accessModes))",
            "claimName names an existing claim and excludes size, storageClassName and accessModes",
        )
        .on(".claimName"),
        rule(
            "spec",
            Reason::Forbidden,
            format!(
                "!has(self.gcsFaultToleranceOptions) || ((!has(self.headGroupSpec.rayStartParams) || \
                 !('redis-password' in self.headGroupSpec.rayStartParams) || \
                 self.headGroupSpec.rayStartParams['redis-password'] == '') && !{})",
                head_env("e.name in ['REDIS_PASSWORD', 'RAY_REDIS_ADDRESS']")
            ),
            "with gcsFaultToleranceOptions the Redis address and password belong there, not into redis-password of \
             rayStartParams or env RAY_REDIS_ADDRESS and REDIS_PASSWORD of the head",
        )
        .on(".headGroupSpec"),
        rule(
            "spec",
            Reason::Forbidden,
            format!(
                "(!has(self.headGroupSpec.rayStartParams) || !('redis-username' in self.headGroupSpec.rayStartParams) \
                 || self.headGroupSpec.rayStartParams['redis-username'] == '') && !{}",
                head_env("e.name == 'REDIS_USERNAME'")
            ),
            "the Redis user name belongs into gcsFaultToleranceOptions.redisUsername, not into redis-username of \
             rayStartParams or env REDIS_USERNAME of the head",
        )
        .on(".headGroupSpec"),
    ]
}

fn auth() -> Vec<Rule> {
    const OPTIONS: &str = "spec.authOptions";
    const TOKEN: &str = "(has(self.mode) && self.mode == 'token')";
    const KUBERNETES: &str = "(has(self.enableK8sTokenAuth) && self.enableK8sTokenAuth)";
    vec![
        rule(OPTIONS, Reason::Forbidden, format!("!{KUBERNETES} || {TOKEN}"), "enableK8sTokenAuth needs mode: token")
            .on(".enableK8sTokenAuth"),
        rule(
            OPTIONS,
            Reason::Forbidden,
            format!("!{KUBERNETES} || !has(self.secretName)"),
            "secretName and enableK8sTokenAuth exclude each other",
        )
        .on(".secretName"),
        rule(
            "spec",
            Reason::Required,
            "!has(self.authOptions) || !has(self.authOptions.mode) || self.authOptions.mode != 'token' || \
             (has(self.rayVersion) && self.rayVersion != '')",
            "authOptions.mode token needs rayVersion (2.52.0 or later)",
        )
        .on(".rayVersion"),
    ]
}

fn network_policy() -> Vec<Rule> {
    // Walks over workerGroups, which is bounded; head and worker are single objects.
    let unused = |rules: &str, mode: &str| {
        format!(
            "!has(self.mode) || self.mode != '{mode}' || ((!has(self.head) || !has(self.head.{rules})) && \
             (!has(self.worker) || !has(self.worker.{rules})) && \
             (!has(self.workerGroups) || self.workerGroups.all(g, !has(g.{rules}))))"
        )
    };
    vec![
        rule(
            "spec.networkPolicy",
            Reason::Forbidden,
            unused("ingressRules", "DenyAllEgress"),
            "ingressRules have no effect with mode DenyAllEgress",
        )
        .on(".mode"),
        rule(
            "spec.networkPolicy",
            Reason::Forbidden,
            unused("egressRules", "DenyAllIngress"),
            "egressRules have no effect with mode DenyAllIngress",
        )
        .on(".mode"),
    ]
}

fn history() -> Vec<Rule> {
    const COLLECTOR: &str = "spec.historyServerOptions.collectorOptions";
    vec![
        rule(
            COLLECTOR,
            Reason::Forbidden,
            "!has(self.env) || !self.env.exists(e, e.name in ['POD_IP', 'FQ_RAY_IP', 'RAY_CLUSTER_NAME', \
             'RAY_CLUSTER_NAMESPACE', 'RAY_ROLE', 'OWNER_KIND', 'OWNER_NAME', 'EVENTS_PORT'])",
            "env POD_IP, FQ_RAY_IP, RAY_CLUSTER_NAME, RAY_CLUSTER_NAMESPACE, RAY_ROLE, OWNER_KIND, OWNER_NAME and \
             EVENTS_PORT are set by the operator",
        )
        .on(".env"),
        rule(
            COLLECTOR,
            Reason::Required,
            "has(self.env) && self.env.exists(e, e.name == 'STORAGE_BACKEND' && has(e.value) && e.value != '')",
            "env STORAGE_BACKEND must be given with a value written out",
        )
        .on(".env"),
    ]
}
