//! The custom resource definition, on a real API server.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "tests fail by panicking")]

mod accepted;
mod kubectl;
mod patches;
mod refused;
mod template;
mod v1alpha1;

use kube::Api;
use kube::api::{ApiResource, DynamicObject, PostParams};
use ray_api::RayCluster;
use serde_json::Value;
use test_support::Namespace;

/// RayClusters without our types between test and API server.
fn untyped(ns: &Namespace) -> Api<DynamicObject> {
    Api::namespaced_with(ns.client.clone(), &ns.name, &ApiResource::erase::<RayCluster>(&()))
}

/// What the API server would make of an object, or its refusal.
async fn dry_run(ns: &Namespace, object: &Value) -> Result<Value, String> {
    let params = PostParams { dry_run: true, ..PostParams::default() };
    let object: DynamicObject = serde_json::from_value(object.clone()).unwrap();
    match untyped(ns).create(&params, &object).await {
        Ok(created) => Ok(serde_json::to_value(created).unwrap()),
        Err(kube::Error::Api(status)) => Err(status.message.clone()),
        Err(error) => panic!("{error}"),
    }
}
