//! Handles of arrays that were replaced, moved or deleted.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use zarrox::json::json;
use zarrox::stores::{DirectoryStore, Hold, MemoryStore, Prefix, Store};
use zarrox::{Array, prelude::*, s};
use zarrox::{Error, ErrorKind, OpenOptions};

fn create(store: &Arc<dyn Store>, chunks: u64) -> Array {
    let array = OpenOptions::new().create_array((Arc::clone(store), "a")).overwrite(true);
    array.shape([12]).data_type(DataType::Int32).chunks([chunks]).no_compressor().create().unwrap()
}

fn open(store: &Arc<dyn Store>) -> Array {
    let options = OpenOptions::new().mode(zarrox::OpenMode::ReadWrite);
    options.open((Arc::clone(store), "a")).unwrap().into_array().unwrap()
}

fn stores(directory: &Path) -> Vec<Arc<dyn Store>> {
    vec![Arc::new(MemoryStore::new()), Arc::new(DirectoryStore::create(directory).unwrap())]
}

/// Uses an array in all ways, and returns the errors.
#[expect(clippy::expect_used, reason = "a use that succeeds is what the tests look for")]
fn uses(array: &Array) -> Vec<(&'static str, Error)> {
    let values = ndarray::arr1(&[5_i32; 12]);
    let mut changed = array.clone();
    let uses = [
        ("read", array.read::<ArrayD<i32>>(..).map(drop)),
        ("read a chunk", array.raw().decode::<ArrayD<i32>>(&[0]).map(drop)),
        ("read bytes", array.raw().read(&[0]).map(drop)),
        ("write all", array.write(.., &values)),
        ("write one", array.write(s![1], ndarray::arr0(5_i32))),
        ("write bytes", array.raw().write(&[0], &[0; 16])),
        ("erase", array.raw().erase(&[0]).map(drop)),
        ("append", changed.append(&values, 0).map(drop)),
        ("resize", changed.resize([24])),
    ];
    uses.into_iter().map(|(what, done)| (what, done.expect_err(what))).collect()
}

#[test]
fn a_handle_of_an_array_that_was_made_again_with_other_chunks_neither_reads_nor_writes() {
    let directory = tempfile::tempdir().unwrap();
    for store in stores(directory.path()) {
        let created = create(&store, 4);
        let (opened, unused) = (open(&store), open(&store));
        assert_eq!(opened.read::<ArrayD<i32>>(..).unwrap().sum(), 0);
        let new = create(&store, 3);
        new.write(.., ndarray::Array1::from_elem(12, 7)).unwrap();
        for array in [created, opened, unused] {
            for (what, error) in uses(&array) {
                assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{what}: {error}");
                assert!(error.to_string().contains("was rechunked (to [3] from [4])"), "{error}");
            }
        }
        assert_eq!(open(&store).read::<ArrayD<i32>>(..).unwrap(), ndarray::arr1(&[7; 12]).into_dyn());
    }
}

#[test]
fn a_handle_of_a_moved_or_deleted_array_fails_and_leaves_nothing_at_the_old_place() {
    let directory = tempfile::tempdir().unwrap();
    for store in stores(directory.path()) {
        for is_moved in [true, false] {
            let array = create(&store, 4);
            array.write(.., ndarray::Array1::from_elem(12, 1)).unwrap();
            let root = OpenOptions::new().create_group((Arc::clone(&store), "b")).unwrap();
            let group =
                OpenOptions::new().mode(zarrox::OpenMode::Append).open((Arc::clone(&store), "")).unwrap();
            let group = group.into_group().unwrap();
            drop(root);
            if is_moved {
                group.move_node("a", "b/c").unwrap();
            } else {
                group.delete("a").unwrap();
            }
            for (what, error) in uses(&array) {
                assert_eq!(error.kind(), ErrorKind::NotFound, "{what}: {error}");
            }
            let mut left = Vec::new();
            store
                .list_prefix(&Prefix::new("a/").unwrap(), &mut |key, _| {
                    left.push(key);
                    std::ops::ControlFlow::Continue(())
                })
                .unwrap();
            assert_eq!(left, []);
            group.delete("b").unwrap();
        }
    }
}

#[test]
fn other_attributes_and_another_shape_are_the_same_array() {
    let directory = tempfile::tempdir().unwrap();
    for store in stores(directory.path()) {
        let first = create(&store, 4);
        let (mut second, mut third) = (open(&store), open(&store));
        second.update_attributes(|map| drop(map.insert("x".to_owned(), json!(1)))).unwrap();
        first.write(s![..4], ndarray::arr1(&[1, 2, 3, 4])).unwrap();
        second.append(ndarray::arr1(&[9]), 0).unwrap();
        assert_eq!(first.read::<ArrayD<i32>>(s![..5]).unwrap(), ndarray::arr1(&[1, 2, 3, 4, 0]).into_dyn());
        third.append(ndarray::arr1(&[8]), 0).unwrap();
        assert_eq!(third.read::<ArrayD<i32>>(s![12..]).unwrap(), ndarray::arr1(&[9, 8]).into_dyn());
    }
}

#[test]
fn a_writer_waits_for_the_replacement_of_the_array_and_then_detects_it() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("g.zarr");
    let store: Arc<dyn Store> = Arc::new(DirectoryStore::create(&path).unwrap());
    let array = create(&store, 4);
    let alone = store.hold(&Prefix::new("a/").unwrap(), Hold::Exclusive).unwrap();
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| array.write(.., ndarray::Array1::from_elem(12, 1)));
        std::thread::sleep(Duration::from_millis(20));
        assert!(!writer.is_finished());
        fs::rename(path.join("a"), path.join("b")).unwrap();
        drop(alone);
        assert_eq!(writer.join().unwrap().unwrap_err().kind(), ErrorKind::NotFound);
    });
    assert!(!path.join("a").exists());
}

#[cfg(feature = "cache")]
#[test]
fn a_handle_through_a_cache_notices_that_the_array_was_made_again() {
    use zarrox::stores::{DiskCacheOptions, LruCacheStore};
    let directory = tempfile::tempdir().unwrap();
    let copies = tempfile::tempdir().unwrap();
    for store in stores(directory.path()) {
        let on_disk = DiskCacheOptions::new().open(Arc::clone(&store), copies.path()).unwrap();
        let caches: [Arc<dyn Store>; 2] =
            [Arc::new(LruCacheStore::new(Arc::clone(&store), 1 << 20)), Arc::new(on_disk)];
        for cache in caches {
            create(&store, 4).write(.., 1).unwrap();
            let opened = open(&cache);
            assert_eq!(opened.read::<ArrayD<i32>>(..).unwrap().sum(), 12);
            create(&store, 3).write(.., 7).unwrap();
            uses(&opened);
            assert_eq!(
                open(&cache).read::<ArrayD<i32>>(..).unwrap().sum(),
                84,
                "chunks of the old array are forgotten"
            );
        }
    }
}
