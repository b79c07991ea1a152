//! The arguments of a run.

use std::thread;

use zarrox_runner::run::Outcome;

/// The targets of a run, and their duration.
#[derive(Debug, PartialEq)]
pub(crate) struct Options {
    /// The chosen targets; empty for all.
    pub(crate) names: Vec<String>,
    /// Options of libFuzzer.
    pub(crate) fuzzer: Vec<String>,
    /// The seconds that each target runs in a round.
    pub(crate) seconds: u64,
    /// The number of inputs after which no other round begins.
    pub(crate) executions: Option<u64>,
    /// The number of targets that run at a time.
    pub(crate) jobs: usize,
    /// True if the targets are built with AddressSanitizer.
    pub(crate) sanitized: bool,
}

impl Options {
    /// Parses the options, in any order.
    pub(crate) fn parse(arguments: &[String]) -> Outcome<Self> {
        let mut rest = arguments.to_vec();
        let seconds = number(&mut rest, "--seconds")?.unwrap_or(3);
        let executions = number(&mut rest, "--executions")?;
        let jobs = number(&mut rest, "--jobs")?;
        let given = rest.len();
        rest.retain(|argument| argument != "--no-sanitizer");
        let sanitized = rest.len() == given;
        let (fuzzer, names) = rest.into_iter().partition(|argument| argument.starts_with('-'));
        let processors = thread::available_parallelism().map_or(1, usize::from);
        let jobs = jobs.map_or(processors, |jobs| usize::try_from(jobs).unwrap_or(processors));
        Ok(Self { names, fuzzer, seconds, executions, jobs, sanitized })
    }
}

/// Removes an option and its number from the arguments.
fn number(arguments: &mut Vec<String>, option: &str) -> Outcome<Option<u64>> {
    let Some(at) = arguments.iter().position(|argument| argument == option) else { return Ok(None) };
    let number = arguments.get(at + 1).and_then(|number| number.parse().ok());
    arguments.drain(at..arguments.len().min(at + 2));
    number.map(Some).ok_or_else(|| format!("{option} requires an integer"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Outcome<Options> {
        Options::parse(&line.split(' ').map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn options_stand_anywhere() {
        let options = parse("zstd --seconds 20 gzip -max_len=64 --jobs 1 --executions 100000000").unwrap();
        let names = vec!["zstd".to_owned(), "gzip".to_owned()];
        let fuzzer = vec!["-max_len=64".to_owned()];
        let expected =
            Options { names, fuzzer, seconds: 20, executions: Some(100_000_000), jobs: 1, sanitized: true };
        assert!(!parse("zstd --no-sanitizer").unwrap().sanitized);
        assert_eq!(options, expected);
    }

    #[test]
    fn a_target_runs_for_a_few_seconds_by_default() {
        let options = parse("zstd").unwrap();
        assert_eq!((options.seconds, options.executions, options.names), (3, None, vec!["zstd".to_owned()]));
    }

    #[test]
    fn options_need_numbers() {
        assert!(parse("--seconds").is_err());
        assert!(parse("--executions x").is_err());
    }
}
