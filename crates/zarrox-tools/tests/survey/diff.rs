//! Differences between nodes.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::path::Path;

use ndarray::{Array2, arr1};
use zarrox::ErrorKind;
use zarrox::json::json;
use zarrox::{Array, prelude::*, s};
use zarrox_tools::copy::Copier;
use zarrox_tools::diff::{Diff, Difference, DifferenceKind, Values};

fn found(diff: &Diff, left: impl Into<Node>, right: impl Into<Node>) -> Vec<Difference> {
    let mut all = Vec::new();
    let tell = |difference| {
        all.push(difference);
        Ok(())
    };
    diff.run(&left.into(), &right.into(), tell).unwrap();
    all
}

fn floats(path: impl AsRef<Path>, chunks: [u64; 2]) -> Array {
    let array =
        zarrox::create_array(path.as_ref()).shape([50, 60]).data_type(DataType::Float32).chunks(chunks);
    array.create().unwrap()
}

fn values(differences: &[Difference]) -> Values {
    match differences {
        [] => Values::default(),
        [Difference { kind: DifferenceKind::Values(values), .. }] => values.clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn values_differ_where_a_loop_says_so() {
    let directory = tempfile::tempdir().unwrap();
    let mut random = fastrand_like(7);
    let data = Array2::from_shape_fn((50, 60), |_| (random() % 100) as f32 / 7.0);
    let mut other = data.clone();
    for _ in 0..40 {
        let mut below = |most: u64| usize::try_from(random() % most).unwrap();
        let place = [below(50), below(60)];
        other[place] += (random() % 9) as f32 / 4.0 - 1.0;
    }
    other[[3, 4]] = f32::NAN;
    for (number, chunks) in [[50, 60], [7, 60], [50, 1], [3, 11]].into_iter().enumerate() {
        let left = floats(directory.path().join(format!("a{number}")), [10, 20]);
        let right = floats(directory.path().join(format!("b{number}")), chunks);
        left.write(.., &data).unwrap();
        right.write(.., &other).unwrap();
        for (rtol, atol) in [(0.0, 0.0), (0.0, 0.3), (0.1, 0.0), (0.05, 0.05)] {
            let pairs = data.indexed_iter().zip(&other);
            let differing: Vec<_> = pairs
                .filter(|((_, a), b)| {
                    let (a, b) = (f64::from(**a), f64::from(**b));
                    a.is_nan() != b.is_nan() || (a - b).abs() > atol + rtol * b.abs()
                })
                .map(|((place, a), b)| (place, f64::from(*a), f64::from(*b)))
                .collect();
            let found = values(&found(&Diff::new().rtol(rtol).atol(atol), left.clone(), right.clone()));
            assert_eq!(found.count, differing.len() as u64, "{chunks:?} {rtol} {atol}");
            let sizes = differing.iter().map(|(_, a, b)| (a - b).abs()).filter(|size| !size.is_nan());
            assert_eq!(found.largest.map(|(size, _)| size), sizes.max_by(f64::total_cmp));
            let first: Vec<_> =
                differing.iter().take(10).map(|((y, x), ..)| vec![*y as u64, *x as u64]).collect();
            assert_eq!(found.first.into_iter().map(|pair| pair.index).collect::<Vec<_>>(), first);
        }
    }
}

/// Returns a generator of pseudorandom numbers.
fn fastrand_like(seed: u64) -> impl FnMut() -> u64 {
    let mut state = seed;
    move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state >> 33
    }
}

#[test]
fn nan_equals_nan_unless_told_otherwise_and_zeros_are_equal() {
    let directory = tempfile::tempdir().unwrap();
    let create = |name: &str| {
        let array = zarrox::create_array(directory.path().join(name)).shape([4]).data_type(DataType::Float64);
        array.fill_value(f64::NAN).create().unwrap()
    };
    let (left, right) = (create("a"), create("b"));
    left.write(s![..3], arr1(&[f64::NAN, 0.0, 1.0])).unwrap();
    right.write(s![..3], arr1(&[f64::from_bits(0x7ff8_0000_0000_0001), -0.0, 1.0])).unwrap();
    assert!(found(&Diff::new(), left.clone(), right.clone()).is_empty());
    let strictly = values(&found(&Diff::new().equal_nan(false), left, right));
    assert_eq!((strictly.count, strictly.largest), (2, None));
}

#[test]
fn long_integers_differ_in_their_last_digit() {
    let directory = tempfile::tempdir().unwrap();
    let create = |name: &str, last: i64| {
        let array = zarrox::create_array(directory.path().join(name)).shape([2]).data_type(DataType::Int64);
        let array = array.create().unwrap();
        array.write(.., arr1(&[i64::MAX - 1, last])).unwrap();
        array
    };
    let different = found(&Diff::new(), create("a", i64::MAX), create("b", i64::MAX - 1));
    assert_eq!(values(&different).first[0].right, (i64::MAX - 1).to_string());
}

#[test]
fn metadata_attributes_and_structure_are_compared() {
    let directory = tempfile::tempdir().unwrap();
    let place = |name: &str| directory.path().join(name);
    let make = |name: &str| {
        let root = zarrox::create_group(place(name)).unwrap();
        let array = root.create_array("t").shape([3]).data_type(DataType::Int16).dimension_names(["x"]);
        array.attributes(json!({"units": "m"}).as_object().cloned().unwrap()).create().unwrap();
        root.create_group("g").unwrap();
        root
    };
    let (mut left, right) = (make("a"), make("b"));
    assert!(zarrox_tools::diff(&left.clone().into(), &right.clone().into()).unwrap().is_empty());
    // Different formats and codecs are not a difference.
    Copier::new().format(Format::V2).plan(place("a"), place("c")).unwrap().run().unwrap();
    let old = zarrox::open(place("c")).unwrap();
    assert!(zarrox_tools::diff(&left.clone().into(), &old).unwrap().is_empty());
    left.update_attributes(|map| drop(map.insert("n".to_owned(), json!(1)))).unwrap();
    left.create_array("only").shape([1]).data_type(DataType::Int8).create().unwrap();
    right.delete("g").unwrap();
    right.create_array("g").shape([1]).data_type(DataType::Int8).create().unwrap();
    right.delete("t").unwrap();
    let other = right.create_array("t").shape([4]).data_type(DataType::Int32).fill_value(5);
    other.create().unwrap();
    let all: Vec<String> = found(&Diff::new(), left, right).iter().map(ToString::to_string).collect();
    assert_eq!(
        all,
        [
            "/: attribute \"n\": 1 and none",
            "/g: a group on the left side, and an array on the right",
            "/only: only on the left side",
            "/t: attribute \"units\": \"m\" and none",
            "/t: dimension names: [\"x\"] and null",
            "/t: data type: int16 and int32",
            "/t: shape: [3] and [4]",
        ]
    );
}

#[test]
fn numbers_of_other_types_and_text_are_compared() {
    let directory = tempfile::tempdir().unwrap();
    let place = |name: &str| directory.path().join(name);
    let create = |name: &str, data_type| {
        zarrox::create_array(place(name)).shape([3]).data_type(data_type).create().unwrap()
    };
    let (small, large) = (create("f4", DataType::Float32), create("f8", DataType::Float64));
    small.write(.., arr1(&[0.1_f32, 2.0, 3.0])).unwrap();
    large.write(.., arr1(&[0.1_f64, 2.0, 4.0])).unwrap();
    let all = found(&Diff::new().rtol(1e-6), small, large);
    assert!(matches!(all[0].kind, DifferenceKind::DataType { .. }));
    assert_eq!(values(&all[1..]).first[0].index, [2]);
    let text = || zarrox::codecs::registry().data_type_from_v3(&json!("string")).unwrap();
    let (left, right) = (create("t", text()), create("u", text()));
    left.write(.., arr1(&["a", "b", ""].map(str::to_owned))).unwrap();
    right.write(.., arr1(&["a", "c", ""].map(str::to_owned))).unwrap();
    let different = values(&found(&Diff::new(), left, right));
    assert_eq!((different.count, different.first[0].index.as_slice()), (1, &[1][..]));
    assert_eq!(different.first[0].left, "'b'");
}

#[test]
fn equal_bytes_are_not_decoded() {
    let directory = tempfile::tempdir().unwrap();
    let place = |name: &str| directory.path().join(name);
    let (left, right) = (floats(place("a"), [25, 60]), floats(place("b"), [25, 60]));
    for array in [&left, &right] {
        array.write(.., 2.5_f32).unwrap();
        array.raw().write(&[0, 0], b"no chunk, and the same on both sides").unwrap();
    }
    right.write(s![30, 3], 3.0_f32).unwrap();
    let different = values(&found(&Diff::new().stored(true), left.clone(), right.clone()));
    assert_eq!((different.count, different.first[0].index.as_slice()), (1, &[30, 3][..]));
    let error = zarrox_tools::diff(&left.into(), &right.into()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
}
