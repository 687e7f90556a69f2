//! What the cluster asks for: `desiredCPU`, `desiredMemory`, `desiredGPU`, `desiredTPU`.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::Container;
use k8s_openapi::apimachinery::pkg::api::resource::Quantity as Text;
use ray_api::quantity::Quantity;

use crate::build::is_gpu;
use crate::valid::{RayPodTemplate, ValidCluster};

/// Totals over the head and all wanted workers.
#[derive(Debug, PartialEq)]
pub(super) struct Totals {
    pub(super) cpu: Text,
    pub(super) memory: Text,
    pub(super) gpu: Text,
    pub(super) tpu: Text,
}

/// Sums what the user's templates ask for: containers without init containers, requests or else limits, head first (the
/// first summand decides the notation). Containers that operators add are not counted.
pub(super) fn totals(cluster: &ValidCluster) -> Totals {
    let mut sums = of_template(&cluster.head.node.template);
    for group in &cluster.groups {
        let count = i64::from(group.desired_pods().0);
        for (name, amount) in of_template(&group.node.template) {
            add(&mut sums, name, amount.times(count));
        }
    }
    let sum = |wanted: &dyn Fn(&str) -> bool| {
        let chosen = sums.iter().filter(|(name, _)| wanted(name));
        Text::from(chosen.map(|(_, amount)| *amount).fold(Quantity::ZERO, Quantity::plus))
    };
    Totals {
        cpu: sum(&|name| name == "cpu"),
        memory: sum(&|name| name == "memory"),
        gpu: sum(&is_gpu),
        tpu: sum(&|name| name == "google.com/tpu"),
    }
}

fn of_template(template: &RayPodTemplate) -> BTreeMap<&str, Quantity> {
    let mut sums = BTreeMap::new();
    for container in template.containers() {
        for (name, amount) in of_container(container) {
            add(&mut sums, name, amount);
        }
    }
    sums
}

/// Requests, and limits of what has no request.
fn of_container(container: &Container) -> BTreeMap<&str, Quantity> {
    let resources = container.resources.as_ref();
    let limits = resources.and_then(|resources| resources.limits.as_ref());
    let requests = resources.and_then(|resources| resources.requests.as_ref());
    // Later entries win.
    let all = limits.into_iter().flatten().chain(requests.into_iter().flatten());
    all.filter_map(|(name, text)| Some((name.as_str(), Quantity::try_from(text).ok()?))).collect()
}

fn add<'a>(sums: &mut BTreeMap<&'a str, Quantity>, name: &'a str, amount: Quantity) {
    let sum = sums.entry(name).or_insert(Quantity::ZERO);
    *sum = sum.plus(amount);
}
