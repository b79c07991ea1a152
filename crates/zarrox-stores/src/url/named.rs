//! URLs for stores that the program itself has created: [`NamedStore`].

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::scheme::Located;
use super::text::StoreUrl;
use crate::Store;

/// The scheme of these URLs.
const SCHEME: &str = "program";

/// The stores, by name.
static STORES: Mutex<BTreeMap<String, Arc<dyn Store>>> = Mutex::new(BTreeMap::new());

/// A store that is available in this process at the URL `program://NAME/path` until the `NamedStore` is dropped, for operations
/// that take URLs.
#[derive(Debug)]
#[must_use = "the URL becomes invalid when this is dropped"]
pub struct NamedStore(String);

impl NamedStore {
    /// Registers a store under a name, replacing any earlier store with that name.
    pub fn new(name: impl Into<String>, store: Arc<dyn Store>) -> Self {
        let name = name.into();
        stores().insert(name.clone(), store);
        Self(name)
    }

    /// Returns the URL of a path in the store.
    #[must_use]
    pub fn url(&self, path: &str) -> String {
        format!("{SCHEME}://{}/{path}", self.0)
    }
}

impl Drop for NamedStore {
    fn drop(&mut self) {
        stores().remove(&self.0);
    }
}

/// Returns the store that the program has registered for this URL.
pub(super) fn find(url: &StoreUrl<'_>) -> Option<Located> {
    if url.scheme() != SCHEME {
        return None;
    }
    let rest = url.rest();
    let (name, path) = rest.split_once('/').unwrap_or((&rest, ""));
    let store = stores().get(name).cloned()?;
    Some(Located { store, path: path.trim_matches('/').to_owned(), whole: true })
}

fn stores() -> MutexGuard<'static, BTreeMap<String, Arc<dyn Store>>> {
    STORES.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Condition, Key, MemoryStore, StorageOptions, StoreErrorKind, StoreExt, registry};

    #[test]
    fn a_store_has_its_url_as_long_as_it_has_its_name() {
        let store = Arc::new(MemoryStore::new());
        let key = Key::new("a/b").unwrap();
        store.set(&key, b"1", Condition::Always).unwrap();
        let named = NamedStore::new("named-test", store);
        let url = named.url("a");
        let located = registry().open(&url, &StorageOptions::new()).unwrap();
        assert_eq!(
            (located.path.as_str(), located.store.get(&key).unwrap().as_deref()),
            ("a", Some(&b"1"[..]))
        );
        drop(named);
        assert_eq!(
            registry().open(&url, &StorageOptions::new()).unwrap_err().kind(),
            StoreErrorKind::Unsupported
        );
    }
}
