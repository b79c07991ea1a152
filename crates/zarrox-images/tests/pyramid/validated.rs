//! Validation of metadata that violates the OME-Zarr specification.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;

use serde_json::{Value, json};
use zarrox::ErrorKind;
use zarrox::prelude::*;
use zarrox_images::ome::{Severity, validate};
use zarrox_images::pyramid::Downsample;

/// An image of OME-Zarr 0.5 with channels and labels.
fn image(path: &Path) {
    let array = |name: &str, shape: &[u64]| {
        let array = zarrox::create_array(path.join(name)).shape(shape).data_type(DataType::UInt8);
        array.chunks(vec![8; shape.len()]).create().unwrap();
    };
    array("0", &[2, 32, 32]);
    let axes = ["c", "y", "x"].map(|name| name.parse().unwrap());
    let channels = ["a", "b"].map(|name| name.parse().unwrap());
    Downsample::new().axes(axes).channels(channels).run(path.join("0")).unwrap();
    let mask = path.with_extension("mask");
    zarrox::create_array(&mask).shape([32, 32]).data_type(DataType::UInt8).chunks([8, 8]).create().unwrap();
    Downsample::new().labels(true).run_into(&mask, path.join("labels/cells")).unwrap();
}

/// Changes a document of the image, and returns the issues that are found.
fn found(key: &str, change: impl FnOnce(&mut Value)) -> Vec<String> {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("image.zarr");
    image(&path);
    assert_eq!(validate(&path).unwrap(), []);
    let file = path.join(key);
    let mut document: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    change(&mut document["attributes"]["ome"]);
    std::fs::write(&file, document.to_string()).unwrap();
    validate(&path).unwrap().iter().map(ToString::to_string).collect()
}

/// Changes the entry of `multiscales`, and compares a part of the first issue.
fn entry(change: impl FnOnce(&mut Value), expected: &str) {
    let found = found("zarr.json", |ome| change(&mut ome["multiscales"][0]));
    assert!(found.len() <= 2 && found[0].contains(expected), "{found:?} and not {expected}");
}

#[test]
fn each_defect_of_an_image_is_found() {
    entry(
        |entry| drop(entry.as_object_mut().unwrap().remove("name")),
        "warning /: 'multiscales[0]' has no 'name'",
    );
    entry(|entry| entry["axes"] = json!(3), "error /: 'axes' of 'multiscales[0]' must be a list");
    entry(|entry| entry["axes"][0]["type"] = json!("space"), "'omero' has 2 channels");
    entry(
        |entry| entry["axes"][1]["unit"] = json!("microns"),
        "warning /: 'microns' is not a UDUNITS-2 unit",
    );
    entry(|entry| entry["axes"][1]["unit"] = json!(1), "'unit' of 'multiscales[0].axes[1]' must be a string");
    entry(
        |entry| entry["datasets"] = json!([]),
        "'datasets' of 'multiscales[0]' must be a list with at least one entry",
    );
    entry(|entry| entry["datasets"][1]["path"] = json!("none"), "error /none: there is no node here");
    entry(|entry| entry["datasets"][1]["path"] = json!("../other"), "cannot be opened");
    entry(|entry| entry["datasets"][1]["path"] = json!("0"), "has the path '0' of another dataset");
    entry(|entry| entry["datasets"][1]["path"] = json!("labels"), "expected an array, found a group");
    let transformations =
        |entry: &mut Value, new: Value| entry["datasets"][1]["coordinateTransformations"] = new;
    entry(|entry| transformations(entry, json!([])), "must have one scale, not 0");
    entry(
        |entry| transformations(entry, json!([{"type": "scale", "scale": [1, 2]}])),
        "does not have one number for each axis",
    );
    entry(
        |entry| transformations(entry, json!([{"type": "scale", "scale": [1, "a", 2]}])),
        "must be a list of numbers",
    );
    let scale = json!({"type": "scale", "scale": [1, 2, 2]});
    let moved = json!({"type": "translation", "translation": [0, 0, 0]});
    entry(|entry| transformations(entry, json!([moved, scale])), "must follow the scale");
    entry(|entry| transformations(entry, json!([scale, moved, moved])), "at most one translation");
    entry(
        |entry| transformations(entry, json!([scale, {"type": "rotation"}])),
        "neither a scale nor a translation",
    );
    entry(|entry| transformations(entry, json!({})), "must be a list");
    entry(|entry| transformations(entry, json!([{"type": "scale", "scale": [1, 0.5, 2]}])), "decrease");
    entry(
        |entry| drop(entry["datasets"][1].as_object_mut().unwrap().remove("coordinateTransformations")),
        "has no 'coordinateTransformations'",
    );
}

#[test]
fn arrays_fit_to_their_image() {
    let with = |name: &str, shape: &[u64], data_type: DataType, names: &[&str]| {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("image.zarr");
        image(&path);
        let array = zarrox::create_array(path.join(name)).overwrite(true).shape(shape).data_type(data_type);
        let array = if names.is_empty() { array } else { array.dimension_names(names.iter().copied()) };
        array.create().unwrap();
        let findings: Vec<String> = validate(&path).unwrap().iter().map(ToString::to_string).collect();
        assert!(!findings.is_empty());
        findings.join("\n")
    };
    let names = ["c", "y", "x"];
    assert!(with("1", &[2, 16, 16], DataType::UInt8, &[]).contains("/1: 'dimension_names' are missing"));
    assert!(with("1", &[2, 16, 16], DataType::UInt8, &["c", "x", "y"]).contains("not the names of the axes"));
    assert!(
        with("1", &[2, 16, 16], DataType::Int8, &names)
            .contains("/1: the data type is int8, but that of the previous level is uint8")
    );
    assert!(with("1", &[2, 64, 16], DataType::UInt8, &names).contains("is larger than"));
    assert!(
        with("1", &[2, 32, 32], DataType::UInt8, &names)
            .contains("is the same as that of the previous level")
    );
    assert!(
        with("1", &[16, 16], DataType::UInt8, &["y", "x"]).contains("2 dimensions, but there are 3 axes")
    );
    assert!(with("0", &[3, 32, 32], DataType::UInt8, &names).contains("2 channels, but the image has 3"));
    assert!(
        with("labels/cells/0", &[32, 32], DataType::Float32, &["y", "x"]).contains("labels must be integers")
    );
}

#[test]
fn defects_around_an_image_are_found() {
    let one = |key: &str, change: &dyn Fn(&mut Value), expected: &str| {
        let found = found(key, change);
        assert!(found.iter().any(|finding| finding.contains(expected)), "{found:?} and not {expected}");
    };
    one("zarr.json", &|ome| ome["multiscales"] = json!({}), "'multiscales' must be a list");
    one("zarr.json", &|ome| ome["multiscales"] = json!([1]), "'multiscales[0]' must be an object");
    one("zarr.json", &|ome| ome["omero"] = json!([]), "'channels' of 'omero' must be a list");
    one("zarr.json", &|ome| ome["omero"]["channels"][0]["color"] = json!("blue"), "six hexadecimal digits");
    one("zarr.json", &|ome| ome["omero"]["channels"][0]["window"] = json!(null), "'start' of the window");
    one("zarr.json", &|ome| drop(ome.as_object_mut().unwrap().remove("version")), "'version' is missing");
    one("labels/zarr.json", &|ome| ome["labels"] = json!("cells"), "'labels' must be a list of paths");
    one(
        "labels/zarr.json",
        &|ome| ome["labels"] = json!(["none"]),
        "error /labels/none: there is no node here",
    );
    one("labels/zarr.json", &|ome| ome["version"] = json!("0.6"), "the version is 0.5 above, and here 0.6");
    let label = |change: fn(&mut Value)| move |ome: &mut Value| change(&mut ome["image-label"]);
    one("labels/cells/zarr.json", &label(|label| *label = json!(1)), "'image-label' must be an object");
    one(
        "labels/cells/zarr.json",
        &label(|label| label["colors"] = json!(1)),
        "'colors' of 'image-label' must be a list",
    );
    one(
        "labels/cells/zarr.json",
        &label(|label| label["colors"] = json!([{"label-value": 1, "rgba": [1, 2, 3]}, {"label-value": 1}])),
        "four integers from 0 to 255",
    );
    one(
        "labels/cells/zarr.json",
        &label(|label| label["properties"] = json!([{"label-value": 1}, {"label-value": 1}])),
        "have the label 1",
    );
    one("labels/cells/zarr.json", &|ome| *ome = json!({"version": "0.5"}), "'multiscales' is missing");
}

fn group(path: &Path, ome: &Value) {
    let document = json!({"zarr_format": 3, "node_type": "group", "attributes": {"ome": ome}});
    std::fs::create_dir_all(path).unwrap();
    std::fs::write(path.join("zarr.json"), document.to_string()).unwrap();
}

#[test]
fn plates_lead_to_wells_and_images() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("plate.zarr");
    let plate = json!({
        "name": "p", "rows": [{"name": "A"}], "columns": [{"name": "1"}, {"name": "2"}],
        "wells": [{"path": "A/1", "rowIndex": 0, "columnIndex": 0}], "acquisitions": [{"id": 1}],
    });
    let write = |plate: &Value| group(&path, &json!({"version": "0.5", "plate": plate}));
    write(&plate);
    group(&path.join("A/1"), &json!({"version": "0.5", "well": {"images": [{"path": "0"}]}}));
    image(&path.join("A/1/0"));
    assert_eq!(validate(&path).unwrap(), []);
    let one = |member: &str, value: Value, expected: &str| {
        let mut plate = plate.clone();
        plate[member] = value;
        write(&plate);
        let found = validate(&path).unwrap();
        assert!(
            found.iter().any(|finding| finding.to_string().contains(expected)),
            "{found:?} and not {expected}"
        );
    };
    one("rows", json!([]), "'rows' of 'plate' must be a list with at least one entry");
    one("rows", json!([{"name": "A/"}]), "consist of letters and digits");
    one("columns", json!([{"name": "1"}, {"name": "1"}]), "two of 'columns' of 'plate' have the name '1'");
    one("wells", json!([{"path": "A/2", "rowIndex": 0, "columnIndex": 0}]), "must be 'A/1', not 'A/2'");
    one(
        "wells",
        json!([{"path": "A/2", "rowIndex": 0, "columnIndex": 1}]),
        "error /A/2: there is no node here",
    );
    one("wells", json!([{"path": "A/1", "rowIndex": 0, "columnIndex": 7}]), "must be less than 2, not 7");
    one(
        "wells",
        json!([{"path": "A/1", "rowIndex": -1, "columnIndex": 0}]),
        "must be an integer of at least 0",
    );
    one("acquisitions", json!([{"id": 1}, {"id": 1}]), "two acquisitions of 'plate' have the id 1");
    one("field_count", json!(0), "'field_count' of 'plate' must be an integer of at least 1");
    write(&plate);
    group(&path.join("A/1"), &json!({"version": "0.5", "well": {"images": [{"path": "0"}, {"path": "1"}]}}));
    assert_eq!(validate(&path).unwrap()[0].path, "A/1/1");
    group(&path.join("A/1"), &json!({"version": "0.5", "well": {"images": []}}));
    assert_eq!(validate(&path).unwrap()[0].severity, Severity::Error);
}

#[test]
fn other_groups_and_versions_are_not_validated() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.zarr");
    zarrox::create_group(&path).unwrap();
    assert_eq!(validate(&path).unwrap_err().kind(), ErrorKind::InvalidArgument);
    group(&path, &json!({"version": "0.6", "multiscales": []}));
    assert_eq!(validate(&path).unwrap_err().kind(), ErrorKind::Unsupported);
    group(&path, &json!(7));
    assert_eq!(validate(&path).unwrap().len(), 2);
    // A group that refers to itself is visited once.
    group(&path, &json!({"version": "0.5", "labels": ["."]}));
    assert!(!validate(&path).unwrap().is_empty());
    assert_eq!(validate(directory.path().join("none")).unwrap_err().kind(), ErrorKind::NotFound);
}
