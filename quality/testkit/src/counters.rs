//! Counters that several writers increment: a lost update is a missing step.

#![expect(clippy::unwrap_used, reason = "a suite fails by panicking")]

use bytes::Bytes;
use zarrox_stores::{Condition, Key, Store, StoreError, StoreErrorKind, StoreExt};

/// Increments a decimal number this many times, as all writers of a shared store do: under the lock if the lock excludes all
/// other writers, and otherwise with retries until there is no conflict.
///
/// # Panics
///
/// When the store violates its capabilities.
pub fn count_up(store: &dyn Store, name: &str, times: u64) {
    let able = store.capabilities();
    assert!(able.set_if_unchanged || able.locks_everyone, "{able:?}");
    for _ in 0..times {
        let done = if able.set_if_unchanged { add_compared } else { add_locked };
        while !done(store, &Key::new(name).unwrap()) {}
    }
}

fn add_compared(store: &dyn Store, name: &Key) -> bool {
    let value = store.open(name).unwrap().unwrap();
    let text = match value.read(0, value.size()) {
        Err(error) if error.kind() == StoreErrorKind::Conflict => return false,
        text => text.unwrap(),
    };
    let version = value.version().unwrap();
    // The value may keep a transaction open.
    drop(value);
    is_set(store.set(name, &next(&text), Condition::Matches(&version)))
}

/// Increments a decimal number under its lock. Returns false if another writer wrote without the lock.
///
/// # Panics
///
/// When the lock cannot be acquired, or the value cannot be read or written.
pub fn add_locked(store: &dyn Store, name: &Key) -> bool {
    let guard = store.lock(name).unwrap();
    let text = store.get(name).unwrap().unwrap();
    is_set(store.set(name, &next(&text), Condition::Locked(&guard)))
}

/// Increments a counter that is erased after each fourth step, with the erasures counted in another counter: a step is lost if a
/// writer erases a value that has changed since it was read.
///
/// # Panics
///
/// When the store violates its capabilities.
pub fn count_in_fours(store: &dyn Store, place: &str, times: u64) {
    let low = Key::new(format!("{place}/low")).unwrap();
    for _ in 0..times {
        while !step_of_four(store, place, &low) {}
    }
}

fn step_of_four(store: &dyn Store, place: &str, low: &Key) -> bool {
    let Some(value) = store.open(low).unwrap() else {
        return match store.set(low, b"1", Condition::Absent) {
            Err(error) if error.kind() == StoreErrorKind::AlreadyExists => false,
            done => is_set(done),
        };
    };
    let (Ok(text), Some(version)) = (value.read(0, value.size()), value.version()) else { return false };
    drop(value);
    if &text[..] != b"3" {
        return is_set(store.set(low, &next(&text), Condition::Matches(&version)));
    }
    let erased =
        is_set(store.erase_if(low, Condition::Matches(&version)).map(|was_there| assert!(was_there)));
    if erased {
        count_up(store, &format!("{place}/fours"), 1);
    }
    erased
}

/// Checks that no step of [`count_in_fours`] was lost, by any writer.
///
/// # Panics
///
/// When a step was lost.
pub fn check_fours(store: &dyn Store, place: &str, steps: u64) {
    let number = |name: &str| {
        let key = Key::new(format!("{place}/{name}")).unwrap();
        let text = store.get(&key).unwrap().unwrap_or(Bytes::from_static(b"0"));
        std::str::from_utf8(&text).unwrap().parse::<u64>().unwrap()
    };
    assert_eq!(4 * number("fours") + number("low"), steps);
}

fn next(text: &[u8]) -> Vec<u8> {
    let count: u64 = std::str::from_utf8(text).unwrap().parse().unwrap();
    (count + 1).to_string().into_bytes()
}

fn is_set(done: Result<(), StoreError>) -> bool {
    match done {
        Err(error) if error.kind() == StoreErrorKind::Conflict => false,
        done => {
            done.unwrap();
            true
        }
    }
}
