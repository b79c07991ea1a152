//! The first programs of users of `ndarray`.

#![expect(clippy::unwrap_used, reason = "a test stops at the first failure")]

use std::sync::Arc;

use ndarray::{Array2, arr1, arr2};
use zarrox::stores::{Condition, Key, MemoryStore, Store, StoreExt};
use zarrox::{Array, prelude::*, s};
use zarrox::{ErrorKind, OpenMode, OpenOptions};

fn root() -> Group {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    OpenOptions::new().create_group((store, "")).unwrap()
}

/// Returns the numbers from 0 on, in chunks that do not divide them.
fn numbers(root: &Group) -> (Array, Array2<i32>) {
    let values = Array2::from_shape_vec((4, 6), (0..24).collect()).unwrap();
    let array = root.create_array("a").shape([4, 6]).chunks([3, 4]).data_type(DataType::Int32);
    let array = array.create().unwrap();
    array.write(.., &values).unwrap();
    (array, values)
}

#[test]
fn arrays_and_groups_are_opened_where_they_are() {
    let root = root();
    root.create_group("g").unwrap();
    numbers(&root);
    assert_eq!(root.open_array("a").unwrap().shape(), [4, 6]);
    assert_eq!(root.open_group("g").unwrap().path().to_string(), "/g");
    for (error, path, message) in [
        (root.open_array("g").unwrap_err(), "/g", "it is a group, not an array"),
        (root.open_group("a").unwrap_err(), "/a", "it is an array, not a group"),
        (root.create_group("a").unwrap_err(), "/a", "open it or overwrite it"),
    ] {
        assert_eq!(error.path(), Some(path), "{error}");
        assert!(error.to_string().contains(message), "{error}");
    }
    assert_eq!(root.open_array("x").unwrap_err().kind(), ErrorKind::NotFound);

    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("b.zarr");
    let group = zarrox::create_group(&path).unwrap();
    group.create_array("a").shape([2]).data_type(DataType::Int8).create().unwrap();
    let options = OpenOptions::new().mode(OpenMode::Read);
    assert_eq!(options.open_array(path.join("a")).unwrap().shape(), [2]);
    assert_eq!(options.open_group(&path).unwrap().arrays().unwrap().len(), 1);
    assert!(options.open_array(&path).is_err_and(|error| error.to_string().contains("is a group")));
}

#[test]
fn slices_of_ndarray_read_and_write_the_elements_that_they_have_there() {
    let (array, mut values) = numbers(&root());
    let read = |selection| array.read::<Array2<i32>>(selection).unwrap();
    let slices = [ndarray::s![1..3, ..;-2], ndarray::s![..;-1, 2..], ndarray::s![-3..-1, ..5;3]];
    for slice in slices {
        assert_eq!(read(slice), values.slice(slice));
    }
    assert_eq!(array.read::<ArrayD<i32>>(ndarray::s![2, ..]).unwrap(), values.row(2).into_dyn());
    values.slice_mut(ndarray::s![.., ..;-3]).assign(&arr2(&[[7, 8]]));
    array.write(ndarray::s![.., ..;-3], arr2(&[[7, 8]])).unwrap();
    assert_eq!(array.read::<ArrayD<i32>>(..).unwrap(), values.into_dyn());
}

#[test]
fn a_box_is_a_range_for_each_dimension() {
    let (array, values) = numbers(&root());
    let corner: Vec<std::ops::Range<u64>> = vec![1..3, 2..5];
    assert_eq!(array.read::<ArrayD<i32>>(&corner).unwrap(), values.slice(ndarray::s![1..3, 2..5]).into_dyn());
    assert_eq!(
        array.read::<ArrayD<i32>>([0..2, 4..6]).unwrap(),
        values.slice(ndarray::s![0..2, 4..6]).into_dyn()
    );
}

#[test]
fn literals_are_numbers_of_the_elements_type_if_they_have_the_same_value() {
    let root = root();
    let create = |data_type: DataType| root.create_array("a").shape([2]).data_type(data_type).overwrite(true);
    let floats = create(DataType::Float32).fill_value(1).create().unwrap();
    assert_eq!(floats.read::<ArrayD<f32>>(..).unwrap(), arr1(&[1.0, 1.0]).into_dyn());
    floats.write(s![0], -2.5).unwrap();
    floats.write(s![1], f64::NAN).unwrap();
    let found = floats.read::<ArrayD<f32>>(..).unwrap();
    assert!(found[[0]] == -2.5 && found[[1]].is_nan());
    let error = floats.write(.., 0.1).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::DataTypeMismatch);
    assert!(error.to_string().contains("0.1 of float64 cannot be represented as float32"), "{error}");
    assert!(error.to_string().contains("`_f32`"), "{error}");

    let bytes = create(DataType::UInt8).fill_value(255).create().unwrap();
    assert_eq!(bytes.read::<ArrayD<u8>>(..).unwrap(), arr1(&[255, 255]).into_dyn());
    for error in
        [create(DataType::UInt8).fill_value(-1).create().unwrap_err(), bytes.write(.., 256).unwrap_err()]
    {
        assert_eq!(error.kind(), ErrorKind::DataTypeMismatch);
        assert!(error.to_string().contains("cannot be represented as uint8"), "{error}");
    }
    let error = bytes.write(.., [1, 2]).unwrap_err();
    assert!(error.to_string().contains("not int32; write literals with the suffix `_u8`"), "{error}");
    let texts = create(DataType::string()).create().unwrap();
    let error = texts.write(.., 1).unwrap_err();
    assert!(error.to_string().contains("the elements are string, not int32"), "{error}");
}

#[test]
fn text_and_bytes_are_data_types_without_a_registry() {
    let registry = zarrox::codecs::registry();
    assert_eq!(DataType::string(), DataType::parse("string", &registry).unwrap());
    assert_eq!(DataType::bytes(), DataType::parse("bytes", &registry).unwrap());
}

/// A program can use both preludes, and the `s!` of either.
mod with_both_preludes {
    use ndarray::prelude::*;
    use zarrox::prelude::*;

    #[test]
    fn the_preludes_have_no_conflicting_names() {
        let (array, values): (zarrox::Array, Array2<i32>) = super::numbers(&super::root());
        assert_eq!(array.read::<Array1<i32>>(s![.., 1]).unwrap(), values.slice(s![.., 1]));
        assert_eq!(
            array.read::<Array1<i32>>(zarrox::s![.., [1]]).unwrap_err().kind(),
            zarrox::ErrorKind::InvalidArgument
        );
        assert_eq!(Array::<i32, Ix1>::zeros(2).len(), 2);
        assert_eq!(array.data_type(), &DataType::Int32);
    }
}

#[test]
fn byte_strings_are_written_one_by_one_and_in_lists() {
    let root = root();
    let names = root.create_array("names").shape([4]).data_type(DataType::bytes()).create().unwrap();
    names.set([0], vec![1_u8, 2]).unwrap();
    names.set([1], b"abc").unwrap();
    names.write(s![2..], [&b"x"[..], b"yz"]).unwrap();
    assert_eq!(names.read::<Vec<Vec<u8>>>(..).unwrap(), [&[1, 2][..], b"abc", b"x", b"yz"]);
    assert_eq!(names.set([0], vec![1_u16]).unwrap_err().kind(), ErrorKind::DataTypeMismatch);

    let ragged = root.create_array("ragged").format(Format::V2).shape([2]);
    let ragged = ragged.data_type(DataType::vlen_array(DataType::Float32).unwrap()).create().unwrap();
    ragged.set([1], [0.5_f32, 1.5]).unwrap();
    assert_eq!(ragged.read::<Vec<Vec<f32>>>(..).unwrap(), [vec![], vec![0.5, 1.5]]);
}

#[test]
fn one_element_of_any_type_is_an_array_without_dimensions() {
    let (array, _) = numbers(&root());
    let element: DynArray = array.get([1, 2]).unwrap();
    assert_eq!((element.shape(), element.to::<Vec<i32>>().unwrap()), (&[][..], vec![8]));
    assert_eq!(array.fill_value::<DynArray>().unwrap().as_bytes(), [0; 4]);
}

#[test]
fn the_error_of_a_broken_document_has_its_path_and_key() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let root = OpenOptions::new().create_group((store.clone(), "")).unwrap();
    root.create_group("a").unwrap();
    store.set(&Key::new("a/zarr.json").unwrap(), b"{\"zarr_format\": 3,", Condition::Always).unwrap();
    let error = root.open("a").unwrap_err();
    assert_eq!(
        (error.kind(), error.path(), error.key()),
        (ErrorKind::InvalidMetadata, Some("/a"), Some("a/zarr.json")),
        "{error}"
    );
}
