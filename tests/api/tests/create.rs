//! A RayCluster is created: what is made of it, what is said about it, and how many requests that takes.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests fail by panicking")]

use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use ray_api::{RayCluster, RayClusterStatus};
use serde_json::json;
use test_support::{Namespace, Play, SeenEvent, eventually, name, names, sample, throughout, uid};

fn condition(status: &RayClusterStatus, kind: &str) -> String {
    status.condition(kind).map(|condition| format!("{} {}", condition.status, condition.reason)).unwrap_or_default()
}

#[tokio::test]
async fn a_cluster_of_four_pods_becomes_ready_within_nine_writes() {
    let ns = Namespace::new("create").await;
    let _operator = ns.operator().await;
    let _kubelet = ns.play(Play::All);
    ns.create(&sample::cluster("demo", "[{groupName: small, replicas: 3}]")).await;
    let status = ns.ready("demo").await;
    assert!(status.condition_is_true("RayClusterProvisioned"));
    ns.event("demo", "CreatedWorkerPod", "").await;

    let requests = ns.audit.requests();
    let count = |verb: &str, resource: &str| ns.audit.count(verb, resource);
    assert_eq!(count("create", "pods"), 4, "{requests:#?}");
    assert_eq!(count("create", "services"), 1, "{requests:#?}");
    assert_eq!(count("create", "events"), 2, "{requests:#?}");
    assert!((1..=2).contains(&count("patch", "rayclusters/status")), "{requests:#?}");
    assert!(ns.audit.writes().len() <= 9, "{requests:#?}");
    // Reads: the three lists of the start and nothing more.
    assert_eq!(requests.len() - ns.audit.writes().len(), 3, "{requests:#?}");
    assert!(requests.iter().all(|request| request.code < 300), "{requests:#?}");
}

#[tokio::test]
async fn events_say_what_was_made_once() {
    let ns = Namespace::new("create").await;
    let _operator = ns.operator().await;
    let _kubelet = ns.play(Play::All);
    ns.create(&sample::cluster("demo", "[{groupName: a, replicas: 2}, {groupName: b, replicas: 7}]")).await;
    ns.ready("demo").await;
    ns.event("demo", "CreatedWorkerPod", "group b").await;
    let head = ns.head("demo").await.unwrap();
    let events = ns.events("demo").await;
    assert!(events.iter().all(|event| event.kind == "Normal"), "{events:#?}");
    let reasons: Vec<&str> = events.iter().map(|event| event.reason.as_str()).collect();
    assert_eq!(reasons, ["CreatedHeadPod", "CreatedWorkerPod", "CreatedWorkerPod"]);
    let says = |index: usize, text: &str| assert!(events[index].note.contains(text), "{text}: {events:#?}");
    says(0, name(&head));
    says(0, "demo-head-svc");
    says(1, "2 workers of worker group a: demo-a-worker-");
    says(2, "7 workers of worker group b: demo-b-worker-");
    let SeenEvent { note, .. } = &events[2];
    assert!(note.ends_with("and 2 more"), "long lists are cut short: {note}");
}

#[tokio::test]
async fn children_belong_to_the_cluster() {
    let ns = Namespace::new("create").await;
    let _operator = ns.operator().await;
    let cluster = ns.create(&sample::cluster("demo", "[{groupName: small, replicas: 3}]")).await;
    let workers = ns.has("demo", "small", 3).await;
    let head = ns.has("demo", "headgroup", 1).await.remove(0);
    let service =
        eventually("head Service", async || ns.services.get("demo-head-svc").await.map_err(|error| error.to_string()))
            .await;
    let owner = OwnerReference {
        api_version: "ray.io/v1".into(),
        kind: "RayCluster".into(),
        name: "demo".into(),
        uid: uid(&cluster).into(),
        controller: Some(true),
        block_owner_deletion: Some(true),
    };
    for pod in workers.iter().chain([&head]) {
        assert_eq!(pod.metadata.owner_references, Some(vec![owner.clone()]), "{}", name(pod));
    }
    assert_eq!(service.metadata.owner_references, Some(vec![owner]));

    let label = |pod: &k8s_openapi::api::core::v1::Pod, key: &str| pod.metadata.labels.as_ref().unwrap()[key].clone();
    assert_eq!(label(&head, "ray.io/node-type"), "head");
    let mut indices: Vec<String> = workers.iter().map(|pod| label(pod, "ray.io/worker-group-replica-index")).collect();
    indices.sort();
    assert_eq!(indices, ["0", "1", "2"]);
    for worker in &workers {
        assert_eq!(label(worker, "ray.io/node-type"), "worker");
        assert!(name(worker).starts_with("demo-small-worker-"), "{}", name(worker));
    }
    assert!(name(&head).starts_with("demo-head-"), "{}", name(&head));
    // The Service finds the head and only the head.
    let selector = service.spec.unwrap().selector.unwrap();
    let matches = |pod: &k8s_openapi::api::core::v1::Pod| {
        selector.iter().all(|(key, value)| pod.metadata.labels.as_ref().unwrap().get(key) == Some(value))
    };
    assert!(matches(&head) && !workers.iter().any(matches), "{selector:?}");
}

#[tokio::test]
async fn the_status_tells_each_stage() {
    let ns = Namespace::new("create").await;
    let _operator = ns.operator().await;
    ns.create(&sample::cluster("demo", "[{groupName: small, replicas: 2, minReplicas: 1, maxReplicas: 5}]")).await;
    let workers = ns.has("demo", "small", 2).await;
    let head = ns.head("demo").await.unwrap();

    let status = ns.observed("demo").await;
    assert_eq!(status.state, "");
    assert_eq!(condition(&status, "HeadPodReady"), "False Unknown");
    assert_eq!(condition(&status, "RayClusterProvisioned"), "False RayClusterPodsProvisioning");
    assert_eq!(
        (status.desired_worker_replicas, status.min_worker_replicas, status.max_worker_replicas),
        (Some(2), Some(1), Some(5))
    );
    assert_eq!(status.head.as_ref().unwrap().pod_name, name(&head));
    assert_eq!(status.desired_cpu.as_ref().unwrap().0, "300m");

    ns.kubelet.wait(name(&head), "ImagePullBackOff", "Back-off pulling image \"ray\"").await;
    let status = ns
        .status_is("demo", "the head's reason", |status| condition(status, "HeadPodReady") == "False ImagePullBackOff")
        .await;
    let message = &status.condition("HeadPodReady").unwrap().message;
    assert!(message.contains("Back-off pulling image"), "{message}");

    ns.kubelet.run(name(&head)).await;
    let status = ns.status_is("demo", "a ready head", |status| status.condition_is_true("HeadPodReady")).await;
    let info = status.head.unwrap();
    assert_eq!(condition(&ns.status("demo").await, "HeadPodReady"), "True HeadPodRunningAndReady");
    assert!(info.pod_ip.starts_with("10."), "{info:?}");
    // A headless Service has no address; KubeRay writes the head's.
    assert_eq!(info.service_ip, info.pod_ip);

    ns.kubelet.unschedulable(name(&workers[0]), "0/3 nodes are available: 3 Insufficient cpu.").await;
    let blocked = |status: &RayClusterStatus| status.worker_groups[0].blocked.clone();
    let status = ns.status_is("demo", "an unschedulable worker", |status| blocked(status).is_some()).await;
    let why = blocked(&status).unwrap();
    assert_eq!(why.reason, "Unschedulable");
    assert!(why.message.contains(name(&workers[0])) && why.message.contains("Insufficient cpu"), "{why:?}");

    ns.kubelet.run(name(&workers[0])).await;
    let one = |status: &RayClusterStatus| status.ready_worker_replicas == Some(1);
    let status = ns.status_is("demo", "one ready worker", one).await;
    assert!(!status.condition_is_true("RayClusterProvisioned"));
    assert_eq!(blocked(&status), None);

    ns.kubelet.run(name(&workers[1])).await;
    let status = ns.ready("demo").await;
    assert_eq!(condition(&status, "RayClusterProvisioned"), "True AllPodRunningAndReadyFirstTime");
    assert!(status.state_transition_times.contains_key("ready"));
    assert_eq!((status.available_worker_replicas, status.ready_worker_replicas), (Some(2), Some(2)));
}

#[tokio::test]
async fn endpoints_are_the_services_ports() {
    let ns = Namespace::new("create").await;
    let _operator = ns.operator().await;
    let _kubelet = ns.play(Play::All);
    ns.create(&sample::cluster("plain", "[]")).await;
    let mut typed = sample::raw("typed", "[]");
    typed["spec"]["headGroupSpec"]["serviceType"] = json!("NodePort");
    ns.create(&serde_json::from_value(typed).unwrap()).await;

    let status = ns.ready("plain").await;
    let endpoints: Vec<String> = status.endpoints.iter().map(|(name, port)| format!("{name}={port}")).collect();
    assert_eq!(endpoints, ["client=10001", "dashboard=8265", "gcs-server=6379", "metrics=8080", "serve=8000"]);

    let status = ns.ready("typed").await;
    let service = ns.services.get("typed-head-svc").await.unwrap().spec.unwrap();
    let ports = service.ports.unwrap();
    let dashboard = ports.iter().find(|port| port.name.as_deref() == Some("dashboard")).unwrap();
    assert_eq!(status.endpoints["dashboard"], dashboard.node_port.unwrap().to_string());
    assert_eq!(Some(status.head.unwrap().service_ip), service.cluster_ip);
}

#[tokio::test]
async fn a_cluster_of_another_controller_is_left_alone() {
    let ns = Namespace::new("create").await;
    let mut other = sample::raw("other", "[{groupName: small, replicas: 2}]");
    other["spec"]["managedBy"] = json!("kueue.x-k8s.io/multikueue");
    ns.create(&serde_json::from_value(other).unwrap()).await;
    let _operator = ns.operator().await;
    let _kubelet = ns.play(Play::All);
    ns.create(&sample::cluster("ours", "[]")).await;
    ns.ready("ours").await;
    let other = ns.clusters.get("other").await.unwrap();
    assert_eq!(other.status, None);
    assert!(ns.all_pods("other").await.is_empty());
    assert!(ns.events("other").await.is_empty());
}

#[tokio::test]
async fn the_longest_names_and_the_oddest_groups_work() {
    let ns = Namespace::new("create").await;
    let _operator = ns.operator().await;
    let _kubelet = ns.play(Play::All);
    let long = format!("c{}", "x".repeat(52));
    let group = "G".repeat(63);
    ns.create(&sample::cluster(&long, &format!("[{{groupName: {group}}}, {{groupName: a.b-c}}, {{groupName: '9'}}]")))
        .await;
    let status = ns.ready(&long).await;
    assert_eq!(status.ready_worker_replicas, Some(3));
    assert_eq!(status.head.unwrap().service_name, format!("{long}-head-svc"));
    // Names that are cut meet in a prefix; the pods of each group still have names of their own.
    assert_eq!(ns.all_pods(&long).await.len(), 4);
}

#[tokio::test]
async fn labels_of_the_user_do_not_hide_pods() {
    let ns = Namespace::new("create").await;
    let _operator = ns.operator().await;
    let _kubelet = ns.play(Play::All);
    let mut raw = sample::raw("demo", "[{groupName: small, replicas: 2}]");
    let mine = json!({"labels": {"app.kubernetes.io/name": "mine", "ray.io/cluster": "other", "ray.io/group": "other",
        "ray.io/node-type": "other"}});
    raw["spec"]["headGroupSpec"]["template"]["metadata"] = mine.clone();
    raw["spec"]["workerGroupSpecs"][0]["template"]["metadata"] = mine;
    ns.create(&serde_json::from_value::<RayCluster>(raw).unwrap()).await;
    ns.ready("demo").await;
    assert_eq!(ns.all_pods("demo").await.len(), 3);
    assert!(ns.all_pods("other").await.is_empty());
    let head = ns.head("demo").await.unwrap();
    assert_eq!(head.metadata.labels.unwrap()["app.kubernetes.io/name"], "mine");
}

#[tokio::test]
async fn two_clusters_in_a_namespace_do_not_touch_each_other() {
    let ns = Namespace::new("create").await;
    let _operator = ns.operator().await;
    let _kubelet = ns.play(Play::All);
    ns.create(&sample::cluster("one", "[{groupName: small, replicas: 2}]")).await;
    ns.ready("one").await;
    let before: Vec<String> = ns.all_pods("one").await.iter().map(|pod| uid(pod).to_owned()).collect();
    ns.create(&sample::cluster("one-small", "[{groupName: small, replicas: 1}]")).await;
    ns.ready("one-small").await;
    ns.scale("one-small", 0, 0).await;
    ns.has("one-small", "small", 0).await;
    throughout(std::time::Duration::from_secs(1), "the other cluster as it was", async || {
        let pods = ns.all_pods("one").await;
        let now: Vec<String> = pods.iter().map(|pod| uid(pod).to_owned()).collect();
        if now == before { Ok(()) } else { Err(format!("{:?}", names(&pods))) }
    })
    .await;
}
