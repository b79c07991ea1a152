//! Web servers, over HTTP and HTTPS.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::PathBuf;

use zarrox_stores::{ByteRange, ConnectionOptions, HttpOptions, Prefix, Store, StoreErrorKind};
use zarrox_testkit::proxy::Proxy;
use zarrox_testkit::servers::address;
use zarrox_testkit::store::{Content, key, read_suite, store_suite};

use super::remote::{unique, unused_address};

/// Creates a directory on the server; returns its path and its name.
fn directory() -> Option<(PathBuf, String)> {
    let name = unique();
    let path = PathBuf::from(address("HTTP_ROOT")?).join(&name);
    fs::create_dir_all(&path).unwrap();
    Some((path, name))
}

fn fill(server: &str, options: &HttpOptions, content: Content<'_>) -> Box<dyn Store> {
    let (root, name) = directory().unwrap();
    for (key, value) in content {
        let path = root.join(key);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, value).unwrap();
    }
    Box::new(options.clone().open(&format!("{server}/{name}")).unwrap())
}

#[test]
fn passes_the_suite() {
    let Some(server) = address("HTTP") else { return };
    read_suite(|content| fill(&server, &HttpOptions::new(), content));
    store_suite(|| fill(&server, &HttpOptions::new(), &[]));
}

#[test]
fn certificates_are_checked() {
    let (Some(server), Some(authority)) = (address("HTTPS"), address("HTTPS_CA")) else { return };
    let connection = ConnectionOptions::new().certificates(fs::read(authority).unwrap());
    let options = HttpOptions::new().connection(connection);
    let store = fill(&server, &options, &[("a/b", b"value")]);
    assert_eq!(store.get(&key("a/b")).unwrap().unwrap(), "value");
    assert_eq!(store.get(&key("a/c")).unwrap(), None);

    let stranger = fill(&server, &HttpOptions::new(), &[("a/b", b"value")]);
    let error = stranger.get(&key("a/b")).unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Unreachable);
    assert!(error.to_string().contains("certificate"), "{error}");
}

#[test]
fn odd_names_are_found() {
    let Some(server) = address("HTTP") else { return };
    let names = [
        "with space/ x ",
        "данные/🧊",
        "percent%20?query#fragment",
        "..a../.b",
        "quote'\"$(x);&*|<>:",
        "a\nb",
    ];
    let content: Vec<(&str, &[u8])> = names.iter().map(|name| (*name, name.as_bytes())).collect();
    let store = fill(&server, &HttpOptions::new(), &content);
    for name in names {
        assert_eq!(store.get(&key(name)).unwrap().as_deref(), Some(name.as_bytes()), "{name:?}");
    }
}

#[test]
fn a_forbidden_file_is_not_missing() {
    let Some(server) = address("HTTP") else { return };
    let store = HttpOptions::new().open(&server).unwrap();
    for name in ["private/a", "private/b/c"] {
        assert_eq!(store.get(&key(name)).unwrap_err().kind(), StoreErrorKind::Forbidden);
        assert_eq!(store.size(&key(name)).unwrap_err().kind(), StoreErrorKind::Forbidden);
    }
    let error = store.list_dir(&Prefix::root()).unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Unsupported);
}

#[test]
fn a_value_that_is_replaced_while_it_is_read_is_a_conflict() {
    let Some(server) = address("HTTP") else { return };
    let (root, name) = directory().unwrap();
    fs::write(root.join("a"), "0123456789").unwrap();
    let store = HttpOptions::new().open(&format!("{server}/{name}/")).unwrap();
    let value = store.open_with(&key("a"), Some(ByteRange::Suffix { length: 2 })).unwrap().unwrap();
    fs::write(root.join("a"), "another value").unwrap();
    assert_eq!(value.read(8, 2).unwrap(), "89");
    assert_eq!(value.read(0, 2).unwrap_err().kind(), StoreErrorKind::Conflict);
}

#[test]
fn each_read_is_one_request() {
    let Some(server) = address("HTTP") else { return };
    let (root, name) = directory().unwrap();
    fs::write(root.join("a"), "0123456789").unwrap();
    let proxy = Proxy::new(&server).unwrap();
    let url = proxy.url().replace("//", "//user:secret@");
    let store = HttpOptions::new().open(&format!("{url}/{name}?token=secret")).unwrap();
    assert_eq!(store.location(), format!("{}/{name}", proxy.url()));
    let ranges = [
        (ByteRange::From { offset: 2, length: Some(3) }, "bytes=2-4"),
        (ByteRange::Suffix { length: 2 }, "bytes=-2"),
    ];
    for (range, header) in ranges {
        proxy.reset();
        let value = store.open_with(&key("a"), Some(range)).unwrap().unwrap();
        let within = range.resolve(10).unwrap();
        value.read(within.start, within.end - within.start).unwrap();
        assert_eq!(proxy.requests(), [format!("GET /{name}/a?token=secret {header}")]);
    }
}

#[test]
fn a_server_that_is_not_there_is_unreachable() {
    let store = HttpOptions::new().open(&unused_address()).unwrap();
    assert_eq!(store.get(&key("a")).unwrap_err().kind(), StoreErrorKind::Unreachable);
    let error = HttpOptions::new().open("http://nothing.invalid/").unwrap().get(&key("a")).unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Unreachable, "{error}");
}
