//! Selections of every kind agree with NumPy, for reading, writing and errors: the golden cases of `corpus/indexing`. `cargo
//! xtask conformance` generates other cases with every run.

#![expect(clippy::unwrap_used, reason = "a test stops at the first failure")]

#[path = "corpus/indexing/case.rs"]
mod case;

use std::path::Path;
use std::sync::Arc;

use case::failures;
use zarrox::OpenOptions;
use zarrox::stores::MemoryStore;
use zarrox::{prelude::*, s};

/// Returns all cases, one in each line.
fn cases() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/indexing/cases.jsonl.zst");
    String::from_utf8(zstd::decode_all(std::fs::File::open(path).unwrap()).unwrap()).unwrap()
}

#[test]
fn selections_are_numpys() {
    let cases = cases();
    let lines: Vec<&str> = cases.lines().collect();
    assert_eq!(lines.len(), 6000);
    let failures = failures(&lines).unwrap();
    let shown = failures.iter().take(20).map(|failure| format!("\n{failure}")).collect::<String>();
    assert!(failures.is_empty(), "{} of {} cases failed:{shown}", failures.len(), lines.len());
}

/// Only the shape of this selection shows the number of positions, since the array has no dimension with a list of
/// positions.
#[test]
fn the_element_of_an_array_without_dimensions_is_selected_repeatedly() {
    let store = Arc::new(MemoryStore::new());
    let builder = OpenOptions::new().create_array((store, "")).shape([]).data_type(DataType::Int32);
    let array = builder.create().unwrap();
    array.write(.., 5).unwrap();
    let twice = array.slice(NewAxis).slice(s![[0, 0]]);
    assert_eq!(twice.read::<ArrayD<i32>>().unwrap().as_slice().unwrap(), [5, 5]);
    twice.write(ndarray::arr1(&[6, 7])).unwrap();
    assert_eq!(array.read::<ArrayD<i32>>(..).unwrap().sum(), 7);
    let never = array.slice(NewAxis).slice(s![[0; 0]]);
    assert_eq!(never.read::<ArrayD<i32>>().unwrap().len(), 0);
    never.write(ndarray::arr1(&[] as &[i32; 0])).unwrap();
    assert_eq!(array.read::<ArrayD<i32>>(..).unwrap().sum(), 7);
}

/// Text and fields take other code paths than the cases.
#[test]
fn values_may_have_axes_of_length_1_in_front() {
    let values = ndarray::arr3(&[[[1, 2, 3]]]);
    let created = |data_type| {
        let builder = OpenOptions::new().create_array((Arc::new(MemoryStore::new()), ""));
        builder.shape([2, 3]).data_type(data_type).create().unwrap()
    };
    let numbers = created(DataType::Int32);
    numbers.write(s![0, ..], &values).unwrap();
    assert_eq!(numbers.read::<ArrayD<i32>>(..).unwrap(), ndarray::arr2(&[[1, 2, 3], [0, 0, 0]]).into_dyn());
    let structures = created(DataType::structure([("id", DataType::Int32)]).unwrap());
    structures.field("id").slice(s![0, ..]).write(&values).unwrap();
    assert_eq!(
        structures.field("id").slice(s![0, ..]).read::<ArrayD<i32>>().unwrap().as_slice().unwrap(),
        [1, 2, 3]
    );
    let texts = created(DataType::string());
    texts.write(s![0, ..], values.mapv(|number| number.to_string())).unwrap();
    let read = texts.read::<ArrayD<String>>(s![0, ..]).unwrap();
    assert_eq!(read.as_slice().unwrap(), ["1", "2", "3"]);
    let two = ndarray::arr3(&[[[1, 2, 3]], [[4, 5, 6]]]);
    let error = numbers.write(s![0, ..], &two).unwrap_err();
    assert!(error.to_string().contains("values of shape [2, 1, 3]"), "{error}");
}

/// Composed selections have their points in the order of the result, whichever of their axes was composed first.
#[test]
fn the_last_value_stays_where_a_selection_of_points_repeats_them() {
    let builder = OpenOptions::new().create_array((Arc::new(MemoryStore::new()), ""));
    let array = builder.shape([6]).data_type(DataType::Int32).chunks([4]).create().unwrap();
    let points = ndarray::arr3(&[[[0, 1], [1, 0], [2, 2]], [[1, 2], [0, 1], [2, 0]]]);
    let points = array.slice(s![points]);
    // The result is written with ascending numbers: each element gets the largest of its numbers.
    let check = |view: zarrox::ArrayView<'_>| {
        let shape: Vec<usize> = view.shape().unwrap().iter().map(|&n| usize::try_from(n).unwrap()).collect();
        let count = i32::try_from(shape.iter().product::<usize>()).unwrap();
        array.write(.., ndarray::arr1(&[0, 1, 2, 3, 4, 5])).unwrap();
        let places = view.read::<ArrayD<i32>>().unwrap();
        let values = ndarray::ArrayD::from_shape_vec(shape, (100..100 + count).collect()).unwrap();
        view.write(&values).unwrap();
        let mut expected = [0, 1, 2, 3, 4, 5];
        places
            .iter()
            .zip(&values)
            .for_each(|(&place, &value)| expected[usize::try_from(place).unwrap()] = value);
        assert_eq!(array.read::<ArrayD<i32>>(..).unwrap().as_slice().unwrap(), expected, "{places:?}");
    };
    check(points.oindex(s![.., .., [1, 0, 1]]));
    check(points.oindex(s![[1, 0, 0], 1.., ..;-1]));
    check(points.slice(s![.., [2, 0, 0, 1], ..]));
    check(points.slice(s![[0, 1, 0], .., [1, 0, 0]]));
    // The arrays of the first and the last dimension vary together, and the array of the second dimension varies between
    // them.
    let (outer, inner) = (ndarray::arr3(&[[[0, 1]], [[1, 0]]]), ndarray::arr3(&[[[0], [2], [1]]]));
    check(points.slice(s![outer.clone(), inner, outer]));
}
