//! The commands of the guide: each runs, and prints what the guide shows.

#![expect(clippy::unwrap_used, reason = "a test stops at the first failure")]

use std::path::Path;
use std::process::Command;

use crate::common::Sandbox;

/// A command of a chapter, and the output lines that the chapter shows; empty if it shows none.
struct Shown {
    command: String,
    output: Vec<String>,
}

/// Returns the commands in the blocks `console` of a chapter.
fn shown(chapter: &str) -> Vec<Shown> {
    let mut all: Vec<Shown> = Vec::new();
    let mut inside = false;
    for line in chapter.lines() {
        match line.strip_prefix("$ ") {
            _ if line.starts_with("```") => inside = line == "```console",
            Some(command) if inside => {
                all.push(Shown { command: command.to_owned(), output: Vec::new() });
            }
            None if inside => all.last_mut().unwrap().output.push(line.to_owned()),
            _ => {}
        }
    }
    all
}

/// Runs the commands of a chapter one after the other in one directory. A command that fails in the chapter ends with `; echo
/// $?`.
fn run(name: &str) {
    let chapter = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide").join(name);
    let chapter = std::fs::read_to_string(chapter).unwrap();
    let directory = Path::new(env!("CARGO_BIN_EXE_zarrox")).parent().unwrap();
    let path = format!("{}:{}", directory.display(), std::env::var("PATH").unwrap());
    let place = Sandbox::new();
    let all = shown(&chapter);
    assert!(all.len() > 5, "{name}");
    for Shown { command, output } in all {
        let mut shell = Command::new("bash");
        shell.args(["-c", &format!("set -o pipefail; {command}")]).env("PATH", &path).env("COLUMNS", "132");
        let done = shell.current_dir(place.path("")).output().unwrap();
        assert!(done.status.success(), "{name}: {command}: {}", String::from_utf8_lossy(&done.stderr));
        let printed = String::from_utf8(done.stdout).unwrap();
        if !output.is_empty() {
            assert_eq!(printed.lines().collect::<Vec<_>>(), output, "{name}: {command}");
        }
    }
}

#[test]
fn questions() {
    run("../questions.md");
}

#[cfg(feature = "serve")]
#[test]
fn cookbook() {
    run("../cookbook.md");
}

#[test]
fn command() {
    run("command.md");
}

#[test]
fn copying() {
    run("copying.md");
}

#[test]
fn files() {
    run("files.md");
}

#[test]
fn inspecting() {
    run("inspecting.md");
}

#[cfg(feature = "serve")]
#[test]
fn serving() {
    run("serve.md");
}

#[test]
fn changing() {
    run("changing.md");
}

#[test]
fn pyramids() {
    run("pyramids.md");
}
