//! What a test needs that a machine may lack: a server, a program, a right.
//!
//! Such a test passes without it, so that `cargo test` passes anywhere. But it says that it did not run, and `cargo xtask test` counts it.

#![expect(clippy::expect_used, reason = "a test whose run cannot be recorded fails")]

use std::collections::BTreeSet;
use std::env;
use std::fs::OpenOptions;
use std::io::Write;
use std::sync::{Mutex, PoisonError};
use std::thread;

/// The variable with the path of the record, a file to which the programs of a run add lines: `ran` or `missing`, the need, and the
/// test, with tabs between them.
const RECORD: &str = "ZARROX_TEST_RECORD";

/// Says that the test of this thread does not run, since it needs something that is missing, and what would bring it.
pub fn missing(need: &str, remedy: &str) {
    let test = test();
    if record("missing", need, &test) {
        // Past the capture of the test harness, which shows nothing of tests that pass.
        let message = format!("NOT RUN: {test} needs {need}: {remedy}\n");
        std::io::stderr().write_all(message.as_bytes()).expect("standard error is open");
    }
}

/// Says that the test of this thread has what it needs.
pub fn met(need: &str) {
    record("ran", need, &test());
}

/// Returns the package and the name of the test, which the test harness gives to its thread.
fn test() -> String {
    let package = env::var("CARGO_PKG_NAME").unwrap_or_default();
    format!("{package} {}", thread::current().name().unwrap_or("in a thread without a name"))
}

/// Adds a line to the record, if there is one. False if this process has said so before.
fn record(what: &str, need: &str, test: &str) -> bool {
    static SAID: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let line = format!("{what}\t{need}\t{test}\n");
    if !SAID.lock().unwrap_or_else(PoisonError::into_inner).insert(line.clone()) {
        return false;
    }
    if let Some(path) = env::var_os(RECORD) {
        // One write to the end of a file keeps the lines of several processes whole.
        let file = OpenOptions::new().create(true).append(true).open(path);
        file.and_then(|mut file| file.write_all(line.as_bytes())).expect("the record can be written");
    }
    true
}
