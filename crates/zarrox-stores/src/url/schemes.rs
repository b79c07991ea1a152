//! All kinds of URLs in this crate: [`SCHEMES`].

use std::sync::LazyLock;

use super::scheme::{Located, Scheme};
use crate::MemoryStore;

/// All kinds of URLs. For kinds that are disabled, the entry names the feature.
pub(super) static SCHEMES: &[&Scheme] = &[
    &Scheme::needs_feature(&["s3", "s3a"], "s3"),
    &Scheme::needs_feature(&["az", "azure", "abfs", "abfss"], "azure"),
    &Scheme::needs_feature(&["http", "https"], "http"),
    &Scheme::needs_feature(&["gs", "gcs"], "gcs"),
    &Scheme::needs_feature(&["reference"], "references"),
    &MEMORY,
    &super::directory::SCHEME,
    #[cfg(feature = "s3")]
    &crate::cloud::s3::SCHEME,
    #[cfg(feature = "azure")]
    &crate::cloud::azure::SCHEME,
    #[cfg(feature = "http")]
    &crate::cloud::http::SCHEME,
    #[cfg(feature = "gcs")]
    &crate::cloud::gcs::SCHEME,
];

/// All `memory://` URLs refer to a single store of the process, as in fsspec.
static MEMORY: Scheme = Scheme::new(&["memory"], |url, _| {
    static SHARED: LazyLock<MemoryStore> = LazyLock::new(MemoryStore::new);
    Ok(Located::one_of_many(SHARED.clone(), url.rest()))
});
