//! The part of `cargo xtask conformance` about files of other formats: what the command imports and exports, other programs compare.

use crate::python::Environment;
use crate::run::{Outcome, cargo, program};

/// The directory of all output.
const DIRECTORY: &str = "target/conformance/files";

/// The programs that exchange files, and what each is about.
const PROGRAMS: [(&str, &str); 3] = [
    ("run_files.py", "HDF5 and NetCDF"),
    ("tables/run_tables.py", "CSV and Parquet"),
    ("run_tiff.py", "TIFF"),
];

const ENVIRONMENT: Environment = Environment {
    name: "files",
    // zarr-python's newest releases, which read structures.
    lowest: (3, 12),
    highest: (3, 13),
    requirements: Some("conformance/requirements/files.txt"),
};

/// Files of h5py, netCDF4, xarray, pandas, pyarrow and polars, and those that packages ship, are imported, exported, and compared.
pub(crate) fn run() -> Outcome {
    cargo(["build", "--workspace", "--all-features", "--bin", "zarrox"]).run()?;
    let command = if cfg!(windows) { "target/debug/zarrox.exe" } else { "target/debug/zarrox" };
    let python = ENVIRONMENT.python()?;
    for (name, kinds) in PROGRAMS {
        let script = format!("conformance/{name}");
        let directory = format!("{DIRECTORY}/{}", name.trim_end_matches(".py"));
        program(&python, ["-B", "-W", "ignore", &script, command, &directory]).run()?;
        println!("files: {kinds}, imported and exported");
    }
    Ok(())
}
