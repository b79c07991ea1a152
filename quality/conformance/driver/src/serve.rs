//! The part of `cargo xtask conformance` about the server: other clients read from `zarrox serve`.

use zarrox_runner::node;
use zarrox_runner::python::Environment;
use zarrox_runner::run::{self, Outcome, cargo, program};

/// The directory of all output.
const DIRECTORY: &str = "target/conformance/serve";

const ENVIRONMENT: Environment = Environment {
    name: "serve",
    lowest: (3, 12),
    highest: (3, 14),
    requirements: Some("quality/conformance/requirements/serve.txt"),
};

/// Reads hierarchies of every kind from the server with zarr-python, TensorStore, zarrita.js and neuroglancer.
pub(crate) fn run() -> Outcome {
    cargo(["build", "--quiet", "--workspace", "--all-features", "--bin", "zarrox"]).run()?;
    run::empty_directory(DIRECTORY)?;
    let zarrox = run::absolute(run::built("debug/zarrox"))?;
    let arguments =
        ["-B", "quality/conformance/serve.py", &zarrox, DIRECTORY, &node::modules()?, &node::browser()?];
    program(ENVIRONMENT.python()?, arguments).run()
}
