//! Head and worker groups: names, counts, containers, parameters.

use super::{Reason, Rule, rule};

/// `ray start` parameters that say the same as the field `resources`.
const RESOURCE_PARAMS: &str = "['num-cpus', 'num-gpus', 'memory', 'resources']";

pub(super) fn rules() -> Vec<Rule> {
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
