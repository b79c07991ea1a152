//! Turns warnings from the Rust library into Python warnings, such as the one that consolidated metadata could not be kept up to
//! date.

use std::ffi::CString;
use std::fmt::Debug;
use std::sync::Once;

use pyo3::prelude::*;
use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

/// The module whose warnings are passed to Python. Other modules may issue warnings while they hold a lock for which a thread
/// with the GIL is waiting.
const TARGET: &str = "zarrox::upkeep";

/// A subscriber that receives the library's warnings.
struct Warnings;

impl Subscriber for Warnings {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_event() && *metadata.level() <= Level::WARN && metadata.target() == TARGET
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(LevelFilter::WARN)
    }

    fn event(&self, event: &Event<'_>) {
        let mut message = Message(String::new());
        event.record(&mut message);
        Python::attach(|py| {
            // A warning that the user has turned into an exception cannot stop work that is already complete.
            warn(py, &message.0).unwrap_or_else(|error| error.write_unraisable(py, None));
        });
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

/// The message of an event.
struct Message(String);

impl Visit for Message {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        if field.name() == "message" {
            self.0 = format!("{value:?}");
        }
    }
}

fn warn(py: Python<'_>, message: &str) -> PyResult<()> {
    let category = py.import("zarrox.errors")?.getattr("ZarrUserWarning")?;
    let message = CString::new(message.replace('\0', ""))?;
    PyErr::warn(py, &category, &message, 2)
}

/// Subscribes Python to warnings.
pub(crate) fn subscribe() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // An error means that this process already has a subscriber, which is kept.
        let _ = tracing::subscriber::set_global_default(Warnings);
    });
}
