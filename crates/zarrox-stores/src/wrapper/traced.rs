//! [`TracedStore`].

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Instant;

use crate::{Bytes, Call, GetDone, Key, Store, StoreError, Wrapper, provided, wrapped};

/// A store that reports each operation on another store to [`tracing`], as a debug-level span `store` with the location, the
/// operation and the key. The span contains an event with the number of bytes and the elapsed time, or with the error.
///
/// Reads of values that are already in memory are not operations of the store. All keys of a [`get_many`](Store::get_many) call
/// share one span.
#[derive(Clone, Debug)]
pub struct TracedStore {
    inner: Arc<dyn Store>,
    location: Arc<str>,
}

impl TracedStore {
    /// Wraps the store.
    #[must_use]
    pub fn new(store: Arc<dyn Store>) -> Self {
        let location = store.location().into();
        Self { inner: store, location }
    }
}

impl Wrapper for TracedStore {
    fn inner(&self) -> &dyn Store {
        &*self.inner
    }

    fn around<T>(
        &self,
        call: &Call<'_>,
        run: &mut dyn FnMut() -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let (operation, key) = (call.operation(), call.key());
        let _span = tracing::debug_span!("store", location = %self.location, ?operation, key).entered();
        let begin = Instant::now();
        let done = run();
        let time = begin.elapsed();
        match &done {
            Ok(_) => tracing::debug!(bytes = call.bytes(), ?time, "done"),
            Err(error) => tracing::debug!(%error, ?time, "failed"),
        }
        done
    }
}

impl Store for TracedStore {
    wrapped!(location capabilities open_with get get_ranges size contains put);
    wrapped!(erase_if erase_prefix list_prefix list_dir rename_prefix flush lock stamp hold exchange);
    provided!(directory);

    fn get_many(&self, keys: &[Key], done: &GetDone<'_>) {
        let span = tracing::debug_span!("store", location = %self.location, operation = "GetMany").entered();
        let (begin, bytes, failed) = (Instant::now(), AtomicU64::new(0), AtomicU64::new(0));
        self.inner.get_many(keys, &|index, answer| {
            match &answer {
                Ok(value) => drop(bytes.fetch_add(value.as_ref().map_or(0, Bytes::len) as u64, Relaxed)),
                Err(error) => {
                    failed.fetch_add(1, Relaxed);
                    tracing::debug!(parent: &*span, key = %keys[index], %error, "failed");
                }
            }
            done(index, answer);
        });
        let (bytes, failed, time) = (bytes.into_inner(), failed.into_inner(), begin.elapsed());
        tracing::debug!(keys = keys.len(), bytes, failed, ?time, "done");
    }
}
