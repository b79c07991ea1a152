//! The LMDB store: the suite, zarr-python's files, and features of LMDB.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

use tempfile::TempDir;
use zarrox_databases::{LmdbOptions, LmdbStore};
use zarrox_stores::{ByteRange, Condition, Store, StoreErrorKind, StoreExt};
use zarrox_testkit::store::{key, list, prefix, store_suite};

use super::golden::{check_golden, golden};
use super::handles::check_two_handles;
use zarrox_testkit::processes::{self, check_processes};

fn suite(options: &LmdbOptions) {
    let kept = Mutex::new(Vec::new());
    store_suite(|| {
        let directory = TempDir::new().unwrap();
        let store = options.clone().create(directory.path().join("data.lmdb")).unwrap();
        kept.lock().unwrap().push(directory);
        Box::new(store)
    });
}

fn temporary() -> (TempDir, PathBuf, LmdbStore) {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("data.lmdb");
    let store = LmdbOptions::new().sync(false).create(&path).unwrap();
    store.set(&key("a/b"), b"value", Condition::Always).unwrap();
    (directory, path, store)
}

#[test]
fn passes_the_suite() {
    suite(&LmdbOptions::new().sync(false));
}

#[test]
fn passes_the_suite_in_one_file_with_a_map_that_grows() {
    suite(&LmdbOptions::new().sync(false).single_file(true).map_size(1));
}

#[test]
fn a_read_only_database_refuses_only_writes() {
    let (_directory, path, store) = temporary();
    let reader = LmdbOptions::new().read_only(true).open(&path).unwrap();
    store_suite(|| Box::new(reader.clone()));
    drop(store);
    drop(reader);
    let reader = LmdbOptions::new().read_only(true).open(&path).unwrap();
    assert_eq!(reader.get(&key("a/b")).unwrap().unwrap(), "value");
    let error = LmdbStore::open(&path).unwrap_err();
    assert!(error.to_string().contains("open read-only"), "{error}");
}

#[test]
fn files_of_zarr_python_are_read_and_changed() {
    let (_directory, path) = golden("lmdb");
    check_golden(&LmdbStore::open(&path).unwrap());
}

#[test]
fn directories_of_zarr_python_are_read_and_changed() {
    let (directory, path) = golden("lmdb");
    let environment = directory.path().join("environment");
    fs::create_dir(&environment).unwrap();
    fs::rename(path, environment.join("data.mdb")).unwrap();
    check_golden(&LmdbStore::open(&environment).unwrap());
}

#[test]
fn long_keys_are_refused_and_missing() {
    let (_directory, _path, store) = temporary();
    let longest = key(&"k".repeat(511));
    store.set(&longest, b"1", Condition::Always).unwrap();
    assert_eq!(store.get(&longest).unwrap().unwrap(), "1");
    let long = key(&"k".repeat(512));
    let error = store.set(&long, b"1", Condition::Always).unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::InvalidKey);
    assert!(error.to_string().contains("up to 511 bytes"), "{error}");
    assert_eq!(store.get(&long).unwrap(), None);
    assert!(!store.erase(&long).unwrap());
    let below = prefix(&format!("{}/", "k".repeat(600)));
    store.erase_prefix(&below).unwrap();
    assert_eq!(store.list_dir(&below).unwrap().keys, []);
    assert_eq!(list(&store, "").len(), 2);
    // The bounds after a prefix of 510 bytes and after the longest key are as long as a key can be, or longer.
    store.set(&key(&format!("{}/x", "k".repeat(509))), b"1", Condition::Always).unwrap();
    assert_eq!(list(&store, &format!("{}/", "k".repeat(509))).len(), 1);
    assert_eq!(store.list_dir(&prefix("")).unwrap().prefixes.len(), 2);
}

#[test]
fn files_of_other_kinds_and_cut_off_ones_are_refused() {
    let (_directory, path) = golden("lmdb");
    let whole = fs::read(&path).unwrap();
    let mut other_page_size = whole.clone();
    other_page_size[40..44].copy_from_slice(&[0xff; 4]);
    let others = [b"".to_vec(), b"{}".to_vec(), vec![0xff; 20_000], other_page_size];
    let cut = (1..whole.len()).step_by(97).map(|length| whole[..length].to_vec());
    for content in others.into_iter().chain(cut) {
        fs::write(&path, &content).unwrap();
        let error = LmdbStore::open(&path).unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::Corrupt, "{error}");
        assert!(error.to_string().contains("hierarchy.lmdb"), "{error}");
    }
    let directory = TempDir::new().unwrap();
    for missing in [directory.path().to_owned(), directory.path().join("none")] {
        assert_eq!(LmdbStore::open(&missing).unwrap_err().kind(), StoreErrorKind::NotFound);
    }
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
}

#[test]
fn a_database_whose_making_was_interrupted_is_made() {
    for single_file in [false, true] {
        let directory = TempDir::new().unwrap();
        let path = directory.path().join("data.lmdb");
        let data = if single_file { path.clone() } else { path.join("data.mdb") };
        fs::create_dir_all(data.parent().unwrap()).unwrap();
        fs::write(&data, b"").unwrap();
        let error = LmdbStore::open(&path).unwrap_err();
        assert!(error.to_string().contains("the file is empty"), "{error}");
        let store = LmdbOptions::new().single_file(single_file).create(&path).unwrap();
        store.set(&key("a/b"), b"value", Condition::Always).unwrap();
        drop(store);
        assert_eq!(LmdbStore::open(&path).unwrap().get(&key("a/b")).unwrap().unwrap(), "value");
    }
}

#[test]
fn a_file_is_as_long_as_it_says_after_every_write() {
    let (_directory, path, store) = temporary();
    let mut seed = 1_u32;
    for _ in 0..2_000 {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let name = key(&format!("c/{}", seed >> 8 & 63));
        match seed >> 28 {
            0..=4 => drop(store.erase(&name).unwrap()),
            5 => store.erase_prefix(&prefix("c/")).unwrap(),
            _ => store.set(&name, &vec![0; (seed >> 16) as usize % 40_000], Condition::Always).unwrap(),
        }
        // Opening checks the file, and shares the open environment.
        drop(LmdbStore::open(&path).unwrap());
    }
}

#[test]
fn writers_wait_only_so_long_for_another_process() {
    let (_directory, path, store) = temporary();
    let impatient = LmdbOptions::new().lock_timeout(Duration::from_millis(100)).open(&path).unwrap();
    // The lock of another open file acts like the lock of another process.
    let other = fs::File::open(path.join("data.mdb")).unwrap();
    other.lock().unwrap();
    let error = impatient.set(&key("a/b"), b"new", Condition::Always).unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::TimedOut, "{error}");
    assert!(error.to_string().contains("for more than 0.1 s"), "{error}");
    assert_eq!(impatient.get(&key("a/b")).unwrap().unwrap(), "value");
    let waiting = std::thread::spawn(move || store.set(&key("a/b"), b"patient", Condition::Always));
    std::thread::sleep(Duration::from_millis(50));
    assert!(!waiting.is_finished());
    drop(other);
    waiting.join().unwrap().unwrap();
    impatient.set(&key("a/b"), b"new", Condition::Always).unwrap();
    assert_eq!(impatient.get(&key("a/b")).unwrap().unwrap(), "new");
}

#[test]
fn two_handles_are_one_storage() {
    let (_directory, path, store) = temporary();
    check_two_handles(&store, &LmdbStore::open(path).unwrap());
}

#[test]
fn processes_write_together() {
    if processes::is_child() {
        return;
    }
    let (_directory, path, store) = temporary();
    check_processes("databases::lmdb::processes_write_together_child", &path, &store);
}

/// Another process of the test above.
#[test]
fn processes_write_together_child() {
    // The map soon becomes too small for the writes of the other process.
    let options = LmdbOptions::new().sync(false).map_size(1);
    processes::run_child(&|path: &Path| Box::new(options.clone().open(path).unwrap()));
}

#[test]
fn parts_of_large_values_are_copied_alone() {
    let (_directory, _path, store) = temporary();
    let value: Vec<u8> = (0..1_000_000_u32).flat_map(u32::to_le_bytes).collect();
    store.set(&key("large"), &value, Condition::Always).unwrap();
    let parts = [ByteRange::From { offset: 4_000, length: Some(4) }, ByteRange::Suffix { length: 4 }];
    let parts = store.get_ranges(&key("large"), &parts).unwrap().unwrap();
    assert_eq!(parts, [1_000_u32, 999_999].map(|n| n.to_le_bytes().to_vec()));
}
