//! Nodes that are changed while they are served.

#![expect(clippy::unwrap_used, reason = "a test stops at the first failure")]

use std::sync::atomic::{AtomicBool, Ordering};

use zarrox::{Array, DataType, Format, Group, OpenOptions};
use zarrox_serve::Server;
use zarrox_tools::Copier;

use crate::common::{Client, aged};

const FORMATS: [Format; 2] = [Format::V2, Format::V3];

/// Returns a group with an array of eight rows and columns in uncompressed chunks of this shape.
fn group(path: &std::path::Path, format: Format) -> Group {
    let group = OpenOptions::new().format(format).create_group(path).unwrap();
    array(&group, [4, 4]);
    group.consolidate_metadata().unwrap();
    aged(path);
    group
}

/// Returns the array, created again.
fn array(group: &Group, chunks: [u64; 2]) -> Array {
    if group.contains("a").unwrap() {
        group.delete("a").unwrap();
    }
    let builder = group.create_array("a").shape([8, 8]).chunks(chunks).data_type(DataType::Int32);
    let array = builder.no_compressor().create().unwrap();
    array.write(.., values()).unwrap();
    array
}

fn values() -> ndarray::Array2<i32> {
    ndarray::Array2::from_shape_fn((8, 8), |(y, x)| i32::try_from(8 * y + x).unwrap())
}

fn client(path: &std::path::Path) -> Client {
    Client::new(Server::new().token(None).root("r", path).unwrap())
}

/// Returns the chunk shape in a document.
fn chunks(document: &serde_json::Value) -> serde_json::Value {
    document["chunk_grid"]["configuration"]["chunk_shape"].clone()
}

#[test]
fn documents_are_those_of_the_chunks_as_soon_as_an_array_is_changed() {
    for format in FORMATS {
        let directory = tempfile::tempdir().unwrap();
        let (group, client) = (group(directory.path(), format), client(directory.path()));
        for lengths in [[4, 4], [2, 8], [8, 1], [1, 3]] {
            array(&group, lengths);
            let expected = serde_json::json!(lengths);
            assert_eq!(chunks(&client.json("/v3/r/a/zarr.json")), expected, "{format}");
            let root = client.json("/v3/r/zarr.json");
            assert_eq!(chunks(&root["consolidated_metadata"]["metadata"]["a"]), expected, "{format}");
            let length = usize::try_from(4 * lengths[0] * lengths[1]).unwrap();
            assert_eq!(client.ok("/v3/r/a/c/0/0").body.len(), length, "{format}");
        }
        group.delete("a").unwrap();
        assert_eq!(client.get("/v3/r/a/zarr.json").status, 404);
        assert_eq!(client.get("/v3/r/a/c/0/0").status, 404);
    }
}

#[test]
fn elements_of_an_array_that_was_changed_are_those_that_are_there() {
    for format in FORMATS {
        let directory = tempfile::tempdir().unwrap();
        let (group, client) = (group(directory.path(), format), client(directory.path()));
        for lengths in [[4, 4], [2, 8], [8, 1], [1, 3]] {
            array(&group, lengths);
            let answer = client.json("/api/v1/slice/r/a?select=1,2:4&as=json");
            assert_eq!(answer["values"], serde_json::json!([10, 11]), "{format}");
            for call in ["chunks", "stats", "histogram"] {
                client.ok(&format!("/api/v1/{call}/r/a"));
            }
            client.ok("/api/v1/line/r/a?select=1");
        }
    }
}

#[test]
fn who_asks_while_an_array_is_rechunked_again_and_again_gets_its_elements() {
    let directory = tempfile::tempdir().unwrap();
    let (_, client) = (group(directory.path(), Format::V3), client(directory.path()));
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_done.load(Ordering::Relaxed) {
                for lengths in [[2, 8], [4, 4]] {
                    Copier::new().chunks(lengths).run_in_place(directory.path().join("a")).unwrap();
                }
            }
        });
        for _ in 0..100 {
            let answer = client.json("/api/v1/slice/r/a?select=1,2:4&as=json");
            assert_eq!(answer["values"], serde_json::json!([10, 11]));
        }
        is_done.store(true, Ordering::Relaxed);
    });
}
