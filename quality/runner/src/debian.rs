//! Debian packages.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::run::{Outcome, program};

/// True if packages must not be installed.
static ALLOWED: AtomicBool = AtomicBool::new(true);

/// A missing package, and its purpose.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Missing {
    /// The name of the package.
    pub package: &'static str,
    /// The purpose of the package, as a message.
    pub why: &'static str,
}

/// Makes each later installation fail.
pub fn forbid() {
    ALLOWED.store(false, Ordering::Relaxed);
}

/// Returns true if installations fail.
pub fn is_forbidden() -> bool {
    !ALLOWED.load(Ordering::Relaxed)
}

/// Returns the package if its program is not on the path.
pub fn missing(name: &str, package: &'static str, why: &'static str) -> Option<Missing> {
    program("which", [name]).output().is_none().then_some(Missing { package, why })
}

/// Installs packages by apt-get, which requires root.
pub fn install(packages: &[&str]) -> Outcome {
    if packages.is_empty() {
        return Ok(());
    }
    // Another process may be installing packages, too.
    let options = ["install", "-y", "--no-install-recommends", "-o", "DPkg::Lock::Timeout=300"];
    let install = program("apt-get", options).with(packages.iter().copied());
    let is_root = program("id", ["-u"]).output().is_some_and(|user| user == "0");
    if is_forbidden() || !is_root || program("apt-get", ["--version"]).output().is_none() {
        let list = packages.join(" ");
        return Err(format!("{list} is missing: as root, `apt-get install {list}` on Debian"));
    }
    // The package lists of a machine's image go out of date.
    let install = install.variable("DEBIAN_FRONTEND", "noninteractive");
    install.run().or_else(|_| program("apt-get", ["update", "-q"]).run().and_then(|()| install.run()))
}
