//! Rows of arrays: with a step, and one by one.

use std::sync::Arc;

use ndarray::{Array1, Array2, Array3, ArrayD, IxDyn};
use zarrox::ChunkShape;
use zarrox::stores::{CountingStore, MemoryStore};
use zarrox::{AccessOptions, OpenOptions};
use zarrox::{prelude::*, s};

use crate::Scale;
use crate::data::in_memory;
use crate::numpy;
use crate::report::{Report, interleaved, real};

pub(crate) fn steps(report: &mut Report, scale: Scale) {
    chunks_between(report, scale);
    rows_between(report);
}

/// Measures reads of 293 out of 149,568 chunks: only the chunks with selected elements are requested (zarr-python's
/// issue 843: 0.02 s against 2.8 s).
fn chunks_between(report: &mut Report, scale: Scale) {
    let width = if scale == Scale::Small { 6_637 } else { 66_369 };
    let store = Arc::new(CountingStore::new(Arc::new(MemoryStore::new())));
    let array = OpenOptions::new().create_array((store.clone(), ""));
    let array = array.shape([149_568, width, 3]).chunks([1, width, 3]).data_type(DataType::UInt8);
    let array = array.no_compressor().create().unwrap();
    let width = usize::try_from(width).unwrap();
    let row = Array3::from_shape_fn((1, width, 3), |(_, i, k)| u8::try_from((i + k) % 251 + 1).unwrap());
    for n in 0..293 {
        array.write(s![n..=n], &row).unwrap();
        array.write(s![n * 512..=n * 512], &row).unwrap();
    }
    let opened = || usize::try_from(store.take().values()).unwrap();
    let every = || array.read::<ArrayD<u8>>(s![..;512]).unwrap();
    let first = || array.read::<ArrayD<u8>>(s![..293]).unwrap();
    assert!(every() == first());
    store.take();
    every();
    report.count("`[::512]` of 149,568 chunks: chunks that are opened", opened(), 293);
    report.ratio("`[::512]` of 149,568 chunks", "`[:293]`", 1.2, every, first);
    // Half of the rows are adjacent, and the others are 512 rows apart.
    let list: Vec<i64> = (0..293).map(|n| if n < 147 { n } else { n * 512 }).collect();
    let listed = || array.oindex(&list).read::<ArrayD<u8>>().unwrap();
    assert!(listed() == first());
    store.take();
    listed();
    report.count("293 listed rows of 149,568 chunks: chunks that are opened", opened(), 293);
    report.ratio("293 listed rows of 149,568 chunks", "`[:293]`", 1.2, listed, first);
}

/// Rows of an uncompressed array (zarr-python's issue 3524: 0.5 s in version 2, 3.9 s in version 3).
fn rows_between(report: &mut Report) {
    let shape = [60_632, 4, 1, 10];
    let array = in_memory().shape(shape.map(|n| n as u64)).data_type(DataType::Float64);
    let array = array.no_compressor().create().unwrap();
    let values = ArrayD::<f64>::ones(IxDyn(&shape));
    array.write(.., &values).unwrap();
    // Other processes would disturb the synchronisation of threads.
    let array = array.with_options(&AccessOptions::new().threads(1));
    let ours = |step: usize| array.read::<ArrayD<f64>>(s![..;i64::try_from(step).unwrap()]).unwrap();
    let bare = |step: usize| values.slice(ndarray::s![..;step, .., .., ..]).to_owned();
    let mut compare = |step, limit: Option<f64>| {
        let case = format!("(60632, 4, 1, 10) in memory, `[::{step}]`, one thread");
        report.ratio(&case, "ndarray's", limit, || ours(step), || bare(step));
    };
    [1, 8, 64].into_iter().for_each(|step| compare(step, None));
    let ratio = |step| {
        let (ours, bare) = interleaved(9, || ours(step), || bare(step));
        ours / bare
    };
    // The worst of all steps is measured again, since it may have been disturbed.
    let ratios = (1..=64).map(|step| (step, ratio(step)));
    let worst = ratios.max_by(|a, b| a.1.total_cmp(&b.1)).map_or(1, |(step, _)| step);
    compare(worst, Some(4.0));
}

/// 10,000 reads of one row each (zarr-python's issue 1395: 300 times as long as NumPy).
pub(crate) fn one_by_one(report: &mut Report, _: Scale) {
    let shape = (10_000_usize, 1024);
    let values = Array2::from_shape_fn(shape, |(i, k)| real(i * 1024 + k));
    for (name, chunks, limited) in [
        ("one chunk", ChunkShape::One, true),
        ("a chunk for each row", ChunkShape::from([1, 1024]), true),
        ("default chunks, zstd", ChunkShape::Guess, false),
    ] {
        let array = in_memory().shape([10_000, 1024]).data_type(DataType::Float64).chunks(chunks);
        let array = if limited { array.no_compressor() } else { array };
        let array = array.create().unwrap();
        array.write(.., &values).unwrap();
        let rows = if limited { 10_000 } else { 20 };
        let case = format!("{rows} reads of a row, {name}");
        let read = || (0..rows).map(|i| array.read::<ArrayD<f64>>(i).unwrap().len()).sum::<usize>();
        let mut row = Array1::<f64>::zeros(1024);
        let into = || (0..rows).for_each(|i| array.read_into(i, &mut row).unwrap());
        let copies = || (0..rows).map(|i| values.row(i).to_owned().len()).sum::<usize>();
        if !limited {
            report.ratio(&case, "a loop of copies", None, read, copies);
            continue;
        }
        let (ours, _) = report.ratio(&case, "a loop of copies", 20.0, read, copies);
        report.ratio(&format!("{case}, into one buffer"), "a loop of copies", 20.0, into, copies);
        match numpy::row_times() {
            Some((view, copy)) => {
                report.found(
                    &case,
                    &format!("NumPy's `a[i].copy()`, {:.2} ms", copy * 1e3),
                    ours / copy,
                    20.0,
                );
                report.found(&case, &format!("NumPy's `a[i]`, {:.2} ms", view * 1e3), ours / view, 20.0);
            }
            None => println!("| {case} | | NumPy is not installed | | | |"),
        }
    }
}
