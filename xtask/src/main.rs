//! `cargo xtask`: all development tasks of Zarrox. Each command prints the commands that it runs.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "this is a program for a terminal")]

mod asan;
mod bench;
mod check;
mod demo;
mod dist;
mod docs;
mod fuzz;
mod guard;
mod lint;
mod model;
mod notices;
mod package;
mod page;
mod platforms;
mod python;
mod record;
mod release;
mod sanitizer;
mod site;
mod test;
mod torture;
mod wheel;

use std::process::ExitCode;

use zarrox_conformance as conformance;
use zarrox_runner::run::{self, Outcome};

/// A command: its name, its help, and the function that runs it with the remaining arguments.
struct Command {
    name: &'static str,
    help: &'static str,
    run: fn(&[String]) -> Outcome,
}

const COMMANDS: &[Command] = &[
    Command { name: "demo", help: demo::HELP, run: demo::run },
    Command { name: "check", help: check::HELP, run: check::run },
    Command { name: "test", help: test::HELP, run: test::run },
    Command { name: "lint", help: lint::HELP, run: lint::run },
    Command { name: "python", help: python::HELP, run: python::run },
    Command { name: "wheel", help: wheel::HELP, run: wheel::run },
    Command { name: "dist", help: dist::HELP, run: dist::run },
    Command { name: "package", help: package::HELP, run: package::run },
    Command { name: "bench", help: bench::HELP, run: bench::run },
    Command { name: "conformance", help: conformance::HELP, run: conformance::run },
    Command { name: "asan", help: asan::HELP, run: asan::run },
    Command { name: "fuzz", help: fuzz::HELP, run: fuzz::run },
    Command { name: "model", help: model::HELP, run: model::run },
    Command { name: "platforms", help: platforms::HELP, run: platforms::run },
    Command { name: "torture", help: torture::HELP, run: torture::run },
    Command { name: "page", help: page::HELP, run: page::run },
    Command { name: "docs", help: docs::HELP, run: docs::run },
    Command { name: "site", help: site::HELP, run: site::run },
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run_command(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::FAILURE
        }
    }
}

fn run_command(arguments: &[String]) -> Outcome {
    let (name, rest) = match arguments.split_first() {
        Some((name, rest)) if !["help", "-h", "--help"].contains(&name.as_str()) => (name, rest),
        _ => {
            help();
            return Ok(());
        }
    };
    let Some(command) = COMMANDS.iter().find(|command| command.name == name) else {
        help();
        return Err(format!("unknown command '{name}'"));
    };
    if rest.iter().any(|argument| argument == "--help" || argument == "-h") {
        println!("cargo xtask {}\n\n{}", command.name, command.help);
        return Ok(());
    }
    run::enter_root()?;
    (command.run)(rest)
}

fn help() {
    println!("cargo xtask COMMAND [--help]\n");
    for command in COMMANDS {
        println!("  {:<12} {}", command.name, command.help.lines().next().unwrap_or_default());
    }
}
