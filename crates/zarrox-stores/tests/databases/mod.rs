//! What the tests of embedded databases share.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(dead_code, reason = "each test program uses some of it")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;
use zarrox_stores::{Condition, Store, StoreError, StoreErrorKind};
use zarrox_testkit::store::{key, list, prefix};

/// The files that zarr-python wrote, see the README beside them.
pub struct Golden {
    pub sqlite: &'static str,
    pub lmdb: &'static str,
    pub gdbm: &'static str,
}

pub const GOLDEN: Golden =
    Golden { sqlite: "hierarchy.sqlite", lmdb: "hierarchy.lmdb", gdbm: "hierarchy.gdbm" };

/// Keys below `golden` with the sizes of their values.
const KEYS: [(&str, u64); 8] = [
    (".zattrs", 41),
    (".zgroup", 24),
    ("group/.zgroup", 24),
    ("group/counts/.zarray", 0),
    ("group/counts/.zattrs", 0),
    ("group/counts/0.0", 48),
    ("group/counts/0.1", 48),
    ("group/counts/1.0", 48),
];

/// A copy of a file that zarr-python wrote.
pub fn golden(extension: &str) -> (TempDir, PathBuf) {
    let directory = TempDir::new().unwrap();
    let name = format!("hierarchy.{extension}");
    let path = directory.path().join(&name);
    fs::copy(golden_path(&name), &path).unwrap();
    (directory, path)
}

fn golden_path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name)
}

/// The values that zarr-python wrote are there, and can be changed.
pub fn check_golden(store: &dyn Store) {
    let listed = list(store, "");
    let names: Vec<&str> = listed.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, KEYS.map(|(name, _)| name));
    for ((name, size), (_, expected)) in listed.iter().zip(KEYS) {
        assert!(expected == 0 || *size == expected, "{name} has {size} bytes");
    }
    let counts = |first: i32| -> Vec<u8> { (0..12).flat_map(|n| (first + n).to_le_bytes()).collect() };
    for (chunk, first) in [("0.0", 0), ("0.1", 100), ("1.0", 200)] {
        let value = store.get(&key(&format!("group/counts/{chunk}"))).unwrap().unwrap();
        assert_eq!(value, counts(first), "{chunk}");
    }
    let document = store.get(&key("group/counts/.zarray")).unwrap().unwrap();
    assert!(std::str::from_utf8(&document).unwrap().contains("\"dtype\": \"<i4\""));
    let listing = store.list_dir(&prefix("group/")).unwrap();
    assert_eq!((listing.keys.len(), listing.prefixes.len()), (1, 1));

    store.set(&key("group/counts/1.1"), &counts(300), Condition::Absent).unwrap();
    let taken = store.set(&key("group/counts/0.0"), b"", Condition::Absent).unwrap_err();
    assert_eq!(taken.kind(), StoreErrorKind::AlreadyExists);
    store.set(&key("group/counts/0.0"), &counts(400), Condition::Always).unwrap();
    assert!(store.erase(&key("group/counts/0.1")).unwrap());
    assert_eq!(store.get(&key("group/counts/0.0")).unwrap().unwrap(), counts(400));
    assert_eq!(list(store, "group/counts/").len(), 5);
}

/// Opens a store.
type Open<'a> = &'a dyn Fn(&Path) -> Result<Box<dyn Store>, StoreError>;

/// Files that are empty, of another kind or cut off are refused, and never crash. Where a part of a file is enough to
/// open it, reading gives values or errors.
pub fn check_malformed(open: Open<'_>, name: &str) {
    let whole = fs::read(golden_path(name)).unwrap();
    let directory = TempDir::new().unwrap();
    let path = directory.path().join(name);
    let others: [&[u8]; 4] = [b"", b"{\"zarr_format\": 2}", b"PK\x03\x04 and no more", &[0xff; 20_000]];
    for content in others {
        fs::write(&path, content).unwrap();
        let error = open(&path).map(|_| ()).unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::Corrupt, "{error}");
        assert!(error.to_string().contains(name), "{error}");
        assert_eq!(fs::read(&path).unwrap(), content, "a file of another kind was changed");
    }
    let mut refused = 0;
    for length in (1..32).map(|n| whole.len() * n / 32) {
        fs::write(&path, &whole[..length]).unwrap();
        refused += usize::from(!read_everything(open, &path));
    }
    assert!(refused > 0);
    for position in (0..whole.len()).step_by((whole.len() / 300).max(1)) {
        let mut flipped = whole.clone();
        flipped[position] ^= 0xff;
        fs::write(&path, &flipped).unwrap();
        read_everything(open, &path);
    }
}

/// Whether everything could be read.
fn read_everything(open: Open<'_>, path: &Path) -> bool {
    let Ok(store) = open(path) else { return false };
    let mut fine = true;
    let listed = store.list_prefix(&prefix(""), &mut |name, _| {
        fine &= store.get(&name).is_ok();
        std::ops::ControlFlow::Continue(())
    });
    fine & listed.is_ok() & KEYS.iter().all(|(name, _)| store.get(&key(name)).is_ok())
}

/// Two handles of one file see each other's values, and share locks.
pub fn check_two_handles(one: &dyn Store, two: &dyn Store) {
    const ROUNDS: u64 = 50;
    one.set(&key("counter"), &0_u64.to_le_bytes(), Condition::Always).unwrap();
    let count = |store: &dyn Store| {
        for _ in 0..ROUNDS {
            let _held = store.lock(&key("counter")).unwrap();
            let seen = store.get(&key("counter")).unwrap().unwrap();
            let next = u64::from_le_bytes(seen[..].try_into().unwrap()) + 1;
            store.set(&key("counter"), &next.to_le_bytes(), Condition::Always).unwrap();
        }
    };
    std::thread::scope(|scope| [one, two].map(|store| drop(scope.spawn(move || count(store)))));
    assert_eq!(one.get(&key("counter")).unwrap().unwrap(), (2 * ROUNDS).to_le_bytes()[..]);
}

const CHILD: &str = "ZARROX_TEST_DATABASE";

const EACH: usize = 100;

/// Whether this is the other process of [`check_two_processes`].
pub fn is_child() -> bool {
    std::env::var_os(CHILD).is_some()
}

/// The other process: fills its own keys, and tries to create those that both want.
pub fn run_child(open: &dyn Fn(&Path) -> Box<dyn Store>) {
    if let Some(path) = std::env::var_os(CHILD) {
        write_many(&*open(Path::new(&path)), 1);
    }
}

fn write_many(store: &dyn Store, who: u8) {
    for index in 0..EACH {
        store.set(&key(&format!("own/{who}/{index}")), &[who; 1000], Condition::Always).unwrap();
        match store.set(&key(&format!("race/{index}")), &[who; 10], Condition::Absent) {
            Ok(()) => store.set(&key(&format!("won/{who}/{index}")), b"", Condition::Absent).unwrap(),
            Err(error) => assert_eq!(error.kind(), StoreErrorKind::AlreadyExists, "{error}"),
        }
    }
}

/// This process and one that runs the test `child` write at the same time; nothing is lost.
pub fn check_two_processes(child: &str, path: &Path, store: &dyn Store) {
    let mut command = Command::new(std::env::current_exe().unwrap());
    let child = command.args(["--exact", child]).env(CHILD, path).spawn().unwrap();
    write_many(store, 0);
    assert!(child.wait_with_output().unwrap().status.success());
    assert_eq!(list(store, "own/").len(), 2 * EACH);
    assert_eq!(list(store, "race/").len(), EACH);
    let won = [list(store, "won/0/").len(), list(store, "won/1/").len()];
    assert_eq!(won[0] + won[1], EACH, "each key was created by one");
}
