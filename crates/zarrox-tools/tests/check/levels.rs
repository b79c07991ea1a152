//! The depth of a check, its progress and its notes; and damage that must not hide other damage.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use zarrox::codecs::{Gzip, Zstd};
use zarrox::stores::MemoryStore;
use zarrox::{CodecSpec, Error, ErrorKind, OpenOptions};
use zarrox::{prelude::*, s};
use zarrox_tools::check::{Check, CheckLevel, FindingKind as Kind, Severity};

use super::{Hierarchy, edit, fill, findings, kinds, run};

#[test]
fn damage_hides_no_other_damage() {
    let h = Hierarchy::new();
    // The group's own document, a chunk below it, a document beside it, an index, and a chunk in another shard.
    edit(&h.file("group/zarr.json"), |bytes| bytes.truncate(9));
    edit(&h.file("group/packed/c/0/0"), |bytes| *bytes.last_mut().unwrap() ^= 1);
    edit(&h.file("plain/zarr.json"), Vec::clear);
    edit(&h.file("sums/c/0/0"), |bytes| *bytes.last_mut().unwrap() ^= 1);
    edit(&h.file("sums/c/1/1"), |bytes| bytes[0] ^= 1);
    edit(&h.file("raw/c/0/1"), |bytes| bytes.truncate(1));
    edit(&h.file("raw/c/1/1"), Vec::clear);
    let mut found = kinds(&findings(&h.path, CheckLevel::Full));
    found.sort();
    let expected = [
        Kind::UnreadableDocument,
        Kind::UnreadableDocument,
        Kind::EmptyChunk,
        Kind::ShardIndex,
        Kind::ShardIndex,
        Kind::CorruptChunk,
        Kind::CorruptInnerChunk,
    ];
    assert_eq!(found, expected);
}

#[test]
fn an_interrupted_check_ends() {
    let h = Hierarchy::new();
    edit(&h.file("raw/c/1/1"), Vec::clear);
    let stop = |_| Err(Error::new(ErrorKind::Interrupted, "enough"));
    let error = Check::open(&h.path).unwrap().run(stop).unwrap_err();
    assert_eq!((error.kind(), error.message()), (ErrorKind::Interrupted, "enough"));
    let check =
        Check::open(&h.path).unwrap().on_progress(|_| Err(Error::new(ErrorKind::Interrupted, "late")));
    assert_eq!(check.run(|_| Ok(())).unwrap_err().message(), "late");
}

#[test]
fn progress_is_of_all_stored_bytes() {
    let h = Hierarchy::new();
    let (done, total) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
    let (seen, all) = (done.clone(), total.clone());
    let check = Check::open(&h.path).unwrap().on_progress(move |progress| {
        seen.fetch_max(progress.done, Ordering::Relaxed);
        all.store(progress.total, Ordering::Relaxed);
        Ok(())
    });
    let (summary, found) = run(&check);
    assert_eq!(found, []);
    assert_eq!((summary.arrays, summary.groups, summary.chunks), (5, 2, 4 * 5));
    let files: usize = super::files_below(&h.path).values().map(Vec::len).sum();
    assert_eq!(usize::try_from(total.load(Ordering::Relaxed)).unwrap(), files);
    assert_eq!(done.load(Ordering::Relaxed), total.load(Ordering::Relaxed));
    assert!(summary.bytes > 0 && summary.bytes < total.load(Ordering::Relaxed), "documents are a part of it");
    assert!(summary.is_clean());
}

#[test]
fn missing_chunks_are_ranges_and_no_damage() {
    let h = Hierarchy::new();
    fs::remove_file(h.file("plain/c/0/1")).unwrap();
    fs::remove_file(h.file("plain/c/1/0")).unwrap();
    fs::remove_file(h.file("raw/c/1/1")).unwrap();
    assert_eq!(findings(&h.path, CheckLevel::Full), []);
    let (summary, found) = run(&Check::open(&h.path).unwrap().missing(true).level(CheckLevel::Metadata));
    assert!(summary.is_clean() && summary.count(Severity::Note) == 2);
    let place =
        |nth: usize| (found[nth].path.as_str(), found[nth].chunk.clone(), found[nth].last_chunk.clone());
    assert_eq!(place(0), ("plain", Some(vec![0, 1]), Some(vec![1, 0])));
    assert_eq!(place(1), ("raw", Some(vec![1, 1]), None));
    assert!(found[0].to_string().contains("chunks [0, 1] to [1, 0]: 2 chunks"), "{}", found[0]);
}

#[test]
fn missing_chunks_of_a_huge_grid_take_no_memory() {
    let store = Arc::new(MemoryStore::new());
    let array =
        OpenOptions::new().create_array((store.clone(), "a")).shape([1 << 40, 1 << 40]).chunks([1, 1]);
    let array = array.data_type(DataType::Int32).create().unwrap();
    array.write(s![5, 7], 1).unwrap();
    let (_, found) = run(&Check::open_with(&OpenOptions::new(), (store, "a")).unwrap().missing(true));
    assert_eq!(found.len(), 2);
    assert_eq!(found[0].last_chunk, Some(vec![5, 6]));
    assert_eq!(found[1].chunk, Some(vec![5, 8]));
    let last = (1_u64 << 40) - 1;
    assert_eq!(found[1].last_chunk, Some(vec![last, last]));
}

#[test]
fn what_is_no_node_is_an_error_and_no_finding() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("README"), "text").unwrap();
    assert_eq!(zarrox_tools::check(directory.path()).unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(
        zarrox_tools::check(directory.path().join("nothing")).unwrap_err().kind(),
        ErrorKind::NotFound
    );
    // A directory of several hierarchies is not a hierarchy itself.
    fill(zarrox::create_array(directory.path().join("a.zarr")).shape([2, 2]).data_type(DataType::Int32));
    assert_eq!(zarrox_tools::check(directory.path()).unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(zarrox_tools::check(directory.path().join("a.zarr")).unwrap(), []);
}

#[cfg(target_os = "linux")]
#[test]
fn nothing_is_written_by_a_check() {
    use std::os::unix::fs::PermissionsExt;
    let h = Hierarchy::new();
    edit(&h.file("raw/c/1/1"), Vec::clear);
    let before = super::files_below(&h.path);
    let times = |h: &Hierarchy| fs::metadata(h.file("raw/c/1")).unwrap().modified().unwrap();
    let time = times(&h);
    fs::set_permissions(h.file("raw/c/1"), fs::Permissions::from_mode(0o555)).unwrap();
    let dry = zarrox_tools::check::Repair { dry_run: true, refill: true };
    for check in [Check::open(&h.path).unwrap(), Check::open(&h.path).unwrap().repair(dry)] {
        assert_eq!(kinds(&run(&check).1), [Kind::EmptyChunk]);
    }
    fs::set_permissions(h.file("raw/c/1"), fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!((super::files_below(&h.path), times(&h)), (before, time));
    assert!(h.quarantined().is_empty() && !h.path.with_file_name("h.zarr.quarantine").exists());
}

/// Chunks that are too large to be decoded at once for a check are decoded block by block, up to their ends.
#[test]
fn damage_of_a_very_large_chunk_is_found_wherever_it_is() {
    let directory = tempfile::tempdir().unwrap();
    for (name, codec) in
        [("gzip", Gzip::level(1).into()), ("zstd", CodecSpec::from(Zstd::level(1).checksum(true)))]
    {
        let path = directory.path().join(name);
        let length = 33 << 20;
        let chunk = |length: u64| {
            let array =
                zarrox::create_array(&path).shape([length]).chunks([length]).data_type(DataType::UInt8);
            let array = array.compressor(codec.clone()).overwrite(true).create().unwrap();
            array.write(.., 1_u8).unwrap();
            fs::read(path.join("c/0")).unwrap()
        };
        let (longer, shorter) = (chunk(length + 1), chunk(length - 1));
        let whole = chunk(length);
        let mut damaged = whole.clone();
        // The offset of a byte of the checksum of gzip, or of Zstandard.
        let at = damaged.len() - if name == "gzip" { 8 } else { 1 };
        damaged[at] ^= 1;
        for (stored, is_whole) in [(whole, true), (damaged, false), (longer, false), (shorter, false)] {
            fs::write(path.join("c/0"), stored).unwrap();
            let found = findings(&path, CheckLevel::Full);
            assert_eq!(kinds(&found), if is_whole { vec![] } else { vec![Kind::CorruptChunk] }, "{name}");
        }
    }
}
