//! Checks and repairs in every format, and in stores other than directories.

use std::sync::Arc;

use zarrox::codecs::{Gzip, Zstd};
use zarrox::stores::{Condition, Key, MemoryStore, Prefix, Store, StoreExt};
use zarrox::{OpenMode, OpenOptions};
use zarrox::{prelude::*, s};
use zarrox_tools::check::{Check, CheckLevel, FindingKind as Kind, Outcome, Repair};

use super::{fill, kinds, run};

const REPAIR: Repair = Repair { dry_run: false, refill: false };

/// Formats whose groups hold arrays.
const FORMATS: [Format; 5] = [Format::V2, Format::V3, Format::V3Experimental, Format::V3Draft, Format::N5];

fn keys(store: &dyn Store) -> Vec<String> {
    zarrox_testkit::store::list(store, "").into_iter().map(|(key, _)| key).collect()
}

fn set(store: &dyn Store, key: &str, bytes: &[u8]) {
    store.set(&Key::new(key).unwrap(), bytes, Condition::Always).unwrap();
}

fn get(store: &dyn Store, key: &str) -> Vec<u8> {
    store.get(&Key::new(key).unwrap()).unwrap().unwrap().to_vec()
}

#[test]
fn every_format_is_checked_and_repaired() {
    for format in FORMATS {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let options = OpenOptions::new().format(format);
        let root = options.create_group((store.clone(), "")).unwrap();
        let builder = root.create_array("g/a").shape([4, 6]).chunks([2, 3]).data_type(DataType::Int32);
        let array = fill(builder.compressor(Gzip::level(1)));
        let check = || Check::open_with(&OpenOptions::new().format(format), (store.clone(), "")).unwrap();
        assert_eq!(run(&check()).1, [], "{format}");

        let key = array.raw().key(&[1, 0]).unwrap();
        let mut bytes = get(&*store, &key);
        let last = bytes.len() - 1;
        bytes[last] ^= 1;
        set(&*store, &key, &bytes);
        let outside = key.rsplit_once(['/', '.']).unwrap();
        let separator = &key[outside.0.len()..=outside.0.len()];
        let outside = format!("{}{separator}7", outside.0);
        set(&*store, &outside, &bytes);
        set(&*store, array.raw().key(&[0, 0]).unwrap().as_str(), b"");

        let (_, mut found) = run(&check());
        found.sort_by_key(|found| found.kind);
        assert_eq!(
            kinds(&found),
            [Kind::ChunkOutsideGrid, Kind::EmptyChunk, Kind::CorruptChunk],
            "{format}: {found:#?}"
        );
        assert!(found.iter().all(|found| found.path == "g/a"), "{format}: {found:#?}");
        assert_eq!(found[2].chunk, Some(vec![1, 0]), "{format}");
        assert_eq!(found[2].key.as_deref(), Some(key.as_str()), "{format}");
        let (summary, found) = run(&check().repair(REPAIR));
        assert!(summary.is_clean() && found.len() == 3, "{format}: {found:#?}");
        assert_eq!(run(&check()).1, [], "{format}");
        let quarantined =
            keys(&*store).into_iter().filter(|key| key.starts_with(".zarrox-quarantine/")).count();
        assert_eq!(quarantined, 3, "{format}");
        let array = options.open((store.clone(), "g/a")).unwrap().into_array().unwrap();
        let read = array.read::<ArrayD<i32>>(..).unwrap();
        assert_eq!((read[[0, 3]], read[[3, 5]], read[[3, 0]], read[[0, 0]]), (4, 24, 0, 0), "{format}");
    }
}

#[test]
fn the_one_array_of_version_1_is_checked() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let builder = OpenOptions::new().format(Format::V1).create_array((store.clone(), ""));
    fill(builder.shape([4, 6]).chunks([2, 3]).data_type(DataType::Int32).no_compressor());
    let check = || Check::open_with(&OpenOptions::new(), (store.clone(), "")).unwrap();
    assert_eq!(run(&check()).1, []);
    set(&*store, "1.1", b"short");
    let (_, found) = run(&check());
    assert_eq!((kinds(&found), found[0].chunk.clone()), (vec![Kind::WrongSize], Some(vec![1, 1])));
}

/// Plants damage in a hierarchy at a URL, and repairs it.
fn check_url(url: &str) {
    let root = zarrox::create_group(url).unwrap();
    let builder = root.create_array("g/a").shape([4, 6]).chunks([2, 3]).data_type(DataType::Int32);
    let array = fill(builder.compressor(Zstd::level(1).checksum(true)));
    array.raw().write(&[1, 1], b"nonsense").unwrap();
    root.flush().unwrap();
    drop((root, array));
    let check = || Check::open(format!("{url}/g")).unwrap();
    let (_, found) = run(&check());
    assert_eq!(kinds(&found), [Kind::CorruptChunk], "{url}: {found:#?}");
    let (_, found) = run(&check().repair(REPAIR));
    assert_eq!(found[0].outcome, Outcome::Repaired, "{url}: {found:#?}");
    assert_eq!(run(&check()).1, [], "{url}");
    let array =
        OpenOptions::new().mode(OpenMode::Read).open(format!("{url}/g/a")).unwrap().into_array().unwrap();
    assert_eq!(
        array.read::<ArrayD<i32>>(s![3, ..]).unwrap(),
        ndarray::arr1(&[19, 20, 21, 0, 0, 0]).into_dyn()
    );
    drop(array);
    let quarantine = check().quarantine();
    let kept = if quarantine.contains(".zarrox-quarantine") {
        return;
    } else {
        std::fs::read(std::path::Path::new(&quarantine).join("g/a/c/1/1"))
    };
    assert_eq!(kept.unwrap(), b"nonsense", "{url}: in {quarantine}");
}

#[test]
fn stores_in_files_have_their_quarantine_beside_them() {
    for scheme in ["sqlite://", "lmdb://", "redb://", "gdbm://", ""] {
        let directory = tempfile::tempdir().unwrap();
        let name = if scheme.is_empty() { "a.zip" } else { "a.db" };
        let path = directory.path().join(name);
        let url = format!("{scheme}{}", path.display());
        check_url(&url);
        let quarantine = directory.path().join(format!("{name}.quarantine"));
        assert!(quarantine.join("g/a/c/1/1").is_file(), "{url}");
    }
}

#[test]
fn the_memory_has_its_quarantine_inside() {
    check_url("memory://check/a.zarr");
}

#[test]
fn stores_that_cannot_be_listed_are_asked_for_each_chunk() {
    use zarrox_testkit::faults::{Fault, FaultyStore};
    let store = FaultyStore::new(Arc::new(MemoryStore::new()));
    let array = OpenOptions::new().create_array((Arc::new(store.clone()), "a")).shape([4, 4]).chunks([2, 2]);
    fill(array.data_type(DataType::Int32).no_compressor());
    set(&store, "a/c/1/0", b"short");
    // An unreadable listing is a finding, and does not prevent other checks.
    store.inject(
        Fault::fail(zarrox::stores::StoreErrorKind::Forbidden).on(&[zarrox::stores::Operation::ListPrefix]),
    );
    let check = Check::open_with(&OpenOptions::new(), (Arc::new(store.clone()), "a")).unwrap();
    let (summary, found) = run(&check);
    assert_eq!(kinds(&found), [Kind::Unreadable], "{found:#?}");
    assert!(!summary.is_clean());
    store.heal();
    assert_eq!(kinds(&run(&check).1), [Kind::WrongSize]);
    assert!(store.list_dir(&Prefix::root()).is_ok());
}

#[test]
fn a_chunk_that_the_store_does_not_give_is_named() {
    use zarrox_testkit::faults::{Fault, FaultyStore};
    let store = FaultyStore::new(Arc::new(MemoryStore::new()));
    let array = OpenOptions::new().create_array((Arc::new(store.clone()), "a")).shape([4, 4]).chunks([2, 2]);
    fill(array.data_type(DataType::Int32).compressor(Gzip::level(1)));
    set(&store, "a/c/1/0", b"nonsense");
    store.inject(Fault::fail(zarrox::stores::StoreErrorKind::Forbidden).key("a/c/0/1"));
    let check = Check::open_with(&OpenOptions::new(), (Arc::new(store), "a")).unwrap();
    {
        let check = check.level(CheckLevel::Full).repair(REPAIR);
        let (_, mut found) = run(&check);
        found.sort_by_key(|found| found.kind);
        assert_eq!(kinds(&found), [Kind::Unreadable, Kind::CorruptChunk]);
        assert_eq!((found[0].chunk.clone(), found[0].outcome.clone()), (Some(vec![0, 1]), Outcome::Left));
        assert_eq!(found[1].outcome, Outcome::Repaired);
    }
}
