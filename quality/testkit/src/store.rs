//! Suites that every store must pass, through the trait alone.
//!
//! A test of a store calls [`store_suite`] with a function that creates empty stores. A test of a read-only store calls
//! [`read_suite`] instead, with a function that creates stores with values.

#![expect(clippy::unwrap_used, reason = "a suite fails by panicking")]

use std::io;
use std::ops::ControlFlow;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use bytes::Bytes;
use zarrox_stores::{
    ByteRange, Condition, DirListing, Key, Prefix, Store, StoreError, StoreErrorKind, StoreExt, Value,
};

use crate::counters::{add_locked, check_fours, count_in_fours, count_up};
use crate::holds::whole_nodes;

/// The initial keys and values of a store.
pub type Content<'a> = &'a [(&'a str, &'a [u8])];

const MANY: usize = 10_000;

/// Checks a store. Each call of `make` returns a new store without keys.
///
/// Operations that the capabilities exclude must fail with the right kind of error; all others must work.
pub fn store_suite(make: impl Fn() -> Box<dyn Store>) {
    if !make().capabilities().writable {
        return refuses_writes(&*make());
    }
    read_suite(|content| {
        let store = make();
        for (name, value) in content {
            store.set(&key(name), value, Condition::Always).unwrap();
        }
        store
    });
    overwrites(&*make());
    takes_parts(&*make());
    takes_odd_keys(&*make());
    keeps_a_large_value(&*make());
    erases(&*make());
    erases_prefixes(&*make());
    if !make().capabilities().torn_reads {
        replaces_whole_values(&*make());
    }
    keeps_what_was_opened(&*make());
    locks_exclude(&*make());
    locks_are_for_one_key(&*make());
    if make().capabilities().locks_everyone {
        notices_writes_without_the_lock(&*make());
    }
    renames(&make);
    whole_nodes(&make);
    if make().capabilities().set_if_absent {
        sets_when_absent(&*make());
        one_of_many_creates(&*make());
    }
    if make().capabilities().set_if_unchanged {
        sets_when_unchanged(&*make());
        one_of_many_counts(&*make());
    }
    if make().capabilities().erase_if_unchanged {
        erases_when_unchanged(&*make());
    }
    if make().capabilities().values_above_values {
        keeps_values_above_values(&*make());
    }
    if make().capabilities().listable {
        lists_many(&*make());
        visitors_may_write(&*make());
    }
}

/// Checks the reads of a store. Each call of `fill` returns a new store with exactly this content.
pub fn read_suite(fill: impl Fn(Content<'_>) -> Box<dyn Store>) {
    reads_values(&fill);
    reads_ranges(&fill);
    opens_with_a_range(&fill);
    reads_many(&fill);
    if fill(&[]).capabilities().listable {
        lists_directories(&fill);
        lists_prefixes(&fill);
    }
}

/// Returns a key that is known to be valid.
///
/// # Panics
///
/// When the key is invalid.
#[must_use]
pub fn key(text: &str) -> Key {
    Key::new(text).unwrap()
}

/// Returns a prefix that is known to be valid.
///
/// # Panics
///
/// When the prefix is invalid.
#[must_use]
pub fn prefix(text: &str) -> Prefix {
    Prefix::new(text).unwrap()
}

/// Returns all keys below a prefix with the sizes of their values, sorted.
///
/// # Panics
///
/// When the keys cannot be listed.
#[must_use]
pub fn list(store: &dyn Store, below: &str) -> Vec<(String, u64)> {
    let mut found = Vec::new();
    let mut visit = |key: Key, size| {
        found.push((key.to_string(), size));
        ControlFlow::Continue(())
    };
    store.list_prefix(&prefix(below), &mut visit).unwrap();
    found.sort_unstable();
    found
}

fn names(listing: &DirListing) -> (Vec<&str>, Vec<&str>) {
    let keys = listing.keys.iter().map(Key::as_str).collect();
    (keys, listing.prefixes.iter().map(Prefix::as_str).collect())
}

fn put(store: &dyn Store, name: &str, value: &[u8]) {
    store.set(&key(name), value, Condition::Always).unwrap();
}

fn value(store: &dyn Store, name: &str) -> Option<Bytes> {
    store.get(&key(name)).unwrap()
}

fn reads_values(fill: &dyn Fn(Content<'_>) -> Box<dyn Store>) {
    let store = fill(&[("a", b"one"), ("b/c/d", b"two"), ("empty", b"")]);
    assert!(!store.location().is_empty());
    for (name, expected) in [("a", &b"one"[..]), ("b/c/d", b"two"), ("empty", b"")] {
        assert_eq!(value(&*store, name).unwrap(), expected);
        assert_eq!(store.size(&key(name)).unwrap(), Some(expected.len() as u64));
        assert!(store.contains(&key(name)).unwrap(), "{name}");
        let open = store.open(&key(name)).unwrap().unwrap();
        assert_eq!(open.size(), expected.len() as u64);
        assert!(open.as_bytes().is_none_or(|bytes| bytes == expected));
        assert_eq!(open.read(0, open.size()).unwrap(), expected);
    }
    for missing in ["b", "b/c", "A", "aa", "b/c/d/e", "a/b", "empty/x/y", "nothing/here"] {
        assert_eq!(value(&*store, missing), None, "{missing}");
        assert_eq!(store.size(&key(missing)).unwrap(), None, "{missing}");
        assert!(!store.contains(&key(missing)).unwrap(), "{missing}");
        let ranges = store.get_ranges(&key(missing), &[ByteRange::Suffix { length: 1 }]);
        for is_missing in
            [store.open(&key(missing)).map(|value| value.is_none()), ranges.map(|ranges| ranges.is_none())]
        {
            // A store of directories may report that a directory has the name of the value.
            match is_missing {
                Err(error) => assert_eq!(error.kind(), StoreErrorKind::Obstructed, "{missing}: {error}"),
                Ok(is_missing) => assert!(is_missing, "{missing}"),
            }
        }
    }
}

fn reads_ranges(fill: &dyn Fn(Content<'_>) -> Box<dyn Store>) {
    let store = fill(&[("v", b"0123456789"), ("empty", b"")]);
    let from = |offset, length| ByteRange::From { offset, length };
    let suffix = |length| ByteRange::Suffix { length };
    let read = |name, ranges: &[ByteRange]| store.get_ranges(&key(name), ranges);

    let ranges =
        [from(2, Some(3)), suffix(2), from(0, None), from(9, Some(1)), from(10, None), from(4, Some(0))];
    let expected: [&[u8]; 6] = [b"234", b"89", b"0123456789", b"9", b"", b""];
    assert_eq!(read("v", &ranges).unwrap().unwrap(), expected);
    assert_eq!(read("v", &[from(1, Some(2)), from(3, Some(2))]).unwrap().unwrap(), [&b"12"[..], b"34"]);
    assert_eq!(read("v", &[]).unwrap().unwrap(), Vec::<Bytes>::new());
    assert_eq!(read("v", &[suffix(10)]).unwrap().unwrap(), [&b"0123456789"[..]]);
    assert_eq!(read("empty", &[from(0, None), suffix(0)]).unwrap().unwrap(), [&b""[..], b""]);

    // The results share memory: copies would take a thousand times the memory of the value.
    let greedy = read("v", &vec![from(0, None); 1_000]).unwrap().unwrap();
    assert!(greedy.iter().all(|bytes| bytes == "0123456789" && bytes.as_ptr() == greedy[0].as_ptr()));

    let outside = [from(11, None), from(0, Some(11)), from(10, Some(1)), suffix(11), suffix(u64::MAX)];
    for range in outside.into_iter().chain([from(u64::MAX, Some(u64::MAX)), from(5, Some(u64::MAX))]) {
        let error = read("v", &[from(0, Some(1)), range]).unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::OutOfRange, "{range:?}");
        assert_eq!(error.key(), Some("v"), "{error}");
        assert!(error.to_string().contains("10 bytes"), "{error}");
    }
    reads_at(&*store.open(&key("v")).unwrap().unwrap());
}

fn opens_with_a_range(fill: &dyn Fn(Content<'_>) -> Box<dyn Store>) {
    let store = fill(&[("v", b"0123456789"), ("empty", b"")]);
    let from = |offset, length| ByteRange::From { offset, length };
    let suffix = |length| ByteRange::Suffix { length };
    let inside = [from(0, None), from(2, Some(3)), from(9, None), suffix(2), suffix(10)];
    let outside = [from(10, None), from(11, None), from(8, Some(3)), suffix(0), suffix(11), from(0, Some(0))];
    for range in inside.into_iter().chain(outside) {
        let value = store.open_with(&key("v"), Some(range)).unwrap().unwrap();
        assert_eq!(value.size(), 10, "{range:?}");
        assert!(value.as_bytes().is_none_or(|bytes| bytes == "0123456789"), "{range:?}");
        assert_eq!(value.read(8, 2).unwrap(), "89", "{range:?}");
        assert_eq!(value.read(0, 10).unwrap(), "0123456789", "{range:?}");
        reads_at(&*value);
        assert!(store.open_with(&key("w"), Some(range)).unwrap().is_none(), "{range:?}");
        let empty = store.open_with(&key("empty"), Some(range)).unwrap().unwrap();
        assert_eq!((empty.size(), empty.read(0, 0).unwrap()), (0, Bytes::new()), "{range:?}");
    }
}

fn reads_many(fill: &dyn Fn(Content<'_>) -> Box<dyn Store>) {
    let names: Vec<String> = (0..100).map(|index| format!("v/{index}")).collect();
    let content: Vec<(&str, &[u8])> = names.iter().map(|name| (name.as_str(), name.as_bytes())).collect();
    let store = fill(&content);
    let keys: Vec<Key> = names.iter().map(|name| key(name)).chain([key("nothing"), key("v")]).collect();
    let answers: Vec<Mutex<Option<Option<Bytes>>>> = keys.iter().map(|_| Mutex::default()).collect();
    store.get_many(&keys, &|index, answer| {
        let before = answers[index].lock().unwrap().replace(answer.unwrap());
        assert!(before.is_none(), "{} was reported twice", keys[index]);
    });
    let answers: Vec<_> = answers.into_iter().map(|answer| answer.into_inner().unwrap().unwrap()).collect();
    for (index, answer) in answers.iter().enumerate() {
        assert_eq!(answer.as_deref(), names.get(index).map(String::as_bytes), "{}", keys[index]);
    }
    let is_called = AtomicBool::new(false);
    store.get_many(&[], &|_, _| is_called.store(true, Ordering::Relaxed));
    assert!(!is_called.into_inner(), "no keys were requested");
}

fn reads_at(value: &dyn Value) {
    let mut buffer = [0; 4];
    value.read_at(3, &mut buffer).unwrap();
    assert_eq!(&buffer, b"3456");
    value.read_at(10, &mut []).unwrap();
    for offset in [7, 10, 11, u64::MAX] {
        assert_eq!(value.read_at(offset, &mut buffer).unwrap_err().kind(), StoreErrorKind::OutOfRange);
        assert_eq!(value.read(offset, 4).unwrap_err().kind(), StoreErrorKind::OutOfRange);
    }
    assert_eq!(value.read(0, u64::MAX).unwrap_err().kind(), StoreErrorKind::OutOfRange);
}

fn lists_directories(fill: &dyn Fn(Content<'_>) -> Box<dyn Store>) {
    let names_in = [
        ("a/b/c/0", &b"1"[..]),
        ("a/b/c/1", b"22"),
        ("a/b/zarr.json", b"{}"),
        ("a/zarr.json", b"{}"),
        ("a-b", b""),
        ("a0", b""),
        ("ab/x", b""),
        (".zgroup", b""),
    ];
    let store = fill(&names_in);
    let dir = |text| store.list_dir(&prefix(text)).unwrap();
    assert_eq!(names(&dir("")), (vec![".zgroup", "a-b", "a0"], vec!["a/", "ab/"]));
    assert_eq!(names(&dir("a/")), (vec!["a/zarr.json"], vec!["a/b/"]));
    assert_eq!(names(&dir("a/b/")), (vec!["a/b/zarr.json"], vec!["a/b/c/"]));
    assert_eq!(names(&dir("a/b/c/")), (vec!["a/b/c/0", "a/b/c/1"], vec![]));
    for missing in ["b/", "a/b/c/0/", "a-b/", "A/", "nothing/here/"] {
        assert_eq!(dir(missing), DirListing::default(), "{missing}");
    }
    assert_eq!(fill(&[]).list_dir(&Prefix::root()).unwrap(), DirListing::default());
}

fn lists_prefixes(fill: &dyn Fn(Content<'_>) -> Box<dyn Store>) {
    let store = fill(&[("a/b/0", b"1"), ("a/b/1", b"22"), ("a/c", b"333"), ("ab/d", b""), ("a.b", b"4444")]);
    let owned = |expected: &[(&str, u64)]| -> Vec<_> {
        expected.iter().map(|(name, size)| ((*name).to_owned(), *size)).collect()
    };
    let all = [("a.b", 4), ("a/b/0", 1), ("a/b/1", 2), ("a/c", 3), ("ab/d", 0)];
    assert_eq!(list(&*store, ""), owned(&all));
    assert_eq!(list(&*store, "a/"), owned(&all[1..4]));
    assert_eq!(list(&*store, "a/b/"), owned(&all[1..3]));
    assert_eq!(list(&*store, "a/c/"), []);
    assert_eq!(list(&*store, "nothing/"), []);
    assert_eq!(list(&*fill(&[]), ""), []);

    let mut visits = 0;
    let mut once = |_, _| {
        visits += 1;
        ControlFlow::Break(())
    };
    store.list_prefix(&Prefix::root(), &mut once).unwrap();
    assert_eq!(visits, 1);
}

fn sets_when_unchanged(store: &dyn Store) {
    put(store, "a", b"first");
    let version = || store.open(&key("a")).unwrap().unwrap().version().unwrap();
    let first = version();
    store.set(&key("a"), b"second", Condition::Matches(&first)).unwrap();
    let error = store.set(&key("a"), b"third", Condition::Matches(&first)).unwrap_err();
    assert_eq!((error.kind(), error.key()), (StoreErrorKind::Conflict, Some("a")), "{error}");
    assert_eq!(value(store, "a").unwrap(), "second");
    let second = version();
    assert_ne!(first, second);
    store.erase(&key("a")).unwrap();
    let error = store.set(&key("a"), b"third", Condition::Matches(&second)).unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Conflict, "{error}");
    assert_eq!(value(store, "a"), None);
}

fn erases_when_unchanged(store: &dyn Store) {
    put(store, "a/v", b"first");
    let version = || store.open(&key("a/v")).unwrap().unwrap().version().unwrap();
    let first = version();
    put(store, "a/v", b"second");
    let erase = |condition: Condition<'_>| store.erase_if(&key("a/v"), condition);
    let error = erase(Condition::Matches(&first)).unwrap_err();
    assert_eq!((error.kind(), error.key()), (StoreErrorKind::Conflict, Some("a/v")), "{error}");
    assert_eq!(value(store, "a/v").unwrap(), "second");
    let second = version();
    assert!(erase(Condition::Matches(&second)).unwrap());
    assert_eq!(value(store, "a/v"), None);
    // A version that does not exist any more is a conflict.
    assert_eq!(erase(Condition::Matches(&second)).unwrap_err().kind(), StoreErrorKind::Conflict);
    assert_eq!(erase(Condition::Absent).unwrap_err().kind(), StoreErrorKind::Unsupported);
    if !store.capabilities().set_if_absent {
        return;
    }
    put(store, "four/fours", b"0");
    thread::scope(|scope| (0..4).for_each(|_| drop(scope.spawn(|| count_in_fours(store, "four", 10)))));
    check_fours(store, "four", 40);
}

/// Runs threads that each read, increment and write until there is no conflict.
fn one_of_many_counts(store: &dyn Store) {
    const EACH: u64 = 5;
    put(store, "count", b"0");
    let add = || count_up(store, "count", EACH);
    thread::scope(|scope| (0..4).for_each(|_| drop(scope.spawn(add))));
    assert_eq!(value(store, "count").unwrap(), (4 * EACH).to_string());
}

fn refuses_writes(store: &dyn Store) {
    let errors = [
        store.set(&key("a"), b"", Condition::Always).unwrap_err(),
        store.set(&key("a"), b"", Condition::Absent).unwrap_err(),
        store.erase(&key("a")).unwrap_err(),
        store.erase_prefix(&prefix("a/")).unwrap_err(),
        store.rename_prefix(&prefix("a/"), &prefix("b/")).unwrap_err(),
    ];
    for error in errors {
        assert_eq!(error.kind(), StoreErrorKind::ReadOnly, "{error}");
        assert!(error.to_string().contains(&store.location()), "{error}");
    }
}

fn overwrites(store: &dyn Store) {
    for expected in [&b"short"[..], b"much longer than before", b"", b"end"] {
        put(store, "a/b", expected);
        assert_eq!(value(store, "a/b").unwrap(), expected);
        assert_eq!(store.size(&key("a/b")).unwrap(), Some(expected.len() as u64));
    }
}

fn takes_parts(store: &dyn Store) {
    let set = |parts: &[&[u8]], condition: Condition<'_>| {
        let length = parts.iter().map(|part| part.len()).sum();
        let source =
            |write: &mut dyn FnMut(&[u8]) -> io::Result<()>| parts.iter().try_for_each(|part| write(part));
        store.set_parts(&key("parts/a"), length, &source, condition)
    };
    set(&[b"one", b"", b"two"], Condition::Always).unwrap();
    assert_eq!(value(store, "parts/a").unwrap(), "onetwo");
    if store.capabilities().set_if_absent {
        assert_eq!(set(&[b"three"], Condition::Absent).unwrap_err().kind(), StoreErrorKind::AlreadyExists);
    }
    set(&[b"four"], Condition::Always).unwrap();
    assert_eq!(value(store, "parts/a").unwrap(), "four");
    set(&[], Condition::Always).unwrap();
    assert_eq!(value(store, "parts/a").unwrap(), "");
    let broken = |write: &mut dyn FnMut(&[u8]) -> io::Result<()>| {
        write(b"half")?;
        Err(io::Error::other("no more"))
    };
    let error = store.set_parts(&key("parts/a"), 8, &broken, Condition::Always).unwrap_err();
    assert_eq!(error.key(), Some("parts/a"), "{error}");
    assert_eq!(value(store, "parts/a").unwrap(), "", "the old value");
}

fn takes_odd_keys(store: &dyn Store) {
    let long = "n".repeat(250);
    let deep = ["d"; 100].join("/");
    let odd = [
        "with space/ leading and trailing ",
        "данные/数据/🧊.zarr",
        "e\u{301}",
        "\u{e9}",
        "..dots.../.hidden/a..b",
        "percent%20/%2F?query#fragment",
        "quote'\"$(x);&*|<>:",
        "line\nbreak\ttab\u{7f}",
        "-dash",
        "~",
        "c/0/0",
        ".zarray",
        &long,
        &deep,
    ];
    let refused = |name: &&str| store.capabilities().printable_keys && name.contains(char::is_control);
    let (refused, mut odd): (Vec<&str>, Vec<&str>) = odd.into_iter().partition(refused);
    for name in refused {
        let error = store.set(&key(name), b"", Condition::Always).unwrap_err();
        assert_eq!((error.kind(), error.key()), (StoreErrorKind::InvalidKey, Some(name)), "{error}");
        assert_eq!(store.get(&key(name)).unwrap_err().kind(), StoreErrorKind::InvalidKey, "{name:?}");
    }
    odd.retain(|name| match store.set(&key(name), name.as_bytes(), Condition::Always) {
        Err(error) if cfg!(windows) && error.to_string().contains("Windows cannot store the name") => false,
        stored => {
            stored.unwrap();
            true
        }
    });
    assert!(odd.len() > 7, "{odd:?}");
    for name in &odd {
        assert_eq!(value(store, name).unwrap(), name.as_bytes());
    }
    if store.capabilities().listable {
        let mut expected: Vec<_> = odd.iter().map(|name| ((*name).to_owned(), name.len() as u64)).collect();
        expected.sort_unstable();
        assert_eq!(list(store, ""), expected);
    }
    for name in odd {
        assert!(store.erase(&key(name)).unwrap(), "{name:?}");
    }
}

fn keeps_a_large_value(store: &dyn Store) {
    const SIZE: usize = 64 << 20;
    let mut large: Vec<u8> = (0..SIZE / 4).flat_map(|i| u32::try_from(i).unwrap().to_le_bytes()).collect();
    let limit = store.capabilities().largest_value.and_then(|limit| usize::try_from(limit).ok());
    if let Some(limit) = limit.filter(|limit| *limit < SIZE) {
        let error = store.set(&key("large"), &large, Condition::Always).unwrap_err();
        assert_eq!((error.kind(), error.key()), (StoreErrorKind::TooLarge, Some("large")), "{error}");
        assert_eq!(value(store, "large"), None);
        large.truncate(limit);
    }
    put(store, "large", &large);
    assert!(value(store, "large").unwrap() == large);
    let open = store.open(&key("large")).unwrap().unwrap();
    assert_eq!(open.read(large.len() as u64 - 5, 5).unwrap(), &large[large.len() - 5..]);
    let middle = open.read(12_345_678, 1 << 20).unwrap();
    assert!(middle == large[12_345_678..][..1 << 20]);
}

fn erases(store: &dyn Store) {
    put(store, "a/b/c", b"1");
    put(store, "a/d", b"2");
    assert!(!store.erase(&key("a/b")).unwrap());
    assert!(!store.erase(&key("x/y")).unwrap());
    assert!(!store.erase(&key("a/d/e")).unwrap());
    assert!(store.erase(&key("a/b/c")).unwrap());
    assert!(!store.erase(&key("a/b/c")).unwrap());
    assert_eq!(value(store, "a/b/c"), None);
    assert_eq!(value(store, "a/d").unwrap(), "2");
    if store.capabilities().listable {
        let listing = store.list_dir(&prefix("a/")).unwrap();
        // A server may need some time to notice that a directory is empty.
        let remote = store.capabilities().in_flight.is_some();
        let (keys, prefixes) = names(&listing);
        assert_eq!(keys, ["a/d"]);
        assert!(prefixes.iter().all(|below| remote && list(store, below).is_empty()), "{prefixes:?}");
    }
    // A value can replace an empty prefix.
    put(store, "a/b", b"3");
    assert_eq!(value(store, "a/b").unwrap(), "3");
    assert!(store.erase(&key("a/b")).unwrap());
    put(store, "a/b/c", b"4");
    assert_eq!(value(store, "a/b/c").unwrap(), "4");
}

fn erases_prefixes(store: &dyn Store) {
    for name in ["a/0", "a/b/0", "a/b/c/0", "ab", "a.b", "ac/0", "z/a/0"] {
        put(store, name, b"v");
    }
    store.erase_prefix(&prefix("nothing/")).unwrap();
    store.erase_prefix(&prefix("ab/")).unwrap();
    store.erase_prefix(&prefix("a/b/")).unwrap();
    assert_eq!(value(store, "a/b/0"), None);
    assert_eq!(value(store, "a/b/c/0"), None);
    assert!(value(store, "a/0").is_some());
    store.erase_prefix(&prefix("a/")).unwrap();
    assert_eq!(value(store, "a/0"), None);
    for kept in ["ab", "a.b", "ac/0", "z/a/0"] {
        assert!(value(store, kept).is_some(), "{kept}");
    }
    store.erase_prefix(&Prefix::root()).unwrap();
    assert_eq!(value(store, "ab"), None);
    assert_eq!(value(store, "z/a/0"), None);
    put(store, "again/0", b"v");
    assert!(value(store, "again/0").is_some());
}

fn sets_when_absent(store: &dyn Store) {
    let name = key("a/b");
    store.set(&name, b"first", Condition::Absent).unwrap();
    let error = store.set(&name, b"second", Condition::Absent).unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::AlreadyExists, "{error}");
    assert_eq!(error.key(), Some("a/b"));
    assert_eq!(value(store, "a/b").unwrap(), "first");
    assert!(store.erase(&name).unwrap());
    store.set(&name, b"third", Condition::Absent).unwrap();
    assert_eq!(value(store, "a/b").unwrap(), "third");
}

fn one_of_many_creates(store: &dyn Store) {
    for round in 0..50 {
        let name = key(&format!("race/{round}"));
        let create = |writer: u8| store.set(&name, &[writer; 100], Condition::Absent).is_ok();
        let winners: Vec<u8> = thread::scope(|scope| {
            let threads: Vec<_> =
                (0..4).map(|writer| (writer, scope.spawn(move || create(writer)))).collect();
            threads
                .into_iter()
                .filter_map(|(writer, thread)| thread.join().unwrap().then_some(writer))
                .collect()
        });
        assert_eq!(winners.len(), 1);
        assert_eq!(store.get(&name).unwrap().unwrap(), [winners[0]; 100][..]);
    }
}

fn keeps_values_above_values(store: &dyn Store) {
    put(store, "a", b"1");
    put(store, "a/b", b"2");
    assert_eq!(value(store, "a").unwrap(), "1");
    assert_eq!(names(&store.list_dir(&Prefix::root()).unwrap()), (vec!["a"], vec!["a/"]));
    store.erase_prefix(&prefix("a/")).unwrap();
    assert_eq!(value(store, "a").unwrap(), "1");
}

fn lists_many(store: &dyn Store) {
    const THREADS: usize = 8;
    let write = |thread: usize| {
        for index in (thread..MANY).step_by(THREADS) {
            put(store, &format!("many/c/{}/{}", index % 7, index), &vec![0; index % 3]);
        }
    };
    // One thread creates the directories: some servers return an error while another client creates the same directory.
    (0..7).for_each(|index| put(store, &format!("many/c/{index}/{index}"), b""));
    thread::scope(|scope| (0..THREADS).for_each(|thread| drop(scope.spawn(move || write(thread)))));
    put(store, "manyother", b"");
    let listed = list(store, "many/");
    assert_eq!(listed.len(), MANY);
    let total: u64 = listed.iter().map(|(_, size)| size).sum();
    assert_eq!(total, (0..MANY as u64).map(|index| index % 3).sum::<u64>());
    let listing = store.list_dir(&prefix("many/c/")).unwrap();
    assert_eq!((listing.keys.len(), listing.prefixes.len()), (0, 7));
    assert_eq!(
        store.list_dir(&prefix("many/c/3/")).unwrap().keys.len(),
        (0..MANY).filter(|i| i % 7 == 3).count()
    );
    // More than one page of any listing; erasing all would take minutes on some servers.
    store.erase_prefix(&prefix("many/c/3/")).unwrap();
    assert_eq!(list(store, "many/c/3/"), []);
    if store.capabilities().in_flight.is_none() {
        store.erase_prefix(&prefix("many/")).unwrap();
        assert_eq!(list(store, ""), [("manyother".to_owned(), 0)]);
    }
}

fn visitors_may_write(store: &dyn Store) {
    for index in 0..100 {
        put(store, &format!("a/{index}"), b"v");
    }
    let mut erase = |key: Key, _| {
        assert!(store.erase(&key).unwrap());
        put(store, &format!("b/{}", key.name()), b"v");
        ControlFlow::Continue(())
    };
    store.list_prefix(&prefix("a/"), &mut erase).unwrap();
    assert_eq!(list(store, "a/"), []);
    assert_eq!(list(store, "b/").len(), 100);
}

/// Two threads write and two read: every read returns one whole value.
fn replaces_whole_values(store: &dyn Store) {
    const LENGTH: usize = 200_000;
    let done = AtomicBool::new(false);
    put(store, "busy/v", &vec![0; LENGTH]);
    let write = |writer: u8| {
        for round in 0..100 {
            // The lengths of the values differ, too.
            put(store, "busy/v", &vec![writer + 2 * (round % 50); LENGTH + usize::from(writer)]);
        }
    };
    let read = || {
        let mut reads = 0;
        while !done.load(Ordering::Relaxed) || reads == 0 {
            let seen = value(store, "busy/v").unwrap();
            assert!(seen.len() >= LENGTH && seen.iter().all(|byte| *byte == seen[0]), "a torn value");
            let parts = [ByteRange::Suffix { length: 1 }, ByteRange::From { offset: 0, length: Some(1) }];
            let parts = store.get_ranges(&key("busy/v"), &parts).unwrap().unwrap();
            assert_eq!(parts[0], parts[1], "parts of two values");
            reads += 1;
        }
    };
    thread::scope(|scope| {
        let readers = [scope.spawn(read), scope.spawn(read)];
        let writers = [scope.spawn(|| write(0)), scope.spawn(|| write(1))];
        let wrote = writers.map(thread::ScopedJoinHandle::join);
        done.store(true, Ordering::Relaxed);
        wrote.into_iter().chain(readers.map(thread::ScopedJoinHandle::join)).for_each(Result::unwrap);
    });
}

fn keeps_what_was_opened(store: &dyn Store) {
    put(store, "a/v", b"old value");
    let old = store.open(&key("a/v")).unwrap().unwrap();
    put(store, "a/v", b"new");
    let new = store.open(&key("a/v")).unwrap().unwrap();
    assert!(store.erase(&key("a/v")).unwrap());
    let remote = store.capabilities().in_flight.is_some();
    let check = |value: &dyn Value, size, offset, length, expected: &str| {
        assert_eq!(value.size(), size);
        match value.read(offset, length) {
            Err(error) if remote => assert_eq!(error.kind(), StoreErrorKind::Conflict, "{error}"),
            read => assert_eq!(read.unwrap(), expected),
        }
    };
    check(&*old, 9, 0, 9, "old value");
    check(&*new, 3, 1, 2, "ew");
}

fn locks_exclude(store: &dyn Store) {
    const THREADS: u64 = 8;
    const ROUNDS: u64 = 100;
    let counter = key("lock/counter");
    put(store, "lock/counter", b"0");
    let count = || (0..ROUNDS).for_each(|_| assert!(add_locked(store, &counter), "only holders write"));
    thread::scope(|scope| (0..THREADS).for_each(|_| drop(scope.spawn(count))));
    assert_eq!(value(store, "lock/counter").unwrap(), (THREADS * ROUNDS).to_string());
}

/// Checks that a write without the lock is a conflict for the holder, if the store can detect it.
fn notices_writes_without_the_lock(store: &dyn Store) {
    let name = key("lock/value");
    let conflict = |result: Result<(), StoreError>| {
        assert_eq!(result.unwrap_err().kind(), StoreErrorKind::Conflict);
    };
    let guard = store.lock(&name).unwrap();
    put(store, "lock/value", b"1");
    conflict(store.set(&name, b"2", Condition::Locked(&guard)));
    conflict(store.erase_if(&name, Condition::Locked(&guard)).map(drop));
    drop(guard);

    let guard = store.lock(&name).unwrap();
    for value in ["3", "4"] {
        store.set(&name, value.as_bytes(), Condition::Locked(&guard)).unwrap();
        assert_eq!(self::value(store, "lock/value").unwrap(), value);
    }
    put(store, "lock/value", b"5");
    conflict(store.set(&name, b"6", Condition::Locked(&guard)));
    conflict(store.erase_if(&name, Condition::Locked(&guard)).map(drop));
    drop(guard);

    let guard = store.lock(&name).unwrap();
    assert!(store.erase_if(&name, Condition::Locked(&guard)).unwrap());
    assert!(!store.erase_if(&name, Condition::Locked(&guard)).unwrap());
    store.set(&name, b"7", Condition::Locked(&guard)).unwrap();
    assert!(store.erase(&name).unwrap());
    conflict(store.set(&name, b"8", Condition::Locked(&guard)));
    drop(guard);
    assert_eq!(value(store, "lock/value"), None);
}

fn locks_are_for_one_key(store: &dyn Store) {
    let held = store.lock(&key("a/b")).unwrap();
    // Other keys are not locked: the test is that this call returns.
    drop((store.lock(&key("a/c")).unwrap(), store.lock(&key("b")).unwrap()));
    drop(held);
    drop(store.lock(&key("a/b")).unwrap());
}

fn renames(make: &dyn Fn() -> Box<dyn Store>) {
    let store = make();
    for name in ["a/0", "a/b/1", "ab/2", "other"] {
        put(&*store, name, name.as_bytes());
    }
    store.rename_prefix(&prefix("a/"), &prefix("x/y/")).unwrap();
    assert_eq!(value(&*store, "x/y/0").unwrap(), "a/0");
    assert_eq!(value(&*store, "x/y/b/1").unwrap(), "a/b/1");
    assert_eq!(value(&*store, "a/0"), None);
    assert_eq!(value(&*store, "ab/2").unwrap(), "ab/2");

    let kind = |from, to| store.rename_prefix(&prefix(from), &prefix(to)).unwrap_err().kind();
    assert_eq!(kind("a/", "z/"), StoreErrorKind::NotFound);
    assert_eq!(kind("other/", "z/"), StoreErrorKind::NotFound);
    assert_eq!(kind("ab/", "x/y/"), StoreErrorKind::AlreadyExists);
    assert_eq!(kind("ab/", "x/"), StoreErrorKind::AlreadyExists);
    assert_eq!(kind("x/", "x/y/"), StoreErrorKind::InvalidKey);
    assert_eq!(kind("x/y/", "x/"), StoreErrorKind::InvalidKey);
    assert_eq!(kind("", "x/"), StoreErrorKind::InvalidKey);
    store.rename_prefix(&prefix("ab/"), &prefix("ab/")).unwrap();
    assert_eq!(value(&*store, "ab/2").unwrap(), "ab/2");
    assert_eq!(value(&*store, "x/y/0").unwrap(), "a/0");
}
