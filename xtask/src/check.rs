//! `cargo xtask check`: the checks that a contributor runs before each commit.

use crate::lint;
use zarrox_runner::run::{Outcome, cargo};

pub(crate) const HELP: &str = "\
Runs the checks before a commit: formatting, Clippy, our own rules, and unit tests

It installs nothing, and takes a few minutes once everything has been compiled. At its end it lists what it has skipped.";

/// The checks of `cargo xtask lint` that need only the compiler.
const LINTS: [&str; 5] = ["fmt", "circles", "unlisted", "symbols", "clippy-all"];

pub(crate) fn run(arguments: &[String]) -> Outcome {
    if let Some(first) = arguments.first() {
        return Err(format!("unknown argument '{first}': check takes no arguments"));
    }
    lint::run(&LINTS.map(str::to_owned))?;
    cargo(["test", "--workspace", "--all-features", "--lib", "--bins"]).run()?;
    println!(
        "\nleft out:\n  documentation, licences, Python's types, generated files: cargo xtask lint\n  \
         integration tests, examples in the documentation, Python: cargo xtask test\n  \
         other packages' tests, the page, exchanges with other implementations: cargo xtask test --all\n  \
         stores on servers, sanitizers, fuzzing, models, torture: .ci/run"
    );
    Ok(())
}
