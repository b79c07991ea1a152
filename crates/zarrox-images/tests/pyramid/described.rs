//! The description of images.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use serde_json::{Value, json};
use zarrox::{Array, prelude::*};
use zarrox::{ErrorKind, OpenOptions};
use zarrox_images::ome::{Axis, Multiscales};
use zarrox_images::pyramid::{Downsample, Reduction};

fn attributes(path: &std::path::Path, name: &str) -> Value {
    let document: Value = serde_json::from_slice(&std::fs::read(path.join(name)).unwrap()).unwrap();
    document.get("attributes").cloned().unwrap_or(document)
}

fn image(path: &std::path::Path, format: Format, shape: &[u64]) -> Array {
    let array = OpenOptions::new().format(format).create_array(path).shape(shape).data_type(DataType::UInt16);
    let chunks: Vec<u64> = shape.iter().map(|length| (*length).min(16)).collect();
    let array = array.chunks(chunks).create().unwrap();
    array.write(.., 5_u16).unwrap();
    array
}

fn axes(names: &str) -> Vec<Axis> {
    names.split(',').map(|name| name.parse().unwrap()).collect()
}

#[test]
fn a_mean_lies_in_the_centre_of_its_cell() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("cells.ome.zarr");
    image(&path.join("0"), Format::V3, &[2, 64, 48]);
    let maker = Downsample::new().axes(axes("c,y,x")).scale([1.0, 0.5, 0.25]).translation([0.0, 10.0, 0.0]);
    let maker = maker
        .units(["micrometer"])
        .levels(2)
        .channels(["DAPI:blue".parse().unwrap(), "actin".parse().unwrap()]);
    maker.run(path.join("0")).unwrap();
    let ome = &attributes(&path, "zarr.json")["ome"];
    assert_eq!(ome["version"], json!("0.5"));
    let image = &ome["multiscales"][0];
    assert_eq!(image["name"], json!("cells"));
    assert_eq!(
        image["axes"],
        json!([
            {"name": "c", "type": "channel"},
            {"name": "y", "type": "space", "unit": "micrometer"},
            {"name": "x", "type": "space", "unit": "micrometer"},
        ])
    );
    let transformations = |level: usize| &image["datasets"][level]["coordinateTransformations"];
    assert_eq!(transformations(0)[1], json!({"type": "translation", "translation": [0.0, 10.0, 0.0]}));
    assert_eq!(
        *transformations(2),
        json!([
            {"type": "scale", "scale": [1.0, 2.0, 1.0]},
            {"type": "translation", "translation": [0.0, 10.75, 0.375]},
        ])
    );
    let channels = &ome["omero"]["channels"];
    assert_eq!((&channels[0]["label"], &channels[0]["color"]), (&json!("DAPI"), &json!("0000FF")));
    assert_eq!(channels[1]["window"], json!({"min": 0, "max": 65535, "start": 5, "end": 6}));
    assert_eq!(
        zarrox::open_array(path.join("0")).unwrap().dimension_names().unwrap()[1].as_deref(),
        Some("y")
    );
    assert_eq!(zarrox_images::ome::validate(&path).unwrap(), []);
}

#[test]
fn nearest_elements_keep_their_coordinates() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("cells.zarr");
    image(&path.join("s0"), Format::V2, &[64, 48]);
    Downsample::new().method(Reduction::Nearest).run(path.join("s0")).unwrap();
    let image = &attributes(&path, ".zattrs")["multiscales"][0];
    assert_eq!((&image["version"], &image["type"]), (&json!("0.4"), &json!("nearest")));
    assert_eq!(
        image["datasets"][1],
        json!({"path": "s1", "coordinateTransformations": [{"type": "scale", "scale": [2.0, 2.0]}]})
    );
    let separator =
        &serde_json::from_slice::<Value>(&std::fs::read(path.join("s1/.zarray")).unwrap()).unwrap();
    assert_eq!(separator["dimension_separator"], json!("/"));
}

#[test]
fn a_copy_has_the_format_of_its_version() {
    let directory = tempfile::tempdir().unwrap();
    let (source, path) = (directory.path().join("a.zarr"), directory.path().join("b.zarr"));
    image(&source, Format::V3, &[64, 48]);
    Downsample::new().form(Multiscales::Ome04).run_into(&source, &path).unwrap();
    assert_eq!(zarrox::open(&path).unwrap().format(), Format::V2);
    assert_eq!(zarrox_images::ome::validate(&path).unwrap(), []);
    let error = Downsample::new().form(Multiscales::Ome04).run(directory.path().join("b.zarr")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::AlreadyExists, "{error}");
    let other = directory.path().join("c.zarr");
    Downsample::new().run_into(&source, &other).unwrap();
    let error = Downsample::new().form(Multiscales::Ome04).overwrite(true).run(other.join("0")).unwrap_err();
    assert!(error.to_string().contains("requires groups of Zarr v2"), "{error}");
    // The array of an image is found by its group.
    Downsample::new().overwrite(true).method(Reduction::Max).run(&other).unwrap();
    assert_eq!(attributes(&other, "zarr.json")["ome"]["multiscales"][0]["type"], json!("max"));
}

#[test]
fn labels_are_listed() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("cells.zarr");
    image(&path.join("0"), Format::V3, &[64, 48]);
    image(&directory.path().join("mask.zarr"), Format::V3, &[64, 48]);
    Downsample::new().run(path.join("0")).unwrap();
    let labels = Downsample::new().labels(true);
    labels.run_into(directory.path().join("mask.zarr"), path.join("labels/nuclei")).unwrap();
    let ome = &attributes(&path, "labels/nuclei/zarr.json")["ome"];
    assert_eq!(
        (&ome["multiscales"][0]["type"], &ome["image-label"]),
        (&json!("mode"), &json!({"source": {"image": "../../"}}))
    );
    assert_eq!(attributes(&path, "labels/zarr.json")["ome"], json!({"version": "0.5", "labels": ["nuclei"]}));
    assert_eq!(zarrox_images::ome::validate(&path).unwrap(), []);
}

#[test]
fn the_convention_has_factors_between_levels() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("relief.zarr");
    image(&path.join("0"), Format::V3, &[64]);
    Downsample::new().form(Multiscales::Convention).scale([30.0]).levels(2).run(path.join("0")).unwrap();
    let attributes = attributes(&path, "zarr.json");
    assert_eq!(attributes["zarr_conventions"][0]["name"], json!("multiscales"));
    assert_eq!(
        attributes["multiscales"],
        json!({
            "layout": [
                {"asset": "0", "transform": {"scale": [1.0], "translation": [0.0]}},
                {"asset": "1", "derived_from": "0", "transform": {"scale": [2.0], "translation": [0.5]}},
                {"asset": "2", "derived_from": "1", "transform": {"scale": [2.0], "translation": [0.5]}},
            ],
            "resampling_method": "average",
        })
    );
}

#[test]
fn options_that_do_not_fit_are_refused_before_anything_is_written() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("cells.zarr");
    image(&path.join("0"), Format::V3, &[2, 64, 48]);
    let refused = |maker: Downsample| {
        let error = maker.run(path.join("0")).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::InvalidArgument | ErrorKind::Unsupported), "{error}");
        assert!(!path.join("1").exists());
    };
    refused(Downsample::new().factors([2, 2]));
    refused(Downsample::new().factors([0, 2, 2]));
    refused(Downsample::new().factors([1, 1, 1]));
    refused(Downsample::new().axes(axes("y,x")));
    refused(Downsample::new().axes(axes("y,x,c")));
    refused(Downsample::new().axes(axes("y,y,x")));
    refused(Downsample::new().scale([1.0, 0.0, 1.0]));
    refused(Downsample::new().scale([1.0, f64::NAN, 1.0]));
    refused(Downsample::new().units(["a", "b"]));
    refused(Downsample::new().axes(axes("c,y,x")).channels(["one".parse().unwrap()]));
    refused(Downsample::new().form(Multiscales::Ome04));
    let alone = directory.path().join("alone.zarr");
    image(&alone, Format::V3, &[64, 48]);
    assert!(Downsample::new().run(&alone).unwrap_err().to_string().contains("give a destination"));
}
