//! Requirements of tests that a machine may lack: a server, a program, a privilege.
//!
//! Such a test passes without its requirement, so that `cargo test` passes anywhere. But it reports that it did not run, and
//! `cargo xtask test` counts it.

#![expect(clippy::expect_used, reason = "a test whose run cannot be recorded fails")]

use std::collections::BTreeSet;
use std::env;
use std::fs::OpenOptions;
use std::io::Write;
use std::sync::{Mutex, PoisonError};
use std::thread;

/// The variable with the path of the record, a file to which the test programs add lines: `ran` or `missing`, the requirement,
/// and the test, separated by tabs.
const RECORD: &str = "ZARROX_TEST_RECORD";

/// Reports that the test of this thread does not run, since a requirement is missing, and how to install it.
pub fn missing(need: &str, remedy: &str) {
    let test = test();
    if record("missing", need, &test) {
        // Bypasses the test harness, which hides the output of passing tests.
        let message = format!("NOT RUN: {test} needs {need}: {remedy}\n");
        std::io::stderr().write_all(message.as_bytes()).expect("standard error is open");
    }
}

/// Records that the test of this thread has its requirement.
pub fn met(need: &str) {
    record("ran", need, &test());
}

/// Returns the package and the name of the test. The test harness gives this name to the thread of the test.
fn test() -> String {
    let package = env::var("CARGO_PKG_NAME").unwrap_or_default();
    format!("{package} {}", thread::current().name().unwrap_or("in a thread without a name"))
}

/// Adds a line to the record, if there is one. Returns false if this process has added the line before.
fn record(what: &str, need: &str, test: &str) -> bool {
    static SAID: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let line = format!("{what}\t{need}\t{test}\n");
    if !SAID.lock().unwrap_or_else(PoisonError::into_inner).insert(line.clone()) {
        return false;
    }
    if let Some(path) = env::var_os(RECORD) {
        // A single write to the end of a file keeps the lines of several processes intact.
        let file = OpenOptions::new().create(true).append(true).open(path);
        file.and_then(|mut file| file.write_all(line.as_bytes())).expect("the record can be written");
    }
    true
}
