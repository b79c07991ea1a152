//! The commands: one file for each, in folders by purpose.

mod change;
mod completions;
mod copy;
mod demo;
mod groups;
mod look;
mod man;
mod paths;
#[cfg(feature = "serve")]
mod serve;
mod storage;
mod verify;

use std::ffi::OsString;
use std::io::{self, BufWriter, IsTerminal, Write};

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::layer::{Layer, SubscriberExt};
use tracing_subscriber::util::SubscriberInitExt;

use crate::args::Global;
use crate::examples;
use crate::exit::{self, Failure, usage};
use crate::interrupt;
use crate::notes;
use crate::print::pager::Pager;
use crate::retries;
use crate::version;
use change::{attrs, consolidate, create, rename_dim, resize, rm, set};
use copy::{append, convert, cp, downsample, export, import, mv, rechunk, reshard};
use look::{bench, cat, chunks, du, dump, find, head, info, ls, meta, plot, stats, tree};
use verify::{check, diff, digest, manifest, validate_ome};

/// Inspect, create, change, copy, verify and serve Zarr arrays and groups
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
    Bench(bench::Bench),
    Plot(plot::Plot),
    Cat(cat::Cat),
    Create(create::Create),
    Import(import::Import),
    Append(append::Append),
    Export(export::Export),
    Cp(cp::Cp),
    Rechunk(rechunk::Rechunk),
    Reshard(reshard::Reshard),
    Downsample(downsample::Downsample),
    Convert(convert::Convert),
    Consolidate(consolidate::Consolidate),
    Check(check::Check),
    ValidateOme(validate_ome::ValidateOme),
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
    #[cfg(feature = "serve")]
    Serve(serve::Serve),
    Storage(storage::Storage),
    Completions(completions::Completions),
    Man(man::Man),
    Demo(demo::Demo),
}

impl Command {
    /// Returns true if the output may be longer than a screen and contains neither prompts nor a progress bar.
    fn is_paged(&self) -> bool {
        matches!(
            self,
            Self::Info(_)
                | Self::Tree(_)
                | Self::Ls(_)
                | Self::Find(_)
                | Self::Chunks(_)
                | Self::Dump(_)
                | Self::Head(_)
                | Self::Tail(_)
                | Self::Meta(_)
                | Self::Storage(_)
        )
    }

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
            Self::Bench(bench) => bench.run(global, out),
            Self::Plot(plot) => plot.run(global, out),
            Self::Cat(cat) => cat.run(global, out),
            Self::Create(create) => create.run(global),
            Self::Import(import) => import.run(global, out),
            Self::Append(append) => append.run(global),
            Self::Export(export) => export.run(global, out),
            Self::Cp(cp) => cp.run(global, out),
            Self::Rechunk(rechunk) => rechunk.run(global, out),
            Self::Reshard(reshard) => reshard.run(global, out),
            Self::Downsample(downsample) => downsample.run(global, out),
            Self::Convert(convert) => convert.run(global, out),
            Self::Consolidate(consolidate) => consolidate.run(global, out),
            Self::Check(check) => check.run(global, out),
            Self::ValidateOme(validate) => validate.run(global, out),
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
            #[cfg(feature = "serve")]
            Self::Serve(serve) => serve.run(global, out),
            Self::Storage(storage) => storage.run(out),
            Self::Completions(completions) => completions.run(Cli::command(), out),
            Self::Man(man) => man.run(Cli::command(), out),
            Self::Demo(demo) => demo.run(out, run_line),
        }
    }
}

/// Runs a command line. The first argument is the name of the program.
pub(crate) fn run(arguments: impl IntoIterator<Item = OsString>) -> Result<(), Failure> {
    let arguments = import::with_axis(arguments);
    if arguments.get(1..).is_some_and(|words| words == ["help", "examples"]) {
        return paged(false, &mut |out| Ok(examples::print_all(out)?));
    }
    if let [_, word, begin] = arguments.as_slice()
        && word == paths::WORD
    {
        return paths::print(&begin.to_string_lossy(), &mut io::stdout().lock());
    }
    let command = Cli::command().long_version(version::text());
    let matches = groups::grouped(examples::added(command)).get_matches_from(arguments);
    let Cli { global, command } = Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    trace(global.verbose);
    exit::show(!global.quiet);
    crate::files::flush(global.sync);
    let plain = global.no_pager || !command.is_paged();
    let mut command = Some(command);
    paged(plain, &mut |out| command.take().map_or(Ok(()), |command| command.run(&global, out)))
}

/// Runs `work` with a pager as its output, or with standard output if `plain` is set or the output is not a terminal.
fn paged(plain: bool, work: &mut dyn FnMut(&mut dyn Write) -> Result<(), Failure>) -> Result<(), Failure> {
    let mut pager = if plain { None } else { Pager::start() };
    let done = match pager.as_mut().and_then(Pager::output) {
        Some(input) => {
            // Ctrl-C ends only the pager.
            interrupt::catch();
            written(input, work)
        }
        None => written(io::stdout().lock(), work),
    };
    pager.into_iter().for_each(Pager::wait);
    done
}

fn written(
    out: impl Write,
    work: &mut dyn FnMut(&mut dyn Write) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut out = BufWriter::with_capacity(1 << 16, out);
    let done = work(&mut out);
    // Output that precedes an error is printed as well.
    let flushed = out.flush();
    done?;
    Ok(flushed?)
}

/// Runs a line of the demonstration.
fn run_line(line: Vec<String>, out: &mut dyn Write) -> Result<(), Failure> {
    let Cli { global, command } = Cli::try_parse_from(line).map_err(|error| usage(error.to_string()))?;
    command.run(&global, out)
}

/// Sets up the log of the library: warnings are printed as notes, the whole log on request, and retries on a terminal.
fn trace(verbose: u8) {
    let level = match verbose {
        0 => LevelFilter::OFF,
        1 => LevelFilter::DEBUG,
        _ => LevelFilter::TRACE,
    };
    let all = tracing_subscriber::fmt::layer().with_writer(io::stderr).with_ansi(false).with_filter(level);
    let retries = (verbose == 0 && io::stderr().is_terminal()).then(|| retries::layer(io::stderr()));
    let notes = (verbose == 0).then(|| notes::layer(io::stderr()));
    // In a Python program that has used the package before, the subscriber of the package is kept.
    let _ = tracing_subscriber::registry().with(all).with(notes).with(retries).try_init();
}
