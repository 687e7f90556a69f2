//! Good input is accepted, up to its limits.

use serde_json::json;
use test_support::{Namespace, sample, workspace};

use super::dry_run;

#[tokio::test]
async fn kubectl_applies_definitions_and_every_sample() {
    let ns = Namespace::new("crd").await;
    let deploy = workspace().join("ray-operator/deploy");
    // A second time, client-side: the annotation with the last state has to fit.
    let crds = ns.kubectl(&["apply", "-f", deploy.join("crds").to_str().unwrap()], None).await;
    assert!(crds.success && crds.stdout.contains("unchanged"), "{crds:?}");
    let mut count = 0;
    for sample in std::fs::read_dir(deploy.join("samples")).unwrap() {
        let path = sample.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "yaml") {
            continue;
        }
        let applied = ns.kubectl(&["apply", "--dry-run=server", "-f", path.to_str().unwrap()], None).await;
        assert!(applied.success, "{}: {}", path.display(), applied.stderr);
        assert!(!applied.stderr.contains("Warning"), "{}: {}", path.display(), applied.stderr);
        count += 1;
    }
    assert!(count > 0);
}

#[tokio::test]
async fn names_and_numbers_reach_to_their_limits() {
    let ns = Namespace::new("crd").await;
    let long = "x".repeat(53);
    let group = "G".repeat(63);
    for (name, groups) in [
        (long.as_str(), "[]".to_owned()),
        ("a", format!("[{{groupName: {group}}}]")),
        ("a", "[{groupName: a.b-C}]".to_owned()),
        ("a", "[{groupName: '1'}]".to_owned()),
        ("a", "[{groupName: a, minReplicas: 3, maxReplicas: 3}]".to_owned()),
        ("a", "[{groupName: a, replicas: 2147483647, maxReplicas: 2147483647}]".to_owned()),
    ] {
        assert_eq!(dry_run(&ns, &sample::raw(name, &groups)).await.err(), None, "{name} {groups}");
    }
    let many: Vec<String> = (0..300).map(|number| format!("{{groupName: g{number}}}")).collect();
    assert_eq!(dry_run(&ns, &sample::raw("many", &format!("[{}]", many.join(", ")))).await.err(), None);
}

#[tokio::test]
async fn defaults_are_kuberays() {
    let ns = Namespace::new("crd").await;
    let mut raw = sample::raw("demo", "[{groupName: a}]");
    let group = raw["spec"]["workerGroupSpecs"][0].as_object_mut().unwrap();
    for field in ["replicas", "minReplicas", "maxReplicas"] {
        group.remove(field);
    }
    let made = dry_run(&ns, &raw).await.unwrap();
    let group = &made["spec"]["workerGroupSpecs"][0];
    let numbers = ["replicas", "minReplicas", "maxReplicas", "numOfHosts"].map(|field| group[field].clone());
    assert_eq!(numbers, [json!(0), json!(0), json!(2_147_483_647), json!(1)]);
}
