//! Fault tolerance of the head.

use super::{Reason, Rule, head_env, rule};

pub(super) fn rules() -> Vec<Rule> {
    const OPTIONS: &str = "spec.gcsFaultToleranceOptions";
    const ROCKSDB: &str = "(has(self.backend) && self.backend == 'rocksdb')";
    vec![
        rule(
            OPTIONS,
            Reason::Invalid,
            "(has(self.backend) ? self.backend : 'redis') == (has(oldSelf.backend) ? oldSelf.backend : 'redis')",
            "backend cannot be changed (none given means redis): the state stays in the old one",
        )
        .on(".backend"),
        rule(
            OPTIONS,
            Reason::Forbidden,
            format!(
                "!{ROCKSDB} || (!has(self.redisAddress) && !has(self.redisUsername) && !has(self.redisPassword) && \
                 !has(self.externalStorageNamespace))"
            ),
            "redisAddress, redisUsername, redisPassword and externalStorageNamespace are for backend redis only",
        ),
        rule(
            OPTIONS,
            Reason::Forbidden,
            format!("!has(self.storage) || {ROCKSDB}"),
            "storage is for backend rocksdb only",
        )
        .on(".storage"),
        rule(
            "spec.gcsFaultToleranceOptions.storage",
            Reason::Forbidden,
            "!has(self.claimName) || self.claimName == '' || \
             (!has(self.size) && !has(self.storageClassName) && !has(self.accessModes))",
            "claimName names an existing claim and excludes size, storageClassName and accessModes",
        )
        .on(".claimName"),
        rule(
            "spec",
            Reason::Forbidden,
            format!(
                "!has(self.gcsFaultToleranceOptions) || ((!has(self.headGroupSpec.rayStartParams) || \
                 !('redis-password' in self.headGroupSpec.rayStartParams) || \
                 self.headGroupSpec.rayStartParams['redis-password'] == '') && !{})",
                head_env("e.name in ['REDIS_PASSWORD', 'RAY_REDIS_ADDRESS']")
            ),
            "with gcsFaultToleranceOptions the Redis address and password belong there, not into redis-password of \
             rayStartParams or env RAY_REDIS_ADDRESS and REDIS_PASSWORD of the head",
        )
        .on(".headGroupSpec"),
        rule(
            "spec",
            Reason::Forbidden,
            format!(
                "(!has(self.headGroupSpec.rayStartParams) || !('redis-username' in self.headGroupSpec.rayStartParams) \
                 || self.headGroupSpec.rayStartParams['redis-username'] == '') && !{}",
                head_env("e.name == 'REDIS_USERNAME'")
            ),
            "the Redis user name belongs into gcsFaultToleranceOptions.redisUsername, not into redis-username of \
             rayStartParams or env REDIS_USERNAME of the head",
        )
        .on(".headGroupSpec"),
    ]
}
