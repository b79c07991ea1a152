//! The disk cache.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use zarrox_stores::{
    Condition, CountingStore, DirectoryStore, DiskCacheOptions, DiskCacheStore, Operation, Prefix, Store,
    StoreExt,
};
use zarrox_testkit::store::{key, prefix, store_suite};

use super::{get, memory, never_keeps_what_was_replaced, put, reads_what_was_written};
use zarrox_testkit::other_process;

fn cached(store: &CountingStore, directory: &Path) -> DiskCacheStore {
    DiskCacheOptions::new().open(Arc::new(store.clone()), directory).unwrap()
}

/// Returns the total size of the files in a directory.
fn size_of(directory: &Path) -> u64 {
    fs::read_dir(directory).unwrap().map(|file| file.unwrap().metadata().unwrap().len()).sum()
}

fn files_in(directory: &Path) -> usize {
    fs::read_dir(directory).unwrap().count()
}

#[test]
fn passes_the_suite() {
    let directory = tempfile::tempdir().unwrap();
    for options in [DiskCacheOptions::new(), DiskCacheOptions::new().validate(true)] {
        store_suite(|| Box::new(options.clone().open(memory(), directory.path()).unwrap()));
    }
}

#[test]
fn nothing_is_stale() {
    let directory = tempfile::tempdir().unwrap();
    let wrap = |store| DiskCacheOptions::new().open(store, directory.path()).unwrap();
    never_keeps_what_was_replaced(|store| Box::new(wrap(store)));
    reads_what_was_written(&wrap(memory()));
}

#[test]
fn copies_outlive_the_cache_and_belong_to_one_store() {
    let directory = tempfile::tempdir().unwrap();
    let (one, two) = (CountingStore::new(memory()), CountingStore::new(memory()));
    let long = "long/".repeat(300) + "name";
    put(&one, &long, b"one");
    put(&two, &long, b"two");
    for store in [&one, &two] {
        get(&cached(store, directory.path()), &long).unwrap();
        store.take();
    }
    assert_eq!(files_in(directory.path()), 2);
    assert_eq!(get(&cached(&one, directory.path()), &long).unwrap(), "one");
    assert_eq!(get(&cached(&two, directory.path()), &long).unwrap(), "two");
    let value = cached(&one, directory.path()).open(&key(&long)).unwrap().unwrap();
    assert_eq!((value.size(), value.read(1, 2).unwrap()), (3, "ne".into()));
    assert_eq!(value.version(), one.open(&key(&long)).unwrap().unwrap().version());
    assert_eq!(two.counts().total(), 0, "{:?}", two.counts());

    cached(&one, directory.path()).clear().unwrap();
    assert_eq!(files_in(directory.path()), 0);
    assert_eq!(value.read(0, 3).unwrap(), "one", "it is open");
}

#[test]
fn of_others_writes_only_validation_learns() {
    let directory = tempfile::tempdir().unwrap();
    let inner = CountingStore::new(memory());
    put(&inner, "v", b"old");
    let believing = cached(&inner, directory.path());
    let asking =
        DiskCacheOptions::new().validate(true).open(Arc::new(inner.clone()), directory.path()).unwrap();
    assert_eq!(get(&believing, "v").unwrap(), "old");
    inner.take();
    assert_eq!(get(&asking, "v").unwrap(), "old");
    assert_eq!(
        (inner.counts().of(Operation::Open), inner.counts().bytes_read),
        (1, 0),
        "validated, not read"
    );
    put(&inner, "v", b"new");
    assert_eq!(get(&believing, "v").unwrap(), "old");
    assert_eq!(get(&asking, "v").unwrap(), "new");
    assert_eq!(get(&believing, "v").unwrap(), "new", "the copy is a new one");
    inner.erase(&key("v")).unwrap();
    assert_eq!(get(&asking, "v"), None);
    assert_eq!(get(&believing, "v"), None);

    // A store without versions cannot validate a copy.
    let plain = DirectoryStore::open(directory.path().join("plain")).unwrap();
    put(&plain, "v", b"old");
    let asking =
        DiskCacheOptions::new().validate(true).open(Arc::new(plain.clone()), directory.path()).unwrap();
    assert_eq!(get(&asking, "v").unwrap(), "old");
    put(&plain, "v", b"new");
    assert_eq!(get(&asking, "v").unwrap(), "new");
}

#[test]
fn the_size_is_bounded_and_recently_used_entries_stay() {
    const LIMIT: u64 = 1 << 20;
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("another file"), [7; 1000]).unwrap();
    let inner = CountingStore::new(memory());
    for index in 0..200 {
        put(&inner, &format!("v/{index}"), &[7; 20_000]);
    }
    put(&inner, "too large", &vec![7; 1 << 20]);
    // The two stores act like two processes with separate counts.
    let open =
        || DiskCacheOptions::new().limit(LIMIT).open(Arc::new(inner.clone()), directory.path()).unwrap();
    let stores = [open(), open()];
    for index in 0..200 {
        get(&stores[index % 2], &format!("v/{index}")).unwrap();
        get(&stores[index % 2], "v/0").unwrap();
        let size = size_of(directory.path());
        assert!(size <= LIMIT + LIMIT / 4, "{size} bytes after {index}");
    }
    assert!(size_of(directory.path()) > LIMIT / 2);
    inner.take();
    assert_eq!(get(&stores[0], "v/0").unwrap().len(), 20_000);
    assert_eq!(inner.counts().total(), 0, "a value in constant use was evicted");
    let before = files_in(directory.path());
    assert_eq!(get(&stores[0], "too large").unwrap().len(), 1 << 20);
    assert_eq!(files_in(directory.path()), before);
    assert!(directory.path().join("another file").exists());
}

#[test]
fn damaged_copies_are_ignored() {
    let directory = tempfile::tempdir().unwrap();
    let inner = CountingStore::new(memory());
    put(&inner, "v", b"value");
    let store = cached(&inner, directory.path());
    get(&store, "v").unwrap();
    let file = fs::read_dir(directory.path()).unwrap().next().unwrap().unwrap().path();
    let whole = fs::read(&file).unwrap();
    let mut damaged: Vec<Vec<u8>> = (0..whole.len()).map(|length| whole[..length].to_vec()).collect();
    // The changed bytes are the lengths, and the identity of another value.
    for place in (0..40).chain(42..44) {
        let mut bytes = whole.clone();
        bytes[place] ^= 0xff;
        damaged.push(bytes);
    }
    for bytes in damaged {
        fs::write(&file, &bytes).unwrap();
        assert_eq!(get(&store, "v").unwrap(), "value", "{bytes:?}");
    }
    assert_eq!(fs::read(&file).unwrap(), whole, "a good copy replaced the damaged one");
}

#[test]
fn leftovers_of_an_interruption_are_evicted() {
    let directory = tempfile::tempdir().unwrap();
    let left = directory.path().join(".zarrox-copying-abc");
    fs::write(&left, vec![7; 1 << 20]).unwrap();
    let inner = CountingStore::new(memory());
    put(&inner, "v", &[7; 10_000]);
    let store = DiskCacheOptions::new().limit(1 << 20).open(Arc::new(inner), directory.path()).unwrap();
    assert!(!left.exists());
    get(&store, "v").unwrap();
    assert_eq!(files_in(directory.path()), 1);
}

#[test]
fn writes_below_a_prefix_invalidate_its_entries() {
    let directory = tempfile::tempdir().unwrap();
    let inner = CountingStore::new(memory());
    let store = cached(&inner, directory.path());
    for name in ["a/v", "ab/v", "c/v"] {
        put(&store, name, name.as_bytes());
        get(&store, name).unwrap();
    }
    store.rename_prefix(&prefix("a/"), &prefix("d/")).unwrap();
    assert_eq!((get(&store, "a/v"), get(&store, "d/v").unwrap()), (None, "a/v".into()));
    store.erase_prefix(&prefix("c/")).unwrap();
    assert_eq!(get(&store, "c/v"), None);
    assert_eq!(files_in(directory.path()), 2);
    store.erase_prefix(&Prefix::root()).unwrap();
    assert_eq!(files_in(directory.path()), 0);
}

#[test]
fn where_nothing_can_be_written_values_are_read_without_a_copy() {
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path().join("copies");
    let inner = CountingStore::new(memory());
    let store = cached(&inner, &place);
    put(&store, "v", b"value");
    fs::remove_dir(&place).unwrap();
    assert_eq!(get(&store, "v").unwrap(), "value");
    store.set(&key("v"), b"new", Condition::Always).unwrap();
    assert_eq!(get(&store, "v").unwrap(), "new");

    fs::write(&place, b"a file").unwrap();
    let error = DiskCacheOptions::new().open(memory(), &place).unwrap_err();
    assert!(error.to_string().contains("copies"), "{error}");
}

const CHILD: &str = "ZARROX_TEST_CACHE";

/// The other processes of the next test.
#[test]
fn child() {
    if let Some(directory) = std::env::var_os(CHILD) {
        read_all(Path::new(&directory));
    }
}

/// Reads every value several times, with space for a tenth of them.
fn read_all(directory: &Path) {
    let values = Arc::new(DirectoryStore::open(directory.join("values")).unwrap());
    let options = DiskCacheOptions::new().limit(200_000);
    let store = options.open(values, directory.join("copies")).unwrap();
    for index in 0..600_u32 {
        let index = index * 7 % 100;
        assert_eq!(get(&store, &index.to_string()).unwrap(), index.to_le_bytes().repeat(4_000), "{index}");
    }
}

#[test]
fn processes_share_a_directory() {
    let directory = tempfile::tempdir().unwrap();
    let values = DirectoryStore::open(directory.path().join("values")).unwrap();
    (0..100_u32).for_each(|index| put(&values, &index.to_string(), &index.to_le_bytes().repeat(4_000)));
    let start = |_| other_process::start("wrappers::caches::disk::child", CHILD, directory.path());
    let children: Vec<_> = (0..3).map(start).collect();
    read_all(directory.path());
    children.into_iter().for_each(other_process::finish);
    assert!(size_of(&directory.path().join("copies")) <= 200_000 + 4 * 200_000 / 8);
}
