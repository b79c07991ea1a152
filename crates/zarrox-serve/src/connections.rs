//! Connections: accepted up to a limit, with time-outs, and completed when the server stops.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, watch};
use tokio::time::{sleep, timeout};

/// The most connections at a time; others wait until one is closed.
const MOST: usize = 8192;

/// The time that a client may take for the head of a request, also for the next one on an open connection.
const HEAD: Duration = Duration::from_secs(60);

/// The time that requests may take to be completed when the server stops.
const GRACE: Duration = Duration::from_secs(3);

/// The pause after a connection could not be accepted, as when there are too many open files.
const PAUSE: Duration = Duration::from_millis(50);

/// Serves connections until the signal is given.
pub(crate) async fn serve(listener: TcpListener, router: Router, mut stop: watch::Receiver<bool>) {
    let limit = Arc::new(Semaphore::new(MOST));
    let graceful = GracefulShutdown::new();
    loop {
        let permit = tokio::select! {
            permit = limit.clone().acquire_owned() => permit,
            _ = stop.wait_for(|stop| *stop) => break,
        };
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = stop.wait_for(|stop| *stop) => break,
        };
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(error) => {
                tracing::debug!("a connection was not accepted: {error}");
                sleep(PAUSE).await;
                continue;
            }
        };
        // Answers are small, and clients wait for them.
        let _ = stream.set_nodelay(true);
        let service = TowerToHyperService::new(router.clone());
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEAD)
            .max_buf_size(64 << 10)
            .serve_connection(TokioIo::new(stream), service);
        let watched = graceful.watch(connection);
        tokio::spawn(async move {
            let _permit = permit;
            if let Err(error) = watched.await {
                tracing::debug!("a connection ended: {error}");
            }
        });
    }
    drop(listener);
    // What is not complete by then is dropped, and its work interrupted.
    let _ = timeout(GRACE, graceful.shutdown()).await;
}
