//! The zip store: the suite, features of archives, and random changes against a model.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod archives;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use proptest::prelude::*;
use tempfile::TempDir;
use zarrox_stores::{
    Bytes, Condition, MemoryStore, Prefix, Store, StoreError, StoreErrorKind, StoreExt, ZipMode, ZipStore,
};
use zarrox_testkit::store::{key, list, prefix, read_suite, store_suite};

use zarrox_testkit::processes::{check_turns, is_child, take_turns};

fn place() -> (TempDir, PathBuf) {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("data.zip");
    (directory, path)
}

fn open(path: &PathBuf, mode: ZipMode) -> ZipStore {
    ZipStore::open(path, mode).unwrap()
}

fn put(store: &dyn Store, name: &str, value: &[u8]) {
    store.set(&key(name), value, Condition::Always).unwrap();
}

fn value(store: &dyn Store, name: &str) -> Option<Bytes> {
    store.get(&key(name)).unwrap()
}

fn suite(open: impl Fn(&PathBuf) -> ZipStore) {
    let kept = Mutex::new(Vec::new());
    store_suite(|| {
        let (directory, path) = place();
        let store = open(&path);
        kept.lock().unwrap().push(directory);
        Box::new(store)
    });
}

#[test]
fn passes_the_suite() {
    suite(|path| open(path, ZipMode::Append));
}

#[test]
fn passes_the_suite_deflated() {
    suite(|path| open(path, ZipMode::CreateNew).deflate(Some(1)));
}

#[test]
fn passes_the_suite_read_only() {
    suite(|path| {
        open(path, ZipMode::Create).close().unwrap();
        open(path, ZipMode::Read)
    });
}

/// Finished archives are opened again, so that no header has been read before.
#[test]
fn passes_the_reading_suite_when_opened_again() {
    for level in [None, Some(9)] {
        let kept = Mutex::new(Vec::new());
        read_suite(|content| {
            let (directory, path) = place();
            let store = open(&path, ZipMode::Create).deflate(level);
            content.iter().for_each(|(name, value)| put(&store, name, value));
            store.close().unwrap();
            kept.lock().unwrap().push(directory);
            Box::new(open(&path, ZipMode::Read))
        });
    }
}

#[test]
fn passes_the_reading_suite_inside_another_store() {
    read_suite(|content| {
        let (_directory, path) = place();
        let store = open(&path, ZipMode::Create);
        content.iter().for_each(|(name, value)| put(&store, name, value));
        store.close().unwrap();
        let outer = MemoryStore::new();
        put(&outer, "inner.zip", &fs::read(&path).unwrap());
        Box::new(ZipStore::open_in(Arc::new(outer), &key("inner.zip")).unwrap())
    });
    let error = ZipStore::open_in(Arc::new(MemoryStore::new()), &key("a.zip")).unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::NotFound);
}

#[test]
fn modes() {
    let (_directory, path) = place();
    for mode in [ZipMode::Read, ZipMode::ReadWrite] {
        let error = ZipStore::open(&path, mode).unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::NotFound, "{error}");
    }
    let store = open(&path, ZipMode::Append);
    assert_eq!(value(&store, "a"), None);
    assert!(!store.erase(&key("a")).unwrap());
    assert!(!path.exists(), "only a write creates it");
    put(&store, "a", b"1");
    drop(store);

    assert_eq!(ZipStore::open(&path, ZipMode::CreateNew).unwrap_err().kind(), StoreErrorKind::AlreadyExists);
    let store = open(&path, ZipMode::ReadWrite);
    put(&store, "b", b"2");
    drop(store);
    let store = open(&path, ZipMode::Read);
    assert_eq!(list(&store, ""), [("a".to_owned(), 1), ("b".to_owned(), 1)]);
    let error = store.set(&key("c"), b"", Condition::Always).unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::ReadOnly);

    let new = open(&path, ZipMode::Create);
    assert_eq!(list(&new, ""), []);
    drop(new);
    assert_eq!(list(&open(&path, ZipMode::Read), "").len(), 2, "the first write replaces the file");
    let new = open(&path, ZipMode::Create);
    new.close().unwrap();
    assert_eq!(list(&new, ""), []);
    assert_eq!(value(&store, "a").unwrap(), "1", "an open handle continues to read");
    drop(new);
    assert_eq!(list(&open(&path, ZipMode::Read), ""), []);
    assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
    assert_eq!(
        ZipStore::open(path.parent().unwrap(), ZipMode::Append).unwrap_err().kind(),
        StoreErrorKind::Obstructed
    );
}

#[test]
fn handles_of_one_archive_share_it() {
    let (_directory, path) = place();
    let first = open(&path, ZipMode::Append);
    let second = open(&path, ZipMode::Append);
    put(&first, "a", b"1");
    put(&second, "b", b"2");
    assert_eq!(value(&first, "b").unwrap(), "2");
    drop(first);
    put(&second, "c", b"3");
    let reader = open(&path, ZipMode::Read);
    assert_eq!(list(&reader, "").len(), 3);
    second.close().unwrap();
    put(&second, "d", b"4");
    assert_eq!(value(&reader, "d").unwrap(), "4");
}

#[test]
fn one_writer_at_a_time() {
    let (directory, path) = place();
    let store = open(&path, ZipMode::Append);
    put(&store, "a", b"1");
    // Another path acts like another program.
    let link = directory.path().join("other.zip");
    fs::hard_link(&path, &link).unwrap();
    let other = open(&link, ZipMode::Append);
    let error = other.set(&key("b"), b"2", Condition::Always).unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Unreachable, "{error}");
    assert!(error.to_string().contains("is writing to this archive"), "{error}");
    assert!(error.to_string().contains("other.zip"), "{error}");
    assert_eq!(ZipStore::open(&link, ZipMode::Create).unwrap_err().kind(), StoreErrorKind::Unreachable);

    // After the archive is finished, the other handle may write, and sees the earlier writes.
    store.close().unwrap();
    put(&other, "b", b"2");
    assert_eq!(list(&other, "").len(), 2);
    other.close().unwrap();
    put(&store, "c", b"3");
    assert_eq!(list(&store, "").len(), 3);
    assert_eq!(value(&store, "b").unwrap(), "2");
}

#[test]
fn a_file_that_is_replaced_is_not_written_to() {
    let (directory, path) = place();
    let store = open(&path, ZipMode::Append);
    put(&store, "a", b"1");
    store.close().unwrap();
    let other = directory.path().join("other.zip");
    open(&other, ZipMode::Create).close().unwrap();
    fs::rename(&other, &path).unwrap();
    let error = store.set(&key("b"), b"2", Condition::Always).unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Conflict, "{error}");
    assert_eq!(value(&store, "a").unwrap(), "1");
    assert_eq!(list(&open(&path, ZipMode::Append), ""), []);
}

#[test]
fn writes_of_another_handle_between_a_read_and_a_write_are_not_lost() {
    let (directory, path) = place();
    let store = open(&path, ZipMode::Append);
    put(&store, "a", b"1");
    store.close().unwrap();
    // The link acts as if another program had opened the archive.
    let link = directory.path().join("other.zip");
    fs::hard_link(&path, &link).unwrap();
    let other = open(&link, ZipMode::Append);
    let read = store.open(&key("a")).unwrap().unwrap().version().unwrap();
    put(&other, "a", b"2");
    other.close().unwrap();
    let error = store.set(&key("a"), b"3", Condition::Matches(&read)).unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Conflict, "{error}");
    assert_eq!(store.erase_if(&key("a"), Condition::Matches(&read)).unwrap_err().kind(), error.kind());
    store.close().unwrap();

    store.close().unwrap();
    assert_eq!(value(&store, "a").unwrap(), "2");
    let read = store.open(&key("a")).unwrap().unwrap().version().unwrap();
    store.set(&key("a"), b"3", Condition::Matches(&read)).unwrap();
    store.close().unwrap();
}

#[test]
fn an_entry_in_the_place_of_an_erased_one_has_another_version() {
    let (_directory, path) = place();
    let store = open(&path, ZipMode::Append);
    let version = || store.open(&key("a")).unwrap().unwrap().version().unwrap();
    put(&store, "a", b"1");
    let first = version();
    store.erase(&key("a")).unwrap();
    store.close().unwrap();
    put(&store, "a", b"2");
    assert_ne!(version(), first);
}

#[test]
fn processes_count_in_turns() {
    if is_child() {
        return;
    }
    let (_directory, path) = place();
    check_turns("zip::processes_count_in_turns_child", &path, &open_any);
}

/// Another process of the test above.
#[test]
fn processes_count_in_turns_child() {
    take_turns(&open_any);
}

fn open_any(path: &Path) -> Result<Box<dyn Store>, StoreError> {
    Ok(Box::new(ZipStore::open(path, ZipMode::Append)?))
}

/// A copy of the file after each step is the file that a killed process would leave.
#[test]
fn the_file_is_an_archive_at_all_times() {
    let (directory, path) = place();
    let store = open(&path, ZipMode::Append);
    put(&store, "kept/a", b"old");
    put(&store, "kept/b", &vec![7; 100_000]);
    store.close().unwrap();
    let finished = fs::read(&path).unwrap();
    let copy = directory.path().join("copy.zip");
    for step in 0..60_u8 {
        put(&store, &format!("new/{step}"), &vec![step; 70_000]);
        if step == 30 {
            assert!(store.erase(&key("kept/b")).unwrap());
        }
        fs::copy(&path, &copy).unwrap();
        let left = open(&copy, ZipMode::Append);
        assert_eq!(value(&left, "kept/a").unwrap(), "old");
        assert!(step >= 30 || value(&left, "kept/b").unwrap() == vec![7; 100_000]);
        let names = list(&left, "new/");
        assert!(names.len() <= usize::from(step) + 1);
        for (name, _) in names {
            let step: u8 = name.strip_prefix("new/").unwrap().parse().unwrap();
            assert!(value(&left, &name).unwrap() == vec![step; 70_000]);
        }
        // The remaining archive can be written and finished.
        put(&left, "after", b"1");
        drop(left);
        assert_eq!(value(&open(&copy, ZipMode::Read), "after").unwrap(), "1");
        fs::remove_file(&copy).unwrap();
    }
    store.close().unwrap();
    let length = fs::metadata(&path).unwrap().len();
    let expected = finished.len() as u64 + 60 * (70_000 + 30 + 46 + 12 + 10);
    assert!(length < expected, "{length}: no space is left between entries and directory");
    assert_eq!(list(&store, "").len(), 61);
}

/// A writer that is killed while it writes a directory of several pages leaves some of the pages.
#[test]
fn a_torn_directory_is_ignored_and_cut_off() {
    let (directory, path) = place();
    let store = open(&path, ZipMode::Append);
    (0..3000).for_each(|number| put(&store, &format!("kept/{number}"), b"old"));
    store.close().unwrap();
    let finished = fs::read(&path).unwrap();
    put(&store, "new", b"1");
    let after = fs::read(&path).unwrap();
    let offset = u32::from_le_bytes(after[after.len() - 6..after.len() - 2].try_into().unwrap()) as usize;
    assert!(after.len() - offset > 30 * 4096, "many pages");
    let copy = directory.path().join("copy.zip");
    for length in (1..after.len() - offset - 1).step_by(4096 * 5) {
        let mut torn = finished.clone();
        torn.resize(offset, 0);
        torn.extend(&after[offset..offset + length]);
        fs::write(&copy, &torn).unwrap();
        assert_eq!(list(&open(&copy, ZipMode::Read), "").len(), 3000, "{length}");
        assert_eq!(fs::read(&copy).unwrap(), torn, "reading changes nothing");
        let left = open(&copy, ZipMode::Append);
        put(&left, "after", b"2");
        drop(left);
        assert_eq!(list(&open(&copy, ZipMode::Read), "").len(), 3001, "{length}");
        cut_off_once(&copy, &torn);
        // Without zeros before the directory, the file is a truncated archive.
        torn[offset - 1000..offset].fill(1);
        fs::write(&copy, &torn).unwrap();
        assert_eq!(open_any(&copy).unwrap_err().kind(), StoreErrorKind::Corrupt, "{length}");
    }
}

/// A handle that has truncated a torn end and finished the archive does not truncate its own writes.
fn cut_off_once(path: &PathBuf, torn: &[u8]) {
    fs::write(path, torn).unwrap();
    let left = open(path, ZipMode::Append);
    for number in 0..3 {
        put(&left, &format!("after/{number}"), &vec![number; 300_000]);
        left.close().unwrap();
    }
    drop(left);
    let again = open(path, ZipMode::Read);
    (0..3).for_each(|number| {
        assert!(value(&again, &format!("after/{number}")).unwrap() == vec![number; 300_000]);
    });
}

#[test]
fn an_archive_is_finished_when_dropped() {
    let (_directory, path) = place();
    let store = open(&path, ZipMode::Create);
    put(&store, "a", b"1");
    let held = store.open(&key("a")).unwrap().unwrap();
    drop(store);
    assert_eq!(held.read(0, 1).unwrap(), "1");
    assert!(fs::read(&path).unwrap().starts_with(b"PK\x03\x04"));
    assert_eq!(value(&open(&path, ZipMode::Read), "a").unwrap(), "1");
}

#[test]
fn equal_values_make_equal_archives() {
    let written = [0, 1].map(|_| {
        let (_directory, path) = place();
        let store = open(&path, ZipMode::Create).deflate(Some(6)).sync(true);
        put(&store, "a", &[0; 1000]);
        put(&store, "ñ/b", b"1");
        store.flush().unwrap();
        fs::read(&path).unwrap()
    });
    assert_eq!(written[0], written[1]);
    assert!(written[0].len() < 300);
}

#[test]
fn a_hundred_thousand_entries() {
    const COUNT: usize = 100_000;
    let (_directory, path) = place();
    let store = open(&path, ZipMode::Create);
    for index in 0..COUNT {
        put(&store, &format!("c/{}/{index}", index % 10), &index.to_le_bytes());
    }
    store.close().unwrap();
    drop(store);
    let store = open(&path, ZipMode::Append);
    assert_eq!(list(&store, "").len(), COUNT);
    assert_eq!(value(&store, "c/9/99999").unwrap(), 99_999_usize.to_le_bytes()[..]);
    assert_eq!(store.list_dir(&prefix("c/")).unwrap().prefixes.len(), 10);
    store.erase_prefix(&prefix("c/3/")).unwrap();
    drop(store);
    let store = open(&path, ZipMode::Read);
    assert_eq!(list(&store, "").len(), COUNT - COUNT / 10);
    assert_eq!(value(&store, "c/0/0").unwrap(), 0_usize.to_le_bytes()[..]);
}

#[test]
fn names_that_zip_cannot_take() {
    let (_directory, path) = place();
    let store = open(&path, ZipMode::Append);
    let error = store.set(&key(&"n".repeat(65_536)), b"", Condition::Always).unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::InvalidKey);
    put(&store, &"n".repeat(65_535), b"1");
    drop(store);
    assert_eq!(list(&open(&path, ZipMode::Read), "").len(), 1);
}

#[derive(Clone, Debug)]
enum Step {
    Set(u8, usize),
    SetAbsent(u8, usize),
    Erase(u8),
    EraseTree(u8),
    Close,
    Reopen,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let length = prop_oneof![0_usize..200, Just(300_000), Just(1_500_000)];
    let step = prop_oneof![
        4 => (0_u8..12, length.clone()).prop_map(|(name, length)| Step::Set(name, length)),
        1 => (0_u8..12, length).prop_map(|(name, length)| Step::SetAbsent(name, length)),
        2 => (0_u8..12).prop_map(Step::Erase),
        1 => (0_u8..3).prop_map(Step::EraseTree),
        1 => Just(Step::Close),
        1 => Just(Step::Reopen),
    ];
    prop::collection::vec(step, 1..40)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn any_sequence_of_changes_is_as_in_a_map(steps in steps(), level in prop_oneof![Just(None), Just(Some(1))]) {
        let (_directory, path) = place();
        let mut store = open(&path, ZipMode::Append).deflate(level);
        let mut model: BTreeMap<String, Vec<u8>> = BTreeMap::new();
        let name = |number: u8| format!("{}/{number}", number % 3);
        for (round, step) in steps.into_iter().enumerate() {
            let bytes = |length: usize| -> Vec<u8> { (0..length).map(|i| (i * i + round).to_le_bytes()[0]).collect() };
            match step {
                Step::Set(number, length) => {
                    put(&store, &name(number), &bytes(length));
                    model.insert(name(number), bytes(length));
                }
                Step::SetAbsent(number, length) => {
                    let set = store.set(&key(&name(number)), &bytes(length), Condition::Absent);
                    prop_assert_eq!(set.is_ok(), !model.contains_key(&name(number)));
                    model.entry(name(number)).or_insert_with(|| bytes(length));
                }
                Step::Erase(number) => {
                    let erased = store.erase(&key(&name(number))).unwrap();
                    prop_assert_eq!(erased, model.remove(&name(number)).is_some());
                }
                Step::EraseTree(number) => {
                    store.erase_prefix(&prefix(&format!("{number}/"))).unwrap();
                    model.retain(|name, _| !name.starts_with(&format!("{number}/")));
                }
                Step::Close => store.close().unwrap(),
                Step::Reopen => {
                    drop(store);
                    store = open(&path, ZipMode::Append).deflate(level);
                }
            }
            let sizes: Vec<_> = model.iter().map(|(name, bytes)| (name.clone(), bytes.len() as u64)).collect();
            prop_assert_eq!(list(&store, ""), sizes);
        }
        for (name, bytes) in &model {
            prop_assert!(value(&store, name).unwrap() == *bytes);
        }
        prop_assert_eq!(store.list_dir(&Prefix::root()).unwrap().keys.len(), 0);
    }
}
