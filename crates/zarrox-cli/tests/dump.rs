//! Elements as text.

use std::io::Read;
use std::process::Stdio;

use serde_json::json;

use crate::common::{Sandbox, golden};

const PRINTED: &[&str] = &[
    "bool",
    "int16_cube",
    "int32_fortran",
    "uint64",
    "int64_long",
    "int64_scalar",
    "int8_empty",
    "float16",
    "float32",
    "float32_big",
    "float32_exponents",
    "float64_plain",
    "float64_digits",
    "float64_exponents",
    "float64_wrapped",
    "text",
    "text_big",
    "text_scalar",
    "bytes",
    "times",
    "times_days",
    "times_multiple",
    "spans",
    "complex64",
    "complex128_fortran_big",
];

fn counted(shape: &str, count: u32) -> Sandbox {
    let place = Sandbox::new();
    let bytes: Vec<u8> = (0..count).flat_map(u32::to_le_bytes).collect();
    let run = place.run_with(&["import", "-", "a.zarr", "--dtype", "<u4", "--shape", shape], &bytes);
    assert_eq!(run.code, 0, "{}", run.err);
    place
}

#[test]
fn arrays_are_printed_as_numpy_prints_them() {
    let place = Sandbox::new();
    for name in PRINTED {
        place.ok(&["import", &golden(&format!("{name}.npy")), "a.zarr", "--force"]);
        let wanted = std::fs::read_to_string(golden(&format!("{name}.txt"))).unwrap();
        assert_eq!(place.ok(&["dump", "a.zarr"]), wanted, "{name}");
    }
}

#[test]
fn lists_of_positions_are_selections() {
    let place = counted("4,6", 24);
    assert_eq!(place.ok(&["dump", "a.zarr[[0, -1], [1, 3]]"]), "[ 1 21]\n");
    assert_eq!(place.ok(&["dump", "a.zarr[[3, 0], 1:3]"]), "[[19 20]\n [ 1  2]]\n");
    let crossed = ["dump", "a.zarr", "--selection", "[3, 0], [1, 3]", "--indexing", "orthogonal"];
    assert_eq!(place.ok(&crossed), "[[19 21]\n [ 1  3]]\n");
    let masked = "a.zarr[[True, False, False, True], 5]";
    assert_eq!(place.ok(&["dump", masked, "--csv"]), "5\n23\n");
    let failed = place.run(&["dump", "a.zarr[[0, 4], 1]"]);
    assert_eq!(failed.code, 2);
    assert!(failed.err.contains("index 4 is out of bounds for axis 0 with size 4"), "{}", failed.err);
    let failed = place.run(&["dump", "a.zarr[0, 1.5]"]);
    assert!(failed.err.contains("1.5") && failed.err.contains("item 1"), "{}", failed.err);
    place.ok(&[
        "create",
        "b.zarr",
        "--shape",
        "4,6",
        "--chunks",
        "3,4",
        "--dtype",
        "<u4",
        "--fill-value",
        "7",
    ]);
    let block = place.ok(&["dump", "b.zarr[1, 1]", "--indexing", "blocks"]);
    assert_eq!(block, "[[7 7]]\n");
}

#[test]
fn selections_are_numpys() {
    let place = counted("4,6", 24);
    assert_eq!(place.ok(&["dump", "a.zarr[1]"]), "[ 6  7  8  9 10 11]\n");
    assert_eq!(place.ok(&["dump", "a.zarr[-1, ::2]"]), "[18 20 22]\n");
    assert_eq!(place.ok(&["dump", "a.zarr[::-2, ..., 0]"]), "[18  6]\n");
    assert_eq!(place.ok(&["dump", "a.zarr", "--selection", "3, 5"]), "23\n");
    assert_eq!(place.ok(&["dump", "a.zarr", "--selection", "-1, -1"]), "23\n");
    assert_eq!(place.ok(&["dump", "a.zarr[2:2]"]), "[]\n");
    assert!(place.fails(2, &["dump", "a.zarr[4]"]).contains("index 4 is out of bounds for axis 0"));
    assert!(place.fails(2, &["dump", "a.zarr[0,0,0]"]).contains("3 dimensions"));
    assert!(place.fails(2, &["dump", "a.zarr[1.5]"]).contains("'1.5'"));
    assert!(place.fails(2, &["dump", "a.zarr[::0]"]).contains("zero"));
}

#[test]
fn csv_and_json_have_every_element() {
    let place = counted("40,50", 2000);
    let csv = place.ok(&["dump", "a.zarr", "--csv"]);
    assert_eq!(csv.lines().count(), 40);
    assert!(csv.starts_with("0,1,2,") && csv.ends_with("1998,1999\n"));
    assert_eq!(place.ok(&["dump", "a.zarr[:2,0]", "--csv"]), "0\n50\n");
    let json = place.json(&["dump", "a.zarr", "--json", "--memory", "100"]);
    assert_eq!(json[39][49], json!(1999));
    assert_eq!(place.json(&["dump", "a.zarr[0,:3]", "--json"]), json!([0, 1, 2]));
    assert_eq!(place.json(&["dump", "a.zarr[0,3]", "--json"]), json!(3));
    assert_eq!(place.json(&["dump", "a.zarr[0:0]", "--json"]), json!([]));
    assert_eq!(place.ok(&["dump", "a.zarr", "--full", "--memory", "1KiB"]).matches('[').count(), 41);
    place.ok(&["import", &golden("float32_big.npy"), "f.zarr"]);
    assert_eq!(place.json(&["dump", "f.zarr", "--json"]), json!([1.5, -2.25, "Infinity", "NaN"]));
    assert_eq!(place.ok(&["dump", "f.zarr", "--csv"]), "1.5\n-2.25\ninf\nnan\n");
}

#[test]
fn of_a_huge_array_only_the_edges_are_read() {
    let place = Sandbox::new();
    let huge = (1_u64 << 40).to_string();
    place.ok(&["create", "a.zarr", "--shape", &huge, "--dtype", "f8", "--chunks", "1000"]);
    assert_eq!(place.ok(&["dump", "a.zarr"]), "[0. 0. 0. ... 0. 0. 0.]\n");
    let shape = ["1000000"; 6].join(",");
    place.ok(&["create", "b.zarr", "--shape", &shape, "--dtype", "i1", "--chunks", "1,1,1,1,1,1"]);
    assert!(place.ok(&["dump", "b.zarr[0,0]"]).contains("..."));
    let shape = ["6"; 30].join(",");
    place.ok(&["create", "c.zarr", "--shape", &shape, "--dtype", "i1", "--chunks", &["1"; 30].join(",")]);
    assert!(place.fails(1, &["dump", "c.zarr"]).contains("select fewer dimensions"));
}

#[test]
fn metadata_that_demands_too_much_is_refused() {
    let place = Sandbox::new();
    place.ok(&["create", "a.zarr", "--shape", "9", "--dtype", "f8"]);
    let metadata = String::from_utf8(place.read("a.zarr/zarr.json")).unwrap();
    let huge = (1_u64 << 40).to_string();
    place.write("a.zarr/zarr.json", metadata.replace('9', &huge));
    place.write("a.zarr/c/0", [0; 16]);
    let run = place.run(&["dump", "a.zarr"]);
    assert!([1, 5].contains(&run.code), "{run:?}");
}

#[test]
fn a_group_is_no_array() {
    let place = Sandbox::new();
    place.ok(&["create", "h.zarr/t2m", "--shape", "3", "--dtype", "i4"]);
    assert!(place.fails(2, &["dump", "h.zarr"]).contains("name one of its arrays (t2m)"));
    place.fails(2, &["export", "h.zarr", "x.npy"]);
    assert_eq!(place.names(), ["h.zarr"]);
}

#[test]
fn a_damaged_chunk_is_named() {
    let place = counted("40,50", 2000);
    let key = place.path("a.zarr/c/0/0");
    let bytes = std::fs::read(&key).unwrap();
    std::fs::write(&key, &bytes[..bytes.len() / 2]).unwrap();
    for line in [["dump", "a.zarr"].as_slice(), &["export", "a.zarr", "x.npy"]] {
        let said = place.fails(5, line);
        for part in ["array '/'", "chunk [0, 0]", "key 'c/0/0'", "zstd"] {
            assert!(said.contains(part), "{part}: {said}");
        }
        assert_eq!(said.lines().count(), 1, "{said}");
    }
    assert_eq!(place.names(), ["a.zarr"], "no half a file is left");
}

#[test]
fn a_closed_pipe_ends_the_command_quietly() {
    let place = Sandbox::new();
    place.ok(&["create", "a.zarr", "--shape", "100000000000", "--dtype", "f8", "--chunks", "1000"]);
    for line in [
        ["dump", "a.zarr", "--csv"].as_slice(),
        &["dump", "a.zarr", "--json"],
        &["export", "a.zarr", "-"],
        &["export", "a.zarr", "-", "--to", "raw"],
    ] {
        let mut child = place.command(line).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut start = [0; 4];
        child.stdout.as_mut().unwrap().read_exact(&mut start).unwrap();
        drop(child.stdout.take());
        let mut said = String::new();
        child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        assert_eq!((child.wait().unwrap().code(), said.as_str()), (Some(0), ""), "{line:?}");
    }
}

#[test]
fn text_and_times_are_plain_in_csv_and_json() {
    let place = Sandbox::new();
    place.ok(&["import", &golden("text.npy"), "t.zarr"]);
    assert_eq!(place.ok(&["dump", "--csv", "t.zarr"]), "a,bcé\nit's,\n");
    assert_eq!(place.ok(&["dump", "--json", "t.zarr"]).trim_end(), r#"[["a","bcé"],["it's",""]]"#);
    place.ok(&["import", &golden("times.npy"), "d.zarr"]);
    assert_eq!(place.ok(&["dump", "--csv", "d.zarr[:2]"]), "2024-01-01T00:00:05\nNaT\n");
    assert!(place.ok(&["info", "d.zarr"]).contains("datetime64[s]"));
}

#[test]
fn json_of_an_array_without_elements_has_its_shape() {
    let place = Sandbox::new();
    for (shape, shown) in [("2,0,3", "[[],[]]"), ("0,3", "[]"), ("0", "[]"), ("1,2,0", "[[[],[]]]")] {
        place.ok(&["create", "e.zarr", "--force", "--shape", shape, "--dtype", "f4"]);
        assert_eq!(place.ok(&["dump", "--json", "e.zarr"]).trim_end(), shown);
    }
}

#[test]
fn bytes_and_dates_are_the_same_in_csv_and_json() {
    let place = Sandbox::new();
    let as_csv = |path: &str| {
        let json = place.json(&["dump", "--json", path]);
        let cell = |cell: &serde_json::Value| {
            let text = cell.as_str().map_or_else(|| cell.to_string(), str::to_owned);
            if text.contains('"') { format!("\"{}\"", text.replace('"', "\"\"")) } else { text }
        };
        json.as_array().unwrap().iter().map(|element| cell(element) + "\n").collect::<String>()
    };
    for name in ["times", "spans", "bytes"] {
        place.ok(&["import", &golden(&format!("{name}.npy")), "a.zarr", "--force"]);
        assert_eq!(as_csv("a.zarr"), place.ok(&["dump", "--csv", "a.zarr"]), "{name}");
    }
    place.ok(&["import", &golden("bytes.npy"), "b.zarr", "--dtype", "variable_length_bytes"]);
    assert_eq!(as_csv("b.zarr"), place.ok(&["dump", "--csv", "b.zarr"]));
    let record = r#"[["t", "<M8[D]"], ["b", "|S2"], ["n", "<i2", [2, 1]]]"#;
    place.ok(&["create", "r.zarr", "--shape", "1", "--dtype", record, "--format", "v2"]);
    assert_eq!(
        place.json(&["dump", "--json", "r.zarr"]),
        json!([{"t": "1970-01-01", "b": "b''", "n": [[0], [0]]}])
    );
}

#[test]
fn arrays_of_a_group_are_columns() {
    let place = Sandbox::new();
    place.ok(&["create", "s.zarr/time", "--shape", "3", "--dtype", "i4"]);
    place.ok(&["set", "s.zarr/time[:]", "[1, 20, 300]"]);
    place.ok(&["create", "s.zarr/name", "--shape", "3", "--dtype", "string"]);
    place.ok(&["set", "s.zarr/name[:]", r#"["a,b", "c", "d"]"#]);
    place.ok(&["create", "s.zarr/long", "--shape", "4", "--dtype", "i4"]);
    let line = ["dump", "s.zarr", "--columns", "time,name"];
    assert_eq!(place.ok(&[&line[..], &["--csv"]].concat()), "time,name\n1,\"a,b\"\n20,c\n300,d\n");
    let rows = "{\"time\":1,\"name\":\"a,b\"}\n{\"time\":20,\"name\":\"c\"}\n";
    let found = place.ok(&["dump", "s.zarr[:2]", "--columns", "time,name", "--json"]);
    assert_eq!(found.replace(": ", ":").replace(", \"", ",\""), rows);
    assert_eq!(
        place.ok(&["dump", "s.zarr", "--columns", "time,time"]),
        "time  time\n1     1\n20    20\n300   300\n"
    );
    assert!(place.fails(2, &["dump", "s.zarr", "--columns", "time,long"]).contains("'long' has 4"));
    place.fails(3, &["dump", "s.zarr", "--columns", "nothing"]);
    place.fails(2, &["dump", "s.zarr/time", "--columns", "time"]);
}
