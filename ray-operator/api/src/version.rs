//! Ray versions, as far as the operator needs them.

use std::fmt;
use std::str::FromStr;

/// A Ray version: at least major and minor number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RayVersion {
    /// First number.
    pub major: u32,
    /// Second number.
    pub minor: u32,
    /// Third number; 0 if there is none.
    pub patch: u32,
}

impl RayVersion {
    /// First version with token authentication.
    pub const TOKEN_AUTH: Self = Self::new(2, 52, 0);
    /// First version whose processes answer plain HTTP health checks.
    pub const HTTP_PROBES: Self = Self::new(2, 53, 0);
    /// First version that can ask Kubernetes about tokens.
    pub const KUBERNETES_TOKEN_AUTH: Self = Self::new(2, 55, 0);
    /// First version whose autoscaler knows the priority of worker groups.
    pub const GROUP_PRIORITY: Self = Self::new(2, 56, 0);

    /// A version from its numbers.
    #[must_use]
    pub const fn new(major: u32, minor: u32, patch: u32) -> Self {
        Self { major, minor, patch }
    }

    /// Reads `2.53`, `v2.53.0`, `2.53.0rc1` (the last counts as 2.53.0). `None` for anything without two numbers, such
    /// as `nightly`, `3` or the empty text. Same reading as KubeRay's.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let (major, rest) = number(text.strip_prefix(['v', 'V']).unwrap_or(text))?;
        let (minor, rest) = number(rest.strip_prefix('.')?)?;
        let patch = rest.strip_prefix('.').and_then(number).map_or(0, |(patch, _)| patch);
        Some(Self { major, minor, patch })
    }
}

/// A text without two numbers in front.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no Ray version: two numbers with a dot between them are needed, as in 2.53.0")]
pub struct NotAVersion(String);

impl FromStr for RayVersion {
    type Err = NotAVersion;

    fn from_str(text: &str) -> Result<Self, NotAVersion> {
        Self::parse(text).ok_or_else(|| NotAVersion(text.to_owned()))
    }
}

impl fmt::Display for RayVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

/// Leading number and what follows it.
fn number(text: &str) -> Option<(u32, &str)> {
    let (digits, rest) = text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()));
    Some((digits.parse().ok()?, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_kuberay_reads() {
        let read = |text| RayVersion::parse(text).map(|version| version.to_string());
        assert_eq!(read("2.53.0").as_deref(), Some("2.53.0"));
        assert_eq!(read("v2.53").as_deref(), Some("2.53.0"));
        assert_eq!(read("2.53.0rc1").as_deref(), Some("2.53.0"));
        assert_eq!(read("2.53rc1").as_deref(), Some("2.53.0"));
        assert_eq!(read("2.53.1.dev0+abc").as_deref(), Some("2.53.1"));
        for text in ["", "3", "nightly", "v", "2.", ".5", "2.x", "99999999999.1", "２.５"] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn later_versions_are_greater() {
        assert!(RayVersion::new(2, 9, 3) < RayVersion::TOKEN_AUTH);
        assert!(RayVersion::new(3, 0, 0) > RayVersion::GROUP_PRIORITY);
    }
}
