//! Watches: from the API server into the cache, and a poke for every cluster that is concerned.

use std::fmt::Debug;
use std::sync::Arc;

use futures::StreamExt;
use kube::core::NamespaceResourceScope;
use kube::runtime::WatchStreamExt;
use kube::runtime::watcher::{self, Event, watcher};
use kube::{Api, Client, Resource};
use serde::de::DeserializeOwned;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::cache::{Cache, ClusterKey, WatchedCluster, WatchedPod, WatchedService};
use crate::queue::Trigger;

/// Only objects that belong to some RayCluster are read at all.
const POD_SELECTOR: &str = "ray.io/cluster,ray.io/node-type";

/// A kind whose objects go into the cache.
trait Cached:
    Resource<DynamicType = (), Scope = NamespaceResourceScope> + Clone + Debug + DeserializeOwned + Send + 'static
{
    fn apply(self, namespace: Option<&str>, cache: &Cache) -> Vec<ClusterKey>;
    fn delete(self, namespace: Option<&str>, cache: &Cache) -> Vec<ClusterKey>;
    fn replace(namespace: Option<&str>, objects: Vec<Self>, cache: &Cache) -> Vec<ClusterKey>;
}

fn keys(cache: &Cache, owners: &[String]) -> Vec<ClusterKey> {
    owners.iter().filter_map(|owner| cache.clusters.key_of(owner)).collect()
}

impl Cached for WatchedPod {
    fn apply(self, namespace: Option<&str>, cache: &Cache) -> Vec<ClusterKey> {
        keys(cache, &cache.pods.apply(namespace, self.object))
    }
    fn delete(self, namespace: Option<&str>, cache: &Cache) -> Vec<ClusterKey> {
        keys(cache, &cache.pods.delete(namespace, &self.object))
    }
    fn replace(namespace: Option<&str>, objects: Vec<Self>, cache: &Cache) -> Vec<ClusterKey> {
        keys(cache, &cache.pods.replace(namespace, objects.into_iter().map(|pod| pod.object).collect()))
    }
}

impl Cached for WatchedService {
    fn apply(self, namespace: Option<&str>, cache: &Cache) -> Vec<ClusterKey> {
        keys(cache, &cache.services.apply(namespace, self.object))
    }
    fn delete(self, namespace: Option<&str>, cache: &Cache) -> Vec<ClusterKey> {
        keys(cache, &cache.services.delete(namespace, &self.object))
    }
    fn replace(namespace: Option<&str>, objects: Vec<Self>, cache: &Cache) -> Vec<ClusterKey> {
        keys(cache, &cache.services.replace(namespace, objects.into_iter().map(|service| service.object).collect()))
    }
}

impl Cached for WatchedCluster {
    fn apply(self, _namespace: Option<&str>, cache: &Cache) -> Vec<ClusterKey> {
        vec![cache.clusters.apply(self)]
    }
    fn delete(self, _namespace: Option<&str>, cache: &Cache) -> Vec<ClusterKey> {
        vec![cache.clusters.delete(&self)]
    }
    fn replace(namespace: Option<&str>, objects: Vec<Self>, cache: &Cache) -> Vec<ClusterKey> {
        cache.clusters.replace(namespace, objects)
    }
}

/// Watches everything in `namespaces` (empty: in all of them) until `stop`. `filled` gets a permit for each list that
/// arrived for the first time; [`count`] says how many there will be.
pub fn start(
    client: &Client,
    namespaces: &[String],
    cache: &Arc<Cache>,
    trigger: &Trigger,
    filled: &Arc<Semaphore>,
    stop: &CancellationToken,
) {
    let scopes: Vec<Option<&str>> =
        if namespaces.is_empty() { vec![None] } else { namespaces.iter().map(|n| Some(n.as_str())).collect() };
    for scope in scopes {
        let shell = Shell {
            cache: Arc::clone(cache),
            trigger: trigger.clone(),
            filled: Arc::clone(filled),
            stop: stop.clone(),
            namespace: scope.map(str::to_owned),
        };
        let config = watcher::Config::default();
        spawn(stop, shell.clone().run(api::<WatchedCluster>(client, scope), config.clone()));
        spawn(stop, shell.clone().run(api::<WatchedPod>(client, scope), config.clone().labels(POD_SELECTOR)));
        // KubeRay's two Services share no label, so all are read; those without a RayCluster as owner are not kept.
        spawn(stop, shell.run(api::<WatchedService>(client, scope), config));
    }
}

/// Runs a watch. One that ends before `stop` takes the operator with it: a restart sees again, a frozen view never does.
fn spawn(stop: &CancellationToken, watch: impl Future<Output = ()> + Send + 'static) {
    let (watch, stop) = (tokio::spawn(watch), stop.clone());
    tokio::spawn(async move {
        let end = watch.await;
        if !stop.is_cancelled() {
            tracing::error!(?end, "a watch ended by itself; stopping");
            stop.cancel();
        }
    });
}

/// How many first lists there are.
#[must_use]
pub fn count(namespaces: &[String]) -> u32 {
    u32::try_from(namespaces.len().max(1)).unwrap_or(u32::MAX).saturating_mul(3)
}

fn api<K: Cached>(client: &Client, namespace: Option<&str>) -> Api<K> {
    match namespace {
        Some(namespace) => Api::namespaced(client.clone(), namespace),
        None => Api::all(client.clone()),
    }
}

/// Whether the API server answered that it has no such resource.
fn is_unknown_kind(error: &watcher::Error) -> bool {
    match error {
        watcher::Error::InitialListFailed(kube::Error::Api(status))
        | watcher::Error::WatchStartFailed(kube::Error::Api(status)) => status.code == 404,
        _ => false,
    }
}

#[derive(Clone)]
struct Shell {
    cache: Arc<Cache>,
    trigger: Trigger,
    filled: Arc<Semaphore>,
    stop: CancellationToken,
    namespace: Option<String>,
}

impl Shell {
    async fn run<K: Cached>(self, api: Api<K>, config: watcher::Config) {
        let events = watcher(api, config).default_backoff();
        let mut events = std::pin::pin!(events);
        let mut listed = Vec::new();
        let mut first = true;
        loop {
            let event = tokio::select! {
                () = self.stop.cancelled() => return,
                event = events.next() => event,
            };
            let concerned = match event {
                // The stream never ends by itself.
                None => return,
                Some(Err(error)) => {
                    let kind = K::kind(&());
                    if is_unknown_kind(&error) {
                        tracing::warn!("the API server does not know {kind}; is its CRD installed? Waiting for it");
                    } else {
                        tracing::warn!(%kind, %error, "watch broken; it is tried again");
                    }
                    continue;
                }
                Some(Ok(Event::Init)) => {
                    listed.clear();
                    continue;
                }
                Some(Ok(Event::InitApply(object))) => {
                    listed.push(object);
                    continue;
                }
                Some(Ok(Event::InitDone)) => {
                    let objects = std::mem::take(&mut listed);
                    tracing::debug!(kind = %K::kind(&()), count = objects.len(), "listed");
                    let concerned = K::replace(self.namespace.as_deref(), objects, &self.cache);
                    if std::mem::take(&mut first) {
                        self.filled.add_permits(1);
                    }
                    concerned
                }
                Some(Ok(Event::Apply(object))) => object.apply(self.namespace.as_deref(), &self.cache),
                Some(Ok(Event::Delete(object))) => object.delete(self.namespace.as_deref(), &self.cache),
            };
            for key in concerned {
                self.trigger.poke(key);
            }
        }
    }
}
