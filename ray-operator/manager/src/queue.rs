//! Which cluster is worked on next.
//!
//! A key is never worked on twice at a time; what happens meanwhile is remembered and worked on once, afterwards. Keys are
//! served in the order they came, so a busy cluster cannot starve another; a key whose pass failed waits longer each time.

use std::collections::{HashMap, HashSet, VecDeque};
use std::future::Future;
use std::time::Duration;

use futures::StreamExt;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tokio_util::time::{DelayQueue, delay_queue};

use crate::cache::ClusterKey;
use crate::metrics::Metrics;

/// After a pass its cluster rests this long, so that a burst of watch events becomes one pass.
const REST: Duration = Duration::from_millis(10);
/// First wait after a failed pass; doubles.
const FIRST_BACKOFF: Duration = Duration::from_millis(500);
/// The longest wait after a failed pass.
const LONGEST_BACKOFF: Duration = Duration::from_secs(60);

/// The longest a pass can ask to wait. Looking earlier costs nothing, and the timers panic on what is years away, as a
/// time that somebody wrote into a status can be.
const LONGEST_WAIT: Duration = Duration::from_hours(1);

/// How a pass ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PassEnd {
    /// Done; look again after this long even if nothing happens.
    Done(Option<Duration>),
    /// The API server could not be talked to; try again, later each time.
    Failed,
}

/// Tells the queue that something about a cluster may have changed.
#[derive(Debug, Clone)]
pub struct Trigger(mpsc::UnboundedSender<ClusterKey>);

impl Trigger {
    /// Something about `key` may have changed.
    pub fn poke(&self, key: ClusterKey) {
        // The queue ends before its triggers only while the process stops.
        let _ = self.0.send(key);
    }
}

/// The queue.
#[derive(Debug)]
pub struct Queue {
    incoming: mpsc::UnboundedReceiver<ClusterKey>,
    ready: VecDeque<ClusterKey>,
    /// In `ready`.
    queued: HashSet<ClusterKey>,
    running: HashSet<ClusterKey>,
    /// Poked while running.
    again: HashSet<ClusterKey>,
    /// Waits for its time: after a rest, a failure, or because a pass asked to.
    delays: DelayQueue<ClusterKey>,
    delayed: HashMap<ClusterKey, Delay>,
    failures: HashMap<ClusterKey, u32>,
}

#[derive(Debug)]
struct Delay {
    timer: delay_queue::Key,
    /// A poke does not end this delay: the cluster rests, or its last pass failed.
    firm: bool,
}

impl Queue {
    /// A queue and its trigger.
    #[must_use]
    pub fn new() -> (Self, Trigger) {
        let (sender, incoming) = mpsc::unbounded_channel();
        let queue = Self {
            incoming,
            ready: VecDeque::new(),
            queued: HashSet::new(),
            running: HashSet::new(),
            again: HashSet::new(),
            delays: DelayQueue::new(),
            delayed: HashMap::new(),
            failures: HashMap::new(),
        };
        (queue, Trigger(sender))
    }

    /// Runs `pass` for keys as they come, `concurrency` at a time, until `stop`; then waits for the running ones.
    ///
    /// A pass that panics counts as failed and harms no other.
    pub async fn run<F>(
        mut self,
        concurrency: usize,
        metrics: &Metrics,
        stop: CancellationToken,
        pass: impl Fn(ClusterKey) -> F,
    ) where
        F: Future<Output = PassEnd> + Send + 'static,
    {
        let mut passes = JoinSet::new();
        let mut key_of_task = HashMap::new();
        loop {
            while passes.len() < concurrency
                && let Some(key) = self.start()
            {
                let task = passes.spawn(pass(key.clone()));
                key_of_task.insert(task.id(), key);
            }
            metrics.queue_depth.set(i64::try_from(self.ready.len()).unwrap_or(i64::MAX));
            tokio::select! {
                () = stop.cancelled() => break,
                Some(key) = self.incoming.recv() => self.poke(key),
                Some(expired) = self.delays.next(), if !self.delays.is_empty() => {
                    let key = expired.into_inner();
                    self.delayed.remove(&key);
                    self.enqueue(key);
                }
                Some(result) = passes.join_next_with_id(), if !passes.is_empty() => {
                    let (id, end) = match result {
                        Ok((id, end)) => (id, end),
                        Err(error) => {
                            metrics.panics.inc();
                            tracing::error!(%error, "a pass over a cluster panicked");
                            (error.id(), PassEnd::Failed)
                        }
                    };
                    if let Some(key) = key_of_task.remove(&id) {
                        self.end(key, end);
                    }
                }
            }
        }
        while passes.join_next().await.is_some() {}
    }

    fn start(&mut self) -> Option<ClusterKey> {
        let key = self.ready.pop_front()?;
        self.queued.remove(&key);
        self.running.insert(key.clone());
        Some(key)
    }

    fn enqueue(&mut self, key: ClusterKey) {
        if self.queued.insert(key.clone()) {
            self.ready.push_back(key);
        }
    }

    fn poke(&mut self, key: ClusterKey) {
        if self.running.contains(&key) {
            self.again.insert(key);
            return;
        }
        match self.delayed.get(&key) {
            // Its turn comes anyway.
            Some(delay) if delay.firm => {}
            Some(delay) => {
                self.delays.remove(&delay.timer);
                self.delayed.remove(&key);
                self.enqueue(key);
            }
            None => self.enqueue(key),
        }
    }

    fn end(&mut self, key: ClusterKey, end: PassEnd) {
        self.running.remove(&key);
        let again = self.again.remove(&key);
        let (wait, firm) = match end {
            PassEnd::Failed => {
                let failures = self.failures.entry(key.clone()).or_default();
                let wait = FIRST_BACKOFF.saturating_mul(1_u32.checked_shl(*failures).unwrap_or(u32::MAX));
                *failures = failures.saturating_add(1).min(16);
                (Some(wait.min(LONGEST_BACKOFF)), true)
            }
            PassEnd::Done(wait) => {
                self.failures.remove(&key);
                if again { (Some(REST), true) } else { (wait.map(|wait| wait.clamp(REST, LONGEST_WAIT)), false) }
            }
        };
        if let Some(wait) = wait {
            let timer = self.delays.insert(key.clone(), wait);
            self.delayed.insert(key, Delay { timer, firm });
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use parking_lot::Mutex;

    use super::*;

    fn key(name: &str) -> ClusterKey {
        ClusterKey { namespace: "n".into(), name: name.into() }
    }

    /// Runs a queue until `trigger`'s test is over; returns what ran, in order.
    async fn ran(
        concurrency: usize,
        end: impl Fn(&str, usize) -> PassEnd + Send + Sync + 'static,
        test: impl AsyncFnOnce(Trigger),
    ) -> Vec<String> {
        let (queue, trigger) = Queue::new();
        let stop = CancellationToken::new();
        let log = Arc::new(Mutex::new(Vec::new()));
        let end = Arc::new(end);
        let running = Arc::new(Mutex::new(HashSet::new()));
        let pass = {
            let log = Arc::clone(&log);
            move |key: ClusterKey| {
                let (log, end, running) = (Arc::clone(&log), Arc::clone(&end), Arc::clone(&running));
                async move {
                    assert!(running.lock().insert(key.clone()), "{key} twice at a time");
                    log.lock().push(key.name.to_string());
                    let count = log.lock().iter().filter(|name| **name == *key.name).count();
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    running.lock().remove(&key);
                    end(&key.name, count)
                }
            }
        };
        let metrics = Metrics::default();
        let run = queue.run(concurrency, &metrics, stop.clone(), pass);
        tokio::join!(run, async {
            test(trigger).await;
            stop.cancel();
        });
        log.lock().drain(..).collect()
    }

    #[tokio::test(start_paused = true)]
    async fn pokes_during_a_pass_become_one_more_pass() {
        let log = ran(
            4,
            |_, _| PassEnd::Done(None),
            async |trigger| {
                trigger.poke(key("a"));
                tokio::time::sleep(Duration::from_millis(10)).await;
                for _ in 0..100 {
                    trigger.poke(key("a"));
                }
                tokio::time::sleep(Duration::from_secs(5)).await;
            },
        )
        .await;
        assert_eq!(log, ["a", "a"]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_busy_cluster_does_not_starve_another() {
        let log = ran(
            1,
            |_, _| PassEnd::Done(None),
            async |trigger| {
                trigger.poke(key("busy"));
                tokio::time::sleep(Duration::from_millis(10)).await;
                trigger.poke(key("busy"));
                trigger.poke(key("small"));
                tokio::time::sleep(Duration::from_secs(5)).await;
            },
        )
        .await;
        assert_eq!(log, ["busy", "small", "busy"]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_failing_pass_waits_longer_each_time_whatever_pokes_it() {
        let log = ran(
            1,
            |_, _| PassEnd::Failed,
            async |trigger| {
                for _ in 0..40 {
                    trigger.poke(key("a"));
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
            },
        )
        .await;
        // At 0, 0.55, 1.6 and 3.65 s: waits of 0.5, 1 and 2 s after passes of 50 ms.
        assert_eq!(log.len(), 4);
    }

    #[tokio::test(start_paused = true)]
    async fn a_panic_harms_no_other_and_is_tried_again() {
        let calls = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&calls);
        let end = move |name: &str, count: usize| {
            counted.fetch_add(1, Ordering::Relaxed);
            assert!(name != "bad" || count > 1, "on purpose");
            PassEnd::Done(None)
        };
        let log = ran(2, end, async |trigger| {
            trigger.poke(key("bad"));
            trigger.poke(key("good"));
            tokio::time::sleep(Duration::from_secs(5)).await;
        })
        .await;
        assert_eq!(log, ["bad", "good", "bad"]);
        assert_eq!(calls.load(Ordering::Relaxed), 3);
    }

    #[tokio::test(start_paused = true)]
    async fn a_pass_may_ask_to_be_repeated_and_a_poke_comes_first() {
        let end = |_: &str, count: usize| PassEnd::Done((count == 1).then_some(Duration::from_secs(60)));
        let log = ran(1, end, async |trigger| {
            trigger.poke(key("a"));
            tokio::time::sleep(Duration::from_secs(59)).await;
            trigger.poke(key("b"));
            tokio::time::sleep(Duration::from_secs(10)).await;
        })
        .await;
        assert_eq!(log, ["a", "b", "a"]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_wait_of_years_is_an_hour() {
        let end = |_: &str, count: usize| PassEnd::Done((count == 1).then_some(Duration::MAX));
        let log = ran(1, end, async |trigger| {
            trigger.poke(key("a"));
            tokio::time::sleep(LONGEST_WAIT + Duration::from_secs(1)).await;
        })
        .await;
        assert_eq!(log, ["a", "a"]);
    }
}
