//! The kinds of URLs that a program can open: [`StoreRegistry`].

use std::path::PathBuf;

use super::named;
use super::options::StorageOptions;
use super::scheme::{Located, Opening, Scheme};
use super::schemes::SCHEMES;
use super::text::StoreUrl;
use crate::{StoreError, StoreErrorKind};

/// A registry of the kinds of URLs that a program can open. It resembles the [`Registry`](zarrox_core::Registry) of codecs.
/// [`registry`] returns the kinds of this crate, and crates with further stores add theirs.
///
/// Chains of stores (`zip::URL`, `reference::URL`, `simplecache::URL`) and URLs of a `NamedStore` work with every registry.
#[derive(Clone, Debug, Default)]
pub struct StoreRegistry {
    schemes: Vec<&'static Scheme>,
}

/// Returns a registry with all stores of this crate.
#[must_use]
pub fn registry() -> StoreRegistry {
    StoreRegistry::new().with(SCHEMES)
}

impl StoreRegistry {
    /// Creates an empty registry.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds kinds of URLs. If several kinds have the same name, the last one whose feature is enabled is used.
    #[must_use]
    pub fn with(mut self, schemes: &[&'static Scheme]) -> Self {
        self.schemes.extend_from_slice(schemes);
        self
    }

    /// Returns the file (for LMDB, the directory) that contains the whole store at a URL, even if it does not exist yet. Returns
    /// `None` for read-only stores and for all other stores.
    #[must_use]
    #[doc(hidden)]
    pub fn file_of(&self, url: &str) -> Option<PathBuf> {
        let url = StoreUrl::parse(url).ok()?;
        self.find(url.scheme())?.file.map(|file| file(&url))
    }

    /// Iterates over the kinds that can be opened.
    pub(super) fn available(&self) -> impl Iterator<Item = &'static Scheme> {
        self.schemes.iter().copied().filter(|scheme| scheme.is_available())
    }

    /// Opens the store at a URL. If the store is remote, temporary errors are retried.
    pub(super) fn open_scheme(
        &self,
        url: &StoreUrl<'_>,
        options: &StorageOptions,
    ) -> Result<Located, StoreError> {
        let scheme = url.scheme();
        let message = match self.find(scheme).map(|scheme| scheme.opening) {
            Some(Opening::Function(open)) => return steady(open(url, options)?, options),
            Some(Opening::Feature(feature)) => {
                format!("'{scheme}://' needs the feature `{feature}` of zarrox, which is not enabled")
            }
            None => {
                if let Some(located) = named::find(url) {
                    return Ok(located);
                }
                let known: Vec<&str> = self.available().flat_map(|scheme| scheme.names).copied().collect();
                format!("unknown scheme '{scheme}://'; expected one of {}", known.join(", "))
            }
        };
        let error = StoreError::new(StoreErrorKind::Unsupported, "opening", message);
        Err(error.with_location(url.to_string()))
    }

    fn find(&self, name: &str) -> Option<&'static Scheme> {
        let mut named = self.schemes.iter().rev().filter(|scheme| scheme.names.contains(&name));
        named.clone().find(|scheme| scheme.is_available()).or_else(|| named.next()).copied()
    }
}

/// Wraps a remote store so that temporary errors are retried.
#[cfg(feature = "retry")]
fn steady(located: Located, options: &StorageOptions) -> Result<Located, StoreError> {
    if located.store.capabilities().in_flight.is_none() {
        return Ok(located);
    }
    let mut retries = crate::RetryOptions::default();
    if let Some(longest) = options.seconds(RETRY_TIMEOUT)? {
        retries.deadline = longest;
        retries.first_deadline = retries.first_deadline.min(longest);
    }
    let store = crate::RetryStore::with_options(located.store, retries);
    Ok(Located { store: std::sync::Arc::new(store), ..located })
}

#[cfg(not(feature = "retry"))]
#[expect(clippy::unnecessary_wraps, reason = "as with the feature")]
fn steady(located: Located, _: &StorageOptions) -> Result<Located, StoreError> {
    Ok(located)
}

/// The option shared by all remote stores.
#[cfg(feature = "retry")]
pub(super) const RETRY_TIMEOUT: &str = "retry_timeout";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MemoryStore;

    static THIRD: Scheme = Scheme::new(&["own"], |_, _| Err(StoreError::new(StoreErrorKind::Other, "", "")));
    static FIRST: Scheme = Scheme::needs_feature(&["own", "other"], "some");
    static SECOND: Scheme = Scheme::new(&["own"], |_, _| Ok(Located::whole(MemoryStore::new(), "")))
        .with_file(|url| PathBuf::from(url.rest()));

    #[test]
    fn the_last_kind_with_a_name_counts_whose_feature_is_on() {
        let registry = StoreRegistry::new().with(&[&THIRD, &SECOND]).with(&[&FIRST]);
        let open = |url: &str| registry.open(url, &StorageOptions::new());
        assert!(open("own://a").is_ok());
        assert_eq!(registry.file_of("own://a"), Some("a".into()));
        let error = open("other://a").unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::Unsupported);
        assert!(error.to_string().contains("'other://' needs the feature `some`"), "{error}");
        let error = open("third://a").unwrap_err().to_string();
        assert!(
            error.contains("expected one of own") && !error.contains("expected one of own, other"),
            "{error}"
        );
    }
}
