//! Statistics along axes, compared with plain loops.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up should fail")]

use ndarray::{Array2, ArrayD, Axis, IxDyn, arr1, arr2};
use zarrox::ErrorKind;
use zarrox::{prelude::*, s};
use zarrox_tools::Statistics;
use zarrox_tools::stats::Measure;

const ALL: [Measure; 6] = Measure::ALL;

/// Returns the results of a loop along one axis after the other: count, NaN, min, max, mean, std.
fn naive(data: &ArrayD<f64>, axes: &[usize]) -> [ArrayD<f64>; 6] {
    let mut shape = data.shape().to_vec();
    axes.iter().for_each(|&axis| shape[axis] = 1);
    let mut lists = ArrayD::from_elem(IxDyn(&shape), Vec::new());
    for (index, &value) in data.indexed_iter() {
        let at: Vec<usize> =
            (0..shape.len()).map(|dim| if axes.contains(&dim) { 0 } else { index[dim] }).collect();
        lists[IxDyn(&at)].push(value);
    }
    let mut sorted = axes.to_vec();
    sorted.sort_unstable();
    let lists = sorted.iter().rev().fold(lists, |lists, &axis| lists.remove_axis(Axis(axis)));
    let of = |number: &dyn Fn(&[f64], usize) -> f64| {
        lists.map(|all| {
            let numbers: Vec<f64> = all.iter().copied().filter(|x| !x.is_nan()).collect();
            number(&numbers, all.len())
        })
    };
    let mean = |x: &[f64]| x.iter().sum::<f64>() / x.len() as f64;
    let or_nan = |x: &[f64], value: f64| if x.is_empty() { f64::NAN } else { value };
    [
        of(&|x, _| x.len() as f64),
        of(&|x, all| (all - x.len()) as f64),
        of(&|x, _| or_nan(x, x.iter().copied().fold(f64::INFINITY, f64::min))),
        of(&|x, _| or_nan(x, x.iter().copied().fold(f64::NEG_INFINITY, f64::max))),
        of(&|x, _| mean(x)),
        of(&|x, _| (x.iter().map(|a| (a - mean(x)).powi(2)).sum::<f64>() / x.len() as f64).sqrt()),
    ]
}

fn numbers(values: &DynArray) -> ArrayD<f64> {
    let registry = zarrox::codecs::registry();
    let cast = values.cast(&DataType::Float64, zarrox::data_type::Casting::Lossy, &registry).unwrap();
    cast.to().unwrap()
}

fn assert_same(found: &[DynArray], expected: &[ArrayD<f64>; 6], says: &str) {
    for ((found, expected), measure) in found.iter().zip(expected).zip(ALL) {
        let found = numbers(found);
        assert_eq!(found.shape(), expected.shape(), "{says} {measure}");
        for (a, b) in found.iter().zip(expected) {
            let same = (a.is_nan() && b.is_nan()) || (a - b).abs() <= 1e-9 * b.abs().max(1.0);
            assert!(same, "{says} {measure}: {a} {b}");
        }
    }
}

#[test]
fn every_axis_and_every_pair_is_what_a_loop_finds() {
    let directory = tempfile::tempdir().unwrap();
    let shape = [23, 17, 31];
    let data = ArrayD::from_shape_fn(IxDyn(&shape), |at| match (at[0] * 527 + at[1] * 31 + at[2]) % 11 {
        3 => f32::NAN,
        n => n as f32 * 1.25 + (at[1] * at[2]) as f32 - 7.0,
    });
    let wide = data.mapv(f64::from);
    for (name, chunks, shards) in
        [("a", [5, 4, 6], None), ("b", [5, 4, 6], Some([10, 8, 12])), ("c", [23, 17, 31], None)]
    {
        let builder = zarrox::create_array(directory.path().join(name)).shape(shape.map(|n| n as u64));
        let builder = builder.data_type(DataType::Float32).chunks(chunks);
        let builder = shards.into_iter().fold(builder, |builder, shards| builder.shards(shards));
        let array = builder.create().unwrap();
        array.write(.., &data).unwrap();
        for memory in [1, 1 << 14, 1 << 30] {
            for axes in [&[0][..], &[1], &[2], &[0, 1], &[2, 0], &[1, 2], &[0, 1, 2]] {
                let found = Statistics::new().memory(memory).along(&array, axes, &ALL).unwrap();
                assert_same(&found, &naive(&wide, axes), &format!("{name} {memory} {axes:?}"));
            }
        }
        let part = Statistics::new().select(s![3..20;2, 4, ..]);
        let expected = wide.slice(ndarray::s![3..20;2, 4, ..]).to_owned().into_dyn();
        for axes in [&[0][..], &[1], &[0, 1]] {
            assert_same(
                &part.along(&array, axes, &ALL).unwrap(),
                &naive(&expected, axes),
                &format!("part {axes:?}"),
            );
        }
    }
}

#[test]
fn integers_keep_all_digits_and_missing_chunks_are_fill_values() {
    let directory = tempfile::tempdir().unwrap();
    let array = zarrox::create_array(directory.path().join("a")).shape([4, 6]).data_type(DataType::UInt64);
    let array = array.chunks([2, 3]).fill_value(9_u64).create().unwrap();
    array.write(s![..2, ..3], arr2(&[[u64::MAX, 1, 2], [u64::MAX - 1, 5, 6]])).unwrap();
    let found = Statistics::new().along(&array, &[0], &[Measure::Min, Measure::Max, Measure::Mean]).unwrap();
    assert_eq!(found[0].to::<ArrayD<u64>>().unwrap(), arr1(&[9, 1, 2, 9, 9, 9]).into_dyn());
    assert_eq!(found[1].to::<ArrayD<u64>>().unwrap(), arr1(&[u64::MAX, 9, 9, 9, 9, 9]).into_dyn());
    assert_eq!(found[2].to::<ArrayD<f64>>().unwrap()[1], 6.0);

    let far = zarrox::create_array(directory.path().join("b")).shape([1 << 40, 2]).data_type(DataType::Int8);
    let far = far.chunks([1 << 10, 1]).fill_value(-3_i8).create().unwrap();
    far.write(s![5000..5002, 1], 4_i8).unwrap();
    let found = Statistics::new().along(&far, &[0], &ALL).unwrap();
    assert_eq!(found[0].to::<ArrayD<u64>>().unwrap(), arr1(&[1 << 40, 1 << 40]).into_dyn());
    assert_eq!(found[3].to::<ArrayD<i8>>().unwrap(), arr1(&[-3, 4]).into_dyn());
}

#[test]
fn infinite_and_narrow_numbers() {
    let directory = tempfile::tempdir().unwrap();
    let array = zarrox::create_array(directory.path().join("a")).shape([3, 2]).data_type(DataType::Float64);
    let array = array.create().unwrap();
    array.write(.., arr2(&[[f64::INFINITY, f64::NAN], [1.0, f64::NAN], [2.0, f64::NAN]])).unwrap();
    let found = Statistics::new().along(&array, &[0], &[Measure::Mean, Measure::Max, Measure::Nan]).unwrap();
    let mean = found[0].to::<ArrayD<f64>>().unwrap();
    assert!(mean[0] == f64::INFINITY && mean[1].is_nan());
    assert!(found[1].to::<ArrayD<f64>>().unwrap()[1].is_nan());
    assert_eq!(found[2].to::<ArrayD<u64>>().unwrap(), arr1(&[0, 3]).into_dyn());

    let half = zarrox::create_array(directory.path().join("b")).shape([2, 2]).data_type(DataType::Float16);
    let half = half.create().unwrap();
    let values = DynArray::from_values(DataType::Float64, arr2(&[[0.5, 1.0], [2.5, -1.0]])).unwrap();
    let registry = zarrox::codecs::registry();
    half.write(.., values.cast(&DataType::Float16, zarrox::data_type::Casting::Exact, &registry).unwrap())
        .unwrap();
    let found = Statistics::new().along(&half, &[1], &[Measure::Max, Measure::Mean]).unwrap();
    assert_eq!(*found[0].data_type(), DataType::Float16);
    assert_eq!(numbers(&found[0]), arr1(&[1.0, 2.5]).into_dyn());
    assert_eq!(numbers(&found[1]), arr1(&[0.75, 0.75]).into_dyn());
}

#[test]
fn nothing_has_no_extremes() {
    let directory = tempfile::tempdir().unwrap();
    let empty = |name: &str, data_type| {
        let array = zarrox::create_array(directory.path().join(name)).shape([0, 3]).data_type(data_type);
        array.create().unwrap()
    };
    let (whole, float) = (empty("a", DataType::Int32), empty("b", DataType::Float32));
    let found = Statistics::new().along(&whole, &[0], &[Measure::Count, Measure::Mean]).unwrap();
    assert_eq!(numbers(&found[0]), arr1(&[0.0, 0.0, 0.0]).into_dyn());
    assert!(numbers(&found[1]).iter().all(|mean| mean.is_nan()));
    let kind = |axes: &[usize], measures: &[Measure]| {
        Statistics::new().along(&whole, axes, measures).unwrap_err().kind()
    };
    assert_eq!(kind(&[0], &[Measure::Min]), ErrorKind::InvalidArgument);
    assert!(
        numbers(&Statistics::new().along(&float, &[0], &[Measure::Min]).unwrap()[0])
            .iter()
            .all(|x| x.is_nan())
    );
    assert_eq!(Statistics::new().along(&whole, &[1], &[Measure::Max]).unwrap()[0].shape(), [0]);
    for axes in [&[][..], &[2], &[0, 0]] {
        assert_eq!(kind(axes, &[Measure::Count]), ErrorKind::InvalidArgument);
    }
    let text = zarrox::create_array(directory.path().join("c"))
        .shape([2])
        .data_type(DataType::Complex64)
        .create()
        .unwrap();
    assert_eq!(Statistics::new().along(&text, &[0], &ALL).unwrap_err().kind(), ErrorKind::Unsupported);
    let percentiles = Statistics::new().percentiles([50.0]).along(&float, &[0], &ALL);
    assert_eq!(percentiles.unwrap_err().kind(), ErrorKind::InvalidArgument);
}

#[test]
fn results_go_into_arrays_of_any_chunks() {
    let directory = tempfile::tempdir().unwrap();
    let data = Array2::from_shape_fn((40, 50), |(y, x)| i16::try_from(y * 50 + x).unwrap());
    let array = zarrox::create_array(directory.path().join("a")).shape([40, 50]).data_type(DataType::Int16);
    let array = array.chunks([7, 9]).create().unwrap();
    array.write(.., &data).unwrap();
    let output = zarrox::create_array(directory.path().join("b")).shape([50]).data_type(DataType::Float64);
    let output = output.chunks([4]).shards([16]).create().unwrap();
    Statistics::new().memory(3000).along_into(&array, &[0], &[(Measure::Mean, &output)]).unwrap();
    assert_eq!(
        output.read::<ArrayD<f64>>(..).unwrap(),
        data.mapv(f64::from).mean_axis(Axis(0)).unwrap().into_dyn()
    );
    let wrong = Statistics::new().along_into(&array, &[1], &[(Measure::Mean, &output)]);
    assert_eq!(wrong.unwrap_err().kind(), ErrorKind::InvalidArgument);
    let wrong = Statistics::new().along_into(&array, &[0], &[(Measure::Max, &output)]);
    assert_eq!(wrong.unwrap_err().kind(), ErrorKind::DataTypeMismatch);
}
