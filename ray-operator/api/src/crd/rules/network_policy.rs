//! NetworkPolicies.

use super::{Reason, Rule, rule};

pub(super) fn rules() -> Vec<Rule> {
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
