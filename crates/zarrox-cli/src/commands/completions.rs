//! `zarrox completions`: completions for shells.

use std::io::Write;

use clap::{Args, Command};
use clap_complete::Shell;

use crate::exit::Failure;

/// Print completions for a shell
///
/// The completions for bash include the paths of nodes in hierarchies: in directories, archives and databases, and on servers
/// that respond within a second.
#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// The shell
    shell: Shell,
}

impl Completions {
    pub(crate) fn run(&self, mut command: Command, out: &mut dyn Write) -> Result<(), Failure> {
        // The generator panics if writing fails, so it writes to memory.
        let mut text = Vec::new();
        clap_complete::generate(self.shell, &mut command, "zarrox", &mut text);
        if self.shell == Shell::Bash {
            text.extend_from_slice(include_bytes!("paths.bash"));
        }
        Ok(out.write_all(&text)?)
    }
}
