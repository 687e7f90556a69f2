//! The state of one container.

use jiff::Timestamp;

/// What a container does, as the kubelet last reported.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum ContainerState {
    /// Nothing reported yet.
    #[default]
    Unknown,
    /// Not running yet, or between two runs.
    Waiting {
        /// The kubelet's reason, such as `ImagePullBackOff`; may be empty.
        reason: String,
        /// The kubelet's text; may be empty.
        message: String,
    },
    /// Running.
    Running,
    /// Ended.
    Terminated {
        /// Such as `OOMKilled` or `Error`; may be empty.
        reason: String,
        /// The kubelet's text; may be empty.
        message: String,
        /// Exit code of its process.
        exit_code: i32,
        /// When it ended.
        finished_at: Option<Timestamp>,
    },
}

/// One container of a pod.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ObservedContainer {
    /// Its name in the pod spec.
    pub name: String,
    /// Its current state.
    pub state: ContainerState,
    /// Exit code of the run before this one, if there was one.
    pub last_exit_code: Option<i32>,
    /// How often the kubelet restarted it.
    pub restart_count: i32,
}
