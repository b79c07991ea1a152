//! A few points in a grid of 1.4e11 chunks: no chunk that is not selected may be listed, counted or allocated. (zarr-python's
//! issues 4174 and 3702: 1 TiB and 20 GB of memory.)

use zarrox::{prelude::*, s};

use crate::Scale;
use crate::data::{PLACES, Place};
use crate::report::Report;
use crate::values::Random;

const COUNT: i64 = 140_000_000_000;
const POINTS: usize = 10;

/// The limits of each access.
const MILLISECONDS: f64 = 10.0;
const MEMORY: usize = 10_000_000;

pub(crate) fn run(report: &mut Report, _: Scale) {
    for place in PLACES {
        line(report, place);
        square(report, place);
        growth(report, place);
    }
}

fn bounded<A>(report: &mut Report, case: &str, mut work: impl FnMut() -> A) {
    report.time(case, MILLISECONDS, &mut work);
    report.memory(&format!("{case}: memory"), MEMORY, &mut work);
}

fn line(report: &mut Report, place: Place) {
    let (builder, _directory) = place.array();
    let builder = builder.shape([COUNT.unsigned_abs()]).chunks([1]).data_type(DataType::Float64);
    let array = builder.no_compressor().create().unwrap();
    let points = Random(1).many_below(POINTS, COUNT);
    let values = ndarray::Array1::from_iter((0..10).map(f64::from));
    let name = |what: &str| format!("10 points of 1.4e11 chunks, {what}, {}", place.name());
    array.vindex(&points).write(&values).unwrap();
    assert_eq!(array.vindex(&points).read::<Array1<f64>>().unwrap(), values);
    bounded(report, &name("vindex"), || array.vindex(&points).read::<ArrayD<f64>>().unwrap());
    bounded(report, &name("oindex"), || array.oindex(&points).read::<ArrayD<f64>>().unwrap());
    bounded(report, &name("slice"), || array.read::<ArrayD<f64>>(s![5..;COUNT / 10]).unwrap());
    bounded(report, &name("overwritten by vindex"), || array.vindex(&points).write(&values).unwrap());
    // The points are different each time, since a file system may take much longer to replace a file than to create one.
    let mut random = Random(3);
    bounded(report, &name("written by vindex"), || {
        array.vindex(random.many_below(POINTS, COUNT)).write(&values).unwrap();
    });
    bounded(report, &name("written by oindex"), || {
        array.oindex(random.many_below(POINTS, COUNT)).write(&values).unwrap();
    });
}

fn square(report: &mut Report, place: Place) {
    let side = 374_166_i64;
    let (builder, _directory) = place.array();
    let builder = builder.shape([side.unsigned_abs(); 2]).chunks([1, 1]).data_type(DataType::UInt8);
    let array = builder.create().unwrap();
    let mut random = Random(2);
    let (rows, columns) = (random.many_below(POINTS, side), random.many_below(POINTS, side));
    let ones = ndarray::Array1::<u8>::ones(POINTS);
    let name = |what: &str| format!("10 points of 374,166² chunks, {what}, {}", place.name());
    bounded(report, &name("written by vindex"), || {
        let mut points = || random.many_below(POINTS, side);
        array.vindex((points(), points())).write(&ones).unwrap();
    });
    bounded(report, &name("vindex"), || array.vindex((&rows, &columns)).read::<ArrayD<u8>>().unwrap());
    bounded(report, &name("oindex"), || {
        array.oindex((&rows[..3], &columns[..3])).read::<ArrayD<u8>>().unwrap()
    });
}

fn growth(report: &mut Report, place: Place) {
    let (builder, _directory) = place.array();
    let builder = builder.shape([COUNT.unsigned_abs()]).chunks([1]).data_type(DataType::UInt8);
    let mut array = builder.create().unwrap();
    let points = Random(1).many_below(POINTS, COUNT);
    let ones = ndarray::Array1::<u8>::ones(POINTS);
    let name = |what: &str| format!("1.4e11 chunks, {what}, {}", place.name());
    array.vindex(&points).write(&ones).unwrap();
    bounded(report, &name("10 elements appended"), || array.append(&ones, 0).unwrap());
    bounded(report, &name("made longer by as many"), || {
        let length = array.shape()[0] + COUNT.unsigned_abs();
        array.resize([length]).unwrap();
    });
    bounded(report, &name("made longer, then 10 points"), || {
        array.vindex(&points).read::<ArrayD<u8>>().unwrap()
    });
}
