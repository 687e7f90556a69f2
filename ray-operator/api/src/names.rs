//! Names of objects, shaped as KubeRay shapes them.
//!
//! KubeRay counts bytes of names that are ASCII. These functions take any text: cuts fall between characters, and a
//! name that is too long in bytes gets shorter, never a panic.

/// Longest cluster name: the longest suffix of a Service (`-serve-svc`) then fits into 63 characters.
pub const MAX_CLUSTER_NAME: usize = 53;
/// Longest part of a name that [`pod_name_prefix`] and [`check_name`] keep.
const MAX_SHAPED: usize = 50;
/// Longest label value, and longest name of a Job.
const MAX_LABEL: usize = 63;

/// What a pod is in its cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NodeType {
    /// The head.
    Head,
    /// A worker.
    Worker,
    /// The pod that empties Redis after the cluster is gone.
    RedisCleanup,
}

impl NodeType {
    /// Value of the label `ray.io/node-type`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Head => "head",
            Self::Worker => "worker",
            Self::RedisCleanup => "redis-cleanup",
        }
    }
}

/// The first `max` bytes, or a little less so that no character is split.
fn first(text: &str, max: usize) -> &str {
    let mut end = max.min(text.len());
    while !text.is_char_boundary(end) {
        end = end.saturating_sub(1);
    }
    text.get(..end).unwrap_or_default()
}

/// The last `max` bytes, or a little less so that no character is split.
fn last(text: &str, max: usize) -> &str {
    let mut start = text.len().saturating_sub(max);
    while !text.is_char_boundary(start) {
        start = start.saturating_add(1);
    }
    text.get(start..).unwrap_or_default()
}

/// `text` with `r` in place of a first character that `unwanted` says must not be there.
fn replace_first(text: &str, unwanted: impl Fn(char) -> bool) -> String {
    let mut chars = text.chars();
    match chars.next() {
        Some(c) if unwanted(c) => format!("r{}", chars.as_str()),
        _ => text.to_owned(),
    }
}

/// Prefix of a pod's name (KubeRay's `PodName`): the first 50 characters of `prefix` and `-head` or `-worker`, all in
/// lower case. The prefix of workers is [`worker_prefix`]. A `-` and five characters follow in a pod's name.
///
/// A dot that the cut leaves at the end is dropped: KubeRay keeps it, and Kubernetes then refuses the pod.
#[must_use]
pub fn pod_name_prefix(prefix: &str, node_type: NodeType) -> String {
    let kept = first(prefix, MAX_SHAPED).trim_end_matches('.');
    format!("{kept}-{}", node_type.as_str()).to_lowercase()
}

/// What the names of a group's pods begin with: cluster and group.
#[must_use]
pub fn worker_prefix(cluster: &str, group: &str) -> String {
    format!("{cluster}-{group}")
}

/// KubeRay's `CheckName`: the last 50 characters; a digit or punctuation in front becomes `r`.
#[must_use]
pub fn check_name(name: &str) -> String {
    replace_first(last(name, MAX_SHAPED), |c| c.is_ascii_digit() || is_punctuation(c))
}

/// KubeRay's `CheckLabel`: the last 63 characters; punctuation in front becomes `r`, digits may stay.
#[must_use]
pub fn check_label(value: &str) -> String {
    replace_first(last(value, MAX_LABEL), is_punctuation)
}

/// Name of a Job (KubeRay's `TrimJobName`): shaped like a label.
#[must_use]
pub fn job_name(name: &str) -> String {
    check_label(name)
}

/// Name of an OpenShift Route (KubeRay's `CheckRouteName`): so much of the front that name and namespace fit into one
/// host label, then shaped like any name.
#[must_use]
pub fn route_name(name: &str, namespace: &str) -> String {
    check_name(first(name, 51_usize.saturating_sub(namespace.len())))
}

// Go's `unicode.IsPunct` for ASCII leaves out symbols such as `+` and `$`; none of them can be in a name anyway.
fn is_punctuation(c: char) -> bool {
    c.is_ascii_punctuation() && !matches!(c, '$' | '+' | '<' | '=' | '>' | '^' | '`' | '|' | '~')
}

/// Name of the head Service, unless the user's own one has a name.
#[must_use]
pub fn head_service(cluster: &str) -> String {
    format!("{cluster}-head-svc")
}

/// Name of the headless Service of multi-host workers.
#[must_use]
pub fn headless_service(cluster: &str) -> String {
    format!("{cluster}-headless")
}

/// Name of the Service for Ray Serve.
#[must_use]
pub fn serve_service(cluster: &str) -> String {
    format!("{cluster}-serve-svc")
}

/// Name of the head's Ingress.
#[must_use]
pub fn head_ingress(cluster: &str) -> String {
    check_name(&format!("{cluster}-head-ingress"))
}

/// Name of the head's Route on OpenShift.
#[must_use]
pub fn head_route(cluster: &str, namespace: &str) -> String {
    route_name(&format!("{cluster}-head-route"), namespace)
}

/// Name of the claim of the RocksDB backend.
#[must_use]
pub fn gcs_claim(cluster: &str) -> String {
    format!("{cluster}-gcs-pvc")
}

/// Name of the Job that empties Redis.
#[must_use]
pub fn redis_cleanup_job(cluster: &str) -> String {
    job_name(&format!("{cluster}-redis-cleanup"))
}

/// Name of the head's NetworkPolicy.
#[must_use]
pub fn head_network_policy(cluster: &str) -> String {
    format!("{cluster}-head")
}

/// Name of a group's NetworkPolicy.
#[must_use]
pub fn group_network_policy(cluster: &str, group: &str) -> String {
    format!("{cluster}-workers-{group}")
}

/// Value of the label `ray.io/identifier`.
#[must_use]
pub fn identifier(cluster: &str, node_type: NodeType) -> String {
    check_label(&format!("{cluster}-{}", node_type.as_str()))
}

/// DNS name of a head Service.
#[must_use]
pub fn head_fqdn(service: &str, namespace: &str, cluster_domain: &str) -> String {
    format!("{service}.{namespace}.svc.{cluster_domain}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pods_keep_the_front() {
        let worker = |cluster, group| pod_name_prefix(&worker_prefix(cluster, group), NodeType::Worker);
        assert_eq!(worker("acme", "GPU-Pool"), "acme-gpu-pool-worker");
        assert_eq!(worker("acme", &format!("{}.b", "g".repeat(44))), format!("acme-{}-worker", "g".repeat(44)));
        assert_eq!(pod_name_prefix(&"a".repeat(53), NodeType::Head), format!("{}-head", "a".repeat(50)));
    }

    #[test]
    fn names_keep_the_end() {
        assert_eq!(check_name(&format!("a{}", "b".repeat(50))), "b".repeat(50));
        assert_eq!(check_name("9lives"), "rlives");
        assert_eq!(check_name("-x"), "rx");
        assert_eq!(
            head_ingress(&format!("{}1{}", "c".repeat(2), "d".repeat(36))),
            format!("r{}-head-ingress", "d".repeat(36))
        );
        assert_eq!(check_label("9lives"), "9lives");
        assert_eq!(check_label(&format!("x-{}", "b".repeat(62))), format!("r{}", "b".repeat(62)));
        assert_eq!(route_name("abcdef", &"n".repeat(49)), "ab");
        assert_eq!(route_name("abcdef", &"n".repeat(70)), "");
    }

    #[test]
    fn any_text_is_fine() {
        for text in ["", "é", "日本語", &"é".repeat(60), &"日".repeat(40), &format!("a{}", "é".repeat(50)), "\u{0}"]
        {
            for shaped in [check_name(text), check_label(text), route_name(text, text), job_name(text)] {
                assert!(shaped.len() <= 63, "{shaped}");
            }
            assert!(pod_name_prefix(text, NodeType::RedisCleanup).len() <= 100);
        }
    }
}
