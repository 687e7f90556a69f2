//! Feature gates: KubeRay's names and defaults, set by `--feature-gates=Name=true,…`.

use std::str::FromStr;

/// How far a feature is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Off unless asked for.
    Alpha,
    /// On unless asked otherwise.
    Beta,
}

/// Which features are on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FeatureGates {
    /// `RayClusterStatusConditions`: conditions in the status.
    pub ray_cluster_status_conditions: bool,
    /// `RayJobDeletionPolicy`: permits `suspend` of worker groups.
    pub ray_job_deletion_policy: bool,
    /// `RayMultiHostIndexing`: index labels on workers, multi-host replicas as units.
    pub ray_multi_host_indexing: bool,
    /// `RayServiceIncrementalUpgrade`: gradual upgrades of RayServices.
    pub ray_service_incremental_upgrade: bool,
    /// `RayCronJob`: the kind of that name.
    pub ray_cron_job: bool,
    /// `SidecarSubmitterRestart`: RayJob's submitter in the head pod may restart.
    pub sidecar_submitter_restart: bool,
    /// `RayClusterNetworkPolicy`: permits `networkPolicy`.
    pub ray_cluster_network_policy: bool,
    /// `GCSFaultToleranceEmbeddedStorage`: permits the backend `rocksdb`.
    pub gcs_fault_tolerance_embedded_storage: bool,
    /// `RayClusterMTLS`: permits `tlsOptions`.
    pub ray_cluster_mtls: bool,
    /// `RayClusterHistoryServer`: permits `historyServerOptions`.
    pub ray_cluster_history_server: bool,
    /// `KubernetesWAS`: Kubernetes' own workload-aware scheduling.
    pub kubernetes_was: bool,
}

impl Default for FeatureGates {
    fn default() -> Self {
        Self {
            ray_cluster_status_conditions: true,
            ray_job_deletion_policy: true,
            ray_multi_host_indexing: true,
            ray_service_incremental_upgrade: true,
            ray_cron_job: false,
            sidecar_submitter_restart: false,
            ray_cluster_network_policy: false,
            gcs_fault_tolerance_embedded_storage: false,
            ray_cluster_mtls: false,
            ray_cluster_history_server: false,
            kubernetes_was: false,
        }
    }
}

/// A text that sets no gates.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GateError {
    /// Not of the form `Name=true`.
    #[error("{0:?} must have the form Name=true or Name=false")]
    Form(String),
    /// No such gate.
    #[error("there is no feature gate {0:?}")]
    Unknown(String),
}

impl FeatureGates {
    /// Name, stage and place of every gate.
    fn table(&mut self) -> [(&'static str, Stage, &mut bool); 11] {
        use Stage::{Alpha, Beta};
        [
            ("RayClusterStatusConditions", Beta, &mut self.ray_cluster_status_conditions),
            ("RayJobDeletionPolicy", Beta, &mut self.ray_job_deletion_policy),
            ("RayMultiHostIndexing", Beta, &mut self.ray_multi_host_indexing),
            ("RayServiceIncrementalUpgrade", Beta, &mut self.ray_service_incremental_upgrade),
            ("RayCronJob", Alpha, &mut self.ray_cron_job),
            ("SidecarSubmitterRestart", Alpha, &mut self.sidecar_submitter_restart),
            ("RayClusterNetworkPolicy", Alpha, &mut self.ray_cluster_network_policy),
            ("GCSFaultToleranceEmbeddedStorage", Alpha, &mut self.gcs_fault_tolerance_embedded_storage),
            ("RayClusterMTLS", Alpha, &mut self.ray_cluster_mtls),
            ("RayClusterHistoryServer", Alpha, &mut self.ray_cluster_history_server),
            ("KubernetesWAS", Alpha, &mut self.kubernetes_was),
        ]
    }

    /// Name, stage and state of every gate, in KubeRay's order.
    #[must_use]
    pub fn list(mut self) -> Vec<(&'static str, Stage, bool)> {
        self.table().into_iter().map(|(name, stage, on)| (name, stage, *on)).collect()
    }

    fn set_stage(&mut self, stage: Stage, on: bool) {
        for (_, _, gate) in self.table().into_iter().filter(|(_, of, _)| *of == stage) {
            *gate = on;
        }
    }

    fn set(&mut self, name: &str, on: bool) -> Result<(), GateError> {
        let gate = self.table().into_iter().find(|(known, ..)| *known == name);
        let (_, _, gate) = gate.ok_or_else(|| GateError::Unknown(name.to_owned()))?;
        *gate = on;
        Ok(())
    }
}

impl FromStr for FeatureGates {
    type Err = GateError;

    /// Reads `A=true,B=false` on top of the defaults. `AllAlpha` and `AllBeta` set a whole stage; single names win over
    /// them wherever they stand, as in Kubernetes.
    fn from_str(text: &str) -> Result<Self, GateError> {
        let mut gates = Self::default();
        let mut single = Vec::new();
        for entry in text.split(',').map(str::trim).filter(|entry| !entry.is_empty()) {
            let form = || GateError::Form(entry.to_owned());
            let (name, value) = entry.split_once('=').ok_or_else(form)?;
            let on = truth(value.trim()).ok_or_else(form)?;
            match name.trim() {
                "AllAlpha" => gates.set_stage(Stage::Alpha, on),
                "AllBeta" => gates.set_stage(Stage::Beta, on),
                name => single.push((name, on)),
            }
        }
        for (name, on) in single {
            gates.set(name, on)?;
        }
        Ok(gates)
    }
}

/// What Go takes for a boolean.
fn truth(text: &str) -> Option<bool> {
    match text {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Some(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn single_names_win_over_stages() {
        let gates: FeatureGates = "RayClusterMTLS=false, AllAlpha=true,RayMultiHostIndexing=False".parse().unwrap();
        assert!(gates.ray_cron_job && !gates.ray_cluster_mtls && !gates.ray_multi_host_indexing);
        assert_eq!("".parse(), Ok(FeatureGates::default()));
    }

    #[test]
    fn mistakes_are_named() {
        assert_eq!("Nope=true".parse::<FeatureGates>(), Err(GateError::Unknown("Nope".into())));
        assert_eq!("RayCronJob".parse::<FeatureGates>(), Err(GateError::Form("RayCronJob".into())));
        assert_eq!("RayCronJob=yes".parse::<FeatureGates>(), Err(GateError::Form("RayCronJob=yes".into())));
    }
}
