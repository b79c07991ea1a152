//! `cargo xtask torture`.

use zarrox_runner::python::Environment;
use zarrox_runner::run::{self, Outcome, Program, cargo, program};
use zarrox_servers as servers;

pub(crate) const HELP: &str = "\
Runs processes that write into one hierarchy concurrently and are killed; nothing may be lost, torn or left behind

    torture [OPTION …]

    --store NAME      only this store: directory, sqlite, lmdb, redb, zip, s3 or redis; may be repeated
    --kills N         the number of processes killed at random moments for each store [default: 50]; long runs have 1000
    --seed N          repeats the plan of an earlier run, which printed its seed
    --only-kills      without the four concurrent writers
    --only-writers    without the kills at random moments
    --peers           also zarr-python 3 and TensorStore, in a directory
    --write-docs      writes the table into docs/safety.md
    --simulate N      instead: N simulated runs, see below
    --seconds N       instead: simulated runs for N seconds
    --without NAMES   simulated runs without the operations, faults or stores with these names, separated by commas
    --allocations     instead: operations with failing allocations, one at a time; none may abort
    --only-count      only counts failing simulated runs by their reasons, without shrinking them

After every kill the hierarchy is checked: each chunk has values that were written as a whole, each document is one that was
written, everything can be read, the repeated command completes the interrupted one, and nothing is left behind. Four
concurrent writers, with and without kills, write blocks of 25³ into chunks and shards of 50³, append, set attributes and create nodes.
Each simulated run has its own seed; the next run has the next seed. Up to four tasks write, append, resize, create, delete, copy, move,
rechunk, reshard, convert, repair and consolidate over a store in memory, one at a time. At each call of the store the seed determines whether
another task runs, the call fails, a process is killed, the machine crashes and loses unflushed data, or the clock changes.
A failing run is shrunk and printed, step by step. Names for --without are those of operations (write, stale-read, append,
append-dataset, resize, create, remove, copy, downsample, attributes, consolidate, repair, mv, mv-across, rechunk, reshard, convert, rm,
rm-create), fail, kill, crash, clock, directory, database and bucket. Operations that replace a node run alone in a bucket and within one process in
a database: see docs/safety.md.

Hierarchies and results are in target/torture: results.json, table.md. A hierarchy with a fault stays there.";

/// The page with the table.
const PAGE: &str = "docs/safety.md";
/// The lines around the table.
const MARKERS: [&str; 2] =
    ["<!-- torture: written by `cargo xtask torture --peers --write-docs` -->", "<!-- /torture -->"];
/// The stores that need servers.
const SERVERS: [&str; 2] = ["s3", "redis"];

const ENVIRONMENT: Environment = Environment {
    name: "torture",
    lowest: (3, 12),
    highest: (3, 14),
    requirements: Some("quality/torture/requirements.txt"),
};

pub(crate) fn run(arguments: &[String]) -> Outcome {
    let is_flag = |argument: &&String| ["--peers", "--write-docs"].contains(&argument.as_str());
    let (flags, rest): (Vec<&String>, Vec<&String>) = arguments.iter().partition(is_flag);
    let has = |name: &str| flags.iter().any(|flag| *flag == name);
    // Built with all crates and features, so that the build is shared with the tests.
    cargo(["build", "--quiet", "--workspace", "--all-features", "--bin", "zarrox-torture"]).run()?;
    let mut torture: Program = program(run::built("debug/zarrox-torture"), rest);
    if has("--peers") {
        torture = torture.with(["--python", &ENVIRONMENT.python()?]);
    }
    let stores: Vec<&str> = named(arguments);
    if ["--simulate", "--seconds", "--allocations"]
        .iter()
        .any(|name| arguments.iter().any(|argument| argument == name))
    {
        return torture.run();
    }
    let is_needed = |server: &&str| stores.is_empty() || stores.contains(server);
    let needed: Vec<&str> = SERVERS.into_iter().filter(|server| is_needed(server)).collect();
    let done = match needed.as_slice() {
        [] => torture.run(),
        needed => servers::with(needed, |variables| torture.variables(variables).run()),
    };
    if has("--write-docs") {
        write_table()?;
    }
    done
}

/// Returns the stores in the arguments.
fn named(arguments: &[String]) -> Vec<&str> {
    let pairs = arguments.iter().zip(arguments.iter().skip(1));
    pairs.filter(|(option, _)| *option == "--store").map(|(_, name)| name.as_str()).collect()
}

fn write_table() -> Outcome {
    let page = run::read(PAGE)?;
    let table = run::read("target/torture/table.md")?;
    run::write(PAGE, &replaced(&page, &table)?)
}

/// Returns the page with a new table.
fn replaced(page: &str, table: &str) -> Outcome<String> {
    let [begin, end] = MARKERS;
    let before = page.split_once(begin).map(|(before, _)| before);
    let after = page.split_once(end).map(|(_, after)| after);
    match (before, after) {
        (Some(before), Some(after)) => Ok(format!("{before}{begin}\n\n{}\n\n{end}{after}", table.trim())),
        _ => Err(format!("{PAGE} does not contain the marks of the table: '{begin}' and '{end}'")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_table_is_replaced() {
        let [begin, end] = MARKERS;
        let page = format!("a\n{begin}\nold\n{end}\nb\n");
        assert_eq!(replaced(&page, "new\n").unwrap(), format!("a\n{begin}\n\nnew\n\n{end}\nb\n"));
        assert!(replaced("a", "new").is_err());
    }

    #[test]
    fn stores_are_named_by_arguments() {
        let arguments = ["--store", "zip", "--kills", "3", "--store", "s3"].map(str::to_owned);
        assert_eq!(named(&arguments), ["zip", "s3"]);
    }
}
