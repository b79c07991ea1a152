//! The tests of other packages, under zarr-python's own codec pipeline and under ours.

pub(crate) mod short;
pub(crate) mod xarray;
pub(crate) mod zarr_python;

use std::collections::{BTreeMap, BTreeSet};

use crate::package;
use crate::run::{self, Outcome, Program};

/// The place of what was printed, and of the outcomes.
const OUTPUTS: &str = "target/zarr-python";
/// The place of the plug-in of pytest that writes the outcomes.
const PLUGIN: &str = "conformance/zarr_python";
/// The tests that may fail under our pipeline, each with the reason.
const EXCUSED: &str = "conformance/zarr_python/excused.txt";

/// The place of what tells Python of the package's entry points, which programs that tests start need as well.
const ENTRY_POINTS: &str = "target/zarr-python/path";

/// The outcomes of tests by their names. A test of which any part failed has failed.
type Outcomes = BTreeMap<String, bool>;

/// Tests that are run under both pipelines.
struct Comparison {
    name: String,
    pytest: Program,
}

/// Builds the package, and lets Python find its entry points as if it had been installed.
fn prepare() -> Outcome {
    package::build()?;
    let directory = format!("{ENTRY_POINTS}/zarrox-0.dist-info");
    run::write(format!("{directory}/METADATA"), "Metadata-Version: 2.1\nName: zarrox\nVersion: 0\n")?;
    let pipeline = "[zarr.codec_pipeline]\nzarrox = zarrox.zarr3:ZarroxCodecPipeline\n";
    run::write(format!("{directory}/entry_points.txt"), pipeline)
}

/// The tests that may fail.
fn excused() -> Outcome<BTreeSet<String>> {
    parsed_excuses(&run::read(EXCUSED)?)
}

impl Comparison {
    /// Runs the tests under both pipelines, and fails for what only ours does not pass, and for what is excused and passes.
    fn run(&self, excused: &BTreeSet<String>) -> Outcome {
        let theirs = self.outcomes("default", "zarr.core.codec_pipeline.BatchedCodecPipeline")?;
        let ours = self.outcomes("zarrox", "zarrox.zarr3.ZarroxCodecPipeline")?;
        let count = |outcomes: &Outcomes| outcomes.values().filter(|passed| **passed).count();
        let excused = excused_in(excused, self.label());
        let idle = idle(&excused, &ours);
        let is_excused = |name: &String| excused.contains(name) || excused.contains(without_parameters(name));
        let (excused, worse): (Vec<_>, Vec<_>) = worse(&theirs, &ours).into_iter().partition(is_excused);
        println!(
            "{}: {} tests pass under its own pipeline, {} under ours; {} fail that are excused",
            self.name,
            count(&theirs),
            count(&ours),
            excused.len()
        );
        if !worse.is_empty() {
            return Err(format!("{} tests fail only under our pipeline:\n{}", worse.len(), worse.join("\n")));
        }
        if !idle.is_empty() {
            return Err(format!("{} is excused in {EXCUSED} and passes", idle.join(", ")));
        }
        Ok(())
    }

    /// The version, or the name of what has none.
    fn label(&self) -> &str {
        self.name.rsplit(' ').next().unwrap_or(&self.name)
    }

    /// Runs the tests under one pipeline. That tests fail is no error here.
    fn outcomes(&self, name: &str, pipeline: &str) -> Outcome<Outcomes> {
        let label = self.label();
        let file = run::absolute(format!("{OUTPUTS}/{label}-{name}.txt"))?;
        run::write(&file, "")?;
        let path = [PLUGIN, package::SOURCES, ENTRY_POINTS].map(run::absolute);
        let path = path.into_iter().collect::<Outcome<Vec<_>>>()?;
        let path = std::env::join_paths(path).map_err(|error| error.to_string())?;
        let options = ["--quiet", "--tb=short", "-p", "outcomes", "-o", "addopts=", "-p", "no:cacheprovider"];
        let pytest = self.pytest.clone().with(options).with(["--numprocesses", "auto"]);
        let pytest = pytest.variable("PYTHONPATH", &path.to_string_lossy());
        let pytest =
            pytest.variable("ZARROX_OUTCOMES", &file).variable("ZARR_CODEC_PIPELINE__PATH", pipeline);
        println!("$ {pytest}");
        let (_, printed) = pytest.log()?;
        run::write(format!("{OUTPUTS}/{label}-{name}.log"), &printed)?;
        let outcomes = parsed(&run::read(&file)?);
        if outcomes.is_empty() { Err(format!("no test was run:\n{printed}")) } else { Ok(outcomes) }
    }
}

/// The tests that pass under their pipeline, and not under ours.
fn worse(theirs: &Outcomes, ours: &Outcomes) -> Vec<String> {
    let passed = theirs.iter().filter(|(_, passed)| **passed).map(|(name, _)| name);
    passed.filter(|name| ours.get(*name) != Some(&true)).cloned().collect()
}

/// The tests that are excused in one version: those of all versions, and those after whose version it begins.
fn excused_in(excused: &BTreeSet<String>, label: &str) -> BTreeSet<String> {
    let excuse = |excuse: &String| match excuse.split_once(' ') {
        Some((version, test)) if version.starts_with(|first: char| first.is_ascii_digit()) => {
            label.starts_with(version).then(|| test.to_owned())
        }
        _ => Some(excuse.clone()),
    };
    excused.iter().filter_map(excuse).collect()
}

/// The excused tests that were run, and none of which failed, whatever its parameters were.
fn idle(excused: &BTreeSet<String>, ours: &Outcomes) -> Vec<String> {
    let outcomes = |excuse: &String| -> Vec<bool> {
        let same = ours.iter().filter(|(name, _)| *name == excuse || without_parameters(name) == excuse);
        same.map(|(_, passed)| *passed).collect()
    };
    let passes = |excuse: &&String| {
        let outcomes = outcomes(excuse);
        !outcomes.is_empty() && outcomes.into_iter().all(|passed| passed)
    };
    excused.iter().filter(passes).cloned().collect()
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

/// The excused tests: paragraphs, each of which begins with lines of `#` that give the reason. A test of one version of zarr-python has
/// the version before its name.
fn parsed_excuses(text: &str) -> Outcome<BTreeSet<String>> {
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
    fn some_are_excused_in_one_version() {
        let excused = ["3.1 a", "3.2 b", "c[1 x]"].map(str::to_owned).into();
        assert_eq!(excused_in(&excused, "3.1.6").into_iter().collect::<Vec<_>>(), ["a", "c[1 x]"]);
    }

    #[test]
    fn excuses_that_are_not_needed_are_told() {
        let ours = parsed("passed a[1]\nfailed a[2]\npassed b[1]\npassed b[2]\npassed c[1]\nskipped d\n");
        let excused = ["a", "b", "c[1]", "d", "missing"].map(str::to_owned).into();
        assert_eq!(idle(&excused, &ours), ["b", "c[1]"]);
    }

    #[test]
    fn each_excused_test_has_a_reason() {
        let names = parsed_excuses("# First,\n# they look inside.\na.py::b\na.py::c\n\n# Second.\nd.py::e\n")
            .unwrap();
        assert_eq!(names.into_iter().collect::<Vec<_>>(), ["a.py::b", "a.py::c", "d.py::e"]);
        assert!(parsed_excuses("a.py::b\n").is_err());
    }
}
