//! Random damage: a repair never makes a readable element unreadable, and never changes it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use zarrox::codecs::{Blosc, Bytes, Crc32c, Gzip, Sharding, Zstd};
use zarrox::prelude::*;
use zarrox_tools::check::{CheckLevel, Finding, Severity};

use super::{assert_kept, elements, files_below, findings, repaired};

/// The number of rounds for each kind of array.
const ROUNDS: u64 = 60;

/// A generator of pseudorandom numbers (SplitMix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() % (limit.max(1) as u64)).unwrap()
    }
}

/// Creates an array of a kind, given by its name.
fn create(path: &Path, kind: &str) {
    let root = zarrox::create_group(path).unwrap();
    let array = root.create_array("a").shape([8, 8]).data_type(DataType::Int32);
    let chunks = || array.clone().chunks([4, 4]);
    let shards = || array.clone().chunks([2, 2]).shards([4, 4]);
    let sums = || Sharding::new([2, 2], [Bytes::little().into(), Crc32c::default().into()]);
    let whole = || array.clone().chunks([8, 4]);
    let builder = match kind {
        "raw" => chunks().no_compressor(),
        "gzip" => chunks().compressor(Gzip::level(1)),
        "zstd" => chunks().compressor(Zstd::level(1)),
        "blosc" => chunks().compressor(Blosc::lz4()),
        "raw shards" => shards().no_compressor(),
        "zstd shards" => shards().compressor(Zstd::level(1)),
        "checked shards" => shards().compressor(Zstd::level(1).checksum(true)),
        "shards of sums" => whole().codecs([sums().into()]),
        "an index without a checksum" => {
            whole().codecs([sums().index_codecs([Bytes::little().into()]).into()])
        }
        "shards in shards" => whole().codecs([Sharding::new([4, 4], [sums().into()]).into()]),
        _ => whole().codecs([sums().into(), Zstd::level(1).into()]),
    };
    super::fill(builder);
}

const KINDS: [&str; 11] = [
    "raw",
    "gzip",
    "zstd",
    "blosc",
    "raw shards",
    "zstd shards",
    "checked shards",
    "shards of sums",
    "an index without a checksum",
    "shards in shards",
    "compressed shards",
];

/// Damages a file in one of many ways, and returns a description of the damage.
fn damage(random: &mut Random, file: &Path, others: &[PathBuf]) -> String {
    let mut bytes = fs::read(file).unwrap();
    let length = bytes.len();
    let tail = length.saturating_sub(68);
    let what = random.below(9);
    match what {
        0 if length > 0 => bytes[random.below(length)] ^= 1 << random.below(8),
        1 => bytes.truncate(random.below(length)),
        2 if length > 68 => {
            let (a, b) = (tail + random.below(68), tail + random.below(68));
            bytes.swap(a, b);
        }
        3 if length > 68 => bytes[tail + random.below(68)] ^= 1 << random.below(8),
        4 => {
            fs::remove_file(file).unwrap();
            return format!("{} is deleted", file.display());
        }
        5 => bytes.extend((0..=random.below(40)).map(|n| n.to_le_bytes()[0])),
        6 if length > 0 => {
            let from = random.below(length);
            let to = (from + random.below(64)).min(length);
            bytes[from..to].fill(0);
        }
        7 => bytes = fs::read(&others[random.below(others.len())]).unwrap_or_default(),
        8 if length > 0 => {
            for _ in 0..=random.below(8) {
                bytes[random.below(length)] = random.next().to_le_bytes()[0];
            }
        }
        _ => bytes.clear(),
    }
    fs::write(file, &bytes).unwrap();
    format!("{} in way {what}", file.display())
}

fn serious(findings: &[Finding]) -> Vec<String> {
    findings.iter().filter(|found| found.severity() > Severity::Note).map(ToString::to_string).collect()
}

fn round(kind: &str, seed: u64) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("h.zarr");
    create(&path, kind);
    let mut random = Random(seed);
    let chunks = || -> Vec<PathBuf> {
        files_below(&path)
            .into_keys()
            .filter(|key| key.starts_with("a/c/"))
            .map(|key| path.join(key))
            .collect()
    };
    let mut told = Vec::new();
    for _ in 0..=random.below(3) {
        let files = chunks();
        let Some(file) = files.get(random.below(files.len())) else { break };
        told.push(damage(&mut random, file, &files));
    }
    let what = format!("{kind}, seed {seed}: {}", told.join("; "));
    let (before, stored) = (elements(&path), files_below(&path));
    for refill in [seed.is_multiple_of(2)] {
        let found = repaired(&path, refill);
        let after: BTreeMap<_, _> = elements(&path);
        assert_kept(&before, &after, &what);
        assert_eq!(after.len(), 64, "{what}: every element can be read: {found:?}");
        assert_eq!(serious(&findings(&path, CheckLevel::Full)), Vec::<String>::new(), "{what}");
        let (now, kept) = (files_below(&path), files_below(&directory.path().join("h.zarr.quarantine")));
        for (key, bytes) in &stored {
            let is_there = now.get(key) == Some(bytes) || kept.values().any(|kept| kept == bytes);
            assert!(is_there, "{what}: {key} is lost");
        }
    }
}

#[test]
fn what_can_be_read_stays_as_it_is() {
    std::thread::scope(|scope| {
        for (nth, kind) in KINDS.into_iter().enumerate() {
            scope.spawn(move || (0..ROUNDS).for_each(|seed| round(kind, seed * 100 + nth as u64)));
        }
    });
}
