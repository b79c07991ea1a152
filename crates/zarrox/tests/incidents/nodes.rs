//! Nodes that are saved, replaced and consolidated.

#![expect(clippy::unwrap_used, reason = "a test stops at the first failure")]

use std::fs;
use std::path::Path;

use zarrox::prelude::*;
use zarrox::{Consolidated, ErrorKind, OpenMode, OpenOptions};

/// Returns the names of all files below a directory, relative to the directory.
fn files(directory: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![directory.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                found.push(path.strip_prefix(directory).unwrap().display().to_string());
            }
        }
    }
    found.sort();
    found
}

#[test]
fn incident_06_a_directory_of_other_files_is_left_alone() {
    let directory = tempfile::tempdir().unwrap();
    let home = directory.path().join("home");
    fs::create_dir_all(home.join("thesis")).unwrap();
    fs::write(home.join("thesis/chapter.tex"), "years of work").unwrap();
    let writing = OpenOptions::new().mode(OpenMode::Write);
    let new = writing.create_array(&home).shape([4]).data_type(DataType::Int32);
    for error in [
        new.create().unwrap_err(),
        writing.create_group(&home).unwrap_err(),
        writing.open(&home).unwrap_err(),
    ] {
        assert_eq!(error.kind(), ErrorKind::AlreadyExists, "{error}");
        assert!(error.to_string().contains("was not changed"), "{error}");
    }
    assert_eq!(writing.delete(&home).unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(files(&home), ["thesis/chapter.tex"]);
}

#[test]
fn incident_07_another_rank_leaves_no_remnants() {
    for format in [Format::V2, Format::V3] {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.zarr");
        let options = OpenOptions::new().format(format).mode(OpenMode::Write);
        let cube = options.create_array(&path).shape([4; 3]).chunks([2; 3]).data_type(DataType::Int32);
        cube.create().unwrap().write(.., 1).unwrap();
        let line =
            options.create_array(&path).shape([4]).chunks([2]).data_type(DataType::Int32).create().unwrap();
        assert_eq!(line.read::<ArrayD<i32>>(..).unwrap().sum(), 0, "{format}");
        line.write(0..2, 5).unwrap();
        let document = if format == Format::V2 { ".zarray" } else { "zarr.json" };
        let left = files(&path).into_iter().filter(|name| name != document && name != ".zattrs");
        assert_eq!(left.collect::<Vec<_>>(), [line.raw().key(&[0]).unwrap()], "{format}");
    }
}

#[test]
fn incident_11_new_children_are_consolidated() {
    for format in [Format::V2, Format::V3] {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("g.zarr");
        let root = OpenOptions::new().format(format).create_group(&path).unwrap();
        root.create_group("first").unwrap();
        root.consolidate_metadata().unwrap();
        let names = || -> Vec<String> {
            let options = OpenOptions::new().mode(OpenMode::Read).consolidated(Consolidated::Require);
            let root = options.open(&path).unwrap().into_group().unwrap();
            root.children().unwrap().into_iter().map(|child| child.name).collect()
        };
        // Zarrox updates consolidated metadata itself; children of other programs are found after consolidating again.
        root.create_group("second").unwrap();
        assert_eq!(names(), ["first", "second"], "{format}");
        let document = if format == Format::V2 { ".zgroup" } else { "zarr.json" };
        fs::create_dir(path.join("third")).unwrap();
        fs::copy(path.join("first").join(document), path.join("third").join(document)).unwrap();
        assert_eq!(root.check_consolidated().unwrap().len(), 1, "{format}");
        root.consolidate_metadata().unwrap();
        assert_eq!(names(), ["first", "second", "third"], "{format}");
        assert!(root.check_consolidated().unwrap().is_empty(), "{format}");
    }
}
