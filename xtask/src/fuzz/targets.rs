//! The targets, and the generated files in `quality/fuzz/` that build them.

use std::fmt::Write as _;

use zarrox_runner::run::{self, Outcome};

/// Where the list of programs begins in `quality/fuzz/Cargo.toml`, up to whose end all is generated.
const LIST: &str = "\n# Generated: one for each target.\n";

/// The program that knows the targets and writes the inputs to begin with.
fn seeds() -> Outcome<run::Program> {
    run::example("seeds")
}

/// The names of all targets.
pub(crate) fn names() -> Outcome<Vec<String>> {
    let program = seeds()?;
    println!("$ {program}");
    let names = program.output().ok_or_else(|| format!("failed: {program}"))?;
    Ok(names.lines().map(str::to_owned).collect())
}

/// Writes the generated files that are stale, and the inputs to begin with.
pub(crate) fn write(names: &[String]) -> Outcome {
    for (path, text) in stale(names)? {
        println!("{path} is written anew");
        run::write(path, &text)?;
    }
    seeds()?.with(["quality/fuzz/corpus"]).run()
}

/// Fails when a target is not yet in `quality/fuzz/`.
pub(crate) fn check() -> Outcome {
    let stale = stale(&names()?)?;
    let paths: Vec<&str> = stale.iter().map(|(path, _)| path.as_str()).collect();
    if paths.is_empty() {
        Ok(())
    } else {
        Err(format!("run cargo xtask fuzz: {} will be written", paths.join(", ")))
    }
}

/// True for the targets that read files of other formats.
fn is_reader(name: &str) -> bool {
    name == "files" || name.starts_with("read_")
}

/// The generated files, a program for each target and the list of them, that are not as they should be, and what they should be.
fn stale(names: &[String]) -> Outcome<Vec<(String, String)>> {
    let manifest = run::read("quality/fuzz/Cargo.toml")?;
    let mut list = manifest.split(LIST).next().unwrap_or_default().to_owned() + LIST;
    let mut files = Vec::new();
    for name in names {
        let _ = write!(list, "\n[[bin]]\nname = \"{name}\"\npath = \"fuzz_targets/{name}.rs\"\n");
        list += "test = false\ndoc = false\nbench = false\n";
        let kind = if is_reader(name) { "reader" } else { "target" };
        let program = format!("#![no_main]\n\nzarrox_fuzz::{kind}!(\"{name}\");\n");
        files.push((format!("quality/fuzz/fuzz_targets/{name}.rs"), program));
    }
    files.push(("quality/fuzz/Cargo.toml".to_owned(), list));
    files.retain(|(path, text)| run::read(path).map_or(true, |there| there != *text));
    Ok(files)
}
