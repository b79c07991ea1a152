//! The contestants, and their programs, built and installed.

use serde_json::Value;

use zarrox_runner::package;
use zarrox_runner::python::Environment;
use zarrox_runner::run::{self, Outcome, Program, cargo, program, target};

/// Zarrox, in each language.
pub(crate) const OURSELVES: &str = "zarrox";
/// The bare loop that does the same work, in Rust. It does not count as a peer.
pub(crate) const LIMIT: &str = "limit";
/// An earlier build or installation of Zarrox. It does not count as a peer.
pub(crate) const BEFORE: &str = "before";

/// The language in which a library is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Language {
    Rust,
    Python,
}

impl Language {
    pub(crate) const ALL: [Self; 2] = [Self::Rust, Self::Python];

    /// Returns the name on the command line and in results.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Rust => "rust",
            Self::Python => "python",
        }
    }

    /// Returns the name in headings.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Rust => "Rust",
            Self::Python => "Python",
        }
    }

    pub(crate) fn from_name(name: &str) -> Outcome<Self> {
        let found = Self::ALL.into_iter().find(|language| language.name() == name);
        found.ok_or_else(|| format!("unknown language '{name}'; expected 'rust' or 'python'"))
    }
}

/// A library, as used from a language.
#[derive(Debug)]
pub(crate) struct Contestant {
    pub(crate) name: &'static str,
    pub(crate) program: Program,
    /// The newest version of the Zarr format that the contestant supports.
    newest_format: u64,
    /// True if the contestant is the library of another contestant with other codecs.
    differs_in_codecs: bool,
}

/// The cases without decoding and encoding.
const WITHOUT_CODECS: [&str; 4] = ["open", "open_consolidated", "list", "info"];

impl Contestant {
    pub(crate) fn new(name: &'static str, program: Program) -> Self {
        Self { name, program, newest_format: 3, differs_in_codecs: false }
    }

    /// Returns the library of another contestant, with other codecs.
    fn with_codecs(name: &'static str, program: Program) -> Self {
        Self { differs_in_codecs: true, ..Self::new(name, program) }
    }

    /// Returns the reason why the contestant does not support data of this version of the format, or this work.
    pub(crate) fn refusal(&self, format: u64, work: &Value) -> Option<String> {
        if format > self.newest_format {
            return Some(format!("does not support v{format}"));
        }
        let has_codecs = !WITHOUT_CODECS.iter().any(|kind| work["kind"] == **kind);
        (self.differs_in_codecs && !has_codecs).then(|| "is the same as zarr3 without codecs".to_owned())
    }
}

/// All contestants, and the program that creates their data and reads their output.
#[derive(Debug)]
pub(crate) struct Contestants {
    rust: Vec<Contestant>,
    python: Vec<Contestant>,
    ourselves: Program,
}

impl Contestants {
    /// Builds and installs the requirements of these languages.
    pub(crate) fn prepare(languages: &[Language]) -> Outcome<Self> {
        // The bench target contains Zarrox, the limit, and the generator of data.
        let built = || run::bench_target("zarrox-bench", "peers");
        let ourselves = variable("ZARROX_BENCH_RUST").map_or_else(built, Ok)?;
        let ourselves = program::<&str>(ourselves, []);
        let limit = || Contestant::new(LIMIT, ourselves.clone().with([LIMIT]));
        let rust = || {
            let zarrs = variable("ZARROX_BENCH_ZARRS").map_or_else(build_zarrs, Ok)?;
            let zarrox = Contestant::new(OURSELVES, ourselves.clone().with([OURSELVES]));
            let zarrs = Contestant::new("zarrs", program::<&str>(zarrs, []));
            let before = variable("ZARROX_BENCH_RUST_BEFORE").map(|before| program(before, [OURSELVES]));
            let before = before.map(|before| Contestant::new(BEFORE, before));
            Ok::<_, String>([zarrox, zarrs, limit()].into_iter().chain(before).collect())
        };
        let python = || {
            let mut contestants = python()?;
            contestants.push(limit());
            Ok::<_, String>(contestants)
        };
        Ok(Self {
            rust: if languages.contains(&Language::Rust) { rust()? } else { Vec::new() },
            python: if languages.contains(&Language::Python) { python()? } else { Vec::new() },
            ourselves,
        })
    }

    /// Returns the contestants in Rust that need no separate build.
    #[cfg(test)]
    pub(crate) fn of_rust(rust: Vec<Contestant>) -> Self {
        Self { rust, python: Vec::new(), ourselves: Program::default() }
    }

    pub(crate) fn of(&self, language: Language) -> &[Contestant] {
        match language {
            Language::Rust => &self.rust,
            Language::Python => &self.python,
        }
    }

    /// Returns our own program that writes the values of formulas.
    pub(crate) fn filler(&self) -> Program {
        self.ourselves.clone().with(["fill"])
    }

    /// Returns our own program that reads.
    pub(crate) fn reader(&self) -> Program {
        self.ourselves.clone().with([OURSELVES])
    }
}

/// Returns our own package and the other libraries in Python, installed.
fn python() -> Outcome<Vec<Contestant>> {
    let install = || package::install_into(&PEERS, &[]);
    let peers = variable("ZARROX_BENCH_PYTHON").map_or_else(install, Ok)?;
    let zarr2 = variable("ZARROX_BENCH_PYTHON2").map_or_else(|| ZARR2.python(), Ok)?;
    let script =
        |python: &str, name: &str| program(python, ["-B".to_owned(), format!("quality/bench/{name}.py")]);
    let zarr3 = || script(&peers, "run_zarr3");
    let before = variable("ZARROX_BENCH_PYTHON_BEFORE");
    let before = before.map(|python| Contestant::new(BEFORE, script(&python, "run_zarrox")));
    let peers = [
        Contestant::new(OURSELVES, script(&peers, "run_zarrox")),
        Contestant::new("tensorstore", script(&peers, "run_tensorstore")),
        Contestant::new("zarr3", zarr3()),
        Contestant::with_codecs("zarr3 fused", zarr3().with(["fused"])),
        Contestant::with_codecs("zarr3 + zarrs", zarr3().with(["zarrs"])),
        Contestant { newest_format: 2, ..Contestant::new("zarr2", script(&zarr2, "run_zarr2")) },
    ];
    Ok(peers.into_iter().chain(before).collect())
}

/// The environment of Zarrox, TensorStore, zarr-python 3 and its codec pipelines.
const PEERS: Environment = Environment {
    name: "bench-peers",
    lowest: (3, 12),
    highest: (3, 13),
    requirements: Some("quality/bench/requirements/peers.txt"),
};

/// The last release of numcodecs that zarr-python 2 supports runs on Python up to 3.13.
const ZARR2: Environment = Environment {
    name: "bench-zarr2",
    lowest: (3, 11),
    highest: (3, 13),
    requirements: Some("quality/bench/requirements/zarr2.txt"),
};

/// Returns a variable with the path of a program, which then is not built or installed.
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// Builds the program of zarrs, which is a separate workspace.
fn build_zarrs() -> Outcome<String> {
    let directory = target("zarrs");
    let build =
        cargo(["build", "--release", "--locked", "--manifest-path", "quality/bench/zarrs/Cargo.toml"]);
    build.with(["--target-dir", &directory]).run()?;
    Ok(format!("{directory}/release/zarrs-peer{}", std::env::consts::EXE_SUFFIX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn unsupported_cases_are_refused() {
        let (read, list) = (json!({"kind": "read"}), json!({"kind": "list"}));
        let zarr2 = Contestant { newest_format: 2, ..Contestant::new("zarr2", Program::default()) };
        assert_eq!(zarr2.refusal(2, &list), None);
        assert!(zarr2.refusal(3, &list).is_some());
        let fused = Contestant::with_codecs("zarr3 fused", Program::default());
        assert_eq!(fused.refusal(3, &read), None);
        assert!(fused.refusal(3, &list).is_some());
    }
}
