//! Documents that contradict one another: copies in consolidated metadata, and documents of several kinds and formats in one
//! directory.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use zarrox::OpenOptions;
use zarrox::codecs::Zstd;
use zarrox::{prelude::*, s};
use zarrox_tools::check::{Check, CheckLevel, FindingKind as Kind, Outcome, Remedy, Repair};

use super::{Hierarchy, edit, elements, files_below, findings, kinds, repaired, run};

/// Changes a document.
fn document(file: &Path, change: impl FnOnce(&mut Value)) {
    edit(file, |bytes| {
        let mut json: Value = serde_json::from_slice(bytes).unwrap();
        change(&mut json);
        *bytes = serde_json::to_vec(&json).unwrap();
    });
}

/// Returns a hierarchy with consolidated metadata.
fn consolidated() -> Hierarchy {
    let h = Hierarchy::new();
    zarrox::open_group(&h.path).unwrap().consolidate_metadata().unwrap();
    h
}

#[test]
fn a_document_that_the_stored_chunks_do_not_fit_is_restored_from_its_copy() {
    type Damage = fn(&mut Value);
    let damages: [(&str, &str, Damage); 3] = [
        ("plain", "the data type", |json| json["data_type"] = json!("int64")),
        ("group/packed", "the data type", |json| json["data_type"] = json!("int16")),
        ("sharded", "the data type", |json| json["data_type"] = json!("float64")),
    ];
    for (array, what, damage) in damages {
        let h = consolidated();
        let (whole, before) = (files_below(&h.path), elements(&h.path));
        let name = format!("{array}/zarr.json");
        document(&h.file(&name), |json| {
            damage(json);
            json["attributes"]["newer"] = json!(true);
        });
        let damaged = fs::read(h.file(&name)).unwrap();
        let root = fs::read(h.file("zarr.json")).unwrap();
        // A dry run reports the same remedy as a repair.
        for dry_run in [true, false] {
            let (_, found) = run(&Check::open(&h.path).unwrap().repair(Repair { dry_run, refill: false }));
            assert_eq!(found[0].kind, Kind::DisputedDocument, "{array}, {what}: {found:?}");
            assert_eq!((found[0].path.as_str(), &found[0].remedy), (array, &Remedy::Restore));
            let rest = if dry_run { vec![] } else { vec![Kind::StaleConsolidated] };
            assert_eq!(kinds(&found[1..]), rest, "{array}, {what}: the attributes are newer than their copy");
        }
        assert_eq!(elements(&h.path), before, "{array}, {what}");
        let quarantined = h.quarantined();
        assert_eq!(quarantined.len(), 2, "{array}, {what}: {:?}", quarantined.keys());
        assert_eq!((&quarantined[&name], &quarantined["zarr.json"]), (&damaged, &root));
        let mut now = files_below(&h.path);
        for document in [name.as_str(), "zarr.json"] {
            now.insert(document.to_owned(), whole[document].clone());
        }
        assert_eq!(now, whole, "{array}, {what}: nothing else was changed");
        assert_eq!(zarrox::open_array(h.file(array)).unwrap().attributes()["newer"], true);
        assert_eq!(findings(&h.path, CheckLevel::Full), []);
    }
}

#[test]
fn where_chunks_do_not_tell_which_document_is_right_nothing_is_changed() {
    type Damage = fn(&mut Value);
    let damages: [(&str, Damage); 8] = [
        ("plain", |json| json["data_type"] = json!("float32")),
        ("plain", |json| json["fill_value"] = json!(1)),
        ("plain", |json| json["shape"][0] = json!(100)),
        // An interrupted shrink leaves the same state: chunks outside the shape, and the old copy.
        ("plain", |json| json["shape"][0] = json!(2)),
        ("group/packed", |json| json["shape"][1] = json!(3)),
        ("sums", |json| json["shape"][1] = json!(4)),
        ("group/packed", |json| json["dimension_names"] = json!(["a", "b"])),
        // Neither document is right: chunks are outside the shape of the one, and cannot be decoded by the codecs of the other.
        ("sharded", |json| {
            json["shape"][0] = json!(4);
            json["codecs"][0]["configuration"]["codecs"][1] = json!({"name": "crc32c"});
        }),
    ];
    for (array, damage) in damages {
        let h = consolidated();
        if array == "sharded" {
            // The copy is wrong as well.
            document(&h.file("zarr.json"), |json| {
                json["consolidated_metadata"]["metadata"]["sharded"]["shape"][1] = json!(4);
            });
        }
        document(&h.file(&format!("{array}/zarr.json")), damage);
        let before = files_below(&h.path);
        let found = repaired(&h.path, false);
        assert_eq!((found[0].kind, found[0].path.as_str()), (Kind::DisputedDocument, array), "{found:?}");
        assert!(found.iter().all(|found| found.outcome == Outcome::Left), "{array}: {found:?}");
        assert!(found[0].message.contains("consolidated metadata of '/'"), "{}", found[0]);
        assert_eq!(files_below(&h.path), before, "{array}");
        assert_eq!(h.quarantined().len(), 0);
    }
}

#[test]
fn a_copy_that_the_stored_chunks_do_not_fit_is_written_anew_and_kept() {
    let h = consolidated();
    let old = fs::read(h.file("zarr.json")).unwrap();
    let mut array = OpenOptions::new().open(h.file("plain")).unwrap().into_array().unwrap();
    array.resize([6, 6]).unwrap();
    array.write(s![4.., ..], 5).unwrap();
    // Other programs do not update the copy.
    fs::write(h.file("zarr.json"), &old).unwrap();
    let found = repaired(&h.path, false);
    assert_eq!((kinds(&found), found[0].path.as_str()), (vec![Kind::StaleConsolidated], "plain"));
    assert_eq!(h.quarantined().into_iter().collect::<Vec<_>>(), [("zarr.json".to_owned(), old)]);
    assert_eq!(zarrox::open_array(h.file("plain")).unwrap().shape(), [6, 6]);
    assert_eq!(findings(&h.path, CheckLevel::Full), []);
}

#[test]
fn a_lost_document_is_not_restored_from_a_copy_that_the_stored_chunks_do_not_fit() {
    for is_missing in [true, false] {
        let h = consolidated();
        let old = fs::read(h.file("zarr.json")).unwrap();
        let mut array = OpenOptions::new().open(h.file("plain")).unwrap().into_array().unwrap();
        array.resize([6, 6]).unwrap();
        array.write(s![4.., ..], 5).unwrap();
        // Other programs do not update the copy.
        fs::write(h.file("zarr.json"), &old).unwrap();
        match is_missing {
            true => fs::remove_file(h.file("plain/zarr.json")).unwrap(),
            false => fs::write(h.file("plain/zarr.json"), "{").unwrap(),
        }
        let before = files_below(&h.path);
        let found = repaired(&h.path, false);
        let told = found.iter().find(|found| found.path == "plain").unwrap();
        assert!(matches!(&told.remedy, Remedy::Nothing(why) if why.contains("out of date")), "{told:?}");
        assert_eq!(files_below(&h.path), before, "nothing is changed");
    }
}

/// Returns a group of v2 in a temporary directory, with its path.
fn v2() -> (tempfile::TempDir, PathBuf, zarrox::Group) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("h.zarr");
    let root = OpenOptions::new().format(Format::V2).create_group(&path).unwrap();
    (directory, path, root)
}

#[test]
fn a_copy_of_v2_restores_the_document_and_leaves_the_attributes() {
    let (_directory, path, root) = v2();
    let array = root.create_array("a").shape([4, 6]).chunks([2, 3]).data_type(DataType::Int32);
    super::fill(array.compressor(Zstd::level(1)));
    root.consolidate_metadata().unwrap();
    let before = elements(&path);
    document(&path.join("a/.zarray"), |json| json["dtype"] = json!("<i8"));
    fs::write(path.join("a/.zattrs"), r#"{"new": 1}"#).unwrap();
    let found = repaired(&path, false);
    assert_eq!(kinds(&found), [Kind::DisputedDocument, Kind::StaleConsolidated]);
    assert_eq!(elements(&path), before);
    assert_eq!(fs::read_to_string(path.join("a/.zattrs")).unwrap(), r#"{"new": 1}"#);
    assert_eq!(findings(&path, CheckLevel::Full), []);
}

#[test]
fn the_documents_of_an_array_and_of_a_group_in_one_place_are_told() {
    let (_directory, path, root) = v2();
    super::fill(root.create_array("a").shape([4, 6]).chunks([2, 3]).data_type(DataType::Int32));
    fs::copy(path.join(".zgroup"), path.join("a/.zgroup")).unwrap();
    for level in [CheckLevel::Metadata, CheckLevel::Full] {
        let found = findings(&path, level);
        assert_eq!((kinds(&found), found[0].key.as_deref()), (vec![Kind::ArrayAndGroup], Some("a/.zgroup")));
    }
}

#[test]
fn nodes_of_another_format_than_their_group_are_told() {
    let (_directory, path, _) = v2();
    // zarr-python 3 creates the array in this way: without a group of its format above.
    let other = zarrox::create_array(path.with_file_name("a.zarr"));
    super::fill(other.shape([4, 6]).chunks([2, 3]).data_type(DataType::Int32));
    fs::rename(path.with_file_name("a.zarr"), path.join("a")).unwrap();
    let found = findings(&path, CheckLevel::Full);
    assert_eq!((kinds(&found), found[0].path.as_str()), (vec![Kind::MixedFormats], "a"));
    assert_eq!(findings(&path.join("a"), CheckLevel::Full), []);
}

/// In zarr-python 2, the default fill value of all arrays is 0.
#[test]
fn objects_of_which_the_fill_value_is_0_are_as_their_writer_writes_them() {
    let (_directory, path, root) = v2();
    for name in ["string", "bytes"] {
        let data_type = DataType::parse(name, &zarrox::codecs::registry()).unwrap();
        root.create_array(name).shape([4]).chunks([2]).data_type(data_type).create().unwrap();
        document(&path.join(name).join(".zarray"), |json| json["fill_value"] = json!(0));
    }
    assert_eq!(findings(&path, CheckLevel::Full), []);
}

#[test]
fn arrays_without_checksums_are_told_when_asked_for() {
    let h = Hierarchy::new();
    let check = || Check::open(&h.path).unwrap().level(CheckLevel::Metadata);
    assert_eq!(run(&check()).1, []);
    let (summary, found) = run(&check().checksums(true));
    assert!(summary.is_clean());
    let paths: Vec<_> = found.iter().map(|found| (found.kind, found.path.as_str())).collect();
    assert_eq!(paths, [(Kind::NoChecksums, "plain"), (Kind::NoChecksums, "raw")]);
}
