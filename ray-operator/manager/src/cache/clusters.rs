//! RayClusters, kept as compact JSON and decoded when a pass needs one.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::RwLock;

use super::version;
use super::watched::WatchedCluster;

/// Namespace and name of a RayCluster.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ClusterKey {
    /// Namespace.
    pub namespace: Arc<str>,
    /// Name.
    pub name: Arc<str>,
}

impl std::fmt::Display for ClusterKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.namespace, self.name)
    }
}

/// A RayCluster as it is kept.
#[derive(Debug)]
pub struct StoredCluster {
    /// `metadata.uid`.
    pub uid: Arc<str>,
    /// `metadata.generation`.
    pub generation: i64,
    /// `metadata.resourceVersion`.
    pub resource_version: String,
    /// The whole object without its managed fields.
    pub json: Box<str>,
}

/// All RayClusters.
#[derive(Debug, Default)]
pub struct Clusters {
    inner: RwLock<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    by_key: HashMap<ClusterKey, Arc<StoredCluster>>,
    by_uid: HashMap<Arc<str>, ClusterKey>,
}

impl Clusters {
    /// One cluster.
    #[must_use]
    pub fn get(&self, key: &ClusterKey) -> Option<Arc<StoredCluster>> {
        self.inner.read().by_key.get(key).cloned()
    }

    /// The cluster of a UID.
    #[must_use]
    pub fn key_of(&self, uid: &str) -> Option<ClusterKey> {
        self.inner.read().by_uid.get(uid).cloned()
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.inner.read().by_key.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Puts a cluster in, unless a newer state of it is there.
    pub fn apply(&self, cluster: WatchedCluster) -> ClusterKey {
        self.inner.write().put(cluster)
    }

    /// Takes a cluster out.
    pub fn delete(&self, cluster: &WatchedCluster) -> ClusterKey {
        let key = cluster.key();
        let mut inner = self.inner.write();
        // A successor of the same name may be there already.
        if inner.by_key.get(&key).is_some_and(|stored| *stored.uid == *cluster.stored.uid) {
            inner.remove(&key);
        }
        key
    }

    /// Makes `clusters` all there is in a namespace (`None`: in all of them); returns the keys that are concerned.
    pub fn replace(&self, namespace: Option<&str>, clusters: Vec<WatchedCluster>) -> Vec<ClusterKey> {
        let mut inner = self.inner.write();
        let in_scope = |key: &ClusterKey| namespace.is_none_or(|namespace| *key.namespace == *namespace);
        let mut keys: Vec<ClusterKey> = inner.by_key.keys().filter(|key| in_scope(key)).cloned().collect();
        let listed: HashMap<ClusterKey, WatchedCluster> = clusters.into_iter().map(|c| (c.key(), c)).collect();
        for key in &keys {
            if !listed.contains_key(key) {
                inner.remove(key);
            }
        }
        keys.extend(listed.into_values().map(|cluster| inner.put(cluster)));
        keys.sort_unstable();
        keys.dedup();
        keys
    }
}

impl Inner {
    fn put(&mut self, cluster: WatchedCluster) -> ClusterKey {
        let key = cluster.key();
        let stored = cluster.stored;
        if let Some(old) = self.by_key.get(&key) {
            if old.uid == stored.uid && version(&old.resource_version) > version(&stored.resource_version) {
                return key;
            }
            if old.uid != stored.uid {
                self.remove(&key);
            }
        }
        self.by_uid.insert(Arc::clone(&stored.uid), key.clone());
        self.by_key.insert(key.clone(), Arc::new(stored));
        key
    }

    fn remove(&mut self, key: &ClusterKey) {
        if let Some(stored) = self.by_key.remove(key) {
            self.by_uid.remove(&stored.uid);
        }
    }
}
