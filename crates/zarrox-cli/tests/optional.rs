//! Elements that may be missing are printed as what they are, and NumPy's files are said not to have them.

#![expect(clippy::unwrap_used, reason = "a test whose files are not there should fail")]

use serde_json::json;

use crate::common::Place;

fn place() -> Place {
    let place = Place::new();
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
    // The chunk is what zarrs 0.23.14 made.
    let chunk = [1, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0x33, 1, 2, 5, 60];
    std::fs::write(place.path("a.zarr/c/0/0"), chunk).unwrap();
    place
}

#[test]
fn missing_elements_are_null() {
    assert_eq!(place().ok(&["dump", "a.zarr"]), "[[   1    2 null null]\n [null    5   60 null]]\n");
}

#[test]
fn numpy_has_no_such_type() {
    let run = place().run(&["export", "a.zarr", "a.npy"]);
    assert!(run.code != 0 && run.err.contains("zarrs.optional"), "{run:?}");
}
