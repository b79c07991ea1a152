//! The 2022 draft of version 3: its own examples, and hierarchies that are built, listed, moved and deleted.

#![expect(clippy::unwrap_used, reason = "a test stops at the first failure")]

use std::path::Path;
use std::sync::Arc;

use zarrox::json::{Json, json};
use zarrox::stores::{DirectoryStore, Key, MemoryStore, Prefix, Store, StoreExt};
use zarrox::{Array, prelude::*, s};
use zarrox::{ErrorKind, OpenOptions};

const CORE: &str = "https://purl.org/zarr/spec/core/3.0";
const GZIP: &str = "https://purl.org/zarr/spec/codecs/gzip/1.0";

fn store() -> Arc<dyn Store> {
    Arc::new(MemoryStore::new())
}

fn put(store: &Arc<dyn Store>, key: &str, document: &Json) {
    put_bytes(store, key, document.to_string().as_bytes());
}

fn put_bytes(store: &Arc<dyn Store>, key: &str, bytes: &[u8]) {
    store.set(&Key::new(key).unwrap(), bytes, Default::default()).unwrap();
}

fn keys(store: &Arc<dyn Store>) -> Vec<String> {
    let mut keys = Vec::new();
    let mut visit = |key: Key, _| {
        keys.push(key.to_string());
        std::ops::ControlFlow::Continue(())
    };
    store.list_prefix(&Prefix::root(), &mut visit).unwrap();
    keys.sort();
    keys
}

fn entry() -> Json {
    json!({
        "zarr_format": CORE,
        "metadata_encoding": {"type": "json", "metadata_key_suffix": ".json"},
        "extensions": [],
    })
}

fn small(data_type: &Json) -> Json {
    json!({
        "shape": [4],
        "data_type": data_type,
        "chunk_grid": {"type": "regular", "chunk_shape": [2], "separator": "/"},
        "chunk_memory_layout": "C",
        "fill_value": 0,
        "extensions": [],
        "attributes": {},
    })
}

fn with(member: &str, value: Json) -> Json {
    let mut document = small(&"int32".into());
    document[member] = value;
    document
}

/// Returns a hierarchy with one array, `/a`.
fn hierarchy(document: &Json) -> Arc<dyn Store> {
    let store = store();
    put(&store, "zarr.json", &entry());
    put(&store, "meta/a.array.json", document);
    store
}

fn open(document: &Json) -> zarrox::Result<Array> {
    OpenOptions::new().open((hierarchy(document), "a"))?.into_array()
}

#[test]
fn the_examples_of_the_specification_are_read() {
    let store = store();
    put(
        &store,
        "zarr.json",
        &json!({
            "zarr_format": CORE,
            "metadata_encoding": {"type": "json", "metadata_key_suffix": ".json"},
            "extensions": [{
                "extension": "http://example.org/zarr/extension/foo",
                "must_understand": false,
                "configuration": {"foo": "bar"},
            }],
        }),
    );
    let mut array = json!({
        "shape": [10000, 1000],
        "data_type": "<f8",
        "chunk_grid": {"type": "regular", "chunk_shape": [1000, 100], "separator": "/"},
        "chunk_memory_layout": "C",
        "codecs": [{"type": GZIP, "configuration": {"level": 1}}],
        "fill_value": "NaN",
        "extensions": [],
        "attributes": {"foo": 42, "bar": "apples", "baz": [1, 2, 3, 4]},
    });
    put(&store, "meta/foo/baz.array.json", &array);
    array["data_type"] = json!({
        "extension": "https://purl.org/zarr/spec/extensions/data-types/datetime/1.0",
        "type": "<M8[ns]",
        "fallback": "<i8",
    });
    array["fill_value"] = Json::Null;
    put(&store, "meta/times.array.json", &array);
    put(&store, "meta/foo.group.json", &json!({"attributes": {"spam": "ham", "eggs": 42}}));
    let root = OpenOptions::new().open((store.clone(), "")).unwrap().into_group().unwrap();
    assert_eq!(
        (root.metadata().format, root.metadata().format.to_string()),
        (Format::V3Draft, "v3-draft".into())
    );
    let baz = root.open("foo/baz").unwrap().into_array().unwrap();
    assert_eq!((baz.shape(), baz.data_type()), ([10000, 1000].as_slice(), &DataType::Float64));
    assert_eq!(baz.raw().key(&[1, 0]).unwrap(), "data/foo/baz/c1/0");
    assert_eq!(baz.attributes()["bar"], "apples");
    assert!(baz.read::<ArrayD<f64>>(s![0..2, 0]).unwrap().iter().all(|x| x.is_nan()));
    let times = root.open("times").unwrap().into_array().unwrap();
    assert_eq!(times.data_type().to_string(), "datetime64[ns]");
    assert_eq!(root.open("foo").unwrap().attributes()["eggs"], 42);
    // `null` is forbidden, although an example has it.
    let strict = OpenOptions::new().strict(true);
    assert!(strict.open((store.clone(), "times")).unwrap_err().to_string().contains("fill_value"));
    assert!(strict.open((store, "foo/baz")).is_ok());
}

#[test]
fn children_are_found_as_the_specification_has_it() {
    // "If a group is created at path /foo/bar and an array at /foo/baz/qux …"
    let store = store();
    put(&store, "zarr.json", &entry());
    put(&store, "meta/foo/bar.group.json", &json!({"attributes": {}}));
    put(&store, "meta/foo/baz/qux.array.json", &small(&"int8".into()));
    put_bytes(&store, "data/only/data/c0", b"1");
    let root = OpenOptions::new().open((store.clone(), "")).unwrap().into_group().unwrap();
    assert_eq!(
        root.tree().unwrap().to_string(),
        "/\n└── foo\n    ├── bar\n    └── baz\n        └── qux (4,) int8"
    );
    for implicit in ["foo", "foo/baz"] {
        assert!(root.open(implicit).unwrap().into_group().is_ok(), "{implicit}");
    }
    for no_node in ["meta", "data", "meta/foo", "only", "foo/ba", "foo/baz/qux/c0", "zarr.json"] {
        assert!(!root.contains(no_node).unwrap(), "{no_node}");
        let error = OpenOptions::new().open((store.clone(), no_node)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound, "{no_node}: {error}");
    }
    // An implicit group becomes explicit with its first attribute, or when it is created.
    let mut foo = root.open("foo").unwrap();
    foo.update_attributes(|map| drop(map.insert("a".into(), 1.into()))).unwrap();
    assert_eq!(root.open("foo").unwrap().attributes()["a"], 1);
    assert_eq!(root.create_group("foo").unwrap_err().kind(), ErrorKind::AlreadyExists);
    root.create_group("foo/baz").unwrap();
    assert!(keys(&store).contains(&"meta/foo/baz.group.json".to_owned()));
    let array = root.create_array("foo/baz").shape([1]).data_type(DataType::Int8).create();
    assert_eq!(array.unwrap_err().kind(), ErrorKind::AlreadyExists);
}

#[test]
fn nodes_are_created_moved_and_deleted_with_all_that_belongs_to_them() {
    let directory = tempfile::tempdir().unwrap();
    let on_disk: Arc<dyn Store> = Arc::new(DirectoryStore::open(directory.path().join("h")).unwrap());
    for store in [store(), on_disk] {
        let options = OpenOptions::new().format(Format::V3Draft);
        let root = options.create_group((store.clone(), "")).unwrap();
        let array =
            root.create_array("b/deep/x").shape([4]).chunks([2]).data_type(DataType::Int32).create().unwrap();
        array.write(.., 3).unwrap();
        root.create_group("b2").unwrap();
        assert_eq!(
            keys(&store),
            [
                "data/b/deep/x/c0",
                "data/b/deep/x/c1",
                "meta/b.group.json",
                "meta/b/deep.group.json",
                "meta/b/deep/x.array.json",
                "meta/b2.group.json",
                "meta/group.json",
                "zarr.json",
            ]
        );
        root.move_node("b/deep", "c/moved").unwrap();
        let moved = root.open("c/moved/x").unwrap().into_array().unwrap();
        assert_eq!(moved.read::<ArrayD<i32>>(..).unwrap().sum(), 12);
        assert!(root.contains("b").unwrap() && !root.contains("b/deep").unwrap());
        assert_eq!(root.move_node("b", "b2").unwrap_err().kind(), ErrorKind::AlreadyExists);
        assert_eq!(moved.info().unwrap().chunks_stored, 2);
        root.delete("c").unwrap();
        assert_eq!(keys(&store), ["meta/b.group.json", "meta/b2.group.json", "meta/group.json", "zarr.json"]);
        let existing = OpenOptions::new().open((store.clone(), "b")).unwrap();
        assert_eq!(existing.format(), Format::V3Draft);
        // A new node has the format of the hierarchy; nodes of other formats would not be found in it.
        let inherited = OpenOptions::new().create_group((store.clone(), "d/e")).unwrap();
        assert_eq!(inherited.metadata().format, Format::V3Draft);
        let other = OpenOptions::new().format(Format::V3).create_group((store.clone(), "f"));
        assert_eq!(other.unwrap_err().kind(), ErrorKind::InvalidArgument);
    }
}

#[test]
fn the_root_can_be_an_array_and_the_whole_is_replaced_or_deleted() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.zarr");
    let options = OpenOptions::new().format(Format::V3Draft);
    let create =
        |options: &OpenOptions| options.create_array(&path).shape([2, 2]).data_type(DataType::UInt8).create();
    create(&options).unwrap().write(.., 7_u8).unwrap();
    for file in ["zarr.json", "meta/array.json", "data/c0/0"] {
        assert!(path.join(file).is_file(), "{file}");
    }
    assert_eq!(zarrox::open_array(&path).unwrap().read::<ArrayD<u8>>(..).unwrap().sum(), 28);
    assert_eq!(create(&options).unwrap_err().kind(), ErrorKind::AlreadyExists);
    let replacing = options.clone().mode(zarrox::OpenMode::Write);
    assert_eq!(create(&replacing).unwrap().read::<ArrayD<u8>>(..).unwrap().sum(), 0);
    // A hierarchy of another format replaces the draft's hierarchy, and the draft's hierarchy replaces it
    // again.
    let v3 = OpenOptions::new().format(Format::V3).mode(zarrox::OpenMode::Write);
    v3.create_group(&path).unwrap();
    assert!(!path.join("meta/array.json").exists());
    assert_eq!(zarrox::open(&path).unwrap().format(), Format::V3);
    replacing.create_group(&path).unwrap();
    assert_eq!(zarrox::open(&path).unwrap().format(), Format::V3Draft);
    OpenOptions::new().delete(&path).unwrap();
    assert!(!path.join("zarr.json").exists());
    assert_eq!(zarrox::open(&path).unwrap_err().kind(), ErrorKind::NotFound);
    let scalar = options.create_array(directory.path().join("s")).shape([]).data_type(DataType::Int8);
    let scalar = scalar.create().unwrap();
    assert_eq!(scalar.raw().key(&[]).unwrap(), "data/c");
}

#[test]
fn nodes_are_opened_by_their_path_on_disk_whatever_the_root_is_called() {
    let directory = tempfile::tempdir().unwrap();
    for name in ["h.zarr", "plain"] {
        let path = directory.path().join(name);
        let root = OpenOptions::new().format(Format::V3Draft).create_group(&path).unwrap();
        root.create_array("a/b").shape([1]).data_type(DataType::Int8).create().unwrap();
        assert_eq!(zarrox::open(path.join("a/b")).unwrap().path().to_string(), "/a/b", "{name}");
        assert_eq!(zarrox::open_group(path.join("a")).unwrap().children().unwrap().len(), 1);
        for no_node in ["meta", "meta/a", "data", "meta/a/b.array.json"] {
            assert!(zarrox::open(path.join(no_node)).is_err(), "{no_node}");
        }
        // A node that is created deep inside belongs to the hierarchy.
        zarrox::create_group(path.join("new/one")).unwrap();
        assert!(path.join("meta/new/one.group.json").is_file());
    }
}

#[test]
fn the_end_of_document_keys_is_that_of_the_entry_document() {
    let store = store();
    let mut document = entry();
    document["metadata_encoding"]["metadata_key_suffix"] = json!(".zmeta");
    put(&store, "zarr.json", &document);
    put(&store, "meta/a.array.zmeta", &small(&"int32".into()));
    put(&store, "meta/b.array.json", &small(&"int32".into()));
    let root = OpenOptions::new().open((store.clone(), "")).unwrap().into_group().unwrap();
    let names: Vec<_> = root.children().unwrap().into_iter().map(|child| child.name).collect();
    assert_eq!(names, ["a"]);
    root.create_group("c/d").unwrap();
    root.open("a").unwrap().set_attributes(json!({"x": 1}).as_object().unwrap().clone()).unwrap();
    assert!(keys(&store).contains(&"meta/c/d.group.zmeta".to_owned()));
    assert_eq!(root.open("a").unwrap().attributes()["x"], 1);
}

#[test]
fn names_are_those_that_every_store_can_have() {
    let root = OpenOptions::new().format(Format::V3Draft).create_group((store(), "")).unwrap();
    for bad in ["é", "a b", "array.json", "x.group.json", "a/x.array.json/b"] {
        assert_eq!(root.create_group(bad).unwrap_err().kind(), ErrorKind::InvalidArgument, "{bad}");
    }
    assert!(root.create_group("A-1_.b").is_ok() && root.create_group("meta").is_ok());
}

#[test]
fn malformed_entry_documents_are_errors_that_name_the_defect() {
    let changed = |member: &str, value: Json| {
        let mut document = entry();
        document[member] = value;
        document
    };
    let foo = |understand: Json| json!([{"extension": "http://e.org/foo", "must_understand": understand}]);
    let bad = [
        (changed("zarr_format", "https://purl.org/zarr/spec/core/4.0".into()), "4.0"),
        (changed("zarr_format", "https://example.org/format".into()), "example.org"),
        (changed("metadata_encoding", json!(7)), "metadata_encoding"),
        (changed("metadata_encoding", json!({"type": "xml", "metadata_key_suffix": ".xml"})), "xml"),
        (
            changed(
                "metadata_encoding",
                json!({"extension": "u", "type": "json", "metadata_key_suffix": ".x"}),
            ),
            "metadata_encoding",
        ),
        (
            changed("metadata_encoding", json!({"type": "json", "metadata_key_suffix": "/../x"})),
            "metadata_key_suffix",
        ),
        (
            changed("metadata_encoding", json!({"type": "json", "metadata_key_suffix": 1})),
            "metadata_key_suffix",
        ),
        (changed("extensions", foo(true.into())), "http://e.org/foo"),
        (changed("extensions", foo(Json::Null)), "must_understand"),
        (changed("extensions", json!({})), "extensions"),
        (changed("extensions", json!([7])), "extensions"),
    ];
    for (document, named) in bad {
        let store = hierarchy(&small(&"int32".into()));
        put(&store, "zarr.json", &document);
        for path in ["", "a"] {
            let error = OpenOptions::new().open((store.clone(), path)).unwrap_err();
            assert!(error.to_string().contains(named), "{document}: {error}");
            assert!(matches!(error.kind(), ErrorKind::InvalidMetadata | ErrorKind::Unsupported), "{error}");
        }
        // The directory is a hierarchy nevertheless: nodes of other formats cannot be created in it.
        for (format, path) in
            [(Format::V3, ""), (Format::V3, "x"), (Format::V2, "x/y"), (Format::V3Draft, "x")]
        {
            let created = OpenOptions::new().format(format).create_group((store.clone(), path));
            assert!(created.is_err(), "{document}: {format} {path}");
        }
        let group = OpenOptions::new().mode(zarrox::OpenMode::Append).open((store.clone(), ""));
        assert!(group.is_err(), "{document}");
    }
    let store = store();
    put_bytes(&store, "zarr.json", b"{");
    assert!(OpenOptions::new().open((store, "")).unwrap_err().to_string().contains("JSON"));
    // An extension with `must_understand` false is accepted and kept.
    let store = hierarchy(&small(&"int32".into()));
    let document = changed("extensions", foo(false.into()));
    put(&store, "zarr.json", &document);
    let replacing = OpenOptions::new().format(Format::V3Draft).mode(zarrox::OpenMode::Write);
    replacing.create_group((store.clone(), "")).unwrap();
    let kept = store.get(&Key::new("zarr.json").unwrap()).unwrap().unwrap();
    assert_eq!(serde_json::from_slice::<Json>(&kept).unwrap(), document);
}

#[test]
fn unknown_types_are_opened_as_their_fallback_only_with_the_option() {
    let unknown = json!({"extension": "https://example.org/quaternion", "type": "q8", "fallback": ["later", "r64", "int8"]});
    let document = small(&unknown);
    let mut document = document;
    document["fill_value"] = json!("0x0102030405060708");
    let refused = open(&document).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Unsupported);
    assert!(
        refused.to_string().contains("r64") && refused.to_string().contains("data_type_fallback"),
        "{refused}"
    );
    let options = OpenOptions::new().data_type_fallback(true);
    let store = hierarchy(&document);
    let array = options.open((store.clone(), "a")).unwrap().into_array().unwrap();
    assert_eq!(array.data_type(), &DataType::RawBits(8));
    assert_eq!(array.fill_bytes().as_bytes(), [1, 2, 3, 4, 5, 6, 7, 8]);
    assert_eq!(array.fallback_from(), Some(&unknown));
    assert_eq!(array.info().unwrap().fallback_from.as_ref(), Some(&unknown));
    let none = small(&json!({"extension": "https://example.org/quaternion", "type": "q8"}));
    let error = options.open((hierarchy(&none), "a")).unwrap_err();
    assert!(error.to_string().contains("quaternion"), "{error}");
    let known = open(&small(&"int32".into())).unwrap();
    assert_eq!(known.fallback_from(), None);
}

#[test]
fn chunks_are_decoded_according_to_the_metadata() {
    let values = [1_i32, 256, -3, 4];
    let big: Vec<u8> = values.iter().flat_map(|n| n.to_be_bytes()).collect();
    let little: Vec<u8> = values.iter().flat_map(|n| n.to_le_bytes()).collect();
    let endian = |name: &str| json!([{"type": "https://purl.org/zarr/spec/codecs/endian/1.0", "configuration": {"endian": name}}]);
    let cases = [
        (with("codecs", json!([])), &little),
        (with("codecs", endian("big")), &big),
        (with("codecs", endian("little")), &little),
        (with("data_type", ">i4".into()), &big),
        (with("data_type", "<i4".into()), &little),
    ];
    for (mut document, bytes) in cases {
        document["chunk_grid"]["chunk_shape"] = json!([4]);
        let store = hierarchy(&document);
        put_bytes(&store, "data/a/c0", bytes);
        let array = OpenOptions::new().open((store, "a")).unwrap().into_array().unwrap();
        assert_eq!(array.read::<ArrayD<i32>>(..).unwrap().into_raw_vec_and_offset().0, values, "{document}");
    }
    // The order is column-major: element (1, 0) is the second one.
    let mut column = with("chunk_memory_layout", "F".into());
    column["shape"] = json!([2, 2]);
    column["chunk_grid"] = json!({"type": "regular", "chunk_shape": [2, 2], "separator": "."});
    let store = hierarchy(&column);
    put_bytes(&store, "data/a/c0.0", &little);
    let array = OpenOptions::new().open((store, "a")).unwrap().into_array().unwrap();
    assert_eq!(array.read::<ArrayD<i32>>(..).unwrap().into_raw_vec_and_offset().0, [1, -3, 256, 4]);
}

#[test]
fn shards_are_those_of_the_storage_transformer() {
    let uri = "https://purl.org/zarr/spec/extensions/storage_transformers/sharding/1.0";
    let transformer =
        json!([{"extension": uri, "type": "indexed", "configuration": {"chunks_per_shard": [2]}}]);
    let store = hierarchy(&with("storage_transformers", transformer.clone()));
    // The shard has only the second chunk: eight bytes, then the index.
    let mut shard = [7_i32, 8].map(i32::to_le_bytes).concat();
    shard.extend([u64::MAX, u64::MAX, 0, 8].map(u64::to_le_bytes).concat());
    put_bytes(&store, "data/a/c0", &shard);
    let array = OpenOptions::new().open((store.clone(), "a")).unwrap().into_array().unwrap();
    assert_eq!((array.unit_shape(), array.shard_shape()), (vec![2], Some([4].as_slice())));
    assert_eq!(array.read::<ArrayD<i32>>(..).unwrap().into_raw_vec_and_offset().0, [0, 0, 7, 8]);
    // A created array has the same document and the same bytes.
    let options = OpenOptions::new().format(Format::V3Draft);
    let written = options.create_array((store.clone(), "w")).shape([4]).chunks([2]).shards([4]);
    let written = written.data_type(DataType::Int32).no_compressor().create().unwrap();
    written.write(s![2..4], ndarray::arr1(&[7, 8])).unwrap();
    assert_eq!(written.raw().read(&[0]).unwrap().unwrap(), shard);
    let document = store.get(&Key::new("meta/w.array.json").unwrap()).unwrap().unwrap();
    let document: Json = serde_json::from_slice(&document).unwrap();
    assert_eq!(
        (&document["storage_transformers"], &document["chunk_grid"]["chunk_shape"]),
        (&transformer, &json!([2]))
    );
    for (bad, named) in [
        (json!([{"extension": uri, "type": "other"}]), "other"),
        (json!([{"extension": uri, "type": "indexed"}]), "chunks_per_shard"),
        (
            json!([{"extension": uri, "type": "indexed", "configuration": {"chunks_per_shard": [0]}}]),
            "chunks_per_shard",
        ),
        (
            json!([{"extension": uri, "type": "indexed", "configuration": {"chunks_per_shard": [1, 2]}}]),
            "chunks_per_shard",
        ),
        (
            json!([{"extension": uri, "type": "indexed", "configuration": {"chunks_per_shard": [u64::MAX]}}]),
            "too large",
        ),
        (json!([{"extension": "x", "type": "indexed"}]), "unknown storage transformer"),
        (json!([1, 2]), "storage_transformers"),
    ] {
        let error = open(&with("storage_transformers", bad.clone())).unwrap_err();
        assert!(error.to_string().contains(named), "{bad}: {error}");
    }
}

#[test]
fn a_hierarchy_that_cannot_be_understood_can_be_deleted() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("h");
    OpenOptions::new().format(Format::V3Draft).create_group(&path).unwrap().create_group("a").unwrap();
    let mut document = entry();
    document["extensions"] = json!([{"extension": "http://e.org/foo", "must_understand": true}]);
    std::fs::write(path.join("zarr.json"), document.to_string()).unwrap();
    std::fs::write(path.join("notes.txt"), "kept").unwrap();
    let error = zarrox::open(path.join("a")).unwrap_err();
    assert!(error.to_string().contains("http://e.org/foo"), "{error}");
    OpenOptions::new().delete(&path).unwrap();
    let left: Vec<_> = std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["notes.txt"]);
}

#[test]
fn codecs_are_written_with_their_uris() {
    let codec = |name: &str, configuration: Json| json!({"type": format!("https://purl.org/zarr/spec/codecs/{name}/1.0"), "configuration": configuration});
    let gzip = codec("gzip", json!({"level": 1}));
    let blosc = codec("blosc", json!({"cname": "zstd", "clevel": 5, "shuffle": 2, "blocksize": 0}));
    let big = codec("endian", json!({"endian": "big"}));
    for codecs in [json!([gzip]), json!([blosc]), json!([big, gzip]), json!([gzip, blosc])] {
        let document = with("codecs", codecs);
        let store = hierarchy(&document);
        let array = OpenOptions::new().strict(true).open((store, "a")).unwrap().into_array().unwrap();
        array.write(.., ndarray::arr1(&[1_i32, 2, 3, -4])).unwrap();
        assert_eq!(array.read::<ArrayD<i32>>(..).unwrap().sum(), 2);
        let node = zarrox::NodeMetadata::Array(array.metadata().clone());
        let written =
            Format::V3Draft.def().to_documents(array.path(), &node, &zarrox::codecs::registry()).unwrap();
        assert_eq!(serde_json::from_slice::<Json>(&written[0].1).unwrap(), document);
    }
    // The older URIs, with another stem than `codecs`.
    let uri = "https://purl.org/zarr/spec/codec/gzip/1.0";
    let old = open(&with("compressor", json!({"codec": uri, "configuration": {"level": 1}}))).unwrap();
    assert_eq!(old.codecs()[1].name, "gzip");
}

#[test]
fn a_bad_node_never_hides_its_siblings() {
    let store = hierarchy(&small(&"int32".into()));
    put_bytes(&store, "meta/bad.array.json", b"{");
    put_bytes(&store, "meta/worse.group.json", b"7");
    let root = OpenOptions::new().open((store, "")).unwrap().into_group().unwrap();
    let children = root.children().unwrap();
    assert_eq!(children.iter().map(|child| child.node.is_ok()).collect::<Vec<_>>(), [true, false, false]);
    root.delete("bad").unwrap();
    assert!(!root.contains("bad").unwrap() && root.contains("worse").unwrap());
}

#[test]
fn creating_over_other_files_leaves_them_alone() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("thesis.tex"), "years of work").unwrap();
    let options = OpenOptions::new().format(Format::V3Draft).mode(zarrox::OpenMode::Write);
    assert_eq!(options.create_group(directory.path()).unwrap_err().kind(), ErrorKind::AlreadyExists);
    assert!(Path::new(&directory.path().join("thesis.tex")).is_file());
    assert!(!directory.path().join("zarr.json").exists());
}
