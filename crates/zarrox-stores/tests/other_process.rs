//! A test of this program that runs in a process of its own.
#![expect(clippy::unwrap_used, reason = "a test stops at the first failure")]

use std::path::Path;
use std::process::{Child, Command, Stdio};

/// Starts the test with this name, with a path in an environment variable.
pub(crate) fn start(test: &str, variable: &str, path: &Path) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test]).env(variable, path).stdout(Stdio::piped()).spawn().unwrap()
}

/// Waits until the test has passed. That there is none with its name would be a success, too.
pub(crate) fn finish(process: Child) {
    let output = process.wait_with_output().unwrap();
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && printed.contains("1 passed"), "{printed}");
}
