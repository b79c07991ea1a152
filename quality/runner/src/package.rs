//! The Python package: built for tests, and installed for use.
//!
//! For tests its native module is built with everything else, so that nothing is compiled twice, and placed in the sources beside
//! the modules that import it. The installed package is compiled in release mode by maturin.

use std::path::Path;

use crate::python::Environment;
use crate::run::{self, Outcome, cargo, program};

/// The package's sources: the value of `PYTHONPATH` in its tests.
pub const SOURCES: &str = "crates/zarrox-python/python";

/// The environment with all supported packages: zarr-python 3, xarray, Dask … and with the type checkers.
pub const ECOSYSTEM: Environment = Environment {
    name: "python-zarr3",
    lowest: (3, 12),
    highest: (3, 13),
    requirements: Some("crates/zarrox-python/requirements-zarr3.txt"),
};

/// Installs the package from the current sources, and these requirements; returns the environment's Python.
pub fn install_into(environment: &Environment, requirements: &[String]) -> Outcome<String> {
    let python = environment.python()?;
    let pip = program(&python, ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
    pip.with(["."]).with(requirements.iter().map(String::as_str)).run()?;
    Ok(python)
}

/// Copies the native module, built as all tests are, into the sources.
pub fn build() -> Outcome {
    // The example enables the features that tests require of dependencies: otherwise most would be compiled twice.
    let build = cargo(["build", "--quiet", "--workspace", "--all-features", "--lib"]);
    build.with(["--example", "conformance"]).run()?;
    let (prefix, suffix) = (std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    let built = run::target(&format!("debug/{prefix}_native{suffix}"));
    let name = if cfg!(windows) { "_native.pyd" } else { "_native.abi3.so" };
    replace(Path::new(&built), &Path::new(SOURCES).join("zarrox").join(name))
}

/// Replaces a file by a copy of another one. A running Python keeps the file that it has loaded; writing into that file would
/// crash it.
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
