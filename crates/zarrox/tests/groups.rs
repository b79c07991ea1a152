//! Tests of groups, and of how nodes are found, created, moved and deleted.

#![expect(clippy::unwrap_used, reason = "a test stops at the first failure")]

use std::path::Path;
use std::sync::Arc;

use zarrox::json::{Map, json};
use zarrox::stores::{CountingStore, DirectoryStore, Key, MemoryStore, Operation, Store, StoreExt};
use zarrox::{Array, prelude::*, s};
use zarrox::{ErrorKind, Node, NodeKind, OpenMode, OpenOptions};
use zarrox_testkit::errors::assert_error;

fn stores() -> Vec<(Arc<dyn Store>, Option<tempfile::TempDir>)> {
    let directory = tempfile::tempdir().unwrap();
    let on_disk: Arc<dyn Store> = Arc::new(DirectoryStore::open(directory.path().join("h.zarr")).unwrap());
    vec![(Arc::new(MemoryStore::new()), None), (on_disk, Some(directory))]
}

fn array(group: &Group, path: &str) -> Array {
    group.create_array(path).shape([4]).data_type(DataType::Int32).create().unwrap()
}

#[test]
fn a_hierarchy_is_built_listed_moved_and_deleted() {
    for format in [Format::V2, Format::V3] {
        for (store, _directory) in stores() {
            let root = OpenOptions::new().format(format).create_group((store.clone(), "")).unwrap();
            array(&root, "b/deep/x");
            array(&root, "a");
            root.create_group("b/empty").unwrap();
            let names: Vec<_> = root.children().unwrap().into_iter().map(|child| child.name).collect();
            assert_eq!(names, ["a", "b"]);
            assert_eq!(root.arrays().unwrap().len(), 1);
            assert_eq!(root.groups().unwrap()[0].path().to_string(), "/b");
            assert_eq!(
                root.tree().unwrap().to_string(),
                "/\n├── a (4,) int32\n└── b\n    ├── deep\n    │   └── x (4,) int32\n    └── empty"
            );
            assert_eq!(root.groups().unwrap()[0].name(), "b");
            let node = root.open("b/deep/x").unwrap();
            assert_eq!((node.kind(), node.name()), (NodeKind::Array, "x"));
            assert_eq!((root.open("b").unwrap().kind(), root.name()), (NodeKind::Group, ""));
            let mut visited = Vec::new();
            root.visit(&mut |path, node| {
                assert!(node.is_ok());
                visited.push(path.to_owned());
                Ok(())
            })
            .unwrap();
            assert_eq!(visited, ["a", "b", "b/deep", "b/deep/x", "b/empty"]);
            root.open("b/deep/x").unwrap().into_array().unwrap().write(.., 3).unwrap();
            root.move_node("b/deep", "c/moved").unwrap();
            let moved = root.open("c/moved/x").unwrap().into_array().unwrap();
            assert_eq!(moved.read::<ArrayD<i32>>(s![0]).unwrap().sum(), 3);
            assert!(root.contains("c").unwrap() && !root.contains("b/deep").unwrap());
            root.delete("c").unwrap();
            assert!(!root.contains("c/moved/x").unwrap());
            for (from, to) in [("nothing", "d"), ("a", "b"), ("b", "b/below"), ("b", "a/inside")] {
                assert!(root.move_node(from, to).is_err(), "{from} -> {to}");
            }
            assert_eq!(root.delete("nothing").unwrap_err().kind(), ErrorKind::NotFound);
            assert_error(root.delete(""), ErrorKind::InvalidArgument, "cannot delete itself");
            assert!(root.contains("a").unwrap() && root.contains("b").unwrap());
        }
    }
}

#[test]
fn no_node_is_created_over_or_inside_an_existing_one() {
    let root = OpenOptions::new().create_group((Arc::new(MemoryStore::new()), "")).unwrap();
    array(&root, "a");
    root.create_group("g").unwrap();
    let kind = |result: zarrox::Result<Group>| result.map(|_| ()).unwrap_err().kind();
    assert_eq!(kind(root.create_group("a")), ErrorKind::AlreadyExists);
    assert_eq!(kind(root.create_group("g")), ErrorKind::AlreadyExists);
    assert_eq!(kind(root.create_group("a/below")), ErrorKind::InvalidArgument);
    assert!(root.require_group("g").is_ok() && root.require_group("new/one").is_ok());
    assert_error(root.require_group("a"), ErrorKind::InvalidArgument, "it is an array, not a group");
    let again = root.create_array("a").shape([1]).data_type(DataType::Int8);
    assert_eq!(again.clone().create().unwrap_err().kind(), ErrorKind::AlreadyExists);
    assert_eq!(again.overwrite(true).create().unwrap().shape(), [1]);
}

#[test]
fn paths_are_normalised_and_cannot_leave() {
    let root = OpenOptions::new().create_group((Arc::new(MemoryStore::new()), "")).unwrap();
    root.create_group("//a\\b/").unwrap();
    assert!(root.contains("a/b").unwrap());
    for bad in ["..", "a/../..", "./a", "a/.", "...", "a/\0"] {
        assert_eq!(root.create_group(bad).unwrap_err().kind(), ErrorKind::InvalidArgument, "{bad:?}");
        assert_error(root.open(bad), ErrorKind::InvalidArgument, "path '/");
    }
}

#[test]
fn a_node_cannot_have_the_name_of_a_document() {
    for (format, name) in [(Format::V3, "zarr.json"), (Format::V2, ".zarray"), (Format::V2, ".zattrs")] {
        let options = OpenOptions::new().format(format);
        let root = options.create_group((Arc::new(MemoryStore::new()), "")).unwrap();
        for path in [name.to_owned(), format!("{name}/below"), format!("above/{name}")] {
            let error = root.create_group(&path).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{error}");
        }
        assert!(root.children().unwrap().is_empty());
    }
}

#[test]
fn the_modes_are_those_of_h5py() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("g.zarr");
    let open = |mode: &str, path: &Path| OpenOptions::new().mode(mode.parse().unwrap()).open(path);
    for mode in ["r", "r+"] {
        assert_eq!(open(mode, &path).unwrap_err().kind(), ErrorKind::NotFound);
    }
    assert!(!path.exists(), "looking creates nothing");
    let group = open("a", &path).unwrap().into_group().unwrap();
    array(&group, "x");
    assert!(open("a", &path).unwrap().into_group().unwrap().contains("x").unwrap());
    assert_eq!(open("w-", &path).unwrap_err().kind(), ErrorKind::AlreadyExists);
    let read = open("r", &path).unwrap().into_group().unwrap();
    assert_eq!(read.create_group("y").unwrap_err().kind(), ErrorKind::ReadOnly);
    assert!(!open("w", &path).unwrap().into_group().unwrap().contains("x").unwrap());
    assert_error("rw".parse::<OpenMode>(), ErrorKind::InvalidArgument, "'rw'");
}

#[test]
fn overwriting_never_deletes_a_directory_without_a_node() {
    let directory = tempfile::tempdir().unwrap();
    let thesis = directory.path().join("thesis.tex");
    std::fs::write(&thesis, "years of work").unwrap();
    let options = OpenOptions::new().mode(OpenMode::Write);
    let error = options.create_group(directory.path()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::AlreadyExists);
    assert!(error.to_string().contains("is not a Zarr node"), "{error}");
    assert_error(
        options.create_array(directory.path()).shape([1]).data_type(DataType::Int8).create(),
        ErrorKind::AlreadyExists,
        "holds other files",
    );
    assert_eq!(std::fs::read_to_string(thesis).unwrap(), "years of work");
}

#[test]
fn a_node_inside_a_hierarchy_on_disk_belongs_to_it() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("h.zarr");
    zarrox::create_array(path.join("a/b")).shape([1]).data_type(DataType::Int8).create().unwrap();
    assert!(path.join("zarr.json").is_file() && path.join("a/zarr.json").is_file());
    assert!(!directory.path().join("zarr.json").exists());
    assert_eq!(zarrox::open(path.join("a/b")).unwrap().path().to_string(), "/a/b");
    assert_eq!(zarrox::open_group(&path).unwrap().children().unwrap().len(), 1);
    assert_error(
        zarrox::open_group(path.join("a/b")),
        ErrorKind::InvalidArgument,
        "it is an array, not a group",
    );
    assert_error(
        zarrox::open_array(path.join("a")),
        ErrorKind::InvalidArgument,
        "it is a group, not an array",
    );
}

#[test]
fn attributes_keep_order_and_unknown_members_and_both_writers() {
    for format in [Format::V2, Format::V3] {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let mut root = OpenOptions::new().format(format).create_group((store.clone(), "")).unwrap();
        let mut other = OpenOptions::new().open((store.clone(), "")).unwrap();
        root.update_attributes(|map| drop(map.insert("zebra".into(), json!({"b": 1, "a": [null, 1.5]}))))
            .unwrap();
        other.update_attributes(|map| drop(map.insert("ant".into(), json!("é")))).unwrap();
        let names: Vec<_> = other.attributes().keys().collect();
        assert_eq!(names, ["zebra", "ant"]);
        other.set_attributes(Map::new()).unwrap();
        assert!(OpenOptions::new().open((store, "")).unwrap().attributes().is_empty());
    }
}

#[test]
fn a_bad_node_never_hides_its_siblings() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let root = OpenOptions::new().create_group((store.clone(), "")).unwrap();
    array(&root, "good");
    for (name, document) in [
        ("not-json", "{"),
        ("number", "7"),
        ("from-the-future", r#"{"zarr_format": 4, "node_type": "array"}"#),
        ("unknown-type", r#"{"zarr_format":3,"node_type":"array","shape":[4],"data_type":"quaternion"}"#),
    ] {
        let key = Key::new(format!("{name}/zarr.json")).unwrap();
        store.set(&key, document.as_bytes(), Default::default()).unwrap();
    }
    let children = root.children().unwrap();
    assert_eq!(children.len(), 5);
    assert_eq!(children.iter().filter(|child| child.node.is_ok()).count(), 1);
    let tree = root.tree().unwrap().to_string();
    assert!(tree.contains("good (4,) int32") && tree.contains("quaternion"), "{tree}");
    assert!(root.contains("number").unwrap(), "a node that cannot be understood is one");
    assert_error(root.create_group("number"), ErrorKind::AlreadyExists, "'/number'");
    root.delete("number").unwrap();
}

#[test]
fn names_and_kinds_are_those_of_nodes_that_can_be_opened() {
    for format in Format::all().filter(|format| *format != Format::V1) {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let root = OpenOptions::new().format(format).create_group((store.clone(), "")).unwrap();
        array(&root, "a");
        array(&root, "deep/x").write(.., 1).unwrap();
        root.create_group("g").unwrap();
        // In the drafts and in N5, `others` is a group; in the other formats, the objects are files of
        // another program.
        for key in ["meta/others/deep/notes", "others/deep/notes", "meta/root/others/deep/notes"] {
            store.set(&Key::new(key).unwrap(), b"?", Default::default()).unwrap();
        }
        let children = root.children().unwrap();
        let opened: Vec<_> = children.iter().map(|child| (child.name.clone(), kind(&child.node))).collect();
        let kinds = root.child_kinds().unwrap();
        let kinds: Vec<_> = kinds.into_iter().map(|(name, kind)| (name, kind.ok())).collect();
        assert_eq!(kinds, opened, "{format}");
        let names: Vec<_> = opened.into_iter().map(|(name, _)| name).collect();
        assert_eq!(root.child_names().unwrap(), names, "{format}");
        for path in ["a", "a/0", "deep", "deep/x", "g", "g/none", "none", "others", "others/deep"] {
            let node = root.open(path);
            assert_eq!(root.kind(path).unwrap(), kind(&node), "{format}: {path}");
            assert_eq!(root.contains(path).unwrap(), node.is_ok(), "{format}: {path}");
        }
    }
}

fn kind(node: &zarrox::Result<Node>) -> Option<NodeKind> {
    node.as_ref().ok().map(|node| match node {
        Node::Array(_) => NodeKind::Array,
        Node::Group(_) => NodeKind::Group,
    })
}

#[test]
fn a_node_exists_if_its_document_does_and_opening_reports_its_defect() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let root = OpenOptions::new().format(Format::V2).create_group((store.clone(), "")).unwrap();
    let put = |key: &str| store.set(&Key::new(key).unwrap(), b"{", Default::default()).unwrap();
    ["array/.zarray", "group/.zgroup", "attributes/.zattrs"].into_iter().for_each(put);
    assert_eq!(root.child_names().unwrap(), ["array", "group"]);
    for (path, kind) in [("array", NodeKind::Array), ("group", NodeKind::Group)] {
        assert_eq!(root.kind(path).unwrap(), Some(kind));
        assert!(root.contains(path).unwrap());
        assert_eq!(root.open(path).unwrap_err().kind(), ErrorKind::InvalidMetadata);
    }
    assert!(!root.contains("attributes").unwrap(), "attributes alone make no node");
    assert_eq!(root.open("attributes").unwrap_err().kind(), ErrorKind::NotFound);
}

#[test]
fn names_and_kinds_of_v2_are_known_without_reading_documents() {
    let store = CountingStore::new(Arc::new(MemoryStore::new()));
    let counted: Arc<dyn Store> = Arc::new(store.clone());
    let root = OpenOptions::new().format(Format::V2).create_group((counted, "")).unwrap();
    for number in 0..10 {
        array(&root, &format!("a{number}"));
        root.create_group(format!("g{number}")).unwrap();
    }
    store.take();
    assert_eq!(root.child_kinds().unwrap().len(), 20);
    let counts = store.take();
    assert_eq!((counts.listings(), counts.values()), (1, 0), "{counts:?}");
    // An array is found by its first document, and a group by its second one.
    assert_eq!(counts.of(Operation::Size), 10 + 2 * 10, "{counts:?}");
    assert!(root.contains("a3").unwrap());
    let counts = store.take();
    assert_eq!((counts.values(), counts.of(Operation::Size)), (0, 1), "{counts:?}");
}

#[test]
fn attributes_are_written_by_few_requests() {
    let store = CountingStore::new(Arc::new(MemoryStore::new()));
    let counted: Arc<dyn Store> = Arc::new(store.clone());
    let mut root = OpenOptions::new().format(Format::V2).create_group((counted, "")).unwrap();
    let mut array = array(&root, "a");
    let number = |map: &mut zarrox::json::Map| drop(map.insert("number".to_owned(), 1.into()));
    store.take();
    array.update_attributes(number).unwrap();
    // The requests are for the document of the node, its attributes, and the consolidated metadata of its
    // group.
    let counts = store.take();
    assert_eq!((counts.values(), counts.of(Operation::Set)), (3, 1), "{counts:?}");
    root.update_attributes(number).unwrap();
    let counts = store.take();
    assert_eq!((counts.values(), counts.of(Operation::Set)), (4, 1), "{counts:?}");
}

#[test]
fn v3_is_preferred_where_both_formats_are() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    OpenOptions::new().create_group((store.clone(), "")).unwrap();
    let key = Key::new(".zgroup").unwrap();
    store.set(&key, br#"{"zarr_format": 2}"#, Default::default()).unwrap();
    assert_eq!(OpenOptions::new().open((store.clone(), "")).unwrap().format(), Format::V3);
    let v2 = OpenOptions::new().format(Format::V2).open((store, "")).unwrap();
    assert_eq!(v2.format(), Format::V2);
}

#[test]
fn whole_hierarchies_are_moved() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    let options = zarrox::OpenOptions::new();
    zarrox::create_group(path("a.zarr")).unwrap().create_group("g").unwrap();
    let reading = options.clone().mode(zarrox::OpenMode::Read);
    let refused = reading.move_node(path("a.zarr"), path("b.zarr")).unwrap_err();
    assert_eq!(refused.kind(), zarrox::ErrorKind::ReadOnly);
    options.move_node(path("a.zarr"), path("b.zarr")).unwrap();
    assert!(zarrox::open_group(path("b.zarr/g")).is_ok() && !path("a.zarr").exists());
    zarrox::create_group(path("a.zarr")).unwrap();
    let taken = options.move_node(path("a.zarr"), path("b.zarr")).unwrap_err();
    assert_eq!(taken.kind(), zarrox::ErrorKind::AlreadyExists);
    assert_error(
        options.move_node(path("b.zarr/g"), path("c.zarr")),
        ErrorKind::InvalidArgument,
        "different hierarchies",
    );
}
