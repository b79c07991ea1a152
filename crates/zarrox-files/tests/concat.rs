//! Concatenated files, ranges of files, and the inventory of copies.

use std::path::{Path, PathBuf};

use zarrox::json::json;
use zarrox::prelude::*;
use zarrox::{ErrorKind, OpenOptions};
use zarrox_files::{Import, Kind};

/// Makes a NetCDF file with times in these units, and a field of two columns.
fn file(directory: &Path, name: &str, units: &str, times: &[f64], scale: f64) -> PathBuf {
    let group = directory.join(format!("{name}.zarr"));
    let root = zarrox::create_group(&group).unwrap();
    let array = root.create_array("time").shape([times.len() as u64]).data_type(DataType::Float64);
    let attributes = json!({"units": units, "calendar": "standard"});
    let array = array.attributes(attributes.as_object().unwrap().clone()).dimension_names(["time"]);
    array.create().unwrap().write(.., ndarray::Array1::from(times.to_vec())).unwrap();
    let array = root.create_array("t").shape([times.len() as u64, 2]).data_type(DataType::Float64);
    let attributes = json!({"scale_factor": scale});
    let array = array.attributes(attributes.as_object().unwrap().clone()).dimension_names(["time", "x"]);
    let values = ndarray::Array2::from_shape_fn((times.len(), 2), |(row, column)| times[row] + column as f64);
    array.create().unwrap().write(.., &values).unwrap();
    let path = directory.join(name);
    zarrox_files::export_file(&group, &path).unwrap();
    path
}

fn times(path: &Path) -> Vec<f64> {
    zarrox::open_array(path.join("time")).unwrap().read::<ArrayD<f64>>(..).unwrap().iter().copied().collect()
}

#[cfg(feature = "hdf5")]
#[test]
fn times_of_other_units_are_those_of_the_first_file() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    let days = file(directory, "days.nc", "days since 2000-01-01", &[0.0, 1.0], 1.0);
    let hours = file(directory, "hours.nc", "hours since 2000-01-03", &[0.0, 12.0], 1.0);
    let import = Import::new().concat("time");
    let target = directory.join("all");
    let imported = import.plan_all(&[&hours, &days], &target).unwrap().run_counted().unwrap();
    assert_eq!(times(&target), [0.0, 1.0, 2.0, 2.5]);
    assert_eq!((imported.source, imported.copy.elements), (imported.copy, 12));
    let grown = directory.join("grown");
    import.plan_all(&[&days], &grown).unwrap().run().unwrap();
    let invalid = import.clone().exclude("t[").append(&[&hours], &grown, &OpenOptions::new()).unwrap_err();
    assert_eq!(invalid.kind(), ErrorKind::InvalidArgument);
    assert!(invalid.to_string().contains("the pattern 't[': a bracket is not closed"), "{invalid}");
    let appended = import.append(&[&hours], &grown, &OpenOptions::new()).unwrap();
    assert_eq!(appended.arrays, [("t".to_owned(), 2, 4), ("time".to_owned(), 2, 4)]);
    assert_eq!(times(&grown), [0.0, 1.0, 2.0, 2.5]);
    // Times that cannot be converted exactly, and another packing.
    let odd = file(directory, "odd.nc", "months since 2000-01-01", &[9.0], 1.0);
    let packed = file(directory, "packed.nc", "days since 2000-01-01", &[9.0], 2.0);
    for (other, name) in [(&odd, "units"), (&packed, "scale_factor")] {
        let error = import.plan_all(&[&days, other], directory.join("no")).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        assert!(error.to_string().contains(name), "{error}");
    }
    assert_eq!(
        import.append(&[&odd], directory.join("none"), &OpenOptions::new()).unwrap_err().kind(),
        ErrorKind::NotFound
    );
}

#[cfg(feature = "hdf5")]
#[test]
fn ranges_are_selected_by_the_values_of_coordinates() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    let path = file(directory, "a.nc", "days since 2000-01-01", &[0.0, 31.0, 40.0, 60.0], 1.0);
    assert_eq!(Kind::of(&path).unwrap(), Some(Kind::Hdf5));
    for (number, (text, expected)) in [
        ("time=2000-02..2000-02", &[31.0, 40.0][..]),
        ("time=35..", &[40.0, 60.0]),
        ("time=::3", &[0.0, 60.0]),
    ]
    .into_iter()
    .enumerate()
    {
        let target = directory.join(number.to_string());
        let imported =
            Import::new().select(text.parse().unwrap()).plan(&path, &target).unwrap().run_counted();
        assert_eq!(imported.unwrap().copy.elements, 6);
        assert_eq!(times(&target), expected, "{text}");
    }
}

/// Makes a NetCDF file with a time, and with these arrays along it.
#[cfg(feature = "hdf5")]
fn along(
    directory: &Path,
    name: &str,
    time: f64,
    arrays: &[(&str, DataType, zarrox::json::Json)],
) -> PathBuf {
    let group = directory.join(format!("{name}.zarr"));
    let root = zarrox::create_group(&group).unwrap();
    let all = [("time", DataType::Float64, json!({}))].into_iter().chain(arrays.iter().cloned());
    for (array, data_type, attributes) in all {
        let builder =
            root.create_array(array).shape([2]).data_type(data_type.clone()).dimension_names(["time"]);
        let array = builder.attributes(attributes.as_object().unwrap().clone()).create().unwrap();
        let values =
            zarrox::DynArray::from_json(data_type, &json!([time, time + 1.0]), &zarrox::codecs::registry());
        array.write(.., values.unwrap()).unwrap();
    }
    let path = directory.join(name);
    zarrox_files::export_file(&group, &path).unwrap();
    path
}

#[cfg(feature = "hdf5")]
#[test]
fn an_array_that_a_file_lacks_has_missing_values_there_or_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    let without = along(directory, "without.nc", 2.0, &[]);
    let target = |name: &str| directory.join(name);
    let read = |path: &Path, name: &str| {
        let array = zarrox::open_array(path.join(name)).unwrap();
        let registry = zarrox::codecs::registry();
        let all = array.read::<DynArray>(..).unwrap().cast(
            &DataType::Float64,
            zarrox::data_type::Casting::Exact,
            &registry,
        );
        all.unwrap().to::<ArrayD<f64>>().unwrap().iter().copied().collect::<Vec<f64>>()
    };
    let masked = [
        ("filled", DataType::Int16, json!({"_FillValue": -9})),
        ("missing", DataType::Int32, json!({"missing_value": 99})),
        ("float", DataType::Float32, json!({})),
    ];
    let with = along(directory, "with.nc", 0.0, &masked);
    let import = Import::new().concat("time");
    let error = import.plan_all(&[&with, &without], target("none")).unwrap_err();
    assert!(error.to_string().contains("missing values can stand for it"), "{error}");
    let filling = import.clone().fill_missing(true);
    let importing = filling.plan_all(&[&with, &without], target("filled")).unwrap();
    let said = importing.differences().join("; ");
    assert!(said.contains("/float: 1 files lack the array"), "{said}");
    importing.run().unwrap();
    assert_eq!(read(&target("filled"), "filled"), [0.0, 1.0, -9.0, -9.0]);
    assert_eq!(read(&target("filled"), "missing"), [0.0, 1.0, 99.0, 99.0]);
    let float = read(&target("filled"), "float");
    assert!(float[..2] == [0.0, 1.0] && float[2].is_nan() && float[3].is_nan(), "{float:?}");
    // Integers without a missing value are always data.
    let plain = along(directory, "plain.nc", 0.0, &[("count", DataType::Int16, json!({}))]);
    let error = filling.plan_all(&[&plain, &without], target("refused")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(
        error.to_string().contains("'/count'") && error.to_string().contains("a value can be given"),
        "{error}"
    );
    let given = import.fill_missing_with(json!(-1));
    given.plan_all(&[&plain, &without], target("given")).unwrap().run().unwrap();
    assert_eq!(read(&target("given"), "count"), [0.0, 1.0, -1.0, -1.0]);
    let error =
        given.fill_missing_with(json!(1.5)).plan_all(&[&plain, &without], target("wrong")).unwrap_err();
    assert!(error.to_string().contains("a value can be given"), "{error}");
}

#[cfg(feature = "hdf5")]
#[test]
fn a_dimension_is_selected_once() {
    let directory = tempfile::tempdir().unwrap();
    let path = file(directory.path(), "a.nc", "days since 2000-01-01", &[0.0, 1.0], 1.0);
    let import = Import::new().select("time=0:1".parse().unwrap()).select("time=1:2".parse().unwrap());
    let error = import.plan(&path, directory.path().join("a")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    assert!(error.to_string().contains("'time' is selected twice"), "{error}");
}
