//! Copies between stores, formats and chunks.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use ndarray::{ArrayD, IxDyn};
use zarrox::codecs::{Gzip, Zstd};
use zarrox::data_type::Casting;
use zarrox::json::json;
use zarrox::stores::{Key, MemoryStore, Store, StoreExt};
use zarrox::{AccessOptions, ChunkShape, Error, ErrorKind, Interrupt, OpenOptions};
use zarrox::{prelude::*, s};
use zarrox_testkit::errors::assert_error;
use zarrox_tools::copy::{Action, Copier, IfExists, JOURNAL, Verify};

/// Returns an array in which each element is its own index.
fn numbered(shape: &[u64]) -> ArrayD<i32> {
    let shape: Vec<usize> = shape.iter().map(|&length| usize::try_from(length).unwrap()).collect();
    let count = i32::try_from(shape.iter().product::<usize>()).unwrap();
    ArrayD::from_shape_vec(IxDyn(&shape), (0..count).collect()).unwrap()
}

/// Returns a group with attributes, an array with plain chunks, and in a group below, an array with shards.
fn sample(path: &Path) -> Group {
    let mut root = zarrox::create_group(path).unwrap();
    root.update_attributes(|map| drop(map.insert("title".to_owned(), json!("sea")))).unwrap();
    let depth = root.create_array("depth").shape([40, 30]).data_type(DataType::Int32).chunks([7, 10]);
    let depth = depth.fill_value(-1).dimension_names(["y", "x"]).create().unwrap();
    depth.write(s![..28, ..], numbered(&[28, 30])).unwrap();
    let wind = root.create_array("winds/u").shape([16, 16]).data_type(DataType::Int32).chunks([4, 4]);
    let wind = wind.shards([8, 16]).compressor(Zstd::level(1)).create().unwrap();
    wind.write(.., numbered(&[16, 16])).unwrap();
    root
}

/// Returns all keys and values.
fn stored(path: &Path) -> Vec<(String, Vec<u8>)> {
    let (store, _) = zarrox::internals::locate(path, &zarrox::stores::StorageOptions::new()).unwrap();
    all_of(&*store)
}

fn all_of(store: &dyn Store) -> Vec<(String, Vec<u8>)> {
    let mut all = Vec::new();
    let root = zarrox::stores::Prefix::root();
    store
        .list_prefix(&root, &mut |key, _| {
            let value = store.get(&key).unwrap().unwrap().to_vec();
            all.push((key.to_string(), value));
            std::ops::ControlFlow::Continue(())
        })
        .unwrap();
    all.sort();
    all
}

#[test]
fn what_both_sides_say_alike_is_stored_alike() {
    let directory = tempfile::tempdir().unwrap();
    let place = |name: &str| directory.path().join(name);
    sample(&place("sea.zarr"));
    let report = Copier::new().verify(Verify::Everything).run(place("sea.zarr"), place("copy.zarr")).unwrap();
    assert!(report.nodes.iter().filter(|node| node.is_array).all(|node| node.action == Action::CopyChunks));
    assert_eq!(stored(&place("sea.zarr")), stored(&place("copy.zarr")));
    let memory: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let (sea, _) =
        zarrox::internals::locate(place("sea.zarr"), &zarrox::stores::StorageOptions::new()).unwrap();
    Copier::new().plan((sea, ""), (Arc::clone(&memory), "")).unwrap().run().unwrap();
    assert_eq!(all_of(&*memory), stored(&place("sea.zarr")));
    let error = zarrox_tools::copy(place("sea.zarr"), place("copy.zarr")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::AlreadyExists);
    assert_error(
        zarrox_tools::copy(place("sea.zarr"), place("sea.zarr/inside")),
        ErrorKind::InvalidArgument,
        "destination",
    );
}

#[test]
fn chunks_shards_codecs_types_and_parts_can_differ() {
    let directory = tempfile::tempdir().unwrap();
    let place = |name: &str| directory.path().join(name);
    sample(&place("sea.zarr"));
    type Change = fn(Copier) -> Copier;
    let changes: [Change; 8] = [
        |copier| copier.chunks([40, 1]),
        |copier| copier.chunks([4, 2]).shards([8, 4]),
        |copier| copier.chunks(ChunkShape::One).no_compressor(),
        |copier| copier.no_shards().compressor(Gzip::level(3)),
        |copier| copier.data_type(DataType::Float64, Casting::Exact),
        |copier| copier.codecs([zarrox::codecs::Bytes::big().into()]),
        |copier| copier.format(Format::V2).lossy(true),
        |copier| copier.format(Format::N5).lossy(true).memory(1),
    ];
    for (number, change) in changes.into_iter().enumerate() {
        let target = place(&format!("copy{number}.zarr"));
        let copier = change(Copier::new().verify(Verify::Values));
        let report = copier.run(place("sea.zarr"), &target).unwrap();
        for name in ["depth", "winds/u"] {
            let (old, new) = (place("sea.zarr").join(name), target.join(name));
            let (old, new) = (zarrox::open_array(old).unwrap(), zarrox::open_array(new).unwrap());
            let expected = old.read::<DynArray>(..).unwrap();
            let registry = zarrox::codecs::registry();
            let found =
                new.read::<DynArray>(..).unwrap().cast(old.data_type(), Casting::Exact, &registry).unwrap();
            assert_eq!(found.as_bytes(), expected.as_bytes(), "{number} {name}");
            assert_eq!(report.nodes.len(), 4);
        }
    }
    let array = zarrox::open_array(place("copy1.zarr/depth")).unwrap();
    assert_eq!((array.unit_shape(), array.shard_shape()), (vec![4, 2], Some(&[8, 4][..])));
    assert_eq!(zarrox::open_array(place("copy0.zarr/winds/u")).unwrap().shard_shape(), None);
}

#[test]
fn parts_are_copied_with_the_names_and_chunks_of_their_dimensions() {
    let directory = tempfile::tempdir().unwrap();
    let place = |name: &str| directory.path().join(name);
    sample(&place("sea.zarr"));
    let depth = zarrox::open_array(place("sea.zarr/depth")).unwrap();
    for (name, part) in [
        ("rows", s![3..20;5, ..]),
        ("column", s![.., 7]),
        ("backwards", s![..;-1, 2..4]),
        ("nothing", s![4..4, ..]),
    ] {
        Copier::new().select(part.clone()).run(place("sea.zarr/depth"), place(name)).unwrap();
        let copy = zarrox::open_array(place(name)).unwrap();
        assert_eq!(copy.read::<ArrayD<i32>>(..).unwrap(), depth.read::<ArrayD<i32>>(part).unwrap(), "{name}");
    }
    let column = zarrox::open_array(place("column")).unwrap();
    assert_eq!(column.dimension_names(), Some(&[Some("y".to_owned())][..]));
    assert_eq!(column.unit_shape(), [7]);
    let wind = Copier::new().select(s![1..5, ..;3]);
    wind.run(place("sea.zarr/winds/u"), place("wind")).unwrap();
    let wind = zarrox::open_array(place("wind")).unwrap();
    assert_eq!((wind.unit_shape(), wind.shard_shape()), (vec![4, 4], Some(&[4, 8][..])));
    let error = Copier::new().select(s![0]).run(place("sea.zarr"), place("group")).unwrap_err();
    assert!(error.to_string().contains("name an array"), "{error}");
    assert_error(
        Copier::new().select(s![99]).run(place("sea.zarr/depth"), place("far")),
        ErrorKind::InvalidSelection,
        "axis 0",
    );
    assert!(!place("far").exists());
}

#[test]
fn only_chosen_nodes_are_copied() {
    let directory = tempfile::tempdir().unwrap();
    let place = |name: &str| directory.path().join(name);
    sample(&place("sea.zarr"));
    let names = |copier: Copier, name: &str| {
        copier.run(place("sea.zarr"), place(name)).unwrap();
        let mut names = Vec::new();
        let visit = &mut |path: &str, _: &zarrox::Result<Node>| {
            names.push(path.to_owned());
            Ok(())
        };
        zarrox::open_group(place(name)).unwrap().visit(visit).unwrap();
        names.sort();
        names
    };
    assert_eq!(names(Copier::new().include("u"), "a"), ["winds", "winds/u"]);
    assert_eq!(names(Copier::new().include("depth"), "b"), ["depth"]);
    assert_eq!(names(Copier::new().exclude("winds"), "c"), ["depth"]);
    for copier in [Copier::new().include("wind["), Copier::new().exclude("wind[")] {
        let copied = copier.run(place("sea.zarr"), place("d"));
        assert_error(copied, ErrorKind::InvalidArgument, "the pattern 'wind[': a bracket is not closed");
        let converted = copier.format(Format::V2).plan_in_place(place("sea.zarr"));
        assert_error(converted, ErrorKind::InvalidArgument, "the pattern 'wind[': a bracket is not closed");
    }
    assert!(!place("d").exists());
}

#[test]
fn a_raised_interrupt_cancels_a_copy_of_encoded_chunks_which_can_be_continued() {
    let directory = tempfile::tempdir().unwrap();
    let place = |name: &str| directory.path().join(name);
    sample(&place("sea.zarr"));
    let interrupt = Interrupt::new();
    interrupt.raise();
    let error = Copier::new().interrupt(&interrupt).run(place("sea.zarr"), place("a")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Interrupted, "{error}");
    let access = AccessOptions::new().interrupt(&interrupt);
    let copier = Copier::new().open_options(OpenOptions::new().access(&access));
    assert_eq!(copier.run(place("sea.zarr"), place("b")).unwrap_err().kind(), ErrorKind::Interrupted);
    Copier::new().run(place("sea.zarr"), place("a")).unwrap();
    let [source, copy] = ["sea.zarr", "a"].map(|name| zarrox::open(place(name)).unwrap());
    assert_eq!(zarrox_tools::diff(&source, &copy).unwrap(), []);
}

#[test]
fn an_update_copies_what_differs_and_a_skip_what_is_missing() {
    let directory = tempfile::tempdir().unwrap();
    let place = |name: &str| directory.path().join(name);
    let mut root = sample(&place("sea.zarr"));
    zarrox_tools::copy(place("sea.zarr"), place("copy.zarr")).unwrap();
    let update = |if_exists| Copier::new().if_exists(if_exists).run(place("sea.zarr"), place("copy.zarr"));
    update(IfExists::Update).unwrap();
    assert_eq!(stored(&place("sea.zarr")), stored(&place("copy.zarr")));
    let depth = zarrox::open_array(place("sea.zarr/depth")).unwrap();
    depth.write(s![3, 3], 99).unwrap();
    depth.raw().erase(&[1, 0]).unwrap();
    root.create_array("new/deep")
        .shape([3])
        .data_type(DataType::Int8)
        .create()
        .unwrap()
        .write(.., 1_i8)
        .unwrap();
    root.update_attributes(|map| drop(map.insert("title".to_owned(), json!("lake")))).unwrap();
    update(IfExists::Skip).unwrap();
    let copy = zarrox::open_group(place("copy.zarr")).unwrap();
    assert!(copy.contains("new/deep").unwrap());
    assert_eq!(copy.attributes()["title"], json!("sea"));
    let report = update(IfExists::Update).unwrap();
    assert_eq!(report.nodes.iter().find(|node| node.path == "/depth").unwrap().action, Action::Update);
    assert_eq!(stored(&place("sea.zarr")), stored(&place("copy.zarr")));
    // An array of another type replaces the existing one.
    OpenOptions::new().delete(place("sea.zarr/depth")).unwrap();
    root.create_array("depth")
        .shape([5])
        .data_type(DataType::Int8)
        .create()
        .unwrap()
        .write(.., 2_i8)
        .unwrap();
    update(IfExists::Update).unwrap();
    assert_eq!(stored(&place("sea.zarr")), stored(&place("copy.zarr")));
    zarrox::open_array(place("copy.zarr/winds/u")).unwrap().write(.., 3).unwrap();
    update(IfExists::Replace).unwrap();
    assert_eq!(stored(&place("sea.zarr")), stored(&place("copy.zarr")));
}

#[test]
fn what_was_interrupted_is_no_node_and_is_continued() {
    let directory = tempfile::tempdir().unwrap();
    let place = |name: &str| directory.path().join(name);
    sample(&place("sea.zarr"));
    type Change = fn(Copier) -> Copier;
    let changes: [Change; 3] =
        [|copier| copier, |copier| copier.chunks([4, 4]), |copier| copier.if_exists(IfExists::Update)];
    for change in changes {
        for steps in [0, 1] {
            let told = Arc::new(AtomicUsize::new(0));
            let stopping = change(Copier::new()).on_progress(move |_| {
                let stop = || Error::new(ErrorKind::Interrupted, "enough");
                if told.fetch_add(1, Ordering::Relaxed) == steps { Err(stop()) } else { Ok(()) }
            });
            let error = stopping.run(place("sea.zarr"), place("copy.zarr")).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Interrupted);
            assert!(place("copy.zarr").join(JOURNAL).exists());
            assert_eq!(zarrox::open(place("copy.zarr")).unwrap_err().kind(), ErrorKind::NotFound);
            change(Copier::new()).run(place("sea.zarr"), place("copy.zarr")).unwrap();
            let digest = |name| zarrox_tools::digest(&zarrox::open(place(name)).unwrap()).unwrap();
            assert_eq!(digest("sea.zarr"), digest("copy.zarr"));
            assert!(!place("copy.zarr").join(JOURNAL).exists());
            OpenOptions::new().delete(place("copy.zarr")).unwrap();
        }
    }
}

#[test]
fn an_update_keeps_the_format_of_the_copy() {
    let directory = tempfile::tempdir().unwrap();
    let place = |name: &str| directory.path().join(name);
    sample(&place("sea.zarr"));
    Copier::new().format(Format::V2).run(place("sea.zarr"), place("copy.zarr")).unwrap();
    let before = stored(&place("copy.zarr"));
    for if_exists in [IfExists::Skip, IfExists::Update] {
        Copier::new().if_exists(if_exists).run(place("sea.zarr"), place("copy.zarr")).unwrap();
        assert_eq!(stored(&place("copy.zarr")), before);
    }
    zarrox::open_array(place("sea.zarr/depth")).unwrap().write(s![3, 3], 99).unwrap();
    Copier::new().if_exists(IfExists::Update).run(place("sea.zarr/depth"), place("copy.zarr/depth")).unwrap();
    let depth = zarrox::open_array(place("copy.zarr/depth")).unwrap();
    assert_eq!((depth.format(), depth.get::<i32>([3, 3]).unwrap()), (Format::V2, 99));
}

#[test]
fn an_interrupted_update_begins_anew_if_the_source_changed() {
    let directory = tempfile::tempdir().unwrap();
    let place = |name: &str| directory.path().join(name);
    let root = sample(&place("sea.zarr"));
    let stopping = Copier::new()
        .if_exists(IfExists::Update)
        .on_progress(|_| Err(Error::new(ErrorKind::Interrupted, "enough")));
    stopping.run(place("sea.zarr"), place("copy.zarr")).unwrap_err();
    root.create_array("new").shape([3]).data_type(DataType::Int8).create().unwrap().write(.., 1_i8).unwrap();
    // Another copy into the same place does not discard the incomplete one.
    let other = Copier::new().if_exists(IfExists::Update).run(place("sea.zarr/new"), place("copy.zarr"));
    assert_error(other, ErrorKind::AlreadyExists, "was interrupted");
    Copier::new().if_exists(IfExists::Update).run(place("sea.zarr"), place("copy.zarr")).unwrap();
    assert_eq!(stored(&place("sea.zarr")), stored(&place("copy.zarr")));
}

#[test]
fn damaged_chunks_stop_a_copy_unless_they_are_left_out() {
    let directory = tempfile::tempdir().unwrap();
    let place = |name: &str| directory.path().join(name);
    sample(&place("sea.zarr"));
    std::fs::write(place("sea.zarr/depth/c/1/1"), "no chunk").unwrap();
    let copier = Copier::new().chunks([7, 5]);
    let error = copier.run(place("sea.zarr/depth"), place("copy.zarr")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    assert_error(zarrox::open(place("copy.zarr")), ErrorKind::NotFound, "a conversion");
    let report = copier.skip_damaged(true).verify(Verify::Nothing);
    let report = report.run(place("sea.zarr/depth"), place("copy.zarr")).unwrap();
    let regions: Vec<_> = report.skipped.iter().map(|skipped| skipped.region.clone()).collect();
    assert_eq!(regions, [[(7, 14), (10, 15)], [(7, 14), (15, 20)]]);
    let copy = zarrox::open_array(place("copy.zarr")).unwrap().read::<ArrayD<i32>>(..).unwrap();
    assert_eq!((copy[[7, 9]], copy[[7, 10]], copy[[7, 20]]), (7 * 30 + 9, -1, 7 * 30 + 20));
}

#[test]
fn a_move_elsewhere_is_a_copy_and_a_deletion() {
    let directory = tempfile::tempdir().unwrap();
    let place = |name: &str| directory.path().join(name);
    sample(&place("sea.zarr"));
    let before = zarrox_tools::digest(&zarrox::open(place("sea.zarr/winds")).unwrap()).unwrap();
    let move_node = |from: &str, to: &str| Copier::new().move_node(place(from), place(to));
    assert!(move_node("sea.zarr/winds", "winds.zip").unwrap().is_some());
    assert_error(zarrox::open(place("sea.zarr/winds")), ErrorKind::NotFound, "at '/winds'");
    assert_eq!(zarrox_tools::digest(&zarrox::open(place("winds.zip")).unwrap()).unwrap(), before);
    assert!(move_node("winds.zip", "sea.zarr/winds").unwrap().is_some());
    {
        let database = format!("sqlite://{}", place("new.sqlite").display());
        Copier::new().move_node(place("sea.zarr/winds"), format!("{database}/winds")).unwrap();
        Copier::new().move_node(format!("{database}/winds"), place("sea.zarr/winds")).unwrap();
    }
    assert!(move_node("sea.zarr/winds", "sea.zarr/air").unwrap().is_none());
    assert_eq!(zarrox_tools::digest(&zarrox::open(place("sea.zarr/air")).unwrap()).unwrap(), before);
    assert_eq!(move_node("sea.zarr/depth", "sea.zarr/air").unwrap_err().kind(), ErrorKind::AlreadyExists);
    assert!(zarrox::open(place("sea.zarr/depth")).is_ok());
}

#[test]
fn a_place_by_another_name_is_the_same_place() {
    let directory = tempfile::tempdir().unwrap();
    let place = |name: &str| directory.path().join(name);
    sample(&place("sea.zarr"));
    std::fs::create_dir(place("other")).unwrap();
    let mut names = vec!["other/../sea.zarr"];
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(place("sea.zarr"), place("link.zarr")).unwrap();
        names.push("link.zarr");
    }
    let before = stored(&place("sea.zarr"));
    for root in names {
        let replacing = || Copier::new().if_exists(IfExists::Replace);
        for (from, to) in
            [("", ""), ("winds", "winds"), ("winds", "winds/sub"), ("", "winds/sub"), ("", "x.zip")]
        {
            let (from, to) = (place("sea.zarr").join(from), place(root).join(to));
            for error in [
                replacing().run(&from, &to).map(drop).unwrap_err(),
                replacing().chunks([2]).run(&from, &to).map(drop).unwrap_err(),
                replacing().move_node(&from, &to).map(drop).unwrap_err(),
            ] {
                assert_eq!(
                    error.kind(),
                    ErrorKind::InvalidArgument,
                    "{} {}: {error}",
                    from.display(),
                    to.display()
                );
            }
            assert_eq!(stored(&place("sea.zarr")), before, "{} {}", from.display(), to.display());
        }
    }
    // Within one hierarchy, a node is renamed, and its copy in consolidated metadata gets the new path.
    Copier::new().move_node(place("sea.zarr/winds"), place("other/../sea.zarr/air")).unwrap();
    assert!(zarrox::open(place("sea.zarr/air/u")).is_ok());
    assert_error(zarrox::open(place("sea.zarr/winds")), ErrorKind::NotFound, "at '/winds'");
}

/// Returns a directory in which a move from `sea.zarr/winds` to `other.zarr/winds` was interrupted after the
/// copy, before the deletion of the source began.
fn half_moved() -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    let place = |name: &str| directory.path().join(name);
    sample(&place("sea.zarr"));
    zarrox_tools::copy(place("sea.zarr/winds"), place("other.zarr/winds")).unwrap();
    let (store, _) =
        zarrox::internals::locate(place("sea.zarr"), &zarrox::stores::StorageOptions::new()).unwrap();
    let mark = Key::new(".zarrox-unfinished-winds.json").unwrap();
    store.set(&mark, br#"{"format": "v3"}"#, zarrox::stores::Condition::Always).unwrap();
    directory
}

#[test]
fn an_interrupted_move_is_finished() {
    let directory = half_moved();
    let place = |name: &str| directory.path().join(name);
    Copier::new().move_node(place("sea.zarr/winds"), place("other.zarr/winds")).unwrap();
    assert_error(zarrox::open(place("sea.zarr/winds")), ErrorKind::NotFound, "at '/winds'");
    assert!(zarrox::open(place("other.zarr/winds/u")).is_ok());
}

#[test]
fn an_interrupted_move_of_a_whole_hierarchy_is_finished() {
    let directory = tempfile::tempdir().unwrap();
    let place = |name: &str| directory.path().join(name);
    // On another disk, the hierarchy was copied, and its deletion was interrupted before or after its document was erased.
    for erased in [false, true] {
        sample(&place("sea.zarr"));
        zarrox_tools::copy(place("sea.zarr"), place("other.zarr")).unwrap();
        std::fs::write(place("sea.zarr/.zarrox-unfinished.json"), r#"{"format": "v3"}"#).unwrap();
        if erased {
            std::fs::remove_file(place("sea.zarr/zarr.json")).unwrap();
        }
        Copier::new().move_node(place("sea.zarr"), place("other.zarr")).unwrap();
        assert!(!place("sea.zarr").exists());
        assert!(zarrox::open(place("other.zarr/winds/u")).is_ok());
        OpenOptions::new().delete(place("other.zarr")).unwrap();
    }
}

#[test]
fn a_move_out_of_an_archive_is_finished_only_if_the_copy_equals_the_source() {
    let directory = tempfile::tempdir().unwrap();
    let place = |name: &str| directory.path().join(name);
    let create = |name: &str, dimension: &str| {
        let array = zarrox::create_array(place(name)).shape([4]).data_type(DataType::Int8);
        array.dimension_names([dimension]).create().unwrap().write(.., 3).unwrap();
    };
    // The copy is complete, and the process was killed before the archive recorded the deletion.
    create("s.zip/a", "x");
    create("d.zarr/a", "y");
    let move_node = || Copier::new().move_node(place("s.zip/a"), place("d.zarr/a"));
    assert_eq!(move_node().unwrap_err().kind(), ErrorKind::AlreadyExists, "the dimension names differ");
    assert!(zarrox::open_array(place("s.zip/a")).is_ok());
    OpenOptions::new().delete(place("d.zarr/a")).unwrap();
    create("d.zarr/a", "x");
    move_node().unwrap();
    assert_error(zarrox::open(place("s.zip/a")), ErrorKind::NotFound, "at '/a'");
    assert_eq!(zarrox::open_array(place("d.zarr/a")).unwrap().read::<Vec<i8>>(..).unwrap(), [3; 4]);
}

#[test]
fn an_interrupted_move_is_refused_if_the_source_was_changed_since_it_was_copied() {
    let directory = half_moved();
    let place = |name: &str| directory.path().join(name);
    let source = zarrox::open_array(place("sea.zarr/winds/u")).unwrap();
    source.write(s![0, 0], ndarray::arr0(-7_i32)).unwrap();
    let move_again = || Copier::new().move_node(place("sea.zarr/winds"), place("other.zarr/winds"));
    let error = move_again().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict, "{error}");
    assert!(error.to_string().contains("/u: values: 1 differ"), "{error}");
    assert_eq!(source.read::<ArrayD<i32>>(..).unwrap()[[0, 0]], -7);
    OpenOptions::new().delete(place("other.zarr/winds")).unwrap();
    move_again().unwrap();
    let moved = zarrox::open_array(place("other.zarr/winds/u")).unwrap();
    assert_eq!(moved.read::<ArrayD<i32>>(..).unwrap()[[0, 0]], -7);
}

#[test]
fn a_slow_copy_takes_its_time() {
    let directory = tempfile::tempdir().unwrap();
    let place = |name: &str| directory.path().join(name);
    sample(&place("sea.zarr"));
    let bytes = Copier::new().plan(place("sea.zarr"), place("x.zarr")).unwrap().bytes();
    let begun = Instant::now();
    Copier::new().max_rate(bytes * 5).run(place("sea.zarr"), place("copy.zarr")).unwrap();
    assert!(begun.elapsed() >= Duration::from_millis(190), "{:?}", begun.elapsed());
}

/// The arrays include Python objects, which other formats may not support.
#[test]
fn what_other_programs_wrote_is_copied_as_it_is() {
    let directory = tempfile::tempdir().unwrap();
    let writers = [("numcodecs/0.9", "objects.zarr"), ("zarr-python/2.11", "objects.zarr")];
    for (number, (writer, name)) in writers.into_iter().enumerate() {
        let source = zarrox_testkit::corpus::directory(writer).join(name);
        let copy = directory.path().join(number.to_string());
        let report = zarrox_tools::copy(&source, &copy).unwrap();
        assert!(report.nodes.iter().any(|node| node.is_array), "{writer}");
        assert!(report.nodes.iter().all(|node| node.action != Action::Reencode), "{writer}: {report:?}");
        let (left, right) = (zarrox::open(&source).unwrap(), zarrox::open(&copy).unwrap());
        assert_eq!(zarrox_tools::diff(&left, &right).unwrap(), [], "{writer}");
    }
}
