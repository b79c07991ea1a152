//! The Redis store: the suite, zarr-python's names, and features of Redis.

use std::net::TcpListener;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use redis::{Client, Commands, Connection};
use zarrox_databases::{RedisOptions, RedisStore, registry};
use zarrox_stores::{ByteRange, Condition, Prefix, StorageOptions, Store, StoreErrorKind, StoreExt};
use zarrox_testkit::servers::{TIMEOUT, address};
use zarrox_testkit::store::{key, list, prefix, store_suite};

use crate::handles::check_two_handles;

/// Returns a unique prefix.
fn unique() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!("test-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

fn open(url: &str) -> RedisStore {
    RedisOptions::new().prefix(unique()).timeout(TIMEOUT).open(url).unwrap()
}

/// Another client of the server.
fn client(url: &str) -> Connection {
    Client::open(url).unwrap().get_connection().unwrap()
}

/// Returns the URL with a user.
fn with_user(url: &str, user: &str, password: &str) -> String {
    url.replace("redis://", &format!("redis://{user}:{password}@"))
}

#[test]
fn passes_the_suite() {
    let Some(url) = address("REDIS") else { return };
    store_suite(|| Box::new(open(&url)));
}

#[test]
fn names_are_those_of_zarr_python() {
    let Some(url) = address("REDIS") else { return };
    let store = RedisOptions::new().database(5).open(&url).unwrap();
    store.set(&key("a/b"), b"\x00\xff", Condition::Always).unwrap();
    let mut other = client(&format!("{url}/5"));
    let names: Vec<String> = other.keys("*").unwrap();
    assert_eq!(names, ["zarr:a/b"]);
    assert_eq!(other.get::<_, Vec<u8>>("zarr:a/b").unwrap(), b"\x00\xff");
    let named = RedisOptions::new().prefix("x").open(&format!("{url}/5?prefix=zarr")).unwrap();
    assert_eq!(list(&named, ""), [("a/b".to_owned(), 2)]);
    assert_eq!(named.location(), format!("{url}/5/zarr"));
    store.erase_prefix(&Prefix::root()).unwrap();
    assert_eq!(other.keys::<_, Vec<String>>("*").unwrap(), Vec::<String>::new());
}

#[test]
fn urls_name_a_database_and_a_node_in_it() {
    let Some(url) = address("REDIS") else { return };
    let name = unique();
    let located = registry().open(&format!("{url}/3/g/a?prefix={name}"), &StorageOptions::new()).unwrap();
    assert_eq!((&*located.path, located.whole), ("g/a", true));
    assert_eq!(located.store.location(), format!("{url}/3/{name}"));
    let by_option = StorageOptions::new().with("prefix", &*name);
    assert_eq!(
        registry().open(&format!("{url}/3"), &by_option).unwrap().store.location(),
        format!("{url}/3/{name}")
    );
    let wrong = by_option.with("password", "hunter2").with("user", "unknown");
    for error in
        [registry().open(&url, &wrong), registry().open(&format!("{url}/a"), &wrong)].map(Result::unwrap_err)
    {
        let text = format!("{error} {error:?}");
        assert!(text.contains(&url) && !text.contains("hunter2"), "{text}");
    }
}

#[test]
fn two_handles_are_one_storage() {
    let Some(url) = address("REDIS") else { return };
    let options = RedisOptions::new().prefix(unique());
    check_two_handles(&options.clone().open(&url).unwrap(), &options.open(&url).unwrap());
}

#[test]
fn wildcards_in_prefixes_are_letters() {
    let Some(url) = address("REDIS") else { return };
    let store = RedisOptions::new().prefix(format!("{}*?[a]^", unique())).open(&url).unwrap();
    let names = ["a*/0", "ab/0", "a?/0", "[ab]/0", "b/0", "[^a]/0", "c-d/0", "h?llo/0"];
    for name in names {
        store.set(&key(name), b"v", Condition::Always).unwrap();
    }
    for below in ["a*/", "a?/", "[ab]/", "[^a]/", "c-d/", "h?llo/"] {
        assert_eq!(list(&store, below), [(format!("{below}0"), 1)]);
    }
    store.erase_prefix(&prefix("a*/")).unwrap();
    assert_eq!(list(&store, "").len(), names.len() - 1);
}

#[test]
fn keys_of_other_programs_are_unchanged() {
    let Some(url) = address("REDIS") else { return };
    let name = unique();
    let store = RedisOptions::new().prefix(&name).open(&url).unwrap();
    store.set(&key("a/b"), b"v", Condition::Always).unwrap();
    let mut other = client(&url);
    other.rpush::<_, _, ()>(format!("{name}:a/list"), 1).unwrap();
    other.set::<_, _, ()>(format!("{name}:a//no-key"), 1).unwrap();
    other.set::<_, _, ()>(format!("{name}x:a/other"), 1).unwrap();
    assert_eq!(list(&store, ""), [("a/b".to_owned(), 1)]);
    assert_eq!(store.list_dir(&prefix("a/")).unwrap().keys, [key("a/b")]);
    let keys = [key("a/b"), key("a/list")];
    store.get_many(&keys, &|index, answer| assert_eq!(answer.is_ok(), index == 0));
    for error in [store.get(&keys[1]).unwrap_err(), store.open(&keys[1]).err().unwrap()] {
        assert_eq!((error.kind(), error.key()), (StoreErrorKind::Obstructed, Some("a/list")), "{error}");
    }
    store.erase_prefix(&Prefix::root()).unwrap();
    assert!(other.exists::<_, bool>(format!("{name}:a//no-key")).unwrap());
    assert!(other.exists::<_, bool>(format!("{name}x:a/other")).unwrap());
}

#[test]
fn parts_of_a_large_value_are_from_one_version() {
    let Some(url) = address("REDIS") else { return };
    let store = open(&url);
    let bytes: Vec<u8> = (0..2_000_000_u32).flat_map(u32::to_le_bytes).collect();
    store.set(&key("v"), &bytes, Condition::Always).unwrap();
    let first = ByteRange::Suffix { length: 8 };
    let value = store.open_with(&key("v"), Some(first)).unwrap().unwrap();
    assert!(value.as_bytes().is_none());
    assert_eq!(value.read(4_000, 4).unwrap(), 1_000_u32.to_le_bytes()[..]);
    let whole =
        store.open_with(&key("v"), Some(ByteRange::From { offset: 0, length: None })).unwrap().unwrap();
    assert_eq!(whole.version(), value.version());
    let ranges = [
        first,
        ByteRange::From { offset: 4, length: Some(0) },
        ByteRange::From { offset: 4, length: Some(4) },
    ];
    let parts = store.get_ranges(&key("v"), &ranges).unwrap().unwrap();
    assert_eq!(parts, [&bytes[bytes.len() - 8..], &[], &[1, 0, 0, 0]]);

    let mut other = bytes.clone();
    other[0] = 1;
    store.set(&key("v"), &other, Condition::Always).unwrap();
    assert_eq!(
        value.read(bytes.len() as u64 - 4, 4).unwrap(),
        1_999_999_u32.to_le_bytes()[..],
        "it is in memory"
    );
    assert_eq!(value.read(4_000, 4).unwrap_err().kind(), StoreErrorKind::Conflict);
    assert_eq!(whole.read(0, 4).unwrap(), [0; 4][..]);
}

#[test]
fn values_have_a_limit() {
    let Some(url) = address("REDIS") else { return };
    let error = open(&url).set(&key("v"), &vec![0; (512 << 20) + 1], Condition::Always).unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::TooLarge);
    assert!(error.to_string().contains("512 MiB"), "{error}");
}

#[test]
fn connections_that_the_server_closes_are_made_anew() {
    let Some(url) = address("REDIS") else { return };
    let user = unique();
    let mut other = client(&url);
    let make = ["SETUSER", &user, "on", ">secret", "~*", "+@all"];
    redis::cmd("ACL").arg(&make).exec(&mut other).unwrap();
    let store = open(&with_user(&url, &user, "secret"));
    let mut cut = || redis::cmd("CLIENT").arg(&["KILL", "USER", &user]).query::<u32>(&mut other).unwrap();
    assert_eq!(cut(), 1);
    store.set(&key("a"), b"v", Condition::Absent).unwrap();
    assert_eq!(cut(), 1);
    assert_eq!(store.get(&key("a")).unwrap().unwrap(), "v");
    assert_eq!(cut(), 1);
    assert!(store.erase(&key("a")).unwrap());
}

#[test]
fn a_missing_permission_is_forbidden_and_the_password_is_not_shown() {
    let Some(url) = address("REDIS") else { return };
    let user = unique();
    let mut other = client(&url);
    redis::cmd("ACL").arg(&["SETUSER", &user, "on", ">secret", "~*", "+get"]).exec(&mut other).unwrap();
    let error = RedisOptions::new().open(&with_user(&url, &user, "hunter2")).unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Forbidden, "{error}");
    let options = RedisOptions::new().user(&user).password("hunter2").prefix("p");
    assert!(!format!("{options:?}").contains("hunter2"));
    let same = options.open(&url).unwrap_err();
    assert_eq!(same.kind(), StoreErrorKind::Forbidden, "{same}");
    for error in [error, same] {
        let text = format!("{error} {error:?} {:?}", error.location());
        assert!(!text.contains("hunter2") && !text.contains(&user), "{text}");
    }

    let store = open(&with_user(&url, &user, "secret"));
    assert!(!format!("{store:?} {}", store.location()).contains("secret"));
    assert_eq!(store.get(&key("a")).unwrap(), None);
    let errors = [
        store.set(&key("a"), b"", Condition::Always).unwrap_err(),
        store.open(&key("a")).err().unwrap(),
        store.size(&key("a")).unwrap_err(),
        store.list_dir(&Prefix::root()).unwrap_err(),
    ];
    for error in errors {
        assert_eq!(error.kind(), StoreErrorKind::Forbidden, "{error}");
    }
}

#[test]
fn servers_that_are_not_there_are_unreachable() {
    let start = Instant::now();
    let kind = |url: &str| {
        let options = RedisOptions::new().timeout(Duration::from_millis(200));
        options.open(url).unwrap_err().kind()
    };
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("redis://{}", listener.local_addr().unwrap());
    assert_eq!(kind(&url), StoreErrorKind::TimedOut, "it does not respond");
    drop(listener);
    assert_eq!(kind(&url), StoreErrorKind::Unreachable);
    assert_eq!(kind("redis://nowhere.invalid"), StoreErrorKind::Unreachable);
    assert_eq!(kind("redis+unix:///nowhere/redis.sock"), StoreErrorKind::Unreachable);
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
}

#[test]
fn urls_of_other_kinds_are_refused() {
    let Some(url) = address("REDIS") else { return };
    let refused = |url: &str| RedisStore::open(url).unwrap_err();
    for other in
        ["http://127.0.0.1", "redis", "redis://h/name", "redis://u:hunter2@h/a/b", "rediss://u:hunter2@h"]
    {
        let error = refused(other);
        assert_eq!(error.kind(), StoreErrorKind::Unsupported, "{error}");
        assert!(!format!("{error} {error:?}").contains("hunter2"), "{error:?}");
    }
    let error = refused(&format!("{url}/9999"));
    assert_eq!(error.kind(), StoreErrorKind::NotFound, "{error}");
}
