//! Changes that replace or move nodes: their state after an interruption, and the data that they must not
//! lose.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use zarrox::json::json;
use zarrox::{ErrorKind, OpenOptions};
use zarrox::{prelude::*, s};
use zarrox_testkit::errors::assert_error;
use zarrox_tools::copy::{Copier, IfExists};

/// Returns a group with consolidated metadata and an array of 20 numbers, in chunks of 7.
fn sample(directory: &Path, name: &str) -> PathBuf {
    let path = directory.join(name);
    let root = zarrox::create_group(&path).unwrap();
    let array = root.create_array("a").shape([20]).data_type(DataType::Int32).chunks([7]).create().unwrap();
    array.write(.., numbers()).unwrap();
    root.consolidate_metadata().unwrap();
    path
}

fn numbers() -> ndarray::Array1<i32> {
    (0..20).collect()
}

fn read(path: impl AsRef<Path>) -> Vec<i32> {
    zarrox::open_array(path.as_ref()).unwrap().read::<ArrayD<i32>>(..).unwrap().into_raw_vec_and_offset().0
}

fn names(path: &Path) -> Vec<String> {
    let mut names: Vec<_> =
        fs::read_dir(path).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Returns the names of the nodes in consolidated metadata.
fn consolidated(path: &Path) -> Vec<String> {
    let group = OpenOptions::new().consolidated(zarrox::Consolidated::Require).open(path).unwrap();
    group.into_group().unwrap().children().unwrap().into_iter().map(|child| child.name).collect()
}

fn all_files(path: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(path).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { files.extend(all_files(&path)) } else { files.push(path) }
    }
    files.sort();
    files
}

#[test]
fn what_is_written_while_an_array_is_rechunked_in_place_is_kept() {
    let directory = tempfile::tempdir().unwrap();
    let path = sample(directory.path(), "g.zarr");
    let other = zarrox::open_array(path.join("a")).unwrap();
    let is_done = AtomicBool::new(false);
    let (write, array) = (std::sync::Arc::new(is_done), path.join("a"));
    let written = write.clone();
    let copier = Copier::new().chunks([5]).on_progress(move |_| {
        if !written.swap(true, Ordering::Relaxed) {
            let mut late = zarrox::open_array(&array)?;
            late.write(s![3], ndarray::arr0(-3))?;
            late.append(ndarray::arr1(&[-20]), 0)?;
            late.update_attributes(|map| drop(map.insert("late".to_owned(), json!(1))))?;
        }
        Ok(())
    });
    copier.run_in_place(path.join("a")).unwrap();
    assert!(write.load(Ordering::Relaxed));
    let mut expected = numbers().to_vec();
    expected[3] = -3;
    expected.push(-20);
    assert_eq!(read(path.join("a")), expected);
    let now = zarrox::open_array(path.join("a")).unwrap();
    assert_eq!((now.unit_shape(), now.attributes()["late"].clone()), (vec![5], json!(1)));
    assert_eq!(names(&path), ["a", "zarr.json"]);
    let error = other.write(s![0], ndarray::arr0(7)).unwrap_err();
    assert!(error.to_string().contains("was rechunked"), "{error}");
}

#[test]
fn a_rechunking_that_was_interrupted_after_the_exchange_is_finished_by_the_same_call() {
    let directory = tempfile::tempdir().unwrap();
    let path = sample(directory.path(), "g.zarr");
    Copier::new().run(path.join("a"), path.join("a.rechunked")).unwrap();
    Copier::new().chunks([5]).run_in_place(path.join("a")).unwrap();
    assert_eq!(names(&path), ["a", "zarr.json"]);
    Copier::new().chunks([7]).run(path.join("a"), path.join("a.rechunked")).unwrap();
    let mark = json!({"from": "/a.rechunked", "to": "/a", "replaced": "/a.rechunked"});
    fs::write(path.join("a/.zarrox-renamed.json"), mark.to_string()).unwrap();
    assert!(Copier::new().chunks([5]).run_in_place(path.join("a")).unwrap().is_none());
    assert_eq!(
        (names(&path), consolidated(&path)),
        (vec!["a".to_owned(), "zarr.json".to_owned()], vec!["a".to_owned()])
    );
    assert_eq!(
        (names(&path.join("a")), read(path.join("a"))),
        (vec!["c".to_owned(), "zarr.json".to_owned()], numbers().to_vec())
    );
}

#[test]
fn a_rechunking_that_was_interrupted_before_the_array_was_changed_begins_anew() {
    let directory = tempfile::tempdir().unwrap();
    let path = sample(directory.path(), "g.zarr");
    let copier = Copier::new().chunks([5]);
    let stop = |_| Err(zarrox::Error::new(ErrorKind::Unreachable, "stop"));
    copier.clone().on_progress(stop).run_in_place(path.join("a")).unwrap_err();
    assert_eq!(names(&path), ["a", "a.rechunked", "zarr.json"]);
    let mut array = zarrox::open_array(path.join("a")).unwrap();
    array.append(ndarray::arr1(&[20]), 0).unwrap();
    array.update_attributes(|map| drop(map.insert("late".to_owned(), json!(1)))).unwrap();
    copier.run_in_place(path.join("a")).unwrap();
    assert_eq!(names(&path), ["a", "zarr.json"]);
    assert_eq!(read(path.join("a")), (0..21).collect::<Vec<i32>>());
    let now = zarrox::open_array(path.join("a")).unwrap();
    assert_eq!((now.unit_shape(), now.attributes()["late"].clone()), (vec![5], json!(1)));
}

#[test]
fn a_move_and_a_deletion_that_were_interrupted_renew_consolidated_metadata_when_given_again() {
    let directory = tempfile::tempdir().unwrap();
    let path = sample(directory.path(), "g.zarr");
    let mark = json!({"from": "/a", "to": "/b", "replaced": null});
    fs::write(path.join("a/.zarrox-renamed.json"), mark.to_string()).unwrap();
    fs::rename(path.join("a"), path.join("b")).unwrap();
    assert_eq!(consolidated(&path), ["a"]);
    Copier::new().move_node(path.join("a"), path.join("b")).unwrap();
    assert_eq!(
        (consolidated(&path), names(&path.join("b"))),
        (vec!["b".to_owned()], vec!["c".to_owned(), "zarr.json".to_owned()])
    );
    fs::write(path.join(".zarrox-unfinished-b.json"), r#"{"format": "v3"}"#).unwrap();
    fs::remove_dir_all(path.join("b")).unwrap();
    OpenOptions::new().delete(path.join("b")).unwrap();
    assert_eq!((consolidated(&path), names(&path)), (vec![], vec!["zarr.json".to_owned()]));
}

#[test]
fn a_replaced_node_is_deleted_and_its_name_never_without_a_node() {
    let directory = tempfile::tempdir().unwrap();
    let path = sample(directory.path(), "g.zarr");
    let root = zarrox::open_group(&path).unwrap();
    root.create_array("b").shape([2]).data_type(DataType::Int32).chunks([2]).create().unwrap();
    let old = zarrox::open_array(path.join("b")).unwrap();
    Copier::new().if_exists(IfExists::Replace).move_node(path.join("a"), path.join("b")).unwrap();
    assert_eq!(
        (names(&path), read(path.join("b"))),
        (vec!["b".to_owned(), "zarr.json".to_owned()], numbers().to_vec())
    );
    assert_eq!(names(&path.join("b")), ["c", "zarr.json"]);
    assert!(old.read::<ArrayD<i32>>(..).unwrap_err().to_string().contains("since it was opened"));
}

#[test]
fn what_belongs_to_no_node_is_never_deleted_with_a_node_that_was_copied() {
    type Plant = (&'static str, fn(&Path));
    let plants: [Plant; 4] = [
        ("a file beside nodes", |path| fs::write(path.join("NOTES.txt"), "n").unwrap()),
        ("a file in an array", |path| fs::write(path.join("a/README"), "r").unwrap()),
        ("an array in an array", |path| {
            let array = zarrox::create_array(path.with_extension("t")).shape([2]).data_type(DataType::Int8);
            array.chunks([2]).create().unwrap();
            fs::rename(path.with_extension("t"), path.join("a/inner")).unwrap();
        }),
        ("chunks without a document", |path| {
            fs::create_dir(path.join("lost")).unwrap();
            fs::copy(path.join("a/c/0"), path.join("lost/0")).unwrap();
        }),
    ];
    for (what, plant) in plants {
        let directory = tempfile::tempdir().unwrap();
        let path = sample(directory.path(), "g.zarr");
        plant(&path);
        let before = all_files(&path);
        let other = directory.path().join("h.zarr");
        zarrox::create_group(&other).unwrap();
        let refused = |error: zarrox::Error| {
            assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{what}: {error}");
            assert!(error.to_string().contains("would be lost"), "{what}: {error}");
        };
        refused(Copier::new().move_node(&path, other.join("g")).unwrap_err());
        refused(Copier::new().chunks([5]).run_in_place(&path).unwrap_err());
        assert_eq!((all_files(&path), names(&other)), (before, vec!["zarr.json".to_owned()]), "{what}");
    }
}

#[test]
fn a_node_that_is_moved_to_another_hierarchy_leaves_nothing_and_keeps_all() {
    let directory = tempfile::tempdir().unwrap();
    let path = sample(directory.path(), "g.zarr");
    let other = directory.path().join("h.zarr");
    zarrox::create_group(&other).unwrap();
    Copier::new().move_node(path.join("a"), other.join("a")).unwrap();
    assert_eq!((names(&path), read(other.join("a"))), (vec!["zarr.json".to_owned()], numbers().to_vec()));
}

#[test]
fn a_handle_from_before_a_conversion_in_place_fails_and_tells_why() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.zarr");
    let array = OpenOptions::new().format(Format::V2).create_array(&path);
    let mut array = array.shape([4]).data_type(DataType::Int32).chunks([2]).create().unwrap();
    array.write(.., ndarray::arr1(&[1, 2, 3, 4])).unwrap();
    Copier::new().format(Format::V3).plan_in_place(&path).unwrap().run().unwrap();
    let write = array.write(s![0], ndarray::arr0(9)).unwrap_err();
    assert!(write.to_string().contains("was converted to Zarr"), "{write}");
    assert_error(array.read::<ArrayD<i32>>(..), ErrorKind::NotFound, "was converted to Zarr");
    assert_error(array.resize([8]), ErrorKind::NotFound, "was converted to Zarr v3");
    assert_error(
        array.update_attributes(|map| drop(map.insert("x".to_owned(), json!(1)))),
        ErrorKind::NotFound,
        "was converted to Zarr v3",
    );
    assert_eq!(read(&path), [1, 2, 3, 4]);
    assert!(!path.join(".zarray").exists() && !path.join(".zattrs").exists());
}

#[test]
fn a_conversion_in_place_plans_nodes_again_that_have_changed_since_its_plan() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("h.zarr");
    let options = OpenOptions::new().format(Format::V2);
    options.create_group(&path).unwrap();
    let array = options.create_array(path.join("log")).shape([4]).chunks([2]).data_type(DataType::Int32);
    let mut log = array.create().unwrap();
    log.write(.., 1).unwrap();
    let plan = Copier::new().format(Format::V3).plan_in_place(&path).unwrap();
    log.append(ndarray::arr1(&[2, 2, 2]), 0).unwrap();
    plan.run().unwrap();
    let log = zarrox::open_array(path.join("log")).unwrap();
    assert_eq!(log.metadata().format, Format::V3);
    assert_eq!(log.read::<Vec<i32>>(..).unwrap(), [1, 1, 1, 1, 2, 2, 2]);
}
