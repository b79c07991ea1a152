//! `cargo xtask bench --peers`: the same work with Zarrox and its peers, see quality/bench/README.md.

#![expect(clippy::print_stdout, reason = "it is a library of command-line programs")]

mod cases;
mod chart;
mod contestants;
mod data;
mod measure;
mod report;
mod round;
mod session;

use std::path::Path;
use std::thread::available_parallelism;

use serde_json::json;

use cases::{Case, Plan, Scale};
use contestants::{Contestants, Language};
use measure::Row;
use report::Report;
use round::{OUTPUT, Protocol, Round};
use session::{PATIENCE, Session};
use zarrox_runner::run::{self, Outcome, program};

/// The directory of data sets, with a subdirectory for each scale.
const DATA: &str = "target/bench/data";
/// The results, as JSON, and as tables and a chart.
const JSON: &str = "target/bench/peers.json";
const TABLES: &str = "target/bench/peers.md";
const CHART: &str = "target/bench/peers.svg";

/// The free space that must remain on the disk.
const SPARE_BYTES: u64 = 1 << 30;

/// The options of the command line.
#[derive(Debug, PartialEq)]
struct Options {
    scale: Scale,
    cases: Vec<String>,
    languages: Vec<Language>,
    repetitions: Option<usize>,
    is_quick: bool,
    threads: Option<usize>,
    keeps_data: bool,
    require: Option<Requirement>,
    only_lists: bool,
}

/// The requirement for every row.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Requirement {
    Ratio(f64),
    Targets,
}

/// Measures the cases of the arguments.
///
/// # Errors
/// When the arguments are invalid, a program cannot be built, or a requirement is not met.
pub fn run(arguments: &[String]) -> Outcome {
    let options = Options::parse(arguments)?;
    let protocol = options.protocol();
    let all = cases::all(Plan { scale: options.scale, threads: protocol.threads });
    let cases = chosen(&all, &options.cases)?;
    if options.only_lists {
        cases.iter().for_each(|case| println!("{}", case.name));
        return Ok(());
    }
    check_disk(&cases)?;
    let contestants = Contestants::prepare(&options.languages)?;
    let mut report = Report::read(JSON, options.scale.name());
    let mut rows = Vec::new();
    for (number, case) in cases.iter().enumerate() {
        for language in options.languages.iter().filter(|language| case.target(**language).is_some()) {
            let row = measure(case, *language, &contestants, &options)?;
            println!("{}", report::line(&row));
            report.replace(row.clone());
            rows.push(row);
            save(&report, &all)?;
        }
        let is_last = cases.get(number + 1).is_none_or(|next| next.data.name != case.data.name);
        if is_last && !options.keeps_data {
            case.data.remove(&options.data())?;
        }
    }
    run::remove_directory(OUTPUT)?;
    println!("written: {JSON}, {TABLES}, {CHART}");
    judge(&rows, options.require)
}

/// Measures a case in a language; its data set is created if it is missing.
fn measure(case: &Case, language: Language, contestants: &Contestants, options: &Options) -> Outcome<Row> {
    let (scale, protocol) = (options.scale.name(), options.protocol());
    let fill = |array: &str, formula: &str| fill(contestants, array, formula, protocol.threads);
    let array = case.data.made(&options.data(), fill)?;
    Round { case, scale, array: &array, contestants, language, protocol }.measure()
}

/// Runs our own program, which writes the values of a formula into an array.
fn fill(contestants: &Contestants, array: &str, formula: &str, threads: usize) -> Outcome {
    println!("data set: {array}");
    let work = json!({"kind": "fill", "values": formula});
    let line = json!({"name": "fill", "array": array, "threads": threads, "work": work});
    let filled = Session::start(&contestants.filler(), &line)
        .and_then(|mut session| session.ask("run", PATIENCE).and_then(|_| session.end()));
    filled.map_err(|absence| format!("{array} cannot be filled: {absence:?}"))
}

/// Writes the results in all formats.
fn save(report: &Report, all: &[Case]) -> Outcome {
    let order: Vec<&str> = all.iter().map(|case| case.name.as_str()).collect();
    run::write(JSON, &format!("{:#}\n", report.to_json(&order)))?;
    run::write(TABLES, &report.tables(&order))?;
    run::write(CHART, &chart::draw(report, &order))
}

/// Returns the cases with these names, or else the cases whose names contain them; all cases if no names are given.
fn chosen<'a>(all: &'a [Case], names: &[String]) -> Outcome<Vec<&'a Case>> {
    let matches = |case: &Case, name: &String| match all.iter().any(|case| case.name == *name) {
        true => case.name == *name,
        false => case.name.contains(name.as_str()),
    };
    if let Some(unknown) = names.iter().find(|name| !all.iter().any(|case| matches(case, name))) {
        return Err(format!("no case has '{unknown}' in its name; --list shows all"));
    }
    let is_chosen = |case: &&Case| names.is_empty() || names.iter().any(|name| matches(case, name));
    Ok(all.iter().filter(is_chosen).collect())
}

/// Checks that the disk has space for the largest case: a data set is deleted before the next one is created. If the free space
/// is unknown, nothing is checked.
fn check_disk(cases: &[&Case]) -> Outcome {
    let needed = cases.iter().map(|case| case.bytes()).max().unwrap_or_default() + SPARE_BYTES;
    let table = program("df", ["-Pk", "."]).output().unwrap_or_default();
    match free_bytes(&table) {
        Some(free) if free < needed => {
            Err(format!("the disk has {} MiB of free space, but {} MiB are needed", free >> 20, needed >> 20))
        }
        _ => Ok(()),
    }
}

/// Returns the free bytes of a disk, from df.
fn free_bytes(table: &str) -> Option<u64> {
    let blocks: u64 = table.lines().nth(1)?.split_whitespace().nth(3)?.parse().ok()?;
    Some(blocks * 1024)
}

/// Checks that no contestant failed, and that Zarrox met the requirement.
fn judge(rows: &[Row], require: Option<Requirement>) -> Outcome {
    let failures = rows.iter().flat_map(|row| {
        let place = format!("{} in {}", row.case, row.language.title());
        row.failures().map(move |(name, message)| format!("{place}: {name}: {message}"))
    });
    let within = |row: &&Row| match require {
        None => true,
        Some(Requirement::Ratio(ratio)) => row.is_within(ratio),
        Some(Requirement::Targets) => row.meets_targets(),
    };
    let slow = rows.iter().filter(|row| !within(row)).map(report::line);
    let problems: Vec<String> = failures.chain(slow).collect();
    if problems.is_empty() {
        Ok(())
    } else {
        Err(format!("requirements are not met:\n{}", problems.join("\n")))
    }
}

impl Options {
    fn parse(arguments: &[String]) -> Outcome<Self> {
        let mut options = Self {
            scale: Scale::Small,
            cases: Vec::new(),
            languages: Vec::new(),
            repetitions: None,
            is_quick: false,
            threads: None,
            keeps_data: false,
            require: None,
            only_lists: false,
        };
        let mut rest = arguments.iter().map(String::as_str);
        while let Some(argument) = rest.next() {
            let mut value = || rest.next().ok_or_else(|| format!("{argument} needs a value"));
            match argument {
                "--scale" => options.scale = scale(value()?)?,
                "--case" => options.cases.push(value()?.to_owned()),
                "--language" => options.languages.push(Language::from_name(value()?)?),
                "--repetitions" => options.repetitions = Some(count(value()?)?),
                "--threads" => options.threads = Some(count(value()?)?),
                "--require" => options.require = Some(requirement(value()?)?),
                "--quick" => options.is_quick = true,
                "--keep" => options.keeps_data = true,
                "--list" => options.only_lists = true,
                _ => return Err(format!("unknown option '{argument}' of bench --peers")),
            }
        }
        if options.languages.is_empty() {
            options.languages = Language::ALL.to_vec();
        }
        Ok(options)
    }

    fn protocol(&self) -> Protocol {
        let (rounds, processes) = if self.is_quick { (2, 1) } else { (5, 3) };
        Protocol {
            rounds: self.repetitions.unwrap_or(rounds),
            processes,
            threads: self.threads.unwrap_or_else(|| available_parallelism().map_or(1, usize::from)),
        }
    }

    /// Returns the directory of the data sets.
    fn data(&self) -> std::path::PathBuf {
        Path::new(DATA).join(self.scale.name())
    }
}

fn scale(name: &str) -> Outcome<Scale> {
    let found = [Scale::Small, Scale::Full].into_iter().find(|scale| scale.name() == name);
    found.ok_or_else(|| format!("unknown scale '{name}'; expected 'small' or 'full'"))
}

fn count(text: &str) -> Outcome<usize> {
    text.parse().ok().filter(|count| *count > 0).ok_or_else(|| format!("'{text}' is not a positive number"))
}

fn requirement(text: &str) -> Outcome<Requirement> {
    if text == "targets" {
        return Ok(Requirement::Targets);
    }
    text.parse().map(Requirement::Ratio).map_err(|_| format!("'{text}' is neither a ratio nor 'targets'"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contestants::OURSELVES;
    use crate::measure::Absence;
    use crate::measure::tests::{absent, entry, row};

    fn parse(arguments: &str) -> Outcome<Options> {
        Options::parse(&arguments.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn options_are_read() {
        let options = parse("--scale full --case a --case b/c --language rust --require 0.5 --keep").unwrap();
        assert_eq!(options.scale, Scale::Full);
        assert_eq!(options.cases, ["a", "b/c"]);
        assert_eq!(options.languages, [Language::Rust]);
        assert_eq!(options.require, Some(Requirement::Ratio(0.5)));
        assert!(options.keeps_data && !options.is_quick);
        let defaults = parse("").unwrap();
        assert_eq!(defaults.languages, Language::ALL);
        assert_eq!((defaults.protocol().rounds, defaults.protocol().processes), (5, 3));
        let quick = parse("--quick --repetitions 7 --require targets").unwrap();
        assert_eq!((quick.protocol().rounds, quick.protocol().processes), (7, 1));
        assert_eq!(quick.require, Some(Requirement::Targets));
        for wrong in ["--scale", "--scale huge", "--repetitions 0", "--require fast", "--language c", "x"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_whole_name_is_that_case_alone_and_a_part_is_all_that_have_it() {
        let all = cases::all(Plan { scale: Scale::Small, threads: 2 });
        let names = |name: &str| {
            let cases = chosen(&all, &[name.to_owned()]);
            cases.map(|cases| cases.iter().map(|case| case.name.clone()).collect::<Vec<_>>())
        };
        assert_eq!(names("public/raw/by-chunk").unwrap(), ["public/raw/by-chunk"]);
        assert_eq!(names("raw/by-chunk").unwrap(), ["public/raw/by-chunk", "public/raw/by-chunk-parallel"]);
        assert!(names("nothing").is_err());
        assert_eq!(chosen(&all, &[]).unwrap().len(), all.len());
    }

    #[test]
    fn free_space_is_found_in_what_df_says() {
        let table = "Filesystem 1024-blocks Used Available Capacity Mounted on\n/dev/a 10 7 3 70% /\n";
        assert_eq!(free_bytes(table), Some(3072));
        assert_eq!(free_bytes(""), None);
    }

    #[test]
    fn every_row_that_is_too_slow_is_named() {
        let fast = row("fast", Language::Rust, &[entry(OURSELVES, &[1.0]), entry("zarrs", &[2.0])]);
        let slow = row("slow", Language::Rust, &[entry(OURSELVES, &[1.0]), entry("zarrs", &[1.2])]);
        let rows = [fast, slow];
        assert_eq!(judge(&rows, None), Ok(()));
        assert_eq!(judge(&rows, Some(Requirement::Ratio(0.9))), Ok(()));
        for requirement in [Requirement::Ratio(0.6), Requirement::Targets] {
            let message = judge(&rows, Some(requirement)).unwrap_err();
            assert!(message.contains("slow") && !message.contains("fast "), "{message}");
        }
        let failed = absent("zarrs", Absence::Failed("no such codec".to_owned()));
        let message = judge(&[row("a", Language::Rust, &[entry(OURSELVES, &[1.0]), failed])], None);
        assert!(message.unwrap_err().contains("a in Rust: zarrs: no such codec"));
    }
}
