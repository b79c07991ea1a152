//! The pager for long output on a terminal.

use std::env;
use std::io::{self, IsTerminal, Write};
use std::process::{Child, Command, Stdio};

/// The default pager: it exits by itself if the output fits on the screen, and leaves the output there.
const DEFAULT: &str = "less -FRX";

/// A running pager.
#[derive(Debug)]
pub(crate) struct Pager(Child);

impl Pager {
    /// Starts the pager named by `PAGER` if the output is a terminal. Returns `None` if `PAGER` is not set or the pager does not start.
    pub(crate) fn start() -> Option<Self> {
        let terminal = env::var("TERM").unwrap_or_default();
        if !cfg!(unix) || !io::stdout().is_terminal() || matches!(terminal.as_str(), "" | "dumb") {
            return None;
        }
        let wanted = env::var("PAGER").unwrap_or_else(|_| DEFAULT.to_owned());
        if matches!(wanted.trim(), "" | "cat") {
            return None;
        }
        let mut words = wanted.split_whitespace();
        let mut command = Command::new(words.next()?);
        if env::var_os("LESS").is_none() {
            command.env("LESS", "FRX");
        }
        command.args(words).stdin(Stdio::piped()).spawn().ok().map(Self)
    }

    /// Returns the input of the pager.
    pub(crate) fn output(&mut self) -> Option<impl Write + 'static> {
        self.0.stdin.take()
    }

    /// Waits until the pager ends.
    pub(crate) fn wait(mut self) {
        // The exit status of the pager is ignored.
        let _ = self.0.wait();
    }
}
