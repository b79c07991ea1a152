//! `cargo xtask bench`.

use crate::run::{Outcome, cargo};

pub(crate) const HELP: &str = "\
Measures reading and writing, compiled for release

    bench [whole] [ARGUMENT …]    whole arrays, against a bare loop that does the same work
    bench codecs [ARGUMENT …]     every codec, against its library's own calls or a copy of the memory

Arguments go to the benchmarks, which are in crates/zarrox/benches and crates/zarrox-codecs/benches.";

pub(crate) fn run(arguments: &[String]) -> Outcome {
    let (package, name, rest) = match arguments.split_first() {
        Some((first, rest)) if first == "codecs" => ("zarrox-codecs", "codecs", rest),
        Some((first, rest)) if first == "whole" => ("zarrox", "whole", rest),
        _ => ("zarrox", "whole", arguments),
    };
    let bench = cargo(["bench", "--package", package, "--bench", name, "--"]);
    bench.with(rest.iter().map(String::as_str)).run()
}
