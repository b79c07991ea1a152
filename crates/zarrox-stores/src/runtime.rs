//! The threads on which asynchronous clients run.
//!
//! This crate has its own threads, so that a store works in the same way without a runtime and inside any kind of runtime. Even a
//! single-threaded runtime works: its thread waits for the response while the threads of this crate drive the client.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, mpsc};

use tokio::runtime::{Builder, Handle, Runtime};

use crate::per_process::PerProcess;
use crate::sync::{Mutex, unpoisoned};
use crate::{StoreError, StoreErrorKind};

/// The number of threads. A few are enough, since they only move bytes and do not decode.
const THREADS: usize = 2;

/// Returns a handle to this process's runtime, which starts on first use and runs until the process ends.
pub fn handle() -> Result<&'static Handle, StoreError> {
    static RUNTIME: PerProcess<Option<&'static Runtime>> = PerProcess::new();
    let start = || {
        let mut builder = Builder::new_multi_thread();
        builder.worker_threads(THREADS).thread_name("zarrox-client").enable_all();
        let runtime = builder
            .build()
            .inspect_err(|error| tracing::warn!(%error, "threads for clients could not be started"));
        runtime.ok().map(|runtime| &*Box::leak(Box::new(runtime)))
    };
    let runtime = RUNTIME.get(start);
    runtime.map(Runtime::handle).ok_or_else(|| broken("threads for its client could not be started"))
}

/// Runs a future on the threads of this crate, and blocks the calling thread until the future completes.
///
/// # Errors
///
/// When the threads cannot be started, or the future panics.
pub fn wait<T: Send + 'static>(future: impl Future<Output = T> + Send + 'static) -> Result<T, StoreError> {
    let answer = Arc::new(Mutex::new(None));
    let slot = answer.clone();
    wait_for_end(Box::pin(async move {
        let done = future.await;
        *unpoisoned(&slot) = Some(done);
    }))?;
    let answer = unpoisoned(&answer).take();
    answer.ok_or_else(|| broken("the store's client failed because of an error in zarrox"))
}

/// A single type for all futures; otherwise tasks and channels would be compiled for each type of future.
type Work = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Runs a future on the threads of this crate, and returns when the future has completed or panicked and was dropped.
fn wait_for_end(work: Work) -> Result<(), StoreError> {
    let (running, ended) = mpsc::channel::<()>();
    spawn(async move {
        let _running = running;
        work.await;
    })?;
    // Nothing is ever sent: `recv` returns when the channel is closed.
    let _ = ended.recv();
    Ok(())
}

/// Runs a future on the threads of this crate.
///
/// # Errors
///
/// When the threads cannot be started.
pub(crate) fn spawn(future: impl Future<Output = ()> + Send + 'static) -> Result<(), StoreError> {
    let work: Work = Box::pin(future);
    handle()?.spawn(work);
    Ok(())
}

fn broken(message: &str) -> StoreError {
    StoreError::new(StoreErrorKind::Other, "connecting", message)
}

/// Runs blocking work, such as a method of [`Store`](crate::Store), on a thread for blocking work. The future can be awaited on
/// any executor; dropping it does not stop the work.
///
/// # Errors
///
/// When the threads cannot be started.
///
/// # Panics
///
/// When the work panics.
pub async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, StoreError> {
    match handle()?.spawn_blocking(work).await {
        Ok(result) => Ok(result),
        Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
        Err(error) => Err(broken("the program is ending").with_source(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_future_is_waited_for() {
        let slow = async {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
            7
        };
        assert_eq!(wait(slow).unwrap(), 7);
    }

    #[test]
    fn a_future_that_panics_is_an_error() {
        let error = wait(async { panic!("on purpose") }).map(|()| 0).unwrap_err();
        assert!(error.to_string().contains("an error in zarrox"), "{error}");
        assert_eq!(wait(async { 8 }).unwrap(), 8);
    }
}
