//! The commands, one file each.

mod attrs;
mod completions;
mod consolidate;
mod convert;
mod create;
mod dump;
mod export;
mod import;
mod info;
mod ls;
mod man;
mod mv;
mod rm;
mod tree;

use std::io::{self, BufWriter, Write};

use clap::{Parser, Subcommand};
use tracing_subscriber::filter::LevelFilter;
use zarrox::json::Json;

use crate::args::Global;
use crate::exit::{self, Failure};

/// Look at Zarr arrays and groups, create them, and move data in and out of them.
#[derive(Debug, Parser)]
#[command(name = "zarrox", version, after_help = exit::HELP, after_long_help = exit::HELP)]
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
    Create(create::Create),
    Import(import::Import),
    Export(export::Export),
    Convert(convert::Convert),
    Consolidate(consolidate::Consolidate),
    Dump(dump::Dump),
    Attrs(attrs::Attrs),
    Rm(rm::Rm),
    Mv(mv::Mv),
    Completions(completions::Completions),
    Man(man::Man),
}

/// Does what the command line says.
pub(crate) fn run() -> Result<(), Failure> {
    let Cli { global, command } = Cli::parse();
    trace(global.verbose);
    let mut out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
    let done = match command {
        Command::Info(info) => info.run(&global, &mut out),
        Command::Tree(tree) => tree.run(&global, &mut out),
        Command::Ls(ls) => ls.run(&global, &mut out),
        Command::Create(create) => create.run(&global),
        Command::Import(import) => import.run(&global),
        Command::Export(export) => export.run(&global, &mut out),
        Command::Convert(convert) => convert.run(&global, &mut out),
        Command::Consolidate(consolidate) => consolidate.run(&global, &mut out),
        Command::Dump(dump) => dump.run(&global, &mut out),
        Command::Attrs(attrs) => attrs.run(&global, &mut out),
        Command::Rm(rm) => rm.run(&global),
        Command::Mv(mv) => mv.run(&global),
        Command::Completions(completions) => completions.run(&mut out),
        Command::Man(man) => man.run(&mut out),
    };
    // What was written before an error is the user's, too.
    let flushed = out.flush();
    done?;
    Ok(flushed?)
}

/// Shows what the library tells: warnings always, more when asked.
fn trace(verbose: u8) {
    let level = match verbose {
        0 => LevelFilter::WARN,
        1 => LevelFilter::DEBUG,
        _ => LevelFilter::TRACE,
    };
    tracing_subscriber::fmt().with_writer(io::stderr).with_max_level(level).with_ansi(false).init();
}

/// Prints JSON for people and programs.
fn print_json(out: &mut dyn Write, json: &Json) -> io::Result<()> {
    writeln!(out, "{json:#}")
}

/// A shape as NumPy prints it: `(10, 20)`, `(7,)`, `()`.
fn tuple(lengths: &[u64]) -> String {
    let comma = if lengths.len() == 1 { "," } else { "" };
    let lengths: Vec<String> = lengths.iter().map(u64::to_string).collect();
    format!("({}{comma})", lengths.join(", "))
}
