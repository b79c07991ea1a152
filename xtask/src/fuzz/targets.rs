//! The targets, and the programs that contain them.

use zarrox_runner::run::{self, Outcome};

/// The environment variable that names the target of a program.
pub(super) const VARIABLE: &str = "ZARROX_FUZZ_TARGET";

/// Returns the program that lists the targets and writes the seeds.
fn seeds() -> Outcome<run::Program> {
    run::example("seeds")
}

/// Returns the names of all targets.
pub(super) fn names() -> Outcome<Vec<String>> {
    let program = seeds()?;
    println!("$ {program}");
    let names = program.output().ok_or_else(|| format!("failed: {program}"))?;
    Ok(names.lines().map(str::to_owned).collect())
}

/// Writes the seeds.
pub(super) fn write_seeds() -> Outcome {
    seeds()?.with(["quality/fuzz/corpus"]).run()
}

/// Returns the program that contains a target.
pub(super) fn program_of(name: &str) -> &'static str {
    let needs_library = ["hierarchy", "urls", "files"].contains(&name) || name.starts_with("read_");
    if needs_library { "library" } else { "codecs" }
}
