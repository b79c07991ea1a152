//! Several processes that write to the same database.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;
use std::time::{Duration, Instant};

use zarrox_stores::{Condition, Store, StoreError, StoreErrorKind, StoreExt};

use crate::counters::{check_fours, count_in_fours, count_up};
use crate::other_process;
use crate::store::{key, list};

const CHILD: &str = "ZARROX_TEST_DATABASE";

/// The number of processes beside this one.
const OTHERS: u64 = 3;

const EACH: u64 = 50;

/// Returns true if this is another process of [`check_processes`] or [`check_turns`].
#[must_use]
pub fn is_child() -> bool {
    std::env::var_os(CHILD).is_some()
}

/// Does the work of another process, which is the same for all processes.
pub fn run_child(open: &dyn Fn(&Path) -> Box<dyn Store>) {
    if let Some(path) = std::env::var_os(CHILD) {
        write_many(&*open(Path::new(&path)), std::process::id());
    }
}

/// Fills its own keys, tries to create keys that all processes create, and increments a common counter.
fn write_many(store: &dyn Store, writer: u32) {
    for index in 0..EACH {
        store.set(&key(&format!("own/{writer}/{index}")), &[1; 1000], Condition::Always).unwrap();
        match store.set(&key(&format!("race/{index}")), &[1; 10], Condition::Absent) {
            Ok(()) => store.set(&key(&format!("won/{writer}/{index}")), b"", Condition::Absent).unwrap(),
            Err(error) => assert_eq!(error.kind(), StoreErrorKind::AlreadyExists, "{error}"),
        }
    }
    count_up(store, "count/all", EACH);
    count_in_fours(store, "count", EACH);
    mark_own_byte(store);
}

/// The size of a value that all processes change: each process changes a different byte. The value is too large for a row that
/// SQLite reads at once.
const LARGE: usize = 100_000;

/// Sets bytes of a large value; each byte belongs to one process.
fn mark_own_byte(store: &dyn Store) {
    let large = key("large");
    for _ in 0..EACH / 5 {
        loop {
            let value = store.open(&large).unwrap().unwrap();
            let mut bytes = value.read(0, value.size()).unwrap().to_vec();
            let version = value.version().unwrap();
            drop(value);
            let free = bytes.iter().position(|byte| *byte == 0).unwrap();
            bytes[free] = 1;
            match store.set(&large, &bytes, Condition::Matches(&version)) {
                Err(error) if error.kind() == StoreErrorKind::Conflict => {}
                done => break done.unwrap(),
            }
        }
    }
}

/// Runs this process and others with the test `child` as concurrent writers; nothing may be lost.
pub fn check_processes(child: &str, path: &Path, store: &dyn Store) {
    store.set(&key("count/all"), b"0", Condition::Always).unwrap();
    store.set(&key("count/fours"), b"0", Condition::Always).unwrap();
    store.set(&key("large"), &[0; LARGE], Condition::Always).unwrap();
    let children: Vec<_> = (0..OTHERS).map(|_| other_process::start(child, CHILD, path)).collect();
    write_many(store, std::process::id());
    children.into_iter().for_each(other_process::finish);
    let (all, count) = (OTHERS + 1, |below| list(store, below).len() as u64);
    assert_eq!(count("own/"), all * EACH);
    assert_eq!(count("race/"), EACH);
    assert_eq!(count("won/"), EACH, "each key was created by one");
    assert_eq!(store.get(&key("count/all")).unwrap().unwrap(), (all * EACH).to_string());
    check_fours(store, "count", all * EACH);
    let large = store.get(&key("large")).unwrap().unwrap();
    assert_eq!(large.iter().map(|byte| u64::from(*byte)).sum::<u64>(), all * (EACH / 5));
}

/// A function that opens a store at a path, unless another process has it open.
pub type Opener = dyn Fn(&Path) -> Result<Box<dyn Store>, StoreError>;

/// The timeout of a process that waits for the file.
const PATIENCE: Duration = Duration::from_secs(60);

/// Another process of [`check_turns`].
pub fn take_turns(open: &Opener) {
    if let Some(path) = std::env::var_os(CHILD) {
        count_by_turns(Path::new(&path), open);
    }
}

/// Counts in a file that one process at a time can open: opens it, increments several times, and closes it.
fn count_by_turns(path: &Path, open: &Opener) {
    let end = Instant::now() + PATIENCE;
    let mut left = EACH;
    while left > 0 {
        let counted = open(path).and_then(|store| {
            // Opening fails while another process has the file open.
            let count = store.get(&key("count"))?;
            store.set(&key("own"), &count.unwrap(), Condition::Always)?;
            let some = left.min(7);
            count_up(&*store, "count", some);
            Ok(some)
        });
        match counted {
            Err(error) if error.kind() == StoreErrorKind::Unreachable => {
                assert!(Instant::now() < end, "the file was not free for {PATIENCE:?}: {error}");
                std::thread::sleep(Duration::from_millis(5));
            }
            done => left -= done.unwrap(),
        }
    }
}

/// Runs this process and others with the test `child`, which count in turns: no increment may be lost.
pub fn check_turns(child: &str, path: &Path, open: &Opener) {
    open(path).unwrap().set(&key("count"), b"0", Condition::Always).unwrap();
    let children: Vec<_> = (0..OTHERS).map(|_| other_process::start(child, CHILD, path)).collect();
    count_by_turns(path, open);
    children.into_iter().for_each(other_process::finish);
    let store = open(path).unwrap();
    assert_eq!(store.get(&key("count")).unwrap().unwrap(), ((OTHERS + 1) * EACH).to_string());
}
