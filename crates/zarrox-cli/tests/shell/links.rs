//! Dangling links and odd files in place of chunks, and the files that `--sync` flushes.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up should fail")]
#![cfg(unix)]

use std::os::unix::fs::symlink;
use std::process::Command;

use zarrox_testkit::other_process;

use crate::common::Sandbox;

/// Returns an array of two chunks. `spoil` names the replacement for the file of the first chunk.
fn spoiled(spoil: &str) -> Sandbox {
    let place = Sandbox::new();
    place.write("elements.raw", [1, 2, 3, 4]);
    place.ok(&["import", "elements.raw", "g.zarr/a", "--dtype", "u1", "--shape", "4", "--chunks", "2"]);
    let chunk = place.path("g.zarr/a/c/0");
    std::fs::remove_file(&chunk).unwrap();
    match spoil {
        "link" => symlink("../../annex/key", chunk).unwrap(),
        "pipe" => assert!(Command::new("mkfifo").arg(chunk).status().unwrap().success()),
        _ => std::fs::create_dir(chunk).unwrap(),
    }
    place
}

#[test]
fn what_stands_in_the_place_of_a_chunk_is_an_error_for_every_command_and_no_fill_value() {
    for (spoil, says) in [
        ("link", "git annex get"),
        ("pipe", "a pipe is not a value"),
        ("directory", "a directory has the name"),
    ] {
        for line in [
            &["dump", "g.zarr/a"][..],
            &["stats", "g.zarr/a"],
            &["digest", "g.zarr"],
            &["digest", "--stored", "g.zarr"],
            &["manifest", "write", "g.zarr"],
            &["check", "g.zarr"],
            &["check", "g.zarr", "--repair"],
            &["cp", "g.zarr", "copy.zarr"],
            &["cp", "g.zarr/a", "copy.zarr", "--chunks", "4"],
            &["mv", "g.zarr", "moved.zip"],
            &["export", "g.zarr/a", "a.npy"],
        ] {
            let place = spoiled(spoil);
            let run = place.run(line);
            // Other stores omit a directory without files from listings, and do not treat it as a value; reading it is an error.
            let reads = matches!(line[0], "dump" | "stats" | "export")
                || line.contains(&"g.zarr") && line.len() == 2 && line[0] == "digest";
            if spoil == "directory" && !reads {
                continue;
            }
            let told = format!("{}{}", run.err, String::from_utf8_lossy(&run.out));
            assert_ne!(run.code, 0, "{spoil}: {line:?}: {told}");
            assert!(told.contains("c/0") && told.contains(says), "{spoil}: {line:?}: {told}");
            assert!(std::fs::symlink_metadata(place.path("g.zarr/a/c/0")).is_ok(), "{spoil}: {line:?}");
        }
    }
}

#[test]
fn a_check_names_links_to_nothing_that_may_be_nodes_or_chunks() {
    let place = Sandbox::new();
    place.ok(&["create", "g.zarr/a", "--shape", "4", "--dtype", "u1"]);
    symlink("/nowhere/scratch", place.path("g.zarr/a/c")).unwrap();
    symlink("/nowhere/array", place.path("g.zarr/b")).unwrap();
    let run = place.run(&["check", "g.zarr"]);
    let told = String::from_utf8(run.out).unwrap();
    assert_eq!(run.code, 5, "{told}");
    assert!(told.contains("/nowhere/scratch") && told.contains("/nowhere/array"), "{told}");
    assert!(place.fails(1, &["dump", "g.zarr/a"]).contains("/nowhere/scratch"));
    assert!(place.fails(1, &["dump", "g.zarr/b"]).contains("/nowhere/array"));
}

/// Returns the system calls of a run with `--sync`, as strace prints them; `None` without strace, which `.ci/run` requires.
fn traced(place: &Sandbox, line: &[&str]) -> Option<String> {
    let mut command = other_process::strace()?;
    command.args(["-f", "-y", "-e", "trace=fsync,rename,renameat,renameat2,link,linkat", "-o", "trace"]);
    command.arg(env!("CARGO_BIN_EXE_zarrox")).args(line).current_dir(place.path(""));
    let output = command.output().unwrap();
    assert!(output.status.success(), "{line:?}: {output:?}");
    Some(String::from_utf8(place.read("trace")).unwrap())
}

#[test]
fn files_that_are_written_with_sync_are_flushed_before_they_get_their_name_and_their_names_are_flushed() {
    let place = Sandbox::new();
    place.write("elements.raw", [1; 64]);
    place.ok(&["import", "elements.raw", "a.zarr", "--dtype", "u1", "--shape", "4,4,4", "--chunks", "2,2,2"]);
    place.write("out/others/here", "");
    for (line, of_directory) in [
        (&["export", "a.zarr", "out/others/a.npy"][..], false),
        (&["export", "a.zarr", "out/others/a.npz"], false),
        (&["export", "a.zarr", "out/others/a.nc"], false),
        (&["export", "a.zarr", "out/others/a.tif"], false),
        (&["export", "a.zarr", "out/others/stack", "--stack", "png"], true),
        (&["manifest", "write", "a.zarr", "-o", "out/others/a.manifest"], false),
    ] {
        let Some(calls) = traced(&place, &[line, &["--sync"]].concat()) else { return };
        let at = |what: &dyn Fn(&str) -> bool| calls.lines().position(what);
        let flushes = |line: &str, end: &str| line.contains("fsync(") && line.contains(end);
        let named = at(&|line| line.contains("rename") || line.contains("link")).unwrap();
        let file = at(&|line| flushes(line, if of_directory { ".png>" } else { ".tmp>" }));
        assert!(file.is_some_and(|file| file < named), "{line:?}: {calls}");
        for directory in ["/out/others>", "/out>"] {
            let name = at(&|line| flushes(line, directory));
            assert!(name.is_some_and(|name| name > named), "{line:?}: {directory} {calls}");
        }
    }
    let calls = traced(&place, &["export", "a.zarr", "out/others/b.npy"]).unwrap();
    assert!(!calls.contains("fsync("), "{calls}");
}

#[test]
fn a_server_of_references_in_a_file_gives_nothing_outside_of_its_directory() {
    let place = Sandbox::new();
    let directory = place.path("sets").display().to_string();
    let document = |target: &str| {
        format!(
            r#"{{"version": 1, "refs": {{"a/.zarray": "{{\"zarr_format\": 2, \"shape\": [4], \"chunks\": [4], \"dtype\": \"|u1\", \"compressor\": null, \"fill_value\": 0, \"filters\": null, \"order\": \"C\"}}", ".zgroup": "{{\"zarr_format\": 2}}", "a/0": ["{target}", 0, 4]}}}}"#
        )
    };
    place.write("sets/data.raw", [1, 2, 3, 4]);
    place.write("sets/good.json", document(&format!("{directory}/data.raw")));
    place.write("sets/bad.json", document("/etc/passwd"));
    let url = |name: &str| format!("reference://a::{directory}/{name}.json");
    assert_eq!(place.ok(&["dump", &url("good")]), "[1 2 3 4]\n");
    assert!(place.fails(7, &["dump", &url("bad")]).contains("allow_local"));
    assert_eq!(
        place.ok(&["dump", &url("bad"), "--storage", "allow_local=true"]).len(),
        "[114 111 111 116]\n".len()
    );
}
