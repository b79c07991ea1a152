//! Resource limits of the system: exceeding one is an error with a message and an exit code, and leaves no incomplete output.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up should fail")]

use std::process::Command;

use crate::common::{Run, Sandbox};

/// Runs the command under a limit that the shell's `ulimit` sets.
fn limited(place: &Sandbox, limit: &str, line: &[&str]) -> Run {
    let script = format!("ulimit -S {limit} || exit 99; exec \"$@\"");
    let mut command = Command::new("sh");
    command.args(["-c", &script, "sh", env!("CARGO_BIN_EXE_zarrox")]).args(line);
    Run::from(command.current_dir(place.path("")).output().unwrap())
}

/// Returns true for a journal, and for the marker of an unfinished deletion or move: the same command continues from them.
fn is_remembered(name: &str) -> bool {
    [".zarrox-journal", ".zarrox-unfinished", ".zarrox-renamed"].iter().any(|marker| name.starts_with(marker))
}

/// Returns the names of all files below the directory that are not chunks or documents.
fn temporary_files(place: &Sandbox) -> Vec<String> {
    let mut found = Vec::new();
    let mut directories = vec![place.path("")];
    while let Some(directory) = directories.pop() {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.is_dir() {
                directories.push(path);
            } else if name.contains("tmp") || name.starts_with('.') && !is_remembered(&name) {
                found.push(name);
            }
        }
    }
    found
}

#[test]
fn a_write_beyond_the_limit_for_files_is_an_error_and_leaves_no_temporary_file() {
    let place = Sandbox::new();
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
    let place = Sandbox::new();
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

/// Creates eight million bytes that compress badly, in a file and in arrays.
fn noise(place: &Sandbox) {
    let mut state = 1_u64;
    let next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state.to_be_bytes()[0]
    };
    place.write("noise.bin", std::iter::repeat_with(next).take(BYTES).collect::<Vec<_>>());
    let (shape, chunks) = (BYTES.to_string(), (BYTES / 2).to_string());
    let import = ["import", "noise.bin", "a.zarr/x", "--dtype", "u1", "--shape", &shape, "--chunks", &chunks];
    place.ok(&[&import[..], &["--compressor", "none"]].concat());
    place.ok(&["cp", "a.zarr", "e.zarr"]);
}

const BYTES: usize = 8_000_000;

/// Commands, each with the command that undoes it.
const COMMANDS: [(&[&str], &[&str]); 8] = [
    (
        &["import", "noise.bin", "b.zarr/x", "--dtype", "u1", "--shape", "8000000", "--chunks", "4000000"],
        &["rm", "--force", "b.zarr"],
    ),
    (&["cp", "a.zarr", "c.zarr", "--compressor", "gzip:1"], &["rm", "--force", "c.zarr"]),
    (&["rechunk", "--in-place", "--chunks", "3000000", "a.zarr/x"], &[]),
    (&["append", "e.zarr/x", "noise.bin"], &["rm", "--force", "e.zarr"]),
    (&["check", "a.zarr"], &[]),
    (&["diff", "a.zarr", "a.zarr"], &[]),
    (&["digest", "a.zarr"], &[]),
    (&["export", "a.zarr/x", "o.npy"], &[]),
];

/// Returns true if the process ended because a small allocation failed. No allocation of that size is handled, so such a process
/// counts as killed.
fn is_ended_by_a_small_allocation(run: &Run) -> bool {
    // The C library ends a process that has no memory for the data of a thread, and the standard library one that has none for
    // the signal stack of a thread.
    let of_a_thread = run.err.contains("Fatal glibc error") && run.err.contains("out of memory");
    if of_a_thread || run.err.contains("failed to allocate an alternative stack") {
        return true;
    }
    // A thread without memory for its stack prints another message first.
    let is_refused = run.err.contains("memory allocation of ");
    // Several threads may print the message at the same time.
    let last = run.err.rsplit("memory allocation of ").next().filter(|_| is_refused);
    let bytes = last.and_then(|rest| rest.split(' ').next());
    bytes.and_then(|bytes| bytes.parse().ok()).is_some_and(|bytes: usize| bytes <= 64 << 10)
}

/// Runs all commands under a limit. Each command succeeds, or fails with one of these messages. Each succeeds afterwards without
/// the limit. Returns the number of commands that failed.
fn all_end_in_words(limit: &str, words: &[&str], codes: &[i32]) -> usize {
    let place = Sandbox::new();
    noise(&place);
    let digest = place.ok(&["digest", "a.zarr/x"]);
    let mut refused = 0;
    for (line, undo) in COMMANDS {
        let run = limited(&place, limit, line);
        if !is_ended_by_a_small_allocation(&run) {
            assert!(run.code == 0 || codes.contains(&run.code), "{limit} {line:?} {run:?}");
            assert!(
                run.code == 0 || words.iter().any(|words| run.err.contains(words)),
                "{limit} {line:?} {run:?}"
            );
            assert_eq!(temporary_files(&place), Vec::<String>::new(), "{limit} {line:?}");
            refused += usize::from(run.code != 0);
        }
        let again = place.run(line);
        // If the destination is complete, the command fails since it exists.
        assert!([0, 4].contains(&again.code), "{limit} {line:?} {again:?}");
        if !undo.is_empty() {
            place.run(undo);
        }
        assert_eq!(place.ok(&["digest", "a.zarr/x"]), digest, "{limit} {line:?}");
        assert_eq!(place.run(&["check", "a.zarr"]).code, 0, "{limit} {line:?}");
    }
    refused
}

#[test]
fn a_command_that_may_write_no_large_file_ends_in_words() {
    let words = ["larger than the file system allows", "File too large"];
    assert!(all_end_in_words("-f 64", &words, &[1]) > 0);
}

#[test]
fn a_command_that_may_open_few_files_ends_in_words() {
    let limits = ["-n 6", "-n 9", "-n 12"];
    let refused: usize =
        limits.iter().map(|limit| all_end_in_words(limit, &["oo many open files"], &[1, 5, 8])).sum();
    assert!(refused > 0);
}

#[test]
#[cfg(target_os = "linux")]
fn a_command_without_memory_ends_in_words() {
    let place = Sandbox::new();
    // The minimum memory of the command depends on its build.
    let create = |limit: u32| {
        let line = ["create", "n.zarr", "--shape", "9", "--dtype", "u1", "--force"];
        limited(&place, &format!("-v {limit}"), &line).code == 0
    };
    let least = (1..100).map(|step| step * 8_000).find(|limit| create(*limit)).unwrap();
    let limits = [4_000, 8_000].map(|more| format!("-v {}", least + more));
    let refused: usize = limits.iter().map(|limit| all_end_in_words(limit, &["memory"], &[1, 8])).sum();
    assert!(refused > 0);
}

#[test]
#[cfg(target_os = "linux")]
fn a_chunk_that_decodes_to_more_than_it_should_takes_no_memory_for_it() {
    let place = Sandbox::new();
    let create = |name: &str, length: &str| {
        place.ok(&[
            "create",
            name,
            "--shape",
            length,
            "--chunks",
            length,
            "--dtype",
            "u1",
            "--compressor",
            "gzip:1",
        ])
    };
    create("bomb.zarr", "200000000");
    place.ok(&["fill", "bomb.zarr", "1"]);
    create("a.zarr", "1000");
    std::fs::create_dir_all(place.path("a.zarr/c")).unwrap();
    std::fs::copy(place.path("bomb.zarr/c/0"), place.path("a.zarr/c/0")).unwrap();
    // The limit is below the decoded size of the chunk, and above the memory that the command needs.
    let run = limited(&place, "-v 180000", &["check", "a.zarr"]);
    assert_eq!(run.code, 5, "{run:?}");
    assert!(String::from_utf8_lossy(&run.out).contains("corrupt-chunk"), "{run:?}");
}
