//! `cargo xtask dist`: the command as an archive.

use std::path::Path;

use crate::release::{self, GLIBC, VERSION};
use zarrox_runner::run::{self, Outcome, program};

pub(crate) const HELP: &str = "\
Builds the command for any Linux with glibc 2.17 or newer, as an archive with manual pages, completions and licences

The archive and its checksum are in target/release-files. The command is built together with the libraries of the Python package,
so that `cargo xtask wheel` compiles them for both.";

/// The largest command, in megabytes.
const MOST: u64 = 30;

/// The shells with completions, and the names of their files.
const SHELLS: [(&str, &str); 3] = [("bash", "zarrox.bash"), ("zsh", "_zarrox"), ("fish", "zarrox.fish")];

pub(crate) fn run(arguments: &[String]) -> Outcome {
    if let Some(first) = arguments.first() {
        return Err(format!("unknown argument '{first}': dist takes no arguments"));
    }
    let target = release::target();
    // The second package adds the features of the wheel, so that the command and the wheel share compiled libraries.
    let packages = ["--package", "zarrox-cli", "--package", "zarrox-python", "--bin", "zarrox"];
    let build = release::tool("cargo-zigbuild")?.with(["zigbuild", "--release", "--locked"]).with(packages);
    build.with(["--target", &format!("{target}.{}.{}", GLIBC.0, GLIBC.1)]).run()?;
    let name = format!("zarrox-{VERSION}-{}-linux", std::env::consts::ARCH);
    let folder = run::empty_directory(Path::new(release::DIRECTORY).join(&name))?;
    let command = folder.join("zarrox");
    let built = run::target(&format!("{target}/release/zarrox"));
    program("strip", ["--strip-all", "-o", &command.to_string_lossy(), &built]).run()?;
    release::check_size(&command, MOST)?;
    release::check_glibc(&command)?;
    fill(&folder, &run::absolute(&command)?)?;
    pack(&name)
}

/// Adds everything but the command.
fn fill(folder: &Path, command: &str) -> Outcome {
    let version = program(command, ["--version"]).printed()?;
    println!("{version}");
    let head = program("git", ["rev-parse", "HEAD"]).output().ok_or("`git rev-parse` failed")?;
    if !version.contains(&head) {
        return Err(format!("the command does not name the commit {head}"));
    }
    program(command, ["man", &folder.join("man/man1").to_string_lossy()]).run()?;
    for (shell, file) in SHELLS {
        run::write(
            folder.join("completions").join(file),
            &program(command, ["completions", shell]).printed()?,
        )?;
    }
    release::with_notices("zarrox-cli", |notices| {
        [notices, "LICENSE-MIT", "LICENSE-APACHE", "README.md", "CHANGELOG.md"].into_iter().try_for_each(
            |file| {
                std::fs::copy(file, folder.join(file)).map(drop).map_err(|error| format!("{file}: {error}"))
            },
        )
    })
}

/// Packs the folder, and writes its checksum.
fn pack(name: &str) -> Outcome {
    let archive = format!("{name}.tar.gz");
    let plain = ["--sort=name", "--owner=0", "--group=0", "--numeric-owner"];
    let tar = program("tar", plain).with(["--create", "--gzip", "--file", &archive, name]);
    tar.within(release::DIRECTORY).run()?;
    let sums = program("sha256sum", [&archive]).within(release::DIRECTORY).printed()?;
    print!("{sums}");
    run::write(Path::new(release::DIRECTORY).join("SHA256SUMS"), &sums)?;
    run::remove_directory(Path::new(release::DIRECTORY).join(name))
}
