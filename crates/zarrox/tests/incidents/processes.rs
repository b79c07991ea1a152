//! Several processes that write at the same time.

#![expect(clippy::unwrap_used, reason = "a test stops at the first failure")]

use std::collections::BTreeSet;

use ndarray::{Array3, Axis};
use zarrox::ArrayBuilder;
use zarrox::json::Json;
use zarrox::prelude::*;

use super::other_process::{PROCESSES, Work, block, corners, element};

/// Lets four processes write the blocks of an array of 10⁶ elements; returns the number of wrong elements.
fn lost_blocks(stored: impl FnOnce(ArrayBuilder) -> ArrayBuilder) -> usize {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.zarr");
    let array = zarrox::create_array(&path).shape([100; 3]).data_type(DataType::UInt32).no_compressor();
    stored(array).create().unwrap();
    Work::Blocks.by_four_processes(&path);
    let found = zarrox::open_array(&path).unwrap().read::<Array3<u32>>(..).unwrap();
    let mut expected = Array3::<u32>::zeros((100, 100, 100));
    for (index, corner) in (0..).zip(corners()) {
        let [z, y, x] = corner.map(|start| usize::try_from(start).unwrap());
        let place = ndarray::s![z..z + 25, y..y + 25, x..x + 25];
        expected.slice_mut(place).assign(&block(index % PROCESSES, corner));
    }
    assert!(expected.iter().all(|element| *element != 0));
    found.iter().zip(&expected).filter(|(found, expected)| found != expected).count()
}

#[test]
fn incident_01_blocks_in_shards_with_concurrent_writers() {
    assert_eq!(lost_blocks(|array| array.chunks([25; 3]).shards([50; 3])), 0);
}

#[test]
fn incident_01_blocks_in_chunks_with_concurrent_writers() {
    assert_eq!(lost_blocks(|array| array.chunks([50; 3])), 0);
}

#[test]
fn incident_02_regions_that_are_not_aligned_with_chunks() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.zarr");
    let array = zarrox::create_array(&path).shape([70, 100]).chunks([32, 32]).data_type(DataType::UInt32);
    array.create().unwrap();
    Work::Columns.by_four_processes(&path);
    let found = zarrox::open_array(&path).unwrap().read::<ArrayD<u32>>(..).unwrap();
    for (column, values) in (0..).zip(found.axis_iter(Axis(1))) {
        let expected = element(column % PROCESSES, column);
        assert!(values.iter().all(|value| *value == expected), "column {column}");
    }
}

#[test]
fn incident_02_appends_that_are_not_aligned_with_chunks() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.zarr");
    let array = zarrox::create_array(&path).shape([0, 10]).chunks([7, 10]).data_type(DataType::UInt32);
    array.create().unwrap();
    Work::Append.by_four_processes(&path);
    let found = zarrox::open_array(&path).unwrap().read::<Array2<u32>>(..).unwrap();
    assert_eq!(found.shape(), [400, 10]);
    let mut seen = BTreeSet::new();
    for block in found.axis_chunks_iter(Axis(0), 2) {
        let first = block[[0, 0]];
        assert!(block.row(0).iter().all(|value| *value == first), "{block}");
        assert!(block.row(1).iter().all(|value| *value == first + 1), "{block}");
        seen.insert(first);
    }
    let all = (0..PROCESSES).flat_map(|writer| (0..50).map(move |pair| element(writer, pair * 2)));
    assert_eq!(seen, all.collect());
}

#[test]
fn attributes_of_four_processes_all_arrive() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("g.zarr");
    zarrox::create_group(&path).unwrap();
    Work::Attributes.by_four_processes(&path);
    let group = zarrox::open_group(&path).unwrap();
    let lost = (0..PROCESSES).flat_map(|writer| (0..50).map(move |index| (writer, index)));
    let lost = lost.filter(|(writer, index)| {
        group.attributes().get(&format!("{writer}-{index}")) != Some(&Json::from(*index))
    });
    assert_eq!(lost.count(), 0);
}
