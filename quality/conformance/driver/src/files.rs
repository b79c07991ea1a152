//! The part of `cargo xtask conformance` about files of other formats: other programs check what the command imports and exports.

use zarrox_runner::debian::{self, Missing};
use zarrox_runner::python::Environment;
use zarrox_runner::run::{Outcome, cargo, program};

/// The directory of all output.
const DIRECTORY: &str = "target/conformance/files";

/// The programs that exchange files, and the subject of each.
const PROGRAMS: [(&str, &str); 6] = [
    ("run_files.py", "HDF5 and NetCDF"),
    ("run_concat.py", "many files of NetCDF as one"),
    ("run_netcdf.py", "all that NetCDF knows"),
    ("tables/run_tables.py", "CSV and Parquet"),
    ("run_tiff.py", "TIFF"),
    ("run_images.py", "TIFF, NIfTI and stacks of images"),
];

const ENVIRONMENT: Environment = Environment {
    name: "files",
    // zarr-python's newest releases, which read structures.
    lowest: (3, 12),
    highest: (3, 13),
    requirements: Some("quality/conformance/requirements/files.txt"),
};

/// The Python programs that test files of packages, and files modelled on them.
const CORPUS: &str = "quality/conformance/files/corpus/run.py";
const MADE: &str = "quality/conformance/files/corpus/made.py";

/// The Debian packages of the other readers, and one program of each.
const READERS: [(&str, &str); 3] = [("netcdf-bin", "nccopy"), ("hdf5-tools", "h5dump"), ("cdo", "cdo")];

/// Imports, exports and compares files of h5py, netCDF4, xarray, pandas, pyarrow and polars, and files that packages contain.
pub(crate) fn run() -> Outcome {
    let (command, python) = ready()?;
    // The other readers come from Debian.
    if cfg!(unix) {
        install_readers()?;
    }
    for (name, kinds) in PROGRAMS {
        let script = format!("quality/conformance/files/{name}");
        let directory = format!("{DIRECTORY}/{}", name.trim_end_matches(".py"));
        program(&python, ["-B", "-W", "ignore", &script, command, &directory]).run()?;
        println!("files: {kinds}, imported and exported");
    }
    // These limits exist only on Unix.
    if cfg!(unix) {
        let directory = format!("{DIRECTORY}/made");
        program(&python, ["-B", "-W", "ignore", MADE, command, &directory]).run()?;
        let directory = format!("{DIRECTORY}/shipped");
        program(&python, ["-B", "-W", "ignore", CORPUS, command, &directory, "--shipped"]).run()?;
    }
    Ok(())
}

/// Imports and compares all files of the listed packages, which are downloaded first if they are missing.
pub(crate) fn corpus() -> Outcome {
    let (command, python) = ready()?;
    install_readers()?;
    program(&python, ["-B", "-W", "ignore", CORPUS, command, "target/corpus"]).run()
}

/// Returns the command, built from the current sources, and the Python with the other programs.
fn ready() -> Outcome<(&'static str, String)> {
    cargo(["build", "--workspace", "--all-features", "--bin", "zarrox"]).run()?;
    let command = if cfg!(windows) { "target/debug/zarrox.exe" } else { "target/debug/zarrox" };
    Ok((command, ENVIRONMENT.python()?))
}

/// Installs missing readers.
fn install_readers() -> Outcome {
    debian::install(&missing().map(|missing| missing.package).collect::<Vec<_>>())
}

/// Returns the missing readers.
pub(crate) fn missing() -> impl Iterator<Item = Missing> {
    let why = "other programs that read exported files";
    READERS.iter().filter_map(move |(package, name)| debian::missing(name, package, why))
}
