//! `cargo xtask platforms`.

use zarrox_runner::debian::{self, missing};
use zarrox_runner::run::{self, Outcome, Program, cargo, program};

pub(crate) const HELP: &str = "\
Runs the tests of stores with the portable files, and core's and the stores' tests as Windows programs under Wine

    platforms               both
    platforms --portable    only the tests of zarrox-stores on this system, without openat: with --cfg zarrox_portable_fs
    platforms --windows     only Windows: checks the libraries and the command, and runs the tests of zarrox-core and zarrox-stores

Windows needs Debian, root for its packages (MinGW, Wine), and the source of the standard library of this Rust, which is found in
rustup's component rust-src or in Debian's backports. docs/platforms.md lists what ran where.";

const WINDOWS: &str = "x86_64-pc-windows-gnu";

/// The tests of zarrox-stores.
const STORES: [&str; 5] = ["--package", "zarrox-stores", "--lib", "--test", "all"];

/// The features of zarrox-stores that need no servers.
const FEATURES: [&str; 2] = ["--features", "zip,cache,retry,traced"];

/// The crates that must compile, with their features.
const CHECKED: [&[&str]; 3] = [
    &["--package", "zarrox-core", "--package", "zarrox-codecs"],
    &["--package", "zarrox"],
    &["--package", "zarrox-cli", "--no-default-features", "--features", "images,serve,tables"],
];

/// The tests that Wine cannot run. docs/platforms.md has the reasons.
const LEFT_OUT: &[&str] = &[
    "more_points_than_memory_can_hold_are_an_error",
    "directory::passes_the_suite",
    "prefix::passes_the_suite_in_a_directory",
    "directory::processes::processes_that_count_lose_nothing",
    "directory::writing_while_directories_are_removed",
    "zip::a_file_that_is_replaced_is_not_written_to",
    "zip::modes",
];

pub(crate) fn run(arguments: &[String]) -> Outcome {
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        [] => portable().and_then(|()| windows()),
        ["--portable"] => portable(),
        ["--windows"] => windows(),
        _ => Err("platforms takes --portable or --windows".to_owned()),
    }
}

fn portable() -> Outcome {
    let test = cargo(["test"]).with(STORES).with(FEATURES);
    let test = test.with(["--target-dir", &run::target("portable")]);
    test.variable("RUSTFLAGS", "--cfg zarrox_portable_fs").run()
}

fn windows() -> Outcome {
    let toolchain = set_up()?;
    for packages in CHECKED {
        cross(&toolchain, "check").with(packages.iter().copied()).run()?;
    }
    test(&toolchain, &["--package", "zarrox-core", "--lib"])?;
    test(&toolchain, &[&STORES[..], &FEATURES].concat())
}

/// Installs packages, and returns the directory of the toolchain.
fn set_up() -> Outcome<String> {
    let compilers = "compiling for Windows";
    let mut packages: Vec<&str> = [
        missing("x86_64-w64-mingw32-gcc", "gcc-mingw-w64-x86-64", compilers),
        missing("x86_64-w64-mingw32-g++", "g++-mingw-w64-x86-64", compilers),
    ]
    .into_iter()
    .flatten()
    .map(|missing| missing.package)
    .collect();
    if !std::path::Path::new("/usr/lib/wine/wine64").exists() {
        packages.push("wine64");
    }
    debian::install(&packages)?;
    let version = program("rustc", ["--version"]).output().ok_or("rustc cannot be run")?;
    let number = version.split(' ').nth(1).ok_or("rustc has no version")?;
    let directory = run::target("platforms");
    program("sh", ["xtask/src/windows.sh", &directory, number]).run()?;
    run::absolute(directory)
}

/// Returns a Cargo command for Windows, which also builds the standard library.
fn cross(toolchain: &str, command: &str) -> Program {
    let path = std::env::var("PATH").unwrap_or_default();
    program(format!("{toolchain}/rust/bin/cargo"), [command, "--target", WINDOWS])
        .with(["-Z", "build-std=std,panic_abort,test"])
        .with(["--target-dir", &format!("{toolchain}/build")])
        .variable("PATH", &format!("{toolchain}/rust/bin:{path}"))
        // Only unstable versions build the standard library.
        .variable("RUSTC_BOOTSTRAP", "1")
        .variable("CARGO_TARGET_X86_64_PC_WINDOWS_GNU_RUNNER", "/usr/lib/wine/wine64")
        .variable("WINEPREFIX", &format!("{toolchain}/wine"))
        .variable("WINEDEBUG", "-all")
}

fn test(toolchain: &str, targets: &[&str]) -> Outcome {
    let test = cross(toolchain, "test").with(targets.iter().copied()).with(["--", "--test-threads", "4"]);
    test.with(LEFT_OUT.iter().flat_map(|name| ["--skip", name])).run()
}
