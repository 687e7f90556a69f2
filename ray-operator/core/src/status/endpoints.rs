//! Where the head is reached: `status.head` and `status.endpoints`.

use std::collections::BTreeMap;

use ray_api::raycluster::HeadInfo;

use crate::build;
use crate::observed::{Observed, ObservedPod, ObservedService, TargetPort};
use crate::plan::Decision;

/// The head Service, if it is there.
pub(super) fn head_service<'a>(observed: &'a Observed, decision: &Decision) -> Option<&'a ObservedService> {
    let name = build::head_service_name(&decision.cluster);
    observed.services.iter().map(AsRef::as_ref).find(|service| service.name == name && !service.leaving)
}

/// Port name → node port if there is one, else target port. Unnamed ports have no place here (KubeRay).
pub(super) fn of(service: &ObservedService) -> BTreeMap<String, String> {
    let named = service.ports.iter().filter(|port| !port.name.is_empty());
    named
        .map(|port| {
            let leads_to = match (port.node_port, &port.target) {
                (Some(node_port), _) => node_port.to_string(),
                (None, TargetPort::Number(number)) => number.to_string(),
                (None, TargetPort::Name(name)) => name.clone(),
            };
            (port.name.clone(), leads_to)
        })
        .collect()
}

/// Names and addresses of head pod and Service. A headless Service has no address of its own: the head pod's stands for it.
pub(super) fn head_info(head: Option<&ObservedPod>, service: Option<&ObservedService>) -> HeadInfo {
    let pod_ip = head.and_then(|head| head.pod_ip.clone()).unwrap_or_default();
    let service_ip = service.and_then(|service| service.cluster_ip.clone()).unwrap_or_default();
    HeadInfo {
        service_ip: if service_ip == "None" { pod_ip.clone() } else { service_ip },
        service_name: service.map(|service| service.name.clone()).unwrap_or_default(),
        pod_name: head.map(|head| head.name.clone()).unwrap_or_default(),
        pod_ip,
    }
}
