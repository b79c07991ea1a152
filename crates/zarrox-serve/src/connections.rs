//! Connections: accepted up to a limit, with timeouts, and completed when the server stops.

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

/// The maximum number of open connections; others wait until one is closed.
const MOST: usize = 8192;

/// The timeout for the head of a request, also for the next request on an open connection.
const HEAD: Duration = Duration::from_secs(60);

/// The grace period for requests when the server stops.
const GRACE: Duration = Duration::from_secs(3);

/// The pause after a connection was not accepted, for example because of too many open files.
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
        // Responses are small, and clients wait for them.
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
    // Requests that are not complete by then are dropped, and their work is interrupted.
    let _ = timeout(GRACE, graceful.shutdown()).await;
}
