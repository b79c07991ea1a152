//! Planes of large images in shards: memory stays within the limit for every selection (zarr-python's issue 3641: 1.6 GB for
//! planes one by one, 23.9 GB for a list of them).

use ndarray::ArrayD;
use zarrox::codecs::Zstd;
use zarrox::{AccessOptions, IndexArray};
use zarrox::{Array, prelude::*, s};

use crate::Scale;
use crate::data::{in_memory, with_new_threads};
use crate::report::Report;
use crate::values::{Random, measured};

pub(crate) fn run(report: &mut Report, scale: Scale) {
    // In the small case, all lengths are smaller, and so are the budgets.
    let chunk = if scale == Scale::Small { 1024 } else { 4096 };
    let (shard, side) = (2 * chunk, 6 * chunk);
    let array =
        in_memory().shape([1, 10, side, side]).chunks([1, 1, chunk, chunk]).shards([1, 1, shard, shard]);
    let array = array.data_type(DataType::Float32).compressor(Zstd::level(1)).create().unwrap();
    let length = usize::try_from(shard).unwrap();
    {
        let values = measured(&[length, length], f32::from);
        array.write(s![0, 0, ..shard, ..shard], &values).unwrap();
        array.write(s![0, 3, ..shard, ..shard], &values).unwrap();
        array.write(s![0, 9, shard..2 * shard, 2 * shard..], &values).unwrap();
    }
    let mut random = Random(5);
    let mut jittered = || -> IndexArray {
        let every = 16;
        let list = (0..side.cast_signed() / every).map(|n| n * every + random.below(every));
        list.collect::<Vec<i64>>().into()
    };
    let (rows, columns) = (jittered(), jittered());
    let listed = |array: &Array| array.oindex((0, [0, 3, 9], &rows, &columns)).read::<ArrayD<f32>>().unwrap();
    let output = listed(&array).len() * size_of::<f32>();
    let unit = usize::try_from(chunk * chunk).unwrap() * size_of::<f32>();
    for budget in [4 * unit, 16 * unit] {
        let bounded = with_new_threads(&array, AccessOptions::new().memory(budget));
        let case = format!("3 planes, listed rows and columns: memory, of a budget of {} MiB", budget >> 20);
        report.memory(&case, output + budget, || listed(&bounded));
    }
    report.repeat(true);
    report.ratio(
        "3 planes, listed rows and columns",
        "as many by slices",
        1.3,
        || listed(&array),
        || sliced(&array),
    );
    report.repeat(false);
}

fn sliced(array: &Array) -> Vec<ArrayD<f32>> {
    [0, 3, 9]
        .into_iter()
        .map(|plane| array.read::<ArrayD<f32>>(s![0, plane, ..;16, ..;16]).unwrap())
        .collect()
}
