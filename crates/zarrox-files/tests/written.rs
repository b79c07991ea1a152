//! TIFF, NIfTI and stacks of images keep their elements and georeferencing in a round trip.

use std::fs;
use std::path::Path;

use zarrox::json::{Json, json};
use zarrox::prelude::*;
use zarrox::{Array, ErrorKind, Selection};
use zarrox_files::{Export, Import, Names, Stack, StackKind, Target, TiffCompression, import_file};

use crate::expected;

/// Creates an array whose elements have all values of a byte.
fn counted(path: &Path, shape: &[u64], chunks: &[u64], data_type: DataType) -> Array {
    let array = zarrox::create_array(path)
        .shape(shape)
        .chunks(chunks.to_vec())
        .data_type(data_type.clone())
        .create()
        .unwrap();
    let lengths: Vec<usize> = shape.iter().map(|&length| usize::try_from(length).unwrap()).collect();
    let size = lengths.iter().product::<usize>() * data_type.size();
    // Bytes below 60 contain no NaN, and booleans are 0 and 1.
    let most = if data_type == DataType::Bool { 2 } else { 60 };
    let bytes = (0..size).map(|n| u8::try_from(n * 7 / 3 % most).unwrap()).collect();
    array.write(.., DynArray::new(data_type, lengths, bytes).unwrap()).unwrap();
    array
}

fn bytes(array: &Array) -> Vec<u8> {
    array.read::<DynArray>(..).unwrap().into_bytes()
}

/// Imports a file, and returns its array.
fn again(file: &Path) -> Array {
    let target = file.with_extension("again.zarr");
    let _ = fs::remove_dir_all(&target);
    import_file(file, &target).unwrap();
    match zarrox::open(&target).unwrap() {
        Node::Array(array) => array,
        Node::Group(group) => group.open("image").unwrap().into_array().unwrap(),
    }
}

#[test]
fn tiff_has_all_types_layouts_and_compressions() {
    let directory = tempfile::tempdir().unwrap();
    let (path, file) = (directory.path().join("a.zarr"), directory.path().join("a.tif"));
    let types = [
        DataType::Bool,
        DataType::UInt8,
        DataType::Int8,
        DataType::UInt16,
        DataType::Int16,
        DataType::UInt32,
        DataType::Int32,
        DataType::UInt64,
        DataType::Int64,
        DataType::Float16,
        DataType::Float32,
        DataType::Float64,
        DataType::Complex64,
        DataType::Complex128,
    ];
    let forms: [(&[u64], &[u64]); 5] = [
        (&[7, 9], &[7, 9]),
        (&[100, 300], &[32, 64]),
        (&[300, 290], &[70, 50]),
        (&[3, 50, 60], &[2, 20, 60]),
        (&[50, 60, 3], &[20, 20, 3]),
    ];
    for data_type in types {
        for (shape, chunks) in forms {
            let _ = fs::remove_dir_all(&path);
            let array = counted(&path, shape, chunks, data_type.clone());
            for (compression, memory) in [
                (TiffCompression::Deflate, 1 << 29),
                (TiffCompression::Zstandard, 30_000),
                (TiffCompression::None, 1),
            ] {
                let place = format!("{data_type} {shape:?} {compression:?}");
                Export::new()
                    .compression(compression)
                    .memory(memory)
                    .overwrite(true)
                    .run(&path, &file)
                    .unwrap();
                let found = again(&file);
                assert_eq!(found.shape(), shape, "{place}");
                let expected = if data_type == DataType::Bool { DataType::UInt8 } else { data_type.clone() };
                assert_eq!((found.data_type(), bytes(&found)), (&expected, bytes(&array)), "{place}");
            }
        }
    }
}

#[test]
fn geotiff_keeps_places_missing_values_and_scales() {
    let directory = tempfile::tempdir().unwrap();
    let data = expected::data("tiff");
    let mut count = 0;
    for (file, said) in expected::expected(&data) {
        if said.get("place").is_none() {
            continue;
        }
        let source = directory.path().join(format!("{file}.zarr"));
        import_file(data.join(&file), &source).unwrap();
        let target = directory.path().join(&file);
        Export::new().run(&source, &target).unwrap();
        let before = zarrox::open_array(source.join("image")).unwrap();
        let after = again(&target);
        assert_eq!((after.shape(), bytes(&after)), (before.shape(), bytes(&before)), "{file}");
        for name in ["crs", "transform", "_FillValue"] {
            assert_eq!(after.attributes().get(name), before.attributes().get(name), "{file} {name}");
        }
        count += 1;
    }
    assert!(count >= 5, "{count}");
}

#[test]
fn coordinates_are_the_place_of_a_part() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.zarr");
    let group = zarrox::create_group(&path).unwrap();
    for (name, first, step, count) in [("lat", 50.0, -0.25, 40_u32), ("lon", -10.0, 0.5, 60)] {
        let array = group.create_array(name).shape([u64::from(count)]).data_type(DataType::Float64);
        let array = array.dimension_names([name]).create().unwrap();
        let values: Vec<f64> = (0..count).map(|n| first + step * f64::from(n)).collect();
        array.write(.., ndarray::Array::from_vec(values)).unwrap();
    }
    let array =
        group.create_array("t2m").shape([40, 60]).data_type(DataType::Int16).dimension_names(["lat", "lon"]);
    array.fill_value(-9_i16).create().unwrap().write(.., 5_i16).unwrap();
    let file = directory.path().join("a.tif");
    Export::new().select(zarrox::s![10..30, 4..=9]).run(path.join("t2m"), &file).unwrap();
    let found = again(&file);
    assert_eq!(found.shape(), [20, 6]);
    assert_eq!(found.attributes()["crs"], Json::from("EPSG:4326"));
    let transform = expected::numbers(&found.attributes()["transform"]);
    assert_eq!(transform, [0.5, 0.0, -8.25, 0.0, -0.25, 47.625]);
    assert_eq!(found.attributes()["_FillValue"], Json::from(-9));
}

#[test]
fn nifti_keeps_its_header() {
    let directory = tempfile::tempdir().unwrap();
    let data = expected::data("nifti");
    for file in expected::expected(&data).keys() {
        let source = directory.path().join(format!("{file}.zarr"));
        import_file(data.join(file), &source).unwrap();
        let before = zarrox::open_array(&source).unwrap();
        let is_second = before.attributes()["nifti"]["version"] == 2;
        for suffix in ["nii", "nii.gz"] {
            let target = directory.path().join(format!("again.{suffix}"));
            Export::new().overwrite(true).memory(100).run(&source, &target).unwrap();
            let after = again(&target);
            assert_eq!(
                (after.shape(), after.data_type(), bytes(&after)),
                (before.shape(), before.data_type(), bytes(&before))
            );
            assert_eq!(after.dimension_names(), before.dimension_names(), "{file}");
            let found_shape = after.shape().to_vec();
            let (mut after, mut before) = (after.attributes().clone(), before.attributes().clone());
            let is_long = !is_second && found_shape.iter().any(|&length| length > 32_767);
            if is_long || before["nifti"]["version"] == "analyze" {
                // NIfTI has the same values in another form.
                assert!(after.remove("nifti").is_some() && before.remove("nifti").is_some());
            }
            assert_eq!(
                Json::Object(after).to_string(),
                Json::Object(before).to_string(),
                "{file} {is_second}"
            );
        }
    }
}

#[test]
fn what_a_kind_lacks_is_refused_by_name_and_leaves_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.zarr");
    let group = zarrox::create_group(&path).unwrap();
    let create = |name: &str, shape: &[u64], data_type: DataType| {
        group.create_array(name).shape(shape).data_type(data_type).create().unwrap();
    };
    create("line", &[4], DataType::Int8);
    create("half", &[4, 5], DataType::Float16);
    create("long", &[4, 5], DataType::Int64);
    create("empty", &[4, 0], DataType::Int8);
    create("many", &[1; 8], DataType::Int8);
    create("text", &[4, 5], DataType::string());
    for (name, file, kind) in [
        ("line", "a.tif", ErrorKind::Unsupported),
        ("empty", "a.tif", ErrorKind::Unsupported),
        ("text", "a.tif", ErrorKind::Unsupported),
        ("long", "a.ome.tif", ErrorKind::Unsupported),
        ("half", "a.nii", ErrorKind::Unsupported),
        ("text", "a.nii.gz", ErrorKind::Unsupported),
        ("many", "a.nii", ErrorKind::Unsupported),
        ("empty", "a.nii", ErrorKind::Unsupported),
        ("", "a.tif", ErrorKind::InvalidArgument),
    ] {
        let error = Export::new().run(path.join(name), directory.path().join(file)).unwrap_err();
        assert_eq!(error.kind(), kind, "{name} {file}: {error}");
    }
    let listed = Export::new().select(Selection::orthogonal(([0, 1, 3], ..)));
    let error = listed.run(path.join("half"), directory.path().join("a.tif")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{error}");
    let stack = Stack::new(StackKind::Png);
    create("floats", &[2, 4, 5], DataType::Float32);
    for name in ["line", "half", "floats"] {
        let node = zarrox::open(path.join(name)).unwrap();
        stack.write(&node, &Names::in_directory(directory.path().join("new/s"), "png")).unwrap_err();
    }
    let names: Vec<_> =
        fs::read_dir(directory.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["a.zarr"]);
}

#[test]
fn ome_tiff_has_the_levels_and_the_scales_of_ome_zarr() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.zarr");
    let mut group = zarrox::create_group(&path).unwrap();
    for (name, side) in [("0", 64), ("1", 32)] {
        counted(&path.join(name), &[2, 3, side, side], &[1, 1, 16, 16], DataType::UInt16);
    }
    let axis = |name: &str, kind: &str| json!({"name": name, "type": kind, "unit": "micrometer"});
    let level = |name: &str, pixel: f64| json!({"path": name, "coordinateTransformations": [{"type": "scale", "scale": [1.0, 2.0, pixel, pixel]}]});
    let ome = json!({"version": "0.5", "omero": {"channels": [{"label": "one"}, {"label": "two"}]}, "multiscales": [{
        "axes": [{"name": "c", "type": "channel"}, axis("z", "space"), axis("y", "space"), axis("x", "space")],
        "datasets": [level("0", 0.5), level("1", 1.0)]
    }]});
    group.update_attributes(|attributes| drop(attributes.insert("ome".to_owned(), ome.clone()))).unwrap();
    let file = directory.path().join("a.ome.tif");
    Export::new().run(&path, &file).unwrap();
    let found = again(&file);
    assert_eq!(bytes(&found), bytes(&zarrox::open_array(path.join("0")).unwrap()));
    let names: Vec<&str> = found.dimension_names().unwrap().iter().flatten().map(String::as_str).collect();
    assert_eq!(names, ["c", "z", "y", "x"]);
    let text = String::from_utf8_lossy(&fs::read(&file).unwrap()).into_owned();
    for part in [
        r#"PhysicalSizeX="0.5" PhysicalSizeXUnit="µm""#,
        r#"PhysicalSizeZ="2" PhysicalSizeZUnit="µm""#,
        r#"<Channel ID="Channel:0:1" SamplesPerPixel="1" Name="two"/>"#,
        r#"DimensionOrder="XYZCT""#,
    ] {
        assert!(text.contains(part), "{part}");
    }
    assert_eq!(Target::of("a.OME.tiff"), Some(Target::OmeTiff));
    assert_eq!(Target::of("a.nii.gz"), Some(Target::NiftiGzip));
}

#[test]
fn stacks_are_complete_or_not_there() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.zarr");
    for (number, shape) in
        [&[5, 20, 30][..], &[5, 20, 30, 3], &[5, 20, 30, 4], &[5, 20, 30, 2]].into_iter().enumerate()
    {
        for data_type in [DataType::UInt8, DataType::UInt16] {
            let _ = fs::remove_dir_all(&path);
            let chunks: Vec<u64> = [2, 11, 13].into_iter().chain(shape.get(3).copied()).collect();
            let array = counted(&path, shape, &chunks, data_type.clone());
            let out = directory.path().join(format!("{number}-{data_type}"));
            let names = Names::in_directory(&out, "png");
            let stack = Stack::new(StackKind::Png).memory(10_000);
            assert_eq!(stack.write(&Node::Array(array.clone()), &names).unwrap(), 5);
            let target = directory.path().join("again.zarr");
            let _ = fs::remove_dir_all(&target);
            Import::new().run(&out, &target).unwrap();
            let found = zarrox::open_array(&target).unwrap();
            assert_eq!((found.shape(), bytes(&found)), (shape, bytes(&array)), "{data_type}");
            // An existing image is not replaced, and other files in the directory stay.
            fs::remove_file(out.join("0001.png")).unwrap();
            fs::write(out.join("mine.txt"), "mine").unwrap();
            let error = stack.write(&Node::Array(array.clone()), &names).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::AlreadyExists, "{error}");
            assert_eq!(fs::read_dir(&out).unwrap().count(), 5);
            stack.clone().overwrite(true).write(&Node::Array(array), &names).unwrap();
            assert_eq!(fs::read_dir(&out).unwrap().count(), 6);
        }
    }
}
