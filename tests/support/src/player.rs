//! A kubelet that plays by itself: all pods of a namespace.

use futures::StreamExt;
use k8s_openapi::api::core::v1::Pod;
use kube::runtime::watcher::{self, Event, watcher};
use kube::{Api, Client};
use tokio::task::JoinHandle;

use crate::kubelet::Kubelet;
use crate::look::{is_leaving, name};

/// What it does by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Play {
    /// Every pod runs and is ready; deletions end at once.
    All,
    /// Deletions of bound pods end at once; nothing starts.
    Deletions,
}

/// Plays until it is dropped.
#[derive(Debug)]
pub struct Player(JoinHandle<()>);

impl Player {
    pub(crate) fn start(client: Client, namespace: &str, play: Play) -> Self {
        let kubelet = Kubelet::new(client.clone(), namespace);
        let pods: Api<Pod> = Api::namespaced(client, namespace);
        Self(tokio::spawn(async move {
            let mut events = std::pin::pin!(watcher(pods, watcher::Config::default()));
            while let Some(event) = events.next().await {
                if let Ok(Event::Apply(pod) | Event::InitApply(pod)) = event {
                    step(&kubelet, &pod, play).await;
                }
            }
        }))
    }
}

async fn step(kubelet: &Kubelet, pod: &Pod, play: Play) {
    let bound = pod.spec.as_ref().is_some_and(|spec| spec.node_name.is_some());
    let pending = pod.status.as_ref().and_then(|status| status.phase.as_deref()) == Some("Pending");
    if is_leaving(pod) {
        if bound {
            kubelet.finish_deletion(name(pod)).await;
        }
    } else if pending && !bound && play == Play::All {
        // In a task of its own: a pod that is deleted meanwhile makes it fail, which is no harm.
        let (kubelet, name) = (kubelet.clone(), name(pod).to_owned());
        let _ = tokio::spawn(async move { kubelet.run(&name).await }).await;
    }
}

impl Drop for Player {
    fn drop(&mut self) {
        self.0.abort();
    }
}
