//! Objects that RayClusters own, found by their owner without looking at anybody else's.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use parking_lot::RwLock;
use ray_core::observed::{ObservedPod, ObservedService};

use super::version;

/// What the store needs to know of an object.
pub trait Owned {
    /// UID of its controller owner.
    fn owner_uid(&self) -> Option<&str>;
    /// Its own UID.
    fn uid(&self) -> &str;
    /// Its namespace.
    fn namespace(&self) -> &str;
    /// Its resourceVersion.
    fn resource_version(&self) -> &str;
}

macro_rules! owned {
    ($($kind:ty),*) => {$(
        impl Owned for $kind {
            fn owner_uid(&self) -> Option<&str> {
                self.owner_uid.as_deref()
            }
            fn uid(&self) -> &str {
                &self.uid
            }
            fn namespace(&self) -> &str {
                &self.namespace
            }
            fn resource_version(&self) -> &str {
                &self.resource_version
            }
        }
    )*};
}
owned!(ObservedPod, ObservedService);

/// Objects of one kind by owner UID.
#[derive(Debug)]
pub struct OwnedStore<T> {
    inner: RwLock<Inner<T>>,
}

#[derive(Debug)]
struct Inner<T> {
    /// Owner UID → object UID → object.
    by_owner: HashMap<String, HashMap<String, Arc<T>>>,
    /// Object UID → owner UID, so that an object that changes hands leaves its old owner.
    owner_of: HashMap<String, String>,
    /// The highest resourceVersion any event carried.
    seen: u64,
}

impl<T> Default for OwnedStore<T> {
    fn default() -> Self {
        Self { inner: RwLock::new(Inner { by_owner: HashMap::new(), owner_of: HashMap::new(), seen: 0 }) }
    }
}

impl<T: Owned> OwnedStore<T> {
    /// The objects of an owner.
    #[must_use]
    pub fn of(&self, owner_uid: &str) -> Vec<Arc<T>> {
        let inner = self.inner.read();
        inner.by_owner.get(owner_uid).map(|objects| objects.values().cloned().collect()).unwrap_or_default()
    }

    /// One object of an owner.
    #[must_use]
    pub fn get(&self, owner_uid: &str, uid: &str) -> Option<Arc<T>> {
        self.inner.read().by_owner.get(owner_uid)?.get(uid).cloned()
    }

    /// The highest resourceVersion that came through the watch.
    #[must_use]
    pub fn seen(&self) -> u64 {
        self.inner.read().seen
    }

    /// How many objects are stored.
    #[must_use]
    pub fn len(&self) -> usize {
        self.inner.read().owner_of.len()
    }

    /// Whether nothing is stored.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Puts an object in, unless a newer state of it is there. Returns the owners that are concerned.
    pub fn apply(&self, object: T) -> Vec<String> {
        let mut inner = self.inner.write();
        inner.seen = inner.seen.max(version(object.resource_version()));
        inner.put(object)
    }

    /// Takes an object out. Returns the owners that are concerned.
    pub fn delete(&self, object: &T) -> Vec<String> {
        let mut inner = self.inner.write();
        inner.seen = inner.seen.max(version(object.resource_version()));
        inner.remove(object.uid()).into_iter().collect()
    }

    /// Makes `objects` all there is in a namespace (`None`: in all of them). Returns the owners that are concerned.
    pub fn replace(&self, namespace: Option<&str>, objects: Vec<T>) -> Vec<String> {
        let mut inner = self.inner.write();
        let listed: HashSet<&str> = objects.iter().map(Owned::uid).collect();
        let in_scope = |object: &T| namespace.is_none_or(|namespace| object.namespace() == namespace);
        let gone: Vec<String> = inner
            .by_owner
            .values()
            .flat_map(HashMap::values)
            .filter(|object| in_scope(object) && !listed.contains(object.uid()))
            .map(|object| object.uid().to_owned())
            .collect();
        let mut owners: Vec<String> = gone.iter().filter_map(|uid| inner.remove(uid)).collect();
        for object in objects {
            inner.seen = inner.seen.max(version(object.resource_version()));
            owners.extend(inner.put(object));
        }
        owners.sort_unstable();
        owners.dedup();
        owners
    }

    /// Makes `objects`, listed live at `listed_at`, all there is of one owner; what the watch showed later than that stays.
    pub fn replace_owner(&self, owner_uid: &str, objects: Vec<T>, listed_at: u64) {
        let mut inner = self.inner.write();
        let listed: HashSet<&str> = objects.iter().map(Owned::uid).collect();
        let stored = inner.by_owner.get(owner_uid);
        let gone: Vec<String> = stored
            .into_iter()
            .flat_map(HashMap::values)
            .filter(|object| !listed.contains(object.uid()) && version(object.resource_version()) <= listed_at)
            .map(|object| object.uid().to_owned())
            .collect();
        for uid in gone {
            inner.remove(&uid);
        }
        for object in objects {
            inner.put(object);
        }
    }
}

impl<T: Owned> Inner<T> {
    fn put(&mut self, object: T) -> Vec<String> {
        let uid = object.uid().to_owned();
        let mut concerned = Vec::new();
        if let Some(stored) = self.owner_of.get(&uid).and_then(|owner| self.by_owner.get(owner)?.get(&uid))
            && version(stored.resource_version()) > version(object.resource_version())
        {
            return concerned;
        }
        let owner = object.owner_uid().map(str::to_owned);
        if self.owner_of.get(&uid) != owner.as_ref() {
            concerned.extend(self.remove(&uid));
        }
        if let Some(owner) = owner {
            self.owner_of.insert(uid.clone(), owner.clone());
            self.by_owner.entry(owner.clone()).or_default().insert(uid, Arc::new(object));
            concerned.push(owner);
        }
        concerned
    }

    /// Takes an object out and returns its owner.
    fn remove(&mut self, uid: &str) -> Option<String> {
        let owner = self.owner_of.remove(uid)?;
        if let Some(objects) = self.by_owner.get_mut(&owner) {
            objects.remove(uid);
            if objects.is_empty() {
                self.by_owner.remove(&owner);
            }
        }
        Some(owner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn service(uid: &str, owner: Option<&str>, namespace: &str, version: u64) -> ObservedService {
        ObservedService {
            namespace: namespace.into(),
            name: uid.into(),
            uid: uid.into(),
            resource_version: version.to_string(),
            owner_uid: owner.map(Into::into),
            leaving: false,
            cluster_ip: None,
            ports: vec![],
        }
    }

    fn uids(store: &OwnedStore<ObservedService>, owner: &str) -> Vec<String> {
        let mut uids: Vec<_> = store.of(owner).iter().map(|s| s.uid.clone()).collect();
        uids.sort();
        uids
    }

    #[test]
    fn objects_are_found_by_owner_and_strangers_are_not_kept() {
        let store = OwnedStore::default();
        assert_eq!(store.apply(service("a", Some("x"), "n", 1)), ["x"]);
        assert!(store.apply(service("b", None, "n", 2)).is_empty());
        assert_eq!(uids(&store, "x"), ["a"]);
        assert_eq!((store.len(), store.seen()), (1, 2));
    }

    #[test]
    fn an_older_state_does_not_replace_a_newer_one() {
        let store = OwnedStore::default();
        store.apply(service("a", Some("x"), "n", 10));
        store.apply(ObservedService { leaving: true, ..service("a", Some("x"), "n", 9) });
        assert!(!store.get("x", "a").unwrap().leaving);
    }

    #[test]
    fn an_object_that_changes_hands_leaves_its_old_owner() {
        let store = OwnedStore::default();
        store.apply(service("a", Some("x"), "n", 1));
        assert_eq!(store.apply(service("a", Some("y"), "n", 2)), ["x", "y"]);
        assert_eq!((uids(&store, "x"), uids(&store, "y")), (vec![], vec!["a".to_owned()]));
        assert_eq!(store.apply(service("a", None, "n", 3)), ["y"]);
        assert!(store.is_empty());
    }

    #[test]
    fn a_relist_of_one_namespace_leaves_the_others() {
        let store = OwnedStore::default();
        for (uid, namespace) in [("a", "one"), ("b", "one"), ("c", "two")] {
            store.apply(service(uid, Some("x"), namespace, 1));
        }
        assert_eq!(store.replace(Some("one"), vec![service("b", Some("x"), "one", 2)]), ["x"]);
        assert_eq!(uids(&store, "x"), ["b", "c"]);
        store.replace(None, vec![]);
        assert!(store.is_empty());
    }

    #[test]
    fn a_live_list_of_an_owner_keeps_what_came_later() {
        let store = OwnedStore::default();
        store.apply(service("old", Some("x"), "n", 5));
        store.apply(service("later", Some("x"), "n", 20));
        store.replace_owner("x", vec![service("listed", Some("x"), "n", 9)], 10);
        assert_eq!(uids(&store, "x"), ["later", "listed"]);
    }
}
