//! Processes that do jobs, and are killed.

use std::io::{BufRead, BufReader, Write as _};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Barrier, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use crate::job::Job;
use crate::outcome::Outcome;

/// The timeout of a process.
const LIMIT: Duration = Duration::from_secs(90);

/// The program that does jobs: this program, or a program that uses another implementation.
#[derive(Debug, Clone)]
pub(crate) struct Launcher {
    pub(crate) program: String,
    /// The arguments before the job.
    pub(crate) arguments: Vec<String>,
}

/// The moment of a process's death: a time after the start of one of its operations.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Death {
    pub(crate) hand: usize,
    pub(crate) operation: usize,
    pub(crate) after: Duration,
}

/// The progress of a thread.
#[derive(Debug, Clone, Default)]
pub(crate) struct Progress {
    /// The number of completed operations.
    pub(crate) done: usize,
    /// True if the next one has begun.
    pub(crate) begun: bool,
    /// The operations in which another process was faster.
    pub(crate) taken: Vec<usize>,
}

/// The end of a process.
#[derive(Debug, Default)]
pub(crate) struct Ended {
    /// True if it was killed before it had finished.
    pub(crate) killed: bool,
    pub(crate) hands: Vec<Progress>,
    /// Errors of operations, and of the process itself.
    pub(crate) errors: Vec<String>,
}

impl Launcher {
    /// Returns this program.
    pub(crate) fn zarrox() -> Outcome<Self> {
        let program = std::env::current_exe().map_err(|error| error.to_string())?;
        Ok(Self { program: program.to_string_lossy().into_owned(), arguments: vec!["work".to_owned()] })
    }

    /// Runs a process to its end, or to its death. The process begins its work when all others have reached the barrier.
    pub(crate) fn run(&self, job: &Job, death: Option<Death>, start: Option<&Barrier>) -> Outcome<Ended> {
        let text = serde_json::to_string(job).map_err(|error| error.to_string())?;
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).arg(text).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().map_err(|error| format!("{}: {error}", self.program))?;
        let output = child.stdout.take().ok_or("the process has no output")?;
        let mut input = child.stdin.take().ok_or("the process has no input")?;
        let child = Mutex::new(child);
        let mut start = start;
        let mut ended = Ended { hands: vec![Progress::default(); job.hands.len()], ..Ended::default() };
        let (living, dead) = channel::<()>();
        let hangs = thread::scope(|scope| {
            let child = &child;
            let watch = scope.spawn(move || kill_if_it_hangs(child, &dead));
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                ended.parse_line(&line);
                if line == "ready" {
                    start.take().map(Barrier::wait);
                    // The process may have ended already.
                    let _ = writeln!(input, "begin");
                }
                if death.is_some_and(|death| line == format!("begin {} {}", death.hand, death.operation)) {
                    let after = death.map_or(Duration::ZERO, |death| death.after);
                    thread::sleep(after);
                    kill(child);
                }
            }
            drop(living);
            // A process that was never ready must not block the others.
            start.take().map(Barrier::wait);
            watch.join().unwrap_or(false)
        });
        let status = child.into_inner().unwrap_or_else(PoisonError::into_inner).wait();
        let status = status.map_err(|error| error.to_string())?;
        if hangs {
            ended.errors.push(format!("the process had not ended after {} seconds", LIMIT.as_secs()));
        } else if status.code().is_none() && death.is_some() {
            ended.killed = true;
        } else if !status.success() {
            ended.errors.push(format!("the process ended with {status}"));
        }
        Ok(ended)
    }
}

impl Ended {
    fn parse_line(&mut self, line: &str) {
        let mut words = line.splitn(4, ' ');
        let word = words.next().unwrap_or_default();
        let mut number = || words.next().and_then(|word| word.parse::<usize>().ok());
        let (Some(hand), Some(operation)) = (number(), number()) else { return };
        let rest = words.next().unwrap_or_default();
        let Some(hand) = self.hands.get_mut(hand) else { return };
        match word {
            "begin" => hand.begun = true,
            "end" => {
                (hand.done, hand.begun) = (operation + 1, false);
                if rest == "taken" {
                    hand.taken.push(operation);
                }
            }
            "error" => self.errors.push(rest.to_owned()),
            _ => {}
        }
    }
}

fn kill(child: &Mutex<Child>) {
    // The process may have ended by itself.
    let _ = child.lock().unwrap_or_else(PoisonError::into_inner).kill();
}

/// Waits until the output of a process has ended. A process that does not end is killed; then the function returns true.
fn kill_if_it_hangs(child: &Mutex<Child>, dead: &Receiver<()>) -> bool {
    let hangs = dead.recv_timeout(LIMIT) == Err(RecvTimeoutError::Timeout);
    if hangs {
        kill(child);
    }
    hangs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_a_process_are_parsed() {
        let mut ended = Ended { hands: vec![Progress::default(); 2], ..Ended::default() };
        for line in
            ["begin 0 0", "begin 1 0", "end 0 0 done", "begin 0 1", "end 1 0 taken", "error 0 1 no: room"]
        {
            ended.parse_line(line);
        }
        assert_eq!((ended.hands[0].done, ended.hands[0].begun), (1, true));
        assert_eq!((ended.hands[1].done, ended.hands[1].begun), (1, false));
        assert_eq!(ended.hands[1].taken, [0]);
        assert_eq!(ended.errors, ["no: room"]);
    }
}
