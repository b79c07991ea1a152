//! Helpers of the tests of several servers: unique prefixes, and operations that must fail.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant, SystemTime};

use zarrox_stores::{Condition, Prefix, PrefixStore, Store, StoreError, StoreErrorKind, StoreExt};
use zarrox_testkit::store::{key, prefix};

/// Returns a unique name, even among processes.
pub(crate) fn unique() -> String {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let time = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_micros();
    format!("{time}-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

/// Returns a store of a unique prefix.
pub(crate) fn fresh(store: Arc<dyn Store>) -> Box<dyn Store> {
    Box::new(PrefixStore::new(store, prefix(&format!("{}/", unique()))))
}

/// Runs every operation that reaches the server, and checks that each fails with this kind, names the location and shows no
/// secret.
pub(crate) fn all_fail(store: &dyn Store, kind: StoreErrorKind, secrets: &[&str]) {
    let name = key("a/b");
    let mut none = |_, _| std::ops::ControlFlow::Continue(());
    let errors: Vec<StoreError> = [
        store.get(&name).map(drop),
        store.open(&name).map(drop),
        store.size(&name).map(drop),
        store.set(&name, b"value", Condition::Always),
        store.set(&name, b"value", Condition::Absent),
        store.erase(&name).map(drop),
        store.erase_prefix(&prefix("a/")),
        store.list_dir(&Prefix::root()).map(drop),
        store.list_prefix(&Prefix::root(), &mut none),
    ]
    .into_iter()
    .enumerate()
    .map(|(index, result)| match result {
        Err(error) => error,
        Ok(()) => unreachable!("operation {index} has not failed"),
    })
    .collect();
    for error in errors {
        let text = format!("{error} {error:?} {store:?}");
        assert_eq!(error.kind(), kind, "{text}");
        assert!(error.to_string().contains(&store.location()), "{text}");
        assert!(!secrets.iter().any(|secret| text.contains(secret)), "{text}");
    }
}

/// Checks that a store without a server soon reports that it cannot be reached.
pub(crate) fn unreachable(store: &dyn Store) {
    let begin = Instant::now();
    all_fail(store, StoreErrorKind::Unreachable, &[]);
    assert!(begin.elapsed() < Duration::from_secs(20), "{:?}", begin.elapsed());
}

/// Returns a URL at which no server listens.
pub(crate) fn unused_address() -> String {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    format!("http://127.0.0.1:{port}")
}
