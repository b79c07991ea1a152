//! `cargo xtask fuzz`.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

mod options;
mod targets;
mod totals;

use crate::sanitizer::Sanitizer;
use options::Options;
use totals::{Ran, Totals};
use zarrox_runner::run::{self, Outcome, cargo, program};

pub(crate) const HELP: &str = "\
Fuzzes every decoder, chains of codecs, metadata documents, damaged hierarchies and files, and requests to the server, with AddressSanitizer

    fuzz [TARGET …] [OPTION …]

    --seconds N       the duration of each target [default: 3]
    --executions N    repeats until these targets have run N inputs in total. Those of earlier runs count, so that an
                      interrupted run continues. A finding does not end the run
    --jobs N          the number of parallel targets [default: one for each processor]
    --no-sanitizer    without AddressSanitizer: several times more inputs in the same time. Panics, failed assertions, overflows,
                      crashes and memory beyond the limit are found, but not every invalid memory access
    -NAME=VALUE       an option of libFuzzer, as -max_len=64

The targets follow from the examples in quality/testkit/src/examples.rs, and all are in two programs. quality/fuzz/corpus contains the inputs that reached new code, and the next run begins with them. quality/fuzz/totals counts the inputs,
findings and seconds of each target. A failing input is in quality/fuzz/artifacts/TARGET: fix the bug, and move the input to
quality/fuzz/regressions/TARGET, where the tests of zarrox-codecs and zarrox-hostile read it from then on.

cargo-fuzz is not required, but works with quality/fuzz, too: ZARROX_FUZZ_TARGET=zstd RUSTC_BOOTSTRAP=1 cargo fuzz run codecs.";

/// The flags that show libFuzzer the coverage. Detecting uses of a function's memory after its return takes a third of the time,
/// and is left to `cargo xtask asan`.
const RUST_FLAGS: &str = "--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares -Cllvm-args=-asan-use-after-return=never";
const C_FLAGS: &str = "-fsanitize-coverage=trace-pc";

/// Limits for each input: the memory of the program, of one allocation (a decoder of LZMA reserves the dictionary that a stream
/// requests, at most 1 GiB, but uses only as much of it as there is data), and time.
const LIMITS: [&str; 3] = ["-rss_limit_mb=1024", "-malloc_limit_mb=1100", "-timeout=20"];

pub(crate) fn run(arguments: &[String]) -> Outcome {
    let options = Options::parse(arguments)?;
    let targets = targets::names()?;
    if let Some(unknown) = options.names.iter().find(|name| !targets.contains(name)) {
        return Err(format!("unknown target '{unknown}'; expected one of {}", targets.join(", ")));
    }
    targets::write_seeds()?;
    let chosen = if options.names.is_empty() { &targets } else { &options.names };
    let fuzzer = Fuzzer::build(chosen, &options)?;
    let outcome = match options.executions {
        None => fuzzer.round(chosen),
        Some(wanted) => fuzzer.rounds(chosen, wanted),
    };
    println!("{}", Totals::read()?);
    outcome
}

/// The programs of the targets, and how they are run.
struct Fuzzer<'o> {
    sanitizer: Sanitizer,
    /// The directory of the programs.
    programs: String,
    options: &'o Options,
}

impl<'o> Fuzzer<'o> {
    fn build(names: &[String], options: &'o Options) -> Outcome<Self> {
        let sanitizer = Sanitizer::for_this_machine()?;
        let (sanitizer, directory) = if options.sanitized {
            (sanitizer, run::target("fuzz"))
        } else {
            (sanitizer.without_address(), run::target("fuzz-plain"))
        };
        let build = cargo([
            "build",
            "--release",
            "--manifest-path",
            "quality/fuzz/Cargo.toml",
            "--target-dir",
            &directory,
        ]);
        let programs: BTreeSet<&str> = names.iter().map(|name| targets::program_of(name)).collect();
        // With the sanitizer, further optimisation takes longer than it saves in a short run.
        let build =
            if options.sanitized { build.variable("CARGO_PROFILE_RELEASE_OPT_LEVEL", "1") } else { build };
        let build = build.with(programs.iter().flat_map(|name| ["--bin", name]));
        sanitizer.build(build, RUST_FLAGS, C_FLAGS).run()?;
        let programs = format!("{directory}/{}/release", sanitizer.target);
        Ok(Self { sanitizer, programs, options })
    }

    /// Runs rounds until these targets have run the requested number of inputs in total.
    fn rounds(&self, names: &[String], wanted: u64) -> Outcome {
        let mut outcome = Ok(());
        let mut given = Totals::read()?.executions(names);
        while given < wanted {
            outcome = outcome.and(self.round(names));
            let before = given;
            given = Totals::read()?.executions(names);
            println!("{given} of {wanted} inputs");
            if given == before {
                return Err(format!("no input was given to {}", names.join(", ")));
            }
        }
        outcome
    }

    /// Runs each target once, several in parallel.
    fn round(&self, names: &[String]) -> Outcome {
        let failed = AtomicBool::new(false);
        run::each_in_parallel_of(self.options.jobs, names, |name| {
            if let Err(error) = self.counted(name) {
                failed.store(true, Ordering::Relaxed);
                eprintln!("{name:<28} FAILED\n{error}");
            }
        });
        if failed.into_inner() { Err("fuzzing found a bug".to_owned()) } else { Ok(()) }
    }

    /// Runs a target, and counts its inputs. A finding is an error, but its inputs are counted as well.
    fn counted(&self, name: &str) -> Outcome {
        let ran = self.target(name)?;
        println!("{name:<28} {} inputs in {} s", ran.executions, ran.time.as_secs());
        Totals::add(name, &ran)?;
        ran.failure.map_or(Ok(()), Err)
    }

    fn target(&self, name: &str) -> Outcome<Ran> {
        let directory = |kind: &str| format!("quality/fuzz/{kind}/{name}");
        let artifacts = directory("artifacts");
        std::fs::create_dir_all(&artifacts).map_err(|error| format!("{artifacts}: {error}"))?;
        let mut corpora = vec![directory("corpus"), directory("regressions")];
        corpora.retain(|corpus| Path::new(corpus).exists());
        let program_path = format!("{}/{}", self.programs, targets::program_of(name));
        let fuzzer = program(program_path, corpora).variable(targets::VARIABLE, name).with(LIMITS).with([
            format!("-max_total_time={}", self.options.seconds),
            format!("-artifact_prefix={artifacts}/"),
            "-print_final_stats=1".to_owned(),
        ]);
        let start = Instant::now();
        let (success, log) = self.sanitizer.run(fuzzer.with(&self.options.fuzzer)).log()?;
        Ok(Ran::new(success, start.elapsed(), &log))
    }
}
