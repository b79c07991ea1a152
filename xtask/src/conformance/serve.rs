//! The part of `cargo xtask conformance` about the server: clients of others read what `zarrox serve` gives.

use crate::python::Environment;
use crate::run::{self, Outcome, cargo, program};
use crate::servers::node_package;

/// The directory of all output.
const DIRECTORY: &str = "target/conformance/serve";

/// The directory of the client of npm.
const NODE: &str = "target/conformance/node";

const ENVIRONMENT: Environment = Environment {
    name: "serve",
    lowest: (3, 12),
    highest: (3, 14),
    requirements: Some("conformance/requirements/serve.txt"),
};

/// zarr-python, TensorStore and zarrita.js read hierarchies of every kind from the server.
pub(crate) fn run() -> Outcome {
    cargo(["build", "--quiet", "--workspace", "--all-features", "--bin", "zarrox"]).run()?;
    run::empty_directory(DIRECTORY)?;
    node_package(NODE, "zarrita", "0.7.5")?;
    let zarrox = run::absolute(run::built("debug/zarrox"))?;
    program(ENVIRONMENT.python()?, ["-B", "conformance/serve.py", &zarrox, DIRECTORY, NODE]).run()
}
