//! `cargo xtask test --xarray` and `--xarray-engine`: xarray's own tests of Zarr, under our codec pipeline and with our engine.

use super::{Comparison, ENGINE, PIPELINE, Way, prepare};
use zarrox_runner::package::ECOSYSTEM;
use zarrox_runner::run::{Outcome, program};

/// The modules of the tests, which are in xarray's package.
const TESTS: [&str; 2] = ["xarray.tests.test_backends", "xarray.tests.test_backends_datatree"];

/// The tests of the short run: all that xarray requires of one kind of store.
const SHORT: [&str; 2] = ["-k", "TestZarrDirectoryStore"];

/// Runs the tests with Zarr in their names, or those that the arguments for pytest choose, under our pipeline.
///
/// # Errors
/// When a test fails that passes without our parts.
pub fn run(arguments: &[String]) -> Outcome {
    prepare()?;
    comparison(arguments, vec![&PIPELINE])?.run()
}

/// Runs the same tests with our engine and our `to_zarr`.
///
/// # Errors
/// When a test fails that passes without our parts.
pub fn run_with_engine(arguments: &[String]) -> Outcome {
    prepare()?;
    comparison(arguments, vec![&ENGINE])?.run()
}

/// Returns the tests of the short run.
pub(super) fn short() -> Outcome<Comparison> {
    comparison(&SHORT.map(str::to_owned), vec![&PIPELINE, &ENGINE])
}

/// Returns the tests with Zarr in their names, or those that the arguments for pytest choose.
fn comparison(arguments: &[String], ways: Vec<&'static Way>) -> Outcome<Comparison> {
    let python = ECOSYSTEM.python()?;
    let pytest = program(python, ["-B", "-m", "pytest", "-k", "zarr or Zarr", "--pyargs"]).with(TESTS);
    let pytest = pytest.with(arguments.iter().map(String::as_str));
    Ok(Comparison { name: "xarray".to_owned(), pytest, within: Some("target/zarr-python/xarray"), ways })
}
