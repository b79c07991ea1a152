//! Other chunks and shards.

use serde_json::json;

use crate::common::Sandbox;

fn rows() -> Sandbox {
    let place = Sandbox::new();
    place.write("values.raw", (0..4096_i16).flat_map(i16::to_le_bytes).collect::<Vec<u8>>());
    let shape = ["--dtype", "<i2", "--shape", "64,64", "--chunks", "1,64"];
    place.ok(&[&["import", "values.raw", "rows.zarr"], &shape[..]].concat());
    place
}

#[test]
fn arrays_get_other_chunks() {
    let place = rows();
    let digest = |name: &str| place.ok(&["digest", name]);
    let plan = place.ok(&["rechunk", "rows.zarr", "columns.zarr", "--chunks=-1,1", "--dry-run"]);
    assert!(plan.starts_with("/: ") && plan.contains("chunks read    1.00 times"), "{plan}");
    let plan = place.json(&["rechunk", "rows.zarr", "c.zarr", "--chunks=-1,1", "--dry-run", "--json"]);
    assert_eq!((&plan["arrays"][0]["path"], &plan["arrays"][0]["bytes"]), (&json!("/"), &json!(8192)));
    assert_eq!(place.names(), ["rows.zarr", "values.raw"]);
    place.ok(&[
        "rechunk",
        "rows.zarr",
        "columns.zarr",
        "--chunks=-1,1",
        "--verify",
        "--scratch",
        "between.zarr",
    ]);
    assert_eq!(digest("columns.zarr"), digest("rows.zarr"));
    place.ok(&["rechunk", "columns.zarr", "--in-place", "--chunks", "8,8", "--shards", "16,64"]);
    let info = place.json(&["info", "columns.zarr", "--json"]);
    assert_eq!((&info["chunk_shape"], &info["shard_shape"]), (&json!([8, 8]), &json!([16, 64])));
    assert_eq!(digest("columns.zarr"), digest("rows.zarr"));
    assert_eq!(place.names(), ["columns.zarr", "rows.zarr", "values.raw"]);
    place.fails(4, &["rechunk", "rows.zarr", "columns.zarr", "--chunks", "8,8"]);
    place.fails(2, &["rechunk", "rows.zarr", "x.zarr"]);
    place.fails(2, &["rechunk", "rows.zarr"]);
}

#[test]
fn encoded_chunks_go_into_shards_and_out_of_them() {
    let place = rows();
    place.ok(&["reshard", "rows.zarr", "sharded.zarr", "--shards", "16,64"]);
    assert_eq!(place.json(&["info", "sharded.zarr", "--json"])["chunks_stored"], json!(4));
    assert_eq!(place.ok(&["digest", "sharded.zarr"]), place.ok(&["digest", "rows.zarr"]));
    place.ok(&["reshard", "sharded.zarr", "plain.zarr", "--shards", "none"]);
    let stored = |name| place.ok(&["digest", "--stored", name]);
    assert_eq!(stored("plain.zarr"), stored("rows.zarr"));
    let message = place.fails(6, &["reshard", "rows.zarr", "x.zarr", "--shards", "16,65"]);
    assert!(message.contains("must divide the length of the shard"), "{message}");
    place.fails(2, &["reshard", "rows.zarr", "x.zarr", "--shards", "a"]);
}
