//! A test of this program that runs in a separate process.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;
use std::process::{Child, Command, Stdio};

#[cfg(target_os = "linux")]
use crate::needs;

/// Starts the test with this name, with a path in an environment variable.
pub fn start(test: &str, variable: &str, path: &Path) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test]).env(variable, path).stdout(Stdio::piped()).spawn().unwrap()
}

/// Waits until the test has passed. The output is checked as well, since the harness succeeds without a test of the name.
pub fn finish(process: Child) {
    let output = process.wait_with_output().unwrap();
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && printed.contains("1 passed"), "{printed}");
}

/// Set if strace is required.
#[cfg(target_os = "linux")]
const STRACE_REQUIRED: &str = "ZARROX_TEST_STRACE";

/// Starts the test with this name under strace, with a text in an environment variable; `None`, and a report that the test did
/// not run, if strace is missing.
#[cfg(target_os = "linux")]
pub fn start_traced(
    strace: impl FnOnce(&mut Command),
    test: &str,
    variable: &str,
    value: &str,
) -> Option<Child> {
    let mut command = self::strace()?;
    strace(command.arg("-f"));
    command.arg(std::env::current_exe().unwrap()).args(["--exact", test]).env(variable, value);
    Some(command.stdout(Stdio::piped()).spawn().unwrap())
}

/// Returns the program strace; `None`, and a report that the test did not run, if it is missing.
///
/// # Panics
///
/// When strace is missing although it is required.
#[cfg(target_os = "linux")]
pub fn strace() -> Option<Command> {
    let found = Command::new("strace").arg("--version").output();
    if let Err(error) = found {
        assert!(std::env::var_os(STRACE_REQUIRED).is_none(), "strace is required: {error}");
        needs::missing("strace", "`apt-get install strace`");
        return None;
    }
    needs::met("strace");
    Some(Command::new("strace"))
}
