//! A running contestant: it receives lines, and answers each with a line of JSON.

use std::io::{BufRead, BufReader, Write, read_to_string};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::measure::Absence;
use zarrox_runner::run::Program;

/// The timeout of any answer except the answer to a first run.
pub(crate) const PATIENCE: Duration = Duration::from_secs(600);

/// A contestant that has received its case. Dropping this value kills the process if it has not ended.
#[derive(Debug)]
pub(crate) struct Session {
    child: Child,
    input: Option<ChildStdin>,
    /// Closed when the contestant ends.
    answers: Receiver<String>,
    /// Its output on standard error.
    errors: Option<JoinHandle<String>>,
    /// Name and version of its library.
    pub(crate) version: String,
}

impl Session {
    /// Starts a contestant and waits until it is ready for its case.
    pub(crate) fn start(program: &Program, case: &Value) -> Result<Self, Absence> {
        let mut command = program.command();
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn();
        let mut child = child.map_err(|error| Absence::Failed(format!("{program}: {error}")))?;
        let (sender, answers) = channel();
        if let Some(output) = child.stdout.take() {
            std::thread::spawn(move || {
                let lines = BufReader::new(output).lines().map_while(Result::ok);
                lines.map(|line| sender.send(line)).take_while(Result::is_ok).count()
            });
        }
        let errors = child.stderr.take();
        let errors = errors.map(|errors| std::thread::spawn(|| read_to_string(errors).unwrap_or_default()));
        let input = child.stdin.take();
        let mut session = Self { child, input, answers, errors, version: String::new() };
        let answer = session.ask(&case.to_string(), PATIENCE)?;
        session.version = answer["ready"].as_str().unwrap_or_default().to_owned();
        Ok(session)
    }

    /// Sends a line and returns the answer.
    pub(crate) fn ask(&mut self, line: &str, patience: Duration) -> Result<Value, Absence> {
        let begin = Instant::now();
        // Writing to a contestant that has ended fails: then its output has the reason.
        let _ = self.input.as_mut().map(|input| writeln!(input, "{line}").and_then(|()| input.flush()));
        let answer = self.answers.recv_timeout(patience).map_err(|error| match error {
            RecvTimeoutError::Timeout => Absence::GaveUp(begin.elapsed().as_secs_f64()),
            RecvTimeoutError::Disconnected => Absence::Failed(self.last_output()),
        })?;
        let answer: Value = serde_json::from_str(&answer)
            .map_err(|error| Absence::Failed(format!("'{answer}' is not a valid answer: {error}")))?;
        if let Some(reason) = answer["unsupported"].as_str() {
            return Err(Absence::Unsupported(reason.to_owned()));
        }
        match answer["error"].as_str() {
            Some(message) => Err(Absence::Failed(message.to_owned())),
            None => Ok(answer),
        }
    }

    /// Closes the input of the contestant, and waits until it has ended.
    pub(crate) fn end(mut self) -> Result<(), Absence> {
        drop(self.input.take());
        match self.answers.recv_timeout(PATIENCE) {
            Err(RecvTimeoutError::Disconnected) => {}
            Err(RecvTimeoutError::Timeout) => return Err(Absence::Failed("does not end".to_owned())),
            Ok(line) => return Err(Absence::Failed(format!("'{line}' answers nothing"))),
        }
        let status = self.child.wait().map_err(|error| Absence::Failed(error.to_string()))?;
        if status.success() { Ok(()) } else { Err(Absence::Failed(self.last_output())) }
    }

    /// Returns the last output of a contestant that has ended without an answer.
    fn last_output(&mut self) -> String {
        let status = self.child.wait().map_or_else(|error| error.to_string(), |status| status.to_string());
        let text = self.errors.take().and_then(|errors| errors.join().ok()).unwrap_or_default();
        let is_message = |line: &&str| !line.trim().is_empty() && !line.starts_with("note: ");
        let last = text.lines().rfind(is_message).unwrap_or("no output");
        format!("ended with {status}: {}", last.trim())
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // Both calls fail if the process has ended already, which is not an error.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use serde_json::json;
    use zarrox_runner::run::program;

    /// Starts a contestant that is a line of shell.
    fn start(script: &str) -> Result<Session, Absence> {
        Session::start(&program("sh", ["-c", script]), &json!({}))
    }

    #[test]
    fn lines_are_answered_until_the_input_ends() {
        let script = r#"while read line; do echo '{"ready": "sh 1", "seconds": 2.5}'; done"#;
        let mut session = start(script).unwrap();
        assert_eq!(session.version, "sh 1");
        assert_eq!(session.ask("run", PATIENCE).unwrap()["seconds"], 2.5);
        session.end().unwrap();
    }

    #[test]
    fn failures_are_reported() {
        let unsupported = start(r#"echo '{"unsupported": "shards"}'"#).unwrap_err();
        assert_eq!(unsupported, Absence::Unsupported("shards".to_owned()));
        let error = start(r#"echo '{"error": "no file"}'"#).unwrap_err();
        assert_eq!(error, Absence::Failed("no file".to_owned()));
        let Err(Absence::Failed(crash)) = start("echo out of luck >&2; exit 3") else {
            panic!("it did not fail");
        };
        assert!(crash.contains('3') && crash.ends_with("out of luck"), "{crash}");
        assert!(matches!(start("echo hello"), Err(Absence::Failed(_))));
    }

    #[test]
    fn an_unresponsive_contestant_is_killed() {
        let mut session = start(r#"echo '{"ready": ""}'; exec sleep 100"#).unwrap();
        assert!(matches!(session.ask("run", Duration::from_millis(50)), Err(Absence::GaveUp(_))));
        drop(session);
    }
}
