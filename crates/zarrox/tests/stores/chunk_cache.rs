//! The cache of decoded chunks: it returns the same elements without another request, and never
//! returns stale elements.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;

use ndarray::{Array2, ArrayD};
use zarrox::codecs::Zstd;
use zarrox::stores::Store;
use zarrox::{AccessOptions, OpenOptions};
use zarrox::{prelude::*, s};
use zarrox_testkit::remote::Remote;

fn values(seed: i32) -> Array2<i32> {
    Array2::from_shape_fn((50, 70), |(y, x)| seed + i32::try_from(y * 100 + x).unwrap())
}

/// Returns the array and its store.
fn array(shards: Option<[u64; 2]>) -> (Remote, zarrox::Array) {
    let remote = Remote::default();
    let builder = OpenOptions::new().create_array((remote.blocking(), "a")).data_type(DataType::Int32);
    let builder = builder.shape([50, 70]).chunks([8, 16]).fill_value(3).compressor(Zstd::level(1));
    let builder = if let Some(shards) = shards { builder.shards(shards) } else { builder };
    let array = builder.create().unwrap();
    array.write(.., values(1)).unwrap();
    (remote, array)
}

fn selections(array: &zarrox::Array) -> Vec<ArrayD<i32>> {
    let mask = Array2::from_shape_fn((50, 70), |(y, x)| (y * x) % 7 == 1);
    vec![
        array.read(..).unwrap(),
        array.read(s![3..41, 9..60;-5]).unwrap(),
        array.read(s![7, ..]).unwrap(),
        array.oindex((vec![40, 3, 3, 17], 5..60)).read().unwrap(),
        array.vindex((vec![0, 49, 7, 8], vec![69, 0, 15, 16])).read().unwrap(),
        array.mask(mask).read().unwrap(),
    ]
}

#[test]
fn cached_chunks_have_the_same_elements() {
    for shards in [None, Some([32, 32]), Some([64, 80])] {
        let (_, array) = array(shards);
        let cached = array.with_options(&AccessOptions::new().chunk_cache(1 << 20));
        let expected = selections(&array);
        for round in 0..2 {
            assert_eq!(selections(&cached), expected, "{shards:?}, round {round}");
        }
    }
}

#[test]
fn only_the_version_is_requested_again() {
    let (remote, array) = array(None);
    let cached = array.with_options(&AccessOptions::new().chunk_cache(1 << 20));
    cached.read::<ArrayD<i32>>(s![..8, ..16]).unwrap();
    remote.take_requests();
    cached.read::<ArrayD<i32>>(s![2..4, 3]).unwrap();
    let requests: Vec<_> = remote.take_requests().into_iter().collect();
    assert_eq!(requests, [("head a/c/0/0".to_owned(), 1)]);
}

#[test]
fn changes_by_other_handles_are_seen() {
    let (remote, array) = array(Some([32, 32]));
    let cached = array.with_options(&AccessOptions::new().chunk_cache(1 << 20));
    assert_eq!(cached.read::<Array2<i32>>(..).unwrap(), values(1));
    let other = OpenOptions::new().open((remote.elsewhere(1).blocking(), "a")).unwrap().into_array().unwrap();
    other.write(.., values(1_000)).unwrap();
    assert_eq!(cached.read::<Array2<i32>>(..).unwrap(), values(1_000));
    other.write(.., 3).unwrap();
    assert_eq!(cached.read::<ArrayD<i32>>(..).unwrap().sum(), 3 * 50 * 70);
}

#[test]
fn a_cache_stays_within_its_limit() {
    let remote = Remote::default();
    let near: Arc<dyn Store> = Arc::new(remote.memory().clone());
    let builder = OpenOptions::new().create_array((near, "a")).data_type(DataType::UInt8);
    let array = builder.shape([64 << 20]).chunks([1 << 20]).create().unwrap();
    array.write(.., 7_u8).unwrap();
    let options = AccessOptions::new().chunk_cache(4 << 20);
    let cached = array.with_options(&options);
    for chunk in 0..64 {
        assert_eq!(cached.read::<ArrayD<u8>>(s![chunk << 20]).unwrap().first(), Some(&7));
    }
    let shown = format!("{options:?}");
    let weight = shown.split_once("ChunkCache(").unwrap().1.split_once(' ').unwrap().0;
    assert!((1 << 20..=4 << 20).contains(&weight.parse::<u64>().unwrap()), "{weight}");
}
