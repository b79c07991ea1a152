//! Shards with damaged indexes: inner chunks that are recovered, and inner chunks that are reported as lost.

use std::collections::BTreeMap;

use zarrox::codecs::{Bytes, Crc32c, Sharding, Zstd};
use zarrox::prelude::*;
use zarrox_tools::check::{Check, CheckLevel, FindingKind as Kind, Remedy, Repair};

use super::{Hierarchy, edit, elements, entry, findings, kinds, repaired, run, set_entry};

const REPAIR: Repair = Repair { dry_run: false, refill: false };

/// The elements of all arrays, by array and position.
type Elements = BTreeMap<(String, Vec<u64>), i32>;

/// Damages one shard of an array, and repairs it. Returns the remedy, the elements after the repair, and the elements
/// before the damage.
fn mended(array: &str, damage: impl Fn(&mut Vec<u8>)) -> (Remedy, Elements, Elements) {
    let h = Hierarchy::new();
    let before = elements(&h.path);
    edit(&h.file(&format!("{array}/c/0/0")), damage);
    let found = repaired(&h.path, false);
    assert_eq!(kinds(&found), [Kind::ShardIndex], "{found:?}");
    assert_eq!(findings(&h.path, CheckLevel::Full), []);
    (found[0].remedy.clone(), before, elements(&h.path))
}

#[test]
fn a_damaged_entry_is_found_again_where_one_place_is_left() {
    for array in ["sharded", "raw", "sums"] {
        for bad in [(0, 1), (1 << 40, 16), (u64::MAX, 3), (4, 16), (16, 16)] {
            for cell in 0..4 {
                let damage = |bytes: &mut Vec<u8>| {
                    if entry(bytes, cell) != bad {
                        set_entry(bytes, cell, bad);
                    } else {
                        set_entry(bytes, cell, (0, 0));
                    }
                };
                let (remedy, before, after) = mended(array, damage);
                let Remedy::Rebuild { kept: 4, lost: 0, .. } = remedy else {
                    panic!("{array}, entry {cell} as {bad:?}: {remedy:?}")
                };
                assert_eq!(before, after, "{array}, entry {cell} as {bad:?}");
            }
        }
    }
}

#[test]
fn a_damaged_checksum_of_the_index_loses_nothing() {
    for array in ["sharded", "raw", "sums"] {
        let (remedy, before, after) = mended(array, |bytes| *bytes.last_mut().unwrap() ^= 0x80);
        assert!(matches!(remedy, Remedy::Rebuild { kept: 4, found: 4, lost: 0 }), "{array}: {remedy:?}");
        assert_eq!(before, after, "{array}");
    }
}

#[test]
fn raw_chunks_whose_places_are_anyones_guess_are_not_guessed() {
    // Two entries are lost, and the order of the inner chunks is unknown: their bytes cannot be assigned.
    let (remedy, before, after) = mended("raw", |bytes| {
        let (first, last) = (entry(bytes, 0), entry(bytes, 3));
        set_entry(bytes, 0, last);
        set_entry(bytes, 3, first);
        set_entry(bytes, 1, (1 << 40, 16));
        set_entry(bytes, 2, (1 << 41, 16));
    });
    assert_eq!(remedy, Remedy::Quarantine);
    let lost: Vec<_> = before.keys().filter(|place| before.get(place) != after.get(place)).collect();
    assert!(lost.iter().all(|(name, place)| name == "raw" && place[0] < 4 && place[1] < 4), "{lost:?}");
    assert_eq!(lost.len(), 16, "the whole shard, and no more");
}

/// The entries of the index determine the bytes of each inner chunk, and only the checksum shows whether they are right.
#[test]
fn entries_that_fit_and_are_not_proven_are_not_believed() {
    let first_wrong = |bytes: &mut Vec<u8>| *bytes.last_mut().unwrap() ^= 1;
    type Damage<'a> = (&'a str, &'a dyn Fn(&mut Vec<u8>, usize, usize));
    let damages: [Damage<'_>; 4] = [
        ("swapped", &|bytes, i, j| {
            let (a, b) = (entry(bytes, i), entry(bytes, j));
            set_entry(bytes, i, b);
            set_entry(bytes, j, a);
        }),
        ("doubled", &|bytes, i, j| {
            let other = entry(bytes, j);
            set_entry(bytes, i, other);
        }),
        ("emptied", &|bytes, i, _| set_entry(bytes, i, (u64::MAX, u64::MAX))),
        ("rotated", &|bytes, i, j| {
            let other = (0..4).find(|cell| ![i, j].contains(cell)).unwrap();
            let (a, b, c) = (entry(bytes, i), entry(bytes, j), entry(bytes, other));
            set_entry(bytes, i, b);
            set_entry(bytes, j, c);
            set_entry(bytes, other, a);
        }),
    ];
    for array in ["sharded", "raw", "sums"] {
        for (name, damage) in &damages {
            for (i, j) in [(0, 1), (1, 0), (0, 3), (2, 3), (1, 2)] {
                let (remedy, before, after) = mended(array, |bytes| {
                    damage(bytes, i, j);
                    first_wrong(bytes);
                });
                for (place, value) in &before {
                    let now = after[place];
                    assert!(
                        now == *value || now == 0,
                        "{array}, {name} {i} {j}: {place:?} is {now} after {remedy:?}"
                    );
                }
                assert_eq!(remedy, Remedy::Quarantine, "{array}, {name} {i} {j}");
            }
        }
    }
}

#[test]
fn every_wrong_bit_of_an_index_is_found() {
    let h = Hierarchy::new();
    for array in ["sharded", "raw", "sums"] {
        let file = h.file(&format!("{array}/c/0/0"));
        let whole = std::fs::read(&file).unwrap();
        let index = whole.len() - 4 - 4 * 16;
        for bit in 0..(4 * 16 + 4) * 8 {
            edit(&file, |bytes| bytes[index + bit / 8] ^= 1 << (bit % 8));
            let found = run(&Check::open(h.file(array)).unwrap().level(CheckLevel::Quick).repair(REPAIR)).1;
            assert!(
                matches!(found[0].remedy, Remedy::Rebuild { kept: 4, lost: 0, .. }),
                "{array}, {bit}: {found:?}"
            );
            assert_eq!(std::fs::read(&file).unwrap(), whole, "{array}, bit {bit}");
            std::fs::remove_dir_all(h.path.with_file_name("h.zarr.quarantine")).unwrap();
        }
    }
}

/// An index without a checksum proves nothing: inner chunks without an entry are lost, and inner chunks with an entry are
/// kept.
#[test]
fn without_a_checksum_of_the_index_nothing_is_found_again() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("h.zarr");
    let root = zarrox::create_group(&path).unwrap();
    let sharding = Sharding::new([2, 2], [Bytes::little().into(), Crc32c::default().into()]);
    let sharding = sharding.index_codecs([Bytes::little().into()]);
    let builder = root.create_array("a").shape([4, 4]).chunks([4, 4]).data_type(DataType::Int32);
    super::fill(builder.codecs([sharding.into()]));
    let before = elements(&path);
    edit(&path.join("a/c/0/0"), |bytes| {
        let at = bytes.len() - 4 * 16;
        bytes[at..at + 16].fill(0x3f);
    });
    let found = repaired(&path, false);
    assert!(matches!(found[0].remedy, Remedy::Rebuild { kept: 3, found: 0, lost: 1 }), "{found:?}");
    let after = elements(&path);
    let lost: Vec<_> = before.iter().filter(|(place, value)| after.get(*place) != Some(value)).collect();
    assert_eq!(lost.len(), 4, "{lost:?}");
    assert!(lost.iter().all(|(place, _)| after[*place] == 0));
}

#[test]
fn checked_chunks_survive_an_index_of_which_half_is_lost() {
    let (remedy, before, after) = mended("sums", |bytes| {
        set_entry(bytes, 1, (0, 0));
        set_entry(bytes, 3, (7, 7));
    });
    // There is one gap between entries 0 and 2, and one after entry 2.
    assert!(matches!(remedy, Remedy::Rebuild { kept: 4, lost: 0, .. }), "{remedy:?}");
    assert_eq!(before, after);
}

#[test]
fn damage_in_a_shard_within_a_shard_costs_one_chunk() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("h.zarr");
    let root = zarrox::create_group(&path).unwrap();
    let codecs = [Bytes::little().into(), Crc32c::default().into()];
    let inner = Sharding::new([1, 2], codecs);
    let outer = Sharding::new([2, 4], [inner.into()]);
    let builder = root.create_array("nested").shape([4, 8]).chunks([4, 8]).data_type(DataType::Int32);
    super::fill(builder.codecs([outer.into()]));
    let before = elements(&path);
    // The first byte is an element of the first chunk.
    edit(&path.join("nested/c/0/0"), |bytes| bytes[0] ^= 1);
    let found = repaired(&path, false);
    assert_eq!(kinds(&found), [Kind::CorruptInnerChunk]);
    assert_eq!(found[0].inner_chunk, Some(vec![0, 0]));
    let after = elements(&path);
    let lost: Vec<_> = before
        .iter()
        .filter(|(place, value)| after.get(place) != Some(value))
        .map(|(place, _)| &place.1)
        .collect();
    assert_eq!(lost, [&vec![0, 0], &vec![0, 1]]);
    assert_eq!(findings(&path, CheckLevel::Full), []);
}

#[test]
fn codecs_around_a_shard_are_undone_for_its_repair() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("h.zarr");
    let root = zarrox::create_group(&path).unwrap();
    let sharding = Sharding::new([2, 2], [Bytes::little().into(), Crc32c::default().into()]);
    let builder = root.create_array("wrapped").shape([4, 4]).chunks([4, 4]).data_type(DataType::Int32);
    let array = super::fill(builder.codecs([sharding.clone().into(), Zstd::level(1).into()]));
    let before = elements(&path);
    // An inner chunk is damaged, and then the shard is compressed again.
    let plain = root.create_array("plain").shape([4, 4]).chunks([4, 4]).data_type(DataType::Int32);
    let plain = super::fill(plain.codecs([sharding.into()]));
    let mut bytes = plain.raw().read(&[0, 0]).unwrap().unwrap().to_vec();
    root.delete("plain").unwrap();
    bytes[0] ^= 1;
    array.raw().write(&[0, 0], &zstd::encode_all(&bytes[..], 1).unwrap()).unwrap();
    let found = repaired(&path, false);
    assert_eq!(kinds(&found), [Kind::CorruptChunk]);
    assert!(found[0].message.contains("inner chunk [0, 0]"), "{}", found[0]);
    let after = elements(&path);
    let lost = before.iter().filter(|(place, value)| after.get(*place) != Some(value)).count();
    assert_eq!(lost, 4, "one inner chunk");
    assert_eq!(findings(&path, CheckLevel::Full), []);
}

#[test]
fn inner_chunks_that_share_all_their_bytes_are_no_damage() {
    let h = Hierarchy::new();
    edit(&h.file("sums/c/0/0"), |bytes| {
        let first = entry(bytes, 0);
        super::edit_entry(bytes, 2, first);
    });
    assert_eq!(zarrox_tools::check(&h.path).unwrap(), []);
}

/// Entries that all refer to the same large range would cause much work for a few bytes.
#[test]
fn an_index_that_multiplies_bytes_is_checked_in_no_time() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.zarr");
    let array = zarrox::create_array(&path).shape([1 << 20]).chunks([64]).shards([1 << 20]);
    let array = array.data_type(DataType::UInt8).compressor(Zstd::level(1)).create().unwrap();
    let count = 1_u64 << 14;
    let mut shard = vec![0; 40_000];
    let index: Vec<u8> = (0..count).flat_map(|n| [n, 30_000].map(u64::to_le_bytes).concat()).collect();
    shard.extend_from_slice(&index);
    shard.extend(super::crc32c(&index).to_le_bytes());
    array.raw().write(&[0], &shard).unwrap();
    let begun = std::time::Instant::now();
    let (_, found) = super::run(&Check::open(&path).unwrap());
    assert!(found.len() > 1000 && found.iter().all(|found| found.chunk == Some(vec![0])));
    assert!(begun.elapsed().as_secs() < 20, "{:?}", begun.elapsed());
}
