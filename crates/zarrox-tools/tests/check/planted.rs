//! Damage of every kind, planted separately: the findings of a check, and the effects of a repair.

use std::fs::{self, File};
use std::path::Path;
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};
use zarrox_tools::check::FindingKind as Kind;
use zarrox_tools::check::{CheckLevel, FindingKind, Outcome};

use super::{
    Hierarchy, assert_kept, edit, edit_entry, elements, entry, findings, kinds, repaired, set_entry,
};

/// An expected finding.
struct Expected {
    kind: FindingKind,
    path: &'static str,
    chunk: Option<[u64; 2]>,
    inner: Option<[u64; 2]>,
    key: Option<&'static str>,
}

const fn found(kind: FindingKind, path: &'static str) -> Expected {
    Expected { kind, path, chunk: None, inner: None, key: None }
}

impl Expected {
    const fn chunk(self, chunk: [u64; 2], key: &'static str) -> Self {
        Self { chunk: Some(chunk), key: Some(key), ..self }
    }

    const fn inner(self, inner: [u64; 2]) -> Self {
        Self { inner: Some(inner), ..self }
    }

    const fn key(self, key: &'static str) -> Self {
        Self { key: Some(key), ..self }
    }
}

/// Damage, the lowest level of a check that finds it, the findings, and true if it can be repaired.
struct Case {
    name: &'static str,
    plant: fn(&Hierarchy),
    level: CheckLevel,
    found: &'static [Expected],
    mended: bool,
}

const METADATA: CheckLevel = CheckLevel::Metadata;
const QUICK: CheckLevel = CheckLevel::Quick;
const FULL: CheckLevel = CheckLevel::Full;

fn document(file: &Path, change: impl FnOnce(&mut Value)) {
    let mut json: Value = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
    change(&mut json);
    fs::write(file, json.to_string()).unwrap();
}

fn write(file: &Path, bytes: &[u8]) {
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, bytes).unwrap();
}

fn temporary(h: &Hierarchy, key: &str) {
    let file = File::create(h.file(key)).unwrap();
    file.set_modified(SystemTime::now() - Duration::from_secs(60)).unwrap();
}

const CASES: &[Case] = &[
    Case {
        name: "a truncated document",
        plant: |h| edit(&h.file("plain/zarr.json"), |bytes| bytes.truncate(bytes.len() / 2)),
        level: METADATA,
        found: &[found(Kind::UnreadableDocument, "plain").key("plain/zarr.json")],
        mended: false,
    },
    Case {
        name: "a document that is empty",
        plant: |h| edit(&h.file("group/zarr.json"), Vec::clear),
        level: METADATA,
        found: &[found(Kind::UnreadableDocument, "group").key("group/zarr.json")],
        mended: false,
    },
    Case {
        name: "a document with a wrong value",
        plant: |h| document(&h.file("plain/zarr.json"), |json| json["shape"] = json!([4, -6])),
        level: METADATA,
        found: &[found(Kind::UnreadableDocument, "plain").key("plain/zarr.json")],
        mended: false,
    },
    Case {
        name: "a document that only lenient readers take",
        plant: |h| document(&h.file("group/zarr.json"), |json| json["consolidated_metadata"] = json!(null)),
        level: METADATA,
        found: &[found(Kind::NonstandardDocument, "group")],
        mended: false,
    },
    Case {
        name: "a codec whose name is not the specification's",
        plant: |h| {
            document(&h.file("group/packed/zarr.json"), |json| {
                json["codecs"][1]["name"] = json!("numcodecs.zstd");
            });
        },
        level: METADATA,
        found: &[found(Kind::NonstandardDocument, "group/packed")],
        mended: false,
    },
    Case {
        name: "an unknown codec",
        plant: |h| document(&h.file("plain/zarr.json"), |json| json["codecs"][0]["name"] = json!("nosuch")),
        level: METADATA,
        found: &[found(Kind::Unsupported, "plain")],
        mended: false,
    },
    Case {
        name: "a group's document that was deleted",
        plant: |h| fs::remove_file(h.file("group/zarr.json")).unwrap(),
        level: METADATA,
        found: &[found(Kind::ImplicitGroup, "group")],
        mended: true,
    },
    Case {
        name: "the root's document was deleted",
        plant: |h| fs::remove_file(h.file("zarr.json")).unwrap(),
        level: METADATA,
        found: &[found(Kind::ImplicitGroup, "")],
        mended: true,
    },
    Case {
        name: "an array's document that was deleted",
        plant: |h| fs::remove_file(h.file("plain/zarr.json")).unwrap(),
        level: METADATA,
        found: &[found(Kind::ChunksWithoutArray, "plain").key("plain/")],
        mended: false,
    },
    Case {
        name: "documents that are lost and damaged, of which there are copies",
        plant: |h| {
            zarrox::open_group(&h.path).unwrap().consolidate_metadata().unwrap();
            fs::remove_file(h.file("plain/zarr.json")).unwrap();
            edit(&h.file("raw/zarr.json"), |bytes| bytes.truncate(40));
        },
        level: METADATA,
        found: &[
            found(Kind::ChunksWithoutArray, "plain").key("plain/"),
            found(Kind::UnreadableDocument, "raw").key("raw/zarr.json"),
        ],
        mended: true,
    },
    Case {
        name: "names that differ in case",
        plant: |h| drop(zarrox::create_group(h.file("PLAIN")).unwrap()),
        level: METADATA,
        found: &[found(Kind::NamesDifferInCase, "")],
        mended: false,
    },
    Case {
        name: "a node inside an array",
        plant: |h| write(&h.file("plain/inside/zarr.json"), &fs::read(h.file("zarr.json")).unwrap()),
        level: QUICK,
        found: &[found(Kind::NodeInArray, "plain").key("plain/inside")],
        mended: false,
    },
    Case {
        name: "documents of two formats",
        plant: |h| write(&h.file("group/.zgroup"), br#"{"zarr_format": 2}"#),
        level: QUICK,
        found: &[found(Kind::SeveralFormats, "group").key("group/.zgroup")],
        mended: false,
    },
    Case {
        name: "consolidated metadata that does not know of a node",
        plant: |h| {
            zarrox::open_group(&h.path).unwrap().consolidate_metadata().unwrap();
            write(&h.file("new/zarr.json"), &fs::read(h.file("group/zarr.json")).unwrap());
        },
        level: METADATA,
        found: &[found(Kind::StaleConsolidated, "new")],
        mended: true,
    },
    Case {
        name: "consolidated metadata of nodes that are gone and changed",
        plant: |h| {
            zarrox::open_group(&h.path).unwrap().consolidate_metadata().unwrap();
            fs::remove_dir_all(h.file("group")).unwrap();
            document(&h.file("plain/zarr.json"), |json| json["attributes"] = json!({"a": 1}));
        },
        level: METADATA,
        found: &[
            found(Kind::StaleConsolidated, "group"),
            found(Kind::StaleConsolidated, "group/packed"),
            found(Kind::StaleConsolidated, "plain"),
        ],
        mended: true,
    },
    Case {
        name: "consolidated metadata that is not an object",
        plant: |h| {
            zarrox::open_group(&h.path).unwrap().consolidate_metadata().unwrap();
            document(&h.file("zarr.json"), |json| json["consolidated_metadata"]["metadata"] = json!(7));
        },
        level: METADATA,
        found: &[found(Kind::BrokenConsolidated, "")],
        mended: true,
    },
    Case {
        name: "a conversion that was interrupted",
        plant: |h| write(&h.file("group/.zarrox-journal.json"), b"{}"),
        level: QUICK,
        found: &[found(Kind::InterruptedTransfer, "group").key("group/.zarrox-journal.json")],
        mended: false,
    },
    Case {
        name: "a deletion that was interrupted",
        plant: |h| {
            fs::remove_file(h.file("raw/zarr.json")).unwrap();
            write(&h.file(".zarrox-unfinished-raw.json"), br#"{"format": "v3"}"#);
        },
        level: METADATA,
        found: &[found(Kind::UnfinishedWork, "raw").key(".zarrox-unfinished-raw.json")],
        mended: true,
    },
    Case {
        name: "a deletion that was interrupted before it had deleted anything",
        plant: |h| write(&h.file(".zarrox-unfinished-raw.json"), br#"{"format": "v3"}"#),
        level: METADATA,
        found: &[found(Kind::UnfinishedWork, "raw").key(".zarrox-unfinished-raw.json")],
        mended: true,
    },
    Case {
        name: "a mark of an unknown operation",
        plant: |h| write(&h.file(".zarrox-unfinished-raw.json"), b"{}"),
        level: METADATA,
        found: &[found(Kind::UnfinishedWork, "raw").key(".zarrox-unfinished-raw.json")],
        mended: false,
    },
    Case {
        name: "a node that a move has replaced",
        plant: |h| {
            fs::rename(h.file("raw"), h.file("plain.replaced0")).unwrap();
        },
        level: METADATA,
        found: &[found(Kind::ReplacedNode, "plain.replaced0")],
        mended: true,
    },
    Case {
        name: "a node that was set aside for an incomplete move",
        plant: |h| fs::rename(h.file("raw"), h.file("raw.replaced0")).unwrap(),
        level: METADATA,
        found: &[found(Kind::ReplacedNode, "raw.replaced0")],
        mended: true,
    },
    Case {
        name: "a temporary file whose writer has ended",
        plant: |h| temporary(h, "plain/c/0/.zarrox-1f-0.tmp"),
        level: QUICK,
        found: &[found(Kind::TemporaryFile, "").key("plain/c/0/.zarrox-1f-0.tmp")],
        mended: true,
    },
    Case {
        name: "files of another program",
        plant: |h| {
            write(&h.file("README.md"), b"read me");
            write(&h.file("plain/notes/a"), b"");
            write(&h.file("plain/notes/b"), b"");
        },
        level: QUICK,
        found: &[found(Kind::ForeignKeys, "plain"), found(Kind::ForeignKeys, "").key("README.md")],
        mended: false,
    },
    Case {
        name: "chunks of a larger shape",
        plant: |h| {
            fs::copy(h.file("plain/c/0/0"), h.file("plain/c/0/2")).unwrap();
            write(&h.file("plain/c/2/0"), &fs::read(h.file("plain/c/0/0")).unwrap());
        },
        level: QUICK,
        found: &[
            found(Kind::ChunkOutsideGrid, "plain").chunk([0, 2], "plain/c/0/2"),
            found(Kind::ChunkOutsideGrid, "plain").chunk([2, 0], "plain/c/2/0"),
        ],
        mended: true,
    },
    Case {
        name: "a chunk with the wrong separator",
        plant: |h| fs::rename(h.file("plain/c/1/0"), h.file("plain/c.1.0")).unwrap(),
        level: QUICK,
        found: &[found(Kind::WrongChunkKey, "plain").chunk([1, 0], "plain/c.1.0")],
        mended: false,
    },
    Case {
        name: "a chunk called as in another format",
        plant: |h| fs::rename(h.file("plain/c/1/0"), h.file("plain/1.0")).unwrap(),
        level: QUICK,
        found: &[found(Kind::WrongChunkKey, "plain").chunk([1, 0], "plain/1.0")],
        mended: false,
    },
    Case {
        name: "a chunk that is empty",
        plant: |h| edit(&h.file("group/packed/c/1/1"), Vec::clear),
        level: QUICK,
        found: &[found(Kind::EmptyChunk, "group/packed").chunk([1, 1], "group/packed/c/1/1")],
        mended: true,
    },
    Case {
        name: "a truncated uncompressed chunk",
        plant: |h| edit(&h.file("plain/c/0/1"), |bytes| bytes.truncate(20)),
        level: QUICK,
        found: &[found(Kind::WrongSize, "plain").chunk([0, 1], "plain/c/0/1")],
        mended: true,
    },
    Case {
        name: "an uncompressed chunk with bytes behind it",
        plant: |h| edit(&h.file("plain/c/0/1"), |bytes| bytes.push(0)),
        level: QUICK,
        found: &[found(Kind::WrongSize, "plain").chunk([0, 1], "plain/c/0/1")],
        mended: true,
    },
    Case {
        name: "a shard that is empty",
        plant: |h| edit(&h.file("raw/c/0/1"), Vec::clear),
        level: QUICK,
        found: &[found(Kind::EmptyChunk, "raw").chunk([0, 1], "raw/c/0/1")],
        mended: true,
    },
    Case {
        name: "a shard that is shorter than its index",
        plant: |h| edit(&h.file("raw/c/0/1"), |bytes| bytes.truncate(50)),
        level: QUICK,
        found: &[found(Kind::ShardIndex, "raw").chunk([0, 1], "raw/c/0/1")],
        mended: true,
    },
    Case {
        name: "a truncated shard",
        plant: |h| edit(&h.file("sharded/c/1/1"), |bytes| bytes.truncate(bytes.len() - 30)),
        level: QUICK,
        found: &[found(Kind::ShardIndex, "sharded").chunk([1, 1], "sharded/c/1/1")],
        mended: true,
    },
    Case {
        name: "an index whose checksum is wrong",
        plant: |h| edit(&h.file("sharded/c/0/0"), |bytes| *bytes.last_mut().unwrap() ^= 1),
        level: QUICK,
        found: &[found(Kind::ShardIndex, "sharded").chunk([0, 0], "sharded/c/0/0")],
        mended: true,
    },
    Case {
        name: "an entry that is torn",
        plant: |h| edit(&h.file("sharded/c/0/0"), |bytes| set_entry(bytes, 2, (3, 1 << 40))),
        level: QUICK,
        found: &[found(Kind::ShardIndex, "sharded").chunk([0, 0], "sharded/c/0/0")],
        mended: true,
    },
    Case {
        name: "an entry that leads out of the shard",
        plant: |h| edit(&h.file("raw/c/1/0"), |bytes| edit_entry(bytes, 1, (1 << 40, 16))),
        level: QUICK,
        found: &[found(Kind::ShardEntry, "raw").chunk([1, 0], "raw/c/1/0").inner([0, 1])],
        mended: true,
    },
    Case {
        name: "an entry with only one half marked as empty",
        plant: |h| edit(&h.file("raw/c/1/0"), |bytes| edit_entry(bytes, 3, (u64::MAX, 16))),
        level: QUICK,
        found: &[found(Kind::ShardEntry, "raw").chunk([1, 0], "raw/c/1/0").inner([1, 1])],
        mended: true,
    },
    Case {
        name: "entries that overlap",
        plant: |h| edit(&h.file("raw/c/1/0"), |bytes| edit_entry(bytes, 1, (8, 16))),
        level: QUICK,
        found: &[found(Kind::ShardOverlap, "raw").chunk([1, 0], "raw/c/1/0").inner([0, 1])],
        mended: true,
    },
    Case {
        name: "an entry that leads into the index",
        plant: |h| edit(&h.file("raw/c/1/0"), |bytes| edit_entry(bytes, 3, (60, 16))),
        level: QUICK,
        found: &[found(Kind::ShardOverlap, "raw").chunk([1, 0], "raw/c/1/0").inner([1, 1])],
        mended: true,
    },
    Case {
        name: "a compressed chunk with a flipped bit",
        plant: |h| edit(&h.file("group/packed/c/0/1"), |bytes| *bytes.last_mut().unwrap() ^= 8),
        level: FULL,
        found: &[found(Kind::CorruptChunk, "group/packed").chunk([0, 1], "group/packed/c/0/1")],
        mended: true,
    },
    Case {
        name: "a truncated compressed chunk",
        plant: |h| edit(&h.file("group/packed/c/0/1"), |bytes| bytes.truncate(bytes.len() - 3)),
        level: FULL,
        found: &[found(Kind::CorruptChunk, "group/packed").chunk([0, 1], "group/packed/c/0/1")],
        mended: true,
    },
    Case {
        name: "a chunk of zeros, as a crash of the system leaves it",
        plant: |h| edit(&h.file("group/packed/c/0/1"), |bytes| bytes.fill(0)),
        level: FULL,
        found: &[found(Kind::CorruptChunk, "group/packed").chunk([0, 1], "group/packed/c/0/1")],
        mended: true,
    },
    Case {
        name: "two inner chunks with flipped bits",
        plant: |h| {
            edit(&h.file("sums/c/1/0"), |bytes| {
                for cell in [1, 2] {
                    let at = usize::try_from(entry(bytes, cell).0).unwrap();
                    bytes[at] ^= 1;
                }
            });
        },
        level: FULL,
        found: &[
            found(Kind::CorruptInnerChunk, "sums").chunk([1, 0], "sums/c/1/0").inner([0, 1]),
            found(Kind::CorruptInnerChunk, "sums").chunk([1, 0], "sums/c/1/0").inner([1, 0]),
        ],
        mended: true,
    },
];

/// Returns the findings, in an order that is independent of the order of directory entries.
fn sorted(mut findings: Vec<zarrox_tools::check::Finding>) -> Vec<zarrox_tools::check::Finding> {
    findings.sort_by_key(|found| {
        (found.kind, found.path.clone(), found.chunk.clone(), found.inner_chunk.clone())
    });
    findings
}

fn compare(case: &Case, found: &[zarrox_tools::check::Finding]) {
    let name = case.name;
    let mut expected: Vec<&Expected> = case.found.iter().collect();
    expected.sort_by_key(|found| (found.kind, found.path, found.chunk, found.inner));
    let shown: Vec<String> = found.iter().map(ToString::to_string).collect();
    assert_eq!(found.len(), expected.len(), "{name}: {shown:#?}");
    for (found, expected) in found.iter().zip(expected) {
        assert_eq!((found.kind, found.path.as_str()), (expected.kind, expected.path), "{name}: {found}");
        assert_eq!(
            found.chunk.as_deref(),
            expected.chunk.as_ref().map(|chunk| &chunk[..]),
            "{name}: {found}"
        );
        assert_eq!(
            found.inner_chunk.as_deref(),
            expected.inner.as_ref().map(|cell| &cell[..]),
            "{name}: {found}"
        );
        if expected.key.is_some() {
            assert_eq!(found.key.as_deref(), expected.key, "{name}: {found}");
        }
        assert_eq!(found.remedy.is_possible(), case.mended, "{name}: {found}");
    }
}

#[test]
fn nothing_is_found_where_all_is_well() {
    let h = Hierarchy::new();
    assert_eq!(findings(&h.path, CheckLevel::Full), []);
    let array = findings(&h.file("group/packed"), CheckLevel::Full);
    assert_eq!(array, []);
}

#[test]
fn there_are_many_kinds_of_damage() {
    let kinds: std::collections::BTreeSet<_> =
        CASES.iter().flat_map(|case| case.found).map(|found| found.kind).collect();
    assert!(CASES.len() >= 25 && kinds.len() >= 20, "{} cases of {} kinds", CASES.len(), kinds.len());
}

#[test]
fn each_is_found_at_its_level_and_at_all_that_are_deeper() {
    for case in CASES {
        for level in [METADATA, QUICK, FULL] {
            let h = Hierarchy::new();
            (case.plant)(&h);
            let found = sorted(findings(&h.path, level));
            if level >= case.level {
                compare(case, &found);
            } else {
                assert_eq!(found, [], "{} at {level:?}", case.name);
            }
        }
    }
}

#[test]
fn each_is_mended_or_called_what_cannot_be_mended() {
    for case in CASES {
        for refill in [false, true] {
            let h = Hierarchy::new();
            (case.plant)(&h);
            let (before, files) = (elements(&h.path), super::files_below(&h.path));
            let found = sorted(repaired(&h.path, refill));
            assert_eq!(found.len(), case.found.len(), "{}: {found:#?}", case.name);
            let outcome = if case.mended { Outcome::Repaired } else { Outcome::Left };
            assert!(found.iter().all(|found| found.outcome == outcome), "{}: {found:#?}", case.name);
            // A node that was moved back has its original path again, so its elements have other keys than before.
            if !kinds(&found).contains(&Kind::ReplacedNode) {
                assert_kept(&before, &elements(&h.path), case.name);
            }
            if case.mended {
                assert_eq!(findings(&h.path, FULL), [], "{}", case.name);
                assert_nothing_lost(&files, &h, case.name);
            } else {
                assert_eq!(super::files_below(&h.path), files, "{}: nothing is written", case.name);
            }
        }
    }
}

/// Asserts that every file still exists with the same bytes, or is in the quarantine. Only documents and temporary files
/// may differ.
fn assert_nothing_lost(files: &std::collections::BTreeMap<String, Vec<u8>>, h: &Hierarchy, what: &str) {
    let (now, quarantined) = (super::files_below(&h.path), h.quarantined());
    for (key, bytes) in files {
        let is_written_anew =
            ["zarr.json", ".tmp", "unfinished-raw.json"].iter().any(|end| key.ends_with(end));
        let is_there = now.get(key) == Some(bytes) || quarantined.get(key) == Some(bytes);
        let has_moved = key.contains(".replaced0/") && now.contains_key(&key.replace(".replaced0/", "/"));
        assert!(is_there || is_written_anew || has_moved, "{what}: {key} is lost");
    }
}
