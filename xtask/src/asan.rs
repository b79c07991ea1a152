//! `cargo xtask asan`.

use crate::run::{self, Outcome, cargo};
use crate::sanitizer::Sanitizer;

pub(crate) const HELP: &str = "\
Runs the tests of all unsafe code, and of the C libraries, with AddressSanitizer

It sees accesses out of bounds and after freeing, in Rust and in C, and memory that is never freed. These are the tests of
zarrox-core and zarrox-codecs, and those of zarrox that go through its unsafe code. Arguments go to the tests' programs: names of
tests, for example.";

const PACKAGES: &[&str] = &["zarrox-core", "zarrox-codecs", "zarrox"];

/// The integration tests: bad input to the codecs, and what goes through the unsafe code of `zarrox/array`.
const TESTS: &[&str] =
    &["bad_input", "arrays", "damage", "fetches", "objects", "records", "rectilinear", "types"];

pub(crate) fn run(arguments: &[String]) -> Outcome {
    let sanitizer = Sanitizer::for_this_machine()?;
    let test = cargo(["test", "--lib", "--target-dir", &run::target("asan")]);
    let test = test.with(PACKAGES.iter().flat_map(|name| ["--package", name]));
    let test = test.with(TESTS.iter().flat_map(|name| ["--test", name]));
    let arguments = arguments.iter().map(String::as_str);
    sanitizer.build(test, "", "").with(["--"]).with(arguments).run()
}
