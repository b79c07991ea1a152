//! Digests and manifests by the command.

use serde_json::json;

use crate::common::Sandbox;

/// Returns an array of four chunks in v2, and the same in v3 with other chunks.
fn two() -> Sandbox {
    let place = Sandbox::new();
    let elements: Vec<u8> = (0..64_u8).flat_map(|n| [n, 1]).collect();
    place.write("elements.raw", &elements);
    for (path, format, chunks) in [("old.zarr", "v2", "4,4"), ("new.zarr", "v3", "8,3")] {
        let line = ["import", "elements.raw", &format!("{path}/a"), "--dtype", "<i2", "--shape", "8,8"];
        place.ok(&[&line[..], &["--format", format, "--chunks", chunks]].concat());
    }
    place
}

#[test]
fn equal_content_has_one_digest_and_stored_bytes_have_others() {
    let place = two();
    let digest = place.ok(&["digest", "old.zarr"]);
    assert!(digest.starts_with("content:") && digest.trim_end().len() == 8 + 64, "{digest}");
    assert_eq!(place.ok(&["digest", "new.zarr", "--memory", "1KiB"]), digest);
    let both = place.ok(&["digest", "old.zarr", "new.zarr"]);
    assert_eq!(both, format!("{}  old.zarr\n{}  new.zarr\n", digest.trim_end(), digest.trim_end()));
    let stored = place.ok(&["digest", "--stored", "old.zarr"]);
    assert!(stored.starts_with("stored:") && stored != place.ok(&["digest", "--stored", "new.zarr"]));
    place.ok(&["attrs", "set", "old.zarr/a", "n", "1"]);
    assert_ne!(place.ok(&["digest", "old.zarr"]), digest);
    assert_ne!(place.ok(&["digest", "--stored", "old.zarr"]), stored);
}

#[test]
fn hexdigests_are_those_of_arrays_of_v2() {
    let place = two();
    let digest = place.ok(&["digest", "--hexdigest", "old.zarr/a"]);
    assert!(digest.trim_end().len() == 40 && digest.trim_end().bytes().all(|byte| byte.is_ascii_hexdigit()));
    place.fails(6, &["digest", "--hexdigest", "new.zarr/a"]);
    place.fails(2, &["digest", "--hexdigest", "old.zarr"]);
    place.fails(3, &["digest", "nothing.zarr"]);
    place.write("old.zarr/a/0.0", "damaged");
    assert!(place.fails(5, &["digest", "old.zarr"]).contains("0.0"));
}

#[test]
fn copies_are_verified() {
    let place = two();
    place.ok(&["manifest", "write", "new.zarr", "-o", "new.manifest"]);
    assert_eq!(place.ok(&["manifest", "write", "new.zarr"]).into_bytes(), place.read("new.manifest"));
    assert_eq!(place.ok(&["manifest", "verify", "new.zarr", "new.manifest"]), "");
    place.fails(4, &["manifest", "write", "new.zarr", "-o", "new.manifest"]);
    place.ok(&["manifest", "write", "new.zarr", "-o", "new.manifest", "--force"]);
    place.fails(2, &["manifest", "write", "new.zarr", "-o", "new.zarr/a/manifest"]);

    std::fs::remove_file(place.path("new.zarr/a/c/0/1")).unwrap();
    place.write("new.zarr/notes", "new");
    let run = place.run(&["manifest", "verify", "new.zarr", "new.manifest"]);
    assert_eq!(run.code, 5, "{}", run.err);
    let out = String::from_utf8(run.out).unwrap();
    let lines: Vec<&str> = out.lines().collect();
    assert!(lines[0].starts_with("missing: a/c/0/1 (it had "), "{out}");
    assert_eq!(lines[1..], ["added: notes (3 bytes)"]);
    assert!(run.err.contains("1 missing, 1 added, and 4 unchanged"), "{}", run.err);
    let run = place.run(&["manifest", "verify", "--json", "new.zarr", "new.manifest"]);
    let out = String::from_utf8(run.out).unwrap();
    let last: serde_json::Value = serde_json::from_str(out.lines().last().unwrap()).unwrap();
    assert_eq!(last, json!({"kind": "added", "key": "notes", "size": 3}));

    let manifest = String::from_utf8(place.read("new.manifest")).unwrap();
    let cut = &manifest[..manifest.len() / 2];
    assert_eq!(place.run_with(&["manifest", "verify", "new.zarr", "-"], manifest.as_bytes()).code, 5);
    assert_eq!(place.run_with(&["manifest", "verify", "new.zarr", "-"], cut.as_bytes()).code, 2);
    place.fails(3, &["manifest", "verify", "nothing.zarr", "new.manifest"]);
    place.fails(3, &["manifest", "verify", "new.zarr", "nothing"]);
}

#[test]
fn the_manifest_of_a_directory_verifies_an_archive() {
    let place = two();
    place.ok(&["manifest", "write", "old.zarr", "-o", "old.manifest"]);
    place.ok(&["convert", "old.zarr", "copy.zip", "--to", "v2"]);
    assert_eq!(place.ok(&["manifest", "verify", "copy.zip", "old.manifest"]), "");
    assert_eq!(place.ok(&["digest", "--stored", "copy.zip"]), place.ok(&["digest", "--stored", "old.zarr"]));
}
