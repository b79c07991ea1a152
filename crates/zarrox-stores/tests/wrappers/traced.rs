//! The wrapper that reports operations to `tracing`.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fmt::{Debug, Write};
use std::sync::{Arc, Mutex};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};
use zarrox_stores::{Condition, MemoryStore, Operation, Store, StoreErrorKind, StoreExt, TracedStore};
use zarrox_testkit::faults::{Fault, FaultyStore};
use zarrox_testkit::store::{key, store_suite};

/// A subscriber that records all events.
#[derive(Clone, Default)]
struct Listener(Arc<Mutex<String>>);

struct Fields<'a>(&'a mut String);

impl Visit for Fields<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        // Elapsed times differ.
        let shown = if field.name() == "time" { "some".to_owned() } else { format!("{value:?}") };
        write!(self.0, " {field}={shown}").unwrap();
    }
}

impl Subscriber for Listener {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("zarrox_stores")
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let mut log = self.0.lock().unwrap();
        log.push_str(span.metadata().name());
        span.record(&mut Fields(&mut log));
        log.push('\n');
        Id::from_u64(1)
    }

    fn event(&self, event: &Event<'_>) {
        let mut log = self.0.lock().unwrap();
        log.push_str(" -");
        event.record(&mut Fields(&mut log));
        log.push('\n');
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

/// A single test, since `tracing` caches for all threads whether a call site has a subscriber.
#[test]
fn passes_the_suite_and_traces_operations() {
    operations_are_reported_with_bytes_times_and_errors();
    store_suite(|| Box::new(TracedStore::new(Arc::new(MemoryStore::new()))));
}

fn operations_are_reported_with_bytes_times_and_errors() {
    let inner = FaultyStore::new(Arc::new(MemoryStore::new()));
    let store = TracedStore::new(Arc::new(inner.clone()));
    let listener = Listener::default();
    tracing::subscriber::with_default(listener.clone(), || {
        store.set(&key("a/b"), b"12345", Condition::Always).unwrap();
        store.get(&key("a/b")).unwrap();
        store.open(&key("a/b")).unwrap().unwrap().read(1, 2).unwrap();
        inner.inject(Fault::fail(StoreErrorKind::Forbidden).on(&[Operation::Get]).key("a/b"));
        store.get_many(&[key("a/b"), key("c")], &|_, _| {});
        store.erase(&key("c")).unwrap();
    });
    let location = store.location();
    let failed = format!("a fault was injected while reading '{location}/a/b'");
    let expected = format!(
        "store location={location} operation=Set key=\"a/b\"
 - message=done bytes=5 time=some
store location={location} operation=Get key=\"a/b\"
 - message=done bytes=5 time=some
store location={location} operation=Open key=\"a/b\"
 - message=done bytes=0 time=some
store location={location} operation=Read key=\"a/b\"
 - message=done bytes=2 time=some
store location={location} operation=\"GetMany\"
 - message=failed key=a/b error={failed}
 - message=done keys=2 bytes=0 failed=1 time=some
store location={location} operation=Erase key=\"c\"
 - message=done bytes=0 time=some
"
    );
    assert_eq!(*listener.0.lock().unwrap(), expected);
}
