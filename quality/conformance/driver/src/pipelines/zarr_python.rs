//! `cargo xtask test --zarr-python`: zarr-python's own tests, under its own codec pipeline and under ours.

use std::path::Path;

use super::{Comparison, PIPELINE, prepare};
use zarrox_runner::python::Environment;
use zarrox_runner::run::{Outcome, Program, program};

/// The directory of the source distributions, which contain the tests.
const SOURCES: &str = "target/zarr-python";
/// A version of zarr-python, and the tests of this version that are run.
struct Suite {
    version: &'static str,
    environment: Environment,
    tests: &'static [&'static str],
}

/// The tests about pipelines, for versions that are older than the newest.
const OLDER: &[&str] = &[
    "test_array.py",
    "test_codecs",
    "test_codec_pipeline.py",
    "test_group.py",
    "test_indexing.py",
    "test_v2.py",
    "test_buffer.py",
];

/// The tests of the short run: codecs, shards and selections.
const SHORT: &[&str] = &["test_codecs", "test_codec_pipeline.py", "test_indexing.py", "test_v2.py"];

const NEWEST: Suite = suite("3.4.2", "zarr-3.4", "quality/conformance/requirements/zarr-3.4.txt", &["."]);

const SUITES: [Suite; 4] = [
    NEWEST,
    suite("3.3.0", "zarr-3.3", "quality/conformance/requirements/zarr-3.3.txt", OLDER),
    suite("3.2.1", "zarr-3.2", "quality/conformance/requirements/zarr-3.2.txt", OLDER),
    suite("3.1.6", "zarr-3.1", "quality/conformance/requirements/zarr-3.1.txt", OLDER),
];

const fn suite(
    version: &'static str,
    name: &'static str,
    requirements: &'static str,
    tests: &'static [&'static str],
) -> Suite {
    let environment =
        Environment { name, lowest: (3, 12), highest: (3, 13), requirements: Some(requirements) };
    Suite { version, environment, tests }
}

/// Runs the tests of all versions, or of the versions that begin with one of the arguments.
///
/// # Errors
/// When a test fails that passes without our parts.
pub fn run(arguments: &[String]) -> Outcome {
    let is_chosen = |suite: &&Suite| {
        arguments.is_empty() || arguments.iter().any(|start| suite.version.starts_with(start.as_str()))
    };
    let chosen: Vec<_> = SUITES.iter().filter(is_chosen).collect();
    if chosen.is_empty() {
        let known: Vec<_> = SUITES.iter().map(|suite| suite.version).collect();
        return Err(format!("unknown version of zarr-python; expected one of {}", known.join(", ")));
    }
    prepare()?;
    chosen.into_iter().try_for_each(|suite| suite.comparison()?.run())
}

/// Returns a part of the tests of the newest version.
pub(super) fn short() -> Outcome<Comparison> {
    Suite { tests: SHORT, ..NEWEST }.comparison()
}

impl Suite {
    /// Returns the tests, to be run under both pipelines.
    fn comparison(&self) -> Outcome<Comparison> {
        let python = self.environment.python()?;
        self.fetch(&python)?;
        let name = format!("zarr-python {}", self.version);
        Ok(Comparison { name, pytest: self.pytest(&python), within: None, ways: vec![&PIPELINE] })
    }

    /// Returns the directory of the source distribution.
    fn sources(&self) -> String {
        format!("{SOURCES}/zarr-{}", self.version)
    }

    /// Downloads and unpacks the source distribution, once.
    fn fetch(&self, python: &str) -> Outcome {
        if Path::new(&self.sources()).join("tests").exists() {
            return Ok(());
        }
        let wanted = format!("zarr=={}", self.version);
        let download =
            ["-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", "zarr", "--dest", SOURCES];
        program(python, download).with([wanted]).run()?;
        program(python, ["-m", "tarfile", "--extract", &format!("{}.tar.gz", self.sources()), SOURCES]).run()
    }

    /// Returns the program that runs the tests.
    fn pytest(&self, python: &str) -> Program {
        let sources = self.sources();
        let configuration =
            ["--rootdir", &sources, "-c", &format!("{sources}/pyproject.toml")].map(str::to_owned);
        // The excluded tests: benchmarks, programs that are started with their own packages, and pages of the documentation.
        let others = ["benchmarks", "test_regression", "test_examples.py", "test_docs.py"];
        let others = others.map(|name| format!("--ignore={sources}/tests/{name}"));
        let tests = self.tests.iter().map(|test| format!("{sources}/tests/{test}"));
        let tests = tests.filter(|test| Path::new(test).exists());
        program(python, ["-B", "-m", "pytest"]).with(configuration).with(others).with(tests)
    }
}
