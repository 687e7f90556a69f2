//! Authentication.

use super::{Reason, Rule, rule};

pub(super) fn rules() -> Vec<Rule> {
    const OPTIONS: &str = "spec.authOptions";
    const TOKEN: &str = "(has(self.mode) && self.mode == 'token')";
    const KUBERNETES: &str = "(has(self.enableK8sTokenAuth) && self.enableK8sTokenAuth)";
    vec![
        rule(OPTIONS, Reason::Forbidden, format!("!{KUBERNETES} || {TOKEN}"), "enableK8sTokenAuth needs mode: token")
            .on(".enableK8sTokenAuth"),
        rule(
            OPTIONS,
            Reason::Forbidden,
            format!("!{KUBERNETES} || !has(self.secretName)"),
            "secretName and enableK8sTokenAuth exclude each other",
        )
        .on(".secretName"),
        rule(
            "spec",
            Reason::Required,
            "!has(self.authOptions) || !has(self.authOptions.mode) || self.authOptions.mode != 'token' || \
             (has(self.rayVersion) && self.rayVersion != '')",
            "authOptions.mode token needs rayVersion (2.52.0 or later)",
        )
        .on(".rayVersion"),
    ]
}
