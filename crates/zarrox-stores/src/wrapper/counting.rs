//! [`CountingStore`].

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

use crate::wrapper::forward::WrappedValue;
use crate::{Call, Key, Operation, Store, StoreError, Value, Wrapper, provided, wrapped};

/// A store that counts the operations on another store, for tests, benchmarks and users who pay for requests.
///
/// Clones share the counts of the original. Values in memory are wrapped as well, so that every read of a range is counted.
#[derive(Clone, Debug)]
pub struct CountingStore {
    inner: Arc<dyn Store>,
    counters: Arc<Counters>,
}

#[derive(Debug, Default)]
struct Counters {
    operations: [AtomicU64; Operation::ALL.len()],
    failed: AtomicU64,
    bytes_read: AtomicU64,
    bytes_written: AtomicU64,
    under_way: AtomicUsize,
    most_under_way: AtomicUsize,
}

/// The requests to a [`CountingStore`]. Failed requests are counted as well, but without bytes.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    operations: [u64; Operation::ALL.len()],
    /// The number of operations that failed.
    pub failed: u64,
    /// The number of bytes read from values.
    pub bytes_read: u64,
    /// The number of bytes written to values.
    pub bytes_written: u64,
    /// The largest number of concurrent operations.
    pub most_under_way: usize,
}

impl Counts {
    /// Returns the number of requests for this operation.
    #[must_use]
    pub fn of(&self, operation: Operation) -> u64 {
        self.operations[operation as usize]
    }

    /// Returns the number of all operations except locks, which do not send requests in most stores.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.operations.iter().sum::<u64>() - self.of(Operation::Lock)
    }

    /// Returns the number of times that a value was opened or read as a whole.
    #[doc(hidden)]
    #[must_use]
    pub fn values(&self) -> u64 {
        [Operation::Open, Operation::Get, Operation::GetRanges]
            .map(|operation| self.of(operation))
            .iter()
            .sum()
    }

    /// Returns the number of listings.
    #[must_use]
    pub fn listings(&self) -> u64 {
        self.of(Operation::ListDir) + self.of(Operation::ListPrefix)
    }
}

impl fmt::Debug for Counts {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = formatter.debug_struct("Counts");
        for operation in Operation::ALL.into_iter().filter(|operation| self.of(*operation) > 0) {
            shown.field(&format!("{operation:?}"), &self.of(operation));
        }
        shown.field("failed", &self.failed);
        shown.field("bytes_read", &self.bytes_read).field("bytes_written", &self.bytes_written);
        shown.field("most_under_way", &self.most_under_way).finish()
    }
}

impl CountingStore {
    /// Wraps the store.
    #[must_use]
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self { inner: store, counters: Arc::default() }
    }

    /// Returns the counts since the store was wrapped or the counts were last [taken](Self::take).
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.read(&AtomicU64::load, &AtomicUsize::load)
    }

    /// Returns the counts and resets them to zero.
    #[doc(hidden)]
    pub fn take(&self) -> Counts {
        self.read(&|counter, order| counter.swap(0, order), &|counter, order| counter.swap(0, order))
    }

    fn read(
        &self,
        number: &dyn Fn(&AtomicU64, std::sync::atomic::Ordering) -> u64,
        most: &dyn Fn(&AtomicUsize, std::sync::atomic::Ordering) -> usize,
    ) -> Counts {
        let counters = &self.counters;
        Counts {
            operations: counters.operations.each_ref().map(|counter| number(counter, Relaxed)),
            failed: number(&counters.failed, Relaxed),
            bytes_read: number(&counters.bytes_read, Relaxed),
            bytes_written: number(&counters.bytes_written, Relaxed),
            most_under_way: most(&counters.most_under_way, Relaxed),
        }
    }
}

impl Wrapper for CountingStore {
    fn inner(&self) -> &dyn Store {
        &*self.inner
    }

    fn around<T>(
        &self,
        call: &Call<'_>,
        run: &mut dyn FnMut() -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let counters = &*self.counters;
        counters.operations[call.operation() as usize].fetch_add(1, Relaxed);
        let under_way = counters.under_way.fetch_add(1, Relaxed) + 1;
        counters.most_under_way.fetch_max(under_way, Relaxed);
        let done = run();
        counters.under_way.fetch_sub(1, Relaxed);
        match (&done, call.operation().is_write()) {
            (Ok(_), true) => counters.bytes_written.fetch_add(call.bytes(), Relaxed),
            (Ok(_), false) => counters.bytes_read.fetch_add(call.bytes(), Relaxed),
            (Err(_), _) => counters.failed.fetch_add(1, Relaxed),
        };
        done
    }

    fn value(&self, key: &Key, value: Box<dyn Value>) -> Box<dyn Value> {
        Box::new(WrappedValue::new(self, key, value))
    }
}

impl Store for CountingStore {
    wrapped!(location capabilities open_with get get_ranges get_many size contains put);
    wrapped!(erase_if erase_prefix list_prefix list_dir rename_prefix flush lock stamp hold exchange);
    provided!(directory);
}
