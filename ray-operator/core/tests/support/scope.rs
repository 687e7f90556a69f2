//! Cases that are not compared yet, and the feature each waits for.

/// What a case waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Feature {
    /// The autoscaler sidecar, its ServiceAccount and Role.
    Autoscaler,
    /// GCS fault tolerance.
    FaultTolerance,
    /// Token authentication.
    Auth,
    /// Ingress.
    Ingress,
    /// The serve Service of a cluster.
    ServeService,
    /// `upgradeStrategy`.
    Upgrade,
    /// `suspend`, of clusters or groups.
    Suspend,
    /// Groups with several hosts a replica.
    MultiHost,
    /// Batch schedulers.
    BatchScheduler,
    /// The operator's configuration file.
    ConfigFile,
    /// Fields that 1.6.2 does not know and drops, while 1.7 acts on them.
    NewerFields,
    /// RayJob.
    RayJob,
    /// Refused by the schema of the CRD, which takes an API server to see.
    Schema,
    /// `managedBy`: a decision before anything is built.
    ManagedBy,
}

/// The table: case → what it waits for.
pub const OUT_OF_SCOPE: &[(&str, Feature)] = &[
    ("009-basic-newer-fields", Feature::NewerFields),
    ("016-update-ingress-annotations", Feature::Ingress),
    ("017-update-ft-off", Feature::FaultTolerance),
    ("019-names-53-all", Feature::Autoscaler),
    ("025-names-ingress-clip", Feature::Ingress),
    ("026-names-ingress-clip-digit", Feature::Ingress),
    ("031-ports-duplicate-numbers", Feature::Schema),
    ("043-service-serve", Feature::ServeService),
    ("044-service-serve-noport", Feature::ServeService),
    ("046-ingress-plain", Feature::Ingress),
    ("047-ingress-dashboard-port", Feature::Ingress),
    ("048-ingress-no-dashboard-port", Feature::Ingress),
    ("049-ingress-user-service", Feature::Ingress),
    ("082-resources-status-raw", Feature::Suspend),
    ("107-containers-image-latest", Feature::Autoscaler),
    ("114-volumes-own-logs", Feature::Autoscaler),
    ("124-autoscaler-default", Feature::Autoscaler),
    ("125-autoscaler-pull-policy-head", Feature::Autoscaler),
    ("126-autoscaler-resources", Feature::Autoscaler),
    ("127-autoscaler-security", Feature::Autoscaler),
    ("128-autoscaler-idle-upscaling", Feature::Autoscaler),
    ("129-autoscaler-v1", Feature::Autoscaler),
    ("130-autoscaler-v2", Feature::Autoscaler),
    ("131-autoscaler-v2-env-true", Feature::Autoscaler),
    ("132-autoscaler-v2-idle-group", Feature::Autoscaler),
    ("133-autoscaler-sa-own", Feature::Autoscaler),
    ("134-autoscaler-sa-missing", Feature::Autoscaler),
    ("135-autoscaler-sa-existing-same-name", Feature::Autoscaler),
    ("137-autoscaler-container-name", Feature::Autoscaler),
    ("138-autoscaler-scale-down", Feature::Autoscaler),
    ("139-autoscaler-env-reserved", Feature::Autoscaler),
    ("140-autoscaler-container-cmd", Feature::Autoscaler),
    ("142-multihost-2", Feature::MultiHost),
    ("143-multihost-4", Feature::MultiHost),
    ("146-multihost-delete-one", Feature::MultiHost),
    ("147-multihost-tpu", Feature::MultiHost),
    ("148-suspend-from-start", Feature::Suspend),
    ("150-suspend-nil-resume", Feature::Suspend),
    ("154-ft-annotation", Feature::FaultTolerance),
    ("156-ft-annotation-full", Feature::FaultTolerance),
    ("158-ft-options-address", Feature::FaultTolerance),
    ("159-ft-options-password-ref", Feature::FaultTolerance),
    ("160-ft-options-username", Feature::FaultTolerance),
    ("161-ft-options-namespace", Feature::FaultTolerance),
    ("162-ft-options-empty", Feature::FaultTolerance),
    ("163-ft-options-user-env", Feature::FaultTolerance),
    ("164-ft-cleanup-rich", Feature::FaultTolerance),
    ("165-ft-cleanup-off", Feature::FaultTolerance),
    ("166-ft-restart-timeout-ann", Feature::FaultTolerance),
    ("167-auth-token", Feature::Auth),
    ("168-auth-token-autoscaler", Feature::Autoscaler),
    ("170-auth-user-env", Feature::Auth),
    ("171-auth-existing-secret", Feature::Auth),
    ("172-upgrade-recreate", Feature::Upgrade),
    ("173-upgrade-recreate-replicas", Feature::Upgrade),
    ("174-upgrade-recreate-suspend-false", Feature::Upgrade),
    ("177-managed-multikueue", Feature::ManagedBy),
    ("178-managed-bogus", Feature::Schema),
    ("183-scheduler-yunikorn-nolabels", Feature::BatchScheduler),
    ("184-scheduler-yunikorn-gang", Feature::BatchScheduler),
    ("185-scheduler-kai", Feature::BatchScheduler),
    ("186-scheduler-kai-noqueue", Feature::BatchScheduler),
    ("187-config-login-shell", Feature::Autoscaler),
    ("189-config-sidecars", Feature::ConfigFile),
    ("190-config-annotations", Feature::ConfigFile),
    ("191-config-init-cleanup", Feature::FaultTolerance),
    ("221-rayjob-minimal", Feature::RayJob),
    ("222-rayjob-multiline", Feature::RayJob),
    ("223-rayjob-runtime-env", Feature::RayJob),
    ("224-rayjob-entrypoint-resources", Feature::RayJob),
    ("225-rayjob-jobid", Feature::RayJob),
    ("226-rayjob-template-command", Feature::RayJob),
    ("227-rayjob-backoff", Feature::RayJob),
    ("228-rayjob-suspended", Feature::RayJob),
    ("229-rayjob-sidecar", Feature::RayJob),
    ("230-rayjob-interactive", Feature::RayJob),
    ("231-rayjob-auth", Feature::RayJob),
    ("232-rayjob-selector", Feature::RayJob),
    ("233-rayjob-invalid-suspend", Feature::RayJob),
];

/// What this case waits for, if it is not compared.
pub fn waits_for(case: &str) -> Option<Feature> {
    OUT_OF_SCOPE.iter().find(|(name, _)| *name == case).map(|(_, feature)| *feature)
}
