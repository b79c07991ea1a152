//! S3.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;

use zarrox_stores::{
    ByteRange, Condition, ConnectionOptions, S3Options, S3Store, Store, StoreErrorKind, StoreExt,
};
use zarrox_testkit::proxy::Proxy;
use zarrox_testkit::servers::address;
use zarrox_testkit::store::{key, list, prefix, store_suite};

use super::remote::{all_fail, fresh, unique, unreachable, unused_address};

fn options(endpoint: &str) -> S3Options {
    S3Options::new().endpoint(endpoint).allow_http(true).credentials("AKIAEXAMPLE", "secretkey")
}

fn bucket() -> Option<S3Store> {
    Some(options(&address("S3")?).open("zarrox").unwrap())
}

#[test]
fn passes_the_suite() {
    let Some(store) = bucket() else { return };
    store_suite(|| fresh(Arc::new(store.clone())));
}

#[test]
fn the_place_is_named_without_secrets() {
    let Some(url) = address("S3") else { return };
    let Some(store) = bucket() else { return };
    assert_eq!(store.location(), format!("{url}/zarrox"));
    assert_eq!(S3Options::new().open("zarrox").unwrap().location(), "s3://zarrox");
    let text = format!("{store:?} {:?}", options(&url).session_token("token-of-mine"));
    assert!(!text.contains("secretkey") && !text.contains("token-of-mine"), "{text}");
}

#[test]
fn wrong_credentials_are_forbidden() {
    let Some(url) = address("S3") else { return };
    let wrong = options(&url).credentials("AKIAEXAMPLE", "wrongsecret").open("zarrox").unwrap();
    all_fail(&wrong, StoreErrorKind::Forbidden, &["wrongsecret"]);
    let unknown = options(&url).credentials("AKIANOBODY", "wrongsecret").open("zarrox").unwrap();
    all_fail(&unknown, StoreErrorKind::Forbidden, &["wrongsecret"]);
    let anonymous = options(&url).anonymous(true).open("zarrox").unwrap();
    all_fail(&anonymous, StoreErrorKind::Forbidden, &[]);
}

#[test]
fn a_missing_bucket_is_not_a_missing_value() {
    let Some(url) = address("S3") else { return };
    let store = options(&url).open(&format!("nothing-here-{}", unique())).unwrap();
    // Nothing is written: SeaweedFS would create the bucket.
    let errors = [
        store.get(&key("a")).map(drop).unwrap_err(),
        store.open(&key("a")).map(drop).unwrap_err(),
        store.size(&key("a")).unwrap_err(),
        store.erase(&key("a")).unwrap_err(),
        store.erase_prefix(&prefix("a/")).unwrap_err(),
        store.list_dir(&prefix("a/")).unwrap_err(),
    ];
    for error in errors {
        assert_eq!(error.kind(), StoreErrorKind::NotFound, "{error}");
        assert!(error.to_string().contains("/nothing-here"), "{error}");
    }
}

#[test]
fn a_server_that_is_not_there_is_unreachable() {
    unreachable(&options(&unused_address()).open("zarrox").unwrap());
}

#[test]
fn encryption_is_given_up_only_when_asked() {
    let error = S3Options::new().endpoint("http://127.0.0.1:1").open("zarrox").unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Forbidden);
    assert!(error.to_string().contains("allow_http"), "{error}");
}

#[test]
fn each_read_is_one_request() {
    let Some(url) = address("S3") else { return };
    let proxy = Proxy::new(&url).unwrap();
    let store = options(proxy.url()).open("zarrox").unwrap();
    let name = key(&format!("{}/with space/дом#?%20", unique()));
    store.set(&name, b"0123456789", Condition::Always).unwrap();
    proxy.reset();
    let requests = |what: &str, expected: usize| {
        let seen = proxy.requests();
        proxy.reset();
        assert_eq!(seen.len(), expected, "{what}: {seen:?}");
    };
    let ranges = [
        ByteRange::From { offset: 2, length: Some(3) },
        ByteRange::From { offset: 8, length: None },
        ByteRange::Suffix { length: 2 },
    ];
    for range in ranges {
        let value = store.open_with(&name, Some(range)).unwrap().unwrap();
        assert_eq!(value.size(), 10);
        let within = range.resolve(10).unwrap();
        value.read(within.start, within.end - within.start).unwrap();
        requests("a range", 1);
    }
    assert_eq!(store.get(&name).unwrap().unwrap(), "0123456789");
    requests("a value", 1);
    store.open(&name).unwrap().unwrap();
    requests("its size", 1);
    assert_eq!(store.get(&key("nothing")).unwrap(), None);
    requests("nothing", 1);
}

#[test]
fn large_values_with_conditions_are_written_at_once() {
    let Some(store) = bucket() else { return };
    let (store, large) = (fresh(Arc::new(store)), vec![7; 40 << 20]);
    store.set(&key("large"), &large, Condition::Absent).unwrap();
    let again = store.set(&key("large"), &large, Condition::Absent).unwrap_err();
    assert_eq!(again.kind(), StoreErrorKind::AlreadyExists);
    let open = store.open(&key("large")).unwrap().unwrap();
    store.set(&key("large"), &large[1..], Condition::Matches(&open.version().unwrap())).unwrap();
    assert_eq!(open.read(1, 5).unwrap_err().kind(), StoreErrorKind::Conflict);
    assert_eq!(store.size(&key("large")).unwrap(), Some((40 << 20) - 1));
}

#[test]
fn one_by_one_works_as_well() {
    let Some(url) = address("S3") else { return };
    let connection = ConnectionOptions::new().idle_timeout(std::time::Duration::from_secs(20));
    let store = options(&url).bulk_erase(false).region("us-east-1").connection(connection);
    let store = fresh(Arc::new(store.open("zarrox").unwrap()));
    for index in 0..10 {
        store.set(&key(&format!("a/{index}")), b"v", Condition::Always).unwrap();
    }
    store.erase_prefix(&prefix("a/")).unwrap();
    assert_eq!(list(&*store, ""), []);
}
