//! Two handles of one database.

use zarrox_stores::{Condition, Store, StoreExt};
use zarrox_testkit::store::key;

/// Two handles of one file see each other's values, and share locks.
pub(crate) fn check_two_handles(one: &dyn Store, two: &dyn Store) {
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
