//! `cargo xtask bench`.

use crate::guard;
use crate::python;
use zarrox_peers as peers;
use zarrox_runner::python::Environment;
use zarrox_runner::run::{Outcome, Program, cargo};
use zarrox_servers as servers;

pub(crate) const HELP: &str = "\
Measures reading and writing, compiled for release

    bench [whole] [ARGUMENT …]    whole arrays, against a bare loop that does the same work; checks and digests of them
    bench codecs [ARGUMENT …]     every codec, against its library's own calls or a copy of the memory
    bench indexing [ARGUMENT …]   selections of every kind, each against its limit
    bench stores [--require]      S3: a latency of 50 ms, and large objects against the bare client; starts the server
    bench python [--quick]        the Python package: small reads against tensorstore, opening against bare reads of files
    bench --guard [--accept] [CASE …]
                                  instructions of hot paths, against accepted numbers; --accept writes those
    bench --peers [OPTION …]      the same work by Zarrox and its peers, in Rust and in Python: see quality/bench/README.md

Options of --peers:

    --scale small|full            the size of the data [default: small]
    --case NAME                   only the cases with this name, or else whose names contain it; may be repeated
    --language rust|python        only one language
    --repetitions N               the number of runs of each case by each contestant [default: 5]
    --quick                       2 repetitions by default, and whole processes once instead of 3 times
    --threads N                   the number of threads of libraries [default: that of the machine]
    --keep                        keeps the data sets in target/bench/data for the next run
    --require RATIO               fails if the ratio of Zarrox's time to the best peer's exceeds this
    --require targets             fails if the ratio exceeds the target of the case
    --list                        lists the names of all cases

Results are in target/bench: peers.json, peers.md, peers.svg. Cases that are not run keep their results.

Arguments go to the other benchmarks, which are in the folders benches of the crates zarrox, zarrox-bench and zarrox-codecs.";

pub(crate) fn run(arguments: &[String]) -> Outcome {
    let (package, name, rest) = match arguments.split_first() {
        Some((first, rest)) if first == "--peers" => return peers::run(rest),
        Some((first, rest)) if first == "--guard" => return guard::run(rest),
        Some((first, rest)) if first == "stores" => return stores(rest),
        Some((first, rest)) if first == "python" => return python::bench(rest),
        Some((first, rest)) if first == "codecs" => ("zarrox-codecs", "codecs", rest),
        Some((first, rest)) if first == "indexing" => ("zarrox", "indexing", rest),
        Some((first, rest)) if first == "whole" => ("zarrox-bench", "whole", rest),
        _ => ("zarrox-bench", "whole", arguments),
    };
    let bench = cargo(["bench", "--package", package, "--bench", name, "--"]);
    let bench = bench.with(rest.iter().map(String::as_str));
    if name == "indexing" { with_numpy(bench).run() } else { bench.run() }
}

fn stores(rest: &[String]) -> Outcome {
    let bench = cargo(["bench", "--package", "zarrox-cli", "--bench", "stores"]);
    // Builds the benchmark first, so that the server does not wait for the compiler.
    bench.clone().with(["--no-run"]).run()?;
    servers::with(&["s3"], |variables| {
        bench.variables(variables).with(["--"]).with(rest.iter().map(String::as_str)).run()
    })
}

/// Returns the benchmark, with a Python that has NumPy for comparison if there is one.
fn with_numpy(bench: Program) -> Program {
    let requirements = Some("crates/zarrox/benches/indexing/requirements.txt");
    let environment = Environment { name: "numpy", lowest: (3, 11), highest: (3, 14), requirements };
    match environment.python() {
        Ok(python) => bench.variable("ZARROX_BENCH_PYTHON", &python),
        Err(error) => {
            println!("without NumPy: {error}");
            bench
        }
    }
}
