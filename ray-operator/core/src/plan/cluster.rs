//! The plan of one cluster: validate → head | each worker group | removed groups → children.

use jiff::Timestamp;
use ray_api::conditions::PROVISIONED;
use ray_api::{FieldError, RayCluster};

use super::write::{Action, Step, Write};
use crate::config::OperatorConfig;
use crate::group::{self, GroupDecision, GroupInput};
use crate::head::{self, HeadDecision, HeadInput};
use crate::observed::Observed;
use crate::valid::{self, ValidCluster};
use crate::{removed_groups, services};

/// What a pass decided about a cluster.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// Not ours to touch (another controller manages it), or on its way out: garbage collection does the rest.
    LeaveAlone,
    /// The spec breaks a rule: nothing is created or deleted, the status says which rule.
    Reject(Rejection),
    /// What to do.
    Act(Box<Decision>),
}

/// The rules a spec breaks.
#[derive(Debug, Clone, PartialEq)]
pub struct Rejection {
    /// Every broken rule, with the path of its field.
    pub errors: Vec<FieldError>,
}

/// What was decided, part by part, and the writes that follow from it.
#[derive(Debug, Clone, PartialEq)]
pub struct Decision {
    /// The parsed cluster.
    pub cluster: ValidCluster,
    /// About the head.
    pub head: HeadDecision,
    /// About each worker group, in the order of the spec.
    pub groups: Vec<GroupDecision>,
    /// Writes about Services and about groups that left the spec.
    pub others: Vec<Write>,
    /// Steps with work to do that wait because they failed lately → until when.
    pub held: Vec<(Step, Timestamp)>,
}

impl Verdict {
    /// Everything to write. Writes of different steps are independent; order means nothing.
    pub fn writes(&self) -> impl Iterator<Item = &Write> {
        let decision = match self {
            Self::Act(decision) => Some(decision),
            Self::LeaveAlone | Self::Reject(_) => None,
        };
        decision.into_iter().flat_map(|decision| decision.writes())
    }
}

impl Decision {
    /// Everything to write.
    pub fn writes(&self) -> impl Iterator<Item = &Write> {
        let groups = self.groups.iter().flat_map(|group| &group.writes);
        self.others.iter().chain(&self.head.writes).chain(groups)
    }

    /// When a step that waits may be tried again.
    #[must_use]
    pub fn wake_at(&self) -> Option<Timestamp> {
        let waits = self.groups.iter().map(|group| group.waits_until).chain([self.head.waits_until]);
        waits.flatten().chain(self.held.iter().map(|(_, until)| *until)).min()
    }
}

/// Decides what to do about one cluster. Pure and total: the same view at the same time gives the same plan.
#[must_use]
pub fn plan(observed: &Observed, config: &OperatorConfig, now: Timestamp) -> Verdict {
    let raw = &observed.cluster;
    if !is_ours(raw) || raw.metadata.deletion_timestamp.is_some() {
        return Verdict::LeaveAlone;
    }
    let cluster = match valid::parse(raw.clone(), &config.gates) {
        Ok(cluster) => cluster,
        Err(errors) => return Verdict::Reject(Rejection { errors }),
    };
    let status = raw.status.as_ref();
    let head = head::decide(HeadInput {
        cluster: &cluster,
        config,
        pods: &observed.pods,
        memory: &observed.memory,
        last_ordinal: status.and_then(|status| status.head_last_ordinal).unwrap_or(0),
        failures: status.and_then(|status| status.head_failures.as_ref()),
        provisioned: status.is_some_and(|status| status.condition_is_true(PROVISIONED)),
        now,
    });
    let head_is_ready = head.head.as_ref().is_some_and(|head| head.is_ready());
    let groups = cluster.groups.iter().map(|group| {
        group::decide(GroupInput {
            cluster: &cluster,
            group,
            config,
            pods: &observed.pods,
            memory: &observed.memory,
            previous: status.and_then(|status| status.worker_group(group.name.as_str())),
            head_is_ready,
            now,
        })
    });
    let groups: Vec<GroupDecision> = groups.collect();
    let mut others = services::decide(observed, &cluster, config);
    others.extend(removed_groups::decide(&cluster, &observed.pods));
    let mut decision = Decision { cluster, head, groups, others, held: Vec::new() };
    hold_back(&mut decision, observed, now);
    Verdict::Act(Box::new(decision))
}

/// Who a RayCluster belongs to when `spec.managedBy` says so; the name is KubeRay's, whose place this operator takes.
const OUR_NAME: &str = "ray.io/kuberay-operator";

fn is_ours(raw: &RayCluster) -> bool {
    raw.spec.managed_by.as_deref().is_none_or(|manager| manager == OUR_NAME)
}

/// Takes out what failed lately and has to wait (creates of pods are held where they are planned, before names are given).
fn hold_back(decision: &mut Decision, observed: &Observed, now: Timestamp) {
    let held = &observed.memory.held;
    let mut waiting = Vec::new();
    let mut keep = |write: &Write| match held.get(&write.step).filter(|until| **until > now) {
        Some(until) => {
            waiting.push((write.step.clone(), *until));
            false
        }
        None => true,
    };
    decision.others.retain(&mut keep);
    decision.head.writes.retain(&mut keep);
    for group in &mut decision.groups {
        group.writes.retain(&mut keep);
    }
    waiting.dedup();
    decision.held = waiting;
}

impl Decision {
    /// Whether this pass creates something whose arrival the watch will report, so that the status can wait for it.
    #[must_use]
    pub fn creates_anything(&self) -> bool {
        self.writes().any(|write| matches!(write.action, Action::CreatePod { .. } | Action::CreateService { .. }))
    }
}
