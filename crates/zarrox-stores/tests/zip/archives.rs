//! Archives of other programs, and damaged or inconsistent archives.

use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use proptest::prelude::*;
use tempfile::TempDir;
use zarrox_stores::{
    ByteRange, Capabilities, Condition, DirListing, Key, LockGuard, MemoryStore, Payload, Prefix, Store,
    StoreError, StoreErrorKind, StoreExt, Value, ZipMode, ZipStore, provided,
};
use zarrox_testkit::errors::assert_error;
use zarrox_testkit::store::{key, list};

fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/zip").join(name)
}

fn content() -> [(&'static str, Vec<u8>); 3] {
    [("a", b"one".to_vec()), ("b/c/d", b"two".repeat(100)), ("empty", Vec::new())]
}

fn holds_content(store: &dyn Store) {
    let sizes = content().map(|(name, bytes)| (name.to_owned(), bytes.len() as u64));
    assert_eq!(list(store, ""), sizes);
    for (name, bytes) in content() {
        assert_eq!(store.get(&key(name)).unwrap().unwrap(), bytes, "{name}");
    }
    let part = store.open(&key("b/c/d")).unwrap().unwrap().read(4, 5).unwrap();
    assert_eq!(part, "wotwo");
}

/// Returns an archive in memory, opened for reading.
fn in_memory(bytes: &[u8]) -> Result<ZipStore, StoreError> {
    let outer = MemoryStore::new();
    outer.set(&key("x.zip"), bytes, Condition::Always)?;
    ZipStore::open_in(Arc::new(outer), &key("x.zip"))
}

const ORDINARY: [&str; 10] = [
    "stored.zip",
    "deflated.zip",
    "zip64.zip",
    "streamed_stored.zip",
    "streamed_deflated.zip",
    "duplicates.zip",
    "comment.zip",
    "prefixed.zip",
    "info_zip.zip",
    "info_zip_streamed.zip",
];

#[test]
fn archives_of_other_programs_are_read() {
    for name in ORDINARY {
        println!("{name}");
        holds_content(&ZipStore::open(golden(name), ZipMode::Read).unwrap());
        holds_content(&in_memory(&fs::read(golden(name)).unwrap()).unwrap());
    }
}

#[test]
fn archives_of_other_programs_are_appended_to() {
    for name in ORDINARY {
        println!("{name}");
        let directory = TempDir::new().unwrap();
        let path = directory.path().join(name);
        fs::copy(golden(name), &path).unwrap();
        let before = fs::read(&path).unwrap();
        let store = ZipStore::open(&path, ZipMode::Append).unwrap();
        store.set(&key("new"), b"value", Condition::Always).unwrap();
        store.set(&key("a"), b"changed", Condition::Always).unwrap();
        assert!(store.erase(&key("empty")).unwrap());
        drop(store);
        let store = ZipStore::open(&path, ZipMode::Read).unwrap();
        let listed: Vec<_> = list(&store, "").into_iter().map(|(name, _)| name).collect();
        assert_eq!(listed, ["a", "b/c/d", "new"]);
        assert_eq!(store.get(&key("a")).unwrap().unwrap(), "changed");
        assert_eq!(store.get(&key("b/c/d")).unwrap().unwrap(), content()[1].1);
        let after = fs::read(&path).unwrap();
        assert_eq!(after[..40], before[..40], "the earlier bytes stay");
        if name == "comment.zip" {
            assert_eq!(after[after.len() - 321..], before[before.len() - 321..], "the comment stays");
        }
    }
}

/// A store of one value that counts its reads and the bytes that were read.
#[derive(Debug)]
struct Counting(Arc<Vec<u8>>, Arc<Mutex<(usize, usize)>>);

impl Value for Counting {
    fn size(&self) -> u64 {
        self.0.len() as u64
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), StoreError> {
        let mut counts = self.1.lock().unwrap();
        *counts = (counts.0 + 1, counts.1 + buffer.len());
        let start = usize::try_from(offset).unwrap();
        buffer.copy_from_slice(&self.0[start..start + buffer.len()]);
        Ok(())
    }
}

impl Store for Counting {
    provided!(directory get get_ranges get_many size contains rename_prefix flush stamp hold exchange);

    fn location(&self) -> String {
        "counting".into()
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::default()
    }

    fn open_with(&self, _: &Key, _: Option<ByteRange>) -> Result<Option<Box<dyn Value>>, StoreError> {
        Ok(Some(Box::new(Self(Arc::clone(&self.0), Arc::clone(&self.1)))))
    }

    fn put(&self, _: &Key, _: Payload<'_>, _: Condition<'_>) -> Result<(), StoreError> {
        unreachable!()
    }

    fn erase_if(&self, _: &Key, condition: Condition<'_>) -> Result<bool, StoreError> {
        condition.unconditional()?;
        unreachable!()
    }

    fn erase_prefix(&self, _: &Prefix) -> Result<(), StoreError> {
        unreachable!()
    }

    fn list_prefix(
        &self,
        _: &Prefix,
        _: &mut dyn FnMut(Key, u64) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        unreachable!()
    }

    fn list_dir(&self, _: &Prefix) -> Result<DirListing, StoreError> {
        unreachable!()
    }

    fn lock(&self, _: &Key) -> Result<LockGuard, StoreError> {
        unreachable!()
    }
}

#[test]
fn an_entry_costs_one_read_and_a_part_no_more_than_itself() {
    const LARGE: usize = 1_000_000;
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("x.zip");
    let store = ZipStore::open(&path, ZipMode::Create).unwrap();
    for name in ["a", "b", "c"] {
        store.set(&key(name), &vec![1; LARGE], Condition::Always).unwrap();
    }
    store.close().unwrap();
    let counts = Arc::new(Mutex::new((0, 0)));
    let outer = Counting(Arc::new(fs::read(&path).unwrap()), Arc::clone(&counts));
    let store = ZipStore::open_in(Arc::new(outer), &key("x.zip")).unwrap();
    let counted = || std::mem::take(&mut *counts.lock().unwrap());
    let (reads, bytes) = counted();
    assert!(reads <= 2 && bytes < 100_000, "the directory: {reads} {bytes}");
    assert_eq!(store.get(&key("b")).unwrap().unwrap().len(), LARGE);
    let (reads, bytes) = counted();
    assert!(reads == 1 && bytes < LARGE + 200, "an entry: {reads} {bytes}");
    let value = store.open(&key("c")).unwrap().unwrap();
    assert_eq!(counted(), (0, 0));
    value.read(LARGE as u64 - 10, 10).unwrap();
    let (reads, bytes) = counted();
    assert!(reads == 2 && bytes < 200, "a part, and the header: {reads} {bytes}");
    value.read(500_000, 10).unwrap();
    assert_eq!(counted(), (1, 10));
}

#[test]
fn methods_that_are_not_read_are_named() {
    for (name, method) in [("bzip2.zip", "12 (bzip2)"), ("lzma.zip", "14 (lzma)")] {
        let store = ZipStore::open(golden(name), ZipMode::Read).unwrap();
        assert_eq!(list(&store, "").len(), 3);
        let error = store.get(&key("b/c/d")).unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::Unsupported);
        assert!(error.to_string().contains(method), "{error}");
        assert!(error.to_string().contains(&format!("{name}/b/c/d")), "{error}");
    }
}

#[test]
fn names_that_lead_outside_are_not_keys() {
    let store = ZipStore::open(golden("names.zip"), ZipMode::Read).unwrap();
    let listed: Vec<_> = list(&store, "").into_iter().map(|(name, _)| name).collect();
    assert_eq!(listed, ["back/slash", "good", "z", "ñ/д"]);
    assert!(store.get(&key("z")).unwrap().is_some() && store.get(&key("back/slash")).unwrap().is_some());
    assert_eq!(store.get(&key("ñ/д")).unwrap().unwrap(), "ñ/д".as_bytes());
}

/// Checks the keys and documents of archives of zarr-python 2. Tests of the crate `zarrox` read their arrays.
#[test]
fn archives_of_zarr_python() {
    let store = ZipStore::open(golden("zarr2.zip"), ZipMode::Read).unwrap();
    let listed: Vec<_> = list(&store, "").into_iter().map(|(name, _)| name).collect();
    let chunks = ["0.0", "0.1", "1.0", "1.1"].map(|chunk| format!("measured/a/{chunk}"));
    let documents = [".zattrs", ".zgroup", "measured/.zgroup", "measured/a/.zarray", "measured/a/.zattrs"];
    let mut expected: Vec<_> = documents.map(str::to_owned).into_iter().chain(chunks).collect();
    expected.sort();
    assert_eq!(listed, expected);
}

fn stored() -> Vec<u8> {
    fs::read(golden("stored.zip")).unwrap()
}

/// Returns the offset of the nth record of the directory.
fn record(bytes: &[u8], nth: usize) -> usize {
    let places = (0..bytes.len() - 4).filter(|at| bytes[*at..].starts_with(b"PK\x01\x02"));
    places.collect::<Vec<_>>()[nth]
}

fn end(bytes: &[u8]) -> usize {
    (0..bytes.len() - 4).rfind(|at| bytes[*at..].starts_with(b"PK\x05\x06")).unwrap()
}

fn put_u32(bytes: &mut [u8], at: usize, value: u32) {
    bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
}

/// Returns the error of reading an entry of an archive that was changed.
fn entry_error(name: &str, change: impl FnOnce(&mut Vec<u8>)) -> StoreError {
    let mut bytes = stored();
    change(&mut bytes);
    let store = in_memory(&bytes).unwrap();
    let error = store.get(&key(name)).unwrap_err();
    assert!(error.to_string().contains(&format!("x.zip/{name}")), "{error}");
    // Other entries are unaffected.
    assert_eq!(store.get(&key("empty")).unwrap().unwrap(), "");
    error
}

fn corrupt(name: &str, says: &str, change: impl FnOnce(&mut Vec<u8>)) {
    let error = entry_error(name, change);
    assert_eq!(error.kind(), StoreErrorKind::Corrupt, "{error}");
    assert!(error.to_string().contains(says), "{error}");
}

#[test]
fn damaged_entries_are_corrupt() {
    corrupt("b/c/d", "CRC-32", |bytes| {
        let data = bytes.windows(6).position(|window| window == b"twotwo").unwrap();
        bytes[data + 100] ^= 1;
    });
    corrupt("a", "no entry was found at the offset in the directory", |bytes| bytes[0] = b'Q');
    corrupt("a", "another name than its record in the directory", |bytes| bytes[30] = b'x');
    corrupt("a", "two different sizes", |bytes| put_u32(bytes, record(&stored(), 0) + 24, 4));
    // The entry is larger than the space before the next entry.
    corrupt("a", "extends into the next one", |bytes| {
        let at = record(&stored(), 0);
        put_u32(bytes, at + 20, 100);
        put_u32(bytes, at + 24, 100);
    });
    corrupt("b/c/d", "beyond the archive", |bytes| put_u32(bytes, record(&stored(), 1) + 42, 1 << 30));
    corrupt("b/c/d", "", |bytes| put_u32(bytes, record(&stored(), 1) + 42, 1));
}

#[test]
fn encrypted_entries_are_unsupported() {
    let error = entry_error("a", |bytes| bytes[record(&stored(), 0) + 8] |= 1);
    assert_eq!(error.kind(), StoreErrorKind::Unsupported);
    assert!(error.to_string().contains("encrypted"), "{error}");
}

#[test]
fn damaged_directories_are_corrupt() {
    let fails = |change: &dyn Fn(&mut Vec<u8>), says: &str| {
        let mut bytes = stored();
        change(&mut bytes);
        let error = in_memory(&bytes).unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::Corrupt, "{error}");
        assert!(error.to_string().contains(says), "{error}");
        assert!(error.to_string().contains("x.zip"), "{error}");
    };
    let at_end = end(&stored());
    fails(&|bytes| bytes.clear(), "not a zip archive");
    fails(&|bytes| bytes[at_end] = b'Q', "it is truncated");
    fails(&|bytes| put_u32(bytes, at_end + 12, u32::MAX - 1), "outside the archive");
    fails(&|bytes| put_u32(bytes, at_end + 16, u32::MAX - 1), "outside the archive");
    fails(&|bytes| put_u32(bytes, at_end + 12, 20), "no directory was found at the offset");
    fails(&|bytes| bytes[at_end + 10] = 2, "3 records, but its header says 2");
    fails(&|bytes| bytes[at_end + 20] = 1, "comment of the archive is truncated");
    fails(&|bytes| bytes[record(&stored(), 1)] = b'Q', "between its records");
    fails(&|bytes| bytes[record(&stored(), 2) + 28] = 200, "directory is truncated");
    // An archive inside a truncated archive is not mistaken for it.
    fails(&|bytes| *bytes = [&bytes[..40], &stored()].concat(), "only a part of the file");
    let error = in_memory(&{
        let mut bytes = stored();
        bytes[at_end + 4] = 1;
        bytes
    });
    assert_eq!(error.unwrap_err().kind(), StoreErrorKind::Unsupported);
}

#[test]
fn a_truncated_file_is_not_an_archive() {
    for name in ORDINARY.into_iter().filter(|name| *name != "comment.zip") {
        let bytes = fs::read(golden(name)).unwrap();
        for length in 0..bytes.len() {
            let error = in_memory(&bytes[..length]).unwrap_err();
            assert_eq!(error.kind(), StoreErrorKind::Corrupt, "{name} {length}: {error}");
        }
    }
}

#[test]
fn bytes_that_follow_are_put_up_with() {
    holds_content(&in_memory(&[stored(), vec![0; 1000]].concat()).unwrap());
    assert_error(
        in_memory(&[stored(), vec![0; 100_000]].concat()),
        StoreErrorKind::Corrupt,
        "no directory was found at its end",
    );
}

#[test]
fn bombs_are_refused_before_they_take_memory() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("x.zip");
    let store = ZipStore::open(&path, ZipMode::Create).unwrap().deflate(Some(9));
    store.set(&key("bomb"), &vec![0; 1 << 20], Condition::Always).unwrap();
    store.close().unwrap();
    let bytes = fs::read(&path).unwrap();
    assert!(bytes.len() < 2000);

    let error = store.inflate_limit(1000).get(&key("bomb")).unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::TooLarge);
    assert!(error.to_string().contains("inflate_limit()"), "{error}");
    for size in [0, 1, 1000, (1 << 20) - 1, (1 << 20) + 1, 1 << 30, u32::MAX - 1] {
        let mut bytes = bytes.clone();
        let at = record(&bytes, 0) + 24;
        put_u32(&mut bytes, at, size);
        let error = in_memory(&bytes).unwrap().get(&key("bomb")).unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::Corrupt, "{size}: {error}");
    }
    let mut cut = bytes.clone();
    let at = record(&bytes, 0) + 20;
    put_u32(&mut cut, at, 1020);
    assert_eq!(in_memory(&cut).unwrap().get(&key("bomb")).unwrap_err().kind(), StoreErrorKind::Corrupt);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    /// Nothing panics, and every value has the listed size.
    #[test]
    fn any_damage_is_an_error_or_harmless(
        file in prop::sample::select(ORDINARY.to_vec()),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let mut bytes = fs::read(golden(file)).unwrap();
        for (place, value) in changes {
            let place = place.index(bytes.len());
            bytes[place] = value;
        }
        if let Ok(store) = in_memory(&bytes) {
            for (name, size) in list(&store, "") {
                let value = store.open(&key(&name)).unwrap().unwrap();
                if let Ok(read) = value.read(0, size) {
                    prop_assert_eq!(read.len() as u64, size);
                }
                let _ = value.read(size / 2, size - size / 2);
            }
        }
    }
}
