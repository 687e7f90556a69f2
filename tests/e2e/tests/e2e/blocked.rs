//! Groups that cannot start.

use serde_json::json;

use crate::cluster::Cluster;
use crate::shared;
use crate::told::tell;

pub(crate) async fn groups_that_cannot_start_say_why_and_hold_up_no_other() {
    let mut object = shared::spec();
    object["metadata"]["name"] = json!("blocked");
    let groups = object.pointer_mut("/spec/workerGroupSpecs").unwrap().as_array_mut().unwrap();
    groups[1]["groupName"] = json!("no-image");
    // Nothing listens there: refused at once, without asking any resolver.
    groups[1]["template"]["spec"]["containers"][0]["image"] = json!("localhost:1/nothing:1");
    let mut huge = groups[0].clone();
    huge["groupName"] = json!("huge");
    huge["template"]["spec"]["containers"][0]["resources"] =
        json!({"requests": {"cpu": "1000"}, "limits": {"cpu": "1000"}});
    // First, so that whatever it holds up would be held up.
    groups.insert(0, huge);

    let cluster = Cluster::create("e2e-blocked", &object).await;
    let status = cluster
        .status_is("the reason of each blocked group, and the other one's worker", |status| {
            let reason = |group| status.worker_group(group)?.blocked.as_ref().map(|blocked| blocked.reason.as_str());
            reason("huge") == Some("Unschedulable")
                && matches!(reason("no-image"), Some("ErrImagePull" | "ImagePullBackOff"))
                && status.worker_group("small").is_some_and(|group| group.ready == Some(1))
        })
        .await;
    for group in ["huge", "no-image"] {
        let blocked = status.worker_group(group).and_then(|group| group.blocked.clone()).unwrap();
        tell(format_args!("{group}: {}: {}", blocked.reason, blocked.message));
    }
    let message = |group| status.worker_group(group).and_then(|group| group.blocked.clone()).unwrap().message;
    assert!(message("huge").contains("Insufficient cpu"), "{}", message("huge"));
    assert!(message("no-image").contains("localhost:1/nothing:1"), "{}", message("no-image"));
    assert_eq!(status.worker_group("small").unwrap().blocked, None);
    assert_eq!(status.ready_worker_replicas, Some(1));
    assert_ne!(status.state, "ready");
    assert!(!status.condition_is_true("RayClusterProvisioned"));
    cluster.delete().await;
    cluster.put_away().await;
}
