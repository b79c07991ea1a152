//! The MongoDB store: the suite, zarr-python's documents, and features of MongoDB.

use std::net::TcpListener;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use mongodb::bson::{Binary, Bson, Document, doc, spec::BinarySubtype};
use mongodb::{Client, Collection};
use tokio::runtime::{Builder, Runtime};
use zarrox_databases::{MongoDbOptions, MongoDbStore, registry};
use zarrox_stores::{Condition, Prefix, StorageOptions, Store, StoreErrorKind, StoreExt};
use zarrox_testkit::servers::{TIMEOUT, address};
use zarrox_testkit::store::{key, list, store_suite};

use crate::handles::check_two_handles;

const DATABASE: &str = "zarrox_test";

/// Returns a collection with a unique name.
fn unique() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!("test_{}_{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

fn open(url: &str, collection: &str) -> MongoDbStore {
    MongoDbOptions::new().database(DATABASE).collection(collection).timeout(TIMEOUT).open(url).unwrap()
}

/// Another program's view of a collection.
struct Other {
    runtime: Runtime,
    collection: Collection<Document>,
}

impl Other {
    fn new(url: &str, database: &str, collection: &str) -> Self {
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let client = runtime.block_on(Client::with_uri_str(url)).unwrap();
        Self { runtime, collection: client.database(database).collection(collection) }
    }

    fn insert(&self, key: &str, value: impl Into<Bson>) {
        let document = doc! { "key": key, "value": value.into() };
        self.runtime.block_on(async { self.collection.insert_one(document).await }).unwrap();
    }

    fn find(&self, key: &str) -> Document {
        self.runtime.block_on(async { self.collection.find_one(doc! { "key": key }).await }).unwrap().unwrap()
    }
}

fn binary(bytes: &[u8]) -> Binary {
    Binary { subtype: BinarySubtype::Generic, bytes: bytes.to_vec() }
}

#[test]
fn passes_the_suite() {
    let Some(url) = address("MONGODB") else { return };
    store_suite(|| Box::new(open(&url, &unique())));
}

#[test]
fn a_comparison_leaves_the_documents_of_zarr_python() {
    let Some(url) = address("MONGODB") else { return };
    let collection = unique();
    let (store, other) = (open(&url, &collection), Other::new(&url, DATABASE, &collection));
    let version = || store.open(&key("a")).unwrap().unwrap().version().unwrap();
    other.insert("a", binary(b"first"));
    let first = version();
    store.set(&key("a"), b"second", Condition::Matches(&first)).unwrap();
    // A failed attempt leaves its mark until the document is replaced.
    let late = store.set(&key("a"), b"late", Condition::Matches(&first)).unwrap_err();
    assert_eq!(late.kind(), StoreErrorKind::Conflict, "{late}");
    store.set(&key("a"), b"third", Condition::Matches(&version())).unwrap();
    let mut found = other.find("a");
    found.remove("_id");
    assert_eq!(found, doc! { "key": "a", "value": binary(b"third") });
    store.erase_prefix(&Prefix::root()).unwrap();
}

#[test]
fn documents_are_those_of_zarr_python() {
    let Some(url) = address("MONGODB") else { return };
    let store = MongoDbStore::open(&url).unwrap();
    assert!(store.location().ends_with("/mongodb_zarr/zarr_collection"), "{}", store.location());
    store.set(&key("a/b"), b"\x00\xff", Condition::Always).unwrap();
    let other = Other::new(&url, "mongodb_zarr", "zarr_collection");
    let mut found = other.find("a/b");
    found.remove("_id");
    assert_eq!(found, doc! { "key": "a/b", "value": binary(b"\x00\xff") });
    let whole = url.replace("/?", "/mongodb_zarr/zarr_collection?");
    let same = MongoDbOptions::new().database("x").collection("y").open(&whole).unwrap();
    assert_eq!(same.location(), store.location());
    assert_eq!(same.get(&key("a/b")).unwrap().unwrap(), b"\x00\xff"[..]);
    store.erase_prefix(&Prefix::root()).unwrap();
}

#[test]
fn urls_name_a_collection_and_a_node_in_it() {
    let Some(url) = address("MONGODB") else { return };
    let name = unique();
    let inside = |path: &str| url.replace("/?", &format!("/{path}?"));
    let place = url.split("/?").next().unwrap();
    let located =
        registry().open(&inside(&format!("{DATABASE}/{name}/g/a")), &StorageOptions::new()).unwrap();
    assert_eq!((&*located.path, located.whole), ("g/a", true));
    assert_eq!(located.store.location(), format!("{place}/{DATABASE}/{name}"));
    let by_option = StorageOptions::new().with("collection", &*name);
    let same = registry().open(&inside(DATABASE), &by_option).unwrap();
    assert_eq!((same.store.location(), &*same.path), (located.store.location(), ""));
    let wrong = by_option.with("user", "alice").with("password", "hunter2");
    let error = registry().open(&url, &wrong).unwrap_err();
    let text = format!("{error} {error:?}");
    assert!(error.kind() == StoreErrorKind::Forbidden && text.contains(place), "{text}");
    assert!(!text.contains("hunter2"), "{text}");
}

#[test]
fn two_handles_are_one_storage() {
    let Some(url) = address("MONGODB") else { return };
    let name = unique();
    check_two_handles(&open(&url, &name), &open(&url, &name));
}

#[test]
fn a_collection_without_an_index_works_but_for_what_needs_it() {
    let Some(url) = address("MONGODB") else { return };
    let name = unique();
    let other = Other::new(&url, DATABASE, &name);
    for value in [b"1", b"2"] {
        other.insert("a/twice", binary(value));
    }
    let store = open(&url, &name);
    assert!(!store.capabilities().set_if_absent);
    assert_eq!(list(&store, ""), [("a/twice".to_owned(), 1)]);
    let error = store.set(&key("b"), b"", Condition::Absent).unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Unsupported);
    assert!(error.to_string().contains("unique index"), "{error}");
    store.set(&key("b"), b"v", Condition::Always).unwrap();
    store.set(&key("b"), b"w", Condition::Always).unwrap();
    assert_eq!(store.get(&key("b")).unwrap().unwrap(), "w");
    assert!(store.erase(&key("a/twice")).unwrap());
    assert_eq!(store.get(&key("a/twice")).unwrap(), None);
}

#[test]
fn documents_of_other_kinds_are_obstacles_and_not_listed() {
    let Some(url) = address("MONGODB") else { return };
    let name = unique();
    let store = open(&url, &name);
    store.set(&key("b"), b"value", Condition::Always).unwrap();
    Other::new(&url, DATABASE, &name).insert("a", "text");
    let error = store.get(&key("a")).unwrap_err();
    assert_eq!((error.kind(), error.key()), (StoreErrorKind::Obstructed, Some("a")), "{error}");
    assert_eq!(list(&store, ""), [("b".to_owned(), 5)]);
}

#[test]
fn values_have_a_limit() {
    let Some(url) = address("MONGODB") else { return };
    let store = open(&url, &unique());
    let largest = usize::try_from(store.capabilities().largest_value.unwrap()).unwrap();
    store.set(&key("v"), &vec![1; largest], Condition::Always).unwrap();
    let error = store.set(&key("v"), &vec![2; 16 << 20], Condition::Always).unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::TooLarge);
    assert!(error.to_string().contains("16777216 bytes") && error.to_string().contains("16 MiB"), "{error}");
    assert_eq!(store.size(&key("v")).unwrap(), Some(largest as u64));
}

#[test]
fn a_missing_permission_is_forbidden_and_the_password_is_not_shown() {
    let Some(url) = address("MONGODB") else { return };
    let in_url = url.replace("mongodb://", "mongodb://alice:hunter2@");
    let options = MongoDbOptions::new().user("alice", "hunter2");
    assert!(!format!("{options:?}").contains("hunter2"));
    for error in [MongoDbStore::open(&in_url).unwrap_err(), options.open(&url).unwrap_err()] {
        assert_eq!(error.kind(), StoreErrorKind::Forbidden, "{error}");
        let text = format!("{error} {error:?} {:?}", error.location());
        assert!(!text.contains("hunter2") && !text.contains("alice"), "{text}");
    }
}

#[test]
fn servers_that_are_not_there_are_unreachable() {
    let start = Instant::now();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("mongodb://{}", listener.local_addr().unwrap());
    let silent = MongoDbOptions::new().timeout(Duration::from_millis(200)).open(&url).unwrap_err();
    assert_eq!(silent.kind(), StoreErrorKind::TimedOut, "{silent}");
    drop(listener);
    let gone = MongoDbStore::open(&url).unwrap_err();
    assert_eq!(gone.kind(), StoreErrorKind::Unreachable, "{gone}");
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
}

#[test]
fn urls_of_other_kinds_are_refused() {
    for other in
        ["http://127.0.0.1", "mongodb", "mongodb://h/a/b/c", "mongodb://u:hunter2@h:port", "mongodb://h/?x=%"]
    {
        let error = MongoDbStore::open(other).unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::Unsupported, "{other}: {error}");
        assert!(!format!("{error} {error:?}").contains("hunter2"), "{error:?}");
    }
}
