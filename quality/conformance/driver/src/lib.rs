//! `cargo xtask conformance`: exchanges arrays with the other implementations, and runs their own tests with our parts.

#![expect(clippy::print_stdout, reason = "it is a library of command-line programs")]

mod archives;
pub mod databases;
mod files;
pub mod indexing;
pub mod pipelines;
mod references;
mod serve;
mod zarrs;

use std::collections::BTreeMap;
use std::time::Instant;

use serde_json::{Map, Value, json};

use self::indexing::Pythons;
use zarrox_runner::debian::Missing;
use zarrox_runner::node;
use zarrox_runner::python::Environment;
use zarrox_runner::run::{self, Outcome, Program, program};

/// The help of the command.
pub const HELP: &str = "\
Exchanges arrays with zarr-python 3, zarr-python 2, TensorStore and zarrs, in both directions

With names of implementations (zarr3, zarr2, tensorstore, zarrs), only with these. The arrays are designed by
quality/conformance/matrix.py; quality/conformance/rules.py lists what an implementation does not support. The first run creates virtual
environments below target/venvs, and builds zarrs below target/zarrs. The results are in target/conformance/results.json.

Then selections are compared with NumPy's and zarr-python's: random ones of quality/conformance/indexing.py, with a fixed seed or that
of --seed N. With the name `indexing`, only these are run, and replace those of the last results.

Last, zip archives are exchanged with both zarr-pythons, and tested by Python's zipfile and by unzip, which must be installed: the
part `archives`. Hierarchies in directories, SQLite, LMDB and GDBM are exchanged with zarr-python 2: the part
`databases`; those on servers belong to `cargo xtask test --stores`. HDF5 and NetCDF files are read through kerchunk's
references: the part `references`. Imports and exports of the command are compared with other programs: the part `files`. All
files of the packages in quality/conformance/files/corpus are tested only by the part `corpus`, which downloads them and takes long.
zarr-python, TensorStore and zarrita.js read from `zarrox serve`: the part `serve`.";

/// The directory of all output.
const DIRECTORY: &str = "target/conformance";
/// The results of the last run.
pub const RESULTS: &str = "target/conformance/results.json";
const OURSELVES: &str = "zarrox";
/// The name of the part about selections.
pub const INDEXING: &str = "indexing";
/// The name of the part about zip archives.
const ARCHIVES: &str = "archives";
/// The name of the part about databases.
const DATABASES: &str = "databases";
/// The name of the part about references.
const REFERENCES: &str = "references";
/// The name of the part about the server.
const SERVE: &str = "serve";
/// The name of the part about files of other formats.
const FILES: &str = "files";
/// The name of the part about all files that packages contain. This part runs only on request.
const CORPUS: &str = "corpus";
/// zarrs is a Rust library: its program is built here, and a Python program drives it like the others.
const ZARRS: &str = "zarrs";

/// Another implementation: its name in the matrix, and its environment.
struct Implementation {
    name: &'static str,
    environment: Environment,
}

impl Implementation {
    const fn new(
        name: &'static str,
        key: &'static str,
        highest: (u32, u32),
        requirements: &'static str,
    ) -> Self {
        let requirements = Some(requirements);
        Self { name, environment: Environment { name: key, lowest: (3, 11), highest, requirements } }
    }
}

const IMPLEMENTATIONS: &[Implementation] = &[
    Implementation::new("zarr-python 3", "zarr3", (3, 14), "quality/conformance/requirements/zarr3.txt"),
    // The last release of numcodecs that zarr-python 2 supports runs on Python 3.13.
    Implementation::new("zarr-python 2", "zarr2", (3, 13), "quality/conformance/requirements/zarr2.txt"),
    Implementation::new(
        "tensorstore",
        "tensorstore",
        (3, 14),
        "quality/conformance/requirements/tensorstore.txt",
    ),
    Implementation::new(ZARRS, "zarrs", (3, 13), "quality/conformance/requirements/zarrs.txt"),
];

/// Runs the parts in the arguments, or all.
///
/// # Errors
/// When not all cells pass, or a program fails.
pub fn run(arguments: &[String]) -> Outcome {
    let start = Instant::now();
    let (names, seed) = indexing::take_seed(arguments)?;
    let key = |implementation: &Implementation| implementation.environment.name;
    if names == [ARCHIVES] {
        return archives::run(&pythons()?, &built()?);
    }
    if names == [DATABASES] {
        return databases::run(&built()?);
    }
    if names == [REFERENCES] {
        return references::run(&built()?);
    }
    if names == [SERVE] {
        return serve::run();
    }
    if names == [FILES] {
        return files::run();
    }
    if names == [CORPUS] {
        return files::corpus();
    }
    let is_known = |name: &str| name == INDEXING || IMPLEMENTATIONS.iter().any(|i| key(i) == name);
    if let Some(unknown) = names.iter().find(|name| !is_known(name)) {
        return Err(format!("unknown implementation '{unknown}'"));
    }
    built()?;
    let only_indexing = names == [INDEXING];
    let chosen = if only_indexing { Vec::new() } else { participants(&names)? };
    let others = Others::chosen(&names, seed)?;
    if !only_indexing {
        run::empty_directory(DIRECTORY)?;
    }
    // One implementation is slower than all others together: other parts run in the meantime.
    let (results, outcome) = std::thread::scope(|scope| {
        let others = scope.spawn(|| others.as_ref().map(Others::run).transpose());
        let results = match only_indexing {
            // Parts that are not run keep their earlier results.
            true => Ok(run::read(RESULTS).and_then(|text| parse(&text)).unwrap_or_else(|_| json!({}))),
            false => exchanged(&chosen),
        };
        (results, others.join().unwrap_or_else(|_| Err("a thread panicked".to_owned())))
    });
    let (mut results, outcome) = (results?, outcome?);
    let mut failed = if only_indexing { Vec::new() } else { failures(&results) };
    let mut passed = if only_indexing { 0 } else { all_passed(&results) };
    if let Some(outcome) = outcome {
        println!("\n{}", indexing::table(&outcome));
        failed.extend(indexing::failures(&outcome));
        passed += indexing::passed(&outcome);
        results[INDEXING] = outcome;
    }
    failed.iter().for_each(|line| println!("{line}"));
    if names.is_empty() || only_indexing {
        run::write(RESULTS, &format!("{results:#}\n"))?;
        println!("written: {RESULTS}; `cargo xtask docs` copies it to docs/conformance.md");
    }
    println!("{} seconds", start.elapsed().as_secs());
    println!("{passed} passed, {} failed", failed.len());
    if failed.is_empty() { Ok(()) } else { Err("not all cells passed".to_owned()) }
}

/// Returns the missing packages that the exchange needs.
pub fn missing() -> Vec<Missing> {
    node::missing().into_iter().chain(files::missing()).chain(databases::missing()).collect()
}

/// Returns the Pythons that the part about selections needs.
fn pythons() -> Outcome<Pythons> {
    let python = |name: &str| {
        let found = IMPLEMENTATIONS.iter().find(|implementation| implementation.environment.name == name);
        found.ok_or_else(|| format!("unknown implementation {name}"))?.environment.python()
    };
    Ok(Pythons { zarr3: python("zarr3")?, zarr2: python("zarr2")? })
}

/// The parts that do not depend on the exchange of arrays.
struct Others {
    seed: u64,
    pythons: Pythons,
    /// True if more than selections was requested.
    all: bool,
}

impl Others {
    /// Returns the parts with these names; `None` for no part.
    fn chosen(names: &[String], seed: u64) -> Outcome<Option<Self>> {
        let all = names.is_empty();
        let wanted = all || names.iter().any(|name| name == INDEXING);
        wanted.then(|| Ok(Self { seed, pythons: pythons()?, all })).transpose()
    }

    /// Runs the requested parts, and returns the results of the selections.
    fn run(&self) -> Outcome<Value> {
        let outcome = indexing::run(self.seed, &self.pythons, &ourselves())?;
        if self.all {
            archives::run(&self.pythons, &ourselves())?;
            databases::run(&ourselves())?;
            references::run(&ourselves())?;
            serve::run()?;
            files::run()?;
        }
        Ok(outcome)
    }
}

/// Returns the named implementations, or all of them.
fn participants(names: &[String]) -> Outcome<Vec<Participant>> {
    let is_chosen = |name: &str| names.is_empty() || names.iter().any(|chosen| chosen == name);
    let chosen = IMPLEMENTATIONS.iter().filter(|implementation| is_chosen(implementation.environment.name));
    chosen.map(Participant::prepare).collect()
}

/// Exchanges arrays with these implementations.
fn exchanged(participants: &[Participant]) -> Outcome<Value> {
    let matrix = format!("{DIRECTORY}/matrix.json");
    let python = &participants.first().ok_or("no implementation was chosen")?.python;
    let codecs = format!("{DIRECTORY}/codecs.json");
    ourselves().with(["codecs", &codecs]).run()?;
    script(python, "matrix.py").with([&matrix, &codecs]).run()?;

    let exchanges: Vec<Exchange> = exchange_all(participants, &matrix)?;
    let results = results(&exchanges, &run::read(&matrix)?)?;
    println!("\n{}", table(&results));
    Ok(results)
}

/// Everything that was exchanged with one implementation.
struct Exchange {
    versions: Value,
    directions: Vec<Direction>,
}

/// The results of one implementation on the arrays that others wrote for it.
struct Direction {
    writer: String,
    updater: Option<String>,
    reader: String,
    /// An error, or `None`, for each cell.
    outcomes: BTreeMap<String, Option<String>>,
}

impl Direction {
    fn passed(&self) -> u64 {
        self.outcomes.values().filter(|error| error.is_none()).count() as u64
    }
}

/// An implementation that is ready to run.
struct Participant {
    implementation: &'static Implementation,
    python: String,
}

impl Participant {
    /// Creates the environment.
    fn prepare(implementation: &'static Implementation) -> Outcome<Self> {
        Ok(Self { implementation, python: implementation.environment.python()? })
    }

    /// Returns the program of the implementation, which is built if necessary.
    fn program(&self) -> Outcome<Program> {
        let name = format!("run_{}.py", self.implementation.environment.name);
        let program = script(&self.python, &name).variable("PYTHONDONTWRITEBYTECODE", "1");
        if self.implementation.name == ZARRS {
            return Ok(program.variable("ZARRS_PROGRAM", &zarrs::build(&self.python)?));
        }
        Ok(program)
    }
}

/// Returns our own program, built from the current sources.
///
/// # Errors
/// When the program cannot be built.
pub fn built() -> Outcome<Program> {
    run::example("conformance")
}

/// Returns our own program.
fn ourselves() -> Program {
    program::<&str>(run::built("debug/examples/conformance"), [])
}

/// Exchanges arrays with all implementations in parallel.
fn exchange_all(participants: &[Participant], matrix: &str) -> Outcome<Vec<Exchange>> {
    std::thread::scope(|scope| {
        let start = |participant| scope.spawn(move || exchange(participant, matrix));
        let threads: Vec<_> = participants.iter().map(start).collect();
        threads.into_iter().map(|thread| thread.join().map_err(|_| "a thread panicked")?).collect()
    })
}

/// Exchanges arrays in both directions; then each side changes the other's arrays, and the writer reads them again.
fn exchange(participant: &Participant, matrix: &str) -> Outcome<Exchange> {
    let implementation = participant.implementation;
    let (them, key) = (implementation.name, implementation.environment.name);
    let theirs = Place { directory: format!("{DIRECTORY}/{key}"), matrix };
    let ours = Place { directory: format!("{DIRECTORY}/zarrox-for-{key}"), matrix };
    let (other, zarrox) = (&participant.program()?, &ourselves());

    let their_writes = theirs.act(other, "write", &[])?;
    let our_writes = ours.act(zarrox, "write", &["--for", them])?;
    let our_reads = theirs.act(zarrox, "read", &["--by", them])?;
    let their_reads = ours.act(other, "read", &["--by", OURSELVES, "--for", them])?;
    let our_updates = theirs.act(zarrox, "update", &["--by", them])?;
    let their_updates = ours.act(other, "update", &["--by", OURSELVES, "--for", them])?;
    let their_last = theirs.act(other, "read", &["--updated", OURSELVES])?;
    let our_last = ours.act(zarrox, "read", &["--updated", them, "--for", them])?;

    let versions = json!({ them: their_writes.versions, OURSELVES: our_writes.versions });
    let direction = |writer: &str, updater: Option<&str>, reader: &str, reports: &[&Report]| Direction {
        writer: writer.to_owned(),
        updater: updater.map(str::to_owned),
        reader: reader.to_owned(),
        outcomes: first_errors(reports),
    };
    let directions = vec![
        direction(them, None, OURSELVES, &[&our_reads, &their_writes]),
        direction(OURSELVES, None, them, &[&their_reads, &our_writes]),
        direction(them, Some(OURSELVES), them, &[&their_last, &our_updates]),
        direction(OURSELVES, Some(them), OURSELVES, &[&our_last, &their_updates]),
    ];
    Ok(Exchange { versions, directions })
}

fn merged(a: &Value, b: &Value) -> Value {
    let members = [a, b].into_iter().filter_map(Value::as_object).flatten();
    Value::Object(members.map(|(name, version)| (name.clone(), version.clone())).collect())
}

/// Returns a program in the directory `conformance`.
fn script(python: &str, name: &str) -> Program {
    program(python, ["-B".to_owned(), format!("quality/conformance/{name}")])
}

/// A directory with cells.
struct Place<'a> {
    directory: String,
    matrix: &'a str,
}

/// A program's report about its cells.
struct Report {
    versions: Value,
    outcomes: BTreeMap<String, Option<String>>,
}

impl Place<'_> {
    fn act(&self, participant: &Program, action: &str, flags: &[&str]) -> Outcome<Report> {
        let updated = if flags.contains(&"--updated") { "-updated" } else { "" };
        let report = format!("{}-{action}{updated}.json", self.directory);
        let arguments = [action, self.matrix, &self.directory, &report];
        participant.clone().with(arguments).with(flags.iter().copied()).run()?;
        let json = parse(&run::read(&report)?)?;
        let outcomes = json["outcomes"].as_object().ok_or_else(|| format!("{report}: no outcomes"))?;
        let outcomes =
            outcomes.iter().map(|(id, error)| (id.clone(), error.as_str().map(str::to_owned))).collect();
        Ok(Report { versions: json["versions"].clone(), outcomes })
    }
}

/// Returns the cells of the first report, with the error of any report: an error in writing explains the error in reading.
fn first_errors(reports: &[&Report]) -> BTreeMap<String, Option<String>> {
    let mut outcomes = BTreeMap::new();
    for (id, error) in reports.iter().flat_map(|report| &report.outcomes) {
        if error.is_some() || reports[0].outcomes.contains_key(id) {
            let outcome = outcomes.entry(id.clone()).or_insert(None);
            *outcome = error.clone().or(outcome.take());
        }
    }
    outcomes
}

fn parse(text: &str) -> Outcome<Value> {
    serde_json::from_str(text).map_err(|error| error.to_string())
}

fn results(exchanges: &[Exchange], matrix: &str) -> Outcome<Value> {
    let versions = exchanges.iter().fold(json!({}), |all, exchange| merged(&all, &exchange.versions));
    let directions = exchanges.iter().flat_map(|exchange| &exchange.directions).map(|direction| {
        let failures =
            direction.outcomes.iter().filter_map(|(id, error)| Some((id.clone(), json!(error.as_ref()?))));
        json!({
            "writer": direction.writer,
            "updater": direction.updater,
            "reader": direction.reader,
            "cells": direction.outcomes.len(),
            "passed": direction.passed(),
            "failures": failures.collect::<Map<_, _>>(),
        })
    });
    let directions: Vec<_> = directions.collect();
    Ok(json!({ "versions": versions, "directions": directions, "not_applicable": not_applicable(matrix)? }))
}

/// Returns the cells that each implementation skips: their number, and the reasons.
fn not_applicable(matrix: &str) -> Outcome<Vec<Value>> {
    let mut counts: BTreeMap<(String, String), BTreeMap<String, u64>> = BTreeMap::new();
    for cell in parse(matrix)?.as_array().into_iter().flatten() {
        for (implementation, actions) in cell["not_applicable"].as_object().into_iter().flatten() {
            for (action, reason) in actions.as_object().into_iter().flatten() {
                let reason = reason.as_str().unwrap_or_default().to_owned();
                let actions = counts.entry((implementation.clone(), reason)).or_default();
                *actions.entry(action.clone()).or_default() += 1;
            }
        }
    }
    let row = |((implementation, reason), actions)| json!({ "implementation": implementation, "reason": reason, "cells": actions });
    Ok(counts.into_iter().map(row).collect())
}

/// Returns the directions as a text table.
fn table(results: &Value) -> String {
    let mut lines =
        vec![format!("{:<52} {:>6} {:>6} {:>6}", "written → [updated →] read", "cells", "passed", "failed")];
    for direction in results["directions"].as_array().into_iter().flatten() {
        let (cells, passed) = counts(direction);
        let way = way(direction);
        lines.push(format!("{way:<52} {cells:>6} {passed:>6} {:>6}", cells - passed));
    }
    lines.join("\n") + "\n"
}

/// Returns the implementations that an array passes through.
pub fn way(direction: &Value) -> String {
    let names = ["writer", "updater", "reader"].iter().filter_map(|role| direction[role].as_str());
    names.collect::<Vec<_>>().join(" → ")
}

/// Returns the number of cells of a direction, and of the cells that passed.
pub fn counts(direction: &Value) -> (u64, u64) {
    let count = |member: &str| direction[member].as_u64().unwrap_or_default();
    (count("cells"), count("passed"))
}

/// Returns the cells that passed in all directions.
fn all_passed(results: &Value) -> u64 {
    results["directions"].as_array().into_iter().flatten().map(|direction| counts(direction).1).sum()
}

fn failures(results: &Value) -> Vec<String> {
    let directions = results["directions"].as_array().into_iter().flatten();
    let lines = directions.flat_map(|direction| {
        let failures = direction["failures"].as_object().into_iter().flatten();
        failures.map(move |(id, error)| {
            format!("FAILED {} {id}: {}", way(direction), error.as_str().unwrap_or_default())
        })
    });
    lines.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(outcomes: &[(&str, Option<&str>)]) -> Report {
        let outcomes =
            outcomes.iter().map(|(id, error)| ((*id).to_owned(), error.map(str::to_owned))).collect();
        Report { versions: Value::Null, outcomes }
    }

    #[test]
    fn a_cell_that_could_not_be_written_fails_with_the_writers_error() {
        let reads = report(&[("a", None), ("b", Some("not found"))]);
        let writes = report(&[("a", None), ("b", Some("unknown codec")), ("c", None), ("d", Some("no"))]);
        let outcomes = first_errors(&[&reads, &writes]);
        assert_eq!(outcomes["a"], None);
        assert_eq!(outcomes["b"].as_deref(), Some("unknown codec"));
        assert!(!outcomes.contains_key("c"), "no implementation should read it");
        assert_eq!(outcomes["d"].as_deref(), Some("no"));
    }
}
