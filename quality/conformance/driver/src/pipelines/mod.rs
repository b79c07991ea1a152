//! The tests of other packages, run unchanged, and with our codec pipeline or our engine for xarray.

mod excuses;
mod outcomes;
pub mod short;
pub mod xarray;
pub mod zarr_python;

use self::excuses::Excuses;
use self::outcomes::{Outcomes, listed, parsed, worse};
use zarrox_runner::package;
use zarrox_runner::run::{self, Outcome, Program};

/// The directory of outputs and outcomes.
const OUTPUTS: &str = "target/zarr-python";
/// The directory of the pytest plug-in that writes the outcomes.
const PLUGIN: &str = "quality/conformance/zarr_python";
/// The directory of the pytest plug-in that gives xarray our engine.
const ENGINE_PLUGIN: &str = "quality/conformance/xarray";

/// The directory of the package's entry points, which programs that tests start need as well.
const ENTRY_POINTS: &str = "target/zarr-python/path";

/// A mode in which tests are run.
struct Way {
    /// The name in file names.
    name: &'static str,
    /// A description for messages.
    with: &'static str,
    pipeline: &'static str,
    /// A plug-in of pytest.
    plugin: Option<&'static str>,
    /// The tests that may fail, each with the reason.
    excused: &'static str,
}

/// The mode without our parts. A test that passes in this mode must pass in the other modes.
const OWN: Way = Way {
    name: "default",
    with: "as they are",
    pipeline: "zarr.core.codec_pipeline.BatchedCodecPipeline",
    plugin: None,
    excused: "",
};

const PIPELINE: Way = Way {
    name: "zarrox",
    with: "under our pipeline",
    pipeline: "zarrox.zarr3.ZarroxCodecPipeline",
    plugin: None,
    excused: "quality/conformance/zarr_python/excused.txt",
};

const ENGINE: Way = Way {
    name: "zarrox-engine",
    with: "with our engine",
    pipeline: OWN.pipeline,
    plugin: Some("engine"),
    excused: "quality/conformance/xarray/excused.txt",
};

/// Tests that are run unchanged, and in other modes.
struct Comparison {
    name: String,
    pytest: Program,
    /// The working directory, empty at first, for tests that write to it. The root of the repository by default.
    within: Option<&'static str>,
    ways: Vec<&'static Way>,
}

/// Builds the package, and makes its entry points visible to Python as if it were installed.
fn prepare() -> Outcome {
    package::build()?;
    let directory = format!("{ENTRY_POINTS}/zarrox-0.dist-info");
    run::write(format!("{directory}/METADATA"), "Metadata-Version: 2.1\nName: zarrox\nVersion: 0\n")?;
    let pipeline = "[zarr.codec_pipeline]\nzarrox = zarrox.zarr3:ZarroxCodecPipeline\n";
    run::write(format!("{directory}/entry_points.txt"), pipeline)
}

impl Comparison {
    /// Runs the tests in all modes, and fails for tests that fail only in one of our modes, and for excused tests that pass.
    fn run(&self) -> Outcome {
        let own = self.outcomes(&OWN)?;
        self.ways.iter().try_for_each(|way| self.compare(&own, way))
    }

    fn compare(&self, own: &Outcomes, way: &Way) -> Outcome {
        let excuses = Excuses::read(way.excused, self.label())?;
        let ours = self.outcomes(way)?;
        let passing = |outcomes: &Outcomes| outcomes.values().filter(|outcome| outcome.is_ok()).count();
        let (excused, worse): (Vec<_>, Vec<_>) =
            worse(own, &ours).into_iter().partition(|(name, _)| excuses.reason(name).is_some());
        println!(
            "{}: {} tests pass as they are, {} {}; {} fail that are excused",
            self.name,
            passing(own),
            passing(&ours),
            way.with,
            excused.len()
        );
        for (reason, count) in excuses.counted(excused.iter().map(|(name, _)| name.as_str())) {
            println!("  {count}: {reason}");
        }
        run::write(self.output(way, "-failures.txt"), &listed(excused.iter().chain(&worse)))?;
        if !worse.is_empty() {
            return Err(format!("{} tests fail only {}:\n{}", worse.len(), way.with, listed(&worse)));
        }
        let idle = excuses.idle(&ours);
        if !idle.is_empty() {
            return Err(format!("{} is excused in {} and passes", idle.join(", "), way.excused));
        }
        Ok(())
    }

    /// Returns the version, or the name if there is none.
    fn label(&self) -> &str {
        self.name.rsplit(' ').next().unwrap_or(&self.name)
    }

    /// Returns the file for a part of the output of the tests.
    fn output(&self, way: &Way, end: &str) -> String {
        format!("{OUTPUTS}/{}-{}{end}", self.label(), way.name)
    }

    /// Runs the tests in one mode. Failing tests are not an error here.
    fn outcomes(&self, way: &Way) -> Outcome<Outcomes> {
        let file = run::absolute(self.output(way, ".txt"))?;
        run::write(&file, "")?;
        let path = [PLUGIN, ENGINE_PLUGIN, package::SOURCES, ENTRY_POINTS].map(run::absolute);
        let path = path.into_iter().collect::<Outcome<Vec<_>>>()?;
        let path = std::env::join_paths(path).map_err(|error| error.to_string())?;
        let options = ["--quiet", "--tb=short", "-p", "outcomes", "-o", "addopts=", "-p", "no:cacheprovider"];
        let plugin = way.plugin.iter().flat_map(|name| ["-p", name]);
        let pytest = match self.within {
            Some(path) => self.pytest.clone().within(&run::empty_directory(path)?.to_string_lossy()),
            None => self.pytest.clone(),
        };
        let pytest = pytest.with(options).with(plugin).with(["--numprocesses", "auto"]);
        let pytest = pytest.variable("PYTHONPATH", &path.to_string_lossy());
        let pytest =
            pytest.variable("ZARROX_OUTCOMES", &file).variable("ZARR_CODEC_PIPELINE__PATH", way.pipeline);
        println!("$ {pytest}");
        let (_, printed) = pytest.log()?;
        run::write(self.output(way, ".log"), &printed)?;
        let outcomes = parsed(&run::read(&file)?);
        if outcomes.is_empty() { Err(format!("no test was run:\n{printed}")) } else { Ok(outcomes) }
    }
}
