//! `cargo xtask test`.

use crate::conformance;
use crate::databases;
use crate::debian;
use crate::package;
use crate::page;
use crate::pipelines::{short, xarray, zarr_python};
use crate::run::{Outcome, cargo, program};
use crate::servers;

pub(crate) const HELP: &str = "\
All tests: unit tests, integration tests, the examples in the documentation, the Python package's, other packages', and conformance

All features are on, so that the tests of those that are off by default run, too. Arguments go to `cargo test`, and the Python package's and
conformance are left out then.

    test --python [ARGUMENT …]

tests the Python package alone: beside zarr-python 3 and what else it works with, and beside zarr-python 2. Arguments go to pytest.

    test --pipelines

runs a short part of zarr-python's and of xarray's own tests under the package's codec pipeline, and of xarray's with the package's engine,
as all tests do. The next three run all of them.

    test --zarr-python [VERSION …]

runs zarr-python's own tests, of its source distribution, under its own codec pipeline and under the package's: all of the newest version,
and those of arrays, codecs, groups and indexing of older ones. What passes under its own must pass under ours, apart from the tests in
quality/conformance/zarr_python/excused.txt; an excused test that passes is an error. The outputs are in target/zarr-python.

    test --xarray [ARGUMENT …]

runs xarray's own tests of Zarr, which are in its package, in the same way. Arguments go to pytest.

    test --xarray-engine [ARGUMENT …]

runs the same tests with the package's engine in the place of xarray's own, and its `to_zarr` in the place of xarray's methods. The tests
that may fail are in quality/conformance/xarray/excused.txt. The outputs are in target/zarr-python as well: those in
xarray-zarrox-engine-failures.txt say why tests have failed.

    test --stores [SERVER …] [-- ARGUMENT …]

tests the stores that need servers, against all of these or those that are named: redis, mongodb, s3, azure, http, gcs, webdav, ftp,
hdfs. What is missing is installed: Python's and npm's packages below target, Debian's by apt-get for root. Arguments go to the tests'
programs: names of tests, for example; without any, hierarchies on servers are exchanged with zarr-python 2,
and the Python package is tested on them, too. Each server's log is in target/servers/NAME.";

pub(crate) fn run(arguments: &[String]) -> Outcome {
    match arguments.split_first() {
        Some((first, rest)) if first == "--stores" => return stores(rest),
        Some((first, rest)) if first == "--python" => return package::test(rest),
        Some((first, [])) if first == "--pipelines" => return short::run(),
        Some((first, rest)) if first == "--zarr-python" => return zarr_python::run(rest),
        Some((first, rest)) if first == "--xarray" => return xarray::run(rest),
        Some((first, rest)) if first == "--xarray-engine" => return xarray::run_with_engine(rest),
        _ => {}
    }
    if cfg!(target_os = "linux") && program("strace", ["--version"]).output().is_none() {
        debian::install(&["strace"])?;
    }
    let tests = cargo(["test", "--workspace", "--all-features"]).with(arguments.iter().map(String::as_str));
    // A test that traces what is flushed cannot miss it.
    tests.variable("ZARROX_TEST_STRACE", "1").run()?;
    if !arguments.is_empty() {
        return Ok(());
    }
    package::test(&[])?;
    short::run()?;
    page::test()?;
    conformance::run(&[])
}

fn stores(arguments: &[String]) -> Outcome {
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let end = arguments.iter().position(|argument| *argument == "--").unwrap_or(arguments.len());
    let (names, rest) = arguments.split_at(end);
    // Of all crates, with all features: so what the other tests were built with is used again.
    let tests = cargo(["test", "--workspace", "--all-features", "--test", "servers"]);
    // Servers need not wait for the compiler.
    tests.clone().with(["--no-run"]).run()?;
    servers::with(names, |variables| {
        tests.variables(variables).with(rest.iter().copied()).run()?;
        if !rest.is_empty() {
            return Ok(());
        }
        databases::run_on_servers(&conformance::built()?, variables)?;
        package::test_on_servers(variables)
    })
}
