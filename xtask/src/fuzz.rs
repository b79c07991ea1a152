//! `cargo xtask fuzz`.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::run::{self, Outcome, cargo, program};
use crate::sanitizer::Sanitizer;

pub(crate) const HELP: &str = "\
Fuzzes every decoder, chains of codecs, and metadata documents, with AddressSanitizer

With names of targets only these; --seconds says how long each runs (3). The targets follow from the examples in
crates/zarrox-testkit/src/examples.rs: what is new is written into fuzz/, and is to be committed. fuzz/corpus keeps the inputs
that reached something new, and the next run begins with them. An input that fails is put into fuzz/artifacts/TARGET: mend what it
found, and move it to fuzz/regressions/TARGET, where the tests of zarrox-codecs read it from then on.

cargo-fuzz is not needed; it understands fuzz/, too: RUSTC_BOOTSTRAP=1 cargo fuzz run TARGET.";

/// The flags that let libFuzzer see where the program has been.
const RUST_FLAGS: &str = "--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares";
const C_FLAGS: &str = "-fsanitize-coverage=trace-pc";

/// Limits for each input: the memory of all the program, of one allocation (a decoder of LZMA reserves the dictionary that a
/// stream asks for, 1 GiB at most, and uses as much of it as there is data), and time.
const LIMITS: [&str; 3] = ["-rss_limit_mb=1024", "-malloc_limit_mb=1100", "-timeout=20"];

pub(crate) fn run(arguments: &[String]) -> Outcome {
    let sanitizer = Sanitizer::for_this_machine()?;
    let (seconds, chosen) = parse(arguments)?;
    let targets = targets()?;
    if let Some(unknown) = chosen.iter().find(|name| !targets.contains(name)) {
        return Err(format!("'{unknown}' is not a target; there are {}", targets.join(", ")));
    }
    for (path, text) in stale(&targets)? {
        println!("{path} is written anew");
        run::write(path, &text)?;
    }
    seeds()?.with(["fuzz/corpus"]).run()?;
    let chosen = if chosen.is_empty() { targets } else { chosen };
    let directory = run::target("fuzz");
    let build =
        cargo(["build", "--release", "--manifest-path", "fuzz/Cargo.toml", "--target-dir", &directory]);
    let build = build.with(chosen.iter().flat_map(|name| ["--bin", name]));
    sanitizer.build(build, RUST_FLAGS, C_FLAGS).run()?;
    let programs = format!("{directory}/{}/release", sanitizer.target);
    fuzz_all(&chosen, |name| fuzz(&sanitizer, &programs, name, seconds))
}

fn parse(arguments: &[String]) -> Outcome<(u32, Vec<String>)> {
    let mut names = arguments.to_vec();
    let Some(at) = names.iter().position(|argument| argument == "--seconds") else { return Ok((3, names)) };
    let seconds = names.get(at + 1).and_then(|number| number.parse().ok());
    let seconds = seconds.ok_or("--seconds needs a whole number")?;
    names.drain(at..at + 2);
    Ok((seconds, names))
}

/// The program that knows the targets and writes the inputs to begin with.
fn seeds() -> Outcome<run::Program> {
    run::example("seeds")
}

/// The names of all targets.
fn targets() -> Outcome<Vec<String>> {
    let program = seeds()?;
    println!("$ {program}");
    let names = program.output().ok_or_else(|| format!("failed: {program}"))?;
    Ok(names.lines().map(str::to_owned).collect())
}

/// Where the list of programs begins in `fuzz/Cargo.toml`, up to whose end all is generated.
const LIST: &str = "\n# Generated: one for each target.\n";

/// Fails when a target is not yet in `fuzz/`.
pub(crate) fn check() -> Outcome {
    let stale = stale(&targets()?)?;
    let paths: Vec<&str> = stale.iter().map(|(path, _)| path.as_str()).collect();
    if paths.is_empty() {
        Ok(())
    } else {
        Err(format!("run cargo xtask fuzz: {} will be written", paths.join(", ")))
    }
}

/// The generated files, a program for each target and the list of them, that are not as they should be, and what they should be.
fn stale(targets: &[String]) -> Outcome<Vec<(String, String)>> {
    let manifest = run::read("fuzz/Cargo.toml")?;
    let mut list = manifest.split(LIST).next().unwrap_or_default().to_owned() + LIST;
    let mut files = Vec::new();
    for name in targets {
        let _ = write!(list, "\n[[bin]]\nname = \"{name}\"\npath = \"fuzz_targets/{name}.rs\"\n");
        list += "test = false\ndoc = false\nbench = false\n";
        let program = format!("#![no_main]\n\nzarrox_fuzz::target!(\"{name}\");\n");
        files.push((format!("fuzz/fuzz_targets/{name}.rs"), program));
    }
    files.push(("fuzz/Cargo.toml".to_owned(), list));
    files.retain(|(path, text)| run::read(path).map_or(true, |there| there != *text));
    Ok(files)
}

/// Fuzzes as many targets at a time as there are processors.
fn fuzz_all(names: &[String], fuzz: impl Fn(&str) -> Outcome<String> + Sync) -> Outcome {
    let failed = AtomicBool::new(false);
    run::each_in_parallel(names, |name| match fuzz(name) {
        Ok(result) => println!("{name:<28} {result}"),
        Err(error) => {
            failed.store(true, Ordering::Relaxed);
            eprintln!("{name:<28} FAILED\n{error}");
        }
    });
    if failed.into_inner() { Err("fuzzing found what must not happen".to_owned()) } else { Ok(()) }
}

/// Fuzzes one target; says how many inputs it was given.
fn fuzz(sanitizer: &Sanitizer, programs: &str, name: &str, seconds: u32) -> Outcome<String> {
    let directory = |kind: &str| format!("fuzz/{kind}/{name}");
    let artifacts = directory("artifacts");
    std::fs::create_dir_all(&artifacts).map_err(|error| format!("{artifacts}: {error}"))?;
    let mut corpora = vec![directory("corpus"), directory("regressions")];
    corpora.retain(|corpus| Path::new(corpus).exists());
    let fuzzer = program(format!("{programs}/{name}"), corpora).with(LIMITS).with([
        format!("-max_total_time={seconds}"),
        format!("-artifact_prefix={artifacts}/"),
        "-print_final_stats=1".to_owned(),
    ]);
    let (success, log) = sanitizer.run(fuzzer).log()?;
    if success {
        let inputs = log.lines().find_map(|line| line.strip_prefix("stat::number_of_executed_units: "));
        return Ok(format!("{} inputs", inputs.unwrap_or("?").trim()));
    }
    let lines: Vec<&str> = log.lines().collect();
    Err(lines[lines.len().saturating_sub(60)..].join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_stand_anywhere() {
        let parse = |line: &str| parse(&line.split(' ').map(str::to_owned).collect::<Vec<_>>());
        assert_eq!(
            parse("zstd --seconds 20 gzip").unwrap(),
            (20, vec!["zstd".to_owned(), "gzip".to_owned()])
        );
        assert_eq!(parse("zstd").unwrap(), (3, vec!["zstd".to_owned()]));
        assert!(parse("--seconds").is_err() && parse("--seconds x").is_err());
    }
}
