//! Blocking work for requests: on a bounded number of threads, in bounded time, and cancelled when the client
//! disconnects.

use std::sync::Arc;
use std::time::Duration;

use axum::http::StatusCode;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::spawn_blocking;
use tokio::time::{Instant, timeout_at};
use zarrox::Interrupt;

use crate::failure::{Answer, Failure};

/// The limits for the work of a root.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    pub(crate) time: Duration,
    /// The time for which cached nodes are considered fresh, in local and in remote stores.
    pub(crate) fresh: (Duration, Duration),
}

/// The limit of concurrent threads for one root. A hanging store blocks only the threads of its root.
#[derive(Debug, Clone)]
pub(crate) struct Workers {
    permits: Arc<Semaphore>,
    /// The number of threads.
    pub(crate) threads: usize,
    limit: Duration,
    /// The name of the store, for errors.
    place: Arc<str>,
}

/// An interrupt that is raised when the client disconnects.
#[derive(Debug, Default)]
struct Waiting(Interrupt);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.raise();
    }
}

impl Workers {
    pub(crate) fn new(threads: usize, limit: Duration, place: &str) -> Self {
        Self { permits: Arc::new(Semaphore::new(threads)), threads, limit, place: place.into() }
    }

    /// Runs work that waits for the store or decodes. The work is interrupted when the future is dropped, for example because
    /// the client disconnected, and after the timeout. The response is then sent immediately, and the thread is
    /// released when the store returns.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Interrupt) -> Answer<T> + Send + 'static,
    ) -> Answer<T> {
        let deadline = Instant::now() + self.limit;
        let permit = timeout_at(deadline, self.permit()).await.map_err(|_| Failure::late(&self.place))??;
        let waiting = Waiting::default();
        let interrupt = waiting.0.clone();
        let task = spawn_blocking(move || {
            let _permit = permit;
            if interrupt.is_raised() {
                return Err(Failure::late("the server"));
            }
            work(&interrupt)
        });
        match timeout_at(deadline, task).await {
            Err(_) => Err(Failure::late(&self.place)),
            Ok(Ok(done)) => done,
            Ok(Err(error)) => Err(Self::broken(&error)),
        }
    }

    /// Runs work whose results are sent one by one. The work has no timeout, and ends when its receiver is dropped.
    pub(crate) async fn start(
        &self,
        work: impl FnOnce(&Interrupt) + Send + 'static,
    ) -> Answer<impl Drop + Send + Sync + 'static> {
        let deadline = Instant::now() + self.limit;
        let permit = timeout_at(deadline, self.permit()).await.map_err(|_| Failure::late(&self.place))??;
        let waiting = Waiting::default();
        let interrupt = waiting.0.clone();
        drop(spawn_blocking(move || {
            let _permit = permit;
            work(&interrupt);
        }));
        Ok(waiting)
    }

    async fn permit(&self) -> Answer<OwnedSemaphorePermit> {
        let closed = |_| Failure::new(StatusCode::SERVICE_UNAVAILABLE, "stopping", "the server is stopping");
        self.permits.clone().acquire_owned().await.map_err(closed)
    }

    fn broken(error: &tokio::task::JoinError) -> Failure {
        tracing::error!("a request failed: {error}");
        Failure::new(StatusCode::INTERNAL_SERVER_ERROR, "bug", "the request failed; this is a bug in Zarrox")
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::thread;

    use super::*;

    fn runtime() -> tokio::runtime::Runtime {
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_time().build().unwrap()
    }

    #[test]
    fn work_without_an_end_is_answered_in_time_and_interrupted() {
        let workers = Workers::new(1, Duration::from_millis(50), "a slow store");
        let (sender, receiver) = mpsc::channel();
        let runtime = runtime();
        let late = runtime.block_on(workers.run(move |interrupt| {
            while !interrupt.is_raised() {
                thread::sleep(Duration::from_millis(1));
            }
            sender.send(()).unwrap();
            Ok(())
        }));
        assert_eq!(late.unwrap_err().message(), "a slow store did not answer in time");
        receiver.recv_timeout(Duration::from_secs(5)).unwrap();
    }

    #[test]
    fn no_more_threads_work_than_may() {
        let workers = Workers::new(2, Duration::from_secs(5), "a store");
        let (busy, most) = (Arc::new(Semaphore::new(2)), Arc::new(std::sync::Mutex::new(0)));
        let work = |_| {
            let (busy, most, workers) = (busy.clone(), most.clone(), workers.clone());
            async move {
                let work = move |_: &Interrupt| {
                    let _one = busy.try_acquire().map_err(|_| Failure::bad("a third one"))?;
                    thread::sleep(Duration::from_millis(2));
                    *most.lock().unwrap() += 1;
                    Ok(())
                };
                workers.run(work).await
            }
        };
        let all = runtime().block_on(async { futures_util::future::join_all((0..20).map(work)).await });
        assert!(all.iter().all(Result::is_ok), "{all:?}");
        assert_eq!(*most.lock().unwrap(), 20);
    }

    #[test]
    fn work_of_who_has_gone_is_interrupted() {
        let workers = Workers::new(1, Duration::from_secs(60), "a store");
        let (sender, receiver) = mpsc::channel();
        let runtime = runtime();
        let gone = runtime.spawn(async move {
            let work = move |interrupt: &Interrupt| {
                sender.send("begun").unwrap();
                while !interrupt.is_raised() {
                    thread::sleep(Duration::from_millis(1));
                }
                sender.send("interrupted").unwrap();
                Ok(())
            };
            workers.run(work).await
        });
        assert_eq!(receiver.recv().unwrap(), "begun");
        gone.abort();
        assert_eq!(receiver.recv_timeout(Duration::from_secs(5)).unwrap(), "interrupted");
    }
}
