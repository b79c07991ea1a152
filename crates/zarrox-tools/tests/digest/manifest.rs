//! Manifests: their content, and the changes that they detect.

use std::sync::{Arc, Mutex};

use super::stores_in;
use zarrox::prelude::*;
use zarrox::stores::{
    Condition, DirectoryStore, Key, MemoryStore, Operation, Store, StoreErrorKind, StoreExt,
};
use zarrox::{ErrorKind, OpenOptions};
use zarrox_testkit::faults::{Fault, FaultyStore};
use zarrox_tools::Digester;
use zarrox_tools::manifest::{Discrepancy, Manifest, Verified};

fn key(text: &str) -> Key {
    Key::new(text).unwrap()
}

/// Returns a hierarchy of six chunks.
fn hierarchy(store: Arc<dyn Store>, format: Format) -> Group {
    let root = OpenOptions::new().format(format).create_group((store, "")).unwrap();
    let array =
        root.create_array("g/a").shape([6, 4]).chunks([2, 2]).data_type(DataType::Int32).no_compressor();
    let array = array.create().unwrap();
    let values =
        ndarray::Array2::from_shape_fn((6, 4), |(row, column)| i32::try_from(10 * row + column).unwrap() + 1);
    array.write(.., &values).unwrap();
    root.flush().unwrap();
    root
}

fn in_memory() -> Arc<dyn Store> {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    hierarchy(store.clone(), Format::V3);
    store
}

fn written(store: &Arc<dyn Store>, path: &str) -> String {
    let mut manifest = Vec::new();
    Manifest::new().write((store.clone(), path), &mut manifest).unwrap();
    String::from_utf8(manifest).unwrap()
}

fn verified(store: &Arc<dyn Store>, path: &str, manifest: &str) -> zarrox::Result<(Verified, Vec<String>)> {
    let mut found = Vec::new();
    let mut tell = |finding: Discrepancy| {
        found.push(finding.to_string());
        Ok(())
    };
    let verified = Manifest::new().verify((store.clone(), path), &mut manifest.as_bytes(), &mut tell)?;
    found.sort();
    Ok((verified, found))
}

#[test]
fn a_manifest_has_a_line_for_each_key_in_its_order() {
    let store = in_memory();
    let manifest = written(&store, "");
    let lines: Vec<serde_json::Value> =
        manifest.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines[0], serde_json::json!({"zarrox_manifest": 1, "hash": "blake3"}));
    let (last, values) = lines[1..].split_last().unwrap();
    let keys: Vec<&str> = values.iter().map(|line| line["key"].as_str().unwrap()).collect();
    let mut expected = vec!["g/a/zarr.json".to_owned(), "g/zarr.json".to_owned(), "zarr.json".to_owned()];
    expected.extend((0..3).flat_map(|row| (0..2).map(move |column| format!("g/a/c/{row}/{column}"))));
    expected.sort();
    assert_eq!(keys, expected);
    let mut bytes = 0;
    for line in values {
        let value = store.get(&key(line["key"].as_str().unwrap())).unwrap().unwrap();
        assert_eq!(line["size"], value.len());
        assert_eq!(line["blake3"], blake3::hash(&value).to_hex().as_str());
        bytes += value.len();
    }
    let digest = Digester::new().stored(&OpenOptions::new().open((store, "")).unwrap()).unwrap();
    let above = &manifest[..=manifest.trim_end().rfind('\n').unwrap()];
    let lines = blake3::hash(above.as_bytes()).to_hex();
    assert_eq!(
        *last,
        serde_json::json!({"keys": 9, "bytes": bytes, "digest": digest.to_string(), "lines": lines.as_str()})
    );
}

#[test]
fn manifests_are_the_same_in_every_store_and_verify_each_other() {
    for format in [Format::V2, Format::V3, Format::V3Draft, Format::V3Experimental, Format::N5] {
        let directory = tempfile::tempdir().unwrap();
        let memory: Arc<dyn Store> = Arc::new(MemoryStore::new());
        hierarchy(memory.clone(), format);
        let expected = ["", "g", "g/a"].map(|node| written(&memory, node));
        let stores = stores_in(directory.path());
        for store in stores {
            hierarchy(store.clone(), format);
            for (node, expected) in ["", "g", "g/a"].into_iter().zip(&expected) {
                assert_eq!(written(&store, node), *expected, "{format} {}", store.location());
                let (verified, found) = verified(&store, node, expected).unwrap();
                assert!(verified.is_same() && found.is_empty() && verified.same >= 6, "{found:?}");
            }
        }
    }
}

#[test]
fn every_planted_damage_is_found() {
    let store = in_memory();
    let manifest = written(&store, "");
    let get = |name: &str| store.get(&key(name)).unwrap().unwrap();
    let set = |name: &str, value: &[u8]| store.set(&key(name), value, Condition::Always).unwrap();
    // Two pairs of values were swapped; one of these pairs is a chunk and a document.
    let (a, b) = (get("g/a/c/0/0"), get("g/a/c/0/1"));
    set("g/a/c/0/0", &b);
    set("g/a/c/0/1", &a);
    let (a, b) = (get("g/a/c/1/0"), get("zarr.json"));
    set("g/a/c/1/0", &b);
    set("zarr.json", &a);
    // One bit was changed, one value was truncated, one was deleted, and one was added.
    let mut value = get("g/a/c/1/1").to_vec();
    value[3] ^= 1;
    set("g/a/c/1/1", &value);
    set("g/zarr.json", &get("g/zarr.json")[1..]);
    store.erase(&key("g/a/c/2/1")).unwrap();
    set("g/a/c/2/0.tmp", b"new");
    let size = get("g/zarr.json").len();
    let (verified, found) = verified(&store, "", &manifest).unwrap();
    assert_eq!(
        found,
        [
            "added: g/a/c/2/0.tmp (3 bytes)".to_owned(),
            "changed: g/a/c/1/1 (16 bytes, before 16)".to_owned(),
            format!("changed: g/zarr.json ({size} bytes, before {})", size + 1),
            "missing: g/a/c/2/1 (it had 16 bytes)".to_owned(),
            "swapped: g/a/c/0/0 and g/a/c/0/1 have each other's value".to_owned(),
            "swapped: g/a/c/1/0 and zarr.json have each other's value".to_owned(),
        ]
    );
    assert_eq!(verified, Verified { same: 2, missing: 1, added: 1, changed: 2, swapped: 4, unreadable: 0 });
}

#[test]
fn values_that_go_round_in_a_ring_are_changed_and_equal_ones_are_paired_once() {
    let store = in_memory();
    let set = |name: &str, value: &[u8]| store.set(&key(name), value, Condition::Always).unwrap();
    let write =
        |values: [(&str, &str); 6]| values.iter().for_each(|(name, value)| set(name, value.as_bytes()));
    write([("a", "1"), ("b", "2"), ("c", "3"), ("p", "x"), ("q", "y"), ("r", "x")]);
    let manifest = written(&store, "");
    write([("a", "2"), ("b", "3"), ("c", "1"), ("p", "y"), ("q", "x"), ("r", "y")]);
    let (_, found) = verified(&store, "", &manifest).unwrap();
    assert_eq!(
        found,
        [
            "changed: a (1 bytes, before 1)",
            "changed: b (1 bytes, before 1)",
            "changed: c (1 bytes, before 1)",
            "changed: r (1 bytes, before 1)",
            "swapped: p and q have each other's value",
        ]
    );
}

#[test]
fn a_place_without_its_root_is_verified_all_the_same() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.zarr");
    hierarchy(Arc::new(DirectoryStore::open(&path).unwrap()), Format::V3);
    let mut manifest = Vec::new();
    Manifest::new().write(&path, &mut manifest).unwrap();
    std::fs::remove_file(path.join("zarr.json")).unwrap();
    let mut found = Vec::new();
    let mut tell = |finding: Discrepancy| {
        found.push(finding.kind());
        Ok(())
    };
    let verified = Manifest::new().verify(&path, &mut manifest.as_slice(), &mut tell).unwrap();
    assert_eq!((verified.missing, verified.same, found), (1, 8, vec!["missing"]));
    for gone in ["nothing.zarr", "a.zarr/nothing"] {
        let error =
            Manifest::new().verify(directory.path().join(gone), &mut manifest.as_slice(), &mut |_| Ok(()));
        assert_eq!(error.unwrap_err().kind(), ErrorKind::NotFound, "{gone}");
    }
}

#[test]
fn a_manifest_that_is_not_whole_is_an_error_that_says_the_line() {
    let store = in_memory();
    let manifest = written(&store, "");
    let lines: Vec<&str> = manifest.split_inclusive('\n').collect();
    let swapped = [&lines[..2], &[lines[3], lines[2]], &lines[4..]].concat().concat();
    let cases = [
        (String::new(), "line 1: not a manifest"),
        ("{\"zarr_format\":3}\n".to_owned(), "line 1: not a manifest"),
        (manifest.replacen("zarrox_manifest\":1", "zarrox_manifest\":2", 1), "line 1: unsupported version 2"),
        (lines[..lines.len() - 1].concat(), "line 11: the manifest is truncated"),
        (manifest[..manifest.len() - 5].to_owned(), "line 11: "),
        ([&lines[..3], &lines[4..]].concat().concat(), "line 10: the totals differ from 8 keys"),
        (manifest.replacen("\"size\":16", "\"size\":17", 1), "the totals differ"),
        (swapped, "line 4: the key is not greater"),
        (manifest.replacen("g/a/c/0/0", "../secret", 1), "line 2: invalid \"key\""),
        (manifest.replacen("\"blake3\":\"", "\"blake3\":\"z", 2), "line 2: invalid"),
        (manifest.replacen("g/a/c/0/0", "g/a/c/0/00", 1), "line 11: the lines above were changed"),
        (format!("{}{}", lines[0], "x".repeat(2 << 20)), "line 2: it is longer than"),
    ];
    for (text, says) in cases {
        let error = verified(&store, "", &text).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{says}");
        assert!(error.to_string().contains(says), "{says}: {error}");
    }
}

#[test]
fn a_value_that_cannot_be_read_is_a_finding() {
    let store = in_memory();
    let manifest = written(&store, "");
    let faulty = |kind| {
        let faulty = FaultyStore::new(store.clone());
        faulty.inject(Fault::fail(kind).on(&[Operation::Open]).key("g/a/c/1/1"));
        verified(&(Arc::new(faulty) as Arc<dyn Store>), "", &manifest)
    };
    let (verified, found) = faulty(StoreErrorKind::Forbidden).unwrap();
    assert_eq!((verified.unreadable, verified.same), (1, 8));
    assert!(found[0].starts_with("unreadable: g/a/c/1/1 ("), "{found:?}");
    // An unreachable store says nothing about its values.
    assert_eq!(faulty(StoreErrorKind::Unreachable).unwrap_err().kind(), ErrorKind::Unreachable);
}

#[test]
fn progress_ends_with_all_bytes_and_can_end_the_work() {
    let store = in_memory();
    let last = Arc::new(Mutex::new((0, 0)));
    let heard = last.clone();
    let manifest = Manifest::new().on_progress(move |progress| {
        let mut last = heard.lock().unwrap();
        *last = (last.0.max(progress.done), progress.total);
        Ok(())
    });
    let written = manifest.write((store.clone(), ""), &mut Vec::new()).unwrap();
    assert_eq!(*last.lock().unwrap(), (written.bytes, written.bytes));
    let stopped = Manifest::new().on_progress(|_| Err(zarrox::Error::new(ErrorKind::Interrupted, "enough")));
    assert_eq!(stopped.write((store, ""), &mut Vec::new()).unwrap_err().kind(), ErrorKind::Interrupted);
}
