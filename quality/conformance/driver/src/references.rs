//! The part of `cargo xtask conformance` about references: files of other formats, read through references of kerchunk.

use zarrox_runner::python::Environment;
use zarrox_runner::run::{self, Outcome, Program, program};

/// The directory of all output.
const DIRECTORY: &str = "target/conformance/references";

const ENVIRONMENT: Environment = Environment {
    name: "references",
    lowest: (3, 11),
    highest: (3, 13),
    requirements: Some("quality/conformance/requirements/references.txt"),
};

/// Reads arrays through references that kerchunk has written.
pub(crate) fn run(ourselves: &Program) -> Outcome {
    run::empty_directory(DIRECTORY)?;
    program(ENVIRONMENT.python()?, ["-B", "quality/conformance/references.py", DIRECTORY]).run()?;
    ourselves.clone().with(["references", DIRECTORY]).run()?;
    println!("references: HDF5 and NetCDF read through those of kerchunk, in JSON and Parquet");
    Ok(())
}
