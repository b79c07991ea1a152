//! Space, statistics, chunks, and rows.

use serde_json::json;

use crate::common::Sandbox;

fn sea() -> Sandbox {
    let place = Sandbox::new();
    place.write("values.raw", (0..48_i16).flat_map(i16::to_le_bytes).collect::<Vec<u8>>());
    let shape = ["--dtype", "<i2", "--shape", "6,8", "--compressor", "none"];
    place.ok(&[&["import", "values.raw", "sea.zarr/g/t", "--chunks", "2,4"], &shape[..]].concat());
    place
        .ok(&[&["import", "values.raw", "sea.zarr/s", "--chunks", "3,2", "--shards", "6,4"], &shape[..]]
            .concat());
    place.ok(&["create", "sea.zarr/empty", "--shape", "4", "--dtype", "f4", "--chunks", "2"]);
    place
}

#[test]
fn du_adds_up_what_lies_below() {
    let place = sea();
    let table = place.ok(&["du", "sea.zarr", "-b"]);
    let rows: Vec<Vec<&str>> = table.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(rows[0], ["stored", "logical", "ratio", "chunks", "path"]);
    let path = |name: &str| rows.iter().find(|row| row[4] == name).unwrap().clone();
    assert_eq!((path("/")[1], path("/")[3]), ("208", "8/10"));
    assert_eq!((path("/g/")[1], path("/g/t")[3], path("/empty")[3]), ("96", "6/6", "0/2"));
    assert_eq!(place.ok(&["du", "sea.zarr", "--depth", "0"]).lines().count(), 2);
    let sorted = place.ok(&["du", "sea.zarr", "--sort", "size", "--histogram", "--inner"]);
    assert!(sorted.contains("inside of shards: 8 chunks stored (96 B), 0 empty\n"), "{sorted}");
    assert!(sorted.contains("sizes of chunks\n"), "{sorted}");
    let nodes = place.json(&["du", "sea.zarr", "--json"])["nodes"].clone();
    assert_eq!((&nodes[0]["total"]["chunks_stored"], &nodes[0]["chunks_stored"]), (&json!(8), &json!(0)));
    place.write("sea.zarr/g/notes", "12345");
    let run = place.run(&["du", "sea.zarr"]);
    assert!(run.err.contains("note: 1 objects (5 B) do not belong to a node"), "{}", run.err);
    assert_eq!(place.run(&["du", "sea.zarr", "--quiet"]).err, "");
    place.fails(3, &["du", "nothing.zarr"]);
}

#[test]
fn stats_of_arrays_and_parts() {
    let place = sea();
    let text = place.ok(&["stats", "sea.zarr/s", "--percentiles", "50"]);
    for line in ["count  48", "nan    0", "min    0", "max    47", "mean   23.5", "50%    23.5"] {
        assert!(text.lines().any(|found| found == line), "{line} in {text}");
    }
    let found =
        place.json(&["stats", "sea.zarr/g/t[1:3, ::2]", "--json", "--histogram", "2", "--range", "0,20"]);
    assert_eq!((&found["count"], &found["min"], &found["max"]), (&json!(8), &json!(8), &json!(22)));
    assert_eq!(found["histogram"], json!({"low": 0.0, "high": 20.0, "counts": [1, 6]}));
    let found = place.json(&["stats", "sea.zarr/empty", "--unique", "--json"]);
    assert_eq!(found["unique"], json!([{"value": "0.0", "count": 4}]));
    let run = place.run(&["stats", "sea.zarr/nothing", "sea.zarr/s"]);
    assert_eq!(run.code, 3);
    assert!(String::from_utf8(run.out).unwrap().contains("sea.zarr/s:\ncount"), "{}", run.err);
    place.fails(2, &["stats", "sea.zarr"]);
    place.fails(2, &["stats", "sea.zarr/s", "--percentiles", "200"]);
    place.fails(2, &["stats", "sea.zarr/s", "--histogram", "2", "--range", "3"]);
}

#[test]
fn stats_along_axes() {
    let place = sea();
    assert_eq!(place.ok(&["stats", "sea.zarr/s", "--axis", "0"]), "[20. 21. 22. 23. 24. 25. 26. 27.]\n");
    let found = place.json(&["stats", "sea.zarr/s[1:3]", "--axis=-1", "--measure", "max,mean", "--json"]);
    assert_eq!(found["statistics"], json!({"max": [15, 23], "mean": [11.5, 19.5]}));
    assert_eq!((&found["axes"], &found["shape"]), (&json!([1]), &json!([2])));
    place.ok(&["create", "sea.zarr/n", "--shape", "4,6", "--dtype", "i4", "--dimension-names", "time,lat"]);
    place.ok(&["fill", "sea.zarr/n", "3"]);
    place.ok(&["stats", "sea.zarr/n", "--axis", "time", "--measure", "min,std", "-o", "means.zarr"]);
    assert_eq!(place.ok(&["dump", "means.zarr/min"]), "[3 3 3 3 3 3]\n");
    assert_eq!(place.ok(&["dump", "means.zarr/std"]), "[0. 0. 0. 0. 0. 0.]\n");
    let names = place.json(&["info", "--json", "means.zarr/min"])["dimension_names"].clone();
    assert_eq!(names, json!(["lat"]));
    place.ok(&["stats", "sea.zarr/n", "--axis", "time,lat", "-o", "sea.zarr/mean"]);
    assert_eq!(place.ok(&["dump", "sea.zarr/mean"]), "3.0\n");
    place.fails(4, &["stats", "sea.zarr/n", "--axis", "time,lat", "-o", "sea.zarr/mean"]);
    let said = place.fails(2, &["stats", "sea.zarr/n", "--axis", "depth"]);
    assert!(said.contains("unknown axis 'depth'; the array has 2 dimensions, named time, lat"), "{said}");
    place.fails(2, &["stats", "sea.zarr/n", "--axis", "time", "--measure", "mode"]);
    place.fails(2, &["stats", "sea.zarr/n", "--measure", "mean"]);
}

#[test]
fn rows_at_both_ends() {
    let place = sea();
    assert_eq!(place.ok(&["head", "-n", "1", "sea.zarr/s"]), "[[0 1 2 3 4 5 6 7]]\n");
    assert_eq!(place.ok(&["tail", "-n", "1", "--csv", "sea.zarr/s"]), "40,41,42,43,44,45,46,47\n");
    assert_eq!(place.json(&["head", "-n", "99", "--json", "sea.zarr/empty"]), json!([0.0, 0.0, 0.0, 0.0]));
    let two = place.ok(&["tail", "-n", "1", "sea.zarr/empty", "sea.zarr/empty"]);
    assert_eq!(two, "sea.zarr/empty:\n[0.]\n\nsea.zarr/empty:\n[0.]\n");
}

#[test]
fn chunks_have_keys_regions_and_sizes() {
    let place = sea();
    std::fs::remove_file(place.path("sea.zarr/g/t/c/1/0")).unwrap();
    let table = place.ok(&["chunks", "sea.zarr/g/t"]);
    assert_eq!(table.lines().nth(1).unwrap().trim_end(), "(0, 0)  g/t/c/0/0  [0:2, 0:4]  16");
    assert_eq!(table.lines().count(), 6);
    assert_eq!(place.ok(&["chunks", "sea.zarr/g/t", "--map"]), "##\n.#\n##\n");
    assert_eq!(place.ok(&["chunks", "sea.zarr/g/t", "--missing"]), "(1, 0)  g/t/c/1/0  [2:4, 0:4]\n");
    let inner = place.json(&["chunks", "sea.zarr/s", "--inner", "--json"]);
    assert_eq!(inner["grid_shape"], json!([1, 2]));
    assert_eq!(inner["chunks"][1]["inner"][0], json!({"index": [0, 2], "offset": 0, "bytes": 12}));
    place.fails(2, &["chunks", "sea.zarr"]);
}

#[test]
fn stored_and_decoded_bytes() {
    let place = sea();
    assert_eq!(place.run(&["cat", "sea.zarr/g/t", "zarr.json"]).out, place.read("sea.zarr/g/t/zarr.json"));
    assert_eq!(place.run(&["cat", "sea.zarr/g/t", "c/0/1"]).out, place.read("sea.zarr/g/t/c/0/1"));
    let expected: Vec<u8> = [4_i16, 5, 6, 7, 12, 13, 14, 15].iter().flat_map(|n| n.to_ne_bytes()).collect();
    assert_eq!(place.run(&["cat", "sea.zarr/g/t", "c/0/1", "--decoded"]).out, expected);
    place.fails(3, &["cat", "sea.zarr/g/t", "c/9/9"]);
    place.fails(3, &["cat", "sea.zarr/g/t", "zarr.json", "--decoded"]);
    place.fails(2, &["cat", "sea.zarr/g/t", "../x"]);
}
