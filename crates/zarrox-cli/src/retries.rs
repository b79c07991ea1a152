//! Prints retries on the terminal, so that the program does not appear to hang during a long wait.

use std::fmt;
use std::io::Write;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::{Event, Subscriber};
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::{Context, Layer};
use tracing_subscriber::registry::LookupSpan;

use crate::exit::printable;

/// The `tracing` target of the events.
const TARGET: &str = "zarrox_stores::wrapper::retry";

/// The minimum time between two lines, since many requests can fail at the same time.
const PAUSE: Duration = Duration::from_secs(2);

/// Returns a layer that prints retries with their reasons.
pub(crate) fn layer<S>(out: impl Write + Send + 'static) -> impl Layer<S>
where
    S: Subscriber + for<'s> LookupSpan<'s>,
{
    let only_these = Targets::new().with_target(TARGET, LevelFilter::DEBUG);
    Retries(Mutex::new((out, None))).with_filter(only_these)
}

/// The terminal, and the time of the last line.
struct Retries<W>(Mutex<(W, Option<Instant>)>);

impl<S: Subscriber, W: Write + Send + 'static> Layer<S> for Retries<W> {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let mut told = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (out, last) = &mut *told;
        if last.is_some_and(|last| last.elapsed() < PAUSE) {
            return;
        }
        let mut reason = Reason(String::new());
        event.record(&mut reason);
        // If the terminal is closed, the line is lost.
        let _ = writeln!(out, "zarrox: {}; trying again", printable(&reason.0));
        *last = Some(Instant::now());
    }
}

/// The value of an event's field `reason`.
struct Reason(String);

impl Visit for Reason {
    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == "reason" {
            value.clone_into(&mut self.0);
        }
    }

    fn record_debug(&mut self, _: &Field, _: &dyn fmt::Debug) {}
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::net::TcpListener;
    use std::sync::Arc;

    use tracing_subscriber::layer::SubscriberExt;
    use zarrox::OpenOptions;

    use super::*;

    #[derive(Clone, Default)]
    struct Shared(Arc<Mutex<Vec<u8>>>);

    impl Write for Shared {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn what_is_tried_again_is_told_with_its_place() {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let url = format!("http://127.0.0.1:{port}/a.zarr");
        let told = Shared::default();
        let subscriber = tracing_subscriber::registry().with(layer(told.clone()));
        let error =
            tracing::subscriber::with_default(subscriber, || OpenOptions::new().open(&url).unwrap_err());
        assert!(error.to_string().contains("check the address"), "{error}");
        let told = String::from_utf8(told.0.lock().unwrap().clone()).unwrap();
        let lines: Vec<&str> = told.lines().collect();
        assert!(lines[0].contains(&url) && lines[0].ends_with("; trying again"), "{told}");
        assert!(lines.len() <= 2, "{told}");
    }
}
