//! The progress of long operations: a bar on standard error if that is a terminal, and a final line. With `-v`, the final line is
//! printed even if standard error is not a terminal.

use std::io::{self, Write};
use std::time::Instant;

use indicatif::{HumanBytes, ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::exit::{is_shown, printable};

/// The progress of an operation.
#[derive(Clone)]
pub(crate) struct Progress {
    bar: ProgressBar,
    name: String,
    begun: Instant,
    is_bytes: bool,
}

impl Progress {
    /// Starts an operation on `bytes` bytes.
    pub(crate) fn new(name: &str, bytes: u64) -> Self {
        let target = if is_shown() { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(Some(bytes), target);
        let style = ProgressStyle::with_template(
            "{msg} [{bar:30}] {bytes}/{total_bytes}, {bytes_per_sec}, {eta} left",
        );
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("=> "));
        let name = printable(name);
        Self { bar: bar.with_message(name.clone()), name, begun: Instant::now(), is_bytes: true }
    }

    /// Starts an operation on elements. Their number is set later.
    pub(crate) fn elements(name: &str) -> Self {
        let progress = Self { is_bytes: false, ..Self::new(name, 0) };
        let style =
            ProgressStyle::with_template("{msg} [{bar:30}] {pos}/{len} elements, {per_sec}, {eta} left");
        progress.bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("=> "));
        progress
    }

    /// Adds `bytes` to the number of completed bytes.
    pub(crate) fn add(&self, bytes: u64) {
        self.bar.inc(bytes);
    }

    /// Sets the number of completed bytes and the total.
    pub(crate) fn set(&self, done: u64, total: u64) {
        self.bar.set_length(total);
        self.bar.set_position(done);
    }

    /// Hides the bar while `write` runs, which also writes to the terminal.
    pub(crate) fn aside<R>(&self, write: impl FnOnce() -> R) -> R {
        self.bar.suspend(write)
    }

    /// Returns true if the final line will be visible.
    pub(crate) fn is_seen(&self) -> bool {
        !self.bar.is_hidden() || tracing::enabled!(tracing::Level::INFO)
    }

    /// Removes the bar without a final line.
    pub(crate) fn clear(&self) {
        self.bar.finish_and_clear();
    }

    /// Removes the bar, and prints the final line with the stored size, if it is known.
    pub(crate) fn finish(&self, after: Option<u64>) {
        let bytes = self.bar.length().unwrap_or_default();
        self.bar.finish_and_clear();
        let after = after.map(|after| format!(" → {}", HumanBytes(after))).unwrap_or_default();
        let seconds = self.begun.elapsed().as_secs_f64();
        let amount = if self.is_bytes { HumanBytes(bytes).to_string() } else { format!("{bytes} elements") };
        let line = format!("{}: {amount}{after}, {seconds:.1} s", self.name);
        if self.bar.is_hidden() {
            tracing::info!("{line}");
        } else {
            // If the terminal is closed, the line is lost.
            let _ = writeln!(io::stderr().lock(), "{line}");
        }
    }
}
