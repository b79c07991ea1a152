//! `cargo xtask test --pipelines`: a short part of the tests of zarr-python and xarray, which `cargo xtask test` runs as well.

use super::{prepare, xarray, zarr_python};
use zarrox_runner::run::Outcome;

/// A fixed seed, so that the outcomes of random tests are reproducible.
const SEED: &str = "--hypothesis-seed=0";

/// Runs both parts.
///
/// # Errors
/// When a test fails that passes without our parts.
pub fn run() -> Outcome {
    prepare()?;
    for mut comparison in [zarr_python::short()?, xarray::short()?] {
        comparison.pytest = comparison.pytest.with([SEED]);
        comparison.run()?;
    }
    Ok(())
}
