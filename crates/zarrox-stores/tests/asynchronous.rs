//! Asynchronous stores: the suite through the adapter, inside and outside other runtimes.

use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Builder;
use zarrox_stores::{Blocking, ByteRange, Condition, Prefix, Store, StoreErrorKind, StoreExt};
use zarrox_testkit::remote::Remote;
use zarrox_testkit::store::{key, store_suite};

fn store() -> Arc<dyn Store> {
    Remote::new(Duration::ZERO).blocking()
}

#[test]
fn passes_the_suite() {
    store_suite(|| Box::new(Blocking::new(Remote::default())));
}

#[test]
fn works_inside_of_runtimes() {
    let used = || {
        let store = store();
        store.set(&key("a/b"), b"value", Condition::Always).unwrap();
        assert_eq!(store.get(&key("a/b")).unwrap().unwrap(), "value");
        assert_eq!(store.list_dir(&Prefix::root()).unwrap().prefixes.len(), 1);
    };
    Builder::new_current_thread().build().unwrap().block_on(async { used() });
    Builder::new_multi_thread().worker_threads(2).build().unwrap().block_on(async { used() });
}

#[test]
fn a_value_that_is_replaced_while_it_is_read_is_a_conflict() {
    let store = store();
    store.set(&key("a"), b"0123456789", Condition::Always).unwrap();
    let value = store.open_with(&key("a"), Some(ByteRange::Suffix { length: 2 })).unwrap().unwrap();
    store.set(&key("a"), b"9876543210", Condition::Always).unwrap();
    assert_eq!(value.read(8, 2).unwrap(), "89", "it is in memory already");
    assert_eq!(value.read(0, 2).unwrap_err().kind(), StoreErrorKind::Conflict);
}

#[test]
fn one_request_opens_a_value_and_reads_a_range() {
    let remote = Remote::default();
    let store = remote.blocking();
    store.set(&key("a"), b"0123456789", Condition::Always).unwrap();
    remote.take_requests();
    let value = store.open_with(&key("a"), Some(ByteRange::Suffix { length: 4 })).unwrap().unwrap();
    assert_eq!((value.size(), value.read(7, 2).unwrap().as_ref()), (10, &b"78"[..]));
    assert_eq!(store.get(&key("a")).unwrap().unwrap(), "0123456789");
    assert_eq!(remote.take_requests().into_iter().collect::<Vec<_>>(), [("read a".to_owned(), 2)]);
}
