//! Long output on a terminal goes through a pager.

use std::env;
use std::io::{self, IsTerminal, Write};
use std::process::{Child, Command, Stdio};

/// The pager if nothing else is wanted: it ends by itself if all fits on the screen, and leaves the output there.
const USUAL: &str = "less -FRX";

/// A pager that output is written to.
#[derive(Debug)]
pub(crate) struct Pager(Child);

impl Pager {
    /// Starts the pager that `PAGER` names, if the output is a terminal. `None` if there is none, or it does not start.
    pub(crate) fn start() -> Option<Self> {
        let terminal = env::var("TERM").unwrap_or_default();
        if !cfg!(unix) || !io::stdout().is_terminal() || matches!(terminal.as_str(), "" | "dumb") {
            return None;
        }
        let wanted = env::var("PAGER").unwrap_or_else(|_| USUAL.to_owned());
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

    /// The place where output is written.
    pub(crate) fn output(&mut self) -> Option<impl Write + 'static> {
        self.0.stdin.take()
    }

    /// Waits until the reader has seen enough.
    pub(crate) fn wait(mut self) {
        // Its end is no concern of ours.
        let _ = self.0.wait();
    }
}
