//! `cargo xtask model`.

use zarrox_runner::run::{self, Outcome, cargo};

pub(crate) const HELP: &str = "\
Runs the locks of stores, the semaphore, and the caches in many thread schedules, with a model checker

    model [NAME …] [OPTION …]

    --schedules N        the number of schedules of each model [default: 10000]; long runs have 1000000
    --replay SCHEDULE    the schedule that an earlier run printed, for a single named model

With names, only these models: parts of their names are enough. A model is a test in a module `model` of zarrox-stores or
zarrox-databases, which is only compiled with `--cfg model`: then crates/zarrox-stores/src/sync.rs provides the locks of
shuttle, which chooses the next thread at random at each step. A panic and a deadlock are failures, and their schedule is printed.";

/// The features of the models: stores with caches, and a database that a process opens only once.
const FEATURES: &str = "zarrox-stores/cache,zarrox-databases/redb";

const SCHEDULES: u32 = 10_000;

/// The options of the command line.
#[derive(Debug, PartialEq)]
struct Options {
    names: Vec<String>,
    schedules: u32,
    replay: Option<String>,
}

pub(crate) fn run(arguments: &[String]) -> Outcome {
    let options = parse(arguments)?;
    let test = cargo(["test", "--package", "zarrox-stores", "--package", "zarrox-databases", "--lib"])
        .with(["--features", FEATURES])
        .with(["--target-dir", &run::target("model")])
        .variable("RUSTFLAGS", "--cfg model")
        .variable("ZARROX_MODEL_SCHEDULES", &options.schedules.to_string());
    let test = match &options.replay {
        Some(schedule) => test.variable("ZARROX_MODEL_REPLAY", schedule),
        None => test,
    };
    let names = if options.names.is_empty() { vec!["::model::".to_owned()] } else { options.names };
    // Other tests need real threads.
    test.with(["--", "--skip", "::tests::"]).with(names).run()
}

fn parse(arguments: &[String]) -> Outcome<Options> {
    let mut options = Options { names: Vec::new(), schedules: SCHEDULES, replay: None };
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--schedules" => {
                let number = arguments.next().and_then(|number| number.parse().ok());
                options.schedules = number.ok_or("--schedules requires an integer")?;
            }
            "--replay" => {
                let schedule = arguments.next().ok_or("--replay needs a schedule")?;
                options.replay = Some(schedule.clone());
            }
            option if option.starts_with('-') => return Err(format!("unknown option '{option}'")),
            name => options.names.push(name.to_owned()),
        }
    }
    if options.replay.is_some() && options.names.len() != 1 {
        return Err("--replay requires the name of a single model".to_owned());
    }
    Ok(options)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_may_be_anywhere_and_a_schedule_belongs_to_one_model() {
        let parse = |line: &str| parse(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>());
        let options = |names: &[&str], schedules, replay: Option<&str>| Options {
            names: names.iter().map(|&name| name.to_owned()).collect(),
            schedules,
            replay: replay.map(str::to_owned),
        };
        assert_eq!(parse("").unwrap(), options(&[], SCHEDULES, None));
        assert_eq!(parse("lock --schedules 7 fork").unwrap(), options(&["lock", "fork"], 7, None));
        assert_eq!(parse("--replay 9102 lock").unwrap(), options(&["lock"], SCHEDULES, Some("9102")));
        assert!(
            ["--replay 9102", "--replay", "--schedules x", "--seed 1"]
                .iter()
                .all(|line| parse(line).is_err())
        );
    }
}
