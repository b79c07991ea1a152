//! The threads on which chunks are read and written.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use rayon::iter::{IndexedParallelIterator, IntoParallelIterator, ParallelIterator};
use zarrox_core::{Error, ErrorKind, Result};
use zarrox_stores::internals::per_process::PerProcess;
use zarrox_stores::internals::semaphore::Semaphore;

/// A pool of this library's own threads.
///
/// Only work of this library runs on the pool. If the caller runs on a thread of another rayon pool, the work is done on that
/// thread, because a waiting rayon thread may take up other work: if that were a write to the same chunk, the thread would wait
/// for a lock that is held further down its own stack.
#[derive(Debug, Clone)]
pub struct Pool {
    threads: usize,
    /// True if the threads mostly wait for responses, so that even small tasks are worth handing over.
    waits: bool,
    /// The smallest task that is handed to the threads, in bytes.
    least: usize,
    /// Limits the number of threads that decode at the same time, in a pool whose threads mostly wait.
    cores: Arc<Semaphore>,
    /// The threads, which are started on first use; `None` if they could not be started.
    pool: Arc<PerProcess<Option<Arc<rayon::ThreadPool>>>>,
}

/// The smallest total amount of work that is handed to other threads, in bytes: for less, the handover costs more than it saves.
const SMALL: usize = 128 << 10;

/// The smallest task that is handed to threads if only one thread at a time can use the store, in bytes: with smaller tasks, the
/// threads would mostly wait.
const LEAST_OF_ONE_AT_A_TIME: usize = 64 << 10;

impl Pool {
    /// Creates a pool of `threads` threads; 0 means one for each core.
    pub(crate) fn new(threads: usize) -> Self {
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        let threads = if threads == 0 { cores() } else { threads };
        let semaphore = Semaphore::new(NonZeroUsize::new(threads).unwrap_or(NonZeroUsize::MIN));
        Self { threads, waits: false, least: 0, cores: Arc::new(semaphore), pool: Arc::default() }
    }

    /// Returns the pool that arrays share by default.
    pub fn shared() -> Self {
        static SHARED: OnceLock<Pool> = OnceLock::new();
        SHARED.get_or_init(|| Self::new(0)).clone()
    }

    /// Returns the pool whose threads each wait for the response to a request. It is shared by all arrays in stores with the same
    /// number of parallel requests.
    pub fn waiting(requests: NonZeroUsize) -> Self {
        static SHARED: Mutex<BTreeMap<NonZeroUsize, Pool>> = Mutex::new(BTreeMap::new());
        let mut pools = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        let new = || Self { waits: true, ..Self::new(requests.get()) };
        pools.entry(requests).or_insert_with(new).clone()
    }

    /// Returns the same pool, for a store that can be used by only one thread at a time.
    pub(crate) fn for_one_at_a_time(&self) -> Self {
        Self { least: LEAST_OF_ONE_AT_A_TIME, ..self.clone() }
    }

    /// Returns a pool with a different number of threads for the same kind of work.
    pub(crate) fn with_threads(&self, threads: usize) -> Self {
        Self { least: self.least, ..Self::new(threads) }
    }

    /// Runs work on the calling thread, which does not belong to the pool. At most [`threads`](Self::threads) such calls run at
    /// the same time. The work must not call this function itself.
    #[inline]
    pub(crate) fn on_a_core<R>(&self, work: impl FnOnce() -> R) -> R {
        let _core = self.cores.acquire(1);
        work()
    }

    /// Returns the number of threads.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// Runs `count` tasks of about `bytes` each, in any order and at most `at_once` at the same time. It stops at the first
    /// error.
    pub fn run(
        &self,
        count: usize,
        bytes: usize,
        at_once: usize,
        work: impl Fn(usize) -> Result<()> + Sync + Send,
    ) -> Result<()> {
        match self.workers(count, at_once, bytes) {
            Some(pool) => self.run_on(&pool, count, at_once, &work),
            None => (0..count).try_for_each(work),
        }
    }

    /// Calls `work` with each item, in any order and at most `at_once` at the same time; each task processes about `bytes`. It
    /// stops at the first error.
    pub fn map<T: Send, R: Send>(
        &self,
        items: Vec<T>,
        bytes: usize,
        at_once: usize,
        work: impl Fn(T) -> Result<R> + Sync + Send,
    ) -> Result<Vec<R>> {
        let Some(pool) = self.workers(items.len(), at_once, bytes) else {
            return items.into_iter().map(work).collect();
        };
        let slots: Vec<_> = items.into_iter().map(|item| Mutex::new((Some(item), None))).collect();
        self.run_on(&pool, slots.len(), at_once, &|index| {
            let item = slots[index].lock().unwrap_or_else(PoisonError::into_inner).0.take();
            let result = item.map(&work).transpose()?;
            slots[index].lock().unwrap_or_else(PoisonError::into_inner).1 = result;
            Ok(())
        })?;
        // Every index has been processed, or there was an error.
        let result =
            |slot: Mutex<(_, Option<R>)>| slot.into_inner().unwrap_or_else(PoisonError::into_inner).1;
        Ok(slots.into_iter().filter_map(result).collect())
    }

    /// Runs work on the threads. The work has the same type for all callers, since rayon's loops are compiled separately for each
    /// type.
    fn run_on(
        &self,
        pool: &rayon::ThreadPool,
        count: usize,
        at_once: usize,
        work: &(dyn Fn(usize) -> Result<()> + Sync),
    ) -> Result<()> {
        if at_once >= self.threads && !self.waits {
            return pool.install(|| (0..count).into_par_iter().try_for_each(work));
        }
        // A thread that waits inside the task of one worker may run another worker in the meantime. Each worker still has only
        // one task in progress.
        let at_once = at_once.min(self.threads).min(count);
        let next = AtomicUsize::new(0);
        let take = || Some(next.fetch_add(1, Ordering::Relaxed)).filter(|&index| index < count);
        let worker = |_| {
            std::iter::from_fn(take).try_for_each(work).inspect_err(|_| next.store(count, Ordering::Relaxed))
        };
        pool.install(|| (0..at_once).into_par_iter().with_max_len(1).try_for_each(worker))
    }

    /// Returns the threads for `count` tasks of `bytes` each; `None` if the tasks should run on the calling thread.
    fn workers(&self, count: usize, at_once: usize, bytes: usize) -> Option<Arc<rayon::ThreadPool>> {
        let small = bytes < self.least || bytes.saturating_mul(count) < SMALL;
        if count.min(at_once) <= 1 || self.threads <= 1 || (small && !self.waits) {
            return None;
        }
        let pool = self.pool.get(|| start(self.threads).map(Arc::new))?;
        let on_another = rayon::current_thread_index().is_some() && pool.current_thread_index().is_none();
        (!on_another).then_some(pool)
    }
}

fn start(threads: usize) -> Option<rayon::ThreadPool> {
    let builder = rayon::ThreadPoolBuilder::new().num_threads(threads);
    let pool = builder.thread_name(|index| format!("zarrox-{index}")).build();
    pool.inspect_err(
        |error| tracing::warn!(%error, "no further threads could be started; continuing with one"),
    )
    .ok()
}

/// Returns the error for a count that is too large.
pub fn too_many(what: &str) -> Error {
    Error::new(ErrorKind::LimitExceeded, format!("{what} are more than this machine can count"))
}
