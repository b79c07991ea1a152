//! WebDAV: the suite, and features of WebDAV.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::net::TcpListener;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use zarrox_databases::{WebDavOptions, WebDavStore, registry};
use zarrox_stores::{
    AsyncStore, Blocking, ByteRange, Condition, Prefix, StorageOptions, Store, StoreErrorKind, StoreExt,
};
use zarrox_testkit::errors::assert_error;
use zarrox_testkit::servers::{TIMEOUT, address};
use zarrox_testkit::store::{key, list, prefix, read_suite, store_suite};

use super::obstruction::obstruct_each_other;

/// Returns a new directory on a server, which does not exist yet.
fn fresh_on(server: &str) -> Option<Blocking<WebDavStore>> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let url = format!("{}/a b%25/webdav-{}-{count}/", address(server)?, std::process::id());
    Some(WebDavOptions::new().timeout(TIMEOUT).open(&url).unwrap())
}

fn fresh() -> Option<Blocking<WebDavStore>> {
    fresh_on("WEBDAV")
}

#[test]
fn passes_the_suite() {
    if address("WEBDAV").is_some() {
        store_suite(|| Box::new(fresh().unwrap()));
    }
}

/// WsgiDAV truncates a value before it writes the new one, so that a part of the suite would fail.
#[test]
fn is_read_and_written_on_a_server_that_knows_conditions() {
    if address("WSGIDAV").is_none() {
        return;
    }
    read_suite(|content| {
        let store = fresh_on("WSGIDAV").unwrap();
        content.iter().for_each(|(name, value)| store.set(&key(name), value, Condition::Always).unwrap());
        Box::new(store)
    });
    let store = fresh_on("WSGIDAV").unwrap();
    for value in [&b"first"[..], b"", b"much longer than before"] {
        store.set(&key("a/b"), value, Condition::Always).unwrap();
        assert_eq!(store.get(&key("a/b")).unwrap().unwrap(), value);
    }
    let error = store.set(&key("a/b"), b"second", Condition::Absent).unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::AlreadyExists, "{error}");
    store.set(&key("a/c"), b"third", Condition::Absent).unwrap();
    assert_eq!(list(&store, "a/"), [("a/b".to_owned(), 23), ("a/c".to_owned(), 5)]);
    store.erase_prefix(&prefix("a/")).unwrap();
    assert_eq!(list(&store, ""), []);
}

#[test]
fn an_unreadable_file_is_forbidden_and_not_missing() {
    let Some(url) = address("WEBDAV") else { return };
    let store = WebDavOptions::new().open(&format!("{url}/private")).unwrap();
    let errors = [
        store.get(&key("a")).unwrap_err(),
        store.size(&key("a")).unwrap_err(),
        store.set(&key("a"), b"", Condition::Always).unwrap_err(),
        store.erase(&key("a")).unwrap_err(),
        store.list_dir(&Prefix::root()).unwrap_err(),
    ];
    for error in errors {
        assert_eq!(error.kind(), StoreErrorKind::Forbidden, "{error}");
    }
}

#[test]
fn urls_name_directories() {
    let Some(url) = address("WEBDAV") else { return };
    let (_, host) = url.split_once("://").unwrap();
    let name = key(&format!("urls-{}/a b/v", std::process::id()));
    let options = StorageOptions::new();
    let url = format!("webdav://me:hush@{host}/{}", name.as_str().replace(' ', "%20"));
    let located = registry().open(&url, &options).unwrap();
    assert_eq!((located.path.as_str(), located.whole), (name.as_str(), false));
    located.store.set(&name, b"v", Condition::Always).unwrap();
    assert_eq!(located.store.location(), format!("http://{host}"));
    let tls = registry().open(&format!("webdavs://{host}/a"), &options.with("token", "hush")).unwrap();
    assert_eq!(tls.store.location(), format!("https://{host}"));
    assert!(!format!("{located:?} {tls:?}").contains("hush"));
}

#[test]
fn a_value_that_is_a_little_older_is_read_by_ranges_of_one_version() {
    let Some(store) = fresh() else { return };
    let name = key("a/v");
    store.set(&name, b"0123456789", Condition::Always).unwrap();
    let young = store.open_with(&name, Some(ByteRange::Suffix { length: 2 })).unwrap().unwrap();
    assert_eq!((young.version(), young.as_bytes().map(|bytes| &bytes[..])), (None, Some(&b"0123456789"[..])));
    std::thread::sleep(Duration::from_secs(3));
    let value = store.open_with(&name, Some(ByteRange::Suffix { length: 2 })).unwrap().unwrap();
    assert!(value.version().is_some() && value.as_bytes().is_none());
    assert_eq!((value.read(8, 2).unwrap(), value.read(1, 3).unwrap()), ("89".into(), "123".into()));
    store.set(&name, b"9876543210", Condition::Always).unwrap();
    assert_eq!(value.read(1, 3).unwrap_err().kind(), StoreErrorKind::Conflict);
}

#[test]
fn values_and_directories_keep_out_of_each_others_way() {
    let Some(store) = fresh() else { return };
    obstruct_each_other(&store);
}

#[test]
fn a_closed_port_is_unreachable_at_once_and_no_secret_is_shown() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let store = WebDavOptions::new().open(&format!("http://me:hush@127.0.0.1:{port}/x?token=hush")).unwrap();
    let start = Instant::now();
    let error = store.list_dir(&Prefix::root()).unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Unreachable, "{error}");
    assert!(start.elapsed() < Duration::from_secs(20));
    assert_eq!(store.inner().location(), format!("http://127.0.0.1:{port}/x"));
    assert!(
        !format!("{error} {error:?} {store:?} {:?}", WebDavOptions::new().basic("me", "hush"))
            .contains("hush")
    );
    for url in ["ftp://host/", "host", "http://", "file:///a"] {
        assert_error(WebDavOptions::new().open(url), StoreErrorKind::Other, "must have the form");
    }
}
