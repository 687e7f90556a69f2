//! Objects that RayClusters own, found by their owner without looking at anybody else's.

use std::collections::{BTreeMap, HashMap, HashSet};
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
    /// Owner UID → object UID → object. Ordered, so that the same objects are the same view in every process.
    by_owner: HashMap<String, BTreeMap<String, Arc<T>>>,
    /// Object UID → owner UID, so that an object that changes hands leaves its old owner.
    owner_of: HashMap<String, String>,
    /// Watched namespace (`None`: all of them) → the highest resourceVersion any event of that watch carried. One watch says
    /// nothing about how far another is.
    seen: HashMap<Option<String>, u64>,
    /// Owner UID → its namespace and the resourceVersion of a live list that its watch has not reached yet.
    floors: HashMap<String, (String, u64)>,
}

impl<T> Default for OwnedStore<T> {
    fn default() -> Self {
        let (by_owner, owner_of) = (HashMap::new(), HashMap::new());
        Self { inner: RwLock::new(Inner { by_owner, owner_of, seen: HashMap::new(), floors: HashMap::new() }) }
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

    /// The highest resourceVersion that came through the watch of that namespace.
    #[must_use]
    pub fn seen(&self, namespace: &str) -> u64 {
        self.inner.read().seen_in(namespace)
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

    /// What the watch of a namespace (`None`: of all) shows: puts an object in, unless something newer is known. Returns the
    /// owners that are concerned.
    pub fn apply(&self, namespace: Option<&str>, object: T) -> Vec<String> {
        let mut inner = self.inner.write();
        inner.reach(namespace, &object);
        inner.put_watched(object)
    }

    /// Takes an object out. Returns the owners that are concerned.
    pub fn delete(&self, namespace: Option<&str>, object: &T) -> Vec<String> {
        let mut inner = self.inner.write();
        inner.reach(namespace, object);
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
            .flat_map(BTreeMap::values)
            .filter(|object| in_scope(object) && !listed.contains(object.uid()))
            .map(|object| object.uid().to_owned())
            .collect();
        let mut owners: Vec<String> = gone.iter().filter_map(|uid| inner.remove(uid)).collect();
        for object in objects {
            inner.reach(namespace, &object);
            owners.extend(inner.put_watched(object));
        }
        owners.sort_unstable();
        owners.dedup();
        owners
    }

    /// Makes `objects`, listed live at `listed_at`, all there is of one owner in a namespace; what the watch showed later than
    /// that stays.
    pub fn replace_owner(&self, namespace: &str, owner_uid: &str, objects: Vec<T>, listed_at: u64) {
        let mut inner = self.inner.write();
        if inner.seen_in(namespace) >= listed_at {
            // The watch has overtaken the list and knows better: something listed may be gone again.
            return;
        }
        inner.floors.insert(owner_uid.to_owned(), (namespace.to_owned(), listed_at));
        let listed: HashSet<&str> = objects.iter().map(Owned::uid).collect();
        let stored = inner.by_owner.get(owner_uid);
        let gone: Vec<String> = stored
            .into_iter()
            .flat_map(BTreeMap::values)
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
    fn seen_in(&self, namespace: &str) -> u64 {
        let own = self.seen.get(&Some(namespace.to_owned()));
        own.or_else(|| self.seen.get(&None)).copied().unwrap_or(0)
    }

    /// The watch of a namespace has come so far.
    fn reach(&mut self, namespace: Option<&str>, object: &T) {
        let reached = version(object.resource_version());
        let seen = self.seen.entry(namespace.map(str::to_owned)).or_default();
        *seen = reached.max(*seen);
        if !self.floors.is_empty() {
            let floors = std::mem::take(&mut self.floors);
            let open = |(namespace, floor): &(String, u64)| self.seen_in(namespace) < *floor;
            self.floors = floors.into_iter().filter(|(_, floor)| open(floor)).collect();
        }
    }

    /// Puts in what a watch showed. A watch that is behind a live list still tells of objects that are gone by then; they
    /// must not come back to life until it tells of their end.
    fn put_watched(&mut self, object: T) -> Vec<String> {
        let floor = object.owner_uid().and_then(|owner| self.floors.get(owner)).map_or(0, |(_, floor)| *floor);
        if version(object.resource_version()) <= floor && !self.owner_of.contains_key(object.uid()) {
            return Vec::new();
        }
        self.put(object)
    }

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
        assert_eq!(store.apply(None, service("a", Some("x"), "n", 1)), ["x"]);
        assert!(store.apply(None, service("b", None, "n", 2)).is_empty());
        assert_eq!(uids(&store, "x"), ["a"]);
        assert_eq!((store.len(), store.seen("n")), (1, 2));
    }

    #[test]
    fn an_older_state_does_not_replace_a_newer_one() {
        let store = OwnedStore::default();
        store.apply(None, service("a", Some("x"), "n", 10));
        store.apply(None, ObservedService { leaving: true, ..service("a", Some("x"), "n", 9) });
        assert!(!store.get("x", "a").unwrap().leaving);
    }

    #[test]
    fn an_object_that_changes_hands_leaves_its_old_owner() {
        let store = OwnedStore::default();
        store.apply(None, service("a", Some("x"), "n", 1));
        assert_eq!(store.apply(None, service("a", Some("y"), "n", 2)), ["x", "y"]);
        assert_eq!((uids(&store, "x"), uids(&store, "y")), (vec![], vec!["a".to_owned()]));
        assert_eq!(store.apply(None, service("a", None, "n", 3)), ["y"]);
        assert!(store.is_empty());
    }

    #[test]
    fn a_relist_of_one_namespace_leaves_the_others() {
        let store = OwnedStore::default();
        for (uid, namespace) in [("a", "one"), ("b", "one"), ("c", "two")] {
            store.apply(None, service(uid, Some("x"), namespace, 1));
        }
        assert_eq!(store.replace(Some("one"), vec![service("b", Some("x"), "one", 2)]), ["x"]);
        assert_eq!(uids(&store, "x"), ["b", "c"]);
        store.replace(None, vec![]);
        assert!(store.is_empty());
    }

    #[test]
    fn one_watch_says_nothing_about_another() {
        let store = OwnedStore::default();
        store.apply(Some("one"), service("a", Some("x"), "one", 9));
        store.apply(Some("two"), service("b", Some("y"), "two", 5));
        assert_eq!((store.seen("one"), store.seen("two")), (9, 5));
    }

    #[test]
    fn a_live_list_of_an_owner_replaces_what_the_watch_knew() {
        let store = OwnedStore::default();
        store.apply(None, service("old", Some("x"), "n", 5));
        store.replace_owner("n", "x", vec![service("listed", Some("x"), "n", 9)], 10);
        assert_eq!(uids(&store, "x"), ["listed"]);
    }

    #[test]
    fn a_live_list_that_the_watch_has_overtaken_is_not_used() {
        let store = OwnedStore::default();
        store.apply(None, service("gone", Some("x"), "n", 5));
        store.delete(None, &service("gone", Some("x"), "n", 12));
        store.replace_owner("n", "x", vec![service("gone", Some("x"), "n", 5)], 10);
        assert!(store.is_empty());
    }

    #[test]
    fn a_late_watch_does_not_bring_back_what_a_live_list_knows_to_be_gone() {
        let store = OwnedStore::default();
        store.apply(None, service("old", Some("x"), "n", 5));
        store.replace_owner("n", "x", vec![service("new", Some("x"), "n", 9)], 10);
        assert!(store.apply(None, service("old", Some("x"), "n", 6)).is_empty());
        assert_eq!(uids(&store, "x"), ["new"]);
        // What comes after the list counts again.
        store.apply(None, service("new", Some("x"), "n", 11));
        store.apply(None, service("late", Some("x"), "n", 12));
        assert_eq!(uids(&store, "x"), ["late", "new"]);
        assert!(store.inner.read().floors.is_empty());
    }
}
