//! The directory store: the suite, and features of file systems.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[cfg(unix)]
mod disk;
#[cfg(unix)]
mod links;
mod processes;

use std::fs;
use std::io;
#[cfg(unix)]
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use tempfile::TempDir;
use zarrox_stores::{
    ByteRange, Bytes, Condition, DirListing, DirectoryStore, Prefix, ReadOnlyStore, Store, StoreErrorKind,
    StoreExt,
};
use zarrox_testkit::errors::assert_error;
use zarrox_testkit::store::{key, list, prefix, read_suite, store_suite};

fn temporary() -> (TempDir, DirectoryStore) {
    let directory = TempDir::new().unwrap();
    let store = DirectoryStore::open(directory.path().join("data.zarr")).unwrap();
    (directory, store)
}

fn put(store: &dyn Store, name: &str, value: &[u8]) {
    store.set(&key(name), value, Condition::Always).unwrap();
}

fn value(store: &dyn Store, name: &str) -> Option<Bytes> {
    store.get(&key(name)).unwrap()
}

/// Returns all names below a directory, including hidden names, sorted.
fn names_on_disk(path: &Path) -> Vec<PathBuf> {
    let mut names = Vec::new();
    let mut open = vec![path.to_owned()];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(directory).unwrap().map(Result::unwrap) {
            names.push(entry.path().strip_prefix(path).unwrap().to_owned());
            if entry.file_type().unwrap().is_dir() {
                open.push(entry.path());
            }
        }
    }
    names.sort();
    names
}

/// Runs the suite in new directories, which `open` opens as stores.
fn suite(open: impl Fn(&Path) -> DirectoryStore) {
    let kept = Mutex::new(Vec::new());
    store_suite(|| {
        let directory = TempDir::new().unwrap();
        let store = open(directory.path());
        kept.lock().unwrap().push(directory);
        Box::new(store)
    });
}

#[test]
fn passes_the_suite() {
    suite(|path| DirectoryStore::open(path).unwrap());
}

#[test]
fn passes_the_suite_in_a_directory_that_is_not_there_yet() {
    suite(|path| DirectoryStore::open(path.join("not/yet.zarr")).unwrap());
}

#[test]
fn passes_the_suite_when_links_are_followed() {
    suite(|path| DirectoryStore::open(path).unwrap().follow_links(true));
}

#[test]
#[cfg(unix)]
fn passes_the_suite_through_a_link_to_the_root() {
    suite(|path| {
        fs::create_dir(path.join("real")).unwrap();
        std::os::unix::fs::symlink("real", path.join("link")).unwrap();
        DirectoryStore::open(path.join("link")).unwrap()
    });
}

#[test]
fn passes_the_reading_suite_behind_the_read_only_wrapper() {
    let kept = Mutex::new(Vec::new());
    read_suite(|content| {
        let (directory, store) = temporary();
        content.iter().for_each(|(name, value)| put(&store, name, value));
        kept.lock().unwrap().push(directory);
        Box::new(ReadOnlyStore::new(Arc::new(store)))
    });
}

#[test]
fn synced_writes() {
    let (_directory, store) = temporary();
    let store = store.sync(true);
    put(&store, "a/b/c", b"1");
    put(&store, "a/b/c", b"2");
    store.set(&key("a/d"), b"3", Condition::Absent).unwrap();
    store.rename_prefix(&prefix("a/"), &prefix("x/y/")).unwrap();
    assert_eq!(value(&store, "x/y/b/c").unwrap(), "2");
    assert!(store.erase(&key("x/y/d")).unwrap());
    store.erase_prefix(&prefix("x/")).unwrap();
    assert_eq!(names_on_disk(store.path()), Vec::<PathBuf>::new());
}

#[test]
fn roots() {
    let directory = TempDir::new().unwrap();
    let file = directory.path().join("file");
    fs::write(&file, "").unwrap();
    let error = DirectoryStore::open(&file).unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Obstructed, "{error}");
    let error = DirectoryStore::create(file.join("below")).unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Obstructed, "{error}");

    let made = DirectoryStore::create(directory.path().join("a/b")).unwrap();
    assert!(made.path().is_dir());
    assert!(made.path().is_absolute());
    let here = DirectoryStore::open("").unwrap();
    assert_eq!(fs::canonicalize(here.path()).unwrap(), fs::canonicalize(".").unwrap());
}

#[test]
#[cfg(unix)]
fn roots_that_cannot_be_resolved() {
    let directory = TempDir::new().unwrap();
    std::os::unix::fs::symlink("nothing", directory.path().join("dangling")).unwrap();
    let error = DirectoryStore::open(directory.path().join("dangling")).unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::NotFound, "{error}");
    assert_error(
        DirectoryStore::open(directory.path().join("missing/../x")),
        StoreErrorKind::NotFound,
        "missing/../x",
    );
}

/// Windows cannot store these names, or stores them under other names. The values are missing, as a copy's names are.
#[test]
#[cfg(windows)]
fn names_that_windows_cannot_store_are_refused() {
    let (_directory, store) = temporary();
    put(&store, "a/b", b"v");
    for name in ["aux", "a/con", "nul.json", "a/COM1/c", "a.", "a/b ", "a:b", "what?", "tab\t"] {
        let error = store.set(&key(name), b"", Condition::Always).unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::InvalidKey, "{error}");
        assert!(error.to_string().contains("Windows cannot store the name"), "{error}");
        assert_eq!(value(&store, name), None, "{name}");
        assert!(!store.erase(&key(name)).unwrap(), "{name}");
        assert_eq!(store.list_dir(&prefix(&format!("{name}/"))).unwrap(), DirListing::default());
    }
    let error = store.rename_prefix(&prefix("a/"), &prefix("aux/")).unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::InvalidKey, "{error}");
    assert_eq!(list(&store, ""), [("a/b".to_owned(), 1)]);
}

/// A file system that does not distinguish upper and lower case must not return the value of another key.
#[test]
fn names_that_differ_only_in_case() {
    let (_directory, store) = temporary();
    put(&store, "Group/a", b"1");
    if !store.path().join("gROUP").exists() {
        put(&store, "group/A", b"2");
        assert_eq!(value(&store, "Group/a").unwrap(), "1");
        return;
    }
    for name in ["group/a", "Group/A", "GROUP/new"] {
        assert_eq!(value(&store, name), None, "{name}");
        assert!(!store.erase(&key(name)).unwrap(), "{name}");
        let error = store.set(&key(name), b"2", Condition::Always).unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::Obstructed, "{error}");
        assert!(error.to_string().contains("only in upper and lower case"), "{error}");
    }
    assert_eq!(list(&store, ""), [("Group/a".to_owned(), 1)]);
}

/// Windows limits paths to 260 characters, unless they are written in a special form.
#[test]
fn long_paths() {
    let (_directory, store) = temporary();
    let name = ["long-name-of-a-group"; 25].join("/");
    put(&store, &name, b"1");
    put(&store, &name, b"2");
    assert_eq!(value(&store, &name).unwrap(), "2");
    assert_eq!(list(&store, ""), [(name.clone(), 1)]);
    store.rename_prefix(&prefix("long-name-of-a-group/"), &prefix("moved/")).unwrap();
    let moved = name.replacen("long-name-of-a-group", "moved", 1);
    assert!(store.erase(&key(&moved)).unwrap());
    assert_eq!(names_on_disk(store.path()), Vec::<PathBuf>::new());
}

#[test]
fn a_root_that_is_removed_and_made_anew() {
    let (_directory, store) = temporary();
    assert_eq!(value(&store, "a"), None);
    assert!(!store.path().exists());
    put(&store, "a", b"1");
    fs::remove_dir_all(store.path()).unwrap();
    assert_eq!(value(&store, "a"), None);
    assert_eq!(list(&store, ""), []);
    put(&store, "a", b"2");
    assert_eq!(value(&store, "a").unwrap(), "2");
}

#[test]
fn erasing_removes_empty_directories_but_not_the_root() {
    let (_directory, store) = temporary();
    put(&store, "a/b/c/0", b"1");
    put(&store, "a/x", b"2");
    assert!(store.erase(&key("a/b/c/0")).unwrap());
    assert_eq!(names_on_disk(store.path()), [Path::new("a"), Path::new("a/x")]);
    store.erase_prefix(&prefix("a/")).unwrap();
    assert!(store.path().is_dir());
    assert_eq!(names_on_disk(store.path()), Vec::<PathBuf>::new());
    put(&store, "deep/down/v", b"3");
    store.erase_prefix(&Prefix::root()).unwrap();
    assert!(store.path().is_dir());
    assert_eq!(names_on_disk(store.path()), Vec::<PathBuf>::new());
}

#[test]
fn writing_while_directories_are_removed() {
    let (_directory, store) = temporary();
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let churn = scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                put(&store, "a/b/c/churn", b"v");
                store.erase(&key("a/b/c/churn")).unwrap();
            }
        });
        for round in 0..2_000_u32 {
            put(&store, "a/b/c/kept", &round.to_le_bytes());
            assert_eq!(value(&store, "a/b/c/kept").unwrap(), round.to_le_bytes()[..]);
            assert!(store.erase(&key("a/b/c/kept")).unwrap());
        }
        done.store(true, Ordering::Relaxed);
        churn.join().unwrap();
    });
    assert_eq!(names_on_disk(store.path()), Vec::<PathBuf>::new());
}

#[test]
fn a_directory_is_not_a_value() {
    let (_directory, store) = temporary();
    put(&store, "a/b", b"v");
    assert_eq!(value(&store, "a"), None);
    assert_eq!(store.size(&key("a")).unwrap(), None);
    // Chunks are opened, and are never directories. Only documents, which are read whole, may be missing in
    // this way.
    assert_eq!(store.open(&key("a")).map(drop).unwrap_err().kind(), StoreErrorKind::Obstructed);
    assert!(!store.erase(&key("a")).unwrap());
    for condition in [Condition::Always, Condition::Absent] {
        let error = store.set(&key("a"), b"", condition).unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::Obstructed, "{error}");
    }
    assert_eq!(value(&store, "a/b").unwrap(), "v");
}

#[test]
fn a_file_is_not_a_directory() {
    let (_directory, store) = temporary();
    put(&store, "a/b", b"v");
    assert_eq!(value(&store, "a/b/c/d"), None);
    assert_eq!(store.list_dir(&prefix("a/b/")).unwrap(), DirListing::default());
    let error = store.set(&key("a/b/c/d"), b"", Condition::Always).unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Obstructed);
    assert!(error.to_string().contains("'a/b' is a file"), "{error}");
    store.erase_prefix(&prefix("a/b/")).unwrap();
    put(&store, "x/y", b"v");
    let error = store.rename_prefix(&prefix("x/"), &prefix("a/b/")).unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Obstructed, "{error}");
    assert_eq!(value(&store, "a/b").unwrap(), "v");
}

#[test]
fn names_that_are_too_long() {
    let (_directory, store) = temporary();
    let long = "n".repeat(300);
    let error = store.set(&key(&long), b"", Condition::Always).unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::InvalidKey, "{error}");
}

#[test]
#[cfg(unix)]
fn names_that_are_not_utf8_are_not_listed() {
    use std::os::unix::ffi::OsStrExt;
    let (_directory, store) = temporary();
    put(&store, "a", b"v");
    for odd in [&b"\xff\xfe"[..], b"back\\slash"] {
        let path = store.path().join(std::ffi::OsStr::from_bytes(odd));
        fs::write(&path, "odd").unwrap();
        fs::create_dir(path.with_extension("d")).unwrap();
        fs::write(path.with_extension("d").join("a"), "odd").unwrap();
    }
    assert_eq!(list(&store, ""), [("a".to_owned(), 1)]);
    let listing = store.list_dir(&Prefix::root()).unwrap();
    assert_eq!((listing.keys, listing.prefixes), (vec![key("a")], vec![]));
    store.erase_prefix(&Prefix::root()).unwrap();
    assert_eq!(names_on_disk(store.path()), Vec::<PathBuf>::new());
}

#[test]
fn temporary_files_left_behind_are_hidden() {
    let (_directory, store) = temporary();
    put(&store, "a/v", b"v");
    let left = "a/.zarrox-1f-0.tmp";
    fs::write(store.path().join(left), "half").unwrap();
    assert_eq!(list(&store, ""), [("a/v".to_owned(), 1)]);
    assert_eq!(store.list_dir(&prefix("a/")).unwrap().keys, [key("a/v")]);
    assert_eq!(value(&store, left), None);
    assert_eq!(store.size(&key(left)).unwrap(), None);
    assert!(!store.erase(&key(left)).unwrap());
    let error = store.set(&key(left), b"", Condition::Always).unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::InvalidKey, "{error}");
    store.erase_prefix(&prefix("a/")).unwrap();
    assert_eq!(names_on_disk(store.path()), Vec::<PathBuf>::new());
}

#[test]
fn nothing_is_left_of_a_value_whose_parts_end_early() {
    let (_directory, store) = temporary();
    put(&store, "a/v", b"old");
    let broken = |write: &mut dyn FnMut(&[u8]) -> io::Result<()>| {
        write(b"half")?;
        Err(io::Error::other("no more"))
    };
    store.set_parts(&key("a/v"), 8, &broken, Condition::Always).unwrap_err();
    assert_eq!(value(&store, "a/v").unwrap(), "old");
    assert_eq!(names_on_disk(store.path()), [Path::new("a"), Path::new("a/v")]);
}

#[test]
fn temporary_names_that_are_taken_are_passed_over() {
    let (_directory, store) = temporary();
    fs::create_dir(store.path()).unwrap();
    for count in 0..100 {
        let name = format!(".zarrox-{:x}-{count:x}.tmp", std::process::id());
        fs::write(store.path().join(name), "left by a process with our number").unwrap();
    }
    put(&store, "a", b"v");
    assert_eq!(value(&store, "a").unwrap(), "v");
}

#[test]
#[cfg(unix)]
fn permissions_of_a_value_are_kept() {
    let (_directory, store) = temporary();
    put(&store, "a", b"1");
    for mode in [0o600, 0o664, 0o444] {
        fs::set_permissions(store.path().join("a"), fs::Permissions::from_mode(mode)).unwrap();
        put(&store, "a", b"2");
        assert_eq!(fs::metadata(store.path().join("a")).unwrap().permissions().mode() & 0o777, mode);
    }
}

#[test]
fn a_file_that_shrinks_while_it_is_read_is_an_error() {
    let (_directory, store) = temporary();
    put(&store, "a", b"0123456789");
    let open = store.open(&key("a")).unwrap().unwrap();
    fs::OpenOptions::new().write(true).open(store.path().join("a")).unwrap().set_len(4).unwrap();
    assert_eq!(open.read(0, 4).unwrap(), "0123");
    let error = open.read(0, 10).unwrap_err();
    assert_eq!((error.kind(), error.key()), (StoreErrorKind::Conflict, Some("a")), "{error}");
    assert_eq!(open.read_at(2, &mut [0; 8]).unwrap_err().kind(), StoreErrorKind::Conflict);
}

#[test]
fn ranges_of_a_value_larger_than_memory() {
    let (_directory, store) = temporary();
    put(&store, "a", b"");
    let file = fs::OpenOptions::new().write(true).open(store.path().join("a")).unwrap();
    file.set_len(1 << 42).unwrap();
    assert_eq!(store.size(&key("a")).unwrap(), Some(1 << 42));
    let ranges = [ByteRange::Suffix { length: 4 }, ByteRange::From { offset: 1 << 41, length: Some(2) }];
    assert_eq!(store.get_ranges(&key("a"), &ranges).unwrap().unwrap(), [&[0; 4][..], &[0; 2]]);
}

#[test]
#[cfg(unix)]
fn locks_are_shared_by_all_handles_of_a_directory() {
    let (directory, store) = temporary();
    put(&store, "a/b", b"v");
    std::os::unix::fs::symlink(store.path(), directory.path().join("link")).unwrap();
    let others = [
        (DirectoryStore::open(store.path()).unwrap(), "a/b"),
        (DirectoryStore::open(directory.path().join("link")).unwrap(), "a/b"),
        (DirectoryStore::open(store.path().join("a/../a")).unwrap(), "b"),
        (store.clone().sync(true), "a/b"),
    ];
    for (other, name) in &others {
        let held = store.lock(&key("a/b")).unwrap();
        thread::scope(|scope| {
            let waiter = scope.spawn(|| other.lock(&key(name)).map(drop));
            thread::sleep(Duration::from_millis(20));
            assert!(!waiter.is_finished());
            drop(held);
            waiter.join().unwrap().unwrap();
        });
    }
}
