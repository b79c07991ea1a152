//! `zarrox man`: manual pages.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::{Args, Command, CommandFactory};
use clap_mangen::Man as Page;
use zarrox::Result;

use super::Cli;
use crate::exit::Failure;
use crate::files::{self, Output};

/// Print the manual page, or write those of all commands to a directory
#[derive(Debug, Args)]
pub(crate) struct Man {
    /// The directory to write to [default: print the main page]
    directory: Option<PathBuf>,

    /// Replace pages that are there already
    #[arg(long)]
    force: bool,
}

impl Man {
    pub(crate) fn run(&self, out: &mut dyn Write) -> Result<(), Failure> {
        let mut command = Cli::command();
        command.build();
        let Some(directory) = &self.directory else { return Ok(Page::new(command).render(out)?) };
        let creating = |error| files::failed(&format!("creating '{}'", directory.display()), error);
        std::fs::create_dir_all(directory).map_err(creating)?;
        Ok(self.write(&command, "zarrox", directory)?)
    }

    /// Writes the page of a command and those of its own commands.
    fn write(&self, command: &Command, name: &str, directory: &Path) -> Result<()> {
        let path = directory.join(format!("{name}.1"));
        let mut page = Output::create(&path, self.force)?;
        let writing = |error| files::failed(&format!("writing '{}'", path.display()), error);
        Page::new(command.clone()).title(name).render(&mut page).map_err(writing)?;
        page.finish()?;
        let subcommands = command.get_subcommands().filter(|command| command.get_name() != "help");
        for subcommand in subcommands {
            self.write(subcommand, &format!("{name}-{}", subcommand.get_name()), directory)?;
        }
        Ok(())
    }
}
