//! Arrays that are copied into other shards and chunks.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};

use ndarray::{ArrayD, IxDyn};
use zarrox::codecs::{IndexLocation, Sharding, Zstd};
use zarrox::{Array, prelude::*, s};
use zarrox::{ErrorKind, OpenOptions};
use zarrox_testkit::errors::assert_error;
use zarrox_tools::copy::{Action, Copier, Verify, Way};

fn numbered() -> ArrayD<i32> {
    ArrayD::from_shape_vec(IxDyn(&[45, 62]), (0..45 * 62).collect()).unwrap()
}

/// Returns a partly stored array in chunks of 5 × 8.
fn source(path: &Path, shards: Option<[u64; 2]>) -> Array {
    let array = zarrox::create_array(path).shape([45, 62]).data_type(DataType::Int32).chunks([5, 8]);
    let array = array.fill_value(-1).compressor(Zstd::level(1));
    let array = shards.into_iter().fold(array, zarrox::ArrayBuilder::shards).create().unwrap();
    array.write(s![..32, 11..], numbered().slice(ndarray::s![..32, 11..])).unwrap();
    array
}

/// Returns the encoded bytes of each chunk, inside or outside of shards.
fn encoded(array: &Array) -> Vec<(Vec<u64>, Vec<u8>)> {
    let mut all = Vec::new();
    let mut objects = Vec::new();
    array.raw().visit(&mut |chunk, _| objects.extend(chunk)).unwrap();
    for object in objects {
        let bytes = array.raw().read(&object).unwrap().unwrap();
        match array.raw().inner_chunks(&object).unwrap() {
            None => all.push((object, bytes.to_vec())),
            Some(inner) => {
                let stored = inner.into_iter().filter_map(|chunk| Some((chunk.index, chunk.place?)));
                all.extend(stored.map(|(index, (offset, length))| {
                    let range = usize::try_from(offset).unwrap()..usize::try_from(offset + length).unwrap();
                    (index, bytes[range].to_vec())
                }));
            }
        }
    }
    all.sort();
    all
}

#[test]
fn encoded_chunks_stay_as_they_are_in_whatever_shards() {
    let directory = tempfile::tempdir().unwrap();
    let place = |name: String| directory.path().join(name);
    let shapes = [None, Some([10, 16]), Some([5, 64]), Some([50, 8]), Some([100, 80])];
    for (a, from) in shapes.into_iter().enumerate() {
        let old = source(&place(format!("{a}")), from);
        for (b, to) in shapes.into_iter().enumerate().filter(|(b, _)| *b != a) {
            let target = place(format!("{a}to{b}"));
            let copier = Copier::new().verify(Verify::Values);
            let copier = match to {
                Some(to) => copier.shards(to),
                None => copier.no_shards(),
            };
            let report = copier.run(place(format!("{a}")), &target).unwrap();
            assert_eq!(report.nodes[0].action, Action::Reshard, "{from:?} {to:?}");
            let new = zarrox::open_array(&target).unwrap();
            assert_eq!(new.shard_shape(), to.as_ref().map(<[u64; 2]>::as_slice));
            assert_eq!(encoded(&new), encoded(&old), "{from:?} {to:?}");
            assert_eq!(new.read::<ArrayD<i32>>(..).unwrap(), old.read::<ArrayD<i32>>(..).unwrap());
        }
    }
}

#[test]
fn an_index_can_lie_before_the_chunks() {
    let directory = tempfile::tempdir().unwrap();
    let old = source(&directory.path().join("a"), Some([10, 16]));
    let codecs = vec![zarrox::codecs::Bytes::little().into(), Zstd::level(1).into()];
    let sharding = Sharding::new([5, 8], codecs).index_location(IndexLocation::Start);
    let new = zarrox::create_array(directory.path().join("b")).shape([45, 62]).data_type(DataType::Int32);
    let new = new.fill_value(-1).chunks([20, 32]).codecs([sharding.into()]).create().unwrap();
    new.write(.., old.read::<ArrayD<i32>>(..).unwrap()).unwrap();
    Copier::new().no_shards().run(directory.path().join("b"), directory.path().join("c")).unwrap();
    let plain = zarrox::open_array(directory.path().join("c")).unwrap();
    assert_eq!(encoded(&plain), encoded(&old));
}

#[test]
fn other_chunks_and_codecs_are_encoded_again_and_damage_is_an_error() {
    let directory = tempfile::tempdir().unwrap();
    let place = |name: &str| directory.path().join(name);
    source(&place("a"), Some([10, 16]));
    let action = |copier: Copier| {
        let plan = copier.plan(place("a"), place("b")).unwrap();
        plan.reports().next().unwrap().nodes[0].action
    };
    assert_eq!(action(Copier::new().no_shards()), Action::Reshard);
    assert_eq!(action(Copier::new().no_shards().compressor(Zstd::level(2))), Action::Reencode);
    assert_eq!(action(Copier::new().chunks([5, 4])), Action::Reencode);
    assert_eq!(action(Copier::new()), Action::CopyChunks);
    std::fs::write(place("a/c/1/1"), vec![0xff; 300]).unwrap();
    let error = Copier::new().no_shards().run(place("a"), place("b")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    assert_error(zarrox::open(place("b")), ErrorKind::NotFound, "a conversion");
}

/// Returns an array whose chunks are rows. All chunks are stored.
fn rows(path: &Path) -> Array {
    let array = zarrox::create_array(path).shape([512, 512]).data_type(DataType::Int32).chunks([1, 512]);
    let array = array.no_compressor().create().unwrap();
    let all = ArrayD::from_shape_vec(IxDyn(&[512, 512]), (0..512 * 512).collect()).unwrap();
    array.write(.., &all).unwrap();
    array
}

#[test]
fn plans_are_chosen_by_their_cost_and_carried_out() {
    let directory = tempfile::tempdir().unwrap();
    let place = |name: &str| directory.path().join(name);
    let rows = rows(&place("rows"));
    let expected = rows.read::<ArrayD<i32>>(..).unwrap();
    let columns = || Copier::new().chunks([512, 1]);
    let ways: [(&str, Copier, Way); 4] = [
        ("direct", Copier::new().chunks([8, 512]), Way::Direct),
        ("memory", columns().memory(1 << 19), Way::InMemory),
        ("scratch", columns().memory(1 << 18).scratch(place("between")), Way::Scratch),
        ("stored", Copier::new().shards([4, 512]), Way::Stored),
    ];
    for (name, copier, way) in ways {
        let plan = copier.plan(place("rows"), place(name)).unwrap().rechunks().unwrap().remove(0);
        assert_eq!((plan.way, plan.bytes), (way, 1 << 20), "{plan:?}");
        assert!(way != Way::Scratch || (plan.times_read - 1.0).abs() < 1e-9);
        copier.verify(Verify::Values).run(place("rows"), place(name)).unwrap();
        assert_eq!(
            zarrox::open_array(place(name)).unwrap().read::<ArrayD<i32>>(..).unwrap(),
            expected,
            "{name}"
        );
        assert!(!place("between").exists());
    }
    let group = zarrox::create_group(place("group")).unwrap();
    group.create_array("a").shape([4]).data_type(DataType::Int8).create().unwrap();
    let error = columns().scratch(place("x")).run(place("group"), place("y"));
    assert_error(error, ErrorKind::InvalidArgument, "do not match");
}

#[test]
fn an_array_changes_in_place_also_after_an_interruption() {
    let directory = tempfile::tempdir().unwrap();
    let place = |name: &str| -> PathBuf { directory.path().join(name) };
    let root = zarrox::create_group(place("h.zarr")).unwrap();
    rows(&place("h.zarr/rows"));
    let before = zarrox_tools::digest(&root.into()).unwrap();
    let digest = || zarrox_tools::digest(&zarrox::open(place("h.zarr")).unwrap()).unwrap();
    let columns = Copier::new().chunks([512, 4]);
    columns.run_in_place(place("h.zarr/rows")).unwrap();
    let chunks = || zarrox::open_array(place("h.zarr/rows")).unwrap().unit_shape();
    assert_eq!((chunks(), digest()), (vec![512, 4], before));
    // The copy is complete, but not yet exchanged with the source.
    Copier::new().chunks([64, 64]).run(place("h.zarr/rows"), place("h.zarr/rows.rechunked")).unwrap();
    Copier::new().chunks([64, 64]).run_in_place(place("h.zarr/rows")).unwrap();
    assert_eq!((chunks(), digest()), (vec![64, 64], before));
    // The source was removed, and the copy was not moved to its path yet.
    OpenOptions::new().move_node(place("h.zarr/rows"), place("h.zarr/rows.rechunked")).unwrap();
    assert!(Copier::new().chunks([64, 64]).run_in_place(place("h.zarr/rows")).unwrap().is_none());
    assert_eq!(digest(), before);
    // A whole hierarchy is rechunked.
    Copier::new().chunks([128, 128]).run_in_place(place("h.zarr")).unwrap();
    assert_eq!((chunks(), digest()), (vec![128, 128], before));
    assert!(!place("h.zarr.rechunked").exists());
}
