//! Runs the command in a directory of its own.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up should fail")]

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

/// A directory for one test.
pub(crate) struct Sandbox(tempfile::TempDir);

/// The outcome of a run of the command.
#[derive(Debug)]
pub(crate) struct Run {
    /// The exit code.
    pub(crate) code: i32,
    /// The standard output.
    pub(crate) out: Vec<u8>,
    /// The standard error.
    pub(crate) err: String,
}

#[allow(dead_code, clippy::allow_attributes, reason = "not every test file needs everything")]
impl Sandbox {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn command(&self, line: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_zarrox"));
        command.args(line).current_dir(self.0.path()).stdin(Stdio::null());
        command
    }

    /// Runs the command, which may fail.
    pub(crate) fn run(&self, line: &[&str]) -> Run {
        Run::from(self.command(line).output().unwrap())
    }

    /// Runs the command with bytes on its standard input.
    pub(crate) fn run_with(&self, line: &[&str], input: &[u8]) -> Run {
        let mut command = self.command(line);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // The command may end without reading all of it.
        let _ = child.stdin.take().unwrap().write_all(input);
        Run::from(child.wait_with_output().unwrap())
    }

    /// Runs the command, and interrupts it as Ctrl-C does once it has read some input.
    #[cfg(unix)]
    pub(crate) fn interrupt(&self, line: &[&str], input: &[u8], more: &[u8]) -> Run {
        self.signal("-INT", line, input, more)
    }

    /// Runs the command, and kills it once it has read some input.
    #[cfg(unix)]
    pub(crate) fn kill(&self, line: &[&str], input: &[u8]) {
        self.signal("-KILL", line, input, &[]);
    }

    #[cfg(unix)]
    fn signal(&self, signal: &str, line: &[&str], input: &[u8], more: &[u8]) -> Run {
        let mut command = self.command(line);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut pipe = child.stdin.take().unwrap();
        pipe.write_all(input).unwrap();
        Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(100));
        // The command may be waiting for more input, or may have ended already.
        let _ = pipe.write_all(more);
        drop(pipe);
        Run::from(child.wait_with_output().unwrap())
    }

    /// Runs the command, which must succeed, and returns its output.
    pub(crate) fn ok(&self, line: &[&str]) -> String {
        let run = self.run(line);
        assert_eq!(run.code, 0, "{line:?}: {}", run.err);
        assert_eq!(run.err, "", "{line:?}");
        String::from_utf8(run.out).unwrap()
    }

    /// Runs the command, which must succeed and print JSON.
    pub(crate) fn json(&self, line: &[&str]) -> Value {
        serde_json::from_str(&self.ok(line)).unwrap()
    }

    /// Runs the command, which must fail with this exit code, and returns its error message.
    pub(crate) fn fails(&self, code: i32, line: &[&str]) -> String {
        let run = self.run(line);
        assert_eq!(run.code, code, "{line:?}: {}", run.err);
        assert!(run.err.contains("error: "), "{line:?}: {}", run.err);
        run.err
    }

    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap()
    }

    /// Returns the names in the directory, sorted.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<_> = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

impl From<Output> for Run {
    fn from(output: Output) -> Self {
        let err = String::from_utf8(output.stderr).unwrap();
        Self { code: output.status.code().unwrap_or(-1), out: output.stdout, err }
    }
}

/// Returns the path of a file that NumPy wrote.
#[allow(dead_code, clippy::allow_attributes, reason = "not every test file needs everything")]
pub(crate) fn golden(name: &str) -> String {
    let directory =
        zarrox_testkit::corpus::unpacked(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden"));
    directory.join(name).to_str().unwrap().to_owned()
}
