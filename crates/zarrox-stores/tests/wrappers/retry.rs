//! The wrapper that retries temporary errors.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use zarrox_stores::{
    Condition, CountingStore, HttpOptions, Key, MemoryStore, Operation, RetryOptions, RetryStore, Store,
    StoreErrorKind, StoreExt, registry,
};
use zarrox_testkit::faults::{Fault, FaultyStore};
use zarrox_testkit::proxy::Proxy;
use zarrox_testkit::servers::check_no_server;
use zarrox_testkit::store::{key, list, prefix, store_suite};
use zarrox_testkit::web;

const REPEATED: [Operation; 9] = [
    Operation::Open,
    Operation::Read,
    Operation::Get,
    Operation::GetRanges,
    Operation::Size,
    Operation::Erase,
    Operation::ErasePrefix,
    Operation::ListPrefix,
    Operation::ListDir,
];

fn quick(deadline: Duration) -> RetryOptions {
    RetryOptions {
        first_delay: Duration::from_micros(1),
        longest_delay: Duration::from_micros(100),
        deadline,
        ..RetryOptions::default()
    }
}

fn faulty(fault: Fault) -> FaultyStore {
    let store = FaultyStore::new(Arc::new(MemoryStore::new()));
    store.inject(fault);
    store
}

fn patient(store: impl Store + 'static) -> RetryStore {
    RetryStore::with_options(Arc::new(store), quick(Duration::from_secs(20)))
}

#[test]
fn passes_the_suite_although_every_fourth_operation_fails() {
    for kind in [StoreErrorKind::Unreachable, StoreErrorKind::TimedOut] {
        store_suite(|| Box::new(patient(faulty(Fault::fail(kind).on(&REPEATED).every(4)))));
    }
}

/// The store has no versions. With versions, the suite counts by conditional writes: if two writers write the same number, and
/// one of them fails at first, both writers would count the number as theirs.
#[test]
fn passes_the_suite_although_every_fourth_answer_to_a_write_is_lost() {
    use zarrox_stores::{DirectoryStore, PrefixStore};

    let directory = tempfile::tempdir().unwrap();
    let all = Arc::new(DirectoryStore::open(directory.path()).unwrap());
    let count = std::cell::Cell::new(0);
    store_suite(|| {
        count.set(count.get() + 1);
        let own = prefix(&format!("{}/", count.get()));
        let inner = FaultyStore::new(Arc::new(PrefixStore::new(Arc::clone(&all) as _, own)));
        inner.inject(Fault::fail(StoreErrorKind::Unreachable).on(&[Operation::Set]).every(4).when_done());
        Box::new(patient(inner))
    });
}

#[test]
fn a_conditional_write_whose_answer_is_lost_has_succeeded() {
    let lost = Fault::fail(StoreErrorKind::TimedOut).on(&[Operation::Set]).when_done();
    let inner = faulty(lost.clone().first(1));
    let store = patient(inner.clone());
    store.set(&key("a"), b"mine", Condition::Absent).unwrap();
    let version = store.open(&key("a")).unwrap().unwrap().version().unwrap();
    inner.heal();
    inner.inject(lost.first(1));
    store.set(&key("a"), b"still mine", Condition::Matches(&version)).unwrap();
    assert_eq!(store.get(&key("a")).unwrap().unwrap(), "still mine");
}

#[test]
fn a_conditional_write_that_others_were_faster_than_has_failed() {
    for value in ["mine", "theirs", "longer than theirs"] {
        let inner = FaultyStore::new(Arc::new(MemoryStore::new()));
        inner.set(&key("a"), b"theirs", Condition::Always).unwrap();
        inner.inject(Fault::fail(StoreErrorKind::TimedOut).on(&[Operation::Set]).first(1));
        let written = patient(inner).set(&key("a"), value.as_bytes(), Condition::Absent);
        match value {
            "theirs" => written.unwrap(),
            _ => assert_eq!(written.unwrap_err().kind(), StoreErrorKind::AlreadyExists, "{value}"),
        }
    }
    // If the condition is violated at the first attempt, the value is not read back.
    let store = patient(MemoryStore::new());
    store.set(&key("a"), b"1", Condition::Absent).unwrap();
    let error = store.set(&key("a"), b"1", Condition::Absent).unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::AlreadyExists);
}

#[test]
fn only_what_may_pass_is_repeated() {
    for (kind, expected) in
        [(StoreErrorKind::Forbidden, 1), (StoreErrorKind::Corrupt, 1), (StoreErrorKind::Unreachable, 3)]
    {
        let counting = CountingStore::new(Arc::new(faulty(Fault::fail(kind).first(2))));
        let store = patient(counting.clone());
        assert_eq!(store.get(&key("a")).is_ok(), expected == 3, "{kind:?}");
        assert_eq!(counting.counts().of(Operation::Get), expected, "{kind:?}");
    }
    let fault = Fault::fail(StoreErrorKind::Unreachable).on(&[Operation::RenamePrefix]).first(1);
    let error = patient(faulty(fault)).rename_prefix(&prefix("a/"), &prefix("b/")).unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Unreachable);
}

#[test]
fn gives_up_in_time_with_the_error_also_for_many() {
    let inner = faulty(Fault::fail(StoreErrorKind::Unreachable));
    let store = RetryStore::with_options(Arc::new(inner), quick(Duration::from_millis(20)));
    let begin = Instant::now();
    assert_eq!(store.get(&key("a")).unwrap_err().kind(), StoreErrorKind::Unreachable);
    let keys: Vec<Key> = (0..1_000).map(|index| key(&index.to_string())).collect();
    let failed = AtomicUsize::new(0);
    store.get_many(&keys, &|index, answer| {
        let error = answer.unwrap_err();
        assert_eq!((error.kind(), error.key()), (StoreErrorKind::Unreachable, Some(keys[index].as_str())));
        failed.fetch_add(1, Ordering::Relaxed);
    });
    assert_eq!(failed.into_inner(), 1_000);
    // A thousand times 20 ms would be 20 s.
    assert!(begin.elapsed() < Duration::from_secs(10), "{:?}", begin.elapsed());
}

#[test]
fn long_work_that_breaks_off_late_is_repeated() {
    let slow = faulty(Fault::delay(Duration::from_millis(50)).on(&[Operation::ErasePrefix]));
    slow.set(&key("a/b"), b"", Condition::Always).unwrap();
    let inner = FaultyStore::new(Arc::new(slow));
    inner.inject(Fault::fail(StoreErrorKind::Unreachable).on(&[Operation::ErasePrefix]).first(1).when_done());
    let store = RetryStore::with_options(Arc::new(inner), quick(Duration::from_millis(20)));
    store.erase_prefix(&prefix("a/")).unwrap();
    assert_eq!(list(&store, ""), []);
}

#[test]
fn of_many_only_those_that_failed_are_read_again() {
    let inner = faulty(Fault::fail(StoreErrorKind::TimedOut).on(&[Operation::Get]).every(3));
    let keys: Vec<Key> = (0..100).map(|index| key(&index.to_string())).collect();
    for key in &keys {
        inner.set(key, key.as_str().as_bytes(), Condition::Always).unwrap();
    }
    let counting = CountingStore::new(Arc::new(inner));
    let answers = Mutex::new(vec![0; keys.len()]);
    patient(counting.clone()).get_many(&keys, &|index, answer| {
        assert_eq!(answer.unwrap().unwrap(), keys[index].as_str());
        answers.lock().unwrap()[index] += 1;
    });
    assert_eq!(answers.into_inner().unwrap(), [1; 100]);
    assert!(counting.counts().of(Operation::Get) < 160, "{:?}", counting.counts());
}

#[test]
fn no_key_is_visited_twice() {
    let inner = faulty(Fault::fail(StoreErrorKind::Unreachable).on(&[Operation::ListPrefix]).first(2));
    for index in 0..10 {
        inner.set(&key(&format!("a/{index}")), b"", Condition::Always).unwrap();
    }
    let store = patient(inner.clone());
    assert_eq!(list(&store, "a/").len(), 10, "nothing was visited when it failed");
    inner.inject(Fault::fail(StoreErrorKind::Unreachable).on(&[Operation::ListPrefix]).after_keys(4));
    let mut seen = Vec::new();
    let mut visit = |key: Key, _| {
        seen.push(key);
        ControlFlow::Continue(())
    };
    assert_eq!(store.list_prefix(&prefix("a/"), &mut visit).unwrap_err().kind(), StoreErrorKind::Unreachable);
    assert_eq!(seen.len(), 4);
}

#[test]
fn where_no_server_is_the_first_request_fails_soon() {
    let urls = ["http://HOST/0/a", "http://no-such-host.invalid/a", "s3://bucket/a", "gs://bucket/a"];
    check_no_server(&registry(), &urls);
}

#[test]
fn a_server_that_has_answered_is_waited_for() {
    let directory = tempfile::tempdir().unwrap();
    let proxy = Proxy::new(&web::serve(directory.path()).unwrap()).unwrap();
    let http = Arc::new(HttpOptions::new().open(proxy.url()).unwrap());
    let options = RetryOptions { first_deadline: Duration::ZERO, ..RetryOptions::default() };
    proxy.refuse();
    let error = RetryStore::with_options(Arc::clone(&http) as _, options).get(&key("a")).unwrap_err();
    assert!(error.is_no_server(), "{error}");
    proxy.mend();
    let store = RetryStore::with_options(http, options);
    assert_eq!(store.get(&key("a")).unwrap(), None);
    proxy.refuse();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(300));
            proxy.mend();
        });
        assert_eq!(store.get(&key("b")).unwrap(), None);
    });
}
