//! `info`, `ls` and `tree` of valid and damaged hierarchies.

#![expect(clippy::unwrap_used, reason = "a test stops at the first failure")]

use serde_json::{Value, json};

use crate::common::Sandbox;

/// Returns the data that zarrs wrote.
fn zarrs(path: &str) -> String {
    zarrox_testkit::corpus::directory("zarrs").join(path).to_str().unwrap().to_owned()
}

/// Returns a directory with several hierarchies and other files.
fn side_by_side() -> Sandbox {
    let place = Sandbox::new();
    place.ok(&["create", "data/a.zarr/x", "--shape", "10", "--dtype", "f4", "--chunks", "5"]);
    place.ok(&["create", "data/b.zarr", "--shape", "3", "--dtype", "U5", "--format", "v2"]);
    place.ok(&["create", "data/c.zip/y", "--shape", "2", "--dtype", "i2"]);
    place.write("data/notes/readme.txt", "mine");
    place
}

/// Changes a metadata document.
fn edit(place: &Sandbox, key: &str, edit: impl Fn(&mut Value)) {
    let mut document: Value = serde_json::from_slice(&place.read(key)).unwrap();
    edit(&mut document);
    place.write(key, document.to_string());
}

#[test]
fn arrays_of_unknown_codecs_show_all_else_and_which_codec_is_missing() {
    let place = Sandbox::new();
    let path = zarrs("compressors.zarr/gdeflate_9");
    let text = place.ok(&["info", &path]);
    assert!(text.contains("\ncannot be read  unknown codec 'zarrs.gdeflate'\n"), "{text}");
    assert!(text.contains("\nchunks stored   ") && text.contains("\ncodecs          bytes("), "{text}");
    let json = place.json(&["info", &path, "--json"]);
    assert_eq!(json["unreadable"], "unknown codec 'zarrs.gdeflate'");
    assert_eq!(json["codecs"][1]["name"], "zarrs.gdeflate");
    let sharded = place.json(&["info", &zarrs("sharded.zarr/gdeflate"), "--json"]);
    let codec = &sharded["codecs"][0]["configuration"];
    assert_eq!(sharded["chunk_shape"], codec["chunk_shape"], "of the chunks in a shard");
    assert_ne!(sharded["chunk_shape"], sharded["shard_shape"]);
    let tree = place.ok(&["tree", &zarrs("compressors.zarr")]);
    assert!(
        tree.contains("gdeflate_9 (") && tree.contains("(cannot be read: unknown codec 'zarrs.gdeflate')"),
        "{tree}"
    );
    let list = place.ok(&["ls", "-l", &zarrs("compressors.zarr")]);
    assert!(list.contains("  gdeflate_9  ") && !list.contains('?'), "{list}");
    assert!(place.fails(6, &["dump", &path]).contains("unknown codec 'zarrs.gdeflate'"));
}

#[test]
fn unknown_filters_of_v2_and_unknown_data_types_hide_no_metadata() {
    let place = Sandbox::new();
    place.ok(&[
        "create",
        "a.zarr",
        "--format",
        "v2",
        "--shape",
        "4",
        "--dtype",
        "i4",
        "--endian",
        "big",
        "--attrs",
        r#"{"a": 1}"#,
    ]);
    edit(&place, "a.zarr/.zarray", |array| {
        array["filters"] = json!([{"id": "mine", "level": 3}]);
        array["compressor"] = json!({"id": "yours"});
    });
    let json = place.json(&["info", "a.zarr", "--json"]);
    assert_eq!(json["unreadable"], "unknown codecs 'mine' and 'yours'");
    assert_eq!(json["codecs"][0], json!({"name": "bytes", "configuration": {"endian": "big"}}));
    assert_eq!(json["codecs"][1], json!({"name": "mine", "configuration": {"level": 3}}));
    assert_eq!((&json["data_type"], &json["attributes"]["a"]), (&json!("int32"), &json!(1)));
    place.ok(&["attrs", "set", "a.zarr", "b", "2"]);
    place.ok(&["mv", "a.zarr", "b.zarr"]);
    assert_eq!(place.json(&["attrs", "get", "b.zarr"]), json!({"a": 1, "b": 2}));
    edit(&place, "b.zarr/.zarray", |array| array["dtype"] = json!("<q7"));
    assert!(place.ok(&["info", "b.zarr"]).contains("cannot be read  unknown data type '<q7'"));

    place.ok(&["create", "c.zarr", "--shape", "4", "--dtype", "i4"]);
    let q2 = json!({"name": "q2", "configuration": {"bits": 2}});
    edit(&place, "c.zarr/zarr.json", |array| array["data_type"] = q2.clone());
    edit(&place, "c.zarr/zarr.json", |array| array["fill_value"] = json!({"q": 0}));
    let text = place.ok(&["info", "c.zarr"]);
    for line in [
        "data type       q2(bits=2)",
        "fill value      {\"q\":0}",
        "shape           (4,)",
        "cannot be read  unknown data type 'q2(bits=2)'",
    ] {
        assert!(text.lines().any(|found| found == line), "{line} in {text}");
    }
    let json = place.json(&["info", "c.zarr", "--json"]);
    assert_eq!((&json["data_type"], &json["fill_value"]), (&q2, &json!({"q": 0})));
    assert!(place.fails(6, &["dump", "c.zarr"]).contains("q2"));
}

#[test]
fn an_array_shows_itself_in_trees_and_lists() {
    let place = side_by_side();
    assert_eq!(place.ok(&["tree", "data/a.zarr/x"]), "x (10,) float32\n");
    assert_eq!(place.ok(&["tree", "data/b.zarr"]), "/ (3,) U5\n");
    assert_eq!(place.ok(&["ls", "data/a.zarr/x"]), "data/a.zarr/x\n");
    assert_eq!(place.json(&["tree", "data/a.zarr/x", "--json"])[0]["shape"], json!([10]));
}

#[test]
fn a_place_without_a_hierarchy_lists_those_that_it_holds() {
    let place = side_by_side();
    assert_eq!(place.ok(&["ls", "data"]), "a.zarr/\nb.zarr\nc.zip/\n");
    let tree =
        "data\n├── a.zarr\n│   └── x (10,) float32\n├── b.zarr (3,) U5\n└── c.zip\n    └── y (2,) int16\n";
    assert_eq!(place.ok(&["tree", "data"]), tree);
    assert_eq!(place.json(&["tree", "data", "--json"])[0]["children"][0]["name"], "x");
    assert_eq!(
        place.ok(&["tree", "data", "--depth", "1"]),
        "data\n├── a.zarr\n├── b.zarr (3,) U5\n└── c.zip\n"
    );
    let said = place.fails(3, &["info", "data"]);
    assert!(said.contains("contains a.zarr, b.zarr, c.zip"), "{said}");
    place.fails(3, &["ls", "data/notes"]);
}

#[test]
fn no_path_is_the_place_where_one_is() {
    let place = side_by_side();
    let here = |line: &[&str], inside: &str| {
        let output = place.command(line).current_dir(place.path(inside)).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    assert_eq!(here(&["ls"], "data/a.zarr"), "x\n");
    assert_eq!(here(&["ls"], "data"), "a.zarr/\nb.zarr\nc.zip/\n");
    assert!(here(&["tree"], "data/a.zarr").ends_with("└── x (10,) float32\n"));
    assert!(here(&["info"], "data/b.zarr").contains("\ndata type      U5\n"));
    let said = place.run(&["rm", "--force"]);
    assert!(
        said.code == 2 && said.err.contains("PATH"),
        "nothing is deleted that was not named: {}",
        said.err
    );
}

#[test]
fn of_several_paths_one_that_fails_keeps_no_other_from_being_done() {
    let place = side_by_side();
    let run = place.run(&["ls", "data/a.zarr", "none", "data/b.zarr"]);
    assert_eq!(
        (run.code, String::from_utf8(run.out).unwrap().as_str()),
        (3, "data/a.zarr:\nx\n\ndata/b.zarr:\ndata/b.zarr\n")
    );
    assert_eq!(run.err.matches("error:").count(), 1, "{}", run.err);
    let run = place.run(&["info", "data/a.zarr", "none", "data/a.zarr/x"]);
    let out = String::from_utf8(run.out).unwrap();
    assert!(run.code == 3 && out.contains("groups") && out.contains("\n\npath           /x\n"), "{out}");
    let run = place.run(&["info", "--json", "none", "data/a.zarr", "data/b.zarr"]);
    let json: Value = serde_json::from_slice(&run.out).unwrap();
    assert_eq!(
        (run.code, &json[0]["node_type"], &json[1]["node_type"]),
        (3, &json!("group"), &json!("array"))
    );
    let json = place.json(&["ls", "--json", "data/a.zarr", "data/b.zarr"]);
    assert_eq!((&json[0]["path"], &json[0]["children"][0]["name"]), (&json!("data/a.zarr"), &json!("x")));
    // The first failure decides the exit code.
    let run = place.run(&["rm", "--force", "none", "data/a.zarr/x", "h.zarr/../.../x", "data/b.zarr"]);
    assert_eq!((run.code, run.err.matches("error:").count()), (3, 2), "{}", run.err);
    assert!(!place.path("data/a.zarr/x").exists() && !place.path("data/b.zarr").exists());
}

#[test]
fn attributes_are_shown_with_their_values() {
    let place = Sandbox::new();
    let attributes = r#"{"units": "K", "scale": [1, 2.5], "evil": "\u001b[31m", "long": "#;
    let attributes = format!("{attributes}\"{}\"}}", "x".repeat(500));
    place.ok(&["create", "h.zarr", "--group", "--attrs", r#"{"title": "x"}"#]);
    place.ok(&["create", "h.zarr/a", "--shape", "3", "--dtype", "i1", "--attrs", &attributes]);
    place.ok(&["create", "h.zarr/g", "--group"]);
    let text = place.ok(&["info", "h.zarr/a"]);
    assert!(text.contains("\nattributes     units = \"K\"\n               scale = [1,2.5]\n"), "{text}");
    assert!(text.contains('…') && !text.contains('\u{1b}') && text.len() < 1000, "{text}");
    assert!(place.ok(&["info", "h.zarr/g"]).contains("\nattributes  none\n"));
    let tree = place.ok(&["tree", "-a", "h.zarr"]);
    assert!(tree.starts_with("/\n│   title = \"x\"\n├── a (3,) int8\n│       units = \"K\"\n"), "{tree}");
    assert!(tree.ends_with("\n└── g\n"), "{tree}");
    let json = place.json(&["tree", "-a", "h.zarr", "--json"]);
    assert_eq!(json[0]["attributes"]["units"], "K");
}

#[test]
fn data_types_are_shown_as_people_write_them() {
    let place = Sandbox::new();
    for (written, shown) in [
        ("<U5", "U5"),
        ("S3", "S3"),
        ("M8[ns]", "datetime64[ns]"),
        ("datetime64[25s]", "datetime64[25s]"),
        ("timedelta64", "timedelta64"),
        (r#"[["a", "<U2"], ["t", "<M8[D]"]]"#, "struct(a: U2, t: datetime64[D])"),
        ("float32", "float32"),
    ] {
        place.ok(&["create", "h.zarr/a", "--force", "--shape", "3", "--dtype", written]);
        let line = format!("\ndata type      {shown}\n");
        assert!(place.ok(&["info", "h.zarr/a"]).contains(&line), "{shown}");
        assert!(place.ok(&["tree", "h.zarr"]).contains(&format!(" a (3,) {shown}\n")), "{shown}");
        if !shown.contains('(') {
            place.ok(&["create", "h.zarr/b", "--force", "--shape", "3", "--dtype", shown]);
        }
    }
    let fields: Vec<Value> = (0..40).map(|n| json!([format!("field{n}"), "<f4"])).collect();
    place.ok(&["create", "h.zarr/wide", "--shape", "3", "--dtype", &json!(fields).to_string()]);
    let list = place.ok(&["ls", "-l", "h.zarr"]);
    assert!(list.lines().all(|line| line.len() < 100), "{list}");
    let last = "array  v3  (3,)  (3,)  wide  struct(field0: float32, field1: float32…\n";
    assert!(list.ends_with(last), "{list}");
}

#[test]
fn a_list_shows_all_lengths_of_rectilinear_chunks() {
    let place = Sandbox::new();
    let create = |name: &str, more: &[&str]| {
        place.ok(&[&["create", name, "--shape", "12,4", "--dtype", "int8"], more].concat());
    };
    create("h.zarr/chunks", &["--chunks", "[[2,6,4],4]"]);
    create("h.zarr/shards", &["--chunks", "2,2", "--shards", "[[2,6,4],4]"]);
    let list = place.ok(&["ls", "-l", "h.zarr"]);
    assert!(list.contains("  (12, 4)  ([2, 6, 4], 4)  chunks  int8\n"), "{list}");
    assert!(list.contains("  (12, 4)  (2, 2)          shards  int8\n"), "{list}");
}

#[test]
fn programs_are_told_the_same_data_type_by_every_command() {
    let place = Sandbox::new();
    for dtype in ["f8", "<U5", "M8[ns]", "string", r#"[["a", "<i4"], ["b", "|S2"]]"#] {
        place.ok(&["create", "h.zarr/a", "--force", "--shape", "3", "--dtype", dtype]);
        let document: Value = serde_json::from_slice(&place.read("h.zarr/a/zarr.json")).unwrap();
        let wanted = &document["data_type"];
        assert_eq!(&place.json(&["info", "h.zarr/a", "--json"])["data_type"], wanted);
        assert_eq!(&place.json(&["ls", "h.zarr", "--json"])[0]["data_type"], wanted);
        assert_eq!(&place.json(&["tree", "h.zarr", "--json"])[0]["data_type"], wanted);
    }
}

#[test]
fn the_ratio_is_that_of_the_chunks_that_are_stored() {
    let place = Sandbox::new();
    let line =
        ["create", "a.zarr", "--shape", "1000", "--dtype", "f8", "--chunks", "100", "--compressor", "none"];
    place.ok(&line);
    assert!(!place.ok(&["info", "a.zarr"]).contains("ratio"), "nothing is stored");
    for chunk in ["c/0", "c/7"] {
        place.write(&format!("a.zarr/{chunk}"), [1; 800]);
    }
    let text = place.ok(&["info", "a.zarr"]);
    assert!(text.contains("\nratio          1.00 of the stored chunks\n"), "{text}");
    assert!(text.contains("\nchunks stored  2 of 10\n"), "{text}");
    assert_eq!(place.json(&["info", "a.zarr", "--json"])["ratio"], json!(1.0));
    for chunk in 0..10 {
        place.write(&format!("a.zarr/c/{chunk}"), [1; 400]);
    }
    assert!(place.ok(&["info", "a.zarr"]).contains("\nratio          2.00\n"));
}

#[test]
fn what_is_replaced_by_a_move_is_deleted_only_when_the_move_succeeds() {
    let place = Sandbox::new();
    place.ok(&["create", "h.zarr/a", "--shape", "1", "--dtype", "i1"]);
    place.ok(&["create", "h.zarr/g/b", "--shape", "2", "--dtype", "i1"]);
    assert!(place.fails(4, &["mv", "h.zarr/a", "h.zarr/g"]).contains("--force"));
    place.fails(3, &["mv", "--force", "h.zarr/none", "h.zarr/g"]);
    place.fails(2, &["mv", "--force", "h.zarr/g/b", "h.zarr/g"]);
    assert_eq!(place.ok(&["ls", "h.zarr"]), "a\ng/\n");
    place.ok(&["mv", "--force", "h.zarr/a", "h.zarr/g"]);
    assert_eq!(place.ok(&["tree", "h.zarr"]), "/\n└── g (1,) int8\n");
    assert_eq!(std::fs::read_dir(place.path("h.zarr")).unwrap().count(), 2, "a document and a node");
    place.ok(&["create", "i.zarr", "--shape", "3", "--dtype", "i1"]);
    place.fails(4, &["mv", "i.zarr", "h.zarr"]);
    place.write("other/notes.txt", "mine");
    place.fails(4, &["mv", "--force", "i.zarr", "other"]);
    place.ok(&["mv", "--force", "i.zarr", "h.zarr"]);
    assert_eq!(place.ok(&["tree", "h.zarr"]), "/ (3,) int8\n");
    assert_eq!(place.names(), ["h.zarr", "other"]);
    // The same in a store that cannot rename.
    let url = |node: &str| format!("redb://{}/{node}", place.path("d.redb").display());
    place.ok(&["create", &url("a"), "--shape", "1", "--dtype", "i1"]);
    place.ok(&["create", &url("b"), "--shape", "2", "--dtype", "i1"]);
    place.ok(&["mv", "--force", &url("a"), &url("b")]);
    assert_eq!(place.ok(&["tree", url("").trim_end_matches('/')]), "/\n└── b (1,) int8\n");
}

#[test]
fn patterns_stand_for_the_nodes_that_they_fit() {
    let place = Sandbox::new();
    for name in ["temp_min", "temp_max", "wind"] {
        place.ok(&["create", &format!("a.zarr/{name}"), "--shape", "2", "--dtype", "i4"]);
    }
    let infos = place.json(&["info", "--json", "a.zarr/temp_*"]);
    let paths: Vec<_> = infos.as_array().unwrap().iter().map(|info| info["path"].as_str().unwrap()).collect();
    assert_eq!(paths, ["/temp_max", "/temp_min"]);
    assert_eq!(place.ok(&["head", "-n", "1", "a.zarr/temp_m?n"]), "[0]\n");
    assert!(place.ok(&["stats", "a.zarr/*"]).contains("a.zarr/wind:\ncount  2"));
    assert!(place.fails(3, &["info", "a.zarr/x*"]).contains("no node matches 'a.zarr/x*'"));
    place.fails(3, &["info", "nothing.zarr/*"]);
}
