//! Consolidated metadata: written, read, and compared with the nodes. The hierarchies that zarr-python consolidated
//! are in `corpus/consolidated`.

#![expect(clippy::unwrap_used, reason = "a test stops at the first failure")]

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use zarrox::internals::Freshness;
use zarrox::json::{Json, json};
use zarrox::prelude::*;
use zarrox::stores::{
    Condition, CountingStore, DirectoryStore, Key, MemoryStore, Operation, Prefix, Store, StoreExt,
};
use zarrox::{Array, Consolidated, ErrorKind, OpenMode, OpenOptions, Upkeep, s};
use zarrox::{StaleNode, Staleness};
use zarrox_testkit::errors::assert_error;
use zarrox_tools::copy::Copier;

/// Returns the number of requests to the store since the last call, without those that read opened objects.
fn asked(store: &CountingStore) -> u64 {
    let counts = store.take();
    counts.total() - counts.of(Operation::Read)
}

fn memory() -> Arc<dyn Store> {
    Arc::new(MemoryStore::new())
}

/// Returns the formats that have consolidated metadata.
fn formats() -> Vec<Format> {
    let formats: Vec<_> = Format::all().filter(|format| format.def().consolidation().is_some()).collect();
    assert!(formats.contains(&Format::V2) && formats.contains(&Format::V3));
    formats
}

fn options(format: Format, policy: Consolidated) -> OpenOptions {
    OpenOptions::new().format(format).consolidated(policy)
}

/// Returns a group that was opened without consolidated metadata, and whose changes do not update it.
fn leaving(store: &Arc<dyn Store>, format: Format) -> Group {
    let options = options(format, Consolidated::Never).consolidated_upkeep(Upkeep::Leave);
    options.open((store.clone(), "")).unwrap().into_group().unwrap()
}

fn open(store: &Arc<dyn Store>, format: Format, policy: Consolidated) -> Group {
    options(format, policy).open((store.clone(), "")).unwrap().into_group().unwrap()
}

fn array(group: &Group, path: &str) -> Array {
    group.create_array(path).shape([4]).chunks([2]).data_type(DataType::Int32).create().unwrap()
}

/// Returns a hierarchy of an array at each of three levels, consolidated.
fn hierarchy(format: Format) -> Arc<dyn Store> {
    let store = memory();
    let root = OpenOptions::new().format(format).create_group((store.clone(), "")).unwrap();
    for path in ["a", "g/b", "g/h/c"] {
        array(&root, path).write(.., 5).unwrap();
    }
    root.consolidate_metadata().unwrap();
    store
}

fn differences(group: &Group) -> Vec<(String, Staleness)> {
    let found = group.check_consolidated().unwrap();
    found.into_iter().map(|StaleNode { path, kind, .. }| (path, kind)).collect()
}

#[test]
fn a_thousand_nodes_are_opened_and_listed_by_one_read() {
    for format in formats() {
        let store = memory();
        let root = OpenOptions::new().format(format).create_group((store.clone(), "")).unwrap();
        for group in 0..10 {
            let group = root.create_group(format!("g{group}")).unwrap();
            for name in 0..99 {
                let array = group.create_array(format!("a{name}")).shape([2]).data_type(DataType::Int8);
                array.attributes(json!({"n": name}).as_object().cloned().unwrap()).create().unwrap();
            }
        }
        root.consolidate_metadata().unwrap();
        let counting = Arc::new(CountingStore::new(store.clone()));
        let store: Arc<dyn Store> = counting.clone();
        let root = open(&store, format, Consolidated::Require);
        assert!(root.is_consolidated());
        let mut nodes = 0;
        root.visit(&mut |_, node| {
            nodes += 1;
            node.as_ref().map(drop).map_err(|error| zarrox::Error::new(error.kind(), error.to_string()))
        })
        .unwrap();
        assert_eq!(root.open("g3/a7").unwrap().attributes()["n"], 7);
        // A format with an entry document needs this document as well.
        let reads = 1 + u64::from(format.def().entry_key().is_some());
        assert_eq!((nodes, asked(&counting)), (1000, reads), "{format}");
        root.open("g3/a7").unwrap().into_array().unwrap().read::<ArrayD<i8>>(..).unwrap();
        assert!(asked(&counting) < 8, "{format}");
    }
}

#[test]
fn it_is_used_only_for_reading_by_default() {
    for format in formats() {
        let store = hierarchy(format);
        let group = |options: OpenOptions| options.open((store.clone(), "")).unwrap().into_group().unwrap();
        assert!(group(OpenOptions::new().mode(OpenMode::Read)).is_consolidated());
        assert!(!group(OpenOptions::new()).is_consolidated());
        assert!(!group(options(format, Consolidated::Never).mode(OpenMode::Read)).is_consolidated());
        assert!(group(options(format, Consolidated::Require)).is_consolidated());
        let below = options(format, Consolidated::Require).open((store.clone(), "g")).unwrap_err();
        assert_eq!(below.kind(), ErrorKind::NotFound, "{below}");
        let nested = group(OpenOptions::new().mode(OpenMode::Read)).open("g").unwrap().into_group().unwrap();
        assert!(nested.is_consolidated());
        let names: Vec<_> = nested.children().unwrap().into_iter().map(|child| child.name).collect();
        assert_eq!(names, ["b", "h"]);
        assert!(nested.open("h/c").is_ok());
        assert_error(nested.open("x"), ErrorKind::NotFound, "/x'");
        assert!(nested.contains("h").unwrap() && !nested.contains("nothing").unwrap());
    }
}

#[test]
fn a_group_below_the_root_can_have_its_own() {
    for format in [Format::V2, Format::V3] {
        let store = hierarchy(format);
        let g = OpenOptions::new().open((store.clone(), "g")).unwrap().into_group().unwrap();
        g.consolidate_metadata().unwrap();
        let root = open(&store, format, Consolidated::Never);
        assert_eq!(differences(&root), [], "a copy within a copy is not a difference");
        root.consolidate_metadata().unwrap();
        let g = options(format, Consolidated::Require).open((store, "g")).unwrap().into_group().unwrap();
        assert_eq!(g.open("h/c").unwrap().into_array().unwrap().read::<ArrayD<i32>>(..).unwrap().sum(), 20);
        assert_eq!(differences(&g), []);
    }
}

#[test]
fn out_of_date_nodes_are_found() {
    for format in formats() {
        let store = hierarchy(format);
        let copied =
            options(format, Consolidated::Require).open((store.clone(), "")).unwrap().into_group().unwrap();
        assert_eq!(differences(&copied), []);
        let mut root = leaving(&store, format);
        array(&root, "new");
        root.delete("g/h").unwrap();
        let mut b = root.open("g/b").unwrap().into_array().unwrap();
        b.resize([6]).unwrap();
        root.open("a").unwrap().update_attributes(|map| drop(map.insert("x".into(), json!(1)))).unwrap();
        use Staleness::{Changed, Extra, Missing};
        let expected = [("a", Changed), ("g/b", Changed), ("g/h", Extra), ("g/h/c", Extra), ("new", Missing)];
        let expected = expected.map(|(path, kind)| (path.to_owned(), kind));
        assert_eq!(differences(&root), expected, "{format}");
        assert_eq!(differences(&copied), expected, "{format}");
        // No element is read by out-of-date metadata.
        for (path, how) in [("g/b", "its shape is [6]"), ("g/h/c", "was moved or deleted")] {
            let array = copied.open(path).unwrap().into_array().unwrap();
            for error in [
                array.read::<ArrayD<i32>>(..).unwrap_err(),
                array.write(s![..1], ndarray::arr1(&[1])).unwrap_err(),
                array.raw().read(&[0]).unwrap_err(),
                array.info().unwrap_err(),
            ] {
                assert_eq!(error.kind(), ErrorKind::InvalidMetadata, "{error}");
                assert!(
                    error.to_string().contains(how) && error.to_string().contains("out of date"),
                    "{error}"
                );
            }
        }
        assert_eq!(
            copied.open("a").unwrap().into_array().unwrap().read::<ArrayD<i32>>(..).unwrap().sum(),
            20
        );
        root.consolidate_metadata().unwrap();
        assert_eq!(differences(&root), []);
        root.set_attributes(json!({"t": 1}).as_object().cloned().unwrap()).unwrap();
        let own = differences(&root);
        let inline = format == Format::V3;
        assert_eq!(own.is_empty(), inline, "a group's own document has no copy only where both are one");
    }
}

#[test]
fn an_array_that_was_empty_when_it_was_copied_is_not_read_as_empty() {
    for format in formats() {
        let store = memory();
        let root = OpenOptions::new().format(format).create_group((store.clone(), "")).unwrap();
        let builder = root.create_array("a").shape([0]).chunks([2]).data_type(DataType::Int32);
        builder.create().unwrap();
        root.consolidate_metadata().unwrap();
        let mut grown = leaving(&store, format).open("a").unwrap().into_array().unwrap();
        grown.append(ndarray::arr1(&[1, 2, 3]), 0).unwrap();
        let copied = open(&store, format, Consolidated::Require).open("a").unwrap().into_array().unwrap();
        assert_eq!(copied.read::<ArrayD<i32>>(..).unwrap_err().kind(), ErrorKind::InvalidMetadata);
    }
}

#[test]
fn changes_are_refused_with_the_policy_leave_and_erase_it_with_drop() {
    for format in formats() {
        let store = hierarchy(format);
        let left = options(format, Consolidated::Require).consolidated_upkeep(Upkeep::Leave);
        let mut copied = left.open((store.clone(), "")).unwrap().into_group().unwrap();
        let mut a = copied.open("a").unwrap().into_array().unwrap();
        a.write(s![..2], 6).unwrap();
        let refused = [
            copied.create_group("x").unwrap_err(),
            copied.create_array("x").shape([1]).data_type(DataType::Int8).create().unwrap_err(),
            copied.delete("a").unwrap_err(),
            copied.move_node("a", "z").unwrap_err(),
            copied.set_attributes(zarrox::json::Map::default()).unwrap_err(),
            a.resize([9]).unwrap_err(),
            a.append(ndarray::arr1(&[1]), 0).unwrap_err(),
            a.set_attributes(zarrox::json::Map::default()).unwrap_err(),
        ];
        for error in refused {
            assert_eq!(error.kind(), ErrorKind::ReadOnly, "{error}");
            assert!(error.to_string().contains("Consolidated::Never"), "{error}");
        }
        assert_eq!(differences(&copied), []);
        let allowed = options(format, Consolidated::Require).consolidated_upkeep(Upkeep::Drop);
        let group = allowed.open((store.clone(), "")).unwrap().into_group().unwrap();
        let mut a = group.open("a").unwrap().into_array().unwrap();
        let created = array(&group, "g/new");
        created.write(.., 1).unwrap();
        assert!(!group.is_consolidated());
        assert_eq!(
            group.open("g/new").unwrap().into_array().unwrap().read::<ArrayD<i32>>(..).unwrap().sum(),
            4
        );
        a.resize([6]).unwrap();
        assert_eq!(a.read::<ArrayD<i32>>(..).unwrap().sum(), 22);
        let gone = options(format, Consolidated::Require).open((store.clone(), "")).unwrap_err();
        assert_eq!(gone.kind(), ErrorKind::NotFound);
        assert_eq!(open(&store, format, Consolidated::Auto).children().unwrap().len(), 2);
    }
}

/// Returns the document with the consolidated metadata, parsed.
fn stored(store: &Arc<dyn Store>, group: &Group) -> Json {
    let key = match group.metadata().format {
        Format::V2 => group.path().key(".zmetadata"),
        Format::V3 => group.path().key("zarr.json"),
        _ => "meta/root/consolidated/.zmetadata".to_owned(),
    };
    zarrox::json::parse(&store.get(&Key::new(key).unwrap()).unwrap().unwrap()).unwrap()
}

/// Checks that all consolidated metadata of a hierarchy is the same as if it were written now.
fn check_fresh(store: &Arc<dyn Store>, format: Format, holders: &[&str], after: &str) {
    for path in holders {
        let group = options(format, Consolidated::Never).open((store.clone(), *path)).unwrap();
        let group = group.into_group().unwrap();
        assert_eq!(differences(&group), [], "{format} '{path}' after {after}");
        assert_eq!(group.consolidated_freshness().unwrap(), Some(Freshness::UpToDate));
        let found = stored(store, &group);
        group.consolidate_metadata().unwrap();
        assert_eq!(found, stored(store, &group), "{format} '{path}' after {after}");
    }
}

#[test]
fn every_change_keeps_it_up_to_date() {
    for format in formats() {
        let store = hierarchy(format);
        let mut root = open(&store, format, Consolidated::Never);
        let holders: &[&str] = match format {
            Format::V2 | Format::V3 => &["", "g"],
            _ => &[""],
        };
        for path in holders.iter().skip(1) {
            root.open(path).unwrap().into_group().unwrap().consolidate_metadata().unwrap();
        }
        root.consolidate_metadata().unwrap();
        let fresh = |after| check_fresh(&store, format, holders, after);
        let mut new = array(&root, "g/x/y/new");
        fresh("a new array, and the groups between");
        new.resize([9]).unwrap();
        fresh("another shape");
        new.append(ndarray::arr1(&[1, 2]), 0).unwrap();
        fresh("appended values");
        let attributes = json!({"x": [1, {"y": null}], "t": "é"}).as_object().cloned().unwrap();
        new.set_attributes(attributes.clone()).unwrap();
        fresh("attributes of an array");
        root.set_attributes(attributes.clone()).unwrap();
        fresh("attributes of the root");
        let mut group = root.open("g").unwrap().into_group().unwrap();
        group.set_attributes(attributes).unwrap();
        group.create_group("empty").unwrap();
        fresh("a group and its attributes");
        group.set_attributes(zarrox::json::Map::default()).unwrap();
        fresh("no attributes");
        root.move_node("g/x", "g/h/moved").unwrap();
        root.move_node("g/h", "other/place").unwrap();
        fresh("moved nodes");
        let replace = options(format, Consolidated::Never).mode(OpenMode::Write);
        replace.create_group((store.clone(), "other")).unwrap();
        fresh("a group in the place of another");
        root.delete("g/b").unwrap();
        root.delete("a").unwrap();
        fresh("deleted nodes");
        let source = memory();
        let other = OpenOptions::new().format(Format::V2).create_group((source.clone(), "")).unwrap();
        array(&other, "in/side");
        Copier::new()
            .format(format)
            .plan((source, ""), (store.clone(), "g/conv/erted"))
            .unwrap()
            .run()
            .unwrap();
        fresh("a conversion to a place below");
        assert_eq!(
            root.tree().unwrap().to_string(),
            open(&store, format, Consolidated::Require).tree().unwrap().to_string()
        );
    }
}

#[test]
fn nodes_opened_by_it_can_be_changed_and_see_the_change() {
    for format in formats() {
        let store = hierarchy(format);
        let copied = open(&store, format, Consolidated::Require);
        let mut b = copied.open("g/b").unwrap().into_array().unwrap();
        assert_eq!(b.append(ndarray::arr1(&[7, 8]), 0).unwrap(), [6]);
        assert_eq!(b.append(ndarray::arr1(&[9]), 0).unwrap(), [7]);
        assert_eq!(copied.open("g/b").unwrap().into_array().unwrap().shape(), [7]);
        array(&copied, "g/new");
        assert!(copied.contains("g/new").unwrap());
        check_fresh(&store, format, &[""], "changes through it");
        let again = open(&store, format, Consolidated::Require).open("g/b").unwrap().into_array().unwrap();
        assert_eq!(again.read::<ArrayD<i32>>(..).unwrap().sum(), 20 + 7 + 8 + 9);
    }
}

#[test]
fn a_directory_that_is_opened_as_a_store_of_its_own_belongs_to_the_hierarchy_above() {
    for format in [Format::V2, Format::V3] {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("h.zarr");
        let root = OpenOptions::new().format(format).create_group(&path).unwrap();
        array(&root, "g/a");
        root.consolidate_metadata().unwrap();
        let node = |below: &str| {
            let store = Arc::new(DirectoryStore::open(path.join(below)).unwrap());
            OpenOptions::new().open((store, "")).unwrap()
        };
        node("g/a").into_array().unwrap().resize([9]).unwrap();
        let mut g = node("g").into_group().unwrap();
        g.set_attributes(json!({"t": 1}).as_object().cloned().unwrap()).unwrap();
        array(&g, "x/new");
        array(&g, "gone");
        g.delete("gone").unwrap();
        assert_eq!(differences(&root), [], "{format}");
    }
}

#[test]
fn damaged_consolidated_metadata_does_not_prevent_changes() {
    let store = hierarchy(Format::V2);
    let key = Key::new(".zmetadata").unwrap();
    store.set(&key, b"{", Condition::Always).unwrap();
    let root = open(&store, Format::V2, Consolidated::Never);
    array(&root, "new").resize([7]).unwrap();
    assert_eq!(store.get(&key).unwrap().unwrap(), b"{".as_slice());
    assert!(matches!(root.consolidated_freshness().unwrap(), Some(Freshness::Broken(_))));
    root.consolidate_metadata().unwrap();
    check_fresh(&store, Format::V2, &[""], "writing it anew");
    root.drop_consolidated_metadata().unwrap();
    array(&root, "newer");
    assert_eq!(root.consolidated_freshness().unwrap(), None, "where there is none, none is made");
}

#[test]
fn threads_that_change_one_hierarchy_lose_nothing_in_it() {
    for format in formats() {
        let store = hierarchy(format);
        std::thread::scope(|scope| {
            for thread in 0..8 {
                let store = &store;
                scope.spawn(move || {
                    let root = open(store, format, Consolidated::Never);
                    for n in 0..10 {
                        array(&root, &format!("g/t{thread}/a{n}")).resize([n]).unwrap();
                        if n % 3 == 0 {
                            root.delete(format!("g/t{thread}/a{n}")).unwrap();
                        }
                    }
                });
            }
        });
        check_fresh(&store, format, &[""], "threads");
    }
}

#[test]
fn formats_without_it_and_nodes_of_other_formats_are_refused_by_name() {
    let draft = Format::all().find(|format| {
        format.def().consolidation().is_none()
            && OpenOptions::new().format(*format).create_group((memory(), "")).is_ok()
    });
    if let Some(format) = draft {
        let root = OpenOptions::new().format(format).create_group((memory(), "")).unwrap();
        assert_eq!(root.consolidate_metadata().unwrap_err().kind(), ErrorKind::Unsupported);
        assert_error(root.check_consolidated(), ErrorKind::Unsupported, "cannot have consolidated metadata");
    }
    let store = hierarchy(Format::V3);
    OpenOptions::new().format(Format::V2).create_group((store.clone(), "old")).unwrap();
    let error = open(&store, Format::V3, Consolidated::Never).consolidate_metadata().unwrap_err();
    assert!(error.to_string().contains("'/old' has the format Zarr v2"), "{error}");
}

#[test]
fn damage_is_an_error_only_if_consolidated_metadata_is_required() {
    let store = hierarchy(Format::V2);
    let key = Key::new(".zmetadata").unwrap();
    for broken in
        ["", "{", "[]", "{}", r#"{"metadata": {}, "zarr_consolidated_format": 2}"#, r#"{"metadata": 3}"#]
    {
        store.set(&key, broken.as_bytes(), Condition::Always).unwrap();
        let auto =
            OpenOptions::new().mode(OpenMode::Read).open((store.clone(), "")).unwrap().into_group().unwrap();
        assert_eq!(auto.children().unwrap().len(), 2, "{broken}");
        let error = options(Format::V2, Consolidated::Require).open((store.clone(), "")).unwrap_err();
        assert!(error.to_string().contains(".zmetadata"), "{broken}: {error}");
    }
    // An invalid entry hides no other nodes.
    let entries = json!({"metadata": {
        ".zgroup": {"zarr_format": 2}, "a/.zarray": 7, "../../x/.zgroup": {"zarr_format": 2}, "": {}, "/": [],
        "b/.zgroup": {"zarr_format": 2, "consolidated_metadata": null},
    }});
    store.set(&key, entries.to_string().as_bytes(), Condition::Always).unwrap();
    let group = open(&store, Format::V2, Consolidated::Require);
    let children = group.children().unwrap();
    let children: Vec<_> = children.iter().map(|child| (child.name.as_str(), child.node.is_ok())).collect();
    assert_eq!(children, [("a", false), ("b", true)]);
}

#[test]
fn conversion_carries_it_over() {
    for (from, to) in formats().into_iter().flat_map(|from| formats().into_iter().map(move |to| (from, to))) {
        let (source, store) = (hierarchy(from), memory());
        Copier::new().format(to).plan((source, ""), (store.clone(), "")).unwrap().run().unwrap();
        let copied = open(&store, to, Consolidated::Require);
        assert_eq!(differences(&copied), [], "{from} to {to}");
        assert!(copied.open("g/h/c").is_ok());
    }
    let store = memory();
    let root = OpenOptions::new().format(Format::V2).create_group((store.clone(), "")).unwrap();
    array(&root, "g/a");
    root.consolidate_metadata().unwrap();
    Copier::new().format(Format::V3).plan_in_place((store.clone(), "")).unwrap().run().unwrap();
    assert!(store.get(&Key::new(".zmetadata").unwrap()).unwrap().is_none());
    assert_eq!(differences(&open(&store, Format::V3, Consolidated::Require)), []);
}

/// Returns a hierarchy that a version of zarr-python consolidated.
fn theirs(path: &str) -> PathBuf {
    let (writer, name) = path.split_once('/').unwrap();
    zarrox_testkit::corpus::directory(&format!("consolidated/{writer}")).join(format!("{name}.zarr"))
}

#[test]
fn consolidated_metadata_of_zarr_python_is_read() {
    for name in ["zarr2/v2-zarr2", "zarr3/v2-zarr3", "zarr3/v3", "zarr2/v3-experimental"] {
        let path = theirs(name);
        let required = OpenOptions::new().mode(OpenMode::Read).consolidated(Consolidated::Require);
        let never = required.clone().consolidated(Consolidated::Never);
        let group = |options: &OpenOptions| options.open(&path).unwrap().into_group().unwrap();
        let (copied, stored) = (group(&required), group(&never));
        assert!(copied.is_consolidated() && !stored.is_consolidated());
        assert_eq!(differences(&copied), [], "{name}");
        let tree = copied.tree().unwrap().to_string();
        assert_eq!(tree, stored.tree().unwrap().to_string(), "{name}");
        for line in ["├── H", "├── a (2, 3) int32", "        └── b (3,) float64"] {
            assert!(
                tree.lines().any(|found| found.replace('│', " ").ends_with(line.trim_start())),
                "{line} in {tree}"
            );
        }
        assert_eq!(copied.attributes()["title"], "consolidated");
        assert_eq!(copied.attributes()["nothing"], f64::NAN);
        assert_eq!(copied.open("g/inner").unwrap().attributes()["deep"], json!([1, {"x": null}]));
        let array = |path: &str| copied.open(path).unwrap().into_array().unwrap();
        assert_eq!(
            array("a").read::<ArrayD<i32>>(..).unwrap().iter().copied().collect::<Vec<_>>(),
            [0, 1, 2, 3, 4, 5]
        );
        let b = array("g/inner/b").read::<ArrayD<f64>>(..).unwrap();
        assert!(b[0].to_bits() == 0.5_f64.to_bits() && b[1].is_nan());
        if name == "zarr2/v2-zarr2" {
            let error = copied.open("odd").unwrap_err();
            assert!(error.to_string().contains("nobody-knows"), "{error}");
        }
    }
}

#[test]
fn consolidated_metadata_agrees_with_zarr_pythons() {
    for name in ["zarr2/v2-zarr2", "zarr3/v2-zarr3", "zarr3/v3"] {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("copy.zarr");
        copy(&theirs(name), &path);
        let group = zarrox::open_group(&path).unwrap();
        let file = path.join(if name == "zarr3/v3" { "zarr.json" } else { ".zmetadata" });
        let read = || -> Json {
            let text = std::fs::read_to_string(&file).unwrap().replace(": NaN", ": \"NaN\"");
            let mut json: Json = serde_json::from_str(&text).unwrap();
            if name == "zarr3/v2-zarr3" {
                for (_, entry) in json["metadata"].as_object_mut().unwrap() {
                    entry.as_object_mut().unwrap().remove("consolidated_metadata");
                }
            }
            json
        };
        let theirs = read();
        group.drop_consolidated_metadata().unwrap();
        assert_ne!(file.exists().then(read), Some(theirs.clone()));
        group.consolidate_metadata().unwrap();
        assert_eq!(read(), theirs, "{name}");
    }
}

fn copy(from: &Path, to: &Path) {
    let (from, to) = (DirectoryStore::open(from).unwrap(), DirectoryStore::create(to).unwrap());
    let mut visit = |key: Key, _| {
        to.set(&key, &from.get(&key).unwrap().unwrap(), Condition::Always).unwrap();
        ControlFlow::Continue(())
    };
    from.list_prefix(&Prefix::root(), &mut visit).unwrap();
}
