//! The times of reading.

use std::cell::Cell;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

thread_local! {
    /// The time that this thread has spent in stores.
    static FETCHED: Cell<Duration> = const { Cell::new(Duration::ZERO) };
}

/// The times that reads have spent in stores and in codecs, as sums over threads, and the stored bytes that they have decoded.
#[derive(Default)]
pub struct Timings {
    fetched: AtomicU64,
    decoded: AtomicU64,
    bytes: AtomicU64,
}

impl Timings {
    /// Returns the time in the store, which is waiting for the most part.
    pub fn fetched(&self) -> Duration {
        Duration::from_nanos(self.fetched.load(Relaxed))
    }

    /// Returns the time in codecs.
    pub fn decoded(&self) -> Duration {
        Duration::from_nanos(self.decoded.load(Relaxed))
    }

    /// Returns the number of stored bytes that were decoded.
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Relaxed)
    }
}

impl fmt::Debug for Timings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "fetched {:?}, decoded {} bytes in {:?}", self.fetched(), self.bytes(), self.decoded())
    }
}

/// The timings of the reads of an array, if they are measured.
#[derive(Debug, Clone, Default)]
pub(crate) struct Timer(Option<Arc<Timings>>);

impl Timer {
    pub(crate) fn new(timings: &Arc<Timings>) -> Self {
        Self(Some(timings.clone()))
    }

    /// Calls the store.
    pub(crate) fn fetch<R>(&self, call: impl FnOnce() -> R) -> R {
        let Some(timings) = &self.0 else { return call() };
        let begun = Instant::now();
        let done = call();
        let elapsed = begun.elapsed();
        FETCHED.set(FETCHED.get().saturating_add(elapsed));
        add(&timings.fetched, elapsed);
        done
    }

    /// Decodes a number of stored bytes. Calls of the store within `work` are not counted as decoding.
    pub(crate) fn decode<R>(&self, bytes: u64, work: impl FnOnce() -> R) -> R {
        let Some(timings) = &self.0 else { return work() };
        let (begun, before) = (Instant::now(), FETCHED.get());
        let done = work();
        add(&timings.decoded, begun.elapsed().saturating_sub(FETCHED.get().saturating_sub(before)));
        timings.bytes.fetch_add(bytes, Relaxed);
        done
    }
}

fn add(total: &AtomicU64, elapsed: Duration) {
    total.fetch_add(u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX), Relaxed);
}

#[cfg(test)]
mod tests {
    use std::thread::sleep;

    use super::*;

    #[test]
    fn calls_of_the_store_are_not_decoding() {
        let (timings, pause) = (Arc::new(Timings::default()), Duration::from_millis(5));
        let timer = Timer::new(&timings);
        timer.decode(7, || timer.fetch(|| sleep(pause)));
        assert!(timings.fetched() >= pause && timings.decoded() < timings.fetched(), "{timings:?}");
        timer.decode(1, || sleep(pause));
        assert!(timings.decoded() >= pause, "{timings:?}");
        assert_eq!(timings.bytes(), 8);
        Timer::default().decode(1, || Timer::default().fetch(|| ()));
    }
}
