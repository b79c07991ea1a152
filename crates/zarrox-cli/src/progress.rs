//! The progress of long work: a bar on the standard error while it goes on, when that is a terminal; then a line of what was
//! done, which `-v` shows elsewhere, too.

use std::io::{self, Write};
use std::time::Instant;

use indicatif::{HumanBytes, ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::exit::printable;

/// Work that goes on.
#[derive(Clone)]
pub(crate) struct Progress {
    bar: ProgressBar,
    name: String,
    begun: Instant,
}

impl Progress {
    /// Over so many bytes.
    pub(crate) fn new(name: &str, bytes: u64) -> Self {
        let bar = ProgressBar::with_draw_target(Some(bytes), ProgressDrawTarget::stderr());
        let style = ProgressStyle::with_template(
            "{msg} [{bar:30}] {bytes}/{total_bytes}, {bytes_per_sec}, {eta} left",
        );
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("=> "));
        let name = printable(name);
        Self { bar: bar.with_message(name.clone()), name, begun: Instant::now() }
    }

    /// So many bytes more are done.
    pub(crate) fn add(&self, bytes: u64) {
        self.bar.inc(bytes);
    }

    /// So many bytes are done, of so many.
    pub(crate) fn set(&self, done: u64, total: u64) {
        self.bar.set_length(total);
        self.bar.set_position(done);
    }

    /// Does something that writes to the terminal, too.
    pub(crate) fn aside<R>(&self, write: impl FnOnce() -> R) -> R {
        self.bar.suspend(write)
    }

    /// True if anybody will see the line at the end.
    pub(crate) fn is_seen(&self) -> bool {
        !self.bar.is_hidden() || tracing::enabled!(tracing::Level::INFO)
    }

    /// All is done; the bytes have become so many others, if that is known.
    pub(crate) fn finish(&self, after: Option<u64>) {
        let bytes = self.bar.length().unwrap_or_default();
        self.bar.finish_and_clear();
        let after = after.map(|after| format!(" → {}", HumanBytes(after))).unwrap_or_default();
        let seconds = self.begun.elapsed().as_secs_f64();
        let line = format!("{}: {}{after}, {seconds:.1} s", self.name, HumanBytes(bytes));
        if self.bar.is_hidden() {
            tracing::info!("{line}");
        } else {
            // When the terminal is closed there is nobody left to tell.
            let _ = writeln!(io::stderr().lock(), "{line}");
        }
    }
}
