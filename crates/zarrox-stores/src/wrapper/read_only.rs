//! [`ReadOnlyStore`].

use std::sync::Arc;

use crate::{Call, Capabilities, Key, Store, StoreError, StoreErrorKind, Value, Wrapper, provided, wrapped};

/// A store that protects another store: reads succeed, and writes fail with [`StoreErrorKind::ReadOnly`].
///
/// [`flush`](Store::flush) is allowed, since it may complete writes of other handles. Locks are also allowed, since they do not
/// change anything.
#[derive(Clone, Debug)]
pub struct ReadOnlyStore(Arc<dyn Store>);

impl ReadOnlyStore {
    /// Wraps the store. Other handles to the same store can still write.
    #[must_use]
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self(store)
    }
}

impl Wrapper for ReadOnlyStore {
    fn inner(&self) -> &dyn Store {
        &*self.0
    }

    fn around<T>(
        &self,
        call: &Call<'_>,
        run: &mut dyn FnMut() -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        if !call.operation().is_write() {
            return run();
        }
        let message = "the store was opened read-only";
        let error = StoreError::new(StoreErrorKind::ReadOnly, call.operation().word(), message);
        Err(error.with_location(self.location()).with_key(call.key()))
    }

    fn value(&self, _key: &Key, value: Box<dyn Value>) -> Box<dyn Value> {
        value
    }
}

impl Store for ReadOnlyStore {
    wrapped!(location open_with get get_ranges get_many size contains put);
    wrapped!(erase_if erase_prefix list_prefix list_dir rename_prefix flush lock stamp hold exchange);
    provided!(directory);

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            writable: false,
            set_if_absent: false,
            set_if_unchanged: false,
            erase_if_unchanged: false,
            locks_everyone: false,
            rename: false,
            ..self.0.capabilities()
        }
    }
}
