//! The disk usage of nodes.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;

use zarrox::ErrorKind;
use zarrox::{Array, prelude::*, s};
use zarrox_testkit::errors::assert_error;
use zarrox_tools::usage::{NodeUsage, Usage};

fn measured(usage: &Usage, node: impl Into<Node>) -> Vec<NodeUsage> {
    let mut all = Vec::new();
    let tell = |node| {
        all.push(node);
        Ok(())
    };
    usage.run(&node.into(), tell).unwrap();
    all
}

#[test]
fn all_files_are_accounted_for() {
    let directory = tempfile::tempdir().unwrap();
    let root = zarrox::create_group(directory.path().join("a.zarr")).unwrap();
    let array = root.create_array("g/t").shape([10, 10]).data_type(DataType::Int16).chunks([3, 10]);
    let array = array.no_compressor().create().unwrap();
    array.write(s![..4, ..], 1_i16).unwrap();
    let sharded =
        root.create_array("s").shape([8, 8]).data_type(DataType::Int8).chunks([2, 4]).shards([4, 8]);
    let sharded = sharded.no_compressor().create().unwrap();
    sharded.write(s![..3, ..4], 1_i8).unwrap();
    let file = |name: &str, bytes: usize| {
        let path = directory.path().join("a.zarr").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, vec![0; bytes]).unwrap();
    };
    file("g/t/c/9/9", 7);
    file("g/notes.txt", 5);
    file("other/x/y", 11);
    let all = measured(&Usage::new().inner(true), root);
    let paths: Vec<&str> = all.iter().map(|node| node.path.as_str()).collect();
    assert_eq!(paths, ["/", "/g", "/g/t", "/s"]);
    let orphans: Vec<_> = all.iter().map(|node| node.orphans).collect();
    assert_eq!(orphans, [(1, 11), (1, 5), (1, 7), (0, 0)]);
    let chunks = all[2].chunks.clone().unwrap();
    assert_eq!((chunks.stored, chunks.possible, chunks.bytes, chunks.logical), (2, Some(4), 120, Some(200)));
    assert_eq!(chunks.sizes, [0, 0, 0, 0, 0, 2]);
    let inner = all[3].chunks.as_ref().unwrap().inner.unwrap();
    assert_eq!((inner.stored, inner.empty, inner.bytes), (2, 2, 16));
    let total: u64 = all.iter().map(NodeUsage::bytes).sum();
    let info = |array: &Array| array.info().unwrap().bytes_stored;
    let documents = fs::metadata(directory.path().join("a.zarr/zarr.json")).unwrap().len()
        + fs::metadata(directory.path().join("a.zarr/g/zarr.json")).unwrap().len();
    assert_eq!(total, info(&array) + info(&sharded) + documents + 11 + 5);
}

#[test]
fn a_damaged_index_is_an_error_and_no_index_is_read_unasked() {
    let directory = tempfile::tempdir().unwrap();
    let array = zarrox::create_array(directory.path().join("a.zarr")).shape([8]).data_type(DataType::Int8);
    let array = array.chunks([2]).shards([8]).create().unwrap();
    array.write(.., 1_i8).unwrap();
    fs::write(directory.path().join("a.zarr/c/0"), "no shard").unwrap();
    assert_eq!(measured(&Usage::new(), array.clone())[0].chunks.as_ref().unwrap().bytes, 8);
    let error = Usage::new().inner(true).run(&array.clone().into(), |_| Ok(())).unwrap_err();
    assert!(error.to_string().contains("the index of shard 'c/0'"), "{error}");
    assert_error(array.raw().inner_chunks(&[1]), ErrorKind::InvalidArgument, "there is no chunk [1]");
}

#[test]
fn inner_chunks_have_the_indices_of_the_whole_array() {
    let directory = tempfile::tempdir().unwrap();
    let array = zarrox::create_array(directory.path().join("a.zarr")).shape([9, 6]).data_type(DataType::Int8);
    let array = array.chunks([2, 3]).shards([4, 6]).order(Order::ColumnMajor).create().unwrap();
    array.write(s![6, 4], 1_i8).unwrap();
    let inner = array.raw().inner_chunks(&[1, 0]).unwrap().unwrap();
    let stored: Vec<_> = inner.iter().filter(|chunk| chunk.place.is_some()).collect();
    assert_eq!((inner.len(), stored.len(), stored[0].index.as_slice()), (4, 1, &[3, 1][..]));
    assert_eq!(array.raw().inner_chunks(&[0, 0]).unwrap(), None);
}
