//! The measurement of a case in one language: all contestants run alternately.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::cases::{Case, Output, read_whole};
use crate::contestants::{Contestant, Contestants, Language};
use crate::data;
use crate::measure::{Absence, Entry, Row, Times, most_frequent};
use crate::session::{PATIENCE, Session};
use zarrox_runner::run::{self, Outcome};

/// The directory of outputs. Contestants run alternately, so that one directory is enough.
pub(crate) const OUTPUT: &str = "target/bench/output";

/// The time of a first run from which a contestant is measured less often than others, and in one process only.
const SLOW: f64 = 20.0;
const ROUNDS_OF_SLOW: usize = 2;
/// The time of a first run from which a contestant is not measured again.
const TOO_SLOW: f64 = 120.0;
/// The timeout of a contestant's first run: the work, and the checksum of its result.
const PATIENCE_AT_FIRST: Duration = Duration::from_secs(180);

/// The number of measurements, and of threads.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Protocol {
    pub(crate) rounds: usize,
    /// The number of measurements of whole processes.
    pub(crate) processes: usize,
    pub(crate) threads: usize,
}

/// A case in one language, with its data set on the disk.
#[derive(Debug)]
pub(crate) struct Round<'a> {
    pub(crate) case: &'a Case,
    pub(crate) scale: &'a str,
    /// The directory of the data set.
    pub(crate) array: &'a str,
    pub(crate) contestants: &'a Contestants,
    pub(crate) language: Language,
    pub(crate) protocol: Protocol,
}

/// A contestant in a round.
struct Runner<'a> {
    contestant: &'a Contestant,
    version: String,
    times: Times,
    rounds: usize,
    processes: usize,
    /// `None` when it has ended successfully.
    state: Result<Option<Session>, Absence>,
}

impl Round<'_> {
    pub(crate) fn measure(&self) -> Outcome<Row> {
        let line = self.line()?;
        self.prepare_output()?;
        let contestants = self.contestants.of(self.language).iter();
        let mut runners: Vec<_> = contestants.map(|contestant| self.start(contestant, &line)).collect();
        self.warm_up(&mut runners)?;
        self.take_turns(&mut runners, |runner| runner.rounds, Runner::run)?;
        runners.iter_mut().for_each(Runner::end);
        self.take_turns(&mut runners, |runner| runner.processes, |runner| runner.process(&line))?;
        Ok(Row {
            case: self.case.name.clone(),
            language: self.language,
            scale: self.scale.to_owned(),
            target: self.case.target(self.language).unwrap_or(1.0),
            entries: runners.into_iter().map(Runner::entry).collect(),
        })
    }

    /// Returns the line that describes the case for contestants.
    fn line(&self) -> Outcome<Value> {
        let mut line = json!({
            "name": self.case.name,
            "array": self.array,
            "threads": self.protocol.threads,
            "work": self.case.work,
        });
        if self.case.output.is_some() {
            line["output"] = run::absolute(OUTPUT)?.into();
        }
        Ok(line)
    }

    fn start<'a>(&self, contestant: &'a Contestant, line: &Value) -> Runner<'a> {
        let state = match contestant.refusal(self.case.data.format(), &self.case.work) {
            Some(reason) => Err(Absence::Unsupported(reason)),
            None => Session::start(&contestant.program, line).map(Some),
        };
        let session = state.as_ref().ok().and_then(Option::as_ref);
        let version = session.map_or_else(String::new, |session| session.version.clone());
        let Protocol { rounds, processes, .. } = self.protocol;
        Runner { contestant, version, times: Times::default(), rounds, processes, state }
    }

    /// Runs each contestant once, and compares the values that the contestants read or wrote.
    fn warm_up(&self, runners: &mut [Runner<'_>]) -> Outcome {
        let mut checksums = Vec::new();
        for runner in runners.iter_mut() {
            if runner.state.is_ok() {
                self.prepare_output()?;
            }
            let checksum = runner.check().and_then(|checksum| match &self.case.output {
                Some(output) => self.read_output(output),
                None => Ok(checksum),
            });
            checksums.push(checksum.map_err(|absence| runner.state = Err(absence)).ok());
        }
        let known: Vec<&str> = checksums.iter().flatten().map(String::as_str).collect();
        let Some(expected) = most_frequent(&known) else { return Ok(()) };
        for (runner, checksum) in runners.iter_mut().zip(&checksums) {
            if let Some(checksum) = checksum.as_ref().filter(|checksum| *checksum != expected) {
                let message = format!("its values differ: their checksum is {checksum}, not {expected}");
                runner.state = Err(Absence::Failed(message));
            }
        }
        Ok(())
    }

    /// Runs the rounds: each remaining contestant runs once in a round, and each round begins with another contestant.
    fn take_turns<'a>(
        &self,
        runners: &mut [Runner<'a>],
        rounds: impl Fn(&Runner<'a>) -> usize,
        act: impl Fn(&mut Runner<'a>) -> Result<(), Absence>,
    ) -> Outcome {
        for round in 0..runners.iter().map(&rounds).max().unwrap_or_default() {
            let count = runners.len();
            for turn in 0..count {
                let runner = &mut runners[(turn + round) % count];
                if runner.state.is_err() || round >= rounds(runner) {
                    continue;
                }
                self.prepare_output()?;
                if let Err(absence) = act(runner) {
                    runner.state = Err(absence);
                }
            }
        }
        Ok(())
    }

    /// Prepares the output for a run.
    fn prepare_output(&self) -> Outcome {
        match &self.case.output {
            None => Ok(()),
            Some(output) if output.is_copy => data::copy(Path::new(self.array), Path::new(OUTPUT)),
            Some(output) => data::write_array(Path::new(OUTPUT), &output.document),
        }
    }

    /// Returns the checksum of a run's output, calculated by our own program.
    fn read_output(&self, output: &Output) -> Result<String, Absence> {
        let array = run::absolute(OUTPUT).map_err(Absence::Failed)?;
        let (threads, work) = (self.protocol.threads, read_whole(&output.shape));
        let line = json!({"name": "output", "array": array, "threads": threads, "work": work});
        let mut session = Session::start(&self.contestants.reader(), &line)?;
        let answer = session.ask("check", PATIENCE)?;
        session.end()?;
        Ok(checksum(&answer))
    }
}

impl Runner<'_> {
    /// Runs a contestant for the first time; returns the time and the checksum.
    fn check(&mut self) -> Result<String, Absence> {
        let answer = self.ask("check", PATIENCE_AT_FIRST)?;
        let seconds = seconds(&answer)?;
        if seconds > TOO_SLOW {
            return Err(Absence::GaveUp(seconds));
        }
        if seconds > SLOW {
            self.rounds = self.rounds.min(ROUNDS_OF_SLOW);
            self.processes = 1;
        }
        Ok(checksum(&answer))
    }

    /// Runs a contestant, and records its time.
    fn run(&mut self) -> Result<(), Absence> {
        let answer = self.ask("run", PATIENCE)?;
        self.times.seconds.push(seconds(&answer)?);
        Ok(())
    }

    /// Runs a whole process once, and records its time.
    fn process(&mut self, line: &Value) -> Result<(), Absence> {
        let begin = Instant::now();
        let mut session = Session::start(&self.contestant.program, line)?;
        let answer = session.ask("run", PATIENCE)?;
        session.end()?;
        self.times.processes.push(begin.elapsed().as_secs_f64());
        self.times.peaks.extend(answer["peak"].as_f64());
        Ok(())
    }

    fn ask(&mut self, line: &str, patience: Duration) -> Result<Value, Absence> {
        match &mut self.state {
            Ok(Some(session)) => session.ask(line, patience),
            Ok(None) => Err(Absence::Failed("has ended already".to_owned())),
            Err(absence) => Err(absence.clone()),
        }
    }

    /// Ends the process of a contestant after all rounds.
    fn end(&mut self) {
        let ended = match &mut self.state {
            Ok(session) => session.take().map_or(Ok(()), Session::end),
            Err(_) => return,
        };
        if let Err(absence) = ended {
            self.state = Err(absence);
        }
    }

    fn entry(self) -> Entry {
        let result = self.state.map(|_| self.times);
        Entry { name: self.contestant.name.to_owned(), version: self.version, result }
    }
}

fn seconds(answer: &Value) -> Result<f64, Absence> {
    answer["seconds"].as_f64().ok_or_else(|| Absence::Failed(format!("{answer} has no seconds")))
}

fn checksum(answer: &Value) -> String {
    answer["checksum"].as_str().unwrap_or("none").to_owned()
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use crate::cases::{self, Plan, Scale};
    use crate::contestants::{LIMIT, OURSELVES};
    use zarrox_runner::run::program;

    /// Returns a contestant as a shell script, with this checksum and duration.
    fn contestant(name: &'static str, checksum: u64, seconds: f64) -> Contestant {
        let script = format!(
            r#"read line; echo '{{"ready": "{name} 1"}}'
            while read line; do echo '{{"seconds": {seconds}, "peak": 1000, "checksum": "{checksum}"}}'; done"#
        );
        Contestant::new(name, program("sh", ["-c".to_owned(), script]))
    }

    #[test]
    fn slow_contestants_are_measured_less_often() {
        let rust = vec![
            contestant(OURSELVES, 7, 1.0),
            contestant("test-wrong", 8, 1.0),
            contestant("test-slow", 7, 30.0),
            contestant("test-very-slow", 7, 300.0),
            contestant(LIMIT, 7, 0.5),
        ];
        let contestants = Contestants::of_rust(rust);
        let cases = cases::all(Plan { scale: Scale::Small, threads: 2 });
        let protocol = Protocol { rounds: 3, processes: 1, threads: 2 };
        let round = Round {
            case: &cases[0],
            scale: "small",
            array: "/nowhere",
            contestants: &contestants,
            language: Language::Rust,
            protocol,
        };
        let row = round.measure().unwrap();
        assert_eq!(row.times(OURSELVES).unwrap().seconds, [1.0; 3]);
        assert_eq!(row.times(OURSELVES).unwrap().peaks, [1000.0]);
        assert_eq!(row.times("test-slow").unwrap().seconds, [30.0; 2]);
        assert_eq!(row.entry("test-very-slow").unwrap().result, Err(Absence::GaveUp(300.0)));
        let failures: Vec<_> = row.failures().collect();
        assert_eq!(failures.len(), 1);
        assert!(failures[0].0 == "test-wrong" && failures[0].1.contains("differ"), "{failures:?}");
    }
}
