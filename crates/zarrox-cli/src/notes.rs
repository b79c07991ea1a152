//! Prints the library's warnings as notes, without a timestamp or a module name.

use std::fmt;
use std::io::Write;
use std::sync::{Mutex, PoisonError};

use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::{Event, Subscriber};
use tracing_subscriber::layer::{Context, Layer};
use tracing_subscriber::registry::LookupSpan;

use crate::exit::printable;

/// Returns a layer that prints warnings as notes.
pub(crate) fn layer<S>(out: impl Write + Send + 'static) -> impl Layer<S>
where
    S: Subscriber + for<'s> LookupSpan<'s>,
{
    Notes(Mutex::new(out)).with_filter(LevelFilter::WARN)
}

struct Notes<W>(Mutex<W>);

impl<S: Subscriber, W: Write + Send + 'static> Layer<S> for Notes<W> {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let mut text = Text(String::new());
        event.record(&mut text);
        let mut out = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // If the terminal is closed, the line is lost.
        let _ = writeln!(out, "zarrox: note: {}", printable(&text.0));
    }
}

/// The message of an event, followed by its other fields.
struct Text(String);

impl Visit for Text {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if field.name() == "message" {
            self.0.insert_str(0, &format!("{value:?}"));
        } else {
            self.0.push_str(&format!(" ({}: {value:?})", field.name()));
        }
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.record_debug(field, &format_args!("{value}"));
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::Arc;

    use tracing_subscriber::layer::SubscriberExt;

    use super::*;

    #[derive(Clone, Default)]
    struct Lines(Arc<Mutex<Vec<u8>>>);

    impl Write for Lines {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn warnings_are_lines_without_a_time() {
        let lines = Lines::default();
        let subscriber = tracing_subscriber::registry().with(layer(lines.clone()));
        tracing::subscriber::with_default(subscriber, || {
            tracing::warn!("2 entries are ignored: {:?}", ["/a"]);
            tracing::warn!(key = "a/b", "slow");
            tracing::info!("nothing");
        });
        let said = String::from_utf8(lines.0.lock().unwrap().clone()).unwrap();
        assert_eq!(said, "zarrox: note: 2 entries are ignored: [\"/a\"]\nzarrox: note: slow (key: a/b)\n");
    }
}
