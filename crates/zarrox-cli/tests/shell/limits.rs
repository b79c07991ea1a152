//! Limits of the system: each is an error in words, with an exit code, and leaves nothing half done.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up should fail")]

use std::process::Command;

use crate::common::{Place, Run};

/// Runs the command under a limit of the shell's `ulimit`.
fn limited(place: &Place, limit: &str, line: &[&str]) -> Run {
    let script = format!("ulimit -S {limit} || exit 99; exec \"$@\"");
    let mut command = Command::new("sh");
    command.args(["-c", &script, "sh", env!("CARGO_BIN_EXE_zarrox")]).args(line);
    Run::from(command.current_dir(place.path("")).output().unwrap())
}

/// The names of all files below the directory that are not chunks or documents.
fn temporary_files(place: &Place) -> Vec<String> {
    let mut found = Vec::new();
    let mut directories = vec![place.path("")];
    while let Some(directory) = directories.pop() {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.is_dir() {
                directories.push(path);
            } else if name.contains("tmp") || name.starts_with('.') && !name.starts_with(".z") {
                found.push(name);
            }
        }
    }
    found
}

#[test]
fn a_write_beyond_the_limit_for_files_is_an_error_and_leaves_no_temporary_file() {
    let place = Place::new();
    let create = [
        "create",
        "a.zarr",
        "--shape",
        "1000000",
        "--chunks",
        "1000000",
        "--dtype",
        "int32",
        "--compressor",
        "none",
    ];
    place.ok(&create);
    let run = limited(&place, "-f 64", &["fill", "a.zarr", "5"]);
    assert_eq!(run.code, 1, "{run:?}");
    assert!(run.err.contains("larger than the file system allows"), "{run:?}");
    assert_eq!(temporary_files(&place), Vec::<String>::new());
    assert_eq!(place.json(&["info", "a.zarr", "--json"])["chunks"]["initialised"].as_u64().unwrap_or(0), 0);
}

#[test]
fn too_many_open_files_are_an_error_in_words() {
    let place = Place::new();
    place.ok(&["create", "a.zarr", "--shape", "400", "--chunks", "1", "--dtype", "int8"]);
    place.ok(&["fill", "a.zarr", "5"]);
    for line in [&["dump", "a.zarr"][..], &["fill", "a.zarr", "6"], &["check", "a.zarr"]] {
        let run = limited(&place, "-n 6", line);
        assert!(
            run.code == 0
                || run.err.contains("too many open files")
                || run.err.contains("Too many open files"),
            "{line:?} {run:?}"
        );
        assert!([0, 1, 5].contains(&run.code), "{line:?} {run:?}");
    }
}
