//! The part of `cargo xtask conformance` about selections: random cases with NumPy's results, for Zarrox and both zarr-pythons.

use serde_json::{Value, json};

use zarrox_runner::run::{self, Outcome, Program, program};

/// The directory of all output.
const DIRECTORY: &str = "target/conformance/indexing";
/// The number of cases for Zarrox, and the number of cases for each zarr-python.
const CASES: usize = 50_000;
const CASES_OF_PEERS: usize = 4_000;

/// The Pythons of zarr-python 3 and 2.
pub(crate) struct Pythons {
    pub(crate) zarr3: String,
    pub(crate) zarr2: String,
}

/// The default seed of the cases, so that a run is reproducible and no change fails by chance.
const SEED: u64 = 1;

/// Removes the option `--seed N` from the arguments and returns its value.
pub(crate) fn take_seed(arguments: &[String]) -> Outcome<(Vec<String>, u64)> {
    let mut rest = arguments.to_vec();
    let Some(at) = rest.iter().position(|argument| argument == "--seed") else {
        return Ok((rest, SEED));
    };
    let seed = rest.get(at + 1).and_then(|seed| seed.parse().ok()).ok_or("--seed needs a number")?;
    rest.drain(at..at + 2);
    Ok((rest, seed))
}

/// Runs all cases of a seed, and returns the section "indexing" of the results.
pub(crate) fn run(seed: u64, pythons: &Pythons, ourselves: &Program) -> Outcome<Value> {
    run::empty_directory(DIRECTORY)?;
    let cases = format!("{DIRECTORY}/cases.jsonl");
    let script = |python: &str, name: &str| program(python, ["-B", "-W", "ignore", name]);
    let maker = script(&pythons.zarr3, "quality/conformance/indexing.py");
    maker.with([seed.to_string(), CASES.to_string(), cases.clone()]).run()?;

    let most = CASES_OF_PEERS.to_string();
    let peer = |python: &str| script(python, "quality/conformance/indexing_zarr.py");
    let runs = [
        ("zarrox", ourselves.clone().with(["indexing"]), None),
        ("zarr-python 3", peer(&pythons.zarr3), Some(&most)),
        ("zarr-python 2", peer(&pythons.zarr2), Some(&most)),
    ];
    let participants: Vec<Value> = std::thread::scope(|scope| {
        let start = |(number, (name, program, most)): (usize, (&'static str, Program, Option<&String>))| {
            let report = format!("{DIRECTORY}/{number}.json");
            let program = program.with([&cases, &report]).with(most);
            scope.spawn(move || participant(name, &program, &report))
        };
        let threads: Vec<_> = runs.into_iter().enumerate().map(start).collect();
        threads
            .into_iter()
            .map(|thread| thread.join().map_err(|_| "a thread panicked")?)
            .collect::<Outcome<_>>()
    })?;
    Ok(json!({ "seed": seed, "participants": participants }))
}

/// Returns a program's report, with its name.
fn participant(name: &str, program: &Program, report: &str) -> Outcome<Value> {
    program.run()?;
    let mut result: Value =
        serde_json::from_str(&run::read(report)?).map_err(|error| format!("{report}: {error}"))?;
    result["name"] = name.into();
    Ok(result)
}

/// Returns the number of cases of all participants with NumPy's results.
pub(crate) fn passed(results: &Value) -> u64 {
    participants(results).filter_map(|participant| participant["same"].as_u64()).sum()
}

pub(crate) fn failures(results: &Value) -> Vec<String> {
    let lines = participants(results).flat_map(|participant| {
        let name = participant["name"].as_str().unwrap_or_default();
        let failures = participant["failures"].as_array().into_iter().flatten();
        failures
            .map(move |failure| format!("FAILED indexing, {name}: {}", failure.as_str().unwrap_or_default()))
    });
    lines.collect()
}

/// Returns the results as a text table.
pub(crate) fn table(results: &Value) -> String {
    let mut lines =
        vec![format!("{:<45} {:>6} {:>6} {:>6} {:>6}", "indexing", "cases", "same", "rules", "failed")];
    for participant in participants(results) {
        let Row { name, cases, same, explained, failed } = Row::of(participant);
        lines.push(format!("{name:<45} {cases:>6} {same:>6} {explained:>6} {failed:>6}"));
    }
    lines.push(format!("repeat with --seed {}", results["seed"]));
    lines.join("\n") + "\n"
}

/// Returns the section of docs/conformance.md.
pub fn section(results: &Value) -> String {
    let mut page = INTRODUCTION.to_owned();
    let numpy = participants(results).find_map(|participant| participant["versions"]["numpy"].as_str());
    page += &format!("The outcomes are from NumPy {}.\n\n", numpy.unwrap_or("?"));
    page += "| | cases | as NumPy | by a rule | failed |\n|---|---:|---:|---:|---:|\n";
    for participant in participants(results) {
        let Row { name, cases, same, explained, failed } = Row::of(participant);
        page += &format!("| {name} | {cases} | {same} | {explained} | {failed} |\n");
    }
    page += "\n| implementation | what it does | cases |\n|---|---|---:|\n";
    for participant in participants(results) {
        let name = participant["name"].as_str().unwrap_or_default();
        for (rule, count) in participant["explained"].as_object().into_iter().flatten() {
            page += &format!("| {name} | {rule} | {count} |\n");
        }
    }
    page
}

const INTRODUCTION: &str = "\n## Indexing

The cases are random selections of every kind, valid and invalid, for reading and for writing. Each case has the outcome of NumPy: the elements that
were read, the whole array after a write, or an error with the axis and the value. Zarrox runs all cases, on chunks and shards of random shapes.
zarr-python 2 and 3 run a part of the cases. Rules ([`quality/conformance/indexing_zarr.py`](../quality/conformance/indexing_zarr.py)) explain
their differences from NumPy.

";

/// The counts of one participant.
struct Row<'a> {
    name: &'a str,
    cases: u64,
    same: u64,
    explained: u64,
    failed: usize,
}

impl<'a> Row<'a> {
    fn of(participant: &'a Value) -> Self {
        let count = |member: &str| participant[member].as_u64().unwrap_or_default();
        let explained = participant["explained"].as_object().into_iter().flatten();
        Self {
            name: participant["name"].as_str().unwrap_or_default(),
            cases: count("cases"),
            same: count("same"),
            explained: explained.filter_map(|(_, count)| count.as_u64()).sum(),
            failed: participant["failures"].as_array().map_or(0, Vec::len),
        }
    }
}

fn participants(results: &Value) -> impl Iterator<Item = &Value> {
    results["participants"].as_array().into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_is_taken_from_anywhere() {
        let arguments = ["zarr3", "--seed", "7", "zarr2"].map(str::to_owned);
        assert_eq!(take_seed(&arguments), Ok((vec!["zarr3".to_owned(), "zarr2".to_owned()], 7)));
        assert!(take_seed(&["--seed".to_owned()]).is_err());
        assert!(take_seed(&["--seed".to_owned(), "x".to_owned()]).is_err());
    }

    #[test]
    fn results_are_counted() {
        let results = json!({ "seed": 1, "participants": [
            { "name": "a", "cases": 4, "same": 1, "explained": { "has no x": 2 }, "failures": ["differs"] },
        ] });
        assert_eq!(passed(&results), 1);
        assert_eq!(failures(&results), ["FAILED indexing, a: differs"]);
        assert!(section(&results).contains("| a | 4 | 1 | 2 | 1 |"));
        assert!(section(&results).contains("| a | has no x | 2 |"));
    }
}
