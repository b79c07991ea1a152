//! `cargo xtask bench`.

use crate::run::{Outcome, cargo};

pub(crate) const HELP: &str = "\
Measures reading and writing, compiled for release

Arguments go to the benchmarks, which are in crates/zarrox/benches.";

pub(crate) fn run(arguments: &[String]) -> Outcome {
    let bench = cargo(["bench", "--package", "zarrox", "--bench", "*", "--"]);
    bench.with(arguments.iter().map(String::as_str)).run()
}
