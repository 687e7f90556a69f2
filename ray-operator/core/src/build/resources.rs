//! From container resources and the group's `resources` to what `ray start` is told the node has.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::Container;
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use ray_api::quantity::Quantity as Amount;

use super::start_params::StartParams;

/// Accelerators that Ray knows under its own name, by the name of the container resource.
const ACCELERATORS: [(&str, &str); 2] = [("aws.amazon.com/neuroncore", "neuron_cores"), ("google.com/tpu", "TPU")];

/// Applies the group's `resources`: `cpu`, `memory` and GPUs have flags of their own and win over the user's
/// parameters, all others become the JSON object of `--resources`. Unreadable quantities are skipped.
pub(super) fn from_group(resources: &BTreeMap<String, String>, params: &mut StartParams) {
    let mut custom = BTreeMap::new();
    for (name, quantity) in resources {
        let flag = match name.to_lowercase().as_str() {
            "cpu" => Some("num-cpus"),
            "memory" => Some("memory"),
            lower if is_gpu(lower) => Some("num-gpus"),
            _ => None,
        };
        match flag {
            Some(flag) => {
                if let Some(whole) = rounded_up(quantity) {
                    params.insert(flag.to_owned(), whole.to_string());
                }
            }
            None => {
                if let Some(amount) = approximate(quantity) {
                    custom.insert(name.clone(), amount);
                }
            }
        }
    }
    if !custom.is_empty() {
        params.insert("resources".to_owned(), quoted_json(&custom));
    }
}

/// Fills what the parameters leave open from the resources of the Ray container.
///
/// CPU from the limit, else the request; memory, GPUs and accelerators from limits only: a request is a promise to the
/// node, a limit is what the process may use.
pub(super) fn from_container(ray: &Container, params: &mut StartParams) {
    let Some(resources) = &ray.resources else { return };
    let nothing = BTreeMap::new();
    let limits = resources.limits.as_ref().unwrap_or(&nothing);
    let requests = resources.requests.as_ref().unwrap_or(&nothing);
    let whole = |list: &BTreeMap<String, Quantity>, name: &str| list.get(name).and_then(non_zero);

    if let Some(cpus) = whole(limits, "cpu").or_else(|| whole(requests, "cpu")) {
        params.entry("num-cpus".to_owned()).or_insert(cpus.to_string());
    }
    if let Some(bytes) = whole(limits, "memory") {
        params.entry("memory".to_owned()).or_insert(bytes.to_string());
    }
    accelerators(limits, params);
}

/// GPUs and custom accelerators. Nothing is detected when the user's `resources` parameter is not a plain JSON object
/// of numbers (KubeRay's rule): adding to what cannot be read would replace it.
fn accelerators(limits: &BTreeMap<String, Quantity>, params: &mut StartParams) {
    let mut custom: BTreeMap<String, f64> = match params.get("resources") {
        None => BTreeMap::new(),
        Some(text) => {
            let bare = text.trim_matches(|c| matches!(c, '\'' | '"' | '`' | ' '));
            let Ok(custom) = serde_json::from_str(bare) else { return };
            custom
        }
    };
    if !params.contains_key("num-gpus")
        && let Some(gpus) = limits.iter().filter(|(name, _)| is_gpu(name)).find_map(|(_, quantity)| non_zero(quantity))
    {
        params.insert("num-gpus".to_owned(), gpus.to_string());
    }
    if ACCELERATORS.iter().any(|(_, ray_name)| custom.contains_key(*ray_name)) {
        return;
    }
    // The table is in the order of the resource names: at most one kind is told to Ray, the first.
    let found = ACCELERATORS.iter().find_map(|(resource, ray_name)| {
        let quantity = limits.get(*resource).filter(|quantity| non_zero(quantity).is_some())?;
        Some((*ray_name, approximate(&quantity.0)?))
    });
    if let Some((ray_name, amount)) = found {
        custom.insert(ray_name.to_owned(), amount);
        params.insert("resources".to_owned(), quoted_json(&custom));
    }
}

/// Whether a resource of this name is GPUs: `nvidia.com/gpu`, `amd.com/gpu`, …, or an NVIDIA MIG slice such as
/// `nvidia.com/mig-1g.5gb`.
pub(crate) fn is_gpu(name: &str) -> bool {
    name.ends_with("gpu") || is_mig(name).is_some()
}

fn is_mig(name: &str) -> Option<()> {
    let (_, profile) = name.rsplit_once("nvidia.com/mig-")?;
    let (compute, memory) = profile.split_once("g.")?;
    let memory = memory.strip_suffix("gb")?;
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    (digits(compute) && digits(memory)).then_some(())
}

/// A quantity in whole units (CPUs, bytes, devices), rounded up; `None` for zero and for what cannot be read.
pub(super) fn non_zero(quantity: &Quantity) -> Option<i64> {
    rounded_up(&quantity.0).filter(|whole| *whole != 0)
}

fn rounded_up(quantity: &str) -> Option<i64> {
    parsed(quantity).map(|amount| amount.ceil())
}

fn approximate(quantity: &str) -> Option<f64> {
    parsed(quantity).map(|amount| amount.approx_f64()).filter(|amount| amount.is_finite())
}

fn parsed(quantity: &str) -> Option<Amount> {
    quantity.trim().parse().ok()
}

/// The amounts as a JSON object in single quotes, for the shell: keys sorted bytewise, whole numbers without decimals.
///
/// A single quote inside a key is written as a JSON escape, so that it cannot end the shell's quotes.
fn quoted_json(amounts: &BTreeMap<String, f64>) -> String {
    let members: Vec<String> = amounts
        .iter()
        .map(|(name, amount)| {
            let key = serde_json::Value::from(name.as_str()).to_string().replace('\'', "\\u0027");
            format!("{key}:{amount}")
        })
        .collect();
    format!("'{{{}}}'", members.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;
    use k8s_openapi::api::core::v1::ResourceRequirements;
    use proptest::prelude::*;

    fn strings(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect()
    }

    fn quantities(pairs: &[(&str, &str)]) -> Option<BTreeMap<String, Quantity>> {
        Some(pairs.iter().map(|(k, v)| ((*k).to_owned(), Quantity((*v).to_owned()))).collect())
    }

    fn container(limits: &[(&str, &str)], requests: &[(&str, &str)]) -> Container {
        Container {
            resources: Some(ResourceRequirements {
                limits: quantities(limits),
                requests: quantities(requests),
                ..ResourceRequirements::default()
            }),
            ..Container::default()
        }
    }

    #[test]
    fn gpu_names() {
        for name in ["nvidia.com/gpu", "amd.com/gpu", "gpu", "nvidia.com/mig-1g.5gb", "x.nvidia.com/mig-10g.200gb"] {
            assert!(is_gpu(name), "{name}");
        }
        for name in [
            "nvidia.com/gpus",
            "habana.ai/gaudi",
            "nvidia.com/mig-1g",
            "nvidia.com/mig-g.5gb",
            "nvidia.com/mig-1g.gb",
            "nvidia.com/mig-1g.5gb.shared",
            "",
        ] {
            assert!(!is_gpu(name), "{name}");
        }
    }

    #[test]
    fn group_resources() {
        for (given, before, expected) in [
            (strings(&[]), strings(&[]), strings(&[])),
            (strings(&[("CPU", "1500m")]), strings(&[("num-cpus", "")]), strings(&[("num-cpus", "2")])),
            (
                strings(&[("memory", "1Gi"), ("nvidia.com/gpu", "1")]),
                strings(&[]),
                strings(&[("memory", "1073741824"), ("num-gpus", "1")]),
            ),
            (
                strings(&[("Slots", "2.5"), ("b", "3")]),
                strings(&[]),
                strings(&[("resources", r#"'{"Slots":2.5,"b":3}'"#)]),
            ),
            (strings(&[("it's", "1")]), strings(&[]), strings(&[("resources", r#"'{"it\u0027s":1}'"#)])),
            (
                strings(&[("cpu", "lots"), ("slots", "many")]),
                strings(&[("num-cpus", "7")]),
                strings(&[("num-cpus", "7")]),
            ),
        ] {
            let mut params = before;
            from_group(&given, &mut params);
            assert_eq!(params, expected, "{given:?}");
        }
    }

    #[test]
    fn container_resources() {
        for (given, before, expected) in [
            (container(&[("cpu", "1500m")], &[("cpu", "1")]), strings(&[]), strings(&[("num-cpus", "2")])),
            (container(&[("cpu", "0")], &[("cpu", "1e-1")]), strings(&[]), strings(&[("num-cpus", "1")])),
            (container(&[], &[("memory", "1Gi"), ("nvidia.com/gpu", "1")]), strings(&[]), strings(&[])),
            (container(&[("memory", "1234567890123m")], &[]), strings(&[]), strings(&[("memory", "1234567891")])),
            (container(&[("cpu", "4")], &[]), strings(&[("num-cpus", "")]), strings(&[("num-cpus", "")])),
            (
                container(&[("nvidia.com/gpu", "2"), ("amd.com/gpu", "0"), ("intel.com/gpu", "1")], &[]),
                strings(&[]),
                strings(&[("num-gpus", "1")]),
            ),
            (
                container(&[("google.com/tpu", "4"), ("aws.amazon.com/neuroncore", "2")], &[]),
                strings(&[]),
                strings(&[("resources", r#"'{"neuron_cores":2}'"#)]),
            ),
            (
                container(&[("google.com/tpu", "4"), ("aws.amazon.com/neuroncore", "0")], &[]),
                strings(&[("resources", r#"'{"b": 1.5, "A": 2}'"#)]),
                strings(&[("resources", r#"'{"A":2,"TPU":4,"b":1.5}'"#)]),
            ),
            (
                container(&[("google.com/tpu", "4")], &[]),
                strings(&[("resources", r#"'{"neuron_cores": 1}'"#)]),
                strings(&[("resources", r#"'{"neuron_cores": 1}'"#)]),
            ),
            (
                container(&[("google.com/tpu", "4"), ("nvidia.com/gpu", "1")], &[]),
                strings(&[("resources", r#""{\"slots\": 1}""#)]),
                strings(&[("resources", r#""{\"slots\": 1}""#)]),
            ),
            (container(&[("cpu", "much"), ("memory", "")], &[]), strings(&[]), strings(&[])),
        ] {
            let mut params = before.clone();
            from_container(&given, &mut params);
            assert_eq!(params, expected, "{given:?} {before:?}");
        }
    }

    proptest! {
        #[test]
        fn no_quantity_and_no_parameter_panics(name in ".{0,12}", quantity in ".{0,12}", resources in prop::option::of(".{0,20}")) {
            let mut params: StartParams = resources.map(|text| ("resources".to_owned(), text)).into_iter().collect();
            from_group(&strings(&[(&name, &quantity)]), &mut params);
            from_container(&container(&[(&name, &quantity), ("cpu", &quantity), ("google.com/tpu", &quantity)], &[]), &mut params);
        }
    }
}
