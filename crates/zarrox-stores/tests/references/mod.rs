//! References: their guarantees, their targets, and forbidden targets.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod parquet;

use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;
use zarrox_stores::{
    ByteRange, Condition, MemoryStore, ReferenceOptions, ReferenceStore, StorageOptions, Store, StoreError,
    StoreErrorKind, StoreExt, registry,
};
use zarrox_testkit::remote::Remote;
use zarrox_testkit::store::{Content, key, list, prefix, read_suite, store_suite};

fn put(store: &dyn Store, name: &str, value: &[u8]) {
    store.set(&key(name), value, Condition::Always).unwrap();
}

/// Opens references in a store that are in `sets/`, beside their targets.
fn opened(store: Arc<dyn Store>, document: &str) -> Result<ReferenceStore, StoreError> {
    put(&*store, "sets/refs.json", document.as_bytes());
    ReferenceOptions::new().open_in(store, "sets/refs.json")
}

fn in_memory(document: &str) -> ReferenceStore {
    let memory = MemoryStore::new();
    put(&memory, "sets/data/a.nc", b"0123456789");
    opened(Arc::new(memory), document).unwrap()
}

/// Creates references to this content. In turn, a value is inline, in a separate object, and in the middle of
/// another object.
fn referring(content: Content<'_>, store: &dyn Store) -> String {
    let mut members = Vec::new();
    let mut pack = b"before".to_vec();
    for (n, (name, value)) in content.iter().enumerate() {
        let name = format!("\"{}\"", name.escape_default());
        members.push(match (n % 3, std::str::from_utf8(value)) {
            (0, Ok(text)) if text.is_ascii() && !text.contains(char::is_control) => {
                format!("{name}: {text:?}")
            }
            (1, _) => {
                put(store, &format!("sets/own/{n}"), value);
                format!("{name}: [\"own/{n}\"]")
            }
            _ => {
                pack.extend_from_slice(value);
                format!("{name}: [\"./pack\", {}, {}]", pack.len() - value.len(), value.len())
            }
        });
    }
    put(store, "sets/pack", &[&pack[..], b"behind"].concat());
    format!("{{\"version\": 1, \"refs\": {{{}}}}}", members.join(", "))
}

#[test]
fn reads_as_other_stores_do() {
    read_suite(|content| {
        let memory = MemoryStore::new();
        let document = referring(content, &memory);
        Box::new(opened(Arc::new(memory), &document).unwrap())
    });
    read_suite(|content| {
        let remote = Remote::default();
        let document = referring(content, remote.memory());
        Box::new(opened(remote.blocking(), &document).unwrap())
    });
}

#[test]
fn refuses_writes() {
    store_suite(|| Box::new(in_memory("{}")));
}

#[test]
fn a_part_is_one_request() {
    let remote = Remote::new(Duration::from_millis(1));
    put(remote.memory(), "sets/a.nc", b"0123456789");
    let document = r#"{"a/.zarray": {"shape": [2]}, "a/0": ["a.nc", 2, 3], "a/1": ["a.nc"]}"#;
    let store = opened(remote.blocking(), document).unwrap();
    assert!(store.capabilities().in_flight.is_some());
    remote.take_requests();
    assert_eq!(store.get(&key("a/.zarray")).unwrap().unwrap(), r#"{"shape": [2]}"#);
    assert_eq!(store.size(&key("a/0")).unwrap(), Some(3));
    assert!(store.get(&key("a/2")).unwrap().is_none());
    assert!(remote.take_requests().is_empty());
    assert_eq!(store.get(&key("a/0")).unwrap().unwrap(), "234");
    assert_eq!(store.get(&key("a/1")).unwrap().unwrap(), "0123456789");
    let range = ByteRange::From { offset: 1, length: Some(2) };
    assert_eq!(store.get_ranges(&key("a/0"), &[range]).unwrap().unwrap(), ["34"]);
    let value = store.open_with(&key("a/0"), Some(ByteRange::Suffix { length: 1 })).unwrap().unwrap();
    assert_eq!(value.read(2, 1).unwrap(), "4");
    assert_eq!(remote.take_requests().values().sum::<usize>(), 4);
}

#[test]
fn nothing_beyond_a_part_is_read() {
    let store = in_memory(r#"{"a": ["data/a.nc", 2, 3], "empty": ["data/a.nc", 10, 0]}"#);
    let value = store.open(&key("a")).unwrap().unwrap();
    assert_eq!((value.size(), value.read(0, 3).unwrap()), (3, "234".into()));
    for (offset, length) in [(0, 4), (3, 1), (u64::MAX, 1), (1, u64::MAX)] {
        assert_eq!(value.read(offset, length).unwrap_err().kind(), StoreErrorKind::OutOfRange);
    }
    assert_eq!(store.get(&key("empty")).unwrap().unwrap(), "");
}

#[test]
fn a_missing_target_is_not_a_missing_key() {
    let store = in_memory(r#"{"a": ["data/b.nc", 2, 3], "b": ["data/b.nc"], "c": [null, 0, 1]}"#);
    for name in ["a", "b", "c"] {
        let error = store.get(&key(name)).unwrap_err();
        assert_eq!((error.kind(), error.key()), (StoreErrorKind::NotFound, Some(name)), "{error}");
        assert!(name == "c" || error.to_string().contains("sets/data/b.nc"), "{error}");
    }
    assert_eq!(store.size(&key("b")).unwrap_err().kind(), StoreErrorKind::NotFound);
    let mut visit = |_, _| std::ops::ControlFlow::Continue(());
    assert_eq!(store.list_prefix(&prefix(""), &mut visit).unwrap_err().kind(), StoreErrorKind::NotFound);
}

#[test]
fn a_target_that_is_too_short_is_damage() {
    let document = format!(
        r#"{{"a": ["data/a.nc", 8, 3], "b": ["data/a.nc", 11, 0], "c": ["data/a.nc", {max}, {max}]}}"#,
        max = u64::MAX
    );
    let store = in_memory(&document);
    for name in ["a", "b", "c"] {
        let error = store.get(&key(name)).map(drop).unwrap_err();
        assert_eq!((error.kind(), error.key()), (StoreErrorKind::Corrupt, Some(name)), "{error}");
        assert!(error.to_string().contains("ends at 10"), "{error}");
    }
}

#[test]
fn an_option_names_the_target() {
    let memory = MemoryStore::new();
    put(&memory, "a.nc", b"0123456789");
    put(&memory, "refs.json", br#"{"a": [null, 2, 3]}"#);
    let store = ReferenceOptions::new().target("a.nc").open_in(Arc::new(memory), "refs.json").unwrap();
    assert_eq!(store.get(&key("a")).unwrap().unwrap(), "234");
}

#[test]
fn listings_have_the_sizes() {
    let store = in_memory(
        r#"{"a/0": ["data/a.nc"], "a/.zarray": "{}", "b": ["data/a.nc", 0, 4], ".zgroup": {"a": 1}}"#,
    );
    let expected = [(".zgroup", 8), ("a/.zarray", 2), ("a/0", 10), ("b", 4)];
    assert_eq!(list(&store, ""), expected.map(|(name, size)| (name.to_owned(), size)));
    let listing = store.list_dir(&prefix("")).unwrap();
    assert_eq!((listing.keys, listing.prefixes), (vec![key(".zgroup"), key("b")], vec![prefix("a/")]));
}

#[test]
fn files_and_urls_are_opened() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("a b.nc");
    std::fs::write(&file, b"0123456789").unwrap();
    let references = directory.path().join("refs.json");
    let file = file.to_str().unwrap();
    let document = format!(
        r#"{{"version": 1, "templates": {{"u": {file:?}}}, "refs": {{"n/a": ["{{{{u}}}}", 2, 3], "n/b": ["file://{file}"]}}}}"#
    );
    std::fs::write(&references, document).unwrap();
    let path = references.to_str().unwrap();
    let none = StorageOptions::new();
    for (url, options) in [
        (format!("reference://n::{path}"), none.clone()),
        (format!("reference://n::file://{path}"), none.clone()),
        (format!("file://{path}|reference:n"), none.clone()),
        (format!("{path}|reference:n"), none.clone()),
        ("reference://n".to_owned(), none.clone().with("fo", path)),
    ] {
        let located = registry().open(&url, &options).unwrap();
        assert_eq!((located.path.as_str(), located.whole), ("n", true), "{url}");
        assert_eq!(located.store.get(&key("n/a")).unwrap().unwrap(), "234", "{url}");
        assert_eq!(located.store.get(&key("n/b")).unwrap().unwrap(), "0123456789", "{url}");
        assert_eq!(located.store.capabilities().in_flight, None);
    }
    assert_eq!(registry().open(&format!("reference::{path}"), &none).unwrap().path, "");
    for (url, kind) in [
        ("reference://n", StoreErrorKind::NotFound),
        ("reference:://nowhere/refs.json", StoreErrorKind::NotFound),
        ("reference::memory://nowhere/refs.json", StoreErrorKind::NotFound),
    ] {
        assert_eq!(registry().open(url, &none).unwrap_err().kind(), kind, "{url}");
    }
    let itself = none.with("fo", "reference://n");
    assert_eq!(registry().open("reference://n", &itself).unwrap_err().kind(), StoreErrorKind::NotFound);
}

#[test]
fn references_in_a_file_read_only_from_its_directory() {
    let above = tempfile::tempdir().unwrap();
    let directory = above.path().join("sets");
    std::fs::create_dir_all(directory.join("below")).unwrap();
    std::fs::write(above.path().join("secret"), b"secret").unwrap();
    std::fs::write(directory.join("below/a.nc"), b"0123456789").unwrap();
    std::os::unix::fs::symlink("../secret", directory.join("link")).unwrap();
    let (inside, above) = (directory.to_str().unwrap(), above.path().to_str().unwrap());
    let document = format!(
        r#"{{"a": ["{inside}/below/a.nc"], "b": ["file://{inside}/below/../below/a.nc", 2, 3], "x": ["{above}/secret"],
            "y": ["file://{inside}/../secret"], "z": ["{inside}/link"], "p": ["/etc/passwd"], "c": ["simplecache::{above}/secret"]}}"#
    );
    std::fs::write(directory.join("refs.json"), document).unwrap();
    let none = StorageOptions::new();
    let open = |options| registry().open(&format!("reference::{inside}/refs.json"), options).unwrap().store;
    let store = open(&none);
    assert_eq!(store.get(&key("a")).unwrap().unwrap(), "0123456789");
    assert_eq!(store.get(&key("b")).unwrap().unwrap(), "234");
    for name in ["x", "y", "z", "p", "c"] {
        let error = store.get(&key(name)).unwrap_err();
        assert_eq!((error.kind(), error.key()), (StoreErrorKind::Forbidden, Some(name)), "{error}");
        assert!(error.to_string().contains("allow_local"), "{error}");
    }
    let trusting = open(&none.clone().with("allow_local", "true"));
    for name in ["x", "y", "z"] {
        assert_eq!(trusting.get(&key(name)).unwrap().unwrap(), "secret");
    }
}

#[test]
fn references_from_elsewhere_read_no_files() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("secret");
    std::fs::write(&file, b"0123456789").unwrap();
    let file = file.to_str().unwrap();
    let memory = registry().open("memory://", &StorageOptions::new()).unwrap().store;
    let document =
        format!(r#"{{"a": [{file:?}], "b": ["file://{file}"], "c": ["memory://sets/strange.json"]}}"#);
    put(&*memory, "sets/strange.json", document.as_bytes());
    let url = "reference::memory://sets/strange.json";
    let read = |options: &StorageOptions, name| registry().open(url, options).unwrap().store.get(&key(name));
    let none = StorageOptions::new();
    for name in ["a", "b", "c"] {
        let error = read(&none, name).unwrap_err();
        assert_eq!((error.kind(), error.key()), (StoreErrorKind::Forbidden, Some(name)));
        assert!(error.to_string().contains("allow_local"), "{error}");
    }
    for (option, value) in [("allow_local", "true"), ("remote_protocol", "file")] {
        let options = none.clone().with(option, value);
        for name in ["a", "b"] {
            assert_eq!(read(&options, name).unwrap().unwrap(), "0123456789");
        }
    }
    let wrong = registry().open(url, &none.with("allow_local", "perhaps")).unwrap_err();
    assert_eq!(wrong.kind(), StoreErrorKind::InvalidKey);
}

#[test]
fn secrets_of_targets_are_not_shown() {
    let document = r#"{"a": ["ftp://me:secret@127.0.0.1/a?token=secret"], "b": ["gopher://me:secret@h/?secret"],
        "c": ["s3://me:secret@b//?secret"]}"#;
    let memory = MemoryStore::new();
    put(&memory, "refs.json", document.as_bytes());
    let store = ReferenceOptions::new().allow_local(true).open_in(Arc::new(memory), "refs.json").unwrap();
    for name in ["b", "c"] {
        let error = store.get(&key(name)).unwrap_err();
        let text = format!("{error} {error:?} {store:?} {}", store.location());
        assert!(!text.contains("secret"), "{text}");
    }
}

#[test]
fn references_that_are_malformed_name_their_place() {
    let error = opened(Arc::new(MemoryStore::new()), r#"{"a": 1}"#).unwrap_err();
    assert_eq!((error.kind(), error.key()), (StoreErrorKind::Corrupt, Some("a")));
    assert!(error.to_string().contains("sets/refs.json"), "{error}");
    let memory = Arc::new(MemoryStore::new());
    put(&*memory, "refs.json", &[b' '; 1000]);
    let error = ReferenceOptions::new().memory_limit(999).open_in(memory, "refs.json").unwrap_err();
    assert_eq!((error.kind(), error.key()), (StoreErrorKind::TooLarge, Some("refs.json")));
}

#[test]
fn a_file_that_is_missing_is_named() {
    let error = ReferenceOptions::new().open(Path::new("/nowhere/refs.json")).unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::NotFound);
    assert!(error.to_string().contains("/nowhere/refs.json"), "{error}");
}

proptest! {
    /// Any document is either read or rejected, and so is each value that it refers to.
    #[test]
    fn any_document_is_read_or_refused(parts in proptest::collection::vec(
        prop::sample::select(vec!["{", "}", "[", "]", ":", ",", "\"a\"", "\"a/0\"", "\"version\"", "1", "\"refs\"", "\"gen\"",
            "\"templates\"", "\"{{i}}\"", "\"{{u(i=1)}}\"", "-1", "1e3", "null", "\"base64:AA==\"", "\"dimensions\"", "\"stop\"", "99999"]),
        0..40,
    )) {
        let _ = opened(Arc::new(MemoryStore::new()), &parts.concat()).map(|store| store.get(&key("a")).map(drop));
    }

    /// Every part equals the slice of the target.
    #[test]
    fn parts_are_slices(offset in 0_usize..12, length in 0_usize..12, from in 0_usize..12, count in 0_usize..12) {
        let mut document = String::new();
        write!(document, r#"{{"a": ["data/a.nc", {offset}, {length}]}}"#).unwrap();
        let store = in_memory(&document);
        let range = ByteRange::From { offset: from as u64, length: Some(count as u64) };
        let found = store.get_ranges(&key("a"), &[range]);
        let part = b"0123456789".get(offset..offset + length);
        match part.and_then(|part| part.get(from..from + count)) {
            Some(expected) => prop_assert_eq!(&found.unwrap().unwrap()[0], expected),
            None => prop_assert!(found.is_err()),
        }
    }
}
