//! Exporting TIFF, NIfTI and stacks of images.

use serde_json::json;

use crate::common::Sandbox;

/// Returns a directory with an array of three dimensions whose elements are all 7.
fn filled() -> Sandbox {
    let place = Sandbox::new();
    let options = ["--shape", "3,20,30", "--chunks", "2,8,8", "--dtype", "uint8", "--fill-value", "7"];
    place.ok(&[&["create", "a.zarr"], &options[..]].concat());
    place
}

#[test]
fn images_are_exported_and_imported_again() {
    let place = filled();
    for name in ["a.tif", "b.tiff", "a.ome.tif", "a.nii", "a.nii.gz"] {
        place.ok(&["export", "a.zarr", name]);
        assert!(place.fails(4, &["export", "a.zarr", name]).contains("--force"));
        place.ok(&["export", "a.zarr[1:, :10]", name, "--force", "--memory", "1KiB"]);
        place.ok(&["import", name, "b.zarr", "--force"]);
        assert_eq!(place.json(&["info", "b.zarr", "--json"])["shape"], json!([2, 10, 30]), "{name}");
        assert_eq!(place.json(&["dump", "b.zarr[1, 9, 29]", "--json"]), json!(7), "{name}");
    }
    for compression in ["deflate", "zstd", "none"] {
        place.ok(&["export", "a.zarr", "a.tif", "--force", "--compression", compression]);
    }
    place.ok(&["export", "a.zarr", "named", "--to", "ome-tiff"]);
    place.fails(2, &["export", "a.zarr", "c.nii", "--compression", "zstd"]);
    place.fails(2, &["export", "a.zarr", "-", "--to", "tiff"]);
    place.fails(2, &["export", "a.zarr", "c.tif", "--cmap", "gray"]);
    place.fails(2, &["export", "a.zarr[[0, 2, 1]]", "c.tif"]);
    place.fails(6, &["export", "a.zarr[0, 0]", "c.tif"]);
    assert!(!place.path("c.tif").exists() && !place.path("c.nii").exists());
}

#[test]
fn stacks_are_directories_or_patterns() {
    let place = filled();
    place.ok(&["export", "a.zarr", "slices", "--stack", "png"]);
    place.ok(&["export", "a.zarr", "new/frames/z%03d.tif", "--compression", "zstd"]);
    place.ok(&["export", "a.zarr", "new/frames/{}.jpg"]);
    place.ok(&["export", "a.zarr[:2]", "coloured", "--stack", "png", "--cmap", "magma", "--range", "0,10"]);
    for (path, names) in [
        ("slices", vec!["0000.png", "0001.png", "0002.png"]),
        ("coloured", vec!["0000.png", "0001.png"]),
        ("new/frames", vec!["0.jpg", "1.jpg", "2.jpg", "z000.tif", "z001.tif", "z002.tif"]),
    ] {
        let entries = std::fs::read_dir(place.path(path)).unwrap();
        let mut found: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        found.sort_unstable();
        assert_eq!(found, names);
    }
    place.ok(&["import", "slices", "b.zarr"]);
    assert_eq!(place.json(&["info", "b.zarr", "--json"])["shape"], json!([3, 20, 30]));
    assert_eq!(place.json(&["dump", "b.zarr[2, 19, 29]", "--json"]), json!(7));
    assert!(place.fails(4, &["export", "a.zarr", "slices", "--stack", "png"]).contains("--force"));
    place.ok(&["export", "a.zarr", "slices", "--stack", "png", "--force"]);
    place.fails(2, &["export", "a.zarr", "none/%d"]);
    place.fails(2, &["export", "a.zarr", "none/%d.png", "--to", "npy"]);
    place.fails(2, &["export", "a.zarr[0]", "none", "--stack", "png"]);
    place.fails(6, &["export", "a.zarr", "none", "--stack", "tiff", "--cmap", "gray"]);
    assert!(!place.path("none").exists());
}
