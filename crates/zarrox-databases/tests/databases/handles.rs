//! Two handles of one database.

use zarrox_stores::{Condition, Store, StoreExt};
use zarrox_testkit::counters::add_locked;
use zarrox_testkit::store::key;

/// Checks that two handles of one file see each other's values, and share locks.
pub(crate) fn check_two_handles(one: &dyn Store, two: &dyn Store) {
    const ROUNDS: u64 = 50;
    let counter = key("counter");
    one.set(&counter, b"0", Condition::Always).unwrap();
    let count = |store: &dyn Store| (0..ROUNDS).for_each(|_| assert!(add_locked(store, &counter)));
    std::thread::scope(|scope| [one, two].map(|store| drop(scope.spawn(move || count(store)))));
    assert_eq!(one.get(&counter).unwrap().unwrap(), (2 * ROUNDS).to_string());
}
