//! `/v3`: any hierarchy as Zarr 3.

#![expect(clippy::unwrap_used, reason = "a test stops at the first failure")]

use ndarray::ArrayD;
use std::fs;
use std::sync::Arc;

use zarrox::stores::{Condition, Key, MemoryStore, StoreExt};
use zarrox::{Format, OpenOptions};
use zarrox_serve::Server;

use crate::common::{Client, NAMES, Place, array_of, expected};

/// A store with everything below `/v3/NAME` that a reader of the array requests.
fn downloaded(client: &Client, name: &str) -> Arc<MemoryStore> {
    let store = Arc::new(MemoryStore::new());
    let array = array_of(name).trim_start_matches('/');
    let set = |key: &str, bytes: &[u8]| store.set(&Key::new(key).unwrap(), bytes, Condition::Always).unwrap();
    set("zarr.json", &client.ok(&format!("/v3/{name}/zarr.json")).body);
    let document = if array.is_empty() { "zarr.json".to_owned() } else { format!("{array}/zarr.json") };
    let found = client.ok(&format!("/v3/{name}/{document}"));
    set(&document, &found.body);
    let shape = &found.json()["chunk_grid"]["configuration"]["chunk_shape"];
    let (rows, columns) = (shape[0].as_u64().unwrap(), shape[1].as_u64().unwrap());
    for y in 0..7_u64.div_ceil(rows) {
        for x in 0..10_u64.div_ceil(columns) {
            let key = format!("{array}/c/{y}/{x}");
            let uri = format!("/v3/{name}{}/c/{y}/{x}", array_of(name));
            let (answer, head) = (client.get(&uri), client.ask("HEAD", &uri, &[]));
            assert_eq!(
                (answer.status, answer.header("content-length")),
                (head.status, head.header("content-length"))
            );
            match answer.status {
                200 => set(key.trim_start_matches('/'), &answer.body),
                status => assert_eq!((status, y, x), (404, 0, 0), "{name}"),
            }
        }
    }
    store
}

#[test]
fn every_format_is_read_as_zarr_3() {
    let place = Place::new();
    let client = place.client();
    for name in NAMES {
        let store = downloaded(&client, name);
        let options = OpenOptions::new().format(Format::V3);
        let array = options.open((store, array_of(name))).unwrap().into_array().unwrap();
        assert_eq!(array.read::<ArrayD<i32>>(..).unwrap(), expected(name).into_dyn(), "{name}");
    }
}

#[test]
fn the_root_has_the_documents_of_all_nodes() {
    let place = Place::new();
    let client = place.client();
    for name in NAMES.into_iter().filter(|name| *name != "v1.zarr") {
        let root = client.json(&format!("/v3/{name}/zarr.json"));
        let nodes = root["consolidated_metadata"]["metadata"].as_object().unwrap();
        assert_eq!(nodes.keys().collect::<Vec<_>>(), ["g", "g/a"], "{name}");
        assert_eq!(nodes["g/a"], client.json(&format!("/v3/{name}/g/a/zarr.json")), "{name}");
        assert_eq!(client.get(&format!("/v3/{name}/.zgroup")).status, 404);
    }
}

#[test]
fn bytes_are_as_they_are_stored_where_the_formats_say_the_same() {
    let place = Place::new();
    let client = place.client();
    for (name, key) in [("v2.zarr", "g/a/1.1"), ("v3.zarr", "g/a/c/1/1")] {
        let stored = fs::read(place.path(name).join(key)).unwrap();
        assert_eq!(client.ok(&format!("/v3/{name}/g/a/c/1/1")).body, stored, "{name}");
    }
    let shard = fs::read(place.path("shards.zarr/g/a/c/1/0")).unwrap();
    let tail = client.ask("GET", "/v3/shards.zarr/g/a/c/1/0", &[("range", "bytes=-20")]);
    assert_eq!((tail.status, tail.body.as_slice()), (206, &shard[shard.len() - 20..]));
}

#[test]
fn chunks_that_are_encoded_anew_have_tags_and_ranges() {
    let place = Place::new();
    let client = place.client();
    let uri = "/v3/some.n5/g/a/c/1/1";
    let whole = client.ok(uri);
    assert_eq!(client.ask("GET", uri, &[("range", "bytes=2-5")]).body, whole.body[2..6]);
    assert_eq!(client.ask("GET", uri, &[("if-none-match", whole.header("etag"))]).status, 304);
}

#[test]
fn a_node_that_zarr_3_cannot_say_does_not_disturb_others() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.zarr");
    let root = OpenOptions::new().format(Format::V2).create_group(&path).unwrap();
    root.create_array("good").shape([3]).data_type(zarrox::DataType::Int8).create().unwrap();
    fs::create_dir(path.join("bad")).unwrap();
    let document = r#"{"zarr_format": 2, "shape": [3], "chunks": [3], "dtype": "|u1", "compressor": {"id": "no-such"},
                       "filters": null, "fill_value": 0, "order": "C"}"#;
    fs::write(path.join("bad/.zarray"), document).unwrap();
    fs::create_dir(path.join("broken")).unwrap();
    fs::write(path.join("broken/.zarray"), "{").unwrap();
    let client = Client::new(Server::new().token(None).root("r", &path).unwrap());
    let nodes = client.json("/v3/r/zarr.json")["consolidated_metadata"]["metadata"].clone();
    assert_eq!(nodes.as_object().unwrap().keys().collect::<Vec<_>>(), ["good"]);
    for (name, why) in [("bad", "no-such"), ("broken", "JSON")] {
        let answer = client.get(&format!("/v3/r/{name}/zarr.json"));
        assert_eq!(answer.status, 422, "{name}");
        assert!(answer.message().contains(why), "{}", answer.message());
        assert_eq!(client.get(&format!("/v3/r/{name}/c/0")).status, 422, "{name}");
    }
    assert_eq!(client.get("/v3/r/nothing/zarr.json").status, 404);
    assert_eq!(client.get("/v3/r/good/c/7").status, 404);
}

#[test]
fn a_place_with_several_hierarchies_is_one_root() {
    let place = Place::new();
    let client = Client::new(Server::new().token(None).root("all", place.path("")).unwrap());
    for name in ["v2.zarr", "some.n5", "some.zip", "shards.zarr"] {
        let document = client.json(&format!("/v3/all/{name}/g/a/zarr.json"));
        assert_eq!(document["shape"], serde_json::json!([7, 10]), "{name}");
        assert_eq!(client.ok(&format!("/v3/all/{name}/g/a/c/1/0")).status, 200, "{name}");
    }
    let tree = client.json("/api/v1/tree/all/");
    let names: Vec<&str> =
        tree["children"].as_array().unwrap().iter().map(|child| child["name"].as_str().unwrap()).collect();
    for name in ["v1.zarr", "v2.zarr", "some.n5", "some.zip"] {
        assert!(names.contains(&name), "{names:?}");
    }
}
