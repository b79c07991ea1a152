//! Statistics, compared with plain loops.

use ndarray::{Array2, arr1};
use zarrox::ErrorKind;
use zarrox::codecs::Zstd;
use zarrox::data_type::Number;
use zarrox::json::json;
use zarrox::{prelude::*, s};
use zarrox_testkit::errors::assert_error;
use zarrox_tools::Statistics;

#[test]
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "ranks and bins are small")]
fn statistics_are_those_of_a_loop() {
    let directory = tempfile::tempdir().unwrap();
    let data = Array2::from_shape_fn((300, 200), |(y, x)| match (y * 200 + x) % 97 {
        5 => f32::NAN,
        n => (n as f32 - 40.0) * 1.5 + y as f32,
    });
    let array =
        zarrox::create_array(directory.path().join("a")).shape([300, 200]).data_type(DataType::Float32);
    let array = array.chunks([32, 50]).shards([96, 100]).compressor(Zstd::level(1)).create().unwrap();
    array.write(.., &data).unwrap();
    let numbers: Vec<f64> = data.iter().filter(|x| !x.is_nan()).map(|&x| f64::from(x)).collect();
    let count = numbers.len() as f64;
    let mean = numbers.iter().sum::<f64>() / count;
    let std = (numbers.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / count).sqrt();
    let found = Statistics::new().histogram(7).percentiles([0.0, 25.0, 50.0, 100.0]).run(&array).unwrap();
    assert_eq!((found.count, found.nan), (60_000, 60_000 - numbers.len() as u64));
    let mut sorted = numbers.clone();
    sorted.sort_by(f64::total_cmp);
    assert_eq!(found.min, Some(Number::Float(sorted[0])));
    assert_eq!(found.max, Some(Number::Float(*sorted.last().unwrap())));
    assert!((found.mean.unwrap() - mean).abs() < 1e-9 && (found.std.unwrap() - std).abs() < 1e-9);
    for (percentile, value) in found.percentiles {
        let rank = percentile / 100.0 * (count - 1.0);
        let (lower, upper) = (sorted[rank.floor() as usize], sorted[rank.ceil() as usize]);
        let expected = lower + (upper - lower) * rank.fract();
        assert!((value - expected).abs() <= found.percentile_error, "{percentile}: {value} {expected}");
    }
    let histogram = found.histogram.unwrap();
    let (low, high) = (sorted[0], *sorted.last().unwrap());
    let bin = |x: &f64| (((x - low) / (high - low) * 7.0) as usize).min(6);
    let counts: Vec<u64> = (0..7).map(|n| numbers.iter().filter(|x| bin(x) == n).count() as u64).collect();
    assert_eq!(histogram.counts, counts);
    let part = Statistics::new().select(s![10..20;3, 7]).run(&array).unwrap();
    let slice = data.slice(ndarray::s![10..20;3, 7]);
    let numbers: Vec<f64> = slice.iter().filter(|x| !x.is_nan()).map(|&x| f64::from(x)).collect();
    assert_eq!(part.count, 4);
    assert!((part.mean.unwrap() - numbers.iter().sum::<f64>() / numbers.len() as f64).abs() < 1e-9);
}

#[test]
fn chunks_that_are_not_stored_count_as_fill_values() {
    let directory = tempfile::tempdir().unwrap();
    let array = zarrox::create_array(directory.path().join("a")).shape([1 << 40]).data_type(DataType::Int64);
    let array = array.chunks([1 << 10]).fill_value(-3_i64).create().unwrap();
    array.write(s![5000..5002], i64::MAX).unwrap();
    let found = Statistics::new().unique(5).percentiles([50.0]).run(&array).unwrap();
    assert_eq!((found.count, found.min), (1 << 40, Some(Number::Integer(-3))));
    assert_eq!(found.max, Some(Number::Integer(i64::MAX.into())));
    assert_eq!(found.unique, Some(vec![("-3".to_owned(), (1 << 40) - 2), (i64::MAX.to_string(), 2)]));
    assert_eq!(Statistics::new().unique(1).run(&array).unwrap().unique, None);
}

#[test]
fn numbers_that_mean_missing_are_counted_apart() {
    let directory = tempfile::tempdir().unwrap();
    let create = |name: &str, data_type: DataType| {
        zarrox::create_array(directory.path().join(name)).shape([6]).chunks([2]).data_type(data_type)
    };
    let whole = create("i8", DataType::Int64).fill_value(-9_i64).create().unwrap();
    whole.write(s![..4], arr1(&[3_i64, -9, i64::MAX - 1, 5])).unwrap();
    let found = Statistics::new().missing([-9.0, 0.5, 1e300]).histogram(1).percentiles([0.0]).unique(3);
    let found = found.run(&whole).unwrap();
    assert_eq!((found.count, found.missing, found.nan), (6, 3, 0));
    let most = Number::Integer(i128::from(i64::MAX - 1));
    assert_eq!((found.min, found.max), (Some(Number::Integer(3)), Some(most)));
    assert_eq!(found.histogram.unwrap().counts, [3]);
    assert_eq!(found.unique.unwrap().len(), 3);
    let float = create("f4", DataType::Float32).create().unwrap();
    float.write(.., arr1(&[1e20_f32, 2.0, f32::NAN, 4.0, 1e20, f32::INFINITY])).unwrap();
    let found = Statistics::new().missing([1e20, 1e300]).select(s![..5]).run(&float).unwrap();
    assert_eq!((found.count, found.missing, found.nan, found.mean), (5, 2, 1, Some(3.0)));
    assert_eq!(Statistics::new().missing([1e300]).run(&float).unwrap().missing, 0);
    let half = create("f2", DataType::Float16).create().unwrap();
    let found = Statistics::new().missing([0.0]).run(&half).unwrap();
    assert_eq!((found.count, found.missing, found.min), (6, 6, None));
    let along = Statistics::new().missing([0.0]).along(&half, &[0], &[zarrox_tools::stats::Measure::Mean]);
    assert_eq!(along.unwrap_err().kind(), ErrorKind::InvalidArgument);
}

#[test]
fn other_numbers_fields_and_types_without_numbers() {
    let directory = tempfile::tempdir().unwrap();
    let create = |name: &str, data_type: DataType| {
        zarrox::create_array(directory.path().join(name)).shape([4]).data_type(data_type).create().unwrap()
    };
    let half = create("f2", DataType::Float16);
    let values = [1.0, 2.0, -0.5, f32::NAN].map(half::f16::from_f32);
    half.write(.., arr1(&values)).unwrap();
    let found = zarrox_tools::stats(&half).unwrap();
    assert_eq!((found.nan, found.min, found.max), (1, Some(Number::Float(-0.5)), Some(Number::Float(2.0))));
    let bools = create("bool", DataType::Bool);
    bools.write(s![..3], true).unwrap();
    assert_eq!(zarrox_tools::stats(&bools).unwrap().mean, Some(0.75));
    let small = create("u1", DataType::UInt8);
    small.write(.., arr1(&[1_u8, 2, 3, 250])).unwrap();
    let found = Statistics::new().percentiles([50.0, 100.0]).run(&small).unwrap();
    assert_eq!((found.percentiles, found.percentile_error), (vec![(50.0, 2.5), (100.0, 250.0)], 0.0));
    let structure = DataType::structure([("a", DataType::Int16), ("b", DataType::Float64)]).unwrap();
    let records = create("s", structure);
    records.field("b").write(arr1(&[1.0, 2.0, 3.0, 4.0])).unwrap();
    assert_eq!(Statistics::new().field("b").run(&records).unwrap().mean, Some(2.5));
    assert_eq!(zarrox_tools::stats(&records).unwrap_err().kind(), ErrorKind::Unsupported);
    let text = zarrox::codecs::registry().data_type_from_v3(&json!("string")).unwrap();
    let error = zarrox_tools::stats(&create("text", text)).unwrap_err();
    assert!(error.to_string().contains("not real numbers"), "{error}");
    assert_eq!(
        zarrox_tools::stats(&create("c", DataType::Complex64)).unwrap_err().kind(),
        ErrorKind::Unsupported
    );
    assert_error(
        Statistics::new().percentiles([101.0]).run(&small),
        ErrorKind::InvalidArgument,
        "the percentile 101 is not between",
    );
    assert_error(
        Statistics::new().histogram(3).range(1.0, 1.0).run(&small),
        ErrorKind::InvalidArgument,
        "not a valid range",
    );
    let empty = zarrox::create_array(directory.path().join("e")).shape([0, 3]).data_type(DataType::Int8);
    let found = zarrox_tools::stats(&empty.create().unwrap()).unwrap();
    assert_eq!((found.count, found.min, found.mean), (0, None, None));
}
