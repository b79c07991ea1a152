//! `cargo xtask site`: the documentation as a folder of static pages.

use zarrox_runner::python::Environment;
use zarrox_runner::run::{self, Outcome, cargo, program};

pub(crate) const HELP: &str = "\
Builds the documentation as a folder of static pages, target/site, and checks all of its links

    site                     the pages of docs, the help of the command, and the Python API; also the Rust API if `cargo doc`
                             has built it
    site --api               builds the Rust API first
    site --command PROGRAM   takes the help from an existing command, and compiles nothing

The pages need no server and load nothing from other hosts. They are made by MkDocs, which is installed from PyPI into
target/venvs/site, and by the scripts in xtask/site.";

/// The environment of MkDocs.
const SITE: Environment = Environment {
    name: "site",
    lowest: (3, 11),
    highest: (3, 14),
    requirements: Some("xtask/requirements/site.txt"),
};

pub(crate) fn run(arguments: &[String]) -> Outcome {
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        [] => build(&command()?),
        ["--api"] => {
            cargo(["doc", "--no-deps", "--workspace", "--all-features"]).run()?;
            build(&command()?)
        }
        ["--command", command] => build(&run::absolute(command)?),
        other => Err(format!("unknown arguments '{}'\n\n{HELP}", other.join(" "))),
    }
}

/// Returns the command, compiled with all crates and features, as other tests are.
fn command() -> Outcome<String> {
    cargo(["build", "--quiet", "--workspace", "--all-features", "--bin", "zarrox"]).run()?;
    run::absolute(run::built("debug/zarrox"))
}

fn build(command: &str) -> Outcome {
    program(SITE.python()?, ["-B", "xtask/site/build.py", command]).run()
}
