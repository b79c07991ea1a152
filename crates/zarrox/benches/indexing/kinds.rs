//! Masks, blocks and mixed selections, compared with other accesses to the same elements.

use ndarray::{Array2, ArrayD};
use zarrox::codecs::Blosc;
use zarrox::{AccessOptions, IndexArray, Mask};
use zarrox::{Array, prelude::*, s};

use crate::Scale;
use crate::data::{in_memory, with_new_threads};
use crate::report::Report;
use crate::values::{Random, measured};

pub(crate) fn run(report: &mut Report, scale: Scale) {
    let side = if scale == Scale::Small { 1024 } else { 4096 };
    let array = in_memory().shape([side, side]).chunks([256, 256]).data_type(DataType::UInt16);
    let array = array.compressor(Blosc::lz4()).create().unwrap();
    let length = usize::try_from(side).unwrap();
    let values = measured(&[length, length], |n| n);
    array.write(.., &values).unwrap();
    masks(report, &array, &values);
    let blocks = || array.blocks(s![1..4, 0..3]).read::<ArrayD<u16>>().unwrap();
    let slices = || array.read::<ArrayD<u16>>(s![256..1024, 0..768]).unwrap();
    assert!(blocks() == slices());
    report.ratio("`blocks[1:4, 0:3]` of 256²", "slices", 1.05, blocks, slices);
    let mixed = || array.read::<ArrayD<u16>>(s![[0, 2, 5], 100..200]).unwrap();
    let orthogonal = || array.oindex(([0, 2, 5], 100..200)).read::<ArrayD<u16>>().unwrap();
    assert!(mixed() == orthogonal());
    report.ratio("`z[[0, 2, 5], 100:200]`", "`z.oindex`", 1.05, mixed, orthogonal);
    let box_around = || array.read::<ArrayD<u16>>(s![..6, 100..200]).unwrap();
    report.ratio("`z[[0, 2, 5], 100:200]`", "`z[:6, 100:200]`", 1.3, mixed, box_around);
    lists_written(report, &array, &values);
}

fn masks(report: &mut Report, array: &Array, values: &ArrayD<u16>) {
    let mut random = Random(8);
    let truth =
        Array2::from_shape_simple_fn((values.shape()[0], values.shape()[1]), || random.next() & 1 == 1);
    let mask = Mask::from(&truth);
    let read = || array.mask(mask.clone()).read::<ArrayD<u16>>().unwrap();
    let expected = values.iter().zip(&truth).filter(|(_, set)| **set).map(|(value, _)| *value);
    assert!(read().iter().copied().eq(expected));
    let all = || array.read::<ArrayD<u16>>(..).unwrap();
    report.ratio("a mask of half density on 256² blosc-lz4", "all of it", None, read, all);
    let output = mask.count() * size_of::<u16>();
    let case = "a mask of half density: memory";
    let fresh = with_new_threads(array, AccessOptions::new());
    let limit = output + mask.values().len() + (4 << 20);
    report.memory(case, limit, || fresh.mask(mask.clone()).read::<ArrayD<u16>>().unwrap());
    let few = Array2::from_shape_simple_fn(truth.dim(), || random.next().is_multiple_of(10_000));
    let few = Mask::from(&few);
    let read = || array.mask(few.clone()).read::<ArrayD<u16>>().unwrap();
    report.ratio("a mask of 0.01 % density on 256² blosc-lz4", "all of it", None, read, all);
    let half = ArrayD::from_elem(vec![mask.count()], 3_u16);
    let all_written = || array.write(.., values).unwrap();
    report.ratio(
        "written by a mask of half density",
        "all of it",
        None,
        || array.mask(mask.clone()).write(&half).unwrap(),
        all_written,
    );
}

/// Compares a list of rows with a slice of as many rows.
fn lists_written(report: &mut Report, array: &Array, values: &ArrayD<u16>) {
    let mut random = Random(9);
    let rows = array.shape()[0].cast_signed() / 4;
    let list: IndexArray = (0..rows).map(|n| n * 4 + random.below(4)).collect::<Vec<i64>>().into();
    let some = values.slice(ndarray::s![..;4, ..]).to_owned();
    let mut turn = false;
    // The values are different each time, since an unchanged chunk is not stored.
    let others = some.mapv(|value| value ^ 1);
    let mut next = || {
        turn = !turn;
        if turn { &some } else { &others }
    };
    let mut turn = false;
    let mut other = || {
        turn = !turn;
        if turn { &some } else { &others }
    };
    report.ratio(
        "a quarter of the rows written by `oindex`",
        "by a slice",
        1.3,
        || array.oindex((&list, ..)).write(next()).unwrap(),
        || array.write(s![..;4, ..], other()).unwrap(),
    );
}
