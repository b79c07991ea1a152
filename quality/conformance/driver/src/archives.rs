//! The part of `cargo xtask conformance` about zip archives: both zarr-pythons, Python's `zipfile` and Info-ZIP.

use super::indexing::Pythons;
use zarrox_runner::run::{self, Outcome, Program, program};

/// The directory of all output.
const DIRECTORY: &str = "target/conformance/archives";

/// Exchanges archives in both directions; then zarr-python changes an archive of Zarrox, and Zarrox reads it again.
pub(crate) fn run(pythons: &Pythons, ourselves: &Program) -> Outcome {
    // zarr-python 2 does not support format 3.
    for (name, python, write) in [("zarr2", &pythons.zarr2, "write-v2"), ("zarr3", &pythons.zarr3, "write")] {
        let [theirs, ours] = ["theirs", "ours"].map(|side| format!("{DIRECTORY}/{name}/{side}"));
        run::empty_directory(&theirs)?;
        run::empty_directory(&ours)?;
        let other = program(python, ["-B", "quality/conformance/archives.py"]);
        let zarrox = ourselves.clone().with(["archives"]);
        other.clone().with(["write", &theirs]).run()?;
        zarrox.clone().with(["read", &theirs]).run()?;
        zarrox.clone().with([write, &ours]).run()?;
        zarrox.clone().with(["read", &ours]).run()?;
        other.with(["read", &ours]).run()?;
        zarrox.with(["changed", &ours]).run()?;
    }
    println!("zip archives: exchanged with zarr-python 2 and 3, tested by zipfile and unzip");
    Ok(())
}
