//! References in Parquet files of kerchunk; see `golden/references/make.py`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use proptest::prelude::*;
use zarrox_stores::{
    Condition, CountingStore, DirectoryStore, MemoryStore, Prefix, ReferenceOptions, ReferenceStore,
    StorageOptions, Store, StoreError, StoreErrorKind, StoreExt, registry,
};
use zarrox_testkit::store::{key, list, prefix};

const GOLDEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/references");

/// Returns a modifiable store with kerchunk's output, and the objects that it refers to.
fn memory() -> MemoryStore {
    let memory = MemoryStore::new();
    let golden = DirectoryStore::open(GOLDEN).unwrap();
    for (name, _) in list(&golden, "") {
        let value = golden.get(&key(&name)).unwrap().unwrap();
        memory.set(&key(&name), &value, Condition::Always).unwrap();
    }
    memory.set(&key("data.bin"), b"0123456789", Condition::Always).unwrap();
    memory.set(&key("other.bin"), b"other", Condition::Always).unwrap();
    memory
}

fn opened(store: impl Store + 'static, path: &str) -> Result<ReferenceStore, StoreError> {
    ReferenceOptions::new().open_in(Arc::new(store), path)
}

fn text(store: &dyn Store, name: &str) -> Option<String> {
    store.get(&key(name)).unwrap().map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

#[test]
fn every_kind_of_reference_is_read() {
    let store = opened(memory(), "mixed.parq").unwrap();
    for (name, expected) in [
        (".zgroup", r#"{"zarr_format":2}"#),
        ("a/0.0", "2345"),
        ("a/0.1", "text"),
        ("a/1.0", "\0\u{1}\u{2}\u{fffd}"),
        ("a/1.1", "other"),
        ("g/scalar/0", "5"),
        ("sparse/7", "01"),
    ] {
        assert_eq!(text(&store, name).as_deref(), Some(expected), "{name}");
    }
    assert!(text(&store, "a/.zarray").unwrap().contains(r#""shape":[4,4]"#));
    for name in
        ["a/2.0", "a/0", "a/0.00", "sparse/0", "sparse/6", "sparse/9", "sparse/10", "g/scalar/1", "b/0", "0"]
    {
        assert_eq!(text(&store, name), None, "{name}");
    }
    let store = opened(memory(), "many.parq").unwrap();
    for n in 0..40 {
        let expected = (n != 5).then(|| (n % 10).to_string());
        assert_eq!(text(&store, &format!("a/{n}")), expected, "{n}");
    }
}

#[test]
fn files_are_read_when_they_are_needed_and_kept() {
    let counting = CountingStore::new(Arc::new(memory()));
    let store = opened(counting.clone(), "mixed.parq").unwrap();
    assert_eq!(counting.counts().values(), 1);
    assert_eq!(text(&store, "a/0.1").as_deref(), Some("text"));
    assert_eq!(text(&store, "a/1.0").unwrap().len(), 6);
    assert_eq!(text(&store, "sparse/0"), None);
    assert_eq!(text(&store, "sparse/1"), None);
    assert_eq!(counting.counts().values(), 3);
}

#[test]
fn all_is_listed() {
    let store = opened(memory(), "mixed.parq").unwrap();
    let chunks: Vec<_> = list(&store, "").into_iter().filter(|(name, _)| !name.contains(".z")).collect();
    let expected =
        [("a/0.0", 4), ("a/0.1", 4), ("a/1.0", 4), ("a/1.1", 5), ("g/scalar/0", 1), ("sparse/7", 2)];
    assert_eq!(chunks, expected.map(|(name, size)| (name.to_owned(), size)));
    assert_eq!(list(&store, "g/").len(), 3);
    let root = store.list_dir(&Prefix::root()).unwrap();
    assert_eq!(root.prefixes, ["a/", "g/", "sparse/"].map(prefix));
    assert_eq!(
        store.list_dir(&prefix("sparse/")).unwrap().keys,
        [".zarray", "7"].map(|name| key(&format!("sparse/{name}")))
    );
}

#[test]
fn a_directory_is_opened_by_its_path() {
    let directory = tempfile::tempdir().unwrap();
    let copy = DirectoryStore::open(directory.path()).unwrap();
    let memory = memory();
    for (name, _) in list(&memory, "mixed.parq/") {
        let value = memory.get(&key(&name)).unwrap().unwrap();
        copy.set(&key(&name.replace("mixed.parq", "any name")), &value, Condition::Always).unwrap();
    }
    let path: PathBuf = directory.path().join("any name");
    let store = ReferenceOptions::new().open(&path).unwrap();
    assert_eq!(text(&store, "a/0.1").as_deref(), Some("text"));
    let located =
        registry().open(&format!("{}|reference:a", path.display()), &StorageOptions::new()).unwrap();
    assert_eq!(located.path, "a");
    let error = ReferenceOptions::new().open(Path::new(GOLDEN)).unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::NotFound);
    assert!(error.to_string().contains(".zmetadata"), "{error}");
}

#[test]
fn metadata_that_is_malformed_is_named() {
    let array =
        |members: &str| format!(r#"{{"record_size": 1, "metadata": {{"a/.zarray": {{{members}}}}}}}"#);
    for (document, kind, place) in [
        ("".to_owned(), StoreErrorKind::Corrupt, ".zmetadata"),
        (r#"{"metadata": {}}"#.to_owned(), StoreErrorKind::Corrupt, ".zmetadata"),
        (r#"{"metadata": {}, "record_size": 0}"#.to_owned(), StoreErrorKind::Corrupt, ".zmetadata"),
        (r#"{"metadata": [], "record_size": 1}"#.to_owned(), StoreErrorKind::Corrupt, ".zmetadata"),
        (r#"{"metadata": {"../a": 1}, "record_size": 1}"#.to_owned(), StoreErrorKind::Corrupt, "../a"),
        (
            r#"{"metadata": {"a/zarr.json": {}}, "record_size": 1}"#.to_owned(),
            StoreErrorKind::Unsupported,
            "a/zarr.json",
        ),
        (array(""), StoreErrorKind::Corrupt, "a/.zarray"),
        (array(r#""shape": [1], "chunks": [0]"#), StoreErrorKind::Corrupt, "a/.zarray"),
        (array(r#""shape": [1], "chunks": []"#), StoreErrorKind::Corrupt, "a/.zarray"),
        (
            array(r#""shape": [18446744073709551615, 2], "chunks": [1, 1]"#),
            StoreErrorKind::Corrupt,
            "a/.zarray",
        ),
        (
            array(r#""shape": [1], "chunks": [1], "dimension_separator": "/""#),
            StoreErrorKind::Corrupt,
            "a/.zarray",
        ),
    ] {
        let memory = MemoryStore::new();
        memory.set(&key("x.parq/.zmetadata"), document.as_bytes(), Condition::Always).unwrap();
        let error = opened(memory, "x.parq").unwrap_err();
        assert_eq!((error.kind(), error.key()), (kind, Some(place)), "{document}: {error}");
    }
}

#[test]
fn a_huge_grid_is_not_listed() {
    let memory = MemoryStore::new();
    let document =
        r#"{"record_size": 1, "metadata": {"a/.zarray": {"shape": [1000000000000], "chunks": [1]}}}"#;
    memory.set(&key("x.parq/.zmetadata"), document.as_bytes(), Condition::Always).unwrap();
    let store = opened(memory, "x.parq").unwrap();
    assert_eq!(text(&store, "a/999999999999"), None);
    assert_eq!(store.list_dir(&prefix("a/")).unwrap_err().kind(), StoreErrorKind::TooLarge);
}

#[test]
fn files_that_are_not_tables_are_named() {
    for (file, kind) in
        [(&b""[..], StoreErrorKind::Corrupt), (b"PAR1\xff\xff\xff\xffPAR1", StoreErrorKind::Corrupt)]
    {
        let memory = memory();
        memory.set(&key("mixed.parq/a/refs.0.parq"), file, Condition::Always).unwrap();
        let error = opened(memory, "mixed.parq").unwrap().get(&key("a/0.0")).unwrap_err();
        assert_eq!((error.kind(), error.key()), (kind, Some("mixed.parq/a/refs.0.parq")), "{error}");
    }
    let store = ReferenceOptions::new().memory_limit(6000).open_in(Arc::new(memory()), "many.parq").unwrap();
    assert_eq!(store.get(&key("a/0")).unwrap_err().kind(), StoreErrorKind::TooLarge);
}

/// Reads a whole array with this file of references.
fn read_all(name: &str, file: &[u8]) -> Result<usize, StoreError> {
    let memory = memory();
    memory.set(&key(&format!("{name}/a/refs.0.parq")), file, Condition::Always).unwrap();
    let store = ReferenceOptions::new().memory_limit(1 << 20).open_in(Arc::new(memory), name)?;
    store.list_dir(&prefix("a/")).map(|listing| listing.keys.len())
}

#[test]
fn a_file_that_is_cut_off_is_refused() {
    for name in ["mixed.parq", "many.parq"] {
        let file = memory().get(&key(&format!("{name}/a/refs.0.parq"))).unwrap().unwrap();
        for end in 0..file.len() {
            assert_eq!(read_all(name, &file[..end]).unwrap_err().kind(), StoreErrorKind::Corrupt, "{end}");
        }
    }
}

#[test]
fn every_damaged_byte_is_read_or_refused() {
    for name in ["mixed.parq", "many.parq"] {
        let file = memory().get(&key(&format!("{name}/a/refs.0.parq"))).unwrap().unwrap();
        for at in 0..file.len() {
            for change in [1, 0x10, 0x80, 0xff] {
                let mut damaged = file.to_vec();
                damaged[at] ^= change;
                let _ = read_all(name, &damaged);
            }
        }
    }
}

proptest! {
    #[test]
    fn any_damage_is_read_or_refused(changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8)) {
        for name in ["mixed.parq", "many.parq"] {
            let mut file = memory().get(&key(&format!("{name}/a/refs.0.parq"))).unwrap().unwrap().to_vec();
            for (at, byte) in &changes {
                let at = at.index(file.len());
                file[at] = *byte;
            }
            let _ = read_all(name, &file);
        }
    }
}

#[test]
fn documents_stay_as_they_are_written() {
    let memory = MemoryStore::new();
    let attributes = r#"{"n": 12345678901234567890123, "x": [NaN, -Infinity, 1.50]}"#;
    let array = r#"{"shape": [1], "chunks": [1], "fill_value": NaN}"#;
    let document =
        format!(r#"{{"metadata": {{"a/.zarray": {array}, "a/.zattrs": {attributes}}}, "record_size": 1}}"#);
    memory.set(&key("x.parq/.zmetadata"), document.as_bytes(), Condition::Always).unwrap();
    let store = opened(memory, "x.parq").unwrap();
    assert_eq!(text(&store, "a/.zarray").as_deref(), Some(array));
    assert_eq!(text(&store, "a/.zattrs").as_deref(), Some(attributes));
}
