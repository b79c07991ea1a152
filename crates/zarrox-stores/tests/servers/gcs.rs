//! Google Cloud Storage: the suite, and features of the service.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use zarrox_stores::{
    AsyncStore, Blocking, ByteRange, Condition, GcsOptions, GcsStore, Prefix, PrefixStore, StorageOptions,
    Store, StoreErrorKind, StoreExt, registry,
};
use zarrox_testkit::errors::assert_error;
use zarrox_testkit::servers::address;
use zarrox_testkit::store::{key, store_suite};

const SECRET: &str = "ya29.secret";

fn bucket(name: &str) -> Option<Blocking<GcsStore>> {
    Some(GcsOptions::new().endpoint(address("GCS")?).anonymous().open(name).unwrap())
}

/// Returns a new prefix of the bucket.
fn fresh() -> Option<Box<dyn Store>> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let prefix = Prefix::new(format!("gcs-{}/{count}/", std::process::id())).unwrap();
    Some(Box::new(PrefixStore::new(Arc::new(bucket("zarrox")?), prefix)))
}

#[test]
fn passes_the_suite() {
    if address("GCS").is_some() {
        store_suite(|| fresh().unwrap());
    }
}

#[test]
fn urls_name_buckets() {
    let Some(url) = address("GCS") else { return };
    let options = StorageOptions::new().with("endpoint", url).with("anonymous", "true");
    let name = key(&format!("urls-{}/a b%20", std::process::id()));
    for scheme in ["gs", "gcs"] {
        let located = registry().open(&format!("{scheme}://zarrox/{name}"), &options).unwrap();
        assert_eq!((located.path.as_str(), located.whole), (name.as_str(), false));
        located.store.set(&name, scheme.as_bytes(), Condition::Always).unwrap();
        assert_eq!(bucket("zarrox").unwrap().get(&name).unwrap().unwrap(), scheme);
    }
    assert_error(registry().open("gs:///a", &options), StoreErrorKind::InvalidKey, "no bucket");
}

#[test]
fn a_version_is_a_generation_of_which_all_ranges_are() {
    let Some(store) = fresh() else { return };
    let name = key("a");
    store.set(&name, b"0123456789", Condition::Always).unwrap();
    let value = store.open_with(&name, Some(ByteRange::Suffix { length: 2 })).unwrap().unwrap();
    assert_eq!((value.size(), value.read(8, 2).unwrap()), (10, "89".into()));
    let version = value.version().unwrap();
    assert!(version.as_bytes().iter().all(u8::is_ascii_digit), "{version:?}");
    assert_eq!(value.read(1, 3).unwrap(), "123");
    store.set(&name, b"9876543210", Condition::Matches(&version)).unwrap();
    assert_eq!(value.read(1, 3).unwrap_err().kind(), StoreErrorKind::Conflict);
}

#[test]
fn a_missing_bucket_is_not_a_missing_value() {
    let Some(store) = bucket("nowhere") else { return };
    let errors = [
        store.get(&key("a")).unwrap_err(),
        store.size(&key("a")).unwrap_err(),
        store.set(&key("a"), b"", Condition::Always).unwrap_err(),
        store.erase(&key("a")).unwrap_err(),
        store.list_dir(&Prefix::root()).unwrap_err(),
    ];
    for error in errors {
        assert_eq!(error.kind(), StoreErrorKind::NotFound, "{error}");
        assert!(error.to_string().contains("the bucket 'nowhere' does not exist"), "{error}");
    }
}

#[test]
fn a_closed_port_is_unreachable_at_once() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let store = GcsOptions::new().endpoint(format!("127.0.0.1:{port}")).token(SECRET).open("zarrox").unwrap();
    let start = Instant::now();
    let error = store.get(&key("a")).unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Unreachable, "{error}");
    assert!(start.elapsed() < Duration::from_secs(20));
    assert!(!format!("{error} {error:?} {store:?}").contains(SECRET));
}

#[test]
fn a_server_that_says_nothing_is_timed_out() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let options = GcsOptions::new().endpoint(url).anonymous().timeout(Duration::from_millis(200));
    let error = options.open("zarrox").unwrap().get(&key("a")).unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::TimedOut, "{error}");
}

/// Sends the same response to every connection.
fn answering(answer: &'static str) -> String {
    use std::io::{BufRead, BufReader, Write};
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    thread::spawn(move || {
        for connection in listener.incoming() {
            let mut connection = connection.unwrap();
            let mut lines = BufReader::new(connection.try_clone().unwrap()).lines();
            while lines.next().is_some_and(|line| line.is_ok_and(|line| !line.is_empty())) {}
            let _ = connection.write_all(answer.as_bytes());
        }
    });
    url
}

#[test]
fn refusals_keep_their_kinds_and_no_secrets() {
    let cases = [
        ("401 Unauthorized", StoreErrorKind::Forbidden),
        ("403 Forbidden", StoreErrorKind::Forbidden),
        ("429 Too Many Requests", StoreErrorKind::Unreachable),
        ("503 Service Unavailable", StoreErrorKind::Unreachable),
        ("504 Gateway Timeout", StoreErrorKind::TimedOut),
        ("400 Bad Request", StoreErrorKind::Other),
    ];
    for (status, kind) in cases {
        let answer = format!("HTTP/1.1 {status}\r\nContent-Length: 4\r\nConnection: close\r\n\r\nwhy\n");
        let url = answering(answer.leak());
        let store = GcsOptions::new().endpoint(url).token(SECRET).open("zarrox").unwrap();
        for error in [store.get(&key("a")).unwrap_err(), store.list_dir(&Prefix::root()).unwrap_err()] {
            assert_eq!(error.kind(), kind, "{error}");
            assert!(error.to_string().contains("why"), "{error}");
            assert!(!format!("{error:?}").contains(SECRET), "{error:?}");
        }
    }
}

#[test]
fn odd_answers_are_errors() {
    let cases = [
        "HTTP/1.1 206 Partial Content\r\nContent-Length: 2\r\nContent-Range: bytes 0-7/8\r\n\r\nab",
        "HTTP/1.1 206 Partial Content\r\nContent-Length: 2\r\nContent-Range: bytes 3-4/4\r\n\r\nab",
        "HTTP/1.1 200 OK\r\nContent-Length: 9223372036854775807\r\n\r\nab",
        "HTTP/1.1 200 OK\r\nContent-Length: 10\r\nConnection: close\r\n\r\nab",
        "HTTP/1.1 200 OK\r\n\r\nab",
        "nonsense",
    ];
    for answer in cases {
        let store = GcsOptions::new().endpoint(answering(answer)).anonymous();
        let store = store.timeout(Duration::from_millis(500)).open("zarrox").unwrap();
        let error = store.open_with(&key("a"), Some(ByteRange::Suffix { length: 2 })).err();
        assert!(error.is_some(), "{answer:?}");
        assert!(store.list_dir(&Prefix::root()).is_err(), "{answer:?}");
    }
}

#[test]
fn a_bucket_has_one_location_for_all_handles() {
    let location = |options: GcsOptions| options.open("b").unwrap().inner().location();
    let google = |options: GcsOptions| location(options.endpoint("https://storage.googleapis.com"));
    assert_eq!(google(GcsOptions::new().anonymous()), "gs://b");
    assert_eq!(google(GcsOptions::new().token(SECRET)), "gs://b");
    let with_user = GcsOptions::new().endpoint("http://user:password@host:1/?key=secret").anonymous();
    assert_eq!(location(with_user), "http://host:1/b");
}
