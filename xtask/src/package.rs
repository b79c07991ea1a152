//! The Python package: installed for use, tested, and checked.
//!
//! For tests its native module is built with everything else, so that nothing is compiled twice, and lies in the sources beside the
//! modules that import it. What is installed is compiled for release by maturin.

use std::path::Path;

use crate::python::Environment;
use crate::run::{self, Outcome, Program, cargo, program};

pub(crate) const HELP: &str = "\
Installs the Python package into an environment of its own, compiled for release

    python [REQUIREMENT …]    packages that are installed beside it: ipython, xarray, dask …

The environment is target/venvs/zarrox, and everything in it stays until the directory is deleted.";

/// The package's sources: what `PYTHONPATH` holds while it is tested.
pub(crate) const SOURCES: &str = "crates/zarrox-python/python";
const TESTS: &str = "crates/zarrox-python/tests";
const BENCHMARK: &str = "crates/zarrox-python/tests/bench_python.py";
const BENCHMARK_REQUIREMENTS: &str = "crates/zarrox-python/requirements-bench.txt";

/// Where users' packages are.
const INSTALLED: Environment =
    Environment { name: "zarrox", lowest: (3, 10), highest: (3, 14), requirements: None };

/// Everything that the package works with: zarr-python 3, xarray, Dask … and what checks its types.
pub(crate) const ECOSYSTEM: Environment = Environment {
    name: "python-zarr3",
    lowest: (3, 12),
    highest: (3, 13),
    requirements: Some("crates/zarrox-python/requirements-zarr3.txt"),
};

/// zarr-python 2, on the oldest Python that is here of those which the package promises: `requires-python` in pyproject.toml.
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

/// The Python of an environment that has the package as the sources are now, and these requirements.
fn install(requirements: &[String]) -> Outcome<String> {
    install_into(&INSTALLED, requirements)
}

/// Installs the package as the sources are now, and these requirements, and gives the environment's Python.
pub(crate) fn install_into(environment: &Environment, requirements: &[String]) -> Outcome<String> {
    let python = environment.python()?;
    let pip = program(&python, ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
    pip.with(["."]).with(requirements.iter().map(String::as_str)).run()?;
    Ok(python)
}

/// The package's tests with these variables, in both environments: at the same time, or with arguments for pytest one after the other.
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

/// The tests that need servers, of those that run.
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

/// The tests beside one library.
fn pytest(peer: &str, python: String) -> Outcome<Program> {
    // The plug-ins of pytest that napari brings are for tests of its windows.
    let without = ["-p", "no:napari", "-p", "no:napari-plugin-engine", "-p", "no:npe2"];
    let pytest =
        program(python, ["-B", "-m", "pytest", "--quiet", "--environment", peer]).with(without).with([TESTS]);
    // Tests change their directory, and start other Pythons.
    Ok(pytest.variable("PYTHONPATH", &run::absolute(SOURCES)?))
}

/// The types of the package, and whether the stubs of the native module are what it has.
pub(crate) fn lint() -> Outcome {
    build()?;
    let python = ECOSYSTEM.python()?;
    program(&python, ["-m", "mypy", "--cache-dir", "target/mypy"]).run()?;
    let stubtest = ["-m", "mypy.stubtest", "--concise", "--ignore-disjoint-bases", "zarrox._native"];
    program(python, stubtest).variable("PYTHONPATH", SOURCES).variable("MYPYPATH", SOURCES).run()
}

/// Measures the installed package. Arguments go to the script.
pub(crate) fn bench(arguments: &[String]) -> Outcome {
    let python = install(&["--requirement", BENCHMARK_REQUIREMENTS].map(str::to_owned))?;
    program(python, ["-B", BENCHMARK]).with(arguments.iter().map(String::as_str)).run()
}

/// Puts the native module, built as all tests are, among the sources.
pub(crate) fn build() -> Outcome {
    // The example brings the features that tests ask of dependencies: without it most would be compiled a second time.
    let build = cargo(["build", "--quiet", "--workspace", "--all-features", "--lib"]);
    build.with(["--example", "conformance"]).run()?;
    let (prefix, suffix) = (std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    let built = run::target(&format!("debug/{prefix}_native{suffix}"));
    let name = if cfg!(windows) { "_native.pyd" } else { "_native.abi3.so" };
    replace(Path::new(&built), &Path::new(SOURCES).join("zarrox").join(name))
}

/// Puts a copy of a file in the place of another. A Python that runs keeps the one that it has loaded: to write into that would end it.
fn replace(file: &Path, place: &Path) -> Outcome {
    let fresh = place.with_extension("new");
    let copied = std::fs::copy(file, &fresh).and_then(|_| std::fs::rename(&fresh, place));
    copied.map_err(|error| format!("{} to {}: {error}", file.display(), place.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_open_stays_what_it_was() {
        let directory = run::empty_directory(std::env::temp_dir().join("zarrox-xtask-replace")).unwrap();
        let [source, place] = ["source", "module.so"].map(|name| directory.join(name));
        std::fs::write(&place, "old").unwrap();
        let open = std::fs::File::open(&place).unwrap();
        std::fs::write(&source, "new").unwrap();
        replace(&source, &place).unwrap();
        assert_eq!(run::read(&place).unwrap(), "new");
        assert_eq!(std::io::read_to_string(open).unwrap(), "old");
        std::fs::remove_dir_all(directory).unwrap();
    }
}
