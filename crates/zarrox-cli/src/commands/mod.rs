//! The commands, with one file for each, in folders by their purpose.

mod change;
mod completions;
mod copy;
mod demo;
mod look;
mod man;
mod storage;
mod verify;

use std::io::{self, BufWriter, IsTerminal, Write};

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::layer::{Layer, SubscriberExt};
use tracing_subscriber::util::SubscriberInitExt;

use crate::args::Global;
use crate::examples;
use crate::exit::{self, Failure, usage};
use crate::retries;
use change::{attrs, consolidate, create, rename_dim, resize, rm, set};
use copy::{convert, cp, export, import, mv, rechunk, reshard};
use look::{cat, chunks, du, dump, find, head, info, ls, meta, stats, tree};
use verify::{check, diff, digest, manifest};

/// Look at Zarr arrays and groups, create them, and move data in and out of them.
#[derive(Debug, Parser)]
#[command(name = "zarrox", version)]
pub(crate) struct Cli {
    #[command(flatten)]
    global: Global,

    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Info(info::Info),
    Tree(tree::Tree),
    Ls(ls::Ls),
    Du(du::Du),
    Stats(stats::Stats),
    Head(head::Head),
    Tail(head::Tail),
    Chunks(chunks::Chunks),
    Cat(cat::Cat),
    Create(create::Create),
    Import(import::Import),
    Export(export::Export),
    Cp(cp::Cp),
    Rechunk(rechunk::Rechunk),
    Reshard(reshard::Reshard),
    Convert(convert::Convert),
    Consolidate(consolidate::Consolidate),
    Check(check::Check),
    Diff(diff::Diff),
    Digest(digest::Digest),
    Manifest(manifest::Manifest),
    Dump(dump::Dump),
    Find(find::Find),
    Meta(meta::Meta),
    Attrs(attrs::Attrs),
    Set(set::Set),
    Fill(set::Fill),
    Resize(resize::Resize),
    RenameDim(rename_dim::RenameDim),
    Rm(rm::Rm),
    Mv(mv::Mv),
    Storage(storage::Storage),
    Completions(completions::Completions),
    Man(man::Man),
    Demo(demo::Demo),
}

impl Command {
    fn run(self, global: &Global, out: &mut dyn Write) -> Result<(), Failure> {
        match self {
            Self::Info(info) => info.run(global, out),
            Self::Tree(tree) => tree.run(global, out),
            Self::Ls(ls) => ls.run(global, out),
            Self::Du(du) => du.run(global, out),
            Self::Stats(stats) => stats.run(global, out),
            Self::Head(head) => head.run(global, out),
            Self::Tail(tail) => tail.run(global, out),
            Self::Chunks(chunks) => chunks.run(global, out),
            Self::Cat(cat) => cat.run(global, out),
            Self::Create(create) => create.run(global),
            Self::Import(import) => import.run(global, out),
            Self::Export(export) => export.run(global, out),
            Self::Cp(cp) => cp.run(global, out),
            Self::Rechunk(rechunk) => rechunk.run(global, out),
            Self::Reshard(reshard) => reshard.run(global, out),
            Self::Convert(convert) => convert.run(global, out),
            Self::Consolidate(consolidate) => consolidate.run(global, out),
            Self::Check(check) => check.run(global, out),
            Self::Diff(diff) => diff.run(global, out),
            Self::Digest(digest) => digest.run(global, out),
            Self::Manifest(manifest) => manifest.run(global, out),
            Self::Dump(dump) => dump.run(global, out),
            Self::Find(find) => find.run(global, out),
            Self::Meta(meta) => meta.run(global, out),
            Self::Set(set) => set.run(global),
            Self::Fill(fill) => fill.run(global),
            Self::Resize(resize) => resize.run(global),
            Self::RenameDim(rename) => rename.run(global),
            Self::Attrs(attrs) => attrs.run(global, out),
            Self::Rm(rm) => rm.run(global),
            Self::Mv(mv) => mv.run(global, out),
            Self::Storage(storage) => storage.run(out),
            Self::Completions(completions) => completions.run(Cli::command(), out),
            Self::Man(man) => man.run(Cli::command(), out),
            Self::Demo(demo) => demo.run(out, run_line),
        }
    }
}

/// Runs the command line.
pub(crate) fn run() -> Result<(), Failure> {
    let matches = examples::added(Cli::command()).get_matches_from(import::with_axis(std::env::args_os()));
    let Cli { global, command } = Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    trace(global.verbose);
    exit::show(!global.quiet);
    let mut out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
    let done = command.run(&global, &mut out);
    // Output that was written before an error is printed as well.
    let flushed = out.flush();
    done?;
    Ok(flushed?)
}

/// Runs a command line, which begins with the name of the program.
fn run_line(line: Vec<String>, out: &mut dyn Write) -> Result<(), Failure> {
    let Cli { global, command } = Cli::try_parse_from(line).map_err(|error| usage(error.to_string()))?;
    command.run(&global, out)
}

/// Prints the log of the library: warnings always, more on request, and retries on a terminal.
fn trace(verbose: u8) {
    let level = match verbose {
        0 => LevelFilter::WARN,
        1 => LevelFilter::DEBUG,
        _ => LevelFilter::TRACE,
    };
    let all = tracing_subscriber::fmt::layer().with_writer(io::stderr).with_ansi(false).with_filter(level);
    let retries = (verbose == 0 && io::stderr().is_terminal()).then(|| retries::layer(io::stderr()));
    tracing_subscriber::registry().with(all).with(retries).init();
}
