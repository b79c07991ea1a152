//! HDFS: reading, and features of HDFS. Writing 10,000 values, as the suite does, would take an hour.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::net::TcpListener;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use zarrox_databases::{HdfsOptions, HdfsStore, registry};
use zarrox_stores::{
    AsyncStore, Blocking, ByteRange, Condition, Prefix, StorageOptions, Store, StoreErrorKind, StoreExt,
};
use zarrox_testkit::errors::assert_error;
use zarrox_testkit::proxy::{After, Proxy};
use zarrox_testkit::servers::{TIMEOUT, address};
use zarrox_testkit::store::{key, list, read_suite};

use super::obstruction::obstruct_each_other;

/// Returns a new directory, which does not exist yet.
fn fresh() -> Option<Blocking<HdfsStore>> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let url = format!("{}/a b%25/hdfs-{}-{count}/", address("HDFS")?, std::process::id());
    Some(HdfsOptions::new().timeout(TIMEOUT).open(&url).unwrap())
}

#[test]
fn passes_the_suite_of_reading() {
    if address("HDFS").is_none() {
        return;
    }
    read_suite(|content| {
        let store = fresh().unwrap();
        thread::scope(|scope| {
            for part in content.chunks(content.len().div_ceil(8).max(1)) {
                let store = store.clone();
                scope.spawn(move || {
                    part.iter().for_each(|(name, value)| {
                        store.set(&key(name), value, Condition::Always).unwrap();
                    });
                });
            }
        });
        Box::new(store)
    });
}

#[test]
fn writes_replaces_and_erases() {
    let Some(store) = fresh() else { return };
    for value in [&b"short"[..], b"much longer than before", b""] {
        store.set(&key("a/b:c"), value, Condition::Always).unwrap();
        assert_eq!(store.get(&key("a/b:c")).unwrap().unwrap(), value);
    }
    for odd in ["данные/🧊 %3A.zarr", "line\nbreak", ".hidden/-dash"] {
        store.set(&key(odd), b"v", Condition::Always).unwrap();
        assert!(list(&store, "").contains(&(odd.to_owned(), 1)), "{odd:?}");
        assert!(store.erase(&key(odd)).unwrap());
    }
    assert_eq!(list(&store, ""), [("a/b:c".to_owned(), 0)]);
    assert!(store.erase(&key("a/b:c")).unwrap());
    assert!(!store.erase(&key("a/b:c")).unwrap());
    assert!(store.list_dir(&Prefix::root()).unwrap().prefixes.is_empty());
}

#[test]
fn a_large_value_is_read_and_stays_one_version() {
    let Some(store) = fresh() else { return };
    let large: Vec<u8> = (0..16_u32 << 20 >> 2).flat_map(u32::to_le_bytes).collect();
    store.set(&key("large"), &large, Condition::Always).unwrap();
    assert!(store.get(&key("large")).unwrap().unwrap() == large);
    let value = store.open_with(&key("large"), Some(ByteRange::Suffix { length: 5 })).unwrap().unwrap();
    store.set(&key("large"), b"small", Condition::Always).unwrap();
    assert!(value.read(12_345_678, 1 << 20).unwrap() == large[12_345_678..][..1 << 20]);
    assert_eq!(value.version(), None);
}

/// Other threads write all the time, and each read must return one of the values, never a mixture.
#[test]
fn readers_see_the_old_value_or_the_new_one() {
    let Some(store) = fresh() else { return };
    let value = |round: u8| vec![round; 3 << 20];
    store.set(&key("v"), &value(0), Condition::Always).unwrap();
    thread::scope(|scope| {
        let writer = scope.spawn(|| {
            (1..8).for_each(|round| store.set(&key("v"), &value(round), Condition::Always).unwrap());
        });
        while !writer.is_finished() {
            let seen = store.get(&key("v")).unwrap().unwrap();
            assert!(seen == value(seen[0]));
        }
    });
    assert!(store.get(&key("v")).unwrap().unwrap() == value(7));
}

#[test]
fn network_failures_keep_their_kinds_and_none_waits_forever() {
    let Some(url) = address("HDFS") else { return };
    let proxy = Proxy::new(&url).unwrap();
    let name = key("networks/value");
    let open = || HdfsOptions::new().timeout(Duration::from_secs(1)).open(proxy.url()).unwrap();
    let (store, start) = (open(), Instant::now());
    let check = |store: &dyn Store, kind: StoreErrorKind| {
        let errors = [
            store.get(&name).map(drop).unwrap_err(),
            store.size(&name).map(drop).unwrap_err(),
            store.set(&name, b"v", Condition::Always).unwrap_err(),
            store.list_dir(&Prefix::root()).map(drop).unwrap_err(),
            store.erase(&name).map(drop).unwrap_err(),
        ];
        errors.iter().for_each(|error| assert_eq!(error.kind(), kind, "{error}"));
    };
    assert_eq!(store.get(&name).unwrap(), None);
    proxy.stall();
    check(&store, StoreErrorKind::TimedOut);
    check(&open(), StoreErrorKind::TimedOut);
    proxy.mend();
    assert_eq!(store.get(&name).unwrap(), None);
    proxy.cut(After::Bytes(3), 1_000);
    check(&store, StoreErrorKind::Unreachable);
    proxy.mend();
    assert_eq!(store.get(&name).unwrap(), None);
    proxy.refuse();
    check(&store, StoreErrorKind::Unreachable);
    proxy.mend();
    assert_eq!(store.get(&name).unwrap(), None);
    assert!(start.elapsed() < Duration::from_secs(60), "{:?}", start.elapsed());
}

#[test]
fn one_of_many_creates() {
    let Some(store) = fresh() else { return };
    let create = |writer: u8| store.set(&key("a/race"), &[writer; 100], Condition::Absent);
    let results: Vec<_> = thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|writer| scope.spawn(move || create(writer))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let errors: Vec<_> = results.into_iter().filter_map(Result::err).collect();
    assert_eq!(errors.len(), 3);
    assert!(errors.iter().all(|error| error.kind() == StoreErrorKind::AlreadyExists), "{errors:?}");
    assert_eq!(list(&store, "").len(), 1, "temporary files are gone");
}

#[test]
fn values_and_directories_keep_out_of_each_others_way() {
    let Some(store) = fresh() else { return };
    obstruct_each_other(&store);
}

#[test]
fn urls_name_directories() {
    let Some(url) = address("HDFS") else { return };
    let name = key(&format!("urls-{}/a b/v", std::process::id()));
    let options = StorageOptions::new().with("dfs.client.use.datanode.hostname", "true");
    let located = registry().open(&format!("{url}/{}", name.as_str().replace(' ', "%20")), &options).unwrap();
    assert_eq!((located.path.as_str(), located.whole), (name.as_str(), false));
    located.store.set(&name, b"v", Condition::Always).unwrap();
    assert_eq!(located.store.location(), url);
    assert_eq!(located.store.get(&name).unwrap().unwrap(), "v");
}

#[test]
fn another_users_directory_is_forbidden() {
    let Some(url) = address("HDFS") else { return };
    let store = HdfsOptions::new().user("guest").open(&url).unwrap();
    let error = store.set(&key("forbidden"), b"", Condition::Always).unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Forbidden, "{error}");
    assert!(!error.to_string().contains("\n"), "{error}");
}

#[test]
fn a_closed_port_is_unreachable_at_once() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let start = Instant::now();
    let store = HdfsOptions::new().open(&format!("hdfs://me@127.0.0.1:{port}/x")).unwrap();
    let error = store.list_dir(&Prefix::root()).unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Unreachable, "{error}");
    assert!(start.elapsed() < Duration::from_secs(20));
    assert_eq!(store.inner().location(), format!("hdfs://127.0.0.1:{port}/x"));
    for url in ["http://host/", "host", "hdfs:///a"] {
        assert_error(HdfsOptions::new().open(url), StoreErrorKind::Other, "must have the form");
    }
}
