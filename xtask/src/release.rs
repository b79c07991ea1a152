//! The common parts of the releases of the Python package and of the command: the tools, the platform, and the licences.

use std::path::Path;

use crate::notices;
use zarrox_runner::python::Environment;
use zarrox_runner::run::{self, Outcome, Program, program};

/// The directory of everything that is released.
pub(crate) const DIRECTORY: &str = "target/release-files";

/// The newest glibc that a release may require. It is from 2012. A wheel that requires it is a manylinux2014 wheel.
pub(crate) const GLIBC: (u32, u32) = (2, 17);

/// The file with the licences of all linked libraries. It exists only while a wheel is built; the wheel's pattern for licence
/// files includes it.
const THIRD_PARTY: &str = "LICENSE-THIRD-PARTY";

/// The tools of releases.
const TOOLS: Environment = Environment {
    name: "release",
    lowest: (3, 10),
    highest: (3, 14),
    requirements: Some("xtask/requirements/release.txt"),
};

/// Returns the Rust target of this machine.
pub(crate) fn target() -> String {
    format!("{}-unknown-linux-gnu", std::env::consts::ARCH)
}

/// Returns the command of a tool in the environment. The tool finds the other tools.
pub(crate) fn tool(name: &str) -> Outcome<Program> {
    if !cfg!(target_os = "linux") {
        return Err("releases are built on Linux; elsewhere, use maturin and cargo directly".to_owned());
    }
    let python = TOOLS.python()?;
    let directory = Path::new(&python).parent().unwrap_or(Path::new(""));
    let path = std::env::var("PATH").unwrap_or_default();
    let tool = program::<&str>(directory.join(name).to_string_lossy(), []);
    Ok(tool.variable("PATH", &format!("{}:{path}", directory.display())))
}

/// The version of the workspace.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Runs `work` while the licences of everything that a package links are in a file at the root.
pub(crate) fn with_notices<T>(package: &str, work: impl FnOnce(&str) -> Outcome<T>) -> Outcome<T> {
    run::write(THIRD_PARTY, &notices::text(package, &target())?)?;
    let done = work(THIRD_PARTY);
    std::fs::remove_file(THIRD_PARTY).map_err(|error| format!("{THIRD_PARTY}: {error}"))?;
    done
}

/// Fails if a file is larger than a number of megabytes.
pub(crate) fn check_size(path: &Path, most: u64) -> Outcome {
    let length = path.metadata().map_err(|error| format!("{}: {error}", path.display()))?.len();
    println!("{}: {:.1} MB", path.display(), length as f64 / 1e6);
    if length > most * 1_000_000 {
        return Err(format!("{} is larger than {most} MB", path.display()));
    }
    Ok(())
}

/// Fails if a program or library requires a newer glibc than [`GLIBC`].
pub(crate) fn check_glibc(path: &Path) -> Outcome {
    let symbols = program("objdump", ["-T", &path.to_string_lossy()]).output();
    let symbols = symbols.ok_or("objdump failed: install binutils")?;
    let newest = newest_glibc(&symbols).ok_or_else(|| format!("{} requires no glibc", path.display()))?;
    println!("{}: the newest symbol needs glibc {}.{}", path.display(), newest.0, newest.1);
    if newest > GLIBC {
        return Err(format!("{} requires a newer glibc than {}.{}", path.display(), GLIBC.0, GLIBC.1));
    }
    Ok(())
}

/// Returns the newest version of glibc in a listing of symbols.
fn newest_glibc(symbols: &str) -> Option<(u32, u32)> {
    let versions = symbols.split("GLIBC_").skip(1).filter_map(|rest| {
        let version = rest.split([')', ' ', '\n']).next()?;
        let mut numbers = version.split('.').map(str::parse);
        Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
    });
    versions.max()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_glibc_is_compared_by_numbers() {
        let symbols = "\
            0000 DF *UND* 0000 (GLIBC_2.9) strlen\n\
            0000 DF *UND* 0000 (GLIBC_2.17) clock_gettime\n\
            0000 DF *UND* 0000  GLIBC_2.2.5 memcpy\n";
        assert_eq!(newest_glibc(symbols), Some((2, 17)));
        assert_eq!(newest_glibc("0000 DF *UND* 0000 (GCC_3.0) _Unwind_Resume"), None);
    }
}
