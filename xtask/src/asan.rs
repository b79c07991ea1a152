//! `cargo xtask asan`.

use crate::sanitizer::Sanitizer;
use zarrox_runner::run::{self, Outcome, cargo};

pub(crate) const HELP: &str = "\
Runs the tests of all unsafe code, and of the C libraries, with AddressSanitizer

It detects accesses out of bounds and after freeing, in Rust and in C, and memory that is never freed. These are the tests of
zarrox-core and zarrox-codecs, and those of zarrox that use its unsafe code. Arguments are passed to the test programs: names of
tests, for example.";

const PACKAGES: &[&str] = &["zarrox-core", "zarrox-codecs", "zarrox"];

/// The integration tests that use the unsafe code of `zarrox/array`.
const TESTS: &[&str] =
    &["arrays::", "damage::", "fetches::", "objects::", "records::", "rectilinear::", "types::"];

pub(crate) fn run(arguments: &[String]) -> Outcome {
    let sanitizer = Sanitizer::for_this_machine()?;
    let test = |targets: &[&str], names: &[&str]| {
        // Line tables let the sanitizer's reports contain line numbers.
        let test = cargo(["test", "--target-dir", &run::target("asan")])
            .variable("CARGO_PROFILE_DEV_DEBUG", "line-tables-only");
        let test = test.with(PACKAGES.iter().flat_map(|name| ["--package", name])).with(targets.to_vec());
        sanitizer.build(test, "", "").with(["--"]).with(names.to_vec()).run()
    };
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    // The suite of bad input to the codecs is a separate program.
    test(&["--lib", "--test", "bad_input"], &arguments)?;
    test(&["--test", "all"], if arguments.is_empty() { TESTS } else { &arguments })
}
