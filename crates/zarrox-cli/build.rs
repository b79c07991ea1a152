//! Sets `ZARROX_COMMIT`, which `zarrox --version` prints.

use std::path::Path;
use std::process::Command;

/// The file that Cargo adds to a packed crate.
const PACKED: &str = ".cargo_vcs_info.json";

fn main() {
    println!("cargo::rerun-if-env-changed=ZARROX_COMMIT");
    println!("cargo::rerun-if-changed=build.rs");
    let commit = std::env::var("ZARROX_COMMIT").ok().or_else(packed).or_else(checked_out);
    println!("cargo::rustc-env=ZARROX_COMMIT={}", commit.as_deref().unwrap_or("unknown"));
}

/// Returns the commit from which Cargo packed the crate.
fn packed() -> Option<String> {
    let text = std::fs::read_to_string(PACKED).ok()?;
    let (_, rest) = text.split_once("\"sha1\": \"")?;
    rest.split_once('"').map(|(commit, _)| commit.to_owned())
}

/// Returns the commit of the repository that contains the crate. Only release builds include the commit: other builds would be
/// built again after each commit.
fn checked_out() -> Option<String> {
    if std::env::var("PROFILE").is_ok_and(|profile| profile != "release") {
        return None;
    }
    // An unpacked archive may be in a directory of another repository.
    git(&["ls-files", "--error-unmatch", "Cargo.toml"])?;
    let log = Path::new(&git(&["rev-parse", "--absolute-git-dir"])?).join("logs/HEAD");
    println!("cargo::rerun-if-changed={}", log.display());
    git(&["rev-parse", "HEAD"])
}

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
