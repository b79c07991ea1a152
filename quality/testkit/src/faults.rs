//! Stores that fail on purpose: [`FaultyStore`], and [`faults_suite`] for the wrappers of stores.

#![expect(clippy::panic, clippy::unwrap_used, reason = "a suite fails by panicking")]

use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use zarrox_stores::internals::WrappedValue;
use zarrox_stores::{
    ByteRange, Call, Capabilities, Condition, Key, MemoryStore, Operation, Prefix, Store, StoreError,
    StoreErrorKind, StoreExt, Value, Wrapper, provided, wrapped,
};

use crate::store::{key, prefix};

/// A fault: its effect, its location, and its frequency. By default it affects every operation, always.
///
/// ```
/// use std::time::Duration;
/// use zarrox_stores::{Operation, StoreErrorKind};
/// use zarrox_testkit::faults::Fault;
///
/// // The second write of `a` is done, but its response is lost.
/// Fault::fail(StoreErrorKind::TimedOut).on(&[Operation::Set]).key("a").nth(2).when_done();
/// // Every tenth operation takes a while.
/// Fault::delay(Duration::from_millis(1)).every(10);
/// // Listings are interrupted after three keys.
/// Fault::fail(StoreErrorKind::Unreachable).on(&[Operation::ListPrefix]).after_keys(3);
/// ```
#[derive(Clone, Debug)]
pub struct Fault {
    effect: Effect,
    operations: Vec<Operation>,
    key: Option<String>,
    from: u64,
    every: u64,
    times: u64,
    met: u64,
}

#[derive(Clone, Copy, Debug)]
enum Effect {
    Fail(StoreErrorKind),
    FailWhenDone(StoreErrorKind),
    FailAfterKeys(StoreErrorKind, usize),
    Delay(Duration),
}

impl Effect {
    fn kind(self) -> StoreErrorKind {
        match self {
            Self::Fail(kind) | Self::FailWhenDone(kind) | Self::FailAfterKeys(kind, _) => kind,
            Self::Delay(_) => StoreErrorKind::Other,
        }
    }
}

impl Fault {
    /// Makes operations fail with an error of this kind, without effect.
    #[must_use]
    pub fn fail(kind: StoreErrorKind) -> Self {
        Self::new(Effect::Fail(kind))
    }

    /// Delays operations by this time.
    #[must_use]
    pub fn delay(time: Duration) -> Self {
        Self::new(Effect::Delay(time))
    }

    fn new(effect: Effect) -> Self {
        Self { effect, operations: Vec::new(), key: None, from: 1, every: 1, times: u64::MAX, met: 0 }
    }

    /// Restricts the fault to these operations.
    #[must_use]
    pub fn on(mut self, operations: &[Operation]) -> Self {
        self.operations = operations.to_vec();
        self
    }

    /// Restricts the fault to this key or prefix.
    #[must_use]
    pub fn key(mut self, key: &str) -> Self {
        self.key = Some(key.to_owned());
        self
    }

    /// Restricts the fault to the n-th call, counted from 1.
    #[must_use]
    pub fn nth(mut self, n: u64) -> Self {
        (self.from, self.times) = (n, 1);
        self
    }

    /// Restricts the fault to the n-th call, counted from 1, and all later ones: as if the process had been killed.
    #[must_use]
    pub fn since(mut self, n: u64) -> Self {
        self.from = n;
        self
    }

    /// Restricts the fault to the first `times` calls.
    #[must_use]
    pub fn first(mut self, times: u64) -> Self {
        self.times = times;
        self
    }

    /// Restricts the fault to every n-th call.
    #[must_use]
    pub fn every(mut self, every: u64) -> Self {
        (self.from, self.every) = (every, every);
        self
    }

    /// Lets the operation be done before it fails: its response is lost.
    #[must_use]
    pub fn when_done(mut self) -> Self {
        self.effect = Effect::FailWhenDone(self.effect.kind());
        self
    }

    /// Lets a listing visit this number of keys before it fails.
    #[must_use]
    pub fn after_keys(mut self, keys: usize) -> Self {
        self.effect = Effect::FailAfterKeys(self.effect.kind(), keys);
        self
    }

    /// Counts a call that the fault affects, and returns true if this call fails.
    fn meets(&mut self, call: &Call<'_>) -> bool {
        let concerned = self.operations.is_empty() || self.operations.contains(&call.operation());
        if !concerned || self.key.as_deref().is_some_and(|key| key != call.key()) {
            return false;
        }
        self.met += 1;
        let Some(since) = self.met.checked_sub(self.from) else { return false };
        since % self.every == 0 && since / self.every < self.times
    }
}

/// A store that wraps another store and has [faults](Fault). Values in memory are wrapped, so that every read can fail.
#[derive(Clone, Debug)]
pub struct FaultyStore {
    inner: Arc<dyn Store>,
    faults: Arc<Mutex<Vec<Fault>>>,
    renames: bool,
}

impl FaultyStore {
    /// Wraps the store, without faults at first. A clone has the same faults.
    #[must_use]
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self { inner: store, faults: Arc::default(), renames: true }
    }

    /// Makes the store one that cannot rename values itself.
    #[must_use]
    pub fn without_rename(self) -> Self {
        Self { renames: false, ..self }
    }

    /// Adds a fault. Of several faults for one operation, the first one counts.
    pub fn inject(&self, fault: Fault) {
        self.faults.lock().unwrap().push(fault);
    }

    /// Removes all faults.
    pub fn heal(&self) {
        self.faults.lock().unwrap().clear();
    }

    fn effect(&self, call: &Call<'_>) -> Option<Effect> {
        let mut faults = self.faults.lock().unwrap();
        let met: Vec<&Fault> = faults.iter_mut().filter_map(|f| f.meets(call).then_some(&*f)).collect();
        met.first().map(|fault| fault.effect)
    }

    fn error<T>(&self, kind: StoreErrorKind, call: &Call<'_>) -> Result<T, StoreError> {
        let error = StoreError::new(kind, call.operation().word(), "a fault was injected");
        Err(error.with_location(self.location()).with_key(call.key()))
    }
}

impl Wrapper for FaultyStore {
    fn inner(&self) -> &dyn Store {
        &*self.inner
    }

    fn around<T>(
        &self,
        call: &Call<'_>,
        run: &mut dyn FnMut() -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        match self.effect(call) {
            None => run(),
            Some(Effect::Delay(time)) => {
                std::thread::sleep(time);
                run()
            }
            Some(Effect::Fail(kind)) => self.error(kind, call),
            Some(Effect::FailWhenDone(kind) | Effect::FailAfterKeys(kind, _)) => {
                run()?;
                self.error(kind, call)
            }
        }
    }

    fn value(&self, key: &Key, value: Box<dyn Value>) -> Box<dyn Value> {
        Box::new(WrappedValue::new(self, key, value))
    }
}

impl Store for FaultyStore {
    wrapped!(location open_with get get_ranges get_many size contains put);
    wrapped!(erase_if erase_prefix list_dir rename_prefix flush lock stamp hold exchange);
    provided!(directory);

    fn capabilities(&self) -> Capabilities {
        let mut capabilities = self.inner.capabilities();
        capabilities.rename &= self.renames;
        capabilities
    }

    fn list_prefix(
        &self,
        prefix: &Prefix,
        visit: &mut dyn FnMut(Key, u64) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        let call = Call::new(Operation::ListPrefix, prefix);
        let (kind, mut left) = match self.effect(&call) {
            None => return self.inner.list_prefix(prefix, visit),
            Some(Effect::Delay(time)) => {
                std::thread::sleep(time);
                return self.inner.list_prefix(prefix, visit);
            }
            Some(Effect::Fail(kind)) => (kind, 0),
            Some(Effect::FailWhenDone(kind)) => (kind, usize::MAX),
            Some(Effect::FailAfterKeys(kind, keys)) => (kind, keys),
        };
        let mut broken_off = false;
        self.inner.list_prefix(prefix, &mut |key, size| {
            if left == 0 {
                return ControlFlow::Break(());
            }
            left -= 1;
            let flow = visit(key, size);
            broken_off |= flow.is_break();
            flow
        })?;
        if broken_off { Ok(()) } else { self.error(kind, &call) }
    }
}

/// The kinds of errors that a store may return for any operation.
const KINDS: [StoreErrorKind; 6] = [
    StoreErrorKind::Forbidden,
    StoreErrorKind::Unreachable,
    StoreErrorKind::TimedOut,
    StoreErrorKind::StorageFull,
    StoreErrorKind::Corrupt,
    StoreErrorKind::Other,
];

/// Checks that a wrapper of stores hides no error: each error keeps its kind and names its key, a failed operation has changed
/// nothing, and an operation that was done although it seemed to fail is visible.
///
/// `wrap` returns a new wrapper around a store that fails. A wrapper that retries must time out soon.
pub fn faults_suite(wrap: impl Fn(Arc<dyn Store>) -> Box<dyn Store>) {
    for kind in KINDS {
        let faulty = FaultyStore::new(Arc::new(MemoryStore::new()));
        for name in ["a/v", "a/w", "b/v"] {
            faulty.set(&key(name), b"old value", Condition::Always).unwrap();
        }
        let store = wrap(Arc::new(faulty.clone()));
        errors_keep_their_kind(&*store, &faulty, kind);
        open_values_fail(&*store, &faulty, kind);
        lost_answers(&*store, &faulty, kind);
        listings_break_off(&*store, &faulty, kind);
    }
}

fn errors_keep_their_kind(store: &dyn Store, faulty: &FaultyStore, kind: StoreErrorKind) {
    faulty.inject(Fault::fail(kind));
    let v = key("a/v");
    let whole = ByteRange::From { offset: 0, length: None };
    let below = prefix("a/");
    let failed = [
        ("open", store.open(&v).err()),
        ("open_with", store.open_with(&v, Some(whole)).err()),
        ("get", store.get(&v).err()),
        ("get_ranges", store.get_ranges(&v, &[whole]).err()),
        ("size", store.size(&v).err()),
        ("get_many", get_one_of_many(store, &v).err()),
        ("set", store.set(&v, b"new", Condition::Always).err()),
        ("erase", store.erase(&v).err()),
        ("erase_prefix", store.erase_prefix(&below).err()),
        ("list_prefix", store.list_prefix(&below, &mut |key, _| panic!("{key} was visited")).err()),
        ("list_dir", store.list_dir(&below).err()),
        ("rename_prefix", store.rename_prefix(&below, &prefix("c/")).err()),
    ];
    for (operation, error) in failed {
        let error = error.unwrap_or_else(|| panic!("{operation} hides {kind:?}"));
        assert_eq!(error.kind(), kind, "{operation}: {error}");
        assert!(matches!(error.key(), Some("a/v" | "a/")), "{operation}: {error}");
    }
    faulty.heal();
    for name in ["a/v", "a/w", "b/v"] {
        assert_eq!(store.get(&key(name)).unwrap().unwrap(), "old value", "{name} after {kind:?}");
    }
}

fn get_one_of_many(store: &dyn Store, key: &Key) -> Result<Option<Bytes>, StoreError> {
    let answered = Mutex::new(None);
    store.get_many(std::slice::from_ref(key), &|_, answer| *answered.lock().unwrap() = Some(answer));
    answered.into_inner().unwrap().unwrap()
}

/// Checks that reads of a value fail, or that the cached value is right.
fn open_values_fail(store: &dyn Store, faulty: &FaultyStore, kind: StoreErrorKind) {
    let value = store.open(&key("b/v")).unwrap().unwrap();
    faulty.inject(Fault::fail(kind).on(&[Operation::Read]));
    let mut buffer = [0; 3];
    match value.read_at(4, &mut buffer) {
        Ok(()) => assert_eq!(&buffer, b"val"),
        Err(error) => assert_eq!((error.kind(), error.key()), (kind, Some("b/v")), "{error}"),
    }
    match value.read(4, 5) {
        Ok(bytes) => assert_eq!(bytes, "value"),
        Err(error) => assert_eq!((error.kind(), error.key()), (kind, Some("b/v")), "{error}"),
    }
    faulty.heal();
    assert_eq!(value.read(4, 5).unwrap(), "value");
}

/// Checks writes that are done but fail: a reader sees the stored value.
fn lost_answers(store: &dyn Store, faulty: &FaultyStore, kind: StoreErrorKind) {
    let check = |written: Result<(), StoreError>| {
        assert_eq!(written.unwrap_err().kind(), kind);
        for name in ["a/v", "a/w", "b/v"] {
            assert_eq!(store.get(&key(name)).unwrap(), faulty.inner().get(&key(name)).unwrap(), "{name}");
        }
        let listing = store.list_dir(&Prefix::root()).unwrap();
        assert_eq!(listing, faulty.inner().list_dir(&Prefix::root()).unwrap());
    };
    let lost = |operation| {
        faulty.heal();
        faulty.inject(Fault::fail(kind).on(&[operation]).when_done());
    };
    lost(Operation::Set);
    check(store.set(&key("a/v"), b"new value", Condition::Always));
    check(store.set(&key("new"), b"new value", Condition::Always));
    lost(Operation::Erase);
    check(store.erase(&key("a/v")).map(drop));
    lost(Operation::RenamePrefix);
    check(store.rename_prefix(&prefix("b/"), &prefix("c/")));
    lost(Operation::ErasePrefix);
    check(store.erase_prefix(&prefix("a/")));
    faulty.heal();
}

fn listings_break_off(store: &dyn Store, faulty: &FaultyStore, kind: StoreErrorKind) {
    for index in 0..10 {
        store.set(&key(&format!("many/{index}")), b"", Condition::Always).unwrap();
    }
    faulty.inject(Fault::fail(kind).on(&[Operation::ListPrefix]).after_keys(3));
    let mut seen = Vec::new();
    let mut visit = |key: Key, _| {
        seen.push(key);
        ControlFlow::Continue(())
    };
    let error = store.list_prefix(&prefix("many/"), &mut visit).unwrap_err();
    assert_eq!((error.kind(), seen.len()), (kind, 3), "{error}");
    let mut first = None;
    let mut visit = |key: Key, _| {
        first = Some(key);
        ControlFlow::Break(())
    };
    store.list_prefix(&prefix("many/"), &mut visit).unwrap();
    assert!(first.is_some(), "an interrupted listing must fail as well");
    faulty.heal();
}
