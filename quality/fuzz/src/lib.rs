//! The common part of the programs in `fuzz_targets`, each of which has several targets. The work of a target is in
//! `zarrox-testkit`, and in `zarrox-hostile` if it needs the whole library.

/// The environment variable that names the target of a process.
pub const VARIABLE: &str = "ZARROX_FUZZ_TARGET";

/// Returns the name of the target that this process runs.
///
/// # Panics
/// When the environment variable is not set.
pub fn target_name() -> String {
    std::env::var(VARIABLE).unwrap_or_else(|_| panic!("set {VARIABLE} to the name of a target"))
}
