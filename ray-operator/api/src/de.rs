//! Decoding helpers: read what Go's JSON decoder reads, so that an object KubeRay stored can never fail to decode here.

use k8s_openapi::api::core::v1::Service;
use serde::de::Error;
use serde::{Deserialize, Deserializer};

/// Reads `null` as the type's empty value: Go leaves a list, map, string or struct untouched when it meets `null`.
pub(crate) fn null_as_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    Ok(Option::<T>::deserialize(deserializer)?.unwrap_or_default())
}

/// Reads an embedded Service whatever its `apiVersion` and `kind` say: Go does not look at them, and k8s-openapi refuses
/// the whole object if they are not exactly right.
pub(crate) fn service<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Service>, D::Error> {
    let mut value = serde_json::Value::deserialize(deserializer)?;
    if let Some(fields) = value.as_object_mut() {
        fields.remove("apiVersion");
        fields.remove("kind");
    }
    serde_json::from_value(value).map_err(D::Error::custom)
}
