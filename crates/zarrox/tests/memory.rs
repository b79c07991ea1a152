//! Tests of the memory use of reads besides their result. Memory is counted, so this test is a separate program.
#![expect(clippy::unwrap_used, reason = "a test stops at the first failure")]

use std::sync::Arc;

use zarrox::codecs::Zstd;
use zarrox::stores::MemoryStore;
use zarrox::{AccessOptions, OpenOptions};
use zarrox::{Array, prelude::*, s};
use zarrox_testkit::allocator::{Counting, MEASURING, taken};

#[global_allocator]
static ALLOCATOR: Counting = MEASURING;

/// Returns the peak memory of `work` in KiB, beyond the memory that was allocated before.
fn peak(work: impl FnOnce()) -> isize {
    taken(work).0 >> 10
}

/// Creates an array of 32 MiB of floats, in chunks of 256 KiB or in one shard of such chunks.
fn create(chunks: [u64; 2], sharded: bool) -> Array {
    let array = OpenOptions::new().create_array((Arc::new(MemoryStore::new()), "a"));
    let array = array.shape([1024, 4096]).data_type(DataType::Float64).chunks(chunks).fill_value(-1.0);
    let array = if sharded { array.shards([1024, 4096]) } else { array };
    let array = array.compressor(Zstd::level(1)).create().unwrap();
    array
        .write(
            ..,
            ndarray::Array2::from_shape_fn((1024, 4096), |(y, _)| f64::from(u32::try_from(y).unwrap())),
        )
        .unwrap();
    array
}

// A single test, so that no other test allocates memory at the same time.
#[test]
fn memory_is_that_of_a_few_chunks() {
    levels_take_the_memory_that_they_may();
    let two = AccessOptions::new().threads(2);
    for (array, what) in [
        (create([8, 4096], false), "rows of chunks"),
        (create([64, 512], false), "chunks side by side"),
        (create([8, 4096], true), "a shard"),
    ] {
        let array = array.with_options(&two);
        let sum = |view: zarrox::ArrayView<'_>| {
            view.rows::<ArrayD<f64>>().unwrap().map(|row| row.unwrap()[0]).sum::<f64>()
        };
        // A row of chunks side by side takes 2 MiB. In the other cases, 1 MiB is read together.
        let row = if what == "chunks side by side" { 2 << 10 } else { 1 << 10 };
        let taken = peak(|| assert_eq!(sum(array.slice(..)), 523_776.0));
        assert!((row..row + 1500).contains(&taken), "{taken} KiB for the rows of {what}");
        let tight = array.with_options(&AccessOptions::new().memory(1 << 20));
        let taken = peak(|| assert_eq!(sum(tight.slice(s![..;-1])), 523_776.0));
        assert!((256..1500).contains(&taken), "{taken} KiB for the rows of {what} in a budget of 1 MiB");

        if what != "a shard" {
            let taken =
                peak(|| assert_eq!(array.chunks::<ArrayD<f64>>().unwrap().map(Result::unwrap).count(), 128));
            assert!(taken < 800, "{taken} KiB for one chunk of {what} after the other");
        }
        // The result takes 4 MiB.
        let taken = peak(|| drop(array.astype(&DataType::Int8).read::<ArrayD<i8>>().unwrap())) - (4 << 10);
        let most = if what == "a shard" { 34 << 10 } else { 2 << 10 };
        assert!(taken < most, "{taken} KiB for {what} as bytes");
    }
}

/// All levels of an image of 1 GiB are computed in little memory, although no chunk is skipped.
fn levels_take_the_memory_that_they_may() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("image.zarr");
    let array = zarrox::create_array(path.join("0")).shape([1 << 14, 1 << 14]).data_type(DataType::Float32);
    array.chunks([256, 256]).fill_value(1.5_f32).create().unwrap();
    let memory = 12 << 20;
    let maker = zarrox_images::Downsample::new().open_options(OpenOptions::new().threads(2)).memory(memory);
    let passes = maker.plan(path.join("0")).unwrap().passes();
    assert_eq!((passes.len(), passes[0].threads, passes[0].to), (1, 2, 6));
    let taken = peak(|| drop(maker.run(path.join("0")).unwrap()));
    assert!(taken < (memory as isize >> 10) + 1024, "{taken} KiB");
    assert_eq!(
        zarrox::open_array(path.join("6")).unwrap().read::<ArrayD<f32>>(s![3, 5]).unwrap().first(),
        Some(&1.5)
    );
}
