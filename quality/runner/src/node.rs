//! Packages of npm, and Chromium: the tools that build and test the page of `zarrox serve`.

use std::path::{Path, PathBuf};

use crate::debian::{self, Missing};
use crate::run::{self, Outcome, program};

/// The sources of the page, with the list of its packages.
pub const PAGE: &str = "crates/zarrox-serve/page";

/// Returns the directory with the packages of npm that the sources and the tests need.
pub fn modules() -> Outcome<String> {
    install()?;
    run::absolute(format!("{PAGE}/node_modules"))
}

/// Installs the packages that the page needs, unless they are installed.
///
/// # Errors
/// When npm fails, or cannot be installed.
pub fn install() -> Outcome {
    if program("npm", ["--version"]).output().is_none() {
        debian::install(&["nodejs", "npm"])?;
    }
    let (wanted, stamp) =
        (run::read(format!("{PAGE}/package-lock.json"))?, format!("{PAGE}/node_modules/.installed"));
    if run::read(&stamp).is_ok_and(|installed| installed == wanted) {
        return Ok(());
    }
    program("npm", ["ci", "--silent", "--no-audit", "--no-fund"]).within(PAGE).run()?;
    run::write(&stamp, &wanted)
}

/// Returns the path of Chromium.
pub fn browser() -> Outcome<String> {
    if found_browser().is_none() {
        debian::install(&["chromium"])?;
    }
    let path = found_browser().ok_or("Chromium was not found on the path")?;
    Ok(path.to_string_lossy().into_owned())
}

fn found_browser() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let names = ["chromium", "chromium-browser", "google-chrome"];
    std::env::split_paths(&path)
        .flat_map(|directory| names.map(|name| directory.join(name)))
        .find(|file| Path::exists(file))
}

/// Returns the missing packages that tests of the page need.
pub fn missing() -> Vec<Missing> {
    let npm = ["nodejs", "npm"].map(|package| Missing { package, why: "the page of `zarrox serve`" });
    let mut found = Vec::new();
    if program("npm", ["--version"]).output().is_none() {
        found.extend(npm);
    }
    if found_browser().is_none() {
        found.push(Missing { package: "chromium", why: "tests of the page in a browser" });
    }
    found
}
