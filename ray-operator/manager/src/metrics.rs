//! What is counted, served on `/metrics`.

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

/// Labels of a write.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct WriteLabels {
    /// `create`, `delete` or `patch`.
    pub verb: &'static str,
    /// `Pod`, `Service`, `RayCluster` or `Event`.
    pub kind: &'static str,
    /// `done`, `already`, `refused` or `failed`.
    pub result: &'static str,
}

/// The operator's metrics.
#[derive(Debug, Clone)]
pub struct Metrics {
    /// Clusters that wait for their turn.
    pub queue_depth: Gauge,
    /// Passes that panicked.
    pub panics: Counter,
    /// How long passes take, seconds.
    pub pass_seconds: Histogram,
    /// Writes to the API server.
    pub writes: Family<WriteLabels, Counter>,
    /// Live lists taken because the watch did not show a write in time.
    pub live_lists: Counter,
    /// Events that were not published because too many came.
    pub dropped_events: Counter,
    /// RayClusters in the cache.
    pub clusters: Gauge,
    /// Pods in the cache.
    pub pods: Gauge,
}

impl Default for Metrics {
    fn default() -> Self {
        let buckets = [0.0001, 0.000_5, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 30.0];
        Self {
            queue_depth: Gauge::default(),
            panics: Counter::default(),
            pass_seconds: Histogram::new(buckets),
            writes: Family::default(),
            live_lists: Counter::default(),
            dropped_events: Counter::default(),
            clusters: Gauge::default(),
            pods: Gauge::default(),
        }
    }
}

impl Metrics {
    /// Counts a write.
    pub fn count_write(&self, verb: &'static str, kind: &'static str, result: &'static str) {
        self.writes.get_or_create(&WriteLabels { verb, kind, result }).inc();
    }

    /// A registry with all of them.
    #[must_use]
    pub fn registry(&self) -> Registry {
        let mut registry = Registry::with_prefix("ray_operator");
        registry.register("queue_depth", "Clusters that wait for their turn", self.queue_depth.clone());
        registry.register("pass_panics", "Passes that panicked", self.panics.clone());
        registry.register("pass_seconds", "Duration of a pass over one cluster", self.pass_seconds.clone());
        registry.register("writes", "Writes to the API server", self.writes.clone());
        registry.register("live_lists", "Live lists because a watch was late", self.live_lists.clone());
        registry.register("dropped_events", "Events not published because too many came", self.dropped_events.clone());
        registry.register("cached_clusters", "RayClusters in the cache", self.clusters.clone());
        registry.register("cached_pods", "Pods in the cache", self.pods.clone());
        registry
    }
}
