//! Checks and repairs: damage of every kind is planted, found, and either repaired or reported as irreparable.

#![expect(clippy::unwrap_used, reason = "a test stops at the first failure")]

mod documents;
mod killed;
mod levels;
mod planted;
mod races;
mod random;
mod repairs;
mod shards;
mod stores;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use zarrox::codecs::{Bytes, Crc32c, Sharding, Zstd};
use zarrox::{Array, prelude::*, s};
use zarrox_tools::check::{Check, CheckLevel, CheckSummary, Finding, FindingKind, Repair};

/// A hierarchy of Zarr v3 with arrays of every kind, full of values, in a temporary directory.
struct Hierarchy {
    /// The temporary directory, which is deleted at the end.
    _directory: TempDir,
    path: PathBuf,
}

impl Hierarchy {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("h.zarr");
        let root = zarrox::create_group(&path).unwrap();
        let packed = || Zstd::level(1).checksum(true);
        let small =
            |name: &str| root.create_array(name).shape([4, 6]).chunks([2, 3]).data_type(DataType::Int32);
        fill(small("plain").no_compressor());
        fill(small("group/packed").compressor(packed()));
        let large = |name: &str| {
            root.create_array(name).shape([8, 8]).chunks([2, 2]).shards([4, 4]).data_type(DataType::Int32)
        };
        fill(large("sharded").compressor(packed()));
        fill(large("raw").no_compressor());
        let sums = Sharding::new([2, 2], [Bytes::little().into(), Crc32c::default().into()]);
        let builder = root.create_array("sums").shape([8, 8]).chunks([4, 4]).data_type(DataType::Int32);
        fill(builder.codecs([sums.into()]));
        Self { _directory: directory, path }
    }

    /// Returns a file of the hierarchy.
    fn file(&self, key: &str) -> PathBuf {
        self.path.join(key)
    }

    /// Returns the quarantine's files, by their keys.
    fn quarantined(&self) -> BTreeMap<String, Vec<u8>> {
        files_below(&self.path.with_file_name("h.zarr.quarantine"))
    }
}

/// Creates an array, and fills it with numbers that differ and are never the fill value.
fn fill(builder: zarrox::ArrayBuilder) -> Array {
    let array = builder.create().unwrap();
    let shape: Vec<usize> = array.shape().iter().map(|&n| usize::try_from(n).unwrap()).collect();
    let count = i32::try_from(shape.iter().product::<usize>()).unwrap();
    let values = ndarray::ArrayD::from_shape_vec(shape, (1..=count).collect()).unwrap();
    array.write(.., &values).unwrap();
    array
}

/// Returns all files below a directory, by their relative paths.
fn files_below(directory: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut directories = vec![directory.to_owned()];
    while let Some(next) = directories.pop() {
        for entry in fs::read_dir(next).into_iter().flatten().map(Result::unwrap) {
            if entry.file_type().unwrap().is_dir() {
                directories.push(entry.path());
            } else {
                let name = entry.path().strip_prefix(directory).unwrap().to_str().unwrap().to_owned();
                files.insert(name, fs::read(entry.path()).unwrap());
            }
        }
    }
    files
}

/// Changes the bytes of a file.
fn edit(file: &Path, change: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = fs::read(file).unwrap();
    change(&mut bytes);
    fs::write(file, bytes).unwrap();
}

fn run(check: &Check) -> (CheckSummary, Vec<Finding>) {
    let mut findings = Vec::new();
    let summary = check.run(|finding| {
        findings.push(finding);
        Ok(())
    });
    (summary.unwrap(), findings)
}

fn findings(path: &Path, level: CheckLevel) -> Vec<Finding> {
    run(&Check::open(path).unwrap().level(level)).1
}

fn repaired(path: &Path, refill: bool) -> Vec<Finding> {
    run(&Check::open(path).unwrap().repair(Repair { dry_run: false, refill })).1
}

fn kinds(findings: &[Finding]) -> Vec<FindingKind> {
    findings.iter().map(|finding| finding.kind).collect()
}

/// Returns all elements that can be read individually, by their array and position.
fn elements(path: &Path) -> BTreeMap<(String, Vec<u64>), i32> {
    let mut elements = BTreeMap::new();
    let Ok(Node::Group(root)) = zarrox::open(path) else { return elements };
    let mut visit = |name: &str, node: &zarrox::Result<Node>| {
        if let Ok(Node::Array(array)) = node {
            for row in 0..array.shape()[0] {
                for column in 0..array.shape()[1] {
                    if let Ok(element) = array.read::<ArrayD<i32>>(s![row, column]) {
                        elements.insert((name.to_owned(), vec![row, column]), *element.first().unwrap());
                    }
                }
            }
        }
        Ok(())
    };
    root.visit(&mut visit).unwrap();
    elements
}

/// Asserts that all elements that could be read before have the same values now.
fn assert_kept(
    before: &BTreeMap<(String, Vec<u64>), i32>,
    after: &BTreeMap<(String, Vec<u64>), i32>,
    what: &str,
) {
    for (place, value) in before {
        assert_eq!(after.get(place), Some(value), "{what}: {place:?} was readable before the repair");
    }
}

/// Computes the checksum bit by bit from its definition, independently of the codec.
fn crc32c(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |crc, &byte| {
        (0..8).fold(crc ^ u32::from(byte), |crc, _| (crc >> 1) ^ (0x82f6_3b78 & (crc & 1).wrapping_neg()))
    })
}

/// Changes the entry of an inner chunk in the index at the end of a shard of four inner chunks; the checksum is updated.
fn edit_entry(shard: &mut [u8], cell: usize, entry: (u64, u64)) {
    set_entry(shard, cell, entry);
    let index = shard.len() - 4 - 4 * 16;
    let checksum = crc32c(&shard[index..index + 64]);
    shard[index + 64..].copy_from_slice(&checksum.to_le_bytes());
}

/// Changes the entry of an inner chunk without updating the checksum.
fn set_entry(shard: &mut [u8], cell: usize, (offset, length): (u64, u64)) {
    let at = shard.len() - 4 - 4 * 16 + cell * 16;
    shard[at..at + 8].copy_from_slice(&offset.to_le_bytes());
    shard[at + 8..at + 16].copy_from_slice(&length.to_le_bytes());
}

/// Returns the entry of an inner chunk.
fn entry(shard: &[u8], cell: usize) -> (u64, u64) {
    let at = shard.len() - 4 - 4 * 16 + cell * 16;
    let number = |at: usize| u64::from_le_bytes(shard[at..at + 8].try_into().unwrap());
    (number(at), number(at + 8))
}
