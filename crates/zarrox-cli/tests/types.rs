//! Structured data types, strings of variable length, optional elements, and data types without a NumPy name.

#![expect(clippy::unwrap_used, reason = "a test whose files are not there should fail")]

use serde_json::json;

use crate::common::{Sandbox, golden};

/// Structured data types that v3 supports as well, and those that only v2 supports: with padding, or with subarray fields.
const STRUCTURES: &[(&str, &str)] = &[
    ("points", "v3"),
    ("points_grid", "v3"),
    ("points_single", "v3"),
    ("points_long", "v3"),
    ("single_field", "v3"),
    ("names", "v3"),
    ("names_wide", "v3"),
    ("titled", "v3"),
    ("nested", "v2"),
    ("nested_single", "v2"),
    ("timed", "v2"),
    ("timed_single", "v2"),
    ("long_fields", "v2"),
    ("mixed", "v2"),
    ("mixed_fortran", "v2"),
    ("padded", "v2"),
];

fn text(name: &str) -> String {
    std::fs::read_to_string(golden(&format!("{name}.txt"))).unwrap()
}

#[test]
fn structures_are_printed_as_numpy_prints_them() {
    let place = Sandbox::new();
    for (name, format) in STRUCTURES {
        place.ok(&["import", &golden(&format!("{name}.npy")), "a.zarr", "--force", "--format", format]);
        for memory in ["100", "1GiB"] {
            assert_eq!(place.ok(&["dump", "a.zarr", "--memory", memory]), text(name), "{name}");
        }
    }
}

#[test]
fn structures_come_back_byte_for_byte() {
    let place = Sandbox::new();
    for (name, format) in STRUCTURES {
        // Data types with mixed byte orders or titles are exported in native byte order and without titles.
        if name.starts_with("mixed") || *name == "titled" {
            continue;
        }
        let file = golden(&format!("{name}.npy"));
        for memory in ["100", "1GiB"] {
            place.ok(&["import", &file, "a.zarr", "--force", "--format", format, "--memory", memory]);
            place.ok(&["export", "a.zarr", "a.npy", "--force", "--memory", memory]);
            assert!(place.read("a.npy") == std::fs::read(&file).unwrap(), "{name}");
        }
    }
}

#[test]
fn mixed_byte_orders_are_brought_into_ours() {
    let place = Sandbox::new();
    for name in ["mixed", "mixed_fortran"] {
        place.ok(&["import", &golden(&format!("{name}.npy")), "a.zarr", "--force", "--format", "v2"]);
        let json = place.json(&["dump", "a.zarr", "--json"]);
        let first = if name == "mixed" { &json[0] } else { &json[0][2] };
        assert_eq!(*first, json!({"a": 1, "b": 2, "c": [3.0, 4.0]}));
        place.ok(&["export", "a.zarr", "a.npy", "--force"]);
        let header = place.read("a.npy");
        let ours = if cfg!(target_endian = "big") { '>' } else { '<' };
        let descr = format!("[('a', '{ours}i2'), ('b', '{ours}i4'), ('c', '{ours}f8', (2,))]");
        assert!(header.windows(descr.len()).any(|window| window == descr.as_bytes()));
    }
}

#[test]
fn padding_is_kept_where_the_format_has_it_and_lost_where_not() {
    let place = Sandbox::new();
    place.ok(&["import", &golden("padded.npy"), "a.zarr", "--format", "v3"]);
    assert_eq!(place.ok(&["dump", "a.zarr"]), text("padded"));
    place.ok(&["export", "a.zarr", "a.raw"]);
    let wanted = [&[1][..], &2_i32.to_ne_bytes(), &[3, 255], &(-2_i32).to_ne_bytes(), &[253]].concat();
    assert_eq!(place.read("a.raw"), wanted);
    place.ok(&["import", &golden("padded.npy"), "a.zarr", "--append"]);
    assert_eq!(place.json(&["info", "a.zarr", "--json"])["shape"], json!([4]));
    let said = place.fails(6, &["import", &golden("mixed.npy"), "b.zarr", "--format", "v3"]);
    assert!(said.contains("'c'") && said.contains("v2"), "{said}");
    assert_eq!(place.names(), ["a.raw", "a.zarr"]);
}

#[test]
fn fields_are_selected() {
    let place = Sandbox::new();
    for (name, fields) in [
        ("nested", &["m"][..]),
        ("nested", &["u", "m"]),
        ("timed", &["d", "t"]),
        ("points_long", &["b"]),
        ("long_fields", &["m"]),
    ] {
        place.ok(&["import", &golden(&format!("{name}.npy")), "a.zarr", "--force", "--format", "v2"]);
        let options: Vec<&str> = fields.iter().flat_map(|field| ["--field", field]).collect();
        let wanted = text(&format!("{name}_{}", fields.concat()));
        assert_eq!(place.ok(&[&["dump", "a.zarr"], &options[..]].concat()), wanted, "{name} {fields:?}");
        // The exported file has the same elements.
        place.ok(&[&["export", "a.zarr", "f.npy", "--force", "--memory", "100"], &options[..]].concat());
        place.ok(&["import", "f.npy", "f.zarr", "--force", "--format", "v2"]);
        assert_eq!(place.ok(&["dump", "f.zarr"]), wanted, "{name} {fields:?}");
    }
    place.ok(&["import", &golden("nested.npy"), "n.zarr", "--format", "v2"]);
    assert_eq!(place.json(&["dump", "n.zarr[::-1]", "--field", "p.y", "--json"]), json!([7, -300, 0]));
    assert_eq!(place.ok(&["dump", "n.zarr[0]", "--field", "u"]), "a\n");
    assert_eq!(
        place.ok(&["dump", "n.zarr", "--field", "p.y", "--field", "u", "--csv"]),
        "0,a\n-300,it's\n7,né\n"
    );
    assert_eq!(place.ok(&["dump", "n.zarr[2:]", "--field", "p.y", "--field", "u"]), "[(7, 'né')]\n");
    place.ok(&["export", "n.zarr", "y.raw", "--field", "p.y"]);
    assert_eq!(place.read("y.raw"), [0_i16, -300, 7].map(i16::to_ne_bytes).concat());
    let said = place.fails(2, &["dump", "n.zarr", "--field", "q"]);
    assert!(said.contains("'q'") && said.contains("p, m, s, u, c"), "{said}");
    place.fails(2, &["export", "n.zarr", "x.npy", "--field", "p.y.z"]);
    place.ok(&["create", "i.zarr", "--shape", "3", "--dtype", "i4"]);
    assert!(place.fails(2, &["dump", "i.zarr", "--field", "q"]).contains("no fields"));
}

#[test]
fn structures_in_csv_and_json_are_cells_and_objects() {
    let place = Sandbox::new();
    place.ok(&["import", &golden("points_grid.npy"), "g.zarr"]);
    assert_eq!(place.ok(&["dump", "g.zarr", "--csv"]), "1,2.5,300,-4.25\n-7,1e-10,1,2.5\n");
    place.ok(&["import", &golden("nested.npy"), "n.zarr", "--format", "v2"]);
    let csv = place.ok(&["dump", "n.zarr[0]", "--csv"]);
    assert_eq!(csv, "1.5,0,0.0,1.1,2.2,3.3000002,4.4,5.5,b'ab',a,1j\n");
    let json = place.json(&["dump", "n.zarr[2]", "--json"]);
    assert_eq!(json["p"], json!({"x": 0.1, "y": 7}));
    assert_eq!((&json["m"][1][0], &json["u"]), (&json!(16.5), &json!("né")));
}

#[test]
fn text_and_bytes_of_variable_length_are_printed_as_objects() {
    let place = Sandbox::new();
    for format in ["v2", "v3"] {
        for (name, dtype) in
            [("words", "string"), ("words_long", "string"), ("bytes", "variable_length_bytes")]
        {
            let file = golden(&format!("{name}.npy"));
            place.ok(&["import", &file, "a.zarr", "--force", "--format", format, "--dtype", dtype]);
            assert_eq!(place.ok(&["dump", "a.zarr"]), text(&format!("{name}_objects")), "{name}");
            // The longest element determines the length of the exported text, as it does in the imported file.
            for memory in ["100", "1GiB"] {
                place.ok(&["export", "a.zarr", "a.npy", "--force", "--memory", memory]);
                assert!(place.read("a.npy") == std::fs::read(&file).unwrap(), "{name}");
            }
            place.ok(&["export", "a.zarr", "a.npz", "--force"]);
            place.ok(&["import", "a.npz", "z.zarr", "--force", "--member", "arr_0", "--dtype", dtype]);
            assert_eq!(place.ok(&["dump", "z.zarr"]), text(&format!("{name}_objects")), "{name}");
        }
    }
    place.ok(&["import", &golden("words.npy"), "w.zarr", "--dtype", "string"]);
    assert_eq!(place.ok(&["dump", "w.zarr", "--csv"]), "a\nbc\nit's\nné🧊\n\n");
    assert_eq!(place.json(&["dump", "w.zarr[2:]", "--json"]), json!(["it's", "né🧊", ""]));
    assert_eq!(place.ok(&["dump", "w.zarr[3]"]), "né🧊\n");
    let info = place.json(&["info", "w.zarr", "--json"]);
    assert_eq!((&info["data_type"], &info["fill_value"]), (&json!("string"), &json!("")));
    assert_eq!((&info["bytes"], &info["ratio"]), (&json!(null), &json!(null)), "unknown sizes");
    assert!(!place.ok(&["info", "w.zarr"]).contains("ratio"));
    place.ok(&["import", &golden("words.npy"), "w.zarr", "--append"]);
    assert_eq!(place.json(&["info", "w.zarr", "--json"])["shape"], json!([10]));
    place.ok(&["export", "w.zarr[4:5]", "empty.npy"]);
    let empty = place.read("empty.npy");
    assert!(empty.windows(3).any(|window| window == b"<U1") && empty.ends_with(b"\n\0\0\0\0"));
    // Text keeps its fixed length by default.
    place.ok(&["import", &golden("words.npy"), "u.zarr"]);
    assert!(place.ok(&["info", "u.zarr"]).contains("data type      U4\n"));
}

#[test]
fn strings_that_would_be_altered_are_refused() {
    let place = Sandbox::new();
    place.ok(&[
        "create",
        "b.zarr",
        "--shape",
        "2",
        "--dtype",
        "variable_length_bytes",
        "--fill-value",
        "YWIA",
    ]);
    assert!(place.ok(&["dump", "b.zarr"]).contains(r"b'ab\x00'"));
    place.ok(&["create", "t.zarr", "--shape", "2", "--dtype", "string", "--fill-value", r#""a\u0000""#]);
    for name in ["b.zarr", "t.zarr"] {
        let said = place.fails(6, &["export", name, "x.npy"]);
        assert!(said.contains("NUL") && said.contains("--json") && said.contains("array '/'"), "{said}");
        let said = place.fails(6, &["export", name, "x.raw"]);
        assert!(said.contains(".npy") && said.contains("dump"), "{said}");
    }
    place.fails(2, &["import", "-", "r.zarr", "--dtype", "string", "--shape", "3"]);
    for (name, dtype) in
        [("words", "variable_length_bytes"), ("bytes", "string"), ("uint64", "string"), ("uint64", "<M8[s]")]
    {
        let said = place.fails(2, &["import", &golden(&format!("{name}.npy")), "r.zarr", "--dtype", dtype]);
        assert!(said.contains("cannot be stored as"), "{said}");
    }
    assert_eq!(place.names(), ["b.zarr", "t.zarr"]);
}

#[test]
fn types_that_numpys_files_lack_are_exported_as_what_they_have_or_not_at_all() {
    let place = Sandbox::new();
    let raw = |dtype: &str, bytes: &[u8]| {
        let run =
            place.run_with(&["import", "-", "a.zarr", "--force", "--dtype", dtype, "--shape", "2"], bytes);
        assert_eq!(run.code, 0, "{}", run.err);
    };
    for (dtype, descr, bytes) in
        [("int4", "|i1", [0xfd, 7]), ("uint2", "|u1", [3, 0]), ("int2", "|i1", [0xff, 1])]
    {
        raw(dtype, &bytes);
        place.ok(&["export", "a.zarr", "a.npy", "--force"]);
        let file = place.read("a.npy");
        assert!(
            file.windows(3).any(|window| window == descr.as_bytes()) && file.ends_with(&bytes),
            "{dtype}"
        );
        place.ok(&["import", "a.npy", "b.zarr", "--force", "--dtype", dtype]);
        assert_eq!(place.json(&["info", "b.zarr", "--json"])["data_type"], json!(dtype));
    }
    let mut file = place.read("a.npy");
    file.pop();
    file.push(100);
    place.write("a.npy", file);
    let said = place.fails(2, &["import", "a.npy", "c.zarr", "--dtype", "int2"]);
    assert!(said.contains("100 is outside of the range of int2"), "{said}");
    raw("bfloat16", &[0x80, 0x3f, 0x00, 0xc0]);
    let said = place.fails(6, &["export", "a.zarr", "x.npy"]);
    assert!(said.contains("bfloat16") && said.contains("--to raw") && said.contains("array '/'"), "{said}");
    assert_eq!(place.ok(&["dump", "a.zarr", "--csv"]), "1.0\n-2.0\n");
    // NumPy writes the bytes of such a data type, but not its name.
    place.ok(&["create", "v.zarr", "--shape", "2", "--dtype", "|V2"]);
    place.ok(&["export", "v.zarr", "v.npy"]);
    let mut file = place.read("v.npy");
    let end = file.len() - 4;
    file[end..].copy_from_slice(&[0x80, 0x3f, 0x00, 0xc0]);
    place.write("v.npy", file);
    place.ok(&["import", "v.npy", "f.zarr", "--dtype", "bfloat16"]);
    assert_eq!(place.json(&["dump", "f.zarr", "--json"]), json!([1.0, -2.0]));
}

#[test]
fn structures_are_created_from_json() {
    let place = Sandbox::new();
    let v2 = r#"[["x", "<f4"], ["p", [["y", ">i2"], ["z", "|S3"]]]]"#;
    let v3 = r#"{"name": "struct", "configuration": {"fields": [{"name": "x", "data_type": "float32"}]}}"#;
    for format in ["v2", "v3"] {
        place.ok(&["create", "a.zarr", "--force", "--shape", "2", "--dtype", v2, "--format", format]);
        assert_eq!(place.ok(&["dump", "a.zarr"]), "[(0., (0, b'')) (0., (0, b''))]\n");
        place.ok(&["create", "b.zarr", "--force", "--shape", "1", "--dtype", v3, "--format", format]);
        assert_eq!(place.ok(&["dump", "b.zarr"]), "[(0.,)]\n");
    }
    assert!(place.ok(&["info", "a.zarr"]).contains("struct(x: float32, p: struct(y: int16, z: "));
    let line = ["create", "c.zarr", "--shape", "2", "--dtype", v3, "--fill-value", r#"{"x": 100000000}"#];
    place.ok(&line);
    assert!(place.ok(&["info", "c.zarr"]).contains("(1e+08,)"));
    // Raw elements of a structured data type have the byte orders of the data type.
    let bytes = [&1.5_f32.to_le_bytes()[..], &[0x01, 0x00], b"abc"].concat();
    let run = place.run_with(&["import", "-", "r.zarr", "--dtype", v2, "--shape", "1"], &bytes);
    assert_eq!(run.code, 0, "{}", run.err);
    assert_eq!(place.ok(&["dump", "r.zarr"]), "[(1.5, (256, b'abc'))]\n");
    for bad in ["[]", "[[\"x\"]]", "{\"name\": 1}", "[[\"x\", \"<f4\"]"] {
        assert!(place.fails(2, &["create", "d.zarr", "--shape", "2", "--dtype", bad]).contains("--dtype"));
    }
    assert!(!place.path("d.zarr").exists());
    let hostile = format!("[[\"e\", \"|u1\", [0, {0}, {0}]], [\"x\", \"|i1\"]]", 1_u64 << 40);
    place.ok(&["create", "h.zarr", "--shape", "2", "--dtype", &hostile, "--format", "v2"]);
    assert_eq!(place.ok(&["dump", "h.zarr"]), "[([], 0) ([], 0)]\n");
    assert!(place.fails(2, &["dump", "h.zarr", "--field", "e"]).contains("without elements"));
}

/// Returns an array with missing elements.
fn optional() -> Sandbox {
    let place = Sandbox::new();
    let document = json!({
        "zarr_format": 3, "node_type": "array", "shape": [2, 4],
        "data_type": {"name": "zarrs.optional", "configuration": {"name": "uint8", "configuration": {}}},
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2, 3]}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "fill_value": null,
        "codecs": [{"name": "zarrs.optional", "configuration": {
            "mask_codecs": [{"name": "packbits"}], "data_codecs": [{"name": "bytes"}]}}],
    });
    std::fs::create_dir_all(place.path("a.zarr/c/0")).unwrap();
    std::fs::write(place.path("a.zarr/zarr.json"), document.to_string()).unwrap();
    // zarrs 0.23.14 encoded this chunk.
    let chunk = [1, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0x33, 1, 2, 5, 60];
    std::fs::write(place.path("a.zarr/c/0/0"), chunk).unwrap();
    place
}

#[test]
fn missing_elements_are_null() {
    assert_eq!(optional().ok(&["dump", "a.zarr"]), "[[   1    2 null null]\n [null    5   60 null]]\n");
}

#[test]
fn numpy_has_no_such_type() {
    let run = optional().run(&["export", "a.zarr", "a.npy"]);
    assert!(run.code != 0 && run.err.contains("zarrs.optional"), "{run:?}");
}
