//! [`LimitStore`].

use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::sync::Arc;

use crate::sync::{Mutex, unpoisoned};
use crate::turns::Turns;
use crate::{
    Call, Capabilities, GetDone, Key, LockGuard, Prefix, Store, StoreError, Wrapper, provided, wrapped,
};

/// A store that limits the number of concurrent operations on another store; further operations wait.
///
/// A clone shares the limit. A thread that waits for a lock does not count, and neither does a listing while its visitor runs:
/// both may wait for operations that need a permit.
#[derive(Clone, Debug)]
pub struct LimitStore {
    inner: Arc<dyn Store>,
    limit: NonZeroUsize,
    turns: Arc<Turns>,
}

impl LimitStore {
    /// Wraps the store.
    #[must_use]
    pub fn new(store: Arc<dyn Store>, limit: NonZeroUsize) -> Self {
        Self { inner: store, limit, turns: Arc::new(Turns::new(limit)) }
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
        let _turn = self.turns.take(1);
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

    /// Reads as many keys in parallel as the limit allows.
    fn get_many(&self, keys: &[Key], done: &GetDone<'_>) {
        let mut start = 0;
        while start < keys.len() {
            let turns = self.turns.take(keys.len() - start);
            let some = &keys[start..start + turns.count()];
            let turns = Mutex::new(turns);
            self.inner.get_many(some, &|index, answer| {
                // Released before the callback, which may use the store.
                drop(unpoisoned(&turns).split_one());
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
        let mut turn = Some(self.turns.take(1));
        self.inner.list_prefix(prefix, &mut |key, size| {
            turn = None;
            let flow = visit(key, size);
            turn = Some(self.turns.take(1));
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
    fn who_is_called_back_has_a_turn_and_nobody_waits_for_ever() {
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
            assert_eq!(store.turns.take(2).count(), 1);
        });
    }
}
