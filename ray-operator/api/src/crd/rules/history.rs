//! The history server's collector.

use super::{Reason, Rule, rule};

pub(super) fn rules() -> Vec<Rule> {
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
