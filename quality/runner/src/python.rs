//! Python interpreters, and virtual environments below `target/venvs`.

use std::path::{Path, PathBuf};

use crate::debian;
use crate::run::{self, Outcome, program};

/// A version of Python: major, minor.
type Version = (u32, u32);

/// A virtual environment: its name, the versions of Python that its packages support, and the file that lists them.
#[derive(Debug, Clone, Copy)]
pub struct Environment {
    /// The name of its directory below `target/venvs`.
    pub name: &'static str,
    /// The oldest supported Python.
    pub lowest: Version,
    /// The newest supported Python.
    pub highest: Version,
    /// The requirements file; `None` for pip alone.
    pub requirements: Option<&'static str>,
}

impl Environment {
    /// Returns the environment's Python. The environment is created again when it is missing or its requirements have changed.
    pub fn python(&self) -> Outcome<String> {
        self.made_of(|| newest(self.lowest, self.highest))
    }

    /// Returns the environment's Python, created with the oldest suitable Python; otherwise like [`python`](Self::python).
    pub fn oldest_python(&self) -> Outcome<String> {
        let oldest = || fitting(self.lowest, self.highest).pop();
        self.made_of(|| oldest().map_or_else(|| newest(self.lowest, self.highest), Ok))
    }

    /// Returns the environment's Python, created with a Python that has an optional module; otherwise like
    /// [`python`](Self::python). If no Python has the module, its Debian package is installed.
    pub fn python_with(&self, module: &str, package: &str) -> Outcome<String> {
        let with_module = || self.base_with(module);
        self.made_of(|| {
            if let Some(python) = with_module() {
                return Ok(python);
            }
            debian::install(&[package])?;
            let ((a, b), (c, d)) = (self.lowest, self.highest);
            with_module()
                .ok_or_else(|| format!("no Python from {a}.{b} to {c}.{d} has {module}, also with {package}"))
        })
    }

    /// Returns true if the environment must be created, and no suitable Python has a module.
    pub fn lacks(&self, module: &str) -> bool {
        !Path::new("target/venvs").join(self.name).join("installed").exists()
            && self.base_with(module).is_none()
    }

    fn base_with(&self, module: &str) -> Option<String> {
        let has_module =
            |python: &String| program(python, ["-c", &format!("import {module}")]).output().is_some();
        fitting(self.lowest, self.highest).into_iter().find(has_module)
    }

    fn made_of(&self, base: impl FnOnce() -> Outcome<String>) -> Outcome<String> {
        let directory = Path::new("target/venvs").join(self.name);
        let python = if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" };
        // On Unix, the Python of an environment is a symbolic link: resolving it would leave the environment.
        let python = run::absolute(directory.join(python))?;
        let wanted = self.requirements.map_or(Ok(String::new()), run::read)?;
        let marker = directory.join("installed");
        if run::read(&marker).is_ok_and(|installed| installed == wanted) {
            return Ok(python);
        }
        let base = base()?;
        run::empty_directory(&directory)?;
        program(base, ["-m", "venv", &directory.to_string_lossy()]).run()?;
        if let Some(requirements) = self.requirements {
            program(&python, ["-m", "pip", "install", "--quiet", "--requirement", requirements]).run()?;
        }
        run::write(marker, &wanted)?;
        Ok(python)
    }
}

/// Returns the newest Python on this machine in a range of versions.
fn newest(lowest: Version, highest: Version) -> Outcome<String> {
    fitting(lowest, highest).into_iter().next().ok_or_else(|| {
        let ((a, b), (c, d)) = (lowest, highest);
        format!("no Python from {a}.{b} to {c}.{d} was found: install one, with its module venv")
    })
}

/// Returns the Pythons on this machine in a range of versions, the newest first.
fn fitting(lowest: Version, highest: Version) -> Vec<String> {
    let known = candidates().into_iter().filter_map(|candidate| Some((version(&candidate)?, candidate)));
    let mut fits: Vec<_> = known.filter(|(version, _)| (lowest..=highest).contains(version)).collect();
    fits.sort_by_key(|(version, _)| std::cmp::Reverse(*version));
    fits.into_iter().map(|(_, python)| python).collect()
}

/// Returns the candidates for Pythons: on the path, and among pyenv's.
fn candidates() -> Vec<String> {
    let mut names: Vec<String> = (10..=14).map(|minor| format!("python3.{minor}")).collect();
    names.extend(["python3", "python", "/usr/bin/python3"].map(str::to_owned));
    let pyenv = program("pyenv", ["root"]).output();
    let versions = pyenv.map(|root| PathBuf::from(root).join("versions"));
    let entries = versions.and_then(|versions| std::fs::read_dir(versions).ok());
    let homes = entries.into_iter().flatten().flatten().map(|entry| entry.path().join("bin/python3"));
    names.extend(homes.map(|python| python.to_string_lossy().into_owned()));
    names
}

fn version(python: &str) -> Option<Version> {
    let text = program(python, ["-c", "import sys; print(*sys.version_info[:2])"]).output()?;
    let (major, minor) = text.split_once(' ')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}
