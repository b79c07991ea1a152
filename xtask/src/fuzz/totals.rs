//! The number of inputs of each target, in all runs together.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use zarrox_runner::run::{self, Outcome};

/// The file with a line for each target: its name, executions, findings, and seconds.
const PATH: &str = "quality/fuzz/totals";

/// A lock: the file has one writer at a time.
static WRITER: Mutex<()> = Mutex::new(());

/// A run of one target.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) executions: u64,
    pub(crate) time: Duration,
    /// The end of the log, if the target found a bug.
    pub(crate) failure: Option<String>,
}

impl Ran {
    /// Parses the output of the fuzzer.
    pub(crate) fn new(success: bool, time: Duration, log: &str) -> Self {
        const LINES: usize = 60;
        let executions = log.lines().find_map(|line| line.strip_prefix("stat::number_of_executed_units: "));
        let lines: Vec<&str> = log.lines().collect();
        Self {
            executions: executions.and_then(|number| number.trim().parse().ok()).unwrap_or(0),
            time,
            failure: (!success).then(|| lines[lines.len().saturating_sub(LINES)..].join("\n")),
        }
    }
}

/// The sums of one target.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
struct Total {
    executions: u64,
    findings: u64,
    seconds: u64,
}

/// The sums of all targets, by their names.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Totals(BTreeMap<String, Total>);

impl Totals {
    /// Reads the sums so far.
    pub(crate) fn read() -> Outcome<Self> {
        if Path::new(PATH).exists() { Self::parse(&run::read(PATH)?) } else { Ok(Self::default()) }
    }

    /// Adds a run.
    pub(crate) fn add(target: &str, ran: &Ran) -> Outcome {
        let _writer = WRITER.lock().unwrap_or_else(PoisonError::into_inner);
        let mut totals = Self::read()?;
        totals.count(target, ran);
        run::write(PATH, &totals.lines())
    }

    /// Returns the total number of inputs of these targets.
    pub(crate) fn executions(&self, targets: &[String]) -> u64 {
        targets.iter().filter_map(|target| self.0.get(target)).map(|total| total.executions).sum()
    }

    fn count(&mut self, target: &str, ran: &Ran) {
        let total = self.0.entry(target.to_owned()).or_default();
        total.executions += ran.executions;
        total.findings += u64::from(ran.failure.is_some());
        total.seconds += ran.time.as_secs();
    }

    fn parse(text: &str) -> Outcome<Self> {
        let total = |line: &str| {
            let mut words = line.split_whitespace();
            let name = words.next()?.to_owned();
            let mut number = || words.next()?.parse().ok();
            Some((name, Total { executions: number()?, findings: number()?, seconds: number()? }))
        };
        let lines =
            text.lines().map(|line| total(line).ok_or_else(|| format!("{PATH}: not a total: '{line}'")));
        Ok(Self(lines.collect::<Outcome<_>>()?))
    }

    fn lines(&self) -> String {
        let line = |(name, Total { executions, findings, seconds }): (&String, &Total)| {
            format!("{name} {executions} {findings} {seconds}\n")
        };
        self.0.iter().map(line).collect()
    }
}

/// Prints the table of all targets, and the sums.
impl fmt::Display for Totals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "| target | executions | findings | seconds |\n|---|---:|---:|---:|")?;
        for (name, Total { executions, findings, seconds }) in &self.0 {
            writeln!(f, "| {name} | {executions} | {findings} | {seconds} |")?;
        }
        let sum = |number: fn(&Total) -> u64| self.0.values().map(number).sum::<u64>();
        let (executions, findings) = (sum(|total| total.executions), sum(|total| total.findings));
        write!(f, "| all | {executions} | {findings} | {} |", sum(|total| total.seconds))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_summed_and_read_again() {
        let log = "Done 7 runs\nstat::number_of_executed_units: 7\n";
        let mut totals = Totals::default();
        totals.count("zstd", &Ran::new(true, Duration::from_secs(2), log));
        totals.count("zstd", &Ran::new(false, Duration::from_secs(1), log));
        totals.count("gzip", &Ran::new(true, Duration::from_secs(1), ""));
        assert_eq!(totals.lines(), "gzip 0 0 1\nzstd 14 1 3\n");
        assert_eq!(totals.executions(&["zstd".to_owned()]), 14);
        assert!(totals.to_string().ends_with("| all | 14 | 1 | 4 |"), "{totals}");
        assert_eq!(Totals::parse(&totals.lines()), Ok(totals));
        assert!(Totals::parse("zstd 1").is_err());
    }
}
