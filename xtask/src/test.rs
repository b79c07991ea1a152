//! `cargo xtask test`.

use crate::run::{Outcome, cargo};

pub(crate) const HELP: &str = "\
All tests: unit tests, integration tests, the examples in the documentation, and conformance

All features are on, so that the tests of those that are off by default run, too. Arguments go to `cargo test`, and conformance is left out then.";

pub(crate) fn run(arguments: &[String]) -> Outcome {
    let tests = cargo(["test", "--workspace", "--all-features"]).with(arguments.iter().map(String::as_str));
    tests.run()?;
    if arguments.is_empty() { crate::conformance::run(&[]) } else { Ok(()) }
}
