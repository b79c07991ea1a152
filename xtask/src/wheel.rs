//! `cargo xtask wheel`: the Python package for PyPI.

use std::path::{Path, PathBuf};

use crate::release::{self, GLIBC};
use zarrox_runner::python::Environment;
use zarrox_runner::run::{self, Outcome, program};

pub(crate) const HELP: &str = "\
Builds the wheel and the source distribution of the Python package, installs the wheel and tries it

    wheel              the wheel for all Pythons from 3.10 on, and the source distribution, in target/release-files
    wheel --check      only checks files that are already there
    wheel --source     also builds and tries a wheel from the source distribution, which compiles everything again

The wheel requires only glibc 2.17: zig links it, and auditwheel confirms it. It is installed by pip into an empty environment, with an
empty home directory and without variables, where xtask/src/installed.py tries the package and the command.";

/// The largest wheel, in megabytes.
const MOST: u64 = 15;

/// The ends of the paths of files that a wheel must contain.
const CONTENT: [&str; 6] = [
    "zarrox/py.typed",
    "zarrox/_native.pyi",
    "licenses/LICENSE-MIT",
    "licenses/LICENSE-APACHE",
    "licenses/LICENSE-THIRD-PARTY",
    "entry_points.txt",
];

/// The environment that the wheel is installed into, which is created again each time.
const FRESH: Environment =
    Environment { name: "installed", lowest: (3, 10), highest: (3, 14), requirements: None };

pub(crate) fn run(arguments: &[String]) -> Outcome {
    let (check_only, source) = match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        [] => (false, false),
        ["--check"] => (true, false),
        ["--source"] => (false, true),
        _ => return Err("wheel takes --check or --source".to_owned()),
    };
    if !check_only {
        release::with_notices("zarrox-python", |_| build())?;
    }
    let wheel = only_file(".whl")?;
    check(&wheel)?;
    try_out(&wheel)?;
    release::check_size(&wheel, MOST)?;
    let distribution = only_file(".tar.gz")?;
    release::check_size(&distribution, MOST)?;
    if source { try_out(&distribution) } else { Ok(()) }
}

fn build() -> Outcome {
    for end in [".whl", ".tar.gz"] {
        let old = files(end)?;
        old.iter().try_for_each(|old| std::fs::remove_file(old).map_err(|error| error.to_string()))?;
    }
    let out = ["--out", release::DIRECTORY];
    release::tool("maturin")?.with(["sdist"]).with(out).run()?;
    let build = release::tool("maturin")?.with(["build", "--release", "--locked", "--zig"]);
    let build = build.with(["--target", &release::target()]).with(out);
    build.with(["--compatibility", &format!("manylinux_{}_{}", GLIBC.0, GLIBC.1)]).run()
}

/// Checks the tag and the content of a wheel.
fn check(wheel: &Path) -> Outcome {
    let name = wheel.to_string_lossy();
    let shown = release::tool("auditwheel")?.with(["show", &name]).printed()?;
    println!("{shown}");
    let tag = format!("manylinux_{}_{}_{}", GLIBC.0, GLIBC.1, std::env::consts::ARCH);
    let shown = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    if !shown.contains(&format!("is consistent with the following platform tag: \"{tag}\"")) {
        return Err(format!("auditwheel does not grant {tag} to {name}"));
    }
    let listed = release::tool("python")?.with(["-m", "zipfile", "--list", &name]).output();
    let listed = listed.ok_or_else(|| format!("{name} cannot be listed"))?;
    let paths: Vec<&str> = listed.lines().filter_map(|line| line.split_whitespace().next()).collect();
    let missing: Vec<_> =
        CONTENT.into_iter().filter(|end| !paths.iter().any(|path| path.ends_with(end))).collect();
    if missing.is_empty() { Ok(()) } else { Err(format!("{name} has no {}", missing.join(", "))) }
}

/// Installs a file into an empty environment, and tries the package.
fn try_out(file: &Path) -> Outcome {
    run::remove_directory(format!("target/venvs/{}", FRESH.name))?;
    let python = FRESH.python()?;
    let home = run::absolute(run::empty_directory("target/installed")?)?;
    let is_wheel = file.extension().is_some_and(|end| end == "whl");
    let clean = program("env", ["-i", &format!("HOME={home}")]);
    let clean = match is_wheel {
        true => clean.with(["PATH=/usr/bin:/bin"]),
        // The compiler is found in its usual place.
        false => clean.with([kept("PATH", ""), kept("CARGO_HOME", ".cargo"), kept("RUSTUP_HOME", ".rustup")]),
    };
    let clean = clean.with([python]);
    let install = clean.clone().with(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
    install.with([run::absolute(file)?]).run()?;
    let script = run::absolute("xtask/src/installed.py")?;
    clean.with(["-I", &script, &run::absolute("docs/python.md")?]).within(&home).run()
}

/// Returns the setting of a variable, which by default is a directory in the user's home.
fn kept(name: &str, default: &str) -> String {
    let home =
        || Path::new(&std::env::var("HOME").unwrap_or_default()).join(default).to_string_lossy().into_owned();
    format!("{name}={}", std::env::var(name).unwrap_or_else(|_| home()))
}

fn only_file(end: &str) -> Outcome<PathBuf> {
    let mut files = files(end)?;
    let file =
        files.pop().ok_or_else(|| format!("{} has no *{end}: run cargo xtask wheel", release::DIRECTORY))?;
    if files.is_empty() { Ok(file) } else { Err(format!("{} has several *{end}", release::DIRECTORY)) }
}

/// Returns the files of the Python package with this ending.
fn files(end: &str) -> Outcome<Vec<PathBuf>> {
    let entries = std::fs::read_dir(release::DIRECTORY).into_iter().flatten().flatten();
    let prefix = format!("zarrox-{}", release::VERSION);
    let is_wanted = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.strip_prefix(&prefix)
            .is_some_and(|rest| if end == ".whl" { rest.ends_with(end) } else { rest == end })
    };
    Ok(entries.map(|entry| entry.path()).filter(is_wanted).collect())
}
