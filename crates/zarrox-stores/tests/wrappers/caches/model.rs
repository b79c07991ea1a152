//! Random operations return the same results through wrappers as on the bare store.

use std::sync::{Arc, Mutex};

use proptest::collection::vec;
use proptest::prelude::*;
use zarrox_stores::{
    ByteRange, Condition, CountingStore, LruCacheStore, Prefix, PrefixStore, Store, StoreError, StoreExt,
    Value,
};
use zarrox_testkit::store::{key, list, prefix};

use super::memory;

const KEYS: [&str; 7] = ["v", "a/v", "a/w", "a/b/v", "c/v", "c/b/w", "a"];
const PREFIXES: [&str; 5] = ["", "a/", "a/b/", "c/", "d/"];

#[derive(Clone, Debug)]
enum Step {
    Set(&'static str, Vec<u8>),
    SetAbsent(&'static str, Vec<u8>),
    SetMatching(&'static str, Vec<u8>),
    Get(&'static str),
    Ranges(&'static str, u64, u64),
    Open(&'static str, u64),
    Size(&'static str),
    Many(Vec<&'static str>),
    Erase(&'static str),
    ErasePrefix(&'static str),
    List(&'static str),
    ListDir(&'static str),
    Rename(&'static str, &'static str),
}

fn step() -> impl Strategy<Value = Step> {
    let name = || prop::sample::select(&KEYS[..]);
    let below = || prop::sample::select(&PREFIXES[..]);
    let value = || vec(any::<u8>(), 0..60);
    prop_oneof![
        3 => (name(), value()).prop_map(|(name, value)| Step::Set(name, value)),
        1 => (name(), value()).prop_map(|(name, value)| Step::SetAbsent(name, value)),
        2 => (name(), value()).prop_map(|(name, value)| Step::SetMatching(name, value)),
        4 => name().prop_map(Step::Get),
        2 => (name(), 0..40_u64, 0..40_u64).prop_map(|(name, from, length)| Step::Ranges(name, from, length)),
        2 => (name(), 0..40_u64).prop_map(|(name, first)| Step::Open(name, first)),
        1 => name().prop_map(Step::Size),
        1 => vec(name(), 0..4).prop_map(Step::Many),
        1 => name().prop_map(Step::Erase),
        1 => below().prop_map(Step::ErasePrefix),
        1 => below().prop_map(Step::List),
        2 => below().prop_map(Step::ListDir),
        1 => (below(), below()).prop_map(|(from, to)| Step::Rename(from, to)),
    ]
}

/// Returns the result as text; for an error, its kind and key.
fn answer(store: &dyn Store, step: &Step) -> String {
    fn shown<T: std::fmt::Debug>(answer: Result<T, StoreError>) -> String {
        match answer {
            Ok(answer) => format!("{answer:?}"),
            Err(error) => format!("{:?} of {:?}", error.kind(), error.key()),
        }
    }
    let version = |name| store.open(&key(name)).unwrap().and_then(|value| value.version());
    match step {
        Step::Set(name, value) => shown(store.set(&key(name), value, Condition::Always)),
        Step::SetAbsent(name, value) => shown(store.set(&key(name), value, Condition::Absent)),
        Step::SetMatching(name, value) => match version(name) {
            Some(version) => shown(store.set(&key(name), value, Condition::Matches(&version))),
            None => "no value".into(),
        },
        Step::Get(name) => shown(store.get(&key(name))),
        Step::Ranges(name, offset, length) => {
            let range = ByteRange::From { offset: *offset, length: Some(*length) };
            shown(store.get_ranges(&key(name), &[ByteRange::Suffix { length: 1 }, range]))
        }
        Step::Open(name, first) => {
            let opened =
                store.open_with(&key(name), Some(ByteRange::From { offset: *first, length: Some(5) }));
            let read = |value: Box<dyn Value>| {
                let (size, half) = (value.size(), value.size() / 2);
                Ok((size, value.read(half, size - half)?, value.read(0, size)?))
            };
            shown(opened.and_then(|value| value.map(read).transpose()))
        }
        Step::Size(name) => shown(store.size(&key(name))),
        Step::Many(names) => {
            let keys: Vec<_> = names.iter().map(|name| key(name)).collect();
            let answers = Mutex::new(vec![String::new(); keys.len()]);
            store.get_many(&keys, &|index, answer| answers.lock().unwrap()[index] = shown(answer));
            shown(Ok(answers.into_inner().unwrap()))
        }
        Step::Erase(name) => shown(store.erase(&key(name))),
        Step::ErasePrefix(below) => shown(store.erase_prefix(&prefix(below))),
        Step::List(below) => shown(Ok(list(store, below))),
        Step::ListDir(below) => shown(store.list_dir(&prefix(below))),
        Step::Rename(from, to) => shown(store.rename_prefix(&prefix(from), &prefix(to))),
    }
}

fn check(store: &dyn Store, steps: &[Step]) -> Result<(), TestCaseError> {
    let model = memory();
    for step in steps {
        prop_assert_eq!(answer(store, step), answer(&*model, step), "{:?}", step);
    }
    Ok(())
}

/// Values that are not in memory, like those of remote stores.
fn distant() -> Arc<dyn Store> {
    Arc::new(CountingStore::new(memory()))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn prefix_store(steps in vec(step(), 1..60)) {
        let all = memory();
        check(&PrefixStore::new(Arc::clone(&all), prefix("p/q/")), &steps)?;
        let outside = list(&*all, "").iter().any(|(name, _)| !name.starts_with("p/q/"));
        prop_assert!(!outside);
    }

    #[test]
    fn lru_cache(steps in vec(step(), 1..60), small in 0..50_u64, limit in 0..4_000_u64) {
        check(&LruCacheStore::new(distant(), limit).small(small), &steps)?;
        check(&LruCacheStore::new(memory(), limit), &steps)?;
        let prefixed = PrefixStore::new(Arc::new(LruCacheStore::new(distant(), limit)), prefix("p/"));
        check(&LruCacheStore::new(Arc::new(prefixed), limit), &steps)?;
        check(&PrefixStore::new(memory(), Prefix::root()), &steps)?;
    }
}

#[cfg(unix)]
proptest! {
    #![proptest_config(ProptestConfig::with_cases(30))]

    #[test]
    fn disk_cache(steps in vec(step(), 1..60), largest in 0..50_u64, limit in 0..40_000_u64) {
        use zarrox_stores::DiskCacheOptions;

        let directory = tempfile::tempdir().unwrap();
        for options in [
            DiskCacheOptions::new(),
            DiskCacheOptions::new().limit(limit),
            DiskCacheOptions::new().largest(largest),
            DiskCacheOptions::new().validate(true),
        ] {
            check(&options.open(distant(), directory.path()).unwrap(), &steps)?;
        }
    }
}
