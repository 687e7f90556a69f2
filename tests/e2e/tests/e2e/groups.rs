//! Groups that change.

use serde_json::json;
use test_support::{name, names, uid};

use crate::cluster::{RAY, SOON, restarts};
use crate::told::tell;
use crate::wait::eventually_within;
use crate::{program, shared};

pub(crate) async fn a_group_grows_and_shrinks_by_name() {
    let cluster = shared::cluster().await;
    let first = cluster.group("small").await.remove(0);
    let other = cluster.group("large").await.remove(0);

    cluster.patch(json!([{"op": "replace", "path": "/spec/workerGroupSpecs/0/replicas", "value": 3}])).await;
    cluster.ready().await;
    let three = cluster.group("small").await;
    assert_eq!((three.len(), uid(&three[0])), (3, uid(&first)));
    tell(format_args!("1 → 3: {:?}", names(&three)));
    program::runs_on_every_node(&cluster).await;

    // As Ray's autoscaler does: the number goes down and the worker that goes is named.
    cluster
        .patch(json!([
            {"op": "replace", "path": "/spec/workerGroupSpecs/0/replicas", "value": 2},
            {"op": "add", "path": "/spec/workerGroupSpecs/0/scaleStrategy", "value": {"workersToDelete": [name(&three[1])]}},
        ]))
        .await;
    cluster.ready().await;
    let two = cluster.group("small").await;
    let uids: Vec<&str> = two.iter().map(uid).collect();
    assert_eq!(uids, [uid(&three[0]), uid(&three[2])], "only the named one went");
    tell(format_args!("3 → 2 without {}", name(&three[1])));

    // The name still stands there, and now no other is named: the number alone decides.
    cluster.patch(json!([{"op": "replace", "path": "/spec/workerGroupSpecs/0/replicas", "value": 1}])).await;
    cluster.ready().await;
    let one = cluster.group("small").await;
    assert_eq!(one.len(), 1);
    assert!(uids.contains(&uid(&one[0])), "a worker that was there stays");
    assert_eq!(restarts(&one[0]), 0);
    assert_eq!(uid(&cluster.group("large").await[0]), uid(&other), "the other group was left alone");
    program::runs_on_every_node(&cluster).await;
}

pub(crate) async fn a_group_is_added_and_removed() {
    let cluster = shared::cluster().await;
    let before: Vec<String> = cluster.all_pods().await.iter().map(|pod| uid(pod).to_owned()).collect();
    let mut group = shared::spec().pointer("/spec/workerGroupSpecs/0").cloned().unwrap();
    group["groupName"] = json!("extra");
    cluster.patch(json!([{"op": "add", "path": "/spec/workerGroupSpecs/-", "value": group}])).await;
    let status = cluster.ready().await;
    assert_eq!(status.worker_group("extra").and_then(|group| group.ready), Some(1));
    program::runs_on_every_node(&cluster).await;

    cluster.patch(json!([{"op": "remove", "path": "/spec/workerGroupSpecs/2"}])).await;
    eventually_within(SOON, "end of the removed group's pods", async || {
        let after: Vec<String> = cluster.all_pods().await.iter().map(|pod| uid(pod).to_owned()).collect();
        if after == before { Ok(()) } else { Err(cluster.describe().await) }
    })
    .await;
    let forgets = eventually_within(RAY, "status without the group", async || {
        let status = cluster.object().await.status.unwrap_or_default();
        if status.worker_group("extra").is_none() { Ok(()) } else { Err(cluster.describe().await) }
    });
    forgets.await;
    program::runs_on_every_node(&cluster).await;
}
