//! The Python package: installed for use, tested, and checked.

use zarrox_runner::package::{ECOSYSTEM, SOURCES, build, install_into};
use zarrox_runner::python::Environment;
use zarrox_runner::run::{self, Outcome, Program, program};

pub(crate) const HELP: &str = "\
Installs the Python package into a separate environment, compiled in release mode

    python [REQUIREMENT …]    additional packages: ipython, xarray, dask …

The environment is target/venvs/zarrox, and everything in it stays until the directory is deleted.";

const TESTS: &str = "crates/zarrox-python/tests";
const BENCHMARK: &str = "crates/zarrox-python/tests/bench_python.py";
const BENCHMARK_REQUIREMENTS: &str = "crates/zarrox-python/requirements-bench.txt";

/// The directory of installed packages.
const INSTALLED: Environment =
    Environment { name: "zarrox", lowest: (3, 10), highest: (3, 14), requirements: None };

/// zarr-python 2, on the oldest available Python that the package supports: `requires-python` in pyproject.toml.
const OLDEST: Environment = Environment {
    name: "python-zarr2",
    lowest: (3, 10),
    highest: (3, 12),
    requirements: Some("crates/zarrox-python/requirements-zarr2.txt"),
};

/// `cargo xtask python`.
pub(crate) fn run(requirements: &[String]) -> Outcome {
    let python = install(requirements)?;
    println!("{python}");
    Ok(())
}

/// Installs the package from the current sources, and these requirements; returns the environment's Python.
fn install(requirements: &[String]) -> Outcome<String> {
    install_into(&INSTALLED, requirements)
}

/// Runs the package's tests with these variables, in both environments: in parallel, or one after the other if there are
/// arguments for pytest.
pub(crate) fn test(arguments: &[String], variables: &[(String, String)]) -> Outcome {
    build()?;
    let beside = [pytest("zarr3", ECOSYSTEM.python()?)?, pytest("zarr2", OLDEST.oldest_python()?)?];
    let beside = beside.map(|pytest| pytest.variables(variables));
    if !arguments.is_empty() {
        let arguments = arguments.iter().map(String::as_str);
        return beside.into_iter().try_for_each(|pytest| pytest.with(arguments.clone()).run());
    }
    std::thread::scope(|scope| {
        let runs: Vec<_> = beside.iter().map(|pytest| scope.spawn(|| pytest.run_quietly())).collect();
        runs.into_iter().try_for_each(|run| run.join().map_err(|_| "a thread panicked")?)
    })
}

/// Runs the tests that need servers, for the servers that run.
pub(crate) fn test_on_servers(variables: &[(String, String)]) -> Outcome {
    let runs = |server: &&str| variables.iter().any(|(name, _)| name == *server);
    let modules = [
        ("on_s3", &["ZARROX_TEST_S3"][..]),
        ("on_servers", &["ZARROX_TEST_S3", "ZARROX_TEST_AZURE", "ZARROX_TEST_GCS", "ZARROX_TEST_HTTP"]),
    ];
    let run = modules.into_iter().filter(|(_, servers)| servers.iter().any(&runs));
    let names: Vec<&str> = run.map(|(name, _)| name).collect();
    if names.is_empty() {
        return Ok(());
    }
    build()?;
    let tests = pytest("zarr3", ECOSYSTEM.python()?)?.with(["-k", &names.join(" or ")]);
    tests.variables(variables).run()
}

/// Returns the command of the tests with one library.
fn pytest(peer: &str, python: String) -> Outcome<Program> {
    // The pytest plug-ins of napari are for tests of its windows.
    let without = ["-p", "no:napari", "-p", "no:napari-plugin-engine", "-p", "no:npe2"];
    let pytest =
        program(python, ["-B", "-m", "pytest", "--quiet", "--environment", peer]).with(without).with([TESTS]);
    // Tests change their directory, and start other Pythons.
    Ok(pytest.variable("PYTHONPATH", &run::absolute(SOURCES)?))
}

/// Checks the types of the package, and that the stubs of the native module are complete.
pub(crate) fn lint() -> Outcome {
    build()?;
    let python = ECOSYSTEM.python()?;
    program(&python, ["-m", "mypy", "--cache-dir", "target/mypy"]).run()?;
    let stubtest = ["-m", "mypy.stubtest", "--concise", "--ignore-disjoint-bases", "zarrox._native"];
    program(python, stubtest).variable("PYTHONPATH", SOURCES).variable("MYPYPATH", SOURCES).run()
}

/// Measures the installed package. Arguments are passed to the script.
pub(crate) fn bench(arguments: &[String]) -> Outcome {
    let python = install(&["--requirement", BENCHMARK_REQUIREMENTS].map(str::to_owned))?;
    program(python, ["-B", BENCHMARK]).with(arguments.iter().map(String::as_str)).run()
}
