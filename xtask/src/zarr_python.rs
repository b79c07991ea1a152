//! `cargo xtask test --zarr-python`: zarr-python's own tests, under its own codec pipeline and under ours.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::package;
use crate::python::Environment;
use crate::run::{self, Outcome, program};

/// The place of the source distributions, which have the tests.
const SOURCES: &str = "target/zarr-python";
/// The place of the plug-in of pytest that writes the outcomes.
const PLUGIN: &str = "conformance/zarr_python";
/// The tests that may fail under our pipeline, each with the reason.
const EXCUSED: &str = "conformance/zarr_python/excused.txt";

/// The place of what tells Python of the package's entry points, which programs that tests start need as well.
const ENTRY_POINTS: &str = "target/zarr-python/path";

/// A version of zarr-python, and those of its tests that are run.
struct Suite {
    version: &'static str,
    environment: Environment,
    tests: &'static [&'static str],
}

/// The tests that touch pipelines, of versions that are older than the newest.
const OLDER: &[&str] = &[
    "test_array.py",
    "test_codecs",
    "test_codec_pipeline.py",
    "test_group.py",
    "test_indexing.py",
    "test_v2.py",
    "test_buffer.py",
];

const SUITES: [Suite; 4] = [
    suite("3.4.2", "zarr-3.4", "conformance/requirements/zarr-3.4.txt", &["."]),
    suite("3.3.0", "zarr-3.3", "conformance/requirements/zarr-3.3.txt", OLDER),
    suite("3.2.1", "zarr-3.2", "conformance/requirements/zarr-3.2.txt", OLDER),
    suite("3.1.6", "zarr-3.1", "conformance/requirements/zarr-3.1.txt", OLDER),
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

/// The outcomes of tests by their names. A test of which any part failed has failed.
type Outcomes = BTreeMap<String, bool>;

/// Runs the tests of all versions, or of those that begin with one of the arguments.
pub(crate) fn run(arguments: &[String]) -> Outcome {
    let is_chosen = |suite: &&Suite| {
        arguments.is_empty() || arguments.iter().any(|start| suite.version.starts_with(start.as_str()))
    };
    let chosen: Vec<_> = SUITES.iter().filter(is_chosen).collect();
    if chosen.is_empty() {
        let known: Vec<_> = SUITES.iter().map(|suite| suite.version).collect();
        return Err(format!("the versions of zarr-python are {}", known.join(", ")));
    }
    package::build()?;
    write_entry_points()?;
    let excused = excused(&run::read(EXCUSED)?)?;
    chosen.into_iter().try_for_each(|suite| suite.compare(&excused))
}

/// Lets Python find the entry points, as if the package had been installed.
fn write_entry_points() -> Outcome {
    let directory = format!("{ENTRY_POINTS}/zarrox-0.dist-info");
    run::write(format!("{directory}/METADATA"), "Metadata-Version: 2.1\nName: zarrox\nVersion: 0\n")?;
    let pipeline = "[zarr.codec_pipeline]\nzarrox = zarrox.zarr3:ZarroxCodecPipeline\n";
    run::write(format!("{directory}/entry_points.txt"), pipeline)
}

impl Suite {
    /// Runs the tests under both pipelines, and fails for what only ours does not pass.
    fn compare(&self, excused: &BTreeSet<String>) -> Outcome {
        let python = self.environment.python()?;
        self.fetch(&python)?;
        let theirs = self.outcomes(&python, "default", "zarr.core.codec_pipeline.BatchedCodecPipeline")?;
        let ours = self.outcomes(&python, "zarrox", "zarrox.zarr3.ZarroxCodecPipeline")?;
        let count = |outcomes: &Outcomes| outcomes.values().filter(|passed| **passed).count();
        let worse = worse(&theirs, &ours);
        let (excused, worse): (Vec<_>, Vec<_>) = worse
            .into_iter()
            .partition(|name| excused.contains(name) || excused.contains(without_parameters(name)));
        println!(
            "zarr-python {}: {} tests pass under its own pipeline, {} under ours; {} fail that are excused",
            self.version,
            count(&theirs),
            count(&ours),
            excused.len()
        );
        match worse.is_empty() {
            true => Ok(()),
            false => {
                Err(format!("{} tests fail only under our pipeline:\n{}", worse.len(), worse.join("\n")))
            }
        }
    }

    /// The directory of the source distribution.
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

    /// Runs the tests under one pipeline. That tests fail is no error here.
    fn outcomes(&self, python: &str, name: &str, pipeline: &str) -> Outcome<Outcomes> {
        let sources = self.sources();
        let file = run::absolute(format!("{SOURCES}/{}-{name}.txt", self.version))?;
        run::write(&file, "")?;
        let path = [PLUGIN, package::SOURCES, ENTRY_POINTS].map(run::absolute);
        let path = path.into_iter().collect::<Outcome<Vec<_>>>()?;
        let path = std::env::join_paths(path).map_err(|error| error.to_string())?;
        let configuration =
            ["--rootdir", &sources, "-c", &format!("{sources}/pyproject.toml")].map(str::to_owned);
        let options =
            ["-p", "outcomes", "-o", "addopts=", "-p", "no:cacheprovider", "--numprocesses", "auto"];
        // Benchmarks, programs that are started with packages of their own, and pages of the documentation.
        let others = ["benchmarks", "test_regression", "test_examples.py", "test_docs.py"];
        let others = others.map(|name| format!("--ignore={sources}/tests/{name}"));
        let tests = self.tests.iter().map(|test| format!("{sources}/tests/{test}"));
        let tests = tests.filter(|test| Path::new(test).exists());
        let pytest = program(python, ["-B", "-m", "pytest", "--quiet", "--tb=short"]);
        let pytest = pytest.with(configuration).with(options).with(others).with(tests);
        let pytest = pytest.variable("PYTHONPATH", &path.to_string_lossy());
        let pytest =
            pytest.variable("ZARROX_OUTCOMES", &file).variable("ZARR_CODEC_PIPELINE__PATH", pipeline);
        println!("$ {pytest}");
        let (_, printed) = pytest.log()?;
        run::write(format!("{SOURCES}/{}-{name}.log", self.version), &printed)?;
        let outcomes = parsed(&run::read(&file)?);
        if outcomes.is_empty() { Err(format!("no test was run:\n{printed}")) } else { Ok(outcomes) }
    }
}

/// The tests that pass under their pipeline, and not under ours.
fn worse(theirs: &Outcomes, ours: &Outcomes) -> Vec<String> {
    let passed = theirs.iter().filter(|(_, passed)| **passed).map(|(name, _)| name);
    passed.filter(|name| ours.get(*name) != Some(&true)).cloned().collect()
}

/// The outcomes in the file of the plug-in: on each line an outcome and a name.
fn parsed(text: &str) -> Outcomes {
    let mut outcomes = Outcomes::new();
    for (outcome, name) in text.lines().filter_map(|line| line.split_once(' ')) {
        let passed = outcomes.entry(name.to_owned()).or_insert(true);
        *passed &= outcome == "passed";
    }
    outcomes
}

fn without_parameters(name: &str) -> &str {
    name.split('[').next().unwrap_or(name)
}

/// The excused tests: paragraphs, each of which begins with lines of `#` that give the reason.
fn excused(text: &str) -> Outcome<BTreeSet<String>> {
    let mut names = BTreeSet::new();
    for paragraph in text.split("\n\n") {
        let (reason, tests): (Vec<_>, Vec<_>) =
            paragraph.lines().filter(|line| !line.is_empty()).partition(|line| line.starts_with('#'));
        if reason.is_empty() && !tests.is_empty() {
            return Err(format!("{EXCUSED}: there is no reason why {} is excused", tests[0]));
        }
        names.extend(tests.into_iter().map(str::to_owned));
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_passes_elsewhere_must_pass_here() {
        let theirs = parsed("passed a\npassed b[1 x]\nfailed c\nskipped d\npassed e\nfailed e\n");
        let ours = parsed("passed a\nfailed b[1 x]\nfailed c\n");
        assert_eq!(worse(&theirs, &ours), ["b[1 x]"]);
        assert_eq!(without_parameters("b[1 x]"), "b");
    }

    #[test]
    fn each_excused_test_has_a_reason() {
        let names =
            excused("# First,\n# they look inside.\na.py::b\na.py::c\n\n# Second.\nd.py::e\n").unwrap();
        assert_eq!(names.into_iter().collect::<Vec<_>>(), ["a.py::b", "a.py::c", "d.py::e"]);
        assert!(excused("a.py::b\n").is_err());
    }
}
