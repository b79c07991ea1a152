//! The messages about errors.

use crate::common::{Sandbox, golden};

#[test]
fn files_of_other_kinds_are_recognised_and_lead_to_what_opens_them() {
    let place = Sandbox::new();
    std::fs::copy(golden("words.npy"), place.path("a.npy")).unwrap();
    let said = place.fails(2, &["info", "a.npy"]);
    assert!(said.contains("'a.npy' is a NumPy array; `zarrox import a.npy a.zarr"), "{said}");
    place.ok(&["import", "a.npy", "a.zarr"]);
    place.ok(&["export", "a.zarr", "b.npz"]);
    assert!(place.fails(2, &["tree", "b.npz"]).contains("zarrox import b.npz b.zarr"));
    place.write("t.h5", b"\x89HDF\r\n\x1a\n and more");
    assert!(place.fails(2, &["ls", "t.h5"]).contains("HDF5"));
    for scheme in ["sqlite", "redb", "lmdb"] {
        let url = format!("{scheme}://{}", place.path(&format!("{scheme}.db")).display());
        place.ok(&["create", &url, "--shape", "3", "--dtype", "i1"]);
        let file = if scheme == "lmdb" && place.path("lmdb.db").is_dir() {
            "lmdb.db/data.mdb"
        } else {
            &format!("{scheme}.db")
        };
        let said = place.fails(2, &["info", file]);
        assert!(said.contains(&format!("{scheme}://")), "{said}");
        // The advised URL can be opened.
        let advised = said.split_whitespace().find(|word| word.contains("://")).unwrap();
        place.ok(&["info", advised]);
    }
    place.ok(&["create", "z.zip", "--shape", "3", "--dtype", "i1"]);
    std::fs::rename(place.path("z.zip"), place.path("z.dat")).unwrap();
    let said = place.fails(2, &["info", "z.dat"]);
    assert!(said.contains("zip://::z.dat"), "{said}");
    place.ok(&["info", "zip://::z.dat"]);
    place.write("text", "nothing of ours");
    assert!(place.fails(2, &["info", "text"]).contains("a file, not a Zarr array or group"));
}

#[test]
fn a_document_leads_to_its_node() {
    let place = Sandbox::new();
    place.ok(&["create", "h.zarr/a", "--shape", "3", "--dtype", "i1"]);
    place.ok(&[
        "create",
        "t.zarr",
        "--shape",
        "4",
        "--dtype",
        "i1",
        "--format",
        "v2",
        "--attrs",
        r#"{"a": 1}"#,
    ]);
    place.ok(&["create", "u.n5", "--shape", "5", "--dtype", "i1"]);
    for (document, shape) in
        [("h.zarr/a/zarr.json", 3), ("t.zarr/.zarray", 4), ("t.zarr/.zattrs", 4), ("u.n5/attributes.json", 5)]
    {
        assert_eq!(
            place.json(&["info", document, "--json"])["shape"],
            serde_json::json!([shape]),
            "{document}"
        );
    }
    assert!(place.ok(&["tree", "h.zarr/zarr.json"]).contains("└── a"));
    place.fails(3, &["info", "none.zarr/zarr.json"]);
}

#[test]
fn what_is_missing_and_what_is_no_zarr_are_told_apart() {
    let place = Sandbox::new();
    place.write("other/notes.txt", "mine");
    place.ok(&["create", "h.zarr", "--group"]);
    assert!(place.fails(3, &["info", "none"]).contains("'none' does not exist"));
    assert!(place.fails(3, &["info", "none.zarr/x"]).contains("'none.zarr/x' does not exist"));
    let said = place.fails(3, &["info", "other"]);
    assert!(
        said.contains("'other' is a directory, but not a Zarr array or group (looked for v3, v2,"),
        "{said}"
    );
    let said = place.fails(3, &["info", "h.zarr/none"]);
    assert!(said.contains("no Zarr array or group at '/none' in") && said.contains("h.zarr"), "{said}");
}

#[test]
fn an_array_that_could_not_be_read_is_not_created() {
    let place = Sandbox::new();
    let create = |length: &str| {
        ["create", "a.zarr", "--dtype", "i1", "--force", "--shape"]
            .map(str::to_owned)
            .into_iter()
            .chain([length.to_owned()])
            .collect::<Vec<_>>()
    };
    for length in ["18446744073709551615", "9223372036854775808", "3,18446744073709551615"] {
        let line = create(length);
        let line: Vec<&str> = line.iter().map(String::as_str).collect();
        assert!(place.fails(2, &line).contains("more than 2^63"), "{length}");
    }
    assert!(!place.path("a.zarr").exists());
    let line = create("9223372036854775807");
    place.ok(&line.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(place.ok(&["dump", "a.zarr[-1]"]), "0\n");
}

#[test]
fn what_was_typed_is_repeated_without_backslashes() {
    let place = Sandbox::new();
    let create = ["create", "a.zarr", "--shape", "3", "--dtype"];
    for more in [&["a\"b"][..], &["f4", "--fill-value", "{\"x\": }"]] {
        let said = place.fails(2, &[&create[..], more].concat());
        assert!(said.contains(more.last().unwrap()) && !said.contains('\\'), "{said}");
    }
}

#[test]
fn what_keeps_a_conversion_from_being_done_is_told_line_by_line_with_the_option_that_allows_it() {
    let place = Sandbox::new();
    place.ok(&["create", "h.zarr/a", "--shape", "4", "--dtype", "bfloat16"]);
    place.ok(&["create", "h.zarr/b", "--shape", "4", "--dtype", "int8", "--fill-value", "7"]);
    let said = place.fails(6, &["convert", "h.zarr", "new.n5", "--to", "n5"]);
    let lines: Vec<&str> = said.lines().map(str::trim).collect();
    assert!(lines.len() == 3 && lines[0].ends_with("cannot be converted to Zarr n5:"), "{said}");
    assert!(lines[1].starts_with("/a: loss") && lines[1].ends_with("; --allow data-types"), "{said}");
    assert!(lines[2].starts_with("/b: loss") && lines[2].ends_with("; --allow fill-values"), "{said}");
    place.run(&["convert", "h.zarr", "new.n5", "--to", "n5", "--allow", "data-types,fill-values"]);
    assert_eq!(place.ok(&["ls", "new.n5"]), "b\n");
}

#[test]
fn lists_of_candidates_are_complete_or_say_how_many_more() {
    let place = Sandbox::new();
    let arrays = |count: usize| {
        for number in 0..count {
            place.ok(&[
                "create",
                &format!("h.zarr/a{number:02}"),
                "--force",
                "--shape",
                "1",
                "--dtype",
                "i1",
            ]);
        }
        place.fails(2, &["dump", "h.zarr"])
    };
    assert!(arrays(6).contains("(a00, a01, a02, a03, a04, a05)"));
    assert!(arrays(12).contains("a09 and 2 more)"));
}
