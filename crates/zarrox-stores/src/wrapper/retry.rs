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

/// The limits on repeats of a [`RetryStore`]: their number and the time between them.
///
/// Before the n-th repeat it waits for a random time of at most `first_delay * 2^n`, so that many who failed together do not
/// come back together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryOptions {
    /// The longest wait before the first repeat; 100 ms when not set.
    pub first_delay: Duration,
    /// The longest wait before any repeat; 5 s when not set.
    pub longest_delay: Duration,
    /// The time after the first failure of an operation in which a repeat may begin; 60 s when not set. An
    /// attempt that is under way is not cut off: the time limits of the wrapped store do that.
    pub deadline: Duration,
    /// The deadline where there was no answer yet from the place, and [no server is there](StoreError::is_no_server); 2 s when not set.
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

/// Repeats what failed for a reason that may pass: [`StoreErrorKind::Unreachable`] and [`StoreErrorKind::TimedOut`]. Each repeat is an
/// event of `tracing`, with the `reason`.
///
/// - A write on a condition may have been done although its answer was lost. If the repeat finds the condition broken, the
///   value is read back, and the write has succeeded if it is the one that was to be written. So two writers of equal bytes
///   may both succeed: who counts or takes turns by such writes must write values that nobody else writes. A write that
///   was done and then replaced by somebody else before it was repeated counts as failed.
/// - An erase whose answer was lost says on the repeat that there was no value.
/// - A listing is repeated as long as nothing was visited: no key is visited twice.
/// - [`rename_prefix`](Store::rename_prefix) is not repeated: a part of it may be done, and what it finds at the new place
///   may be its own or somebody else's.
#[derive(Clone, Debug)]
pub struct RetryStore {
    inner: Arc<dyn Store>,
    options: RetryOptions,
    /// Set when there was an answer, be it a refusal.
    answered: Arc<AtomicBool>,
}

impl RetryStore {
    /// Wraps the store, see [`RetryOptions`] for how long it tries.
    #[must_use]
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self::with_options(store, RetryOptions::default())
    }

    /// Wraps the store.
    #[must_use]
    pub fn with_options(store: Arc<dyn Store>, options: RetryOptions) -> Self {
        Self { inner: store, options, answered: Arc::default() }
    }

    /// Runs until it succeeds, fails for good, may not be repeated, or the time is over.
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

    /// Whatever is not a failure on the way there is an answer; so is a connection that breaks off.
    fn learn_from<T>(&self, done: &Result<T, StoreError>) {
        if !done.as_ref().is_err_and(|error| error.is_no_server() || error.kind() == StoreErrorKind::TimedOut)
        {
            self.answered.store(true, Ordering::Relaxed);
        }
    }

    /// Returns true if this is the value that is stored.
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

    /// Those that failed are read again together, so that many wait no longer than one.
    fn get_many(&self, keys: &[Key], done: &GetDone<'_>) {
        let mut backoff = Backoff::new(self);
        let mut places: Vec<usize> = (0..keys.len()).collect();
        while !places.is_empty() {
            let asked: Vec<Key> = places.iter().map(|place| keys[*place].clone()).collect();
            let failed = Mutex::new(Vec::new());
            self.inner.get_many(&asked, &|index, answer| {
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

/// The waits between the attempts at one operation.
struct Backoff<'s> {
    store: &'s RetryStore,
    /// The time of the first failure: much may have been done until then, such as erasing most of a large array.
    failed: Option<Instant>,
    longest: Duration,
}

impl<'s> Backoff<'s> {
    fn new(store: &'s RetryStore) -> Self {
        let RetryOptions { first_delay, longest_delay, .. } = store.options;
        Self { store, failed: None, longest: first_delay.min(longest_delay) }
    }

    /// Waits until the next attempt. `false`, at once, when it would come too late.
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
