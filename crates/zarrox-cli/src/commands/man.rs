//! `zarrox man`: prints or writes manual pages.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::{Args, Command};
use clap_mangen::Man as Page;
use clap_mangen::roff::{Roff, bold, roman};
use zarrox::Result;

use crate::examples::{self, Example};
use crate::exit::{self, Failure};
use crate::files::{self, Output};

/// The environment variables that the command reads, with descriptions.
const ENVIRONMENT: &[(&str, &str)] = &[
    ("AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN, AWS_PROFILE", "The keys for s3://."),
    ("AWS_REGION, AWS_ENDPOINT_URL, AWS_ALLOW_HTTP", "The region and the server of the buckets for s3://."),
    (
        "AZURE_STORAGE_CONNECTION_STRING, AZURE_STORAGE_ACCOUNT_NAME, AZURE_STORAGE_ACCOUNT_KEY",
        "The storage account for az://.",
    ),
    (
        "GOOGLE_APPLICATION_CREDENTIALS, STORAGE_EMULATOR_HOST",
        "The credentials for gs://, and the address of an emulator.",
    ),
    ("HADOOP_CONF_DIR", "The configuration of the client for hdfs://."),
    ("REDISCLI_AUTH", "The password for redis://."),
    ("HTTPS_PROXY, HTTP_PROXY, NO_PROXY", "Proxies for servers."),
    ("XDG_CACHE_HOME", "The directory of the caches simplecache:: and filecache::; the default is ~/.cache."),
];

/// Print the manual page, or write the manual pages of all commands to a directory
#[derive(Debug, Args)]
pub(crate) struct Man {
    /// The directory to write to [default: print the main page]
    directory: Option<PathBuf>,

    /// Replace existing pages
    #[arg(long)]
    force: bool,
}

impl Man {
    pub(crate) fn run(&self, command: Command, out: &mut dyn Write) -> Result<(), Failure> {
        let mut command = examples::added(command);
        command.build();
        let Some(directory) = &self.directory else { return Ok(render(&command, &[], &[], out)?) };
        let creating = |error| files::failed(&format!("creating '{}'", directory.display()), error);
        std::fs::create_dir_all(directory).map_err(creating)?;
        Ok(self.write(&command, &[], &[], directory)?)
    }

    /// Writes the page of a command and the pages of its subcommands.
    fn write(&self, command: &Command, words: &[&str], beside: &[String], directory: &Path) -> Result<()> {
        let path = directory.join(format!("{}.1", page_name(words)));
        let mut file = Output::create(&path, self.force)?;
        let writing = |error| files::failed(&format!("writing '{}'", path.display()), error);
        render(command, words, beside, &mut file).map_err(writing)?;
        file.finish()?;
        let below = pages_below(command, words);
        for subcommand in subcommands(command) {
            let words = [words, &[subcommand.get_name()]].concat();
            self.write(subcommand, &words, &below, directory)?;
        }
        Ok(())
    }
}

fn subcommands(command: &Command) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(|command| command.get_name() != "help")
}

/// Returns the name of the page for the command that consists of these words.
fn page_name(words: &[&str]) -> String {
    [&["zarrox"], words].concat().join("-")
}

fn pages_below(command: &Command, words: &[&str]) -> Vec<String> {
    subcommands(command).map(|below| page_name(&[words, &[below.get_name()]].concat())).collect()
}

/// Writes a page: the sections that clap generates, examples, environment variables, exit codes and references.
fn render(command: &Command, words: &[&str], beside: &[String], out: &mut dyn Write) -> std::io::Result<()> {
    let name = page_name(words);
    let page = Page::new(command.clone()).title(&name);
    page.render_title(out)?;
    page.render_name_section(out)?;
    page.render_synopsis_section(out)?;
    page.render_description_section(out)?;
    page.render_options_section(out)?;
    if subcommands(command).next().is_some() {
        page.render_subcommands_section(out)?;
    }
    let mut roff = Roff::new();
    add_examples(&mut roff, examples::of(&words.join(" ")));
    roff.control("SH", ["ENVIRONMENT"]);
    ENVIRONMENT.iter().for_each(|(names, says)| add_term(&mut roff, names, says));
    roff.control("SH", ["EXIT STATUS"]);
    exit::CODES.iter().for_each(|(code, says)| add_term(&mut roff, &code.to_string(), says));
    add_references(&mut roff, &name, pages_below(command, words).iter().chain(beside));
    roff.to_writer(out)?;
    if command.get_version().is_some() { page.render_version_section(out) } else { Ok(()) }
}

fn add_term(roff: &mut Roff, term: &str, says: &str) {
    roff.control("TP", []);
    roff.text([bold(term)]);
    roff.text([roman(says)]);
}

fn add_examples(roff: &mut Roff, examples: &[Example]) {
    roff.control("SH", ["EXAMPLES"]);
    for Example { line, says } in examples {
        roff.control("PP", []);
        roff.text([roman(*says)]);
        roff.control("RS", ["4"]);
        roff.control("nf", []);
        roff.text([roman(*line)]);
        roff.control("fi", []);
        roff.control("RE", []);
    }
}

/// Adds references to the pages of the parent, the siblings and the subcommands.
fn add_references<'p>(roff: &mut Roff, own: &'p str, pages: impl Iterator<Item = &'p String>) {
    let above = own.rsplit_once('-').map(|(above, _)| above);
    let others = above.into_iter().chain(pages.map(String::as_str)).filter(|page| *page != own);
    roff.control("SH", ["SEE ALSO"]);
    roff.text([roman(others.map(|page| format!("{page}(1)")).collect::<Vec<_>>().join(", "))]);
}
