//! Files and directories of the same name, on file servers.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use zarrox_stores::{Condition, Store, StoreErrorKind, StoreExt};
use zarrox_testkit::store::{key, list, prefix};

/// Checks, in an empty store of files, that a value never replaces a directory, nor a directory a value.
pub(crate) fn obstruct_each_other(store: &dyn Store) {
    store.set(&key("a/b"), b"1", Condition::Always).unwrap();
    for (name, condition) in
        [("a", Condition::Always), ("a/b/c", Condition::Always), ("a", Condition::Absent)]
    {
        let error = store.set(&key(name), b"2", condition).unwrap_err();
        assert_eq!((error.kind(), error.key()), (StoreErrorKind::Obstructed, Some(name)), "{error}");
    }
    assert!(!store.erase(&key("a")).unwrap());
    store.erase_prefix(&prefix("a/b/")).unwrap();
    assert_eq!(list(store, ""), [("a/b".to_owned(), 1)]);
    let error = store.set(&key("a/b"), b"2", Condition::Absent).unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::AlreadyExists, "{error}");
}
