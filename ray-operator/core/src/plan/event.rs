//! Events: what the user reads under `kubectl describe`.

/// `type` of an Event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventType {
    /// Something was done.
    Normal,
    /// Something needs attention.
    Warning,
}

/// An Event about the RayCluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// Normal or Warning.
    pub kind: EventType,
    /// Machine-readable reason; KubeRay's where it has one.
    pub reason: &'static str,
    /// What was done or tried: `Create`, `Delete`, `Validate`.
    pub action: &'static str,
    /// The text.
    pub note: String,
}

impl Event {
    /// A Normal event.
    #[must_use]
    pub fn normal(reason: &'static str, action: &'static str, note: String) -> Self {
        Self { kind: EventType::Normal, reason, action, note }
    }

    /// A Warning event.
    #[must_use]
    pub fn warning(reason: &'static str, action: &'static str, note: String) -> Self {
        Self { kind: EventType::Warning, reason, action, note }
    }
}
