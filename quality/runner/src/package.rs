//! The Python package: built for tests, and installed for use.
//!
//! For tests its native module is built with everything else, so that nothing is compiled twice, and lies in the sources beside the
//! modules that import it. What is installed is compiled for release by maturin.

use std::path::Path;

use crate::python::Environment;
use crate::run::{self, Outcome, cargo, program};

/// The package's sources: what `PYTHONPATH` holds while it is tested.
pub const SOURCES: &str = "crates/zarrox-python/python";

/// Everything that the package works with: zarr-python 3, xarray, Dask … and what checks its types.
pub const ECOSYSTEM: Environment = Environment {
    name: "python-zarr3",
    lowest: (3, 12),
    highest: (3, 13),
    requirements: Some("crates/zarrox-python/requirements-zarr3.txt"),
};

/// Installs the package as the sources are now, and these requirements, and gives the environment's Python.
pub fn install_into(environment: &Environment, requirements: &[String]) -> Outcome<String> {
    let python = environment.python()?;
    let pip = program(&python, ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
    pip.with(["."]).with(requirements.iter().map(String::as_str)).run()?;
    Ok(python)
}

/// Puts the native module, built as all tests are, among the sources.
pub fn build() -> Outcome {
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
