//! Conversions into other formats.

use serde_json::json;

use crate::common::Sandbox;

/// Returns a v2 hierarchy: a group, an array with xarray's dimension names, and an array of another data type.
fn hierarchy() -> Sandbox {
    let place = Sandbox::new();
    let attributes = r#"{"_ARRAY_DIMENSIONS": ["y", "x"], "units": "m"}"#;
    place.ok(&["create", "h.zarr", "--group", "--format", "v2", "--attrs", r#"{"title": "x"}"#]);
    place.ok(&[
        "create", "h.zarr/a", "--shape", "4,6", "--dtype", "<i2", "--chunks", "2,3", "--attrs", attributes,
    ]);
    place.write("values.raw", (0..24_i16).flat_map(i16::to_le_bytes).collect::<Vec<u8>>());
    let shape = ["--dtype", "<i2", "--shape", "4,6", "--chunks", "2,3", "--compressor", "zstd"];
    place.ok(&[&["import", "values.raw", "h.zarr/g/b"], &shape[..]].concat());
    place
}

#[test]
fn a_dry_run_tells_and_writes_nothing() {
    let place = hierarchy();
    let before = place.names();
    let text = place.ok(&["convert", "h.zarr", "new.zarr", "--to", "v3", "--dry-run"]);
    for line in
        ["/ (group): metadata only", "/a (array): copy bytes, 0 chunks, 0 bytes", "/g (group): metadata only"]
    {
        assert!(text.lines().any(|found| found == line), "{line} in {text}");
    }
    assert!(text.contains("/g/b (array): copy bytes, 4 chunks, "), "{text}");
    let text = place.ok(&["convert", "h.zarr", "--to", "3", "--dry-run"]);
    assert!(text.contains("-> in place (Zarr v3)") && text.contains("/g/b (array): metadata only"), "{text}");
    assert_eq!(place.names(), before);
    assert!(!place.path("h.zarr/zarr.json").exists());
}

#[test]
fn a_hierarchy_is_copied_into_another_format() {
    let place = hierarchy();
    place.ok(&["convert", "h.zarr", "new.zarr", "--to", "v3", "--verify"]);
    assert_eq!(place.json(&["info", "new.zarr", "--json"])["format"], "v3");
    assert_eq!(place.json(&["attrs", "get", "new.zarr/a"]), json!({"units": "m", "_FillValue": 0}));
    place.ok(&["convert", "h.zarr", "kept.zarr", "--to", "v3", "--keep-fill-values"]);
    assert_eq!(place.json(&["attrs", "get", "kept.zarr/a"]), json!({"units": "m"}));
    assert_eq!(place.json(&["info", "new.zarr/a", "--json"])["dimension_names"], json!(["y", "x"]));
    assert_eq!(place.ok(&["dump", "new.zarr/g/b"]), place.ok(&["dump", "h.zarr/g/b"]));
    assert!(place.path("new.zarr/g/b/c.0.0").exists());
    let message = place.fails(4, &["convert", "h.zarr", "new.zarr", "--to", "v3"]);
    assert!(message.contains("there is a node already"), "{message}");
    place.ok(&["convert", "h.zarr", "new.zarr", "--to", "v2", "--overwrite"]);
    assert_eq!(place.json(&["info", "new.zarr", "--json"])["format"], "v2");
}

#[test]
fn in_place_only_documents_change() {
    let place = hierarchy();
    let chunk = place.read("h.zarr/g/b/0.1");
    let dump = place.ok(&["dump", "h.zarr/g/b"]);
    place.ok(&["convert", "h.zarr", "--to", "v3"]);
    assert_eq!(place.read("h.zarr/g/b/0.1"), chunk);
    assert!(!place.path("h.zarr/g/b/.zarray").exists() && !place.path("h.zarr/.zgroup").exists());
    assert_eq!(place.ok(&["dump", "h.zarr/g/b"]), dump);
    place.ok(&["convert", "h.zarr", "--to", "v2", "--verify"]);
    assert!(place.path("h.zarr/g/b/.zarray").exists() && !place.path("h.zarr/zarr.json").exists());
    assert_eq!(place.ok(&["dump", "h.zarr/g/b"]), dump);
}

#[test]
fn losses_need_consent() {
    let place = Sandbox::new();
    place.ok(&["create", "h.zarr", "--group"]);
    place.ok(&["create", "h.zarr/a", "--shape", "4", "--dtype", "bfloat16"]);
    place.ok(&["create", "h.zarr/b", "--shape", "4", "--dtype", "int8"]);
    let command = ["convert", "h.zarr", "new.zarr", "--to", "v2"];
    let message = place.fails(6, &command);
    assert!(
        message.contains("/a: loss (data-types): ") && message.contains("; --allow data-types\n"),
        "{message}"
    );
    assert!(!place.path("new.zarr").exists());
    let dry = place.run(&[&command[..], &["--dry-run"]].concat());
    assert_eq!(dry.code, 6);
    assert!(String::from_utf8(dry.out).unwrap().contains("/a: loss (data-types): "));
    let told = place.ok(&[&command[..], &["--allow", "data-types,nodes"]].concat());
    assert!(told.contains("/a: loss (data-types): "), "{told}");
    assert_eq!(place.ok(&["ls", "new.zarr"]).lines().count(), 1);
    place.ok(&[&command[..], &["--lossy", "--overwrite"]].concat());
    let message = place.fails(2, &[&command[..], &["--allow", "everything"]].concat());
    assert!(message.contains("dimension-names"), "{message}");
    let message = place.fails(6, &["convert", "h.zarr", "--to", "v2"]);
    assert!(message.contains("give a destination"), "{message}");
    place.fails(2, &["convert", "h.zarr", "h.zarr/c", "--to", "v2"]);
    place.fails(2, &["convert", "h.zarr", "--to", "v9"]);
    place.fails(3, &["convert", "nothing.zarr", "--to", "v2"]);
}

/// An interruption leaves the journal and some of the chunks.
#[test]
fn what_was_interrupted_continues() {
    let place = hierarchy();
    place.ok(&["convert", "h.zarr", "whole.zarr", "--to", "v3"]);
    place.write("new.zarr/README", "not ours");
    place.fails(4, &["convert", "h.zarr", "new.zarr", "--to", "v3"]);
    std::fs::remove_file(place.path("new.zarr/README")).unwrap();
    place.write("h.zarr/g/b/1.1", "no chunk");
    let single = ["convert", "h.zarr/g/b", "new.zarr", "--to", "v1"];
    let message = place.fails(5, &single);
    assert!(message.contains("chunk [1, 1]"), "{message}");
    let journal = String::from_utf8(place.read("new.zarr/.zarrox-journal.json")).unwrap();
    assert!(journal.contains("give the same command again to continue it"), "{journal}");
    let message = place.fails(3, &["info", "new.zarr"]);
    assert!(message.contains("no Zarr array or group"), "{message}");
    let message = place.fails(4, &["convert", "h.zarr", "new.zarr", "--to", "v3"]);
    assert!(message.contains("was interrupted"), "{message}");
    place.write("h.zarr/g/b/1.1", place.read("whole.zarr/g/b/c.1.1"));
    let told = place.ok(&single);
    assert!(told.contains("note (codecs): "), "{told}");
    assert_eq!(place.ok(&["dump", "new.zarr"]), place.ok(&["dump", "h.zarr/g/b"]));
    assert!(!place.path("new.zarr/.zarrox-journal.json").exists());
}
