//! [`LimitStore`].

use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::sync::Arc;

use crate::semaphore::Semaphore;
use crate::sync::{Mutex, unpoisoned};
use crate::{
    Call, Capabilities, GetDone, Key, LockGuard, Prefix, Store, StoreError, Wrapper, provided, wrapped,
};

/// A store that limits the number of concurrent operations on another store. Further operations wait.
///
/// Clones share the limit. Neither a thread that waits for a lock nor a listing whose visitor is running needs a permit, since
/// both may wait for operations that need one.
#[derive(Clone, Debug)]
pub struct LimitStore {
    inner: Arc<dyn Store>,
    limit: NonZeroUsize,
    semaphore: Arc<Semaphore>,
}

impl LimitStore {
    /// Wraps the store.
    #[must_use]
    pub fn new(store: Arc<dyn Store>, limit: NonZeroUsize) -> Self {
        Self { inner: store, limit, semaphore: Arc::new(Semaphore::new(limit)) }
    }
}

impl Wrapper for LimitStore {
    fn inner(&self) -> &dyn Store {
        &*self.inner
    }

    fn around<T>(
        &self,
        _call: &Call<'_>,
        run: &mut dyn FnMut() -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let _permit = self.semaphore.acquire(1);
        run()
    }
}

impl Store for LimitStore {
    wrapped!(location open_with get get_ranges size contains put);
    wrapped!(erase_if erase_prefix list_dir rename_prefix flush stamp hold exchange);
    provided!(directory);

    fn capabilities(&self) -> Capabilities {
        let inner = self.inner.capabilities();
        Capabilities { in_flight: inner.in_flight.map(|n| n.min(self.limit)), ..inner }
    }

    /// Reads the keys in parallel, up to the limit.
    fn get_many(&self, keys: &[Key], done: &GetDone<'_>) {
        let mut start = 0;
        while start < keys.len() {
            let permits = self.semaphore.acquire(keys.len() - start);
            let some = &keys[start..start + permits.count()];
            let permits = Mutex::new(permits);
            self.inner.get_many(some, &|index, answer| {
                // The permit is released before the callback runs, since the callback may use the store.
                drop(unpoisoned(&permits).split_one());
                done(start + index, answer);
            });
            start += some.len();
        }
    }

    fn list_prefix(
        &self,
        prefix: &Prefix,
        visit: &mut dyn FnMut(Key, u64) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        let mut permit = Some(self.semaphore.acquire(1));
        self.inner.list_prefix(prefix, &mut |key, size| {
            permit = None;
            let flow = visit(key, size);
            permit = Some(self.semaphore.acquire(1));
            flow
        })
    }

    fn lock(&self, key: &Key) -> Result<LockGuard, StoreError> {
        self.inner.lock(key)
    }
}

#[cfg(all(test, model))]
mod model {
    use shuttle::thread;

    use super::*;
    use crate::sync::check;
    use crate::{Condition, MemoryStore, StoreExt};

    #[test]
    fn a_callback_has_a_permit_and_none_waits_forever() {
        check(|| {
            let store = LimitStore::new(Arc::new(MemoryStore::new()), NonZeroUsize::MIN);
            let keys = ["a", "b"].map(|key| Key::new(key).unwrap());
            keys.iter().for_each(|key| store.set(key, b"value", Condition::Always).unwrap());
            thread::scope(|scope| {
                scope.spawn(|| store.get_many(&keys, &|_, _| assert!(store.contains(&keys[0]).unwrap())));
                scope.spawn(|| {
                    let mut visit = |key, _| {
                        assert!(store.contains(&key).unwrap());
                        ControlFlow::Continue(())
                    };
                    store.list_prefix(&Prefix::root(), &mut visit).unwrap();
                });
                scope.spawn(|| store.set(&keys[1], b"other", Condition::Always).unwrap());
            });
            assert_eq!(store.semaphore.acquire(2).count(), 1);
        });
    }
}
