//! Generations of keys, which prevent a cache from caching a value that was replaced while it was being read; and stamps of
//! documents, by which a cache detects that a node was replaced.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::slice;

use crate::sync::{Mutex, unpoisoned};
use crate::{Bytes, GetDone, Key, Stamp, Store, StoreError};

/// The number of counters shared by the keys.
const STRIPES: usize = 64;

/// Write counters. Since keys share counters, a write to one key may keep another key from being cached, which only costs a read.
#[derive(Debug)]
pub(crate) struct Generations {
    stripes: [Mutex<Stripe>; STRIPES],
    hasher: RandomState,
}

/// The writes to a subset of the keys.
#[derive(Debug, Default)]
struct Stripe {
    /// The number of completed writes.
    ended: u64,
    /// The number of writes in progress. During a write, readers may see either the old or the new value.
    under_way: usize,
}

/// The last known stamp of each document.
#[derive(Debug, Default)]
pub(crate) struct Stamps(Mutex<HashMap<Key, Stamp>>);

impl Stamps {
    /// Returns true if a document may have been replaced since the last call. Cached values of its node may then belong to
    /// another node.
    pub(crate) fn is_new(&self, key: &Key, stamp: &Stamp) -> bool {
        if *stamp == Stamp::Unknown {
            return false;
        }
        let mut stamps = unpoisoned(&self.0);
        if stamps.get(key) == Some(stamp) {
            return false;
        }
        stamps.insert(key.clone(), stamp.clone());
        true
    }
}

/// The number of writes that had completed when the read began.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Generation {
    stripe: usize,
    count: u64,
}

impl Default for Generations {
    fn default() -> Self {
        Self { stripes: std::array::from_fn(|_| Mutex::default()), hasher: RandomState::new() }
    }
}

impl Generations {
    /// Returns the current generation of a key. A cache calls this before it reads the key.
    pub(crate) fn now(&self, key: &Key) -> Generation {
        let stripe = self.stripe(key);
        Generation { stripe, count: unpoisoned(&self.stripes[stripe]).ended }
    }

    /// Caches a value whose read began in the generation `since`. Does not cache it if a write has completed in the meantime or
    /// is in progress, since another reader may already have seen the new value. No write completes while `keep` is running.
    pub(crate) fn keep<T>(&self, since: Generation, keep: impl FnOnce() -> T) -> Option<T> {
        let stripe = unpoisoned(&self.stripes[since.stripe]);
        (stripe.under_way == 0 && stripe.ended == since.count).then(keep)
    }

    /// Writes a key. The cached value is invalidated before the write, since other readers may see the new value from then on. It
    /// is invalidated again after the write, since another cache may have stored the old value in the same directory in the
    /// meantime.
    pub(crate) fn write<T>(&self, key: &Key, forget: impl Fn(), write: impl FnOnce() -> T) -> T {
        write_to(slice::from_ref(&self.stripes[self.stripe(key)]), forget, write)
    }

    /// Writes several keys. Any key may be affected.
    pub(crate) fn write_many<T>(&self, forget: impl Fn(), write: impl FnOnce() -> T) -> T {
        write_to(&self.stripes, forget, write)
    }

    /// Invalidates the cached value of a key, and prevents reads in progress from caching the value.
    #[cfg(unix)]
    pub(crate) fn forget(&self, key: &Key, forget: impl FnOnce()) {
        let mut stripe = unpoisoned(&self.stripes[self.stripe(key)]);
        stripe.ended += 1;
        forget();
    }

    /// Invalidates many keys.
    pub(crate) fn forget_many(&self, forget: impl FnOnce()) {
        self.stripes.iter().for_each(|stripe| unpoisoned(stripe).ended += 1);
        // A reader that starts here may cache a value that is then invalidated, which is harmless.
        forget();
    }

    /// Implements [`Store::get_many`] for a cache: `find` returns the cached values, and the inner store reads all others in a
    /// single call. `keep` is called with each value that was read, and with the generation for [`keep`](Self::keep).
    pub(crate) fn get_many(
        &self,
        inner: &dyn Store,
        keys: &[Key],
        find: impl Fn(&Key) -> Option<Result<Bytes, StoreError>>,
        keep: impl Fn(Generation, &Key, &Bytes) + Sync,
        done: &GetDone<'_>,
    ) {
        let mut missing = Vec::new();
        for (index, key) in keys.iter().enumerate() {
            let since = self.now(key);
            match find(key) {
                Some(value) => done(index, value.map(Some)),
                None => missing.push((index, since)),
            }
        }
        let missing_keys: Vec<Key> = missing.iter().map(|(index, _)| keys[*index].clone()).collect();
        inner.get_many(&missing_keys, &|place, answer| {
            let (index, since) = missing[place];
            if let Ok(Some(bytes)) = &answer {
                keep(since, &keys[index], bytes);
            }
            done(index, answer);
        });
    }

    fn stripe(&self, key: &Key) -> usize {
        let hash = self.hasher.hash_one(key);
        usize::try_from(hash % STRIPES as u64).unwrap_or_default()
    }
}

fn write_to<T>(stripes: &[Mutex<Stripe>], forget: impl Fn(), write: impl FnOnce() -> T) -> T {
    let under_way = UnderWay::begin(stripes);
    forget();
    let written = write();
    drop(under_way);
    forget();
    written
}

/// A write that is in progress until this guard is dropped.
struct UnderWay<'s>(&'s [Mutex<Stripe>]);

impl<'s> UnderWay<'s> {
    fn begin(stripes: &'s [Mutex<Stripe>]) -> Self {
        stripes.iter().for_each(|stripe| unpoisoned(stripe).under_way += 1);
        Self(stripes)
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        for stripe in self.0 {
            let mut stripe = unpoisoned(stripe);
            stripe.under_way -= 1;
            stripe.ended += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_kept_while_a_write_is_under_way_and_all_is_after_it() {
        let (generations, key) = (Generations::default(), Key::new("k").unwrap());
        let kept = || generations.keep(generations.now(&key), || ()).is_some();
        let none_is_kept = || assert!(!kept());
        generations.write(&key, || {}, none_is_kept);
        generations.write_many(|| {}, none_is_kept);
        let panics =
            std::panic::AssertUnwindSafe(|| generations.write(&key, || {}, || panic!("in the store")));
        assert!(std::panic::catch_unwind(panics).is_err());
        assert!(kept());
    }
}
