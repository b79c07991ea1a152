//! Opening references, which may point to any URL.

use std::path::Path;
use std::sync::Arc;

use super::options::ReferenceOptions;
use super::store::ReferenceStore;
use crate::{Store, StoreError};

impl ReferenceOptions {
    /// Opens references in a local file.
    ///
    /// # Errors
    ///
    /// See [`open_in`](Self::open_in).
    pub fn open(self, path: impl AsRef<Path>) -> Result<ReferenceStore, StoreError> {
        let open_url = self.stores.opener();
        ReferenceStore::open_file(self, path.as_ref(), open_url)
    }

    /// Opens references that are stored in another store.
    ///
    /// # Errors
    ///
    /// [`StoreErrorKind::NotFound`](crate::StoreErrorKind::NotFound) when the path does not exist,
    /// [`StoreErrorKind::Corrupt`](crate::StoreErrorKind::Corrupt) when it does not contain references or a reference is
    /// malformed, [`StoreErrorKind::TooLarge`](crate::StoreErrorKind::TooLarge) when the references take too much memory, and an
    /// error when they cannot be read.
    pub fn open_in(self, store: Arc<dyn Store>, path: &str) -> Result<ReferenceStore, StoreError> {
        let open_url = self.stores.opener();
        ReferenceStore::open(self, store, path, None, open_url)
    }
}
