//! Hierarchies in zip archives, opened by their paths.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::Path;

use ndarray::{Array2, arr1};
use zarrox::{ErrorKind, Format, OpenMode, OpenOptions};
use zarrox::{prelude::*, s};

fn golden(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../zarrox-stores/tests/golden/zip").join(name)
}

fn numbers() -> Array2<i32> {
    Array2::from_shape_fn((6, 10), |(row, column)| i32::try_from(10 * row + column).unwrap())
}

#[test]
fn archives_of_zarr_python_2_are_opened() {
    let root = zarrox::open(golden("zarr2.zip")).unwrap().into_group().unwrap();
    assert_eq!(root.attributes()["title"], "a group in a zip archive");
    let array = zarrox::open(golden("zarr2.zip/measured/a")).unwrap().into_array().unwrap();
    assert_eq!(array.read::<ArrayD<i32>>(..).unwrap().into_dimensionality().unwrap(), numbers());
    assert_eq!(array.attributes()["unit"], "m");
    let deflated = zarrox::open(golden("zarr2_deflated.zip")).unwrap().into_array().unwrap();
    let expected = (0..11).map(|i| f64::from(i) * 0.1);
    let read = deflated.read::<ArrayD<f64>>(..).unwrap();
    assert!(read.iter().zip(expected).all(|(read, expected)| (read - expected).abs() < 1e-15));
}

#[test]
fn hierarchies_of_every_format_are_made_and_changed_in_archives() {
    for format in Format::all() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("data.zip");
        let options = OpenOptions::new().format(format);
        let array = options.create_array(&path).shape([6, 10]).chunks([4, 5]).data_type(DataType::Int32);
        let array = array.create().unwrap();
        array.write(.., numbers()).unwrap();
        array.write(s![2, ..], arr1(&[7; 10])).unwrap();
        assert_eq!(array.read::<ArrayD<i32>>(s![2, 3..5]).unwrap(), arr1(&[7, 7]).into_dyn(), "{format:?}");
        drop(array);
        assert!(path.is_file());

        let again = options.open(&path).unwrap().into_array().unwrap();
        let mut expected = numbers();
        expected.row_mut(2).fill(7);
        assert_eq!(
            again.read::<ArrayD<i32>>(..).unwrap().into_dimensionality().unwrap(),
            expected,
            "{format:?}"
        );
    }
}

#[test]
fn nodes_below_the_root() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("data.zip");
    let array =
        zarrox::OpenOptions::new().create_array(path.join("group/a")).shape([3]).data_type(DataType::UInt8);
    let array = array.create().unwrap();
    array.write(.., arr1(&[1_u8, 2, 3])).unwrap();
    // The other handle sees the node although the archive is not finished.
    let root = zarrox::open(&path).unwrap().into_group().unwrap();
    assert_eq!(
        root.open("group/a").unwrap().into_array().unwrap().read::<ArrayD<u8>>(..).unwrap(),
        arr1(&[1, 2, 3]).into_dyn()
    );
    array.flush().unwrap();
    root.move_node("group/a", "b").unwrap();
    root.flush().unwrap();
    let copy = directory.path().join("copy.zip");
    fs::copy(&path, &copy).unwrap();
    let array = OpenOptions::new().mode(OpenMode::Read).open(copy.join("b")).unwrap().into_array().unwrap();
    assert_eq!(array.read::<ArrayD<u8>>(..).unwrap(), arr1(&[1, 2, 3]).into_dyn());
    assert_eq!(array.write(.., arr1(&[0_u8; 3])).unwrap_err().kind(), ErrorKind::ReadOnly);

    let options = OpenOptions::new();
    options.move_node(&copy, directory.path().join("moved.zip")).unwrap();
    let error =
        options.move_node(directory.path().join("moved.zip"), directory.path().join("a.zarr")).unwrap_err();
    assert!(error.to_string().contains("are not both archives"), "{error}");
    options.delete(directory.path().join("moved.zip")).unwrap();
    assert_eq!(zarrox::open(directory.path().join("moved.zip")).unwrap_err().kind(), ErrorKind::NotFound);
}

#[test]
fn other_files_are_corrupt_archives_and_absent_ones_are_missing() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("data.zip");
    assert_eq!(zarrox::open(&path).unwrap_err().kind(), ErrorKind::NotFound);
    assert!(!path.exists());
    fs::write(&path, "no archive").unwrap();
    let error = zarrox::open(path.join("a")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
    assert!(error.to_string().contains("data.zip"), "{error}");
}
