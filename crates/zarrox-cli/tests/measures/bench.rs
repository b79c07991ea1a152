//! Speeds of reading.

use crate::common::Sandbox;

fn sea() -> Sandbox {
    let place = Sandbox::new();
    place.write("values.raw", (0..4800_i16).flat_map(i16::to_le_bytes).collect::<Vec<u8>>());
    let line = ["import", "values.raw", "sea.zarr/t", "--dtype", "<i2", "--shape", "60,80"];
    place.ok(&[&line[..], &["--chunks", "20,40", "--compressor", "none"]].concat());
    place
}

#[test]
fn every_combination_is_a_row() {
    let place = sea();
    let table = place.ok(&["bench", "sea.zarr/t", "--turns", "1"]);
    assert!(
        table.contains("sample        [0:60, 0:80], 9.38 KiB of 9.4 KiB (9600); in 6 stored objects"),
        "{table}"
    );
    assert!(table.contains("again, warm") && table.contains("as it is"), "{table}");
    let line = ["bench", "sea.zarr/t", "--turns", "1", "--try", "zstd:3,none,blosc:lz4", "--chunks", "30,-1"];
    let table =
        place.ok(&[&line[..], &["--chunks", "10,10", "--shards", "none", "--shards", "60,80"]].concat());
    assert_eq!(table.lines().filter(|line| line.contains("chunks 30,-1")).count(), 6, "{table}");
    assert_eq!(table.lines().filter(|line| line.contains("no compressor")).count(), 4, "{table}");
}

#[test]
fn json_has_sizes_and_times() {
    let place = sea();
    let line = ["bench", "sea.zarr/t", "--turns", "1", "--chunks", "60,10", "--json", "--at", "trial.zarr"];
    let found = place.json(&line);
    assert_eq!((&found["bytes_fetched"], &found["objects"]), (&9600.into(), &6.into()));
    let candidate = &found["candidates"][1];
    assert_eq!(candidate["name"], "chunks 60,10");
    assert_eq!(candidate["bytes_stored"], 9600);
    assert!(candidate["element_seconds"].as_f64().unwrap() > 0.0);
    assert_eq!(place.names(), ["sea.zarr", "values.raw"]);
}

#[test]
fn a_candidate_that_cannot_be_made_is_told() {
    let place = sea();
    let said =
        place.fails(2, &["bench", "sea.zarr/t", "--turns", "1", "--chunks", "7,7", "--shards", "10,10"]);
    assert!(said.contains("a candidate cannot be created"), "{said}");
    place.fails(2, &["bench", "sea.zarr/t", "--try", "zip"]);
    place.fails(2, &["bench", "sea.zarr/t", "--turns", "0"]);
    place.fails(2, &["bench", "sea.zarr"]);
}
