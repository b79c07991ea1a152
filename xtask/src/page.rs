//! `cargo xtask page`: the page of `zarrox serve`, built from its sources and tested in a browser.

use zarrox_runner::node::{self, PAGE};
use zarrox_runner::package::ECOSYSTEM;
use zarrox_runner::run::{self, Outcome, Program, cargo, program};

use crate::demo;

pub(crate) const HELP: &str = "\
Builds the page of `zarrox serve` from its TypeScript sources

    page              writes crates/zarrox-serve/page/dist, which is committed: installing the command does not require npm
    page --types      writes src/answers.ts: the types of the server's responses, generated from those in Rust
    page --test       tests the page in Chromium, which is installed if it is missing
    page --pictures   tests it, and takes the pictures of the guide
    page --screens    replaces the reference pictures of --test
    page --bench      measures it on an array of 40 GB, which temporarily uses 1 GB of disk space, compared with zarrita.js";

/// The files that are embedded in the server.
const DIST: &str = "crates/zarrox-serve/page/dist";
const FILES: [&str; 2] = ["page.js", "page.css"];
/// The directory of all output of tests.
const DIRECTORY: &str = "target/page";
const PICTURES: &str = "docs/guide";

pub(crate) fn run(arguments: &[String]) -> Outcome {
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        [] => build(DIST),
        ["--types"] => types().variable("ZARROX_WRITE_TYPES", "1").run(),
        ["--test"] => test(),
        ["--pictures"] => pictures(),
        ["--screens"] => screens(),
        ["--bench"] => bench(),
        other => Err(format!("unknown arguments '{}'\n\n{HELP}", other.join(" "))),
    }
}

/// Checks that the types of responses match the server, and the embedded files match the sources.
pub(crate) fn check() -> Outcome {
    types().run()?;
    let made = run::absolute(format!("{DIRECTORY}/dist"))?;
    build(&made)?;
    let is_stale = |name: &str| run::read(format!("{made}/{name}")) != run::read(format!("{DIST}/{name}"));
    match FILES.iter().find(|name| is_stale(name)) {
        Some(name) => Err(format!("{DIST}/{name} is stale: run `cargo xtask page`")),
        None => Ok(()),
    }
}

/// Returns the test of the server that compares the types of its responses with those of the page. Built with all crates and
/// features, as other tests are.
fn types() -> Program {
    let test = "the_page_has_the_types_of_the_answers";
    cargo(["test", "--quiet", "--workspace", "--all-features", "--lib", test])
}

/// Tests the page in a browser.
pub(crate) fn test() -> Outcome {
    let site = format!("{DIRECTORY}/site");
    made(&site)?;
    for name in ["page", "use", "faults", "links", "figures", "maps", "screens"] {
        tests(name, &site, &of_the_tests(&site))?.run()?;
    }
    tests("corpus", &site, &writers(&site)?)?.run()
}

/// Takes the pictures of the guide.
fn pictures() -> Outcome {
    // The pictures show the paths of the data.
    let site = std::env::temp_dir().join("data").to_string_lossy().into_owned();
    made(&site)?;
    for name in ["page", "use", "maps"] {
        tests(name, &site, &of_the_tests(&site))?.variable("SHOTS", &run::absolute(PICTURES)?).run()?;
    }
    Ok(())
}

fn screens() -> Outcome {
    let site = format!("{DIRECTORY}/site");
    made(&site)?;
    tests("screens", &site, &of_the_tests(&site))?.variable("ANEW", "1").run()
}

/// Creates the hierarchies for the tests.
fn made(site: &str) -> Outcome {
    cargo(["build", "--quiet", "--workspace", "--all-features", "--bin", "zarrox"]).run()?;
    node::install()?;
    run::empty_directory(site)?;
    demo::elevation()?;
    program(ECOSYSTEM.python()?, ["-B", &format!("{PAGE}/tests/make.py"), site]).run()?;
    brain(site)
}

/// Converts a NIfTI image to OME-Zarr.
fn brain(site: &str) -> Outcome {
    let [source, array, image] =
        ["anatomical.nii", "anatomical.zarr", "brain.zarr"].map(|name| format!("{site}/{name}"));
    demo::zarrox(&["import", &source, &array])?;
    let space = ["--scale", "2,2,2", "--unit", "millimeter", "--levels", "2"];
    demo::zarrox(&[&["downsample", &array, &image], &space[..]].concat())
}

/// Returns the hierarchies that were created for the tests.
fn of_the_tests(site: &str) -> Vec<String> {
    [
        "climate.zarr",
        "curved.zarr",
        "mixed.zarr",
        "plenty.zarr",
        "packed",
        "old.zarr",
        "brain.zarr",
        "odd.zarr",
        "folder",
    ]
    .map(|name| format!("{site}/{name}"))
    .into_iter()
    .chain([demo::GROUP.to_owned()])
    .collect()
}

/// Returns a directory for each program that wrote data of the corpus.
fn writers(site: &str) -> Outcome<Vec<String>> {
    let failed = |error| format!("listing {site}/corpus: {error}");
    let entries = std::fs::read_dir(format!("{site}/corpus")).map_err(failed)?;
    let mut found: Vec<String> =
        entries.flatten().map(|entry| entry.path().to_string_lossy().into_owned()).collect();
    found.sort();
    Ok(found)
}

/// Returns the command that runs the tests of a file. A server runs as long as the tests; its address is in their environment.
fn tests(name: &str, site: &str, roots: &[String]) -> Outcome<Program> {
    let node = ["--", "node", "--test", &format!("{PAGE}/tests/{name}.test.mjs")].map(str::to_owned);
    let serve = program(run::built("debug/zarrox"), ["serve", "--no-token"]).with(roots).with(node);
    Ok(serve
        .variable("CHROMIUM", &node::browser()?)
        .variable("ZARROX", &run::absolute(run::built("debug/zarrox"))?)
        .variable("SITE", &run::absolute(site)?))
}

/// Measures the page with the command in release mode.
fn bench() -> Outcome {
    cargo(["build", "--quiet", "--release", "-p", "zarrox-cli"]).run()?;
    node::install()?;
    let directory = run::absolute(format!("{DIRECTORY}/bench"))?;
    run::empty_directory(&directory)?;
    let data = program(ECOSYSTEM.python()?, ["-B", &format!("{PAGE}/tests/bench.py"), &directory]).run();
    let measured = data.and_then(|()| {
        let zarrox = run::absolute(run::built("release/zarrox"))?;
        let script = format!("{PAGE}/tests/bench.mjs");
        program("node", [&script, &zarrox, &ECOSYSTEM.python()?, &directory])
            .variable("CHROMIUM", &node::browser()?)
            .run()
    });
    run::remove_directory(&directory)?;
    measured
}

/// Checks the types of the sources, and builds the files.
fn build(to: &str) -> Outcome {
    node::install()?;
    tool("tsc", ["--noEmit"])?.run()?;
    let to = run::absolute(to)?;
    for (source, file) in ["src/main.ts", "src/page.css"].into_iter().zip(FILES) {
        let out = format!("--outfile={to}/{file}");
        let options = [source, "--bundle", "--minify", "--target=es2022", "--log-level=warning", &out];
        tool("esbuild", options)?.run()?;
    }
    Ok(())
}

/// Returns a program that npm installed: a script or an executable.
fn tool<'a>(name: &str, arguments: impl IntoIterator<Item = &'a str>) -> Outcome<Program> {
    Ok(program(&run::absolute(format!("{PAGE}/node_modules/.bin/{name}"))?, arguments).within(PAGE))
}
