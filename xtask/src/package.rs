//! `cargo xtask package`: the crates for crates.io.

use std::path::Path;

use serde_json::Value;

use crate::release::VERSION;
use zarrox_runner::run::{self, Outcome, cargo, program};

pub(crate) const HELP: &str = "\
Packs every crate as for publishing, and compiles the packed crates outside of the workspace

    package           also runs the example of README.md in a new project that depends on the packed crates
    package --list    only checks which files each crate contains, in seconds

The packed crates are in target/package, and the new project is in target/packed.";

/// The directory of the packed crates.
const DIRECTORY: &str = "target/packed";

/// The files that every crate contains besides its sources.
const NEEDED: [&str; 4] = ["Cargo.toml", "LICENSE-APACHE", "LICENSE-MIT", "README.md"];

/// The beginnings of the paths of other files that crates may contain.
const ALLOWED: [&str; 10] = [
    "src/",
    "examples/",
    "include/",
    "zarrox.pc",
    "page/dist/",
    "page/index.html",
    "page/token.html",
    "build.rs",
    "Cargo.",
    ".cargo_vcs_info.json",
];

pub(crate) fn run(arguments: &[String]) -> Outcome {
    check_lists()?;
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        [] => check_packed(),
        ["--list"] => Ok(()),
        _ => Err("package takes --list".to_owned()),
    }
}

/// Fails if a crate lacks a licence, or contains files that users do not need.
pub(crate) fn check_lists() -> Outcome {
    println!("$ cargo xtask package --list");
    crates()?.iter().try_for_each(|name| {
        let list = cargo(["package", "--list", "--allow-dirty", "--package", name]).output();
        let list = list.ok_or_else(|| format!("`cargo package --list --package {name}` failed"))?;
        let missing = NEEDED.iter().find(|file| !list.lines().any(|line| line == **file));
        let other =
            |line: &&str| !NEEDED.contains(line) && !ALLOWED.iter().any(|begin| line.starts_with(begin));
        match (missing, list.lines().find(other)) {
            (Some(file), _) => Err(format!("{name} is packed without {file}")),
            (_, Some(file)) => {
                Err(format!("{name} is packed with {file}: change `include` in its Cargo.toml"))
            }
            (None, None) => Ok(()),
        }
    })
}

/// Returns the names of the crates that are published.
fn crates() -> Outcome<Vec<String>> {
    let metadata = cargo(["metadata", "--format-version", "1", "--no-deps"]).output();
    let metadata: Value = serde_json::from_str(&metadata.ok_or("`cargo metadata` failed")?)
        .map_err(|error| error.to_string())?;
    let all = metadata["packages"].as_array().into_iter().flatten();
    let published = all.filter(|package| package["publish"].is_null());
    Ok(published.filter_map(|package| package["name"].as_str().map(str::to_owned)).collect())
}

/// Packs all crates, and compiles them in a workspace that has nothing else.
fn check_packed() -> Outcome {
    let crates = crates()?;
    let packed = cargo(["package", "--no-verify", "--allow-dirty"]);
    crates.iter().fold(packed, |packed, name| packed.with(["--package", name])).run()?;
    run::empty_directory(DIRECTORY)?;
    for name in &crates {
        let archive = run::target(&format!("package/{name}-{VERSION}.crate"));
        program("tar", ["--extract", "--gzip", "--file", &archive, "--directory", DIRECTORY]).run()?;
    }
    let patches: String =
        crates.iter().map(|name| format!("{name} = {{ path = \"{name}-{VERSION}\" }}\n")).collect();
    let manifest = format!(
        "[workspace]\nresolver = \"3\"\nmembers = [\"*-{VERSION}\", \"project\"]\n\n[patch.crates-io]\n{patches}"
    );
    run::write(Path::new(DIRECTORY).join("Cargo.toml"), &manifest)?;
    project()?;
    // The versions of all other crates are those that the tests run with.
    run::write(Path::new(DIRECTORY).join("Cargo.lock"), &run::read("Cargo.lock")?)?;
    let target = run::absolute("target/packed-build")?;
    let compile = |command: &str| cargo([command]).variable("CARGO_TARGET_DIR", &target).within(DIRECTORY);
    compile("check").with(["--workspace"]).run()?;
    compile("run").with(["--package", "project"]).run()
}

/// Creates a project with the example of README.md.
fn project() -> Outcome {
    let readme = run::read("README.md")?;
    let example = readme.split_once("```rust,no_run\n").and_then(|(_, rest)| rest.split_once("```"));
    let (example, _) = example.ok_or("README.md has no example in Rust")?;
    let folder = Path::new(DIRECTORY).join("project");
    let manifest = format!(
        "[package]\nname = \"project\"\nedition = \"2024\"\n\n[dependencies]\nndarray = \"0.17\"\nzarrox = \"{VERSION}\"\n"
    );
    run::write(folder.join("Cargo.toml"), &manifest)?;
    run::write(folder.join("src/main.rs"), example)
}
