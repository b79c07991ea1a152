//! `downsample` and `validate-ome`.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[cfg(unix)]
mod killed;

use serde_json::{Value, json};

use crate::common::Sandbox;

/// Returns an array of 64 × 96 elements, in a group of its own.
fn image() -> Sandbox {
    let place = Sandbox::new();
    place.write(
        "values.raw",
        (0..6144_i32).flat_map(|n| i16::to_le_bytes(i16::try_from(n % 1999).unwrap())).collect::<Vec<u8>>(),
    );
    let shape = ["--dtype", "<i2", "--shape", "64,96", "--chunks", "16,16"];
    place.ok(&[&["import", "values.raw", "image.zarr/0"], &shape[..]].concat());
    place
}

fn attributes(place: &Sandbox, path: &str) -> Value {
    serde_json::from_str(&place.ok(&["attrs", "get", path])).unwrap()
}

#[test]
fn levels_are_made_beside_an_array() {
    let place = image();
    let plan = place.ok(&["downsample", "image.zarr/0", "--dry-run"]);
    assert!(
        plan.starts_with("method mean, described as OME-Zarr 0.5\n") && plan.contains("levels 0 to 3"),
        "{plan}"
    );
    let plan = place.json(&[
        "downsample",
        "image.zarr/0",
        "--dry-run",
        "--json",
        "--factors",
        "1,3",
        "--method",
        "max",
    ]);
    assert_eq!((&plan["method"], &plan["levels"][1]["shape"]), (&json!("max"), &json!([64, 32])));
    place.fails(3, &["info", "image.zarr/1"]);
    let done = [
        "downsample",
        "image.zarr/0",
        "--levels",
        "2",
        "--scale",
        "0.5,0.5",
        "--unit",
        "micrometer",
        "--json",
    ];
    let done = place.json(&[&done[..], &["--name", "rows", "--channel", "DAPI:blue"]].concat());
    assert_eq!(done["levels"][2]["translation"], json!([0.75, 0.75]));
    let ome = &attributes(&place, "image.zarr")["ome"];
    assert_eq!(ome["multiscales"][0]["axes"][1], json!({"name": "x", "type": "space", "unit": "micrometer"}));
    assert_eq!(
        (&ome["multiscales"][0]["name"], &ome["omero"]["channels"][0]["color"]),
        (&json!("rows"), &json!("0000FF"))
    );
    assert_eq!(place.ok(&["validate-ome", "image.zarr"]), "image.zarr: valid\n");
    let element = place.ok(&["dump", "image.zarr/1[0, 0]"]);
    // The mean of the elements 0, 1, 96 and 97 is 48.5.
    assert_eq!(element.trim(), "48");
    place.fails(4, &["downsample", "image.zarr/0"]);
    place.ok(&["downsample", "image.zarr", "--force", "--method", "min"]);
    assert_eq!(place.ok(&["dump", "image.zarr/3[0, 0]"]).trim(), "0");
}

#[test]
fn a_new_group_has_another_format_and_other_chunks() {
    let place = image();
    let line = [
        "downsample",
        "image.zarr/0",
        "old.zarr",
        "--ome",
        "0.4",
        "--chunks",
        "32,32",
        "--compressor",
        "zstd:1",
    ];
    place.ok(&line);
    let info = place.json(&["info", "old.zarr/0", "--json"]);
    assert_eq!((&info["format"], &info["chunk_shape"]), (&json!("v2"), &json!([32, 32])));
    assert_eq!(attributes(&place, "old.zarr")["multiscales"][0]["version"], json!("0.4"));
    assert_eq!(place.ok(&["dump", "image.zarr/0"]), place.ok(&["dump", "old.zarr/0"]));
    place.ok(&["validate-ome", "old.zarr"]);
    place.ok(&["downsample", "image.zarr/0", "plain.zarr", "--multiscales", "--levels", "1"]);
    assert_eq!(attributes(&place, "plain.zarr")["multiscales"]["layout"][1]["asset"], json!("1"));
    place.fails(2, &["downsample", "image.zarr/0", "a.zarr", "--ome", "0.6"]);
    place.fails(2, &["downsample", "image.zarr/0", "a.zarr", "--method", "median3"]);
    place.fails(2, &["downsample", "image.zarr/0", "a.zarr", "--dtype", "float32"]);
    place.fails(2, &["downsample", "image.zarr/0", "a.zarr", "--ome", "0.4", "--format", "v3"]);
    place.fails(3, &["downsample", "none.zarr", "a.zarr"]);
    assert!(!place.names().contains(&"a.zarr".to_owned()));
}

#[test]
fn findings_are_told_line_by_line() {
    let place = image();
    place.ok(&["downsample", "image.zarr/0", "--levels", "1"]);
    let document = String::from_utf8(place.read("image.zarr/zarr.json")).unwrap();
    let document = document.replace("\"space\"", "\"room\"").replace("\"path\": \"1\"", "\"path\": \"9\"");
    place.write("image.zarr/zarr.json", document);
    let run = place.run(&["validate-ome", "image.zarr"]);
    let told = String::from_utf8(run.out).unwrap();
    assert_eq!(run.code, 5, "{told}");
    assert!(
        told.contains("error /9: there is no node here\n")
            && told.ends_with("image.zarr: 2 errors, 0 warnings\n"),
        "{told}"
    );
    let run = place.run(&["validate-ome", "--json", "image.zarr"]);
    let lines: Vec<Value> =
        String::from_utf8(run.out).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((run.code, lines.len()), (5, 2));
    assert_eq!((&lines[0]["severity"], &lines[0]["root"]), (&json!("error"), &json!("image.zarr")));
    place.fails(2, &["validate-ome", "image.zarr/0"]);
    place.fails(3, &["validate-ome", "none.zarr"]);
}
