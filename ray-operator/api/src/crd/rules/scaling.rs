//! Ray's autoscaler and suspended groups.

use super::{Reason, Rule, head_env, rule};

const AUTOSCALING: &str = "(has(self.enableInTreeAutoscaling) && self.enableInTreeAutoscaling)";
const VERSION_2: &str =
    "(has(self.autoscalerOptions) && has(self.autoscalerOptions.version) && self.autoscalerOptions.version == 'v2')";
const V2_ENV_ON: &str = "e.name == 'RAY_enable_autoscaler_v2' && has(e.value) && e.value in ['1', 'true']";
/// Restart policy of a template at `t`.
const RESTART_OK: &str = "!has(t.template.spec) || !has(t.template.spec.restartPolicy) || \
                          t.template.spec.restartPolicy in ['', 'Never']";

pub(super) fn rules() -> Vec<Rule> {
    let v2 = format!("({VERSION_2} || {})", head_env(V2_ENV_ON));
    let every_group =
        |condition: &str| format!("!has(self.workerGroupSpecs) || self.workerGroupSpecs.all(g, {condition})");
    vec![
        rule(
            "spec",
            Reason::Forbidden,
            format!("{} || {v2}", every_group("!has(g.idleTimeoutSeconds)")),
            "idleTimeoutSeconds of a worker group needs autoscaler v2 (autoscalerOptions.version: v2)",
        )
        .on(".workerGroupSpecs"),
        rule(
            "spec",
            Reason::Forbidden,
            format!("{} || {v2}", every_group("!has(g.priority) || g.priority == 0")),
            "priority of a worker group needs autoscaler v2 (autoscalerOptions.version: v2) and Ray 2.56",
        )
        .on(".workerGroupSpecs"),
        rule(
            "spec",
            Reason::Forbidden,
            format!("!{AUTOSCALING} || {}", every_group("!has(g.suspend) || !g.suspend")),
            "a worker group cannot be suspended while enableInTreeAutoscaling is true",
        )
        .on(".workerGroupSpecs"),
        rule(
            "spec",
            Reason::Forbidden,
            format!("{AUTOSCALING} || !{}", head_env(V2_ENV_ON)),
            "env RAY_enable_autoscaler_v2 of the head needs enableInTreeAutoscaling: true",
        )
        .on(".headGroupSpec"),
        rule(
            "spec",
            Reason::Forbidden,
            format!(
                "!{AUTOSCALING} || !has(self.autoscalerOptions) || !has(self.autoscalerOptions.version) || !{}",
                head_env("e.name == 'RAY_enable_autoscaler_v2'")
            ),
            "the autoscaler's version is given twice: use either autoscalerOptions.version or env \
             RAY_enable_autoscaler_v2 of the head",
        )
        .on(".autoscalerOptions.version"),
        rule(
            "spec",
            Reason::Invalid,
            format!(
                "!{AUTOSCALING} || !{VERSION_2} || ([self.headGroupSpec].all(t, {RESTART_OK}) && \
                 (!has(self.workerGroupSpecs) || self.workerGroupSpecs.all(t, {RESTART_OK})))"
            ),
            "autoscaler v2 needs restartPolicy Never (or none) in the templates of the head and of all worker groups",
        ),
        rule(
            "spec.autoscalerOptions",
            Reason::Forbidden,
            "!has(self.env) || !self.env.exists(e, e.name == 'KUBERAY_GEN_AUTOSCALER_START_CMD')",
            "env KUBERAY_GEN_AUTOSCALER_START_CMD is set by the operator",
        )
        .on(".env"),
    ]
}
