//! Checks and repairs by the command.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use crate::common::Sandbox;

/// Returns a hierarchy with two arrays. Some chunks of `a` were never stored.
fn place() -> Sandbox {
    let place = Sandbox::new();
    place.write("six.bin", [1, 2, 3, 4, 5, 6]);
    for name in ["a", "b"] {
        let path = format!("h.zarr/{name}");
        place.ok(&["import", "six.bin", &path, "--dtype", "uint8", "--shape", "6", "--chunks", "2"]);
    }
    place.ok(&["create", "h.zarr/empty", "--shape", "4,4", "--dtype", "int8", "--chunks", "2,2"]);
    place
}

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_clean_hierarchy_ends_with_0() {
    let place = place();
    let out = place.ok(&["check", "h.zarr"]);
    assert_eq!(out, "h.zarr: clean; 3 arrays, 1 group, 6 chunks of 66 bytes\n");
    for level in ["--metadata", "--quick", "--full"] {
        assert!(place.ok(&["check", "h.zarr", level]).starts_with("h.zarr: clean; 3 arrays"));
    }
    assert_eq!(place.ok(&["check", "h.zarr/a", "h.zarr/b", "-q"]), "");
    assert_eq!(place.ok(&["check", "h.zarr", "--json"]), "");
    assert_eq!(place.run(&["check", "nothing.zarr"]).code, 3);
    assert_eq!(place.run(&["check"]).code, 2);
    assert_eq!(place.run(&["check", "h.zarr", "--dry-run"]).code, 2, "without --repair");
    assert_eq!(place.run(&["check", "h.zarr", "--quick", "--metadata"]).code, 2);
}

#[test]
fn notes_are_clean_and_damage_ends_with_5() {
    let place = place();
    let out = place.ok(&["check", "h.zarr", "--missing"]);
    let expected = "/empty:\n  note missing-chunks: chunks [0, 0] to [1, 1]: 4 chunks in row-major order are not stored \
                    [repair: nothing: chunks that are not stored are the fill value]\n";
    assert!(out.starts_with(expected), "{out}");
    assert!(
        out.ends_with("h.zarr: 0 errors, 0 warnings, 1 note; 3 arrays, 1 group, 6 chunks of 66 bytes\n"),
        "{out}"
    );

    place.write("h.zarr/a/c/0", b"nonsense");
    place.write("h.zarr/b/c/1", b"");
    let run = place.run(&["check", "h.zarr"]);
    let out = String::from_utf8(run.out).unwrap();
    assert_eq!((run.code, run.err.as_str()), (5, ""), "{out}");
    let found: Vec<&str> = out.lines().collect();
    assert_eq!(found[0], "/a:");
    assert!(found[1].starts_with("  error corrupt-chunk: chunk [0] (key 'a/c/0'): codec 'zstd'"), "{out}");
    assert!(found[1].ends_with(" [repair: move it to the quarantine]"), "{out}");
    assert_eq!(
        found[2..4],
        [
            "/b:",
            "  error empty-chunk: chunk [1] (key 'b/c/1'): it has no bytes [repair: move it to the quarantine]"
        ]
    );
    assert!(found[4].starts_with("h.zarr: 2 errors, 0 warnings, 0 notes; 3 arrays"), "{out}");
    assert_eq!(place.run(&["check", "h.zarr", "-q"]).code, 5);
    assert_eq!(place.run(&["check", "h.zarr/a", "--quick"]).code, 0, "no chunk is decoded");
    // A valid node does not hide the findings of another node.
    assert_eq!(place.run(&["check", "h.zarr/b", "h.zarr/empty"]).code, 5);
    assert_eq!(place.run(&["check", "h.zarr/empty", "nothing.zarr", "h.zarr/b"]).code, 3);
}

#[test]
fn json_has_one_finding_a_line() {
    let place = place();
    place.write("h.zarr/b/c/1", b"");
    let run = place.run(&["check", "h.zarr", "--json", "--missing"]);
    assert_eq!(run.code, 5);
    let found = lines(std::str::from_utf8(&run.out).unwrap());
    assert_eq!(found.len(), 2);
    let expected = json!({
        "root": "h.zarr", "severity": "error", "kind": "empty-chunk", "path": "b", "chunk": [1], "last_chunk": null,
        "inner_chunk": null, "key": "b/c/1", "message": "it has no bytes", "repair": "move it to the quarantine",
        "repairable": true, "outcome": "left", "failure": null,
    });
    assert_eq!(found[0], expected);
    assert_eq!(found[1]["kind"], "missing-chunks");
    assert_eq!((&found[1]["chunk"], &found[1]["last_chunk"]), (&json!([0, 0]), &json!([1, 1])));
}

#[test]
fn a_dry_run_changes_nothing_and_a_repair_mends() {
    let place = place();
    place.write("h.zarr/a/c/0", b"nonsense");
    place.write("h.zarr/b/c/7", b"outside");
    let run = place.run(&["check", "h.zarr", "--repair", "--dry-run"]);
    let out = String::from_utf8(run.out).unwrap();
    assert_eq!(run.code, 5, "{out}");
    assert_eq!(out.matches("[would be repaired: move it to the quarantine]").count(), 2, "{out}");
    assert_eq!(place.read("h.zarr/a/c/0"), b"nonsense");
    assert_eq!(place.names(), ["h.zarr", "six.bin"]);

    let out = place.ok(&["check", "h.zarr", "--repair", "--refill"]);
    assert!(out.contains("[repaired: move it to the quarantine, and write fill values]"), "{out}");
    assert!(out.contains("h.zarr: 1 error, 1 warning, 0 notes, 2 repaired; "), "{out}");
    assert!(out.contains("  damaged objects are in ") && out.contains("h.zarr.quarantine\n"), "{out}");
    assert_eq!(place.read("h.zarr.quarantine/a/c/0"), b"nonsense");
    assert_eq!(place.read("h.zarr.quarantine/b/c/7"), b"outside");
    assert_eq!(place.ok(&["dump", "h.zarr/a"]), "[0 0 3 4 5 6]\n");
    assert!(place.ok(&["check", "h.zarr"]).starts_with("h.zarr: clean"));
}

#[test]
fn a_repair_that_fails_says_why_and_ends_with_5() {
    let place = place();
    place.write("h.zarr/a/c/0", b"nonsense");
    place.write("h.zarr.quarantine", b"in the way");
    let run = place.run(&["check", "h.zarr", "--repair", "--json"]);
    let found = lines(std::str::from_utf8(&run.out).unwrap());
    assert_eq!((run.code, &found[0]["outcome"]), (5, &json!("failed")));
    assert!(found[0]["failure"].as_str().unwrap().contains("h.zarr.quarantine"), "{found:?}");
    assert_eq!(place.read("h.zarr/a/c/0"), b"nonsense");
}

#[test]
fn a_place_that_cannot_be_written_can_be_checked() {
    let place = place();
    let mode = |mode| {
        for name in ["h.zarr", "h.zarr/a", "h.zarr/a/c"] {
            std::fs::set_permissions(place.path(name), std::fs::Permissions::from_mode(mode)).unwrap();
        }
    };
    place.write("h.zarr/a/c/0", b"nonsense");
    mode(0o555);
    assert_eq!(place.run(&["check", "h.zarr"]).code, 5);
    mode(0o755);
}
