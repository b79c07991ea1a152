//! [`RetryStore`].

use std::cell::Cell;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::{
    Call, Condition, GetDone, Key, Operation, Payload, Prefix, Store, StoreError, StoreErrorKind, StoreExt,
    Wrapper, provided, wrapped,
};

/// The limits on the retries of a [`RetryStore`]: their total time, and the delays between them.
///
/// The delays are random, so that clients that failed at the same time do not retry at the same time. The delay before the n-th
/// retry is at most `first_delay * 2^(n-1)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryOptions {
    /// The maximum delay before the first retry; 100 ms by default.
    pub first_delay: Duration,
    /// The maximum delay before any retry; 5 s by default.
    pub longest_delay: Duration,
    /// The time after the first failure of an operation within which retries may begin; 60 s by default. An attempt in progress
    /// is only interrupted by the timeouts of the wrapped store.
    pub deadline: Duration,
    /// The deadline that applies before the first response if [no server could be reached](StoreError::is_no_server); 2 s by
    /// default.
    pub first_deadline: Duration,
}

impl Default for RetryOptions {
    fn default() -> Self {
        Self {
            first_delay: Duration::from_millis(100),
            longest_delay: Duration::from_secs(5),
            deadline: Duration::from_secs(60),
            first_deadline: Duration::from_secs(2),
        }
    }
}

/// A store that retries operations after temporary errors: [`StoreErrorKind::Unreachable`] and [`StoreErrorKind::TimedOut`]. Each
/// retry is logged as a `tracing` event with the `reason`.
///
/// - A conditional write may have succeeded even though its response was lost. If the condition is not satisfied at the retry,
///   the value is read back, and the write counts as successful if the stored value is equal. So two writers of equal bytes may
///   both succeed: counters and locks that are based on such writes must write unique values. If a write succeeded but another
///   writer replaced the value before the retry, the write counts as failed.
/// - If the response to an erase was lost, the retry reports that the value did not exist.
/// - A listing is only retried if no key was visited, so that no key is visited twice.
/// - [`rename_prefix`](Store::rename_prefix) is not retried: the rename may be partially complete, and keys at the destination
///   may come from the rename or from another writer.
#[derive(Clone, Debug)]
pub struct RetryStore {
    inner: Arc<dyn Store>,
    options: RetryOptions,
    /// True after the first response, including an error response.
    answered: Arc<AtomicBool>,
}

impl RetryStore {
    /// Wraps the store with the default [`RetryOptions`].
    #[must_use]
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self::with_options(store, RetryOptions::default())
    }

    /// Wraps the store.
    #[must_use]
    pub fn with_options(store: Arc<dyn Store>, options: RetryOptions) -> Self {
        Self { inner: store, options, answered: Arc::default() }
    }

    /// Runs an operation until it succeeds, fails permanently or must not be retried, or until the deadline has passed.
    fn repeat<T>(
        &self,
        call: &Call<'_>,
        run: &mut dyn FnMut() -> Result<T, StoreError>,
        may_repeat: &dyn Fn() -> bool,
    ) -> Result<T, StoreError> {
        let mut backoff = Backoff::new(self);
        loop {
            let done = run();
            self.learn_from(&done);
            match done {
                Err(error) if is_temporary(&error) && may_repeat() && backoff.wait(call, &error) => {}
                done => return done,
            }
        }
    }

    /// Records that the server has responded. Every result counts as a response except for failed connections and timeouts; even
    /// an interrupted connection counts.
    fn learn_from<T>(&self, done: &Result<T, StoreError>) {
        if !done.as_ref().is_err_and(|error| error.is_no_server() || error.kind() == StoreErrorKind::TimedOut)
        {
            self.answered.store(true, Ordering::Relaxed);
        }
    }

    /// Returns true if the stored value is equal to this value.
    fn is_stored(&self, key: &Key, payload: Payload<'_>) -> Result<bool, StoreError> {
        let Some(stored) = self.inner.open(key)? else { return Ok(false) };
        let is_as_long = stored.size() == payload.len() as u64;
        Ok(is_as_long && stored.read(0, stored.size())? == *payload.bytes(key)?)
    }
}

impl Wrapper for RetryStore {
    fn inner(&self) -> &dyn Store {
        &*self.inner
    }

    fn around<T>(
        &self,
        call: &Call<'_>,
        run: &mut dyn FnMut() -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.repeat(call, run, &|| true)
    }
}

impl Store for RetryStore {
    wrapped!(location capabilities open_with get get_ranges size contains);
    wrapped!(erase_if erase_prefix list_dir flush lock stamp hold exchange);
    provided!(directory);

    /// Retries failed keys together, so that several keys do not wait longer than a single key.
    fn get_many(&self, keys: &[Key], done: &GetDone<'_>) {
        let mut backoff = Backoff::new(self);
        let mut places: Vec<usize> = (0..keys.len()).collect();
        while !places.is_empty() {
            let batch: Vec<Key> = places.iter().map(|place| keys[*place].clone()).collect();
            let failed = Mutex::new(Vec::new());
            self.inner.get_many(&batch, &|index, answer| {
                self.learn_from(&answer);
                match answer {
                    Err(error) if is_temporary(&error) => {
                        failed.lock().unwrap_or_else(PoisonError::into_inner).push((places[index], error));
                    }
                    answer => done(places[index], answer),
                }
            });
            let failed = failed.into_inner().unwrap_or_else(PoisonError::into_inner);
            let Some((place, error)) = failed.first() else { return };
            if !backoff.wait(&Call::new(Operation::Get, &keys[*place]), error) {
                return failed.into_iter().for_each(|(place, error)| done(place, Err(error)));
            }
            places = failed.into_iter().map(|(place, _)| place).collect();
        }
    }

    fn put(&self, key: &Key, payload: Payload<'_>, condition: Condition<'_>) -> Result<(), StoreError> {
        let call = Call::new(Operation::Set, key).with_bytes(payload.len());
        let mut may_be_done = false;
        let mut run = || match self.inner.put(key, payload, condition) {
            Err(error) if may_be_done && is_broken_condition(&error) => {
                if self.is_stored(key, payload)? {
                    Ok(())
                } else {
                    Err(error)
                }
            }
            done => done.inspect_err(|error| may_be_done |= is_temporary(error)),
        };
        self.around(&call, &mut run)
    }

    fn list_prefix(
        &self,
        prefix: &Prefix,
        visit: &mut dyn FnMut(Key, u64) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        let visited = Cell::new(false);
        let mut visit = |key, size| {
            visited.set(true);
            visit(key, size)
        };
        let mut run = || self.inner.list_prefix(prefix, &mut visit);
        self.repeat(&Call::new(Operation::ListPrefix, prefix), &mut run, &|| !visited.get())
    }

    fn rename_prefix(&self, from: &Prefix, to: &Prefix) -> Result<(), StoreError> {
        self.inner.rename_prefix(from, to)
    }
}

fn is_temporary(error: &StoreError) -> bool {
    matches!(error.kind(), StoreErrorKind::Unreachable | StoreErrorKind::TimedOut)
}

fn is_broken_condition(error: &StoreError) -> bool {
    matches!(error.kind(), StoreErrorKind::AlreadyExists | StoreErrorKind::Conflict)
}

/// The delays between the attempts of an operation.
struct Backoff<'s> {
    store: &'s RetryStore,
    /// The time of the first failure. The deadline is relative to it, since a long operation, such as erasing a large array, may
    /// first fail late.
    failed: Option<Instant>,
    longest: Duration,
}

impl<'s> Backoff<'s> {
    fn new(store: &'s RetryStore) -> Self {
        let RetryOptions { first_delay, longest_delay, .. } = store.options;
        Self { store, failed: None, longest: first_delay.min(longest_delay) }
    }

    /// Waits until the next attempt. If the attempt would be after the deadline, returns false immediately.
    fn wait(&mut self, call: &Call<'_>, error: &StoreError) -> bool {
        let RetryOptions { longest_delay, deadline, first_deadline, .. } = self.store.options;
        let is_known = !error.is_no_server() || self.store.answered.load(Ordering::Relaxed);
        let deadline = if is_known { deadline } else { deadline.min(first_deadline) };
        let delay = self.longest.mul_f64(fastrand::f64());
        let failed = *self.failed.get_or_insert_with(Instant::now);
        if failed.elapsed().saturating_add(delay) > deadline {
            return false;
        }
        let reason = error.reason();
        tracing::debug!(operation = ?call.operation(), key = call.key(), reason, ?delay, "trying again");
        thread::sleep(delay);
        self.longest = self.longest.saturating_mul(2).min(longest_delay);
        true
    }
}
