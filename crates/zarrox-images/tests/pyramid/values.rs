//! Values of levels, compared with plain loops.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use ndarray::{ArrayD, IxDyn};
use proptest::prelude::*;
use zarrox::{ErrorKind, FillValue, OpenOptions};
use zarrox::{prelude::*, s};
use zarrox_images::pyramid::{Downsample, Reduction};

use super::naive::{Plain, reduced};

/// A generator of pseudorandom numbers (SplitMix64).
pub(super) struct Numbers(pub(super) u64);

impl Numbers {
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

/// An image, and the options for its levels.
#[derive(Debug, Clone)]
struct Case {
    shape: Vec<u64>,
    chunks: Vec<u64>,
    factors: Vec<u64>,
    method: Reduction,
    skip_nan: bool,
    memory: usize,
    threads: usize,
    seed: u64,
    into: bool,
}

fn run<T: Plain + Element>(case: &Case, element: impl Fn(u64) -> T) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("image.zarr");
    let shape: Vec<usize> = case.shape.iter().map(|&length| usize::try_from(length).unwrap()).collect();
    let mut numbers = Numbers(case.seed);
    let mut values = ArrayD::from_shape_simple_fn(IxDyn(&shape), || element(numbers.next()));
    let array = zarrox::create_array(path.join("0")).shape(case.shape.clone()).data_type(T::data_type());
    let array = array.chunks(case.chunks.clone()).create().unwrap();
    array.write(.., &values).unwrap();
    let options = OpenOptions::new().threads(case.threads);
    let maker = Downsample::new().open_options(options).method(case.method).factors(case.factors.clone());
    let maker =
        maker.memory(case.memory).skip_nan(case.skip_nan).form(zarrox_images::ome::Multiscales::Convention);
    let (levels, place) = match case.into {
        true => (maker.run_into(path.join("0"), directory.path().join("other.zarr")), "other.zarr"),
        false => (maker.run(path.join("0")), "image.zarr"),
    };
    let levels = levels.unwrap();
    let group = zarrox::open_group(directory.path().join(place)).unwrap();
    let read = |path: &str| group.open(path).unwrap().into_array().unwrap().read::<ArrayD<T>>(..).unwrap();
    assert_eq!(text(&read("0")), text(&values), "{case:?}");
    for (index, level) in levels.iter().enumerate().skip(1) {
        let factors: Vec<usize> =
            case.factors.iter().map(|&factor| usize::try_from(factor).unwrap()).collect();
        values = reduced(&values, &factors, case.method, case.skip_nan);
        assert_eq!(text(&read(&level.path)), text(&values), "level {index} of {case:?}");
    }
}

/// Returns the elements as text, in which NaN equals itself, and zeros differ by their signs.
fn text<T: Plain>(values: &ArrayD<T>) -> (Vec<usize>, Vec<String>) {
    (values.shape().to_vec(), values.iter().map(|value| format!("{value:?}")).collect())
}

#[expect(clippy::cast_possible_truncation, clippy::cast_possible_wrap, reason = "any bits are elements")]
fn run_type(case: &Case, kind: usize) {
    match kind {
        0 => run(case, |bits| bits as u8),
        1 => run(case, |bits| bits as i16),
        // Few different values, like labels.
        2 => run(case, |bits| (bits % 3) as u32),
        3 => run(case, |bits| bits as i64),
        4 => run(case, |bits| bits),
        5 => run(case, |bits| bits % 2 == 1),
        6 => run(case, |bits| if bits % 7 == 0 { f32::NAN } else { (bits % 1000) as f32 / 7.0 - 60.0 }),
        _ => run(case, |bits| if bits % 11 == 0 { f64::NAN } else { (bits % 100_000) as f64 / 7.0 - 6000.0 }),
    }
}

fn case() -> impl Strategy<Value = (Case, usize)> {
    let dim = (1..40_u64, 1..12_u64, 1..4_u64);
    let dims = prop::collection::vec(dim, 1..4);
    let method = prop::sample::select(Reduction::ALL.to_vec());
    let memory = prop::sample::select(vec![0_usize, 2000, 20_000, 1 << 28]);
    (dims, method, any::<bool>(), memory, 1..4_usize, any::<u64>(), any::<bool>(), 0..8_usize).prop_map(
        |(dims, method, skip_nan, memory, threads, seed, into, kind)| {
            let mut factors: Vec<u64> = dims.iter().map(|dim| dim.2).collect();
            if factors.iter().all(|factor| *factor == 1) {
                factors[0] = 2;
            }
            let (shape, chunks) = dims.iter().map(|dim| (dim.0, dim.1)).unzip();
            (Case { shape, chunks, factors, method, skip_nan, memory, threads, seed, into }, kind)
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(120))]

    #[test]
    fn levels_agree_with_plain_loops((case, kind) in case()) {
        run_type(&case, kind);
    }
}

#[test]
fn each_method_and_type_agrees_with_plain_loops() {
    for method in Reduction::ALL {
        for kind in 0..8 {
            for (shape, chunks, factors) in [
                (vec![65, 130], vec![16, 16], vec![2, 2]),
                (vec![3, 37, 50], vec![1, 10, 16], vec![1, 3, 2]),
                (vec![9, 9, 9], vec![4, 4, 4], vec![2, 2, 4]),
            ] {
                // Only floats can be NaN.
                for skip_nan in [false, true].into_iter().take(if kind < 6 { 1 } else { 2 }) {
                    let (memory, threads, seed, into) = (1 << 28, 2, 7, false);
                    let (shape, chunks, factors) = (shape.clone(), chunks.clone(), factors.clone());
                    let case = Case { shape, chunks, factors, method, skip_nan, memory, threads, seed, into };
                    run_type(&case, kind);
                }
            }
        }
    }
}

#[test]
fn complex_elements_have_means_but_no_order() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("image.zarr");
    let array =
        zarrox::create_array(path.join("0")).shape([2, 4]).data_type(DataType::Complex64).create().unwrap();
    let values =
        ndarray::Array2::from_shape_fn((2, 4), |(y, x)| num_complex::Complex::new(y as f32, x as f32));
    array.write(.., &values).unwrap();
    let error = Downsample::new().method(Reduction::Max).run(path.join("0")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
    Downsample::new().levels(1).run(path.join("0")).unwrap();
    let made =
        zarrox::open_array(path.join("1")).unwrap().read::<ArrayD<num_complex::Complex<f32>>>(..).unwrap();
    assert_eq!(
        made.as_slice().unwrap(),
        [num_complex::Complex::new(0.5, 0.5), num_complex::Complex::new(0.5, 2.5)]
    );
}

#[test]
fn structures_have_no_levels() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("image.zarr");
    let pair = DataType::structure([("a", DataType::Int8), ("b", DataType::Int8)]).unwrap();
    let array = zarrox::create_array(path.join("0")).shape([8, 8]).data_type(pair).chunks([2, 2]);
    array.create().unwrap();
    let error = Downsample::new().method(Reduction::Nearest).run(path.join("0")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
    assert!(!path.join("1").exists());
}

/// Most chunks of the image are missing, and so are most chunks of its levels.
#[test]
fn missing_chunks_stay_missing() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("image.zarr");
    let array = zarrox::create_array(path.join("0")).shape([4096, 4096]).data_type(DataType::UInt16);
    let array = array.chunks([64, 64]).fill_value(9_u16).create().unwrap();
    array.write(s![70..80, 1000], ndarray::arr0(1009_u16)).unwrap();
    Downsample::new().run(path.join("0")).unwrap();
    for level in 1..=6 {
        let made = zarrox::open_array(path.join(level.to_string())).unwrap();
        assert_eq!(made.fill_bytes(), FillValue::new(9_u16.to_ne_bytes()));
        let stored = made.info().unwrap().chunks_stored;
        assert!(stored <= 1, "{stored} chunks of level {level}");
    }
    let first = zarrox::open_array(path.join("1")).unwrap();
    assert_eq!(
        first.read::<ArrayD<u16>>(s![34..41, 500]).unwrap().as_slice().unwrap(),
        [9, 509, 509, 509, 509, 509, 9]
    );
}

#[test]
fn shards_are_written_whole() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("image.zarr");
    let values = ndarray::Array2::from_shape_fn((300, 500), |(y, x)| u16::try_from(y * x % 60_000).unwrap());
    let array = zarrox::create_array(path.join("0")).shape([300, 500]).data_type(DataType::UInt16);
    let array = array.chunks([16, 16]).shards([64, 128]).create().unwrap();
    array.write(.., &values).unwrap();
    let maker = || Downsample::new().axes(["y".parse().unwrap(), "x".parse().unwrap()]);
    let levels = maker().run(path.join("0")).unwrap();
    assert_eq!(levels[1].chunks, [64, 128]);
    let mut expected = values.into_dyn();
    for level in &levels[1..] {
        expected = reduced(&expected, &[2, 2], Reduction::Mean, false);
        let made = zarrox::open_array(path.join(&level.path)).unwrap();
        assert_eq!(made.shard_shape(), Some(&[64, 128][..]));
        assert_eq!(made.read::<ArrayD<u16>>(..).unwrap(), expected);
    }
    // The pyramid is created at another destination, with other chunks and without shards.
    let other = directory.path().join("other.zarr");
    let levels = maker().no_shards().chunks([100, 30]).run_into(path.join("0"), &other).unwrap();
    assert_eq!(levels[0].chunks, [100, 30]);
    assert_eq!(zarrox::open_array(other.join("1")).unwrap().read::<ArrayD<u16>>(..).unwrap(), {
        zarrox::open_array(path.join("1")).unwrap().read::<ArrayD<u16>>(..).unwrap()
    });
}
