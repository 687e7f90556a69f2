//! What a person sees with `kubectl`.

use test_support::{Namespace, Play, name, sample};

/// Columns of a table, split where two spaces are.
fn cells(line: &str) -> Vec<&str> {
    line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect()
}

#[tokio::test]
async fn get_and_describe_tell_what_matters() {
    let ns = Namespace::new("crd").await;
    let _operator = ns.operator().await;
    let _kubelet = ns.play(Play::All);
    ns.create(&sample::cluster("demo", "[{groupName: small, replicas: 2}, {groupName: large, replicas: 1}]")).await;
    ns.ready("demo").await;
    ns.event("demo", "CreatedWorkerPod", "large").await;
    let head = ns.head("demo").await.unwrap();
    let ip = head.status.as_ref().unwrap().pod_ip.clone().unwrap();

    let table = ns.kubectl(&["get", "raycluster", "demo"], None).await.stdout;
    let mut lines = table.lines();
    assert_eq!(
        cells(lines.next().unwrap()),
        ["NAME", "DESIRED WORKERS", "AVAILABLE WORKERS", "CPUS", "MEMORY", "GPUS", "STATUS", "AGE"]
    );
    let row = cells(lines.next().unwrap());
    assert_eq!(row[..7], ["demo", "3", "3", "400m", "512Mi", "0", "ready"], "{table}");

    let wide = ns.kubectl(&["get", "rayclusters.ray.io", "-o", "wide"], None).await.stdout;
    let mut lines = wide.lines();
    assert_eq!(cells(lines.next().unwrap())[9..], ["HEAD POD IP", "HEAD SERVICE IP"], "{wide}");
    assert_eq!(cells(lines.next().unwrap())[9..], [ip.as_str(), ip.as_str()], "{wide}");
    let all = ns.kubectl(&["get", "all"], None).await.stdout;
    assert!(all.contains("raycluster.ray.io/demo"), "category all: {all}");

    let text = ns.kubectl(&["describe", "raycluster", "demo"], None).await.stdout;
    let seen = |wanted: &str| {
        let found = text.lines().any(|line| line.split_whitespace().collect::<Vec<_>>().join(" ").contains(wanted));
        assert!(found, "{wanted:?} is not in\n{text}");
    };
    for wanted in [
        "State: ready",
        "Desired Worker Replicas: 3",
        "Ready Worker Replicas: 3",
        "Reason: HeadPodRunningAndReady",
        "Type: RayClusterProvisioned",
        "Service Name: demo-head-svc",
        "Dashboard: 8265",
        "Observed Generation: 1",
        &format!("Pod Name: {}", name(&head)),
    ] {
        seen(wanted);
    }
    let events = text.split("Events:").nth(1).unwrap_or_default();
    for wanted in ["CreatedHeadPod", "CreatedWorkerPod", "raycluster-controller"] {
        assert!(events.contains(wanted), "{wanted} is not among the events\n{text}");
    }

    // Scripts wait for conditions.
    let waited = ns.kubectl(&["wait", "--for=condition=RayClusterProvisioned", "raycluster/demo"], None).await;
    assert!(waited.success, "{}", waited.stderr);
}
