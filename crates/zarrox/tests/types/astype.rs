//! Reads as another data type.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail by panicking")]

use std::sync::Arc;

use ndarray::{Array1, Array2, ArrayD, Dimension, IxDyn, ShapeBuilder, arr1};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use zarrox::data_type::{Casting, Endian};
use zarrox::internals::data_type::ByteOrder;
use zarrox::stores::MemoryStore;
use zarrox::{AccessOptions, ErrorKind, OpenOptions};
use zarrox::{prelude::*, s};
use zarrox_testkit::errors::assert_error;

/// The length of an array, the length of its chunks, and the number of chunks in a shard.
type Lengths = (usize, usize, usize);

fn named(name: &str) -> DataType {
    DataType::parse(name, &zarrox::codecs::registry()).unwrap()
}

fn create(shape: &[usize], chunks: &[usize], data_type: DataType) -> zarrox::ArrayBuilder {
    let lengths = |shape: &[usize]| shape.iter().map(|&n| n as u64).collect::<Vec<_>>();
    let array = OpenOptions::new().create_array((Arc::new(MemoryStore::new()), "a"));
    array.shape(lengths(shape)).chunks(lengths(chunks)).data_type(data_type)
}

fn bytes(hex: &str) -> Vec<u8> {
    hex.as_bytes()
        .chunks(2)
        .map(|digits| u8::from_str_radix(str::from_utf8(digits).unwrap(), 16).unwrap())
        .collect()
}

#[test]
fn elements_are_cast_like_numpys() {
    let casts = include_str!("astype/casts.txt");
    assert_eq!(casts.lines().count(), 63);
    for line in casts.lines() {
        let [from, to, before, after] = line.split(' ').collect::<Vec<_>>().try_into().unwrap();
        let [stored, wanted] = [(from, before), (to, after)].map(|(name, hex)| {
            let (data_type, bytes, order) = (named(name), bytes(hex), ByteOrder::One(Endian::Little));
            let shape = vec![bytes.len() / data_type.size()];
            DynArray::from_foreign(data_type, shape, bytes, &order, zarrox::Order::RowMajor).unwrap()
        });
        let array = create(stored.shape(), &[3], named(from)).create().unwrap();
        array.write(.., &stored).unwrap();
        let read = array.astype(&named(to)).read::<DynArray>().unwrap();
        assert_eq!(read, wanted, "{from} to {to}");
        // Selections by lists take another code path.
        let last = stored.shape()[0] - 1;
        let some = array.astype(&named(to)).oindex([last, 0, last]).read::<DynArray>().unwrap();
        let wanted: Vec<&[u8]> = wanted.elements().collect();
        assert!(some.elements().eq([wanted[last], wanted[0], wanted[last]]), "{from} to {to}");
    }
}

#[test]
fn reading_as_another_type_is_reading_and_casting() {
    let registry = zarrox::codecs::registry();
    let dimensions = prop::collection::vec((1_usize..40, 1_usize..9, 1_usize..4), 1..4);
    let type_of = || {
        prop::sample::select(vec![
            "float64",
            "int32",
            "bool",
            "uint8",
            "complex64",
            "float16",
            "int4",
            "bfloat16",
        ])
    };
    let choices =
        (dimensions, any::<bool>(), type_of(), type_of(), prop_oneof![Just(1_usize), Just(1 << 20)]);
    let mut runner = TestRunner::new(Config { failure_persistence: None, ..Config::with_cases(150) });
    let check = |(dimensions, sharded, from, to, memory): (Vec<Lengths>, bool, &str, &str, usize)| {
        let shape: Vec<usize> = dimensions.iter().map(|d| d.0).collect();
        let chunks: Vec<usize> = dimensions.iter().map(|d| d.1).collect();
        let array = create(&shape, &chunks, named(from));
        let shards: Vec<u64> = dimensions.iter().map(|d| (d.1 * d.2) as u64).collect();
        let array = if sharded { array.shards(shards) } else { array }.create().unwrap();
        let mut place = 0_i16;
        let numbers = ArrayD::from_shape_simple_fn(IxDyn(&shape), || {
            place = place.wrapping_add(37);
            f64::from(place % 101) / 4.0
        });
        let numbers = DynArray::from_values(DataType::Float64, &numbers).unwrap();
        array.write(.., numbers.cast(&named(from), Casting::Lossy, &registry).unwrap()).unwrap();
        let array = array.with_options(&AccessOptions::new().memory(memory));
        let last = shape[0] - 1;
        let mask = ArrayD::from_shape_fn(IxDyn(&shape), |at| at.slice().iter().sum::<usize>() % 3 == 0);
        let views = [
            array.slice(..),
            array.slice(s![..;-2]),
            array.slice(s![last]),
            array.slice(s![..0]),
            array.slice(s![NewAxis, ..., ..;3]),
            array.oindex([last, 0, last / 2]),
            array.mask(&mask),
        ];
        for view in &views {
            let wanted =
                view.read::<DynArray>().unwrap().cast(&named(to), Casting::Lossy, &registry).unwrap();
            assert_eq!(view.astype(&named(to)).read::<DynArray>().unwrap(), wanted, "{from} to {to}");
        }
        // Selecting before or after the cast gives the same elements.
        let cast = array.astype(&named(to));
        assert_eq!(
            cast.slice(s![..;-2]).read::<DynArray>().unwrap(),
            views[1].astype(&named(to)).read::<DynArray>().unwrap()
        );
        assert_eq!(
            cast.mask(&mask).read::<DynArray>().unwrap(),
            views[6].astype(&named(to)).read::<DynArray>().unwrap()
        );
        assert_eq!(cast.vindex(NewAxis).shape().is_ok(), array.vindex(NewAxis).shape().is_ok());
        Ok(())
    };
    runner.run(&choices, check).unwrap();
}

#[test]
fn typed_and_into_memory_of_any_layout() {
    let array = create(&[500, 70], &[30, 40], DataType::Int32).create().unwrap();
    let numbers = Array2::from_shape_fn((500, 70), |(y, x)| i32::try_from(y * 70 + x).unwrap() - 1000);
    array.write(.., &numbers).unwrap();
    let halves = numbers.mapv(f64::from);
    let view = array.astype(&DataType::Float64);
    assert_eq!(view.read::<ArrayD<f64>>().unwrap(), halves.clone().into_dyn());
    assert_eq!(view.read::<Array2<f64>>().unwrap(), halves);
    let mut columns = Array2::<f64>::zeros((500, 70).f());
    view.read_into(&mut columns).unwrap();
    assert_eq!(columns, halves);
    let mut wide = Array2::<f64>::from_elem((1000, 140), 0.5);
    view.read_into(wide.slice_mut(ndarray::s![..;2, ..;-2])).unwrap();
    assert_eq!(wide.slice(ndarray::s![..;2, ..;-2]), halves);
    assert!(wide.slice(ndarray::s![1..;2, ..]).iter().all(|&n| n == 0.5), "the rest is left alone");
    let diagonal: Vec<usize> = (0..70).rev().collect();
    let points = view.vindex((diagonal.clone(), diagonal)).read::<Array1<f64>>().unwrap();
    assert_eq!(points, (0..70).rev().map(|n| halves[[n, n]]).collect::<Array1<_>>());

    assert_eq!(view.read::<ArrayD<f32>>().unwrap_err().kind(), ErrorKind::DataTypeMismatch);
    let error = view.read::<ArrayD<i32>>().unwrap_err().to_string();
    assert!(error.ends_with(": the elements are float64, not int32"), "{error}");
    assert_error(view.read::<Array1<f64>>(), ErrorKind::InvalidArgument, "the selection has 2 dimensions");
    assert_error(
        view.read_into(&mut Array1::<f64>::zeros(500)),
        ErrorKind::InvalidArgument,
        "the memory has [500]",
    );
    assert_eq!(view.slice(s![500]).read::<ArrayD<f64>>().unwrap_err().kind(), ErrorKind::InvalidSelection);
    assert_eq!((view.shape().unwrap(), view.data_type()), (vec![500, 70], &DataType::Float64));
    assert_eq!(
        array.astype(&DataType::Int32).read::<ArrayD<i32>>().unwrap(),
        view.view().read::<ArrayD<i32>>().unwrap()
    );
}

#[test]
fn other_types_than_numbers() {
    let text = create(&[3], &[2], named("string")).create().unwrap();
    text.write(.., arr1(&["a", "bc", "d"].map(String::from))).unwrap();
    let same = text.astype(&named("string")).read::<DynArray>().unwrap();
    assert_eq!(same.to::<ArrayD<String>>().unwrap(), arr1(&["a", "bc", "d"]).into_dyn());
    let error = text.astype(&DataType::Int8).read::<DynArray>().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.to_string().contains(": string cannot be cast to int8"), "{error}");

    let narrow = DataType::structure([("a", DataType::Int16), ("b", DataType::Float64)]).unwrap();
    let wide = DataType::structure([("a", DataType::Int64), ("b", DataType::Bool)]).unwrap();
    let points = create(&[5], &[2], narrow).create().unwrap();
    points.field("a").write(arr1(&[1_i16, -2, 3, -4, 5])).unwrap();
    points.field("b").slice(s![2..]).write(arr1(&[0.5, 0.0, 7.0])).unwrap();
    let read = points.astype(&wide).slice(s![..;-1]).read::<DynArray>().unwrap();
    assert_eq!(
        read.field("a").unwrap().to::<ArrayD<i64>>().unwrap(),
        arr1(&[5_i64, -4, 3, -2, 1]).into_dyn()
    );
    let truth = read.field("b").unwrap().to::<ArrayD<bool>>().unwrap();
    assert_eq!(truth, arr1(&[true, false, true, false, false]).into_dyn());

    // A type that cannot represent an element: the error names its position.
    let floats = create(&[4], &[2], DataType::Float32).create().unwrap();
    floats.write(.., arr1(&[1.0_f32, 2.0, 3.0, f32::NAN])).unwrap();
    let small = named("float4_e2m1fn");
    assert_eq!(floats.astype(&small).slice(s![..3]).read::<DynArray>().unwrap().shape(), [3]);
    let error = floats.astype(&small).read::<DynArray>().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    let wanted = ": the selected elements of chunk [1] (key 'a/c/1'): element [1]: nan of float32 cannot be represented as \
                  float4_e2m1fn";
    assert!(error.to_string().ends_with(wanted), "{error}");
}
