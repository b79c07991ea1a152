//! Changes of elements, shapes, names and attributes, and finding nodes.

use serde_json::json;

use crate::common::Sandbox;

fn sea() -> Sandbox {
    let place = Sandbox::new();
    let names = ["--dimension-names", "y,x", "--attrs", r#"{"units": "m"}"#];
    place.ok(&[&["create", "sea.zarr/depth", "--shape", "4,6", "--dtype", "int16"], &names[..]].concat());
    place.ok(&["create", "sea.zarr/g/wind", "--shape", "6", "--dtype", "f4", "--dimension-names", "x"]);
    place
}

#[test]
fn elements_are_set_to_values_and_lists() {
    let place = sea();
    place.ok(&["set", "sea.zarr/depth[1, ::2]", "[1, 2, 3]"]);
    place.ok(&["set", "sea.zarr/depth[2:, 0]", "[[7]]"]);
    place.ok(&["set", "sea.zarr/g/wind[-1]", "NaN"]);
    place.ok(&["fill", "sea.zarr/g/wind[:2]", "1.5"]);
    assert_eq!(
        place.json(&["dump", "sea.zarr/depth[1:3]", "--json"]),
        json!([[1, 0, 2, 0, 3, 0], [7, 0, 0, 0, 0, 0]])
    );
    assert_eq!(place.ok(&["dump", "sea.zarr/g/wind"]), "[1.5 1.5 0.  0.  0.  nan]\n");
    place.ok(&["fill", "sea.zarr/depth"]);
    assert_eq!(place.json(&["stats", "sea.zarr/depth", "--json"])["max"], json!(0));
    assert!(!place.path("sea.zarr/depth/c").join("0").exists());
    for bad in [
        &["set", "sea.zarr/depth", "3"][..],
        &["set", "sea.zarr/depth[0]", "[1, 2]"],
        &["set", "sea.zarr/depth[0]", "70000"],
        &["set", "sea.zarr/depth[0]", "[[1], [2, 3]]"],
        &["set", "sea.zarr/depth[9]", "1"],
        &["fill", "sea.zarr/depth", "[1]"],
    ] {
        place.fails(2, bad);
    }
    place.ok(&["create", "text.zarr", "--shape", "2", "--dtype", "string"]);
    place.ok(&["set", "text.zarr[0]", "word"]);
    place.ok(&["set", "text.zarr[1]", "12"]);
    assert_eq!(place.json(&["dump", "text.zarr", "--json"]), json!(["word", "12"]));
}

#[test]
fn shapes_shrink_only_on_request() {
    let place = sea();
    place.ok(&["fill", "sea.zarr/depth", "3"]);
    place.ok(&["resize", "sea.zarr/depth", "5,-1"]);
    assert_eq!(place.ok(&["tail", "-n", "2", "sea.zarr/depth"]), "[[3 3 3 3 3 3]\n [0 0 0 0 0 0]]\n");
    let message = place.fails(2, &["resize", "sea.zarr/depth", "2,6"]);
    assert!(message.contains("--shrink"), "{message}");
    place.ok(&["resize", "sea.zarr/depth", "2,6", "--shrink"]);
    assert_eq!(place.json(&["info", "sea.zarr/depth", "--json"])["shape"], json!([2, 6]));
    place.fails(2, &["resize", "sea.zarr/depth", "2"]);
}

#[test]
fn dimensions_get_other_names_wherever_they_are() {
    let place = sea();
    let old = ["--format", "v2", "--attrs", r#"{"_ARRAY_DIMENSIONS": ["x", "z"]}"#];
    place.ok(&[&["create", "old.zarr", "--shape", "2,3", "--dtype", "int8"], &old[..]].concat());
    place.ok(&["rename-dim", "old.zarr", "z", "height"]);
    assert_eq!(place.json(&["attrs", "get", "old.zarr", "_ARRAY_DIMENSIONS"]), json!(["x", "height"]));
    place.ok(&["rename-dim", "sea.zarr", "x", "lon"]);
    let names = |path| place.json(&["info", path, "--json"])["dimension_names"].clone();
    assert_eq!((names("sea.zarr/depth"), names("sea.zarr/g/wind")), (json!(["y", "lon"]), json!(["lon"])));
    place.fails(3, &["rename-dim", "sea.zarr", "x", "lat"]);
    place.fails(4, &["rename-dim", "sea.zarr/depth", "y", "lon"]);
}

#[test]
fn the_header_shows_a_whole_hierarchy() {
    let place = sea();
    place.ok(&["attrs", "set", "sea.zarr", "title", "sea", "--string"]);
    let lines = [
        "group sea.zarr {",
        "dimensions:",
        "    x = 6 ;",
        "    y = 4 ;",
        "variables:",
        "    int16 depth(y, x) ;",
        "        depth:units = \"m\" ;",
        "// attributes:",
        "    :title = \"sea\" ;",
        "  group g {",
        "  dimensions:",
        "      x = 6 ;",
        "  variables:",
        "      float32 wind(x) ;",
        "  }",
        "}",
    ];
    assert_eq!(place.ok(&["info", "--header", "sea.zarr"]).lines().collect::<Vec<_>>(), lines);
    assert!(place.ok(&["info", "--header", "sea.zarr/depth"]).starts_with("array depth {\n"));
}

#[test]
fn nodes_are_found_by_all_their_properties() {
    let place = sea();
    let found = |line: &[&str]| place.ok(&[&["find", "sea.zarr"], line].concat());
    assert_eq!(found(&[]), "sea.zarr/depth\nsea.zarr/g\nsea.zarr/g/wind\n");
    assert_eq!(found(&["--kind", "group"]), "sea.zarr/g\n");
    assert_eq!(found(&["--dtype", "<f4"]), "sea.zarr/g/wind\n");
    assert_eq!(found(&["--shape", "*,6"]), "sea.zarr/depth\n");
    assert_eq!(found(&["--attr", "units=m", "--name", "d*"]), "sea.zarr/depth\n");
    assert_eq!(found(&["--attr", "units=km"]), "");
    assert_eq!(place.json(&["find", "sea.zarr", "--name", "g/*", "--json"]), json!(["sea.zarr/g/wind"]));
    place.fails(2, &["find", "sea.zarr", "--shape", "x"]);
}

#[cfg(unix)]
#[test]
fn attributes_are_edited_copied_and_compared() {
    let place = sea();
    let edit = |editor: &str| {
        let mut command = place.command(&["attrs", "edit", "sea.zarr/depth"]);
        command.env("EDITOR", editor).env_remove("VISUAL").output().unwrap()
    };
    assert!(edit("sed -i s/m/km/").status.success());
    assert_eq!(place.json(&["attrs", "get", "sea.zarr/depth"]), json!({"units": "km"}));
    assert_eq!(edit("sed -i s/{/x/").status.code(), Some(2));
    assert_eq!(edit("false").status.code(), Some(2));
    // Another process changes the attributes first.
    let zarrox = env!("CARGO_BIN_EXE_zarrox");
    place.write("editor.sh", format!("{zarrox} attrs set sea.zarr/depth n 1\nsed -i s/km/cm/ $1\n"));
    let conflict = edit("sh editor.sh");
    assert!(String::from_utf8_lossy(&conflict.stderr).contains("another process changed"), "{conflict:?}");
    assert_eq!(place.json(&["attrs", "get", "sea.zarr/depth"]), json!({"units": "km", "n": 1}));
    place.ok(&["attrs", "cp", "sea.zarr/depth", "sea.zarr/g", "units"]);
    assert_eq!(place.json(&["attrs", "get", "sea.zarr/g"]), json!({"units": "km"}));
    let run = place.run(&["attrs", "diff", "sea.zarr/depth", "sea.zarr/g"]);
    assert_eq!((run.code, run.out.as_slice()), (1, &b"n: 1 and none\n"[..]));
    place.ok(&["attrs", "cp", "sea.zarr/depth", "sea.zarr/g"]);
    place.ok(&["attrs", "diff", "sea.zarr/depth", "sea.zarr/g"]);
    place.fails(2, &["attrs", "diff", "sea.zarr/depth", "sea.zarr/nothing"]);
    place.fails(3, &["attrs", "cp", "sea.zarr/depth", "sea.zarr/g", "nothing"]);
}

#[test]
fn documents_are_shown_and_validated() {
    let place = sea();
    let shown = place.run(&["meta", "show", "sea.zarr/depth"]).out;
    assert_eq!(
        String::from_utf8(shown).unwrap().trim_end().as_bytes(),
        place.read("sea.zarr/depth/zarr.json").trim_ascii_end()
    );
    let all = place.json(&["meta", "show", "sea.zarr/depth", "--json"]);
    assert_eq!(all["depth/zarr.json"]["shape"], json!([4, 6]));
    place.ok(&["meta", "validate", "sea.zarr"]);
    let text = String::from_utf8(place.read("sea.zarr/depth/zarr.json")).unwrap();
    place.write("sea.zarr/depth/zarr.json", text.replace("int16", "int17"));
    let run = place.run(&["meta", "validate", "sea.zarr", "--json"]);
    assert_eq!(run.code, 5);
    let findings: serde_json::Value = serde_json::from_slice(&run.out).unwrap();
    assert!(findings[0]["path"].as_str().unwrap().contains("depth"), "{findings}");
}

#[test]
fn misspelt_nodes_are_named() {
    let place = sea();
    let message = place.fails(3, &["stats", "sea.zarr/dept"]);
    assert!(message.contains("did you mean 'sea.zarr/depth'?"), "{message}");
    let message = place.fails(3, &["info", "sea.zarr/g/vind"]);
    assert!(message.contains("did you mean 'sea.zarr/g/wind'?"), "{message}");
    assert!(!place.fails(3, &["info", "sea.zarr/temperature"]).contains("did you mean"));
}

#[test]
fn rows_are_appended_from_tables_pipes_and_files() {
    let place = sea();
    place.write("rows.csv", "a,b,c,d,e,f\n1,2,3,4,5,6\n7, 8,9,10,11,12\n");
    place.ok(&["append", "sea.zarr/depth", "rows.csv", "--skip", "1"]);
    let rows = ["tail", "-n", "2", "--csv", "sea.zarr/depth"];
    assert_eq!(place.ok(&rows), "1,2,3,4,5,6\n7,8,9,10,11,12\n");
    let raw: Vec<u8> = (20..26_i16).flat_map(i16::to_ne_bytes).collect();
    let piped = place.run_with(&["append", "sea.zarr/depth", "-", "--from", "raw"], &raw);
    assert_eq!((piped.code, piped.err.as_str()), (0, ""));
    assert_eq!(place.ok(&rows), "7,8,9,10,11,12\n20,21,22,23,24,25\n");
    place.ok(&["export", "sea.zarr/depth[:, :1]", "column.npy"]);
    place.ok(&["append", "sea.zarr/depth", "column.npy", "--axis", "x"]);
    assert_eq!(place.json(&["info", "sea.zarr/depth", "--json"])["shape"], json!([7, 7]));
    place.write("wind.txt", "1.5\nnan\n\n-2\n");
    place.ok(&["append", "sea.zarr/g/wind", "wind.txt"]);
    assert_eq!(place.ok(&["tail", "-n", "3", "sea.zarr/g/wind"]), "[ 1.5  nan -2. ]\n");
}

#[test]
fn what_does_not_fit_is_not_appended() {
    let place = sea();
    place.write("short.csv", "1,2,3,4,5,6\n1,2\n");
    place.write("narrow.csv", "1,2,3,4,5\n");
    place.write("words.csv", "x,y,z,u,v,w\n");
    place.write("large.csv", "1,2,3,4,5,70000\n");
    let append = |file: &'static str| ["append", "sea.zarr/depth", file];
    assert!(place.fails(5, &append("short.csv")).contains("line 2"));
    assert!(place.fails(5, &append("narrow.csv")).contains("multiple of the row size of 12 bytes"));
    assert!(place.fails(5, &append("words.csv")).contains("--skip 1"));
    place.fails(5, &append("large.csv"));
    place.fails(3, &append("nothing.csv"));
    place.fails(2, &[&append("short.csv")[..], &["--axis", "z"]].concat());
    place.write("unknown", "?");
    assert!(place.fails(2, &append("unknown")).contains("--from csv"));
    assert_eq!(place.json(&["info", "sea.zarr/depth", "--json"])["shape"], json!([4, 6]));
}

#[test]
fn documents_are_fixed_where_their_meaning_is_clear() {
    let place = Sandbox::new();
    let v2 =
        ["create", "old.zarr/a", "--format", "v2", "--shape", "4", "--dtype", "f4", "--compressor", "none"];
    place.ok(&v2);
    let document = |text: &str| place.write("old.zarr/a/.zarray", text);
    let lenient = r#"{"zarr_format": 2, "shape": [4.0], "chunks": [4], "dtype": "<f4", "compressor": null, "order": "C",
        "filters": null, "fill_value": "0x3f800000"}"#;
    document(lenient);
    place.fails(5, &["info", "old.zarr/a", "--strict"]);
    let dry = place.ok(&["meta", "fix", "old.zarr", "--dry-run"]);
    assert!(dry.contains("==> a/.zarray <==\n"), "{dry}");
    assert!(dry.contains("-   \"fill_value\": \"0x3f800000\""), "{dry}");
    assert!(dry.contains("+   \"fill_value\": 1.0"), "{dry}");
    assert_eq!(place.read("old.zarr/a/.zarray"), lenient.as_bytes());
    let before = place.ok(&["dump", "old.zarr/a"]);
    assert_eq!(place.ok(&["meta", "fix", "old.zarr"]), "fixed a/.zarray\n");
    place.ok(&["info", "old.zarr/a", "--strict"]);
    assert_eq!(place.ok(&["dump", "old.zarr/a"]), before);
    assert_eq!(place.ok(&["meta", "fix", "old.zarr"]), "");
    assert_eq!(place.json(&["meta", "fix", "old.zarr", "--json"]), json!([]));

    // The meaning of a member of a later version is unknown, so the member is neither kept nor dropped.
    let group = r#"{"zarr_format": 2, "later": 1}"#;
    place.write("old.zarr/.zgroup", group);
    let run = place.run(&["meta", "fix", "old.zarr"]);
    assert_eq!(run.code, 5);
    assert!(
        run.err.contains("no strict form that means the same") && run.err.contains("later"),
        "{}",
        run.err
    );
    assert_eq!(place.read("old.zarr/.zgroup"), group.as_bytes());
    document("{");
    assert_eq!(place.run(&["meta", "fix", "old.zarr"]).code, 5);
    assert_eq!(place.read("old.zarr/a/.zarray"), b"{");
}

#[test]
fn documents_of_version_3_are_fixed_and_their_copies_too() {
    let place = sea();
    place.ok(&["consolidate", "sea.zarr"]);
    let text = String::from_utf8(place.read("sea.zarr/depth/zarr.json")).unwrap();
    let mut document: serde_json::Value = serde_json::from_str(&text).unwrap();
    document["storage_transformers"] = serde_json::Value::Null;
    document["chunk_key_encoding"] = json!({"name": "default", "configuration": {"separator": null}});
    place.write("sea.zarr/depth/zarr.json", document.to_string());
    place.fails(5, &["info", "sea.zarr/depth", "--strict"]);
    assert_eq!(place.ok(&["meta", "fix", "sea.zarr"]), "fixed depth/zarr.json\n");
    place.ok(&["info", "sea.zarr/depth", "--strict"]);
    place.ok(&["consolidate", "sea.zarr", "--check"]);
    assert!(String::from_utf8(place.read("sea.zarr/zarr.json")).unwrap().contains("consolidated_metadata"));
}
