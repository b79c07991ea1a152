//! `cargo xtask test --xarray`: xarray's own tests of Zarr, under zarr-python's codec pipeline and under ours.

use super::{Comparison, excused, prepare};
use crate::package::ECOSYSTEM;
use crate::run::{self, Outcome, program};

/// The modules of the tests, which xarray's package has.
const TESTS: [&str; 2] = ["xarray.tests.test_backends", "xarray.tests.test_backends_datatree"];

/// The tests of the short run: all that xarray demands of one kind of store.
const SHORT: [&str; 2] = ["-k", "TestZarrDirectoryStore"];

/// Runs the tests whose names have to do with Zarr, or those that the arguments for pytest choose.
pub(crate) fn run(arguments: &[String]) -> Outcome {
    prepare()?;
    comparison(arguments)?.run(&excused()?)
}

/// The tests of the short run.
pub(super) fn short() -> Outcome<Comparison> {
    comparison(&SHORT.map(str::to_owned))
}

/// The tests whose names have to do with Zarr, or those that the arguments for pytest choose.
fn comparison(arguments: &[String]) -> Outcome<Comparison> {
    let python = ECOSYSTEM.python()?;
    let pytest = program(python, ["-B", "-m", "pytest", "-k", "zarr or Zarr", "--pyargs"]).with(TESTS);
    let pytest = pytest.with(arguments.iter().map(String::as_str));
    // Some write where they are.
    let directory = run::empty_directory("target/zarr-python/xarray")?;
    let pytest = pytest.within(&directory.to_string_lossy());
    Ok(Comparison { name: "xarray".to_owned(), pytest })
}
