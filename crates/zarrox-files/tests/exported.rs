//! Exported files are read again.

use std::sync::{Arc, Mutex};

use zarrox::ErrorKind;
use zarrox::json::json;
use zarrox::{prelude::*, s};
use zarrox_files::{Export, export_file, import_file};
use zarrox_testkit::errors::assert_error;

use crate::data;

#[test]
fn files_come_back_as_they_were() {
    let directory = tempfile::tempdir().unwrap();
    for (number, file) in ["nc4.nc", "scales.h5", "user.h5", "filters-latest.h5"].iter().enumerate() {
        let place = |name: &str| directory.path().join(format!("{number}-{name}"));
        import_file(data().join(file), place("a.zarr")).unwrap();
        for suffix in ["h5", "nc"] {
            let exported = place(&format!("b.{suffix}"));
            if export_file(place("a.zarr"), &exported).is_err() {
                // A dimension name of this file has two lengths, which only NetCDF rejects.
                assert_eq!((*file, suffix), ("scales.h5", "nc"));
                continue;
            }
            import_file(&exported, place(&format!("c-{suffix}.zarr"))).unwrap();
            let arrays = |path| zarrox::open_group(path).unwrap();
            let (before, after) = (arrays(place("a.zarr")), arrays(place(&format!("c-{suffix}.zarr"))));
            let mut count = 0;
            before
                .visit(&mut |path, node| {
                    if let Ok(Node::Array(array)) = node {
                        let again = after.open(path)?.into_array()?;
                        assert_eq!(
                            again.read::<DynArray>(..)?,
                            array.read::<DynArray>(..)?,
                            "{file}: {path} in .{suffix}"
                        );
                        let is_named =
                            array.dimension_names().is_some() || (suffix == "nc" && array.ndim() > 0);
                        assert_eq!(
                            again.dimension_names().is_some(),
                            is_named,
                            "{file}: {path} in .{suffix}"
                        );
                        count += 1;
                    }
                    Ok(())
                })
                .unwrap();
            assert!(count > 0);
        }
    }
}

#[test]
fn attributes_whose_names_netcdf_reserves_are_refused_by_name() {
    let directory = tempfile::tempdir().unwrap();
    let place = |name: &str| directory.path().join(name);
    let array = zarrox::create_array(place("a.zarr")).shape([2]).data_type(DataType::Int8);
    let attributes = json!({"CLASS": "IMAGE", "units": "m"}).as_object().unwrap().clone();
    array.attributes(attributes).create().unwrap();
    export_file(place("a.zarr"), place("a.h5")).unwrap();
    assert_error(export_file(place("a.zarr"), place("a.nc")), ErrorKind::Unsupported, "attribute 'CLASS'");
    let left_out = Arc::new(Mutex::new(Vec::new()));
    let listener = Arc::clone(&left_out);
    let skipping = Export::new().skip_unsupported(move |found| listener.lock().unwrap().push(found.path));
    skipping.run(place("a.zarr"), place("a.nc")).unwrap();
    assert_eq!(left_out.lock().unwrap().len(), 1);
    import_file(place("a.nc"), place("b.zarr")).unwrap();
}

#[test]
fn every_type_is_written_or_named() {
    let directory = tempfile::tempdir().unwrap();
    let root = zarrox::create_group(directory.path().join("a.zarr")).unwrap();
    for data_type in zarrox::codecs::registry().examples() {
        let name = format!("{data_type}").replace(|c: char| !c.is_ascii_alphanumeric(), "_");
        let made = root.create_array(&name).shape([3]).data_type(data_type.clone()).create();
        let Ok(_) = made else { continue };
        let file = directory.path().join(format!("{name}.h5"));
        match Export::new().overwrite(true).run(directory.path().join("a.zarr").join(&name), &file) {
            Ok(()) => import_file(&file, directory.path().join(format!("{name}.zarr"))).map(drop).unwrap(),
            Err(error) => {
                assert_eq!(error.kind(), zarrox::ErrorKind::Unsupported, "{data_type}: {error}");
                assert!(error.to_string().contains(&name), "{error}");
                assert!(!file.exists());
            }
        }
    }
}

#[test]
fn shards_edges_and_empty_chunks_are_written() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.zarr");
    let array = zarrox::create_array(&path)
        .shape([70, 50])
        .data_type(DataType::Float64)
        .chunks([8, 8])
        .shards([32, 32]);
    let array = array.fill_value(7.0).dimension_names(["y", "x"]).create().unwrap();
    let values = ndarray::Array2::from_shape_fn((20, 50), |(y, x)| y as f64 * 100.0 + x as f64);
    array.write(s![..20, ..], &values).unwrap();
    export_file(&path, directory.path().join("a.nc")).unwrap();
    import_file(directory.path().join("a.nc"), directory.path().join("b.zarr")).unwrap();
    let again = zarrox::open_array(directory.path().join("b.zarr/data")).unwrap();
    assert_eq!(again.read::<ArrayD<f64>>(..).unwrap(), array.read::<ArrayD<f64>>(..).unwrap());
    assert_eq!(again.unit_shape(), [8, 8]);
    assert_eq!(again.read::<ArrayD<f64>>(s![60, 0]).unwrap().sum(), 7.0);
}

#[cfg(feature = "hdf5")]
#[test]
fn of_a_huge_array_only_what_is_stored_is_visited() {
    let directory = tempfile::tempdir().unwrap();
    let place = |name: &str| directory.path().join(name);
    let root = zarrox::create_group(place("a.zarr")).unwrap();
    let create = |name: &str| root.create_array(name).shape([1 << 33, 1 << 28]).fill_value(-1);
    let chunked = create("chunked").data_type(DataType::Int32).chunks([64, 64]).shards([128, 128]);
    let chunked = chunked.create().unwrap();
    let corner = (1_u64 << 33) - 130;
    chunked.write(s![corner..corner + 4, 60..70], ndarray::Array2::from_elem((4, 10), 5)).unwrap();
    let whole = zarrox::json::json!({"_nc_storage": "contiguous"}).as_object().unwrap().clone();
    create("empty").data_type(DataType::Int32).chunks([64, 64]).attributes(whole).create().unwrap();
    export_file(place("a.zarr"), place("a.h5")).unwrap();
    let file = std::sync::Arc::new(zarrox_files::open_file(place("a.h5")).unwrap());
    let again = zarrox::OpenOptions::new()
        .mode(zarrox::OpenMode::Read)
        .open((file, ""))
        .unwrap()
        .into_group()
        .unwrap();
    let array = |name: &str| again.open(name).unwrap().into_array().unwrap();
    let window = s![corner - 1..corner + 5, 59..71];
    let found = array("chunked").read::<ArrayD<i32>>(window.clone()).unwrap();
    assert_eq!(found, chunked.read::<ArrayD<i32>>(window).unwrap());
    assert_eq!(found.sum(), 40 * 5 - 32);
    assert_eq!(array("empty").shape(), [1 << 33, 1 << 28]);
    assert_eq!(array("empty").read::<ArrayD<i32>>(s![1_u64 << 32, ..3]).unwrap().sum(), -3);
}

#[test]
fn lists_of_numbers_come_back_in_their_type() {
    let directory = tempfile::tempdir().unwrap();
    let place = |name: &str| directory.path().join(name);
    let bytes = DataType::parse("variable_length_bytes", &zarrox::codecs::registry()).unwrap();
    let root = zarrox::create_group(place("a.zarr")).unwrap();
    let lists = [1_i32, -2, 3].map(i32::to_le_bytes).concat();
    let elements = DynArray::from_elements(bytes.clone(), vec![3], [&lists[..], &[], &lists[..4]]).unwrap();
    for (name, of) in [("plain", "uint8"), ("numbers", "int32")] {
        let attributes = zarrox::json::json!({ "list_of": of }).as_object().unwrap().clone();
        let array = root.create_array(name).shape([3]).data_type(bytes.clone()).attributes(attributes);
        array.create().unwrap().write(.., &elements).unwrap();
    }
    export_file(place("a.zarr"), place("a.h5")).unwrap();
    import_file(place("a.h5"), place("b.zarr")).unwrap();
    let again = zarrox::open_group(place("b.zarr")).unwrap();
    for (name, of) in [("plain", None), ("numbers", Some("int32"))] {
        let array = again.open(name).unwrap().into_array().unwrap();
        assert_eq!(array.read::<DynArray>(..).unwrap(), elements, "{name}");
        assert_eq!(array.attributes().get("list_of").and_then(|of| of.as_str()), of, "{name}");
    }
    let odd = DynArray::from_elements(bytes, vec![1], [&[1_u8, 2, 3][..]]).unwrap();
    again.open("numbers").unwrap().into_array().unwrap().write(s![..1], &odd).unwrap();
    let error = export_file(place("b.zarr"), place("b.h5")).unwrap_err();
    assert_eq!(error.kind(), zarrox::ErrorKind::Corrupt, "{error}");
}

#[cfg(feature = "hdf5")]
#[test]
fn attributes_of_hdf5_keep_their_types() {
    let directory = tempfile::tempdir().unwrap();
    let place = |name: &str| directory.path().join(name);
    let attributes = zarrox::json::json!({
        "double": 0.5, "fixed": ["ab", "c"], "float": [0.5, 2.0], "int64": 3, "long": "x", "short": 3, "text": "x", "truth": true,
        "_nc_types": "fixed: char; float: float; short: short; text: char"
    });
    let attributes = attributes.as_object().unwrap().clone();
    let mut root = zarrox::create_group(place("a.zarr")).unwrap();
    root.set_attributes(attributes.clone()).unwrap();
    root.create_array("x")
        .shape([2])
        .data_type(DataType::Int32)
        .attributes(attributes.clone())
        .create()
        .unwrap();
    for (from, to) in [("a", "b"), ("b", "c")] {
        export_file(place(&format!("{from}.zarr")), place(&format!("{from}.h5"))).unwrap();
        import_file(place(&format!("{from}.h5")), place(&format!("{to}.zarr"))).unwrap();
        let again = zarrox::open_group(place(&format!("{to}.zarr"))).unwrap();
        assert_eq!(again.attributes(), &attributes);
        assert_eq!(again.open("x").unwrap().into_array().unwrap().attributes(), &attributes);
    }
}

/// Exports `a.zarr` to a file with a suffix, and returns the import of the file.
#[cfg(feature = "hdf5")]
fn exported_and_imported(directory: &std::path::Path, suffix: &str) -> Group {
    let (file, again) = (directory.join(format!("a.{suffix}")), directory.join(format!("{suffix}.zarr")));
    export_file(directory.join("a.zarr"), &file).unwrap();
    import_file(&file, &again).unwrap();
    zarrox::open_group(again).unwrap()
}

#[cfg(feature = "hdf5")]
#[test]
fn attributes_of_bit_fields_are_unsigned_integers_of_their_size() {
    let directory = tempfile::tempdir().unwrap();
    let place = |name: &str| directory.path().join(name);
    import_file(crate::hdf5::data().join("bits.h5"), place("a.zarr")).unwrap();
    let before = zarrox::open_group(place("a.zarr")).unwrap();
    for suffix in ["h5", "nc"] {
        let types = |group: &Group| group.attributes()["_nc_types"].clone();
        assert_eq!(types(&exported_and_imported(directory.path(), suffix)), types(&before), "{suffix}");
    }
}

#[cfg(feature = "hdf5")]
#[test]
fn missing_values_in_lists_of_one_element_are_written_as_scalars() {
    let directory = tempfile::tempdir().unwrap();
    let place = |name: &str| directory.path().join(name);
    let root = zarrox::create_group(place("a.zarr")).unwrap();
    let create = |name: &str, data_type: DataType, value: zarrox::json::Json| {
        let attributes = zarrox::json::json!({ "_FillValue": value }).as_object().unwrap().clone();
        let builder = root.create_array(name).shape([2]).data_type(data_type).attributes(attributes);
        builder.dimension_names(["x"]).create().unwrap();
    };
    create("short", DataType::Int16, zarrox::json::json!([-9]));
    create("float", DataType::Float32, zarrox::json::json!([["AAAAAAAAIsA="]]));
    for suffix in ["nc", "h5"] {
        if suffix == "h5" {
            create("half", DataType::Float16, zarrox::json::json!("AAAAAAAAIsA="));
        }
        let again = exported_and_imported(directory.path(), suffix);
        for child in root.children().unwrap() {
            let found = again.open(&child.name).unwrap().attributes()["_FillValue"].clone();
            let expected = zarrox::json::json!(-9);
            let expected = if child.name == "short" { expected } else { zarrox::json::json!("AAAAAAAAIsA=") };
            assert_eq!(found, expected, "{} in .{suffix}", child.name);
        }
    }
}

#[cfg(feature = "hdf5")]
#[test]
fn attributes_with_names_of_zarrox_are_named_when_they_are_dropped() {
    let directory = tempfile::tempdir().unwrap();
    let place = |name: &str| directory.path().join(name);
    import_file(crate::hdf5::data().join("taken.h5"), place("a.zarr")).unwrap();
    assert!(zarrox::open_array(place("a.zarr/d")).unwrap().attributes().is_empty());
    let store = zarrox_files::open_file(crate::hdf5::data().join("taken.h5")).unwrap();
    for name in ["_nc_types", "_nc_kind", "_ARRAY_DIMENSIONS"] {
        let note = format!("/d: attribute '{name}' is dropped");
        assert!(store.notes().iter().any(|found| found.contains(&note)), "{name}: {:?}", store.notes());
    }
    // An attribute that is not the dimension names is an attribute as any other.
    let attributes: zarrox::json::Map =
        [("_ARRAY_DIMENSIONS".to_owned(), "text".into())].into_iter().collect();
    let array = zarrox::create_array(place("c.zarr")).shape([2]).data_type(DataType::Int32);
    array.attributes(attributes).create().unwrap();
    export_file(place("c.zarr"), place("c.h5")).unwrap();
    assert_eq!(zarrox_files::open_file(place("c.h5")).unwrap().notes().len(), 1);
}

#[cfg(feature = "hdf5")]
#[test]
fn missing_values_of_user_defined_types_and_dimensions_of_fields_come_back() {
    let directory = tempfile::tempdir().unwrap();
    let place = |name: &str| directory.path().join(name);
    import_file(crate::hdf5::data().join("structures.nc"), place("a.zarr")).unwrap();
    export_file(place("a.zarr"), place("a.nc")).unwrap();
    import_file(place("a.nc"), place("b.zarr")).unwrap();
    let group = |name| zarrox::open_group(place(name)).unwrap();
    let (before, after) = (group("a.zarr"), group("b.zarr"));
    assert_eq!(after.attributes(), before.attributes());
    export_file(place("a.zarr"), place("a.h5")).unwrap();
    import_file(place("a.h5"), place("c.zarr")).unwrap();
    for name in ["obs", "raw"] {
        let types = |group: &Group| group.open(name).unwrap().attributes()["_nc_types"].clone();
        assert_eq!(types(&group("c.zarr")), types(&before), "{name}");
    }
    for name in ["obs", "raw", "deep/x", "deep/y"] {
        let array = |group: &Group| group.open(name).unwrap().into_array().unwrap();
        let (before, after) = (array(&before), array(&after));
        assert_eq!(after.fill_bytes(), before.fill_bytes(), "{name}");
        assert_eq!(after.attributes(), before.attributes(), "{name}");
        assert_eq!(after.dimension_names().unwrap()[0], before.dimension_names().unwrap()[0], "{name}");
        assert_eq!(after.read::<DynArray>(..).unwrap(), before.read::<DynArray>(..).unwrap(), "{name}");
    }
}

#[cfg(feature = "hdf5")]
#[test]
fn missing_values_of_text_and_their_types_come_back() {
    let directory = tempfile::tempdir().unwrap();
    let place = |name: &str| directory.path().join(name);
    let attributes = |json: zarrox::json::Json| -> zarrox::json::Map { json.as_object().unwrap().clone() };
    let told = |of: &str| attributes(zarrox::json::json!({"_nc_types": format!("_FillValue: {of}")}));
    let mut root = zarrox::create_group(place("a.zarr")).unwrap();
    let of_root = zarrox::json::json!({"_FillValue": -999.0, "_nc_types": "_FillValue: float"});
    root.set_attributes(attributes(of_root)).unwrap();
    let registry = zarrox::codecs::registry();
    let create = |name: &str, data_type: &str, fill: &str, attributes| {
        let builder =
            root.create_array(name).shape([2]).data_type(DataType::parse(data_type, &registry).unwrap());
        let fill = zarrox::json::Json::from(fill);
        builder.attributes(attributes).fill_value_json(fill).dimension_names(["x"]).create().unwrap()
    };
    let text = create("text", "string", "none", told("string"));
    text.write(s![..1], DynArray::from_elements(DataType::string(), vec![1], [b"x"]).unwrap()).unwrap();
    create("empty", "string", "", told("string"));
    create("letter", "|S1", "LQ==", told("char"));
    for suffix in ["nc", "h5"] {
        if suffix == "h5" {
            create("word", "|S4", "bm9uZQ==", told("char"));
        }
        let (file, again) = (place(&format!("a.{suffix}")), place(&format!("{suffix}.zarr")));
        export_file(place("a.zarr"), &file).unwrap();
        import_file(&file, &again).unwrap();
        assert!(zarrox_files::open_file(&file).unwrap().notes().is_empty());
        let again = zarrox::open_group(&again).unwrap();
        assert_eq!(again.attributes(), root.attributes(), "{suffix}");
        for child in root.children().unwrap() {
            let array = |group: &Group| group.open(&child.name).unwrap().into_array().unwrap();
            let (before, after) = (array(&root), array(&again));
            let types = |array: &zarrox::Array| array.attributes()["_nc_types"].clone();
            assert_eq!(types(&after), types(&before), "{} in .{suffix}", child.name);
            assert!(!after.attributes().contains_key("_FillValue"));
            assert_eq!(after.fill_bytes(), before.fill_bytes(), "{} in .{suffix}", child.name);
            assert_eq!(after.read::<DynArray>(..).unwrap(), before.read::<DynArray>(..).unwrap());
        }
    }
    let error = export_file(place("a.zarr"), place("word.nc")).unwrap_err();
    assert!(error.to_string().contains("must be a single character"), "{error}");
    #[cfg(feature = "tables")]
    {
        export_file(place("a.zarr"), place("a.csv")).unwrap();
        let csv = std::fs::read_to_string(place("a.csv")).unwrap();
        assert_eq!(csv, "empty,letter,text,word\n,,x,\n,,,\n");
    }
}

#[cfg(feature = "hdf5")]
#[test]
fn a_missing_value_of_text_that_is_not_its_fill_value_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let place = |name: &str| directory.path().join(name);
    let attributes = zarrox::json::json!({"_FillValue": "none"}).as_object().unwrap().clone();
    let array = zarrox::create_array(place("a.zarr")).shape([2]).data_type(DataType::string());
    array.attributes(attributes).create().unwrap();
    export_file(place("a.zarr"), place("a.h5")).unwrap();
    let store = zarrox_files::open_file(place("a.h5")).unwrap();
    assert!(store.notes()[0].contains("it becomes the attribute missing_value"), "{:?}", store.notes());
    import_file(place("a.h5"), place("b.zarr")).unwrap();
    let found = zarrox::open_array(place("b.zarr/data")).unwrap().attributes().clone();
    assert_eq!(found["missing_value"], zarrox::json::Json::from("none"));
    assert!(!found.contains_key("_FillValue"));
}

#[cfg(feature = "hdf5")]
#[test]
fn filters_that_do_not_compress_are_kept() {
    let directory = tempfile::tempdir().unwrap();
    let place = |name: &str| directory.path().join(name);
    let root = zarrox::create_group(place("a.zarr")).unwrap();
    let array = root.create_array("x").shape([5000]).chunks([1000]).data_type(DataType::Int32);
    let array = array.no_compressor().filter(zarrox::codecs::Fletcher32).create().unwrap();
    array.write(.., ndarray::Array1::from_iter(0..5000_i32)).unwrap();
    for (from, to) in [("a", "b"), ("b", "c")] {
        export_file(place(&format!("{from}.zarr")), place(&format!("{from}.nc"))).unwrap();
        import_file(place(&format!("{from}.nc")), place(&format!("{to}.zarr"))).unwrap();
        let again = zarrox::open_array(place(&format!("{to}.zarr/x"))).unwrap();
        let names: Vec<String> = again.codecs().iter().map(|codec| codec.name.clone()).collect();
        assert_eq!(names, ["bytes", "numcodecs.fletcher32"]);
        assert_eq!(again.read::<ArrayD<i32>>(..).unwrap(), array.read::<ArrayD<i32>>(..).unwrap());
    }
}
