//! Two processes that write to one database.

use std::path::Path;

use zarrox_stores::{Condition, Store, StoreErrorKind, StoreExt};
use zarrox_testkit::store::{key, list};

use crate::other_process;

const CHILD: &str = "ZARROX_TEST_DATABASE";

const EACH: usize = 100;

/// Returns true if this is the other process of [`check_two_processes`].
pub(crate) fn is_child() -> bool {
    std::env::var_os(CHILD).is_some()
}

/// The other process: fills its own keys, and tries to create those that both want.
pub(crate) fn run_child(open: &dyn Fn(&Path) -> Box<dyn Store>) {
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
pub(crate) fn check_two_processes(child: &str, path: &Path, store: &dyn Store) {
    let child = other_process::start(child, CHILD, path);
    write_many(store, 0);
    other_process::finish(child);
    assert_eq!(list(store, "own/").len(), 2 * EACH);
    assert_eq!(list(store, "race/").len(), EACH);
    let won = [list(store, "won/0/").len(), list(store, "won/1/").len()];
    assert_eq!(won[0] + won[1], EACH, "each key was created by one");
}
