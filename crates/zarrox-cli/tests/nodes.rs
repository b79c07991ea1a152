//! Creating, looking at, changing, moving and deleting nodes.

use serde_json::json;

use crate::common::Sandbox;

fn hierarchy() -> Sandbox {
    let place = Sandbox::new();
    place.ok(&["create", "h.zarr", "--group", "--attrs", r#"{"title": "x", "n": 1}"#]);
    place.ok(&[
        "create",
        "h.zarr/a",
        "--shape",
        "10,20",
        "--dtype",
        "<f4",
        "--chunks",
        "5,5",
        "--fill-value",
        "nan",
    ]);
    place.ok(&["create", "h.zarr/g/b", "--shape", "7", "--dtype", "int16"]);
    place
}

#[test]
fn info_says_all_there_is_to_know() {
    let place = hierarchy();
    let text = place.ok(&["info", "h.zarr/a"]);
    for line in [
        "path           /a",
        "shape          (10, 20)",
        "data type      float32",
        "chunk shape    (5, 5)",
        "fill value     nan",
        "chunks stored  0 of 8",
        "bytes          800 B",
    ] {
        assert!(text.lines().any(|found| found == line), "{line} in {text}");
    }
    let info = place.json(&["info", "h.zarr/a", "--json"]);
    assert_eq!(info["shape"], json!([10, 20]));
    assert_eq!(info["fill_value"], json!("NaN"));
    assert_eq!(info["codecs"][0], json!({"name": "bytes", "configuration": {"endian": "little"}}));
    assert_eq!(info["order"], "C");
    let text = place.ok(&["info", "h.zarr"]);
    assert!(text.contains("type        group") && text.contains("arrays      1"), "{text}");
    let info = place.json(&["info", "h.zarr", "--json"]);
    assert_eq!((&info["groups"], &info["arrays"]), (&json!(1), &json!(1)));
    assert_eq!(info["attributes"]["title"], "x");
}

#[test]
fn arrays_are_created_with_everything_that_can_be_said() {
    let place = Sandbox::new();
    place.ok(&[
        "create",
        "s.zarr",
        "--shape",
        "40,40",
        "--dtype",
        "u2",
        "--chunks",
        "10,10",
        "--shards",
        "20,20",
        "--compressor",
        "blosc:zstd:9:bitshuffle",
        "--fill-value",
        "7",
        "--endian",
        "big",
        "--dimension-names",
        "y,",
        "--separator",
        ".",
        "--attrs",
        r#"{"a": [1]}"#,
    ]);
    let info = place.json(&["info", "s.zarr", "--json"]);
    assert_eq!((&info["chunk_shape"], &info["shard_shape"]), (&json!([10, 10]), &json!([20, 20])));
    assert_eq!(info["dimension_names"], json!(["y", null]));
    let inner = &info["codecs"][0]["configuration"]["codecs"];
    assert_eq!(inner[0]["configuration"]["endian"], "big");
    assert_eq!(inner[1]["configuration"]["shuffle"], "bitshuffle");
    place.ok(&[
        "create",
        "t.zarr",
        "--format",
        "v2",
        "--shape",
        "4,4",
        "--dtype",
        ">f8",
        "--order",
        "F",
        "--compressor",
        "none",
        "--separator",
        "/",
        "--fill-value",
        "-1.5",
    ]);
    let zarray: serde_json::Value = serde_json::from_slice(&place.read("t.zarr/.zarray")).unwrap();
    assert_eq!(zarray["order"], "F");
    assert_eq!(zarray["dimension_separator"], "/");
    assert_eq!(zarray["compressor"], json!(null));
    assert_eq!(place.json(&["info", "t.zarr", "--json"])["order"], "F");
    let codecs = r#"["bytes", {"name": "gzip", "configuration": {"level": 1}}, "crc32c"]"#;
    place.ok(&["create", "c.zarr", "--shape", "", "--dtype", "bool", "--codecs", codecs]);
    assert_eq!(place.json(&["info", "c.zarr", "--json"])["codecs"][2]["name"], "crc32c");
}

#[test]
fn chunks_can_be_guessed_left_whole_or_differ() {
    let place = Sandbox::new();
    let chunk_shape = |chunks: &[&str], format: &str| {
        let create =
            ["create", "a.zarr", "--shape", "1000,3000", "--dtype", "f8", "--force", "--format", format];
        place.ok(&[&create[..], chunks].concat());
        place.json(&["info", "a.zarr", "--json"])["chunk_shape"].clone()
    };
    assert_eq!(chunk_shape(&["--chunks", "false"], "v3"), json!([1000, 3000]));
    assert_eq!(chunk_shape(&["--chunks", "-1,100"], "v2"), json!([1000, 100]));
    assert_eq!(chunk_shape(&["--chunks", "auto"], "v3"), json!([125, 750]));
    assert_eq!(chunk_shape(&[], "v2"), json!([125, 750]), "v2's default is the guess of zarr-python 2");
    assert_eq!(chunk_shape(&[], "v3"), json!([250, 375]));
    assert_eq!(chunk_shape(&["--chunks", "[[400, [300, 2]], 3000]"], "v3"), json!([400, 3000]));
    let text = place.ok(&["info", "a.zarr"]);
    assert!(text.contains("chunk shape    ([400, 300 × 2], 3000)\n"), "{text}");
    let shards = ["--chunks", "100,100", "--shards", "[[400, 600], 3000]"];
    assert_eq!(chunk_shape(&shards, "v3"), json!([100, 100]));
    let create = ["create", "b.zarr", "--shape", "5", "--dtype", "f8"];
    for (given, named) in [
        (&["--chunks", "[[1, 1]]"][..], "end at 2"),
        (&["--chunks", "[[5]]", "--format", "v2"], "all chunks must have the same shape"),
        (&["--chunks", "[[5]]", "--shards", "5"], "must have the same shape"),
        (&["--shards", "[[5]]"], "need --chunks"),
        (&["--shards", "auto"], "--shards"),
        (&["--chunks", "1.5"], "1.5"),
    ] {
        let run = place.run(&[&create[..], given].concat());
        assert!(run.code != 0 && run.err.contains(named), "{given:?}: {}", run.err);
    }
}

#[test]
fn a_new_node_has_the_format_of_the_group_above() {
    let place = Sandbox::new();
    place.ok(&["create", "h.zarr", "--group", "--format", "2"]);
    place.ok(&["create", "h.zarr/g/a", "--shape", "3", "--dtype", "i4"]);
    assert!(place.path("h.zarr/g/a/.zarray").exists() && place.path("h.zarr/g/.zgroup").exists());
}

#[test]
fn every_format_is_created_and_shown() {
    let place = Sandbox::new();
    for (format, document) in [
        ("v1", "meta"),
        ("v2", ".zarray"),
        ("v3", "zarr.json"),
        ("v3-experimental", "meta/root.array.json"),
        ("v3-draft", "meta/array.json"),
    ] {
        place.ok(&["create", format, "--format", format, "--shape", "3", "--dtype", "i4"]);
        assert!(place.path(format).join(document).is_file(), "{format}");
        assert_eq!(place.json(&["info", format, "--json"])["format"], format);
        place.ok(&["rm", format, "--force"]);
        assert!(!place.path(format).join(document).exists(), "{format}");
    }
}

#[test]
fn an_unknown_data_type_is_read_as_another_only_on_demand() {
    let place = Sandbox::new();
    place.ok(&["create", "a.zarr", "--format", "v3-draft", "--shape", "2", "--dtype", "r16"]);
    let key = place.path("a.zarr/meta/array.json");
    let document = std::fs::read_to_string(&key).unwrap();
    let unknown = r#"{"extension": "http://e.org/q", "type": "q2", "fallback": "r16"}"#;
    std::fs::write(&key, document.replace("\"r16\"", unknown)).unwrap();
    let refused = place.run(&["info", "a.zarr"]);
    assert_eq!(refused.code, 6);
    assert!(refused.err.contains("r16") && refused.err.contains("--data-type-fallback"), "{}", refused.err);
    let info = place.ok(&["info", "a.zarr", "--data-type-fallback"]);
    assert!(
        info.contains("r16") && info.contains("in place of") && info.contains("http://e.org/q"),
        "{info}"
    );
    let info = place.json(&["info", "a.zarr", "--data-type-fallback", "--json"]);
    assert_eq!((&info["data_type"], &info["fallback_from"]["type"]), (&json!("r16"), &json!("q2")));
}

#[test]
fn what_cannot_be_created_is_refused_with_the_reason() {
    let place = Sandbox::new();
    let create = ["create", "a.zarr", "--shape", "10", "--dtype", "f4"];
    let with = |more: &[&'static str]| [&create[..], more].concat();
    for (code, more, says) in [
        (2, ["--codecs", "nonsense"], "--codecs"),
        (2, ["--codecs", r#"{"name": "bytes"}"#], "expected a list"),
        (2, ["--codecs", r#"[{"nome": "bytes"}]"#], "nome"),
        (6, ["--codecs", r#"["bytes", "zip"]"#], "unknown codec 'zip'"),
        (2, ["--codecs", r#"["bytes", {"name": "gzip", "configuration": {"level": 99}}]"#], "level"),
        (2, ["--chunks", "2,2"], "dimensions"),
        (2, ["--fill-value", "many"], "many"),
        (2, ["--attrs", "[1]"], "--attrs"),
        (2, ["--compressor", "lzma"], "lzma"),
        (2, ["--format", "v4"], "v2"),
        (2, ["--shape", "-3"], "-3"),
    ] {
        let said = place.fails(code, &with(&more));
        assert!(said.contains(says), "{more:?}: {said}");
    }
    assert!(place.fails(2, &["create", "a.zarr", "--shape", "1", "--dtype", "float33"]).contains("float33"));
    place.fails(2, &["create", "a.zarr", "--shape", "1"]);
    assert!(place.fails(2, &["create", "a.zarr", "--group", "--chunks", "1"]).contains("--chunks"));
    assert!(place.fails(6, &["create", "gopher://b/a", "--group"]).contains("gopher://"));
    assert_eq!(place.names(), [] as [String; 0], "nothing is left behind");
}

#[test]
fn nothing_is_overwritten_without_force() {
    let place = hierarchy();
    place.write("other/notes.txt", "mine");
    let again = ["create", "h.zarr/a", "--shape", "3", "--dtype", "i1"];
    assert!(place.fails(4, &again).contains("already"));
    place.fails(4, &["create", "h.zarr", "--group"]);
    place.fails(4, &["create", "other", "--group", "--force"]);
    assert_eq!(place.read("other/notes.txt"), b"mine");
    place.ok(&[&again[..], &["--force"]].concat());
    assert_eq!(place.json(&["info", "h.zarr/a", "--json"])["shape"], json!([3]));
}

#[test]
fn a_node_that_cannot_be_opened_hides_no_other() {
    let place = hierarchy();
    place.write("h.zarr/bad/zarr.json", "{\"zarr_format\": 3, \"node_type\": \"array\"");
    place.write("h.zarr/e\u{1b}[31m/zarr.json", "{}");
    let text = place.ok(&["ls", "h.zarr"]);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!((lines[0], lines[3]), ("a", "g/"));
    assert!(lines[1].starts_with("bad (cannot be opened: ") && lines[1].contains("JSON"), "{text}");
    assert!(!text.contains('\u{1b}'), "control characters are not sent to the terminal");
    let long = place.ok(&["ls", "-l", "h.zarr"]);
    assert!(long.contains("array  v3  (10, 20)  (5, 5)  a "), "{long}");
    let list = place.json(&["ls", "h.zarr", "--json"]);
    assert_eq!(list[0]["data_type"], "float32");
    assert!(list[1]["error"].as_str().unwrap().contains("JSON"));
    let tree = place.ok(&["tree", "h.zarr"]);
    assert!(tree.starts_with("/\n├── a (10, 20) float32\n├── bad (cannot"), "{tree}");
    assert!(tree.ends_with("└── g\n    └── b (7,) int16\n"), "{tree}");
    assert!(!place.ok(&["tree", "h.zarr", "--depth", "1"]).contains("int16"));
    let tree = place.json(&["tree", "h.zarr", "--json"]);
    assert_eq!(tree[3]["children"][0]["name"], "b");
    assert_eq!(place.json(&["tree", "h.zarr", "--json", "--depth", "1"])[3]["children"], json!([]));
    assert_eq!(place.json(&["info", "h.zarr", "--json"])["unreadable"], 2);
    place.fails(5, &["info", "h.zarr/bad"]);
    place.ok(&["rm", "--force", "h.zarr/bad"]);
    assert!(!place.path("h.zarr/bad").exists());
}

#[test]
fn attributes_are_read_set_and_removed() {
    let place = hierarchy();
    assert_eq!(place.json(&["attrs", "get", "h.zarr"]), json!({"title": "x", "n": 1}));
    assert_eq!(place.ok(&["attrs", "get", "h.zarr", "title"]), "\"x\"\n");
    assert!(place.fails(3, &["attrs", "get", "h.zarr", "none"]).contains("it has title, n"));
    place.ok(&["attrs", "set", "h.zarr/a", "k", r#"{"deep": [1, 2.5]}"#]);
    place.ok(&["attrs", "set", "h.zarr/a", "m", "-3"]);
    place.ok(&["attrs", "set", "h.zarr/a", "units", "K", "--string"]);
    let wanted = json!({"k": {"deep": [1, 2.5]}, "m": -3, "units": "K"});
    assert_eq!(place.json(&["attrs", "get", "h.zarr/a"]), wanted);
    assert!(place.fails(2, &["attrs", "set", "h.zarr/a", "units", "K"]).contains("--string"));
    place.ok(&["attrs", "rm", "h.zarr/a", "k", "m"]);
    assert_eq!(place.json(&["attrs", "get", "h.zarr/a"]), json!({"units": "K"}));
    place.fails(3, &["attrs", "rm", "h.zarr/a", "units", "k"]);
    assert_eq!(place.json(&["attrs", "get", "h.zarr/a"]), json!({"units": "K"}));
    place.ok(&["attrs", "set", "h.zarr/a", "--all", r#"{"z": null}"#]);
    assert_eq!(place.ok(&["attrs", "get", "h.zarr/a", "z"]), "null\n");
    place.ok(&["attrs", "rm", "h.zarr/a", "--all"]);
    assert_eq!(place.json(&["attrs", "get", "h.zarr/a"]), json!({}));
    place.fails(2, &["attrs", "set", "h.zarr/a", "--all", "[]"]);
}

#[test]
fn nodes_are_deleted_only_when_it_is_meant() {
    let place = hierarchy();
    place.write("other/notes.txt", "mine");
    assert!(place.fails(2, &["rm", "h.zarr/g"]).contains("--force"));
    assert!(place.fails(2, &["rm", "h.zarr/a"]).contains("terminal"));
    place.fails(3, &["rm", "--force", "h.zarr/none"]);
    place.fails(3, &["rm", "--force", "other"]);
    place.ok(&["rm", "--force", "h.zarr/g"]);
    assert_eq!(place.ok(&["ls", "h.zarr"]), "a\n");
    place.ok(&["rm", "--force", "h.zarr"]);
    assert_eq!(place.names(), ["other"]);
    assert_eq!(place.read("other/notes.txt"), b"mine");
}

#[test]
fn nodes_are_moved_within_their_hierarchy() {
    let place = hierarchy();
    place.ok(&["mv", "h.zarr/g", "h.zarr/deep/er"]);
    assert!(place.ok(&["tree", "h.zarr"]).contains("└── deep\n    └── er\n        └── b"));
    place.fails(4, &["mv", "h.zarr/a", "h.zarr/deep"]);
    place.fails(3, &["mv", "h.zarr/none", "h.zarr/b"]);
    place.fails(2, &["mv", "h.zarr/deep", "h.zarr/deep/in"]);
    place.ok(&["mv", "h.zarr", "moved.zarr"]);
    place.ok(&["create", "--group", "h.zarr"]);
    place.fails(4, &["mv", "moved.zarr", "h.zarr"]);
    place.fails(3, &["mv", "none.zarr", "x.zarr"]);
    place.ok(&["rm", "--force", "h.zarr"]);
    let url = |name: &str| format!("file://{}", place.path(name).display());
    place.ok(&["mv", &url("moved.zarr"), &url("h.zarr")]);
    // The destination is in another directory, although its path begins with the name of the hierarchy.
    place.ok(&["mv", "h.zarr/a", "h.zarr/../b"]);
    assert_eq!(place.names(), ["b", "h.zarr"]);
}

#[test]
fn what_is_not_there_has_an_exit_code_of_its_own() {
    let place = hierarchy();
    for line in [
        ["info", "none"].as_slice(),
        &["info", "h.zarr/none"],
        &["tree", "none"],
        &["ls", "none"],
        &["dump", "none"],
        &["export", "none", "x.npy"],
        &["attrs", "get", "none"],
        &["import", "none.npy", "x.zarr"],
    ] {
        place.fails(3, line);
    }
    place.write("file", "not a directory");
    place.fails(2, &["info", "file"]);
    place.fails(2, &["no-such-command"]);
    assert_eq!(place.names(), ["file", "h.zarr"]);
}

#[test]
fn paths_do_not_lead_out_of_the_hierarchy() {
    let place = hierarchy();
    place.write("secret/zarr.json", r#"{"zarr_format": 3, "node_type": "group"}"#);
    for path in ["h.zarr/...", "h.zarr/a/.../b"] {
        place.fails(2, &["info", path]);
    }
    // The system resolves `..`, so the path names another node, not a node below this one.
    let info = place.json(&["info", "h.zarr/../secret", "--json"]);
    assert_eq!(info["path"], "/");
}

#[test]
fn completions_manual_pages_help_and_versions_are_printed() {
    let place = Sandbox::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        assert!(place.ok(&["completions", shell]).contains("zarrox"), "{shell}");
    }
    assert!(place.ok(&["man"]).contains(".TH zarrox 1"));
    place.ok(&["man", "pages"]);
    assert!(String::from_utf8(place.read("pages/zarrox-attrs-set.1")).unwrap().contains("Set an attribute"));
    place.fails(4, &["man", "pages"]);
    place.ok(&["man", "pages", "--force"]);
    let help = place.ok(&["--help"]);
    assert!(help.contains("Exit codes:") && help.contains("5  corrupt"), "{help}");
    let version = place.ok(&["--version"]);
    for line in ["zarrox ", "commit: ", "features: hdf5, images, ", "libraries: Blosc "] {
        assert!(version.lines().any(|printed| printed.starts_with(line)), "{version}");
    }
    assert_eq!(place.ok(&["-V"]).lines().count(), 1);
}

#[test]
fn strict_takes_only_what_the_specifications_have() {
    let place = hierarchy();
    let lenient = String::from_utf8(place.read("h.zarr/a/zarr.json")).unwrap().replace("\"NaN\"", "NaN");
    place.write("h.zarr/a/zarr.json", lenient.replace("\"zarr_format\": 3", "\"zarr_format\": 3.0"));
    place.ok(&["info", "h.zarr/a"]);
    place.fails(5, &["info", "h.zarr/a", "--strict"]);
    place.ok(&["--threads", "1", "-vv", "info", "h.zarr/g/b"]);
}

#[test]
fn names_with_control_characters_break_no_lines() {
    let place = Sandbox::new();
    place.ok(&["create", "h.zarr/a\nb", "--shape", "3", "--dtype", "i1"]);
    assert_eq!(place.ok(&["tree", "h.zarr"]), "/\n└── a\\nb (3,) int8\n");
    assert_eq!(place.ok(&["ls", "h.zarr"]), "a\\nb\n");
    assert!(place.fails(4, &["create", "h.zarr", "--group"]).contains("--force replaces it"));
}

#[test]
fn a_format_that_is_named_is_the_only_one_looked_for() {
    let place = Sandbox::new();
    place.ok(&["create", "a.zarr", "--shape", "3", "--dtype", "i1"]);
    place.ok(&["create", "b.zarr", "--shape", "3", "--dtype", "i1", "--format", "v2"]);
    assert!(place.ok(&["info", "a.zarr", "--format", "v3"]).contains("v3"));
    assert!(place.fails(3, &["info", "a.zarr", "--format", "v2"]).contains("(looked for v2)"));
    for command in ["dump", "rm"] {
        place.fails(3, &["--format", "v3", command, "b.zarr"]);
    }
    // The new node can have another format than the replaced one.
    place.run_with(
        &["import", "-", "b.zarr", "--dtype", "i1", "--shape", "2", "--force", "--format", "v3"],
        &[1, 2],
    );
    assert!(place.ok(&["info", "b.zarr"]).contains("v3"));
}

#[test]
fn options_that_no_store_takes_are_refused_and_all_others_listed() {
    let place = Sandbox::new();
    place.ok(&["create", "a.zarr", "--shape", "3", "--dtype", "i1"]);
    for path in ["a.zarr", "s3://bucket/a.zarr", "memory://a"] {
        let refused = place.fails(2, &["info", path, "--storage", "alow_http=flase"]);
        assert!(refused.contains("did you mean 'allow_http'?"), "{refused}");
        let refused = place.fails(2, &["info", path, "--storage", "allow_http=flase"]);
        assert!(refused.contains("'true' or 'false'"), "{refused}");
    }
    // An option of another store is accepted.
    place.ok(&["info", "a.zarr", "--storage", "allow_http=true"]);
    for list in [place.ok(&["storage"]), place.ok(&["help", "storage"])] {
        assert!(list.contains("s3, s3a:") && list.contains("follow_links=true|false"), "{list}");
    }
}

#[test]
#[cfg(unix)]
fn links_are_followed_when_asked_for_and_removed_themselves() {
    use std::os::unix::fs::symlink;
    let place = Sandbox::new();
    place.run_with(&["import", "-", "a.zarr", "--dtype", "u1", "--shape", "3"], &[1, 2, 3]);
    std::fs::rename(place.path("a.zarr/c"), place.path("scratch")).unwrap();
    symlink("../scratch", place.path("a.zarr/c")).unwrap();
    let refused = place.fails(7, &["dump", "a.zarr"]);
    assert!(refused.contains("`follow_links`"), "{refused}");
    assert!(place.ok(&["dump", "a.zarr", "--follow-links"]).contains("1 2 3"));
    assert!(place.ok(&["dump", "a.zarr", "--storage", "follow_links=true"]).contains("1 2 3"));

    symlink("a.zarr", place.path("link.zarr")).unwrap();
    for name in ["link.zarr", "a.zarr/"] {
        place.ok(&["rm", name, "--follow-links", "--force"]);
        assert!(std::fs::symlink_metadata(place.path(name)).is_err(), "{name}");
        assert!(place.path("scratch/0").exists(), "what {name} leads to stays");
    }
    symlink("scratch", place.path("no.zarr")).unwrap();
    place.fails(3, &["rm", "no.zarr", "--force"]);
    assert!(place.path("no.zarr").exists(), "a link to other files");
}
