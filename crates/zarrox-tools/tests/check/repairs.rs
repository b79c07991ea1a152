//! Repairs: what they write, what they keep, and what happens when they fail.

use std::fs;
use std::sync::Arc;

use zarrox::codecs::{Blosc, Zstd};
use zarrox::stores::{Condition, Key, MemoryStore, Operation, Store, StoreErrorKind, StoreExt};
use zarrox::{ErrorKind, MissingChunks, OpenMode, OpenOptions};
use zarrox::{prelude::*, s};
use zarrox_testkit::errors::assert_error;
use zarrox_testkit::faults::{Fault, FaultyStore};
use zarrox_tools::check::{Check, CheckLevel, FindingKind as Kind, Outcome, Remedy, Repair};

use super::{Hierarchy, edit, files_below, findings, kinds, repaired, run};

const REPAIR: Repair = Repair { dry_run: false, refill: false };

#[test]
fn a_lost_chunk_is_missing_or_filled_when_told_so() {
    for refill in [false, true] {
        let h = Hierarchy::new();
        edit(&h.file("group/packed/c/0/1"), |bytes| bytes.fill(7));
        let damaged = fs::read(h.file("group/packed/c/0/1")).unwrap();
        let found = repaired(&h.path, refill);
        let remedy = if refill { Remedy::Refill } else { Remedy::Quarantine };
        assert_eq!((found[0].remedy.clone(), found[0].outcome.clone()), (remedy, Outcome::Repaired));
        assert_eq!(h.quarantined()["group/packed/c/0/1"], damaged);
        let complete = OpenOptions::new().missing_chunks(MissingChunks::Error);
        let array = complete.open(h.file("group/packed")).unwrap().into_array().unwrap();
        let read = array.read::<ArrayD<i32>>(s![0, ..]);
        assert_eq!(read.is_ok(), refill, "{read:?}");
        let array = zarrox::open_array(h.file("group/packed")).unwrap();
        assert_eq!(
            array.read::<ArrayD<i32>>(s![0, ..]).unwrap(),
            ndarray::arr1(&[1, 2, 3, 0, 0, 0]).into_dyn()
        );
        assert_eq!(findings(&h.path, CheckLevel::Full), []);
    }
}

#[test]
fn a_node_that_is_moved_back_is_checked_and_repaired_at_once() {
    let h = Hierarchy::new();
    edit(&h.file("group/packed/c/0/1"), |bytes| bytes.fill(7));
    fs::rename(h.file("group"), h.file("group.replaced0")).unwrap();
    let found = repaired(&h.path, false);
    assert_eq!(kinds(&found), [Kind::ReplacedNode, Kind::CorruptChunk]);
    assert!(found.iter().all(|found| found.outcome == Outcome::Repaired), "{found:?}");
    assert_eq!(found[1].path, "group/packed");
    assert_eq!(findings(&h.path, CheckLevel::Full), []);
}

#[test]
fn a_group_without_document_that_was_put_aside_gets_one_and_is_moved_back() {
    let h = Hierarchy::new();
    fs::remove_file(h.file("group/zarr.json")).unwrap();
    fs::rename(h.file("group"), h.file("group.replaced0")).unwrap();
    assert_eq!(kinds(&repaired(&h.path, false)), [Kind::ImplicitGroup, Kind::ReplacedNode]);
    assert!(h.file("group/packed/zarr.json").exists());
    assert_eq!(findings(&h.path, CheckLevel::Full), []);
}

#[test]
fn a_document_inside_an_array_of_n5_makes_no_group() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("h.n5");
    zarrox::create_group(&path).unwrap();
    fs::create_dir_all(path.join("a/other")).unwrap();
    // No codec has this level.
    let array = r#"{"dimensions": [4], "blockSize": [2], "dataType": "int32", "compression": {"type": "gzip", "level": 255}}"#;
    fs::write(path.join("a/attributes.json"), array).unwrap();
    fs::write(path.join("a/other/zarr.json"), "{").unwrap();
    for _ in 0..2 {
        assert_eq!(kinds(&repaired(&path, false)), [Kind::UnreadableDocument, Kind::NodeInArray]);
    }
    assert_eq!(fs::read_to_string(path.join("a/other/zarr.json")).unwrap(), "{");
}

#[test]
fn moving_back_is_only_told_where_it_can_be_done() {
    let h = Hierarchy::new();
    fs::rename(h.file("raw"), h.file("group/raw.replaced0")).unwrap();
    fs::copy(h.file("plain/zarr.json"), h.file("group/zarr.json")).unwrap();
    // Nodes below an invalid node are checked as well: here, the invalid node is an array with an unsupported
    // level of its codec.
    edit(&h.file("group/zarr.json"), |bytes| {
        let mut json: serde_json::Value = serde_json::from_slice(bytes).unwrap();
        json["codecs"] =
            serde_json::json!([{"name": "bytes"}, {"name": "gzip", "configuration": {"level": 255}}]);
        *bytes = serde_json::to_vec(&json).unwrap();
    });
    let found = repaired(&h.path, false);
    let found = found.iter().find(|found| found.kind == Kind::ReplacedNode).unwrap();
    assert_eq!(found.outcome, Outcome::Left, "{found:?}");
    assert!(found.remedy.to_string().contains("above it is an array"), "{found:?}");
}

#[test]
fn consolidating_is_only_told_where_it_can_be_done() {
    let h = Hierarchy::new();
    zarrox::open_group(&h.path).unwrap().consolidate_metadata().unwrap();
    fs::remove_dir_all(h.file("raw")).unwrap();
    // This document has no copy, and is not JSON.
    fs::create_dir_all(h.file("new")).unwrap();
    fs::write(h.file("new/zarr.json"), "{").unwrap();
    for dry_run in [true, false] {
        let (_, found) = run(&Check::open(&h.path).unwrap().repair(Repair { dry_run, refill: false }));
        assert!(kinds(&found).contains(&Kind::StaleConsolidated), "{found:?}");
        for found in found {
            assert_eq!(found.outcome, Outcome::Left, "{found:?}");
            let why = found.remedy.to_string();
            assert!(found.kind != Kind::StaleConsolidated || why.contains("'new/zarr.json'"), "{why}");
        }
    }
    fs::remove_dir_all(h.file("new")).unwrap();
    let found = repaired(&h.path, false);
    assert_eq!((kinds(&found), &found[0].remedy), (vec![Kind::StaleConsolidated], &Remedy::Consolidate));
    assert_eq!(findings(&h.path, CheckLevel::Full), []);
}

#[test]
fn documents_are_not_restored_that_are_there() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("h.zarr");
    let root = OpenOptions::new().format(Format::V2).create_group(&path).unwrap();
    root.create_group("g").unwrap();
    root.consolidate_metadata().unwrap();
    // The group's document is intact, and newer than its copy; the damaged document has another format.
    let newer = r#"{"zarr_format": 2, "new": 1}"#;
    fs::write(path.join("g/.zgroup"), newer).unwrap();
    fs::write(path.join("g/zarr.json"), "{").unwrap();
    let found = repaired(&path, false);
    assert!(found.iter().all(|found| found.remedy != Remedy::Restore), "{found:?}");
    assert_eq!(fs::read_to_string(path.join("g/.zgroup")).unwrap(), newer);
    assert_eq!(kinds(&findings(&path, CheckLevel::Full)), [Kind::UnreadableDocument]);
}

#[test]
fn a_dry_run_says_what_the_repair_does() {
    let h = Hierarchy::new();
    edit(&h.file("sums/c/1/1"), |bytes| bytes[0] ^= 1);
    fs::copy(h.file("plain/c/0/0"), h.file("plain/c/0/2")).unwrap();
    let dry = Check::open(&h.path).unwrap().repair(Repair { dry_run: true, refill: false });
    let (summary, planned) = run(&dry);
    assert!(planned.iter().all(|found| found.outcome == Outcome::Planned), "{planned:?}");
    assert_eq!((summary.repaired, summary.left), (0, 2));
    let (summary, done) = run(&Check::open(&h.path).unwrap().repair(REPAIR));
    let remedies = |found: &[zarrox_tools::check::Finding]| {
        let mut remedies: Vec<_> = found.iter().map(|found| (found.kind, found.remedy.to_string())).collect();
        remedies.sort();
        remedies
    };
    assert_eq!(remedies(&planned), remedies(&done));
    assert_eq!((summary.repaired, summary.left, summary.is_clean()), (2, 0, true));
    assert_eq!(run(&dry).1, []);
}

#[test]
fn the_quarantine_keeps_what_is_in_it() {
    let h = Hierarchy::new();
    let original = fs::read(h.file("plain/c/0/1")).unwrap();
    for round in 0_u8..3 {
        fs::write(h.file("plain/c/0/1"), [round]).unwrap();
        assert_eq!(kinds(&repaired(&h.path, false)), [Kind::WrongSize]);
    }
    // Equal bytes are not stored twice in the quarantine.
    fs::write(h.file("plain/c/0/1"), [1]).unwrap();
    repaired(&h.path, false);
    let quarantined = h.quarantined();
    let kept: Vec<_> = quarantined.iter().map(|(key, bytes)| (key.as_str(), bytes.as_slice())).collect();
    assert_eq!(kept, [("plain/c/0/1", &[0][..]), ("plain/c/0/1.1", &[1]), ("plain/c/0/1.2", &[2])]);
    fs::write(h.file("plain/c/0/1"), original).unwrap();
    assert_eq!(findings(&h.path, CheckLevel::Full), []);
}

/// Returns a store with a damaged chunk and a damaged shard.
fn damaged() -> FaultyStore {
    let store = FaultyStore::new(Arc::new(MemoryStore::new()));
    let shared: Arc<dyn Store> = Arc::new(store.clone());
    let root = OpenOptions::new().create_group((shared.clone(), "")).unwrap();
    let zstd = || Zstd::level(1).checksum(true);
    let chunks = root.create_array("chunks").shape([4, 4]).chunks([2, 4]).data_type(DataType::Int32);
    super::fill(chunks.compressor(zstd()));
    let shards = root.create_array("shards").shape([4, 4]).chunks([2, 2]).shards([4, 4]);
    super::fill(shards.data_type(DataType::Int32).compressor(zstd()));
    for (key, at) in [("chunks/c/0/0", 10), ("shards/c/0/0", 10)] {
        let key = Key::new(key).unwrap();
        let mut bytes = store.get(&key).unwrap().unwrap().to_vec();
        bytes[at] ^= 0x55;
        store.set(&key, &bytes, Condition::Always).unwrap();
    }
    store
}

fn content(store: &FaultyStore) -> Vec<(String, Vec<u8>)> {
    let keys = zarrox_testkit::store::list(store, "");
    let value = |key: &str| store.get(&Key::new(key).unwrap()).unwrap().unwrap().to_vec();
    keys.into_iter().map(|(key, _)| (key.clone(), value(&key))).collect()
}

#[test]
fn where_a_repair_fails_what_was_there_is_there_still() {
    let check =
        |store: &FaultyStore| Check::open_with(&OpenOptions::new(), (Arc::new(store.clone()), "")).unwrap();
    let mut failed = 0;
    for operation in [Operation::Set, Operation::Erase] {
        for nth in 1..6 {
            let store = damaged();
            let before = content(&store);
            store.inject(Fault::fail(StoreErrorKind::StorageFull).on(&[operation]).nth(nth));
            let (summary, found) = run(&check(&store).repair(REPAIR));
            store.heal();
            let after = content(&store);
            for finding in &found {
                let key = finding.key.clone().unwrap();
                let original = before.iter().find(|(name, _)| *name == key).unwrap();
                let is_whole = after.contains(original);
                let is_kept = after.iter().any(|(name, bytes)| {
                    name.contains(&key) && name.ends_with(".damaged") && *bytes == original.1
                });
                match &finding.outcome {
                    Outcome::Repaired => assert!(is_kept && !is_whole, "{operation:?} {nth}: {finding}"),
                    Outcome::Failed(why) => {
                        failed += 1;
                        assert!(is_whole, "{operation:?} {nth}: {finding}");
                        assert!(why.contains("no") || why.contains("fault"), "{why}");
                    }
                    other => assert_eq!(*other, Outcome::Repaired, "{finding}"),
                }
            }
            assert_eq!(summary.is_clean(), found.iter().all(|found| found.outcome == Outcome::Repaired));
            // Once the disk has space, the same repair succeeds.
            assert!(run(&check(&store).repair(REPAIR)).0.is_clean());
            assert_eq!(run(&check(&store)).1, []);
        }
    }
    assert!(failed > 3, "{failed}");
}

#[test]
fn a_store_that_takes_no_writes_is_not_repaired() {
    let h = Hierarchy::new();
    edit(&h.file("raw/c/1/1"), Vec::clear);
    let read_only = OpenOptions::new().mode(OpenMode::Read);
    let check = Check::open_with(&read_only, &h.path).unwrap();
    assert_eq!(kinds(&run(&check).1), [Kind::EmptyChunk]);
    let error = check.repair(REPAIR).run(|_| Ok(())).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ReadOnly);
}

#[test]
fn a_full_disk_leaves_the_original() {
    let h = Hierarchy::new();
    edit(&h.file("group/packed/c/0/1"), |bytes| bytes.fill(7));
    let before = super::files_below(&h.path);
    // A file takes the path of the quarantine.
    fs::write(h.path.with_file_name("h.zarr.quarantine"), "in the way").unwrap();
    let (summary, found) = run(&Check::open(&h.path).unwrap().repair(REPAIR));
    let Outcome::Failed(why) = &found[0].outcome else { panic!("{found:?}") };
    assert!(why.contains("h.zarr.quarantine"), "{why}");
    assert!(!summary.is_clean());
    assert_eq!(super::files_below(&h.path), before);
}

/// A chunk that a writer replaces all the time is not damaged.
#[test]
fn chunks_that_are_being_replaced_are_not_called_damaged() {
    let h = Hierarchy::new();
    let array = zarrox::open_array(h.file("group/packed")).unwrap();
    let done = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let mut value = 0;
            while !done.load(std::sync::atomic::Ordering::Relaxed) {
                value += 1;
                array.write(.., value).unwrap();
            }
            value
        });
        let found = (0..50).map(|_| findings(&h.path, CheckLevel::Full)).find(|found| !found.is_empty());
        // The writer is stopped before the assertions: after a failure it would run forever.
        done.store(true, std::sync::atomic::Ordering::Relaxed);
        assert!(writer.join().unwrap() > 0);
        assert_eq!(found, None);
    });
}

/// Blosc decodes blocks separately: intact blocks can be read, before and after a repair of the chunk.
#[test]
fn elements_beside_a_damaged_block_are_kept() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.zarr");
    let builder = zarrox::create_array(&path).shape([300_000]).chunks([300_000]).data_type(DataType::Int32);
    let array = builder.compressor(Blosc::lz4()).create().unwrap();
    let numbers: Vec<i32> =
        (1..=300_000_i32).map(|n| n.wrapping_mul(0x9e37_79b1_u32.cast_signed())).collect();
    array.write(.., ndarray::arr1(&numbers)).unwrap();
    edit(&path.join("c/0"), |bytes| {
        let middle = bytes.len() / 2;
        bytes[middle..middle + 4000].fill(0xff);
    });
    let parts = || -> Vec<Option<Vec<i32>>> {
        let part = |start: u64| array.read::<ArrayD<i32>>(s![start..start + 1000]).ok();
        (0..300).map(|n| part(n * 1000).map(|part| part.into_raw_vec_and_offset().0)).collect()
    };
    let before = parts();
    let found = repaired(&path, false);
    assert_eq!(kinds(&found), [Kind::CorruptChunk]);
    let readable = before.iter().flatten().count();
    let Remedy::Salvage { kept, lost } = found[0].remedy else { panic!("{found:?}") };
    assert!(
        readable > 100 && readable < 300 && kept >= readable * 1000 && kept + lost == 300_000,
        "{readable} {kept}"
    );
    for (before, after) in before.into_iter().zip(parts()) {
        assert!(after.is_some() && (before.is_none() || before == after));
    }
    assert_eq!(findings(&path, CheckLevel::Full), []);
}

#[test]
fn a_directory_in_the_place_of_a_chunk_is_found() {
    let h = Hierarchy::new();
    for (chunk, array) in [("plain/c/0/1", "plain"), ("sharded/c/1/0", "sharded")] {
        fs::remove_file(h.file(chunk)).unwrap();
        fs::create_dir(h.file(chunk)).unwrap();
        let found = findings(&h.path, CheckLevel::Full);
        let told = found.iter().find(|found| found.path == array).unwrap();
        assert_eq!((told.kind, told.message.contains(chunk)), (Kind::Unreadable, true), "{told:?}");
        assert_error(
            zarrox::open_array(h.file(array)).unwrap().read::<ArrayD<i32>>(..),
            ErrorKind::Unreachable,
            "a directory has the name",
        );
    }
}

#[test]
fn chunks_without_an_array_move_to_the_quarantine_only_if_that_is_requested() {
    let hierarchy = Hierarchy::new();
    fs::remove_file(hierarchy.file("plain/zarr.json")).unwrap();
    let chunks = files_below(&hierarchy.file("plain"));
    assert_eq!(kinds(&repaired(&hierarchy.path, false)), [Kind::ChunksWithoutArray]);
    assert_eq!(files_below(&hierarchy.file("plain")), chunks);
    // With another file, the directory may belong to another program.
    fs::write(hierarchy.file("plain/notes.txt"), "").unwrap();
    let check = || Check::open(&hierarchy.path).unwrap().repair(Repair::default()).orphans(true);
    run(&check());
    assert!(chunks.keys().all(|name| hierarchy.file("plain").join(name).exists()));
    fs::remove_file(hierarchy.file("plain/notes.txt")).unwrap();
    assert_eq!(run(&check()).0.repaired, 1);
    assert_eq!(hierarchy.quarantined().len(), chunks.len());
    assert_eq!(run(&check()).1, []);
    zarrox::open_group(&hierarchy.path)
        .unwrap()
        .create_array("plain")
        .shape([2])
        .data_type(DataType::Int8)
        .create()
        .unwrap();
}
