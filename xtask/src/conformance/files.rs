//! The part of `cargo xtask conformance` about files of other formats: what the command imports and exports, other programs compare.

use crate::python::Environment;
use crate::run::{Outcome, cargo, program};

/// The directory of all output.
const DIRECTORY: &str = "target/conformance/files";

const ENVIRONMENT: Environment = Environment {
    name: "files",
    // zarr-python's newest releases, which read structures.
    lowest: (3, 12),
    highest: (3, 13),
    requirements: Some("conformance/requirements/files.txt"),
};

/// Files of h5py, netCDF4 and xarray, and those that packages ship, are imported, exported, and compared.
pub(crate) fn run() -> Outcome {
    cargo(["build", "--workspace", "--all-features", "--bin", "zarrox"]).run()?;
    let command = if cfg!(windows) { "target/debug/zarrox.exe" } else { "target/debug/zarrox" };
    program(ENVIRONMENT.python()?, ["-B", "-W", "ignore", "conformance/run_files.py", command, DIRECTORY])
        .run()?;
    println!("files: HDF5 and NetCDF, imported and exported");
    Ok(())
}
