//! The cluster's Services: made when missing.

use k8s_openapi::api::core::v1::Service;

use crate::build;
use crate::config::OperatorConfig;
use crate::observed::Observed;
use crate::plan::{Action, Step, Write};
use crate::valid::ValidCluster;

/// The Services that are missing, as writes.
///
/// One that is being deleted still holds its name; its successor is made when it is gone.
#[must_use]
pub fn decide(observed: &Observed, cluster: &ValidCluster, config: &OperatorConfig) -> Vec<Write> {
    let mut wanted: Vec<(Step, Service)> = vec![(Step::HeadService, build::head_service(cluster, config))];
    if cluster.groups.iter().any(|group| group.hosts > 1) {
        wanted.push((Step::HeadlessService, build::headless_service(cluster)));
    }
    wanted
        .into_iter()
        .filter_map(|(step, service)| {
            let name = service.metadata.name.clone().unwrap_or_default();
            let exists = observed.services.iter().any(|existing| existing.name == name);
            (!exists).then(|| Write { step, action: Action::CreateService { service: Box::new(service), name } })
        })
        .collect()
}
