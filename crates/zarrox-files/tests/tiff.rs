//! Images of tifffile and rasterio have their elements, and their places on the earth.

use std::path::PathBuf;

use zarrox::{Array, DataType, ErrorKind, Node};
use zarrox_files::Import;

use crate::expected::{self, check, expected, numbers, opened};

fn data() -> PathBuf {
    expected::data("tiff")
}

/// The image of a node: itself, or the member of a group with coordinates.
fn image(node: Node) -> Array {
    match node {
        Node::Array(array) => array,
        Node::Group(group) => group.open("image").unwrap().into_array().unwrap(),
    }
}

#[test]
fn every_type_layout_and_codec_has_its_elements() {
    let all = expected(&data());
    for (file, said) in &all {
        let array = image(opened(&data().join(file)));
        check(&array, said, file);
        let names: Vec<&str> =
            array.dimension_names().unwrap().iter().flatten().map(String::as_str).collect();
        assert!(names.contains(&"y") && names.contains(&"x"), "{file}: {names:?}");
    }
    assert!(all.len() > 40, "{}", all.len());
}

#[test]
fn smaller_copies_are_levels() {
    let directory = tempfile::tempdir().unwrap();
    let (file, said) = expected(&data()).into_iter().find(|(file, _)| file == "cog.tif").unwrap();
    let levels = said["levels"].as_array().unwrap();
    assert_eq!(levels.len(), 2);
    for (number, level) in (1..).zip(levels) {
        let target = directory.path().join(format!("{number}.zarr"));
        Import::new().level(number).run(data().join(&file), &target).unwrap();
        let node = zarrox::open(&target).unwrap();
        let x = node.clone().into_group().unwrap().open("x").unwrap().into_array().unwrap();
        assert_eq!(x.shape(), [level["shape"][1].as_u64().unwrap()]);
        check(&image(node), level, &format!("level {number}"));
    }
    let error = Import::new().level(3).run(data().join(&file), directory.path().join("3.zarr")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{error}");
}

#[test]
fn places_on_the_earth_are_coordinates_and_attributes() {
    let mut count = 0;
    for (file, said) in &expected(&data()) {
        let Some(place) = said.get("place") else { continue };
        let group = opened(&data().join(file)).into_group().unwrap();
        let array = group.open("image").unwrap().into_array().unwrap();
        assert_eq!(array.attributes()["crs"], place["crs"], "{file}");
        assert_eq!(numbers(&array.attributes()["transform"]), numbers(&place["transform"]), "{file}");
        for name in ["x", "y"] {
            let coordinates = group.open(name).unwrap().into_array().unwrap().read::<f64>(..).unwrap();
            for (ours, theirs) in coordinates.iter().zip(numbers(&place[name])) {
                assert!((ours - theirs).abs() < 1e-9, "{file}: {ours} {theirs}");
            }
        }
        if let Some(missing) = place["nodata"].as_f64() {
            assert!(array.attributes().contains_key("_FillValue"), "{file}");
            let fill = zarrox::DynArray::from_elements(
                array.data_type().clone(),
                vec![],
                [array.fill_value().as_bytes()],
            )
            .unwrap();
            let fill = fill
                .cast(&DataType::Float64, zarrox::data_type::Casting::Exact, &zarrox::codecs::registry())
                .unwrap();
            assert_eq!(fill.to_typed::<f64>().unwrap().first(), Some(&missing), "{file}");
        }
        count += 1;
    }
    assert!(count >= 5, "{count}");
    // Tiles that are not stored are no chunks.
    let directory = tempfile::tempdir().unwrap();
    let report = Import::new().run(data().join("sparse.tif"), directory.path().join("a.zarr")).unwrap();
    assert_eq!(report.nodes.iter().find(|node| node.path.ends_with("image")).unwrap().chunks, 1);
}

#[test]
fn pages_have_the_dimensions_that_descriptions_say() {
    let names = |file: &str| -> String {
        let array = image(opened(&data().join(file)));
        array.dimension_names().unwrap().iter().flatten().map(String::as_str).collect::<Vec<_>>().join(",")
    };
    assert_eq!(names("ome.tif"), "t,c,z,y,x");
    assert_eq!(names("imagej.tif"), "t,z,c,y,x");
    assert_eq!(names("pages.tif"), "page,y,x");
    assert_eq!(names("planar.tif"), "channel,y,x");
    assert_eq!(names("rgb.tif"), "y,x,channel");
}
