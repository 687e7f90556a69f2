//! Decoding helpers: read what Go's JSON decoder reads, so that an object KubeRay stored can never fail to decode here.

use serde::{Deserialize, Deserializer};

/// Reads `null` as the type's empty value: Go leaves a list, map, string or struct untouched when it meets `null`.
pub(crate) fn null_as_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    Ok(Option::<T>::deserialize(deserializer)?.unwrap_or_default())
}
