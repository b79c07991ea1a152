//! N5: hierarchies of other writers, written hierarchies, and malformed ones.

#![expect(clippy::unwrap_used, reason = "a test stops at the first failure")]

use std::path::{Path, PathBuf};

use ndarray::{Array2, ArrayD, arr1};
use zarrox::codecs::{Blosc, Gzip, Shuffle, Zstd};
use zarrox::codecs::{Bz2, Lz4, Lzma, N5BlockMode, N5Lz4, Zlib};
use zarrox::json::{Json, Map, json};
use zarrox::{Array, prelude::*, s};
use zarrox::{ChunkKeyEncoding, CodecSpec, ErrorKind, OpenMode, OpenOptions, Result, Separator};

fn corpus(writer: &str) -> PathBuf {
    zarrox_testkit::corpus::directory(&format!("n5/{writer}"))
}

fn hex(text: &str) -> Vec<u8> {
    let digits = text.as_bytes().chunks_exact(2);
    digits.map(|pair| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
}

/// Returns little-endian elements in this machine's order.
fn native(mut bytes: Vec<u8>, item: usize) -> Vec<u8> {
    if cfg!(target_endian = "big") {
        bytes.chunks_exact_mut(item).for_each(<[u8]>::reverse);
    }
    bytes
}

/// Compares every node with the values that its writer read back, and returns the nodes.
fn compare(writer: &str) -> Vec<String> {
    let directory = corpus(writer);
    let text = std::fs::read(directory.join("expected.json")).unwrap();
    let expected = zarrox::json::parse_object(&text).unwrap();
    let root = OpenOptions::new().mode(OpenMode::Read).open(directory.join("data.n5")).unwrap();
    for (path, facts) in &expected {
        // The node is opened from above, and by its own path.
        let direct = zarrox::open(directory.join("data.n5").join(path)).unwrap();
        let below = match &root {
            Node::Group(group) if !path.is_empty() => group.open(path).unwrap(),
            other => other.clone(),
        };
        for node in [direct, below] {
            assert_eq!(node.format(), Format::N5, "{writer}: {path}");
            assert_eq!(Json::from(node.attributes().clone()), facts["attributes"], "{writer}: {path}");
            match node {
                Node::Array(array) => compare_array(&array, facts, &format!("{writer}: {path}")),
                Node::Group(_) => assert!(facts.get("elements").is_none(), "{writer}: {path} is an array"),
            }
        }
    }
    let mut found = Vec::new();
    root.into_group()
        .unwrap()
        .visit(&mut |path, node| {
            assert!(node.is_ok(), "{writer}: {path}");
            found.push(path.to_owned());
            Ok(())
        })
        .unwrap();
    let missed = expected.keys().find(|path| !path.is_empty() && !found.contains(path));
    assert_eq!(missed, None, "{writer}: found in a listing");
    found
}

fn compare_array(array: &Array, facts: &Json, place: &str) {
    assert_eq!(json!(array.shape()), facts["shape"], "{place}");
    assert_eq!(json!(array.unit_shape()), facts["chunks"], "{place}");
    assert_eq!(array.data_type().to_string(), facts["data_type"], "{place}");
    let item = array.data_type().size();
    let expected = native(hex(facts["elements"].as_str().unwrap()), item);
    assert_eq!(array.read::<DynArray>(..).unwrap().as_bytes(), expected, "{place}");
    // Reads a single element, and the last row backwards.
    if let [rows, ..] = *array.shape() {
        let row = expected.len() / usize::try_from(rows).unwrap();
        let last = array.read::<DynArray>(s![-1]).unwrap();
        assert_eq!(last.as_bytes(), &expected[expected.len() - row..], "{place}: the last row");
    }
}

#[test]
fn arrays_of_zarr_python_2() {
    let found = compare("zarr2");
    assert_eq!(found.len(), 26, "{found:?}");
}

#[test]
fn arrays_of_tensorstore() {
    // There is no document at the root: only the name implies N5.
    assert!(!corpus("tensorstore").join("data.n5/attributes.json").exists());
    assert_eq!(compare("tensorstore").len(), 18);
}

#[test]
fn arrays_of_z5() {
    assert_eq!(compare("z5py").len(), 19);
}

#[test]
fn arrays_of_java() {
    assert_eq!(compare("java"), ["images", "images/lz4", "images/noise", "labels", "old", "old/raw"]);
}

#[test]
fn lists_of_elements_are_read_as_such() {
    let array = zarrox::open_array(corpus("java").join("data.n5/labels")).unwrap();
    assert_eq!((array.shape(), array.raw().key(&[1, 0]).unwrap()), (&[4, 2][..], "labels/0/1".to_owned()));
    let error = array.read::<ArrayD<u8>>(..).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    let message = error.to_string();
    assert!(message.contains("chunk [0, 0]"), "{message}");
    assert!(message.contains("7 elements for a shape of [2, 2], which has 4"), "{message}");
    let block = array.raw().n5_block(&[0, 0]).unwrap().unwrap();
    assert_eq!((block.mode, &block.shape[..]), (N5BlockMode::VarLength, &[2, 2][..]));
    assert_eq!(block.elements, [10, 11, 12, 13, 14, 15, 16]);
    // The block has as many elements as its shape requires: it is read like other blocks.
    let box_of_four = Array2::from_shape_vec((2, 2), vec![20, 21, 22, 23]).unwrap();
    assert_eq!(array.read::<ArrayD<u8>>(s![2.., ..]).unwrap(), box_of_four.into_dyn());
    let plain = zarrox::open_array(corpus("java").join("data.n5/old/raw")).unwrap();
    assert_eq!(plain.raw().n5_block(&[1, 1]).unwrap().unwrap().elements.len(), 2 * 3 * 4);
}

/// The registered codec `n5_default`: an array of v3 over blocks of N5, with N5's order of axes.
#[test]
fn blocks_are_chunks_of_v3_too() {
    let directory = tempfile::tempdir().unwrap();
    let source = corpus("zarr2").join("data.n5/codecs/zstd");
    for entry in std::fs::read_dir(&source).unwrap().map(Result::unwrap) {
        let name = entry.file_name();
        for block in ["0/0", "1/0", "0/1"] {
            let (from, to) = (source.join(&name).join(block), directory.path().join(&name).join(block));
            if from.is_file() {
                std::fs::create_dir_all(to.parent().unwrap()).unwrap();
                std::fs::copy(from, to).unwrap();
            }
        }
    }
    let document = json!({
        "zarr_format": 3, "node_type": "array", "shape": [9, 2, 3], "data_type": "uint16", "fill_value": 0,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [4, 2, 2]}},
        "chunk_key_encoding": {"name": "v2", "configuration": {"separator": "/"}},
        "codecs": [{"name": "n5_default", "configuration": {"codecs": [
            {"name": "transpose", "configuration": {"order": [2, 1, 0]}},
            {"name": "bytes", "configuration": {"endian": "big"}},
            {"name": "zstd", "configuration": {"level": 3, "checksum": false}},
        ]}}],
    });
    std::fs::write(directory.path().join("zarr.json"), document.to_string()).unwrap();
    let v3 = OpenOptions::new().strict(true).open(directory.path()).unwrap().into_array().unwrap();
    let n5 = zarrox::open_array(&source).unwrap();
    let values = n5.read::<ArrayD<u16>>(..).unwrap();
    assert_eq!(v3.read::<ArrayD<u16>>(..).unwrap(), values.t());
    v3.write(s![1..6, .., 1], ndarray::Array2::<u16>::ones((5, 2))).unwrap();
    let mut expected = values.t().to_owned();
    expected.slice_mut(ndarray::s![1..6, .., 1]).fill(1);
    assert_eq!(v3.read::<ArrayD<u16>>(..).unwrap(), expected);
}

fn document(directory: &Path) -> Json {
    serde_json::from_slice(&std::fs::read(directory.join("attributes.json")).unwrap()).unwrap()
}

fn numbers() -> ArrayD<u16> {
    Array2::from_shape_fn((5, 7), |(i, j)| u16::try_from(i * 1000 + j).unwrap()).into_dyn()
}

#[test]
fn new_hierarchies_are_as_the_specification_has_them() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().join("new.n5");
    let path = root.join("a/b");
    let builder = zarrox::create_array(&path).shape([5, 7]).data_type(DataType::UInt16).chunks([3, 4]);
    let attributes = Map::from_iter([("units".to_owned(), json!(["nm", "nm"]))]);
    let mut array = builder.no_compressor().attributes(attributes).create().unwrap();
    assert_eq!(array.metadata().format, Format::N5);
    array.write(.., numbers()).unwrap();
    assert_eq!(document(&root), json!({"n5": "2.0.0"}));
    assert_eq!(document(&root.join("a")), json!({}));
    let expected = json!({
        "dimensions": [7, 5], "blockSize": [4, 3], "dataType": "uint16", "compression": {"type": "raw"},
        "units": ["nm", "nm"],
    });
    assert_eq!(document(&path), expected);
    let block = std::fs::read(path.join("1/0")).unwrap();
    assert_eq!(block[..14], hex("0000000200000004000000030004")[..], "mode, rank, x, y, the first element");
    assert_eq!(block.len(), 12 + 24);
    assert!(path.join("0/1").is_file() && !path.join("2").exists());

    array.resize([6, 9]).unwrap();
    array.update_attributes(|map| drop(map.insert("more".into(), json!(1)))).unwrap();
    let changed = document(&path);
    assert_eq!((&changed["dimensions"], &changed["more"]), (&json!([9, 6]), &json!(1)));
    assert_eq!(array.read::<ArrayD<u16>>(s![..5, ..7]).unwrap(), numbers());
    assert_eq!(array.read::<ArrayD<u16>>(s![5, ..]).unwrap(), arr1(&[0; 9]).into_dyn());
    array.resize([2, 2]).unwrap();
    assert!(!path.join("1").exists() && !path.join("0/1").exists(), "blocks outside are erased");
    let info = array.info().unwrap();
    assert_eq!((info.chunks_stored, info.chunks), (1, Some(1)));

    let tree = zarrox::open_group(&root).unwrap().tree().unwrap().to_string();
    assert!(tree.contains("a") && tree.contains("b (2, 2) uint16"), "{tree}");
}

#[test]
fn every_compression_round_trips_through_its_own_words() {
    let directory = tempfile::tempdir().unwrap();
    let cases: [(CodecSpec, Json); 8] = [
        (Gzip::level(3).into(), json!({"type": "gzip", "level": 3, "useZlib": false})),
        (Zlib::level(4).into(), json!({"type": "gzip", "level": 4, "useZlib": true})),
        (Bz2::level(2).into(), json!({"type": "bzip2", "blockSize": 2})),
        (Lzma::xz(1).into(), json!({"type": "xz", "preset": 1})),
        (N5Lz4::block_size(128).into(), json!({"type": "lz4", "blockSize": 128})),
        // LZ4 has another framing in N5.
        (Lz4::default().into(), json!({"type": "lz4", "blockSize": 65536})),
        (
            Blosc::zstd().level(2).shuffle(Shuffle::Bit).into(),
            json!({"type": "blosc", "cname": "zstd", "clevel": 2, "shuffle": 2, "blocksize": 0}),
        ),
        (Zstd::level(5).into(), json!({"type": "zstd", "level": 5})),
    ];
    for (index, (codec, expected)) in cases.into_iter().enumerate() {
        let path = directory.path().join(format!("x.n5/{index}"));
        let builder = zarrox::create_array(&path).shape([5, 7]).data_type(DataType::UInt16).chunks([3, 4]);
        builder.compressor(codec.clone()).create().unwrap().write(.., numbers()).unwrap();
        assert_eq!(document(&path)["compression"], expected);
        let again = OpenOptions::new().strict(true).open(&path).unwrap().into_array().unwrap();
        assert_eq!(again.read::<ArrayD<u16>>(..).unwrap(), numbers(), "{codec}");
    }
}

#[test]
fn properties_beyond_n5_are_refused_by_name() {
    let directory = tempfile::tempdir().unwrap();
    let refused = |made: &dyn Fn(zarrox::ArrayBuilder) -> zarrox::ArrayBuilder, named: &str| {
        let builder =
            zarrox::create_array(directory.path().join("a.n5/x")).shape([4]).data_type(DataType::Int16);
        let message = made(builder).create().unwrap_err().to_string();
        assert!(message.contains(named), "{message}");
    };
    refused(&|b| b.data_type(DataType::Bool), "data type 'bool'");
    refused(&|b| b.data_type(DataType::Complex64), "data type 'complex64'");
    refused(&|b| b.fill_value(1_i16), "fill value");
    refused(&|b| b.dimension_names(["x"]), "dimension names");
    refused(&|b| b.chunks([2]).shards([4]), "shards");
    refused(&|b| b.rectilinear_chunks([[1, 3]]), "chunks of several shapes");
    refused(&|b| b.separator(Separator::Dot), "chunk keys");
    refused(&|b| b.chunk_key_encoding(ChunkKeyEncoding::Default(Separator::Slash)), "chunk keys");
    refused(&|b| b.filter(zarrox::codecs::Crc32c::default()), "one compressor");
    refused(&|b| b.no_compressor().filter(zarrox::codecs::Crc32c::default()), "crc32c");
    refused(&|b| b.shape([4, 4]).order(Order::ColumnMajor), "order");
    refused(&|b| b.compressor(CodecSpec::new("zstd", json!({"level": 1, "checksum": true}))), "checksum");
    refused(&|b| b.compressor(CodecSpec::new("numcodecs.lzma", json!({"format": 2}))), "lzma");
    for name in ["n5", "dimensions", "blockSize", "dataType", "compression", "compressionType"] {
        refused(&|b| b.attributes(Map::from_iter([(name.to_owned(), json!(1))])), name);
    }
    assert!(!directory.path().join("a.n5/x").exists());
    let mut group = zarrox::create_group(directory.path().join("b.n5")).unwrap();
    let error = group.update_attributes(|map| drop(map.insert("dimensions".into(), json!([1])))).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    assert_eq!(document(&directory.path().join("b.n5")), json!({"n5": "2.0.0"}));
}

#[test]
fn directories_are_groups_and_other_files_are_not_deleted() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().join("r.n5");
    std::fs::create_dir_all(root.join("deep/er")).unwrap();
    assert_eq!(zarrox::open(&root).unwrap_err().kind(), ErrorKind::NotFound, "nothing is there");
    std::fs::write(root.join("deep/er/notes.txt"), "not a node's").unwrap();
    assert!(zarrox::open_group(&root).unwrap().contains("deep/er").unwrap());
    // A directory is not deleted because of its name alone.
    let overwrite = OpenOptions::new().mode(OpenMode::Write);
    assert_eq!(overwrite.create_group(&root).unwrap_err().kind(), ErrorKind::AlreadyExists);
    assert_eq!(OpenOptions::new().delete(&root).unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(OpenOptions::new().delete(root.join("deep")).unwrap_err().kind(), ErrorKind::NotFound);
    let mut group = zarrox::open_group(root.join("deep")).unwrap();
    group.update_attributes(|map| drop(map.insert("a".into(), json!("b")))).unwrap();
    assert_eq!(document(&root.join("deep")), json!({"a": "b"}));
    assert_eq!(zarrox::open_group(&root).unwrap().open("deep").unwrap().attributes()["a"], "b");
    // In other directories, a file of this name has no meaning.
    let other = directory.path().join("other");
    std::fs::create_dir(&other).unwrap();
    for text in ["{\"a\": 1}", "[1]", "no JSON", "{\"dimensions\": [1]}"] {
        std::fs::write(other.join("attributes.json"), text).unwrap();
        assert_eq!(zarrox::open(&other).unwrap_err().kind(), ErrorKind::NotFound, "{text}");
        assert_eq!(overwrite.create_group(&other).unwrap_err().kind(), ErrorKind::AlreadyExists, "{text}");
    }
    // With an explicit format, neither the name nor the version at the root is required.
    std::fs::write(other.join("attributes.json"), "{\"a\": 1}").unwrap();
    let named = OpenOptions::new().format(Format::N5).open(&other).unwrap();
    assert_eq!(named.attributes()["a"], 1);
    std::fs::write(other.join("attributes.json"), "{\"n5\": \"4.0.0\", \"a\": 1}").unwrap();
    let mut group = zarrox::open_group(&other).unwrap();
    group.create_group("below").unwrap();
    group.set_attributes(Map::default()).unwrap();
    assert_eq!(document(&other), json!({"n5": "4.0.0"}), "what is reserved stays");
    assert_eq!(zarrox::open(other.join("below")).unwrap().format(), Format::N5);
    OpenOptions::new().delete(&other).unwrap();
    // Another format can be set.
    let v3 = OpenOptions::new().format(Format::V3).create_group(directory.path().join("v3.n5")).unwrap();
    assert_eq!(v3.metadata().format, Format::V3);
    assert_eq!(zarrox::open(directory.path().join("v3.n5")).unwrap().format(), Format::V3);
}

/// Returns an array of four `int16` with this document, which is changed by `edit`.
fn opened(edit: &dyn Fn(&mut Json)) -> Result<Array> {
    let directory = tempfile::tempdir().unwrap();
    let mut document = json!({
        "dimensions": [4], "blockSize": [2], "dataType": "int16", "compression": {"type": "raw"},
    });
    edit(&mut document);
    std::fs::write(directory.path().join("attributes.json"), document.to_string()).unwrap();
    std::fs::write(directory.path().join("0"), hex("000000010000000200010002")).unwrap();
    zarrox::open(directory.path())?.into_array().inspect(|array| {
        let _ = array.read::<DynArray>(..);
    })
}

#[test]
fn malformed_documents_are_errors_that_name_the_member() {
    assert!(opened(&|_| {}).is_ok());
    let broken: [(&str, Json, &str); 20] = [
        ("dimensions", json!([-1]), "dimensions"),
        ("dimensions", json!("4"), "dimensions"),
        ("dimensions", json!([4, 4]), "dimensions"),
        ("blockSize", json!([0]), "0"),
        ("blockSize", json!([]), "dimensions"),
        ("blockSize", Json::Null, "blockSize"),
        ("dataType", json!("object"), "object"),
        ("dataType", json!("string"), "string"),
        ("dataType", json!("complex64"), "complex64"),
        ("dataType", json!(7), "dataType"),
        ("compression", json!("raw"), "compression"),
        ("compression", json!({}), "type"),
        ("compression", json!({"type": 1}), "type"),
        ("compression", json!({"type": "jpeg"}), "jpeg"),
        ("compression", json!({"type": "gzip", "level": 10}), "level"),
        ("compression", json!({"type": "bzip2", "blockSize": 0}), "level"),
        ("compression", json!({"type": "xz", "preset": 99}), "liblzma"),
        ("compression", json!({"type": "lz4", "blockSize": "x"}), "blockSize"),
        ("compression", json!({"type": "blosc", "cname": "nosuch"}), "cname"),
        ("shardSize", json!([8]), "sharded"),
    ];
    for (member, value, named) in broken {
        let message = opened(&|document| document[member] = value.clone()).unwrap_err().to_string();
        assert!(message.contains(named), "{member} {value}: {message}");
    }
    let error =
        opened(&|document| drop(document.as_object_mut().unwrap().remove("compression"))).unwrap_err();
    assert!(error.to_string().contains("'compression' is missing"), "{error}");
    let error = opened(&|document| document["n5"] = json!("5.1.0")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.to_string().contains("5.1.0"), "{error}");
    for kind in ["gzip", "bzip2", "xz", "lz4", "blosc", "zstd"] {
        let by_name = |document: &mut Json| document["compression"] = json!({"type": kind});
        assert!(opened(&by_name).is_ok(), "{kind} has defaults");
    }
}

#[test]
fn malformed_blocks_are_errors_that_name_the_chunk() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.n5/a");
    let builder = zarrox::create_array(&path).shape([2, 2]).chunks([2, 2]).data_type(DataType::Int16);
    let array = builder.no_compressor().create().unwrap();
    let cases = [
        ("", "truncated"),
        ("0000", "truncated"),
        ("00000002000000020000", "truncated"),
        ("000000020000000200000002000100020003", "truncated"),
        ("000000020000000200000002000100020003000400", "too long"),
        ("0000000100000004", "1 dimensions, but the array has 2"),
        ("000000020000000300000002", "larger than the chunk"),
        ("00000002ffffffffffffffff", "larger than the chunk"),
        ("000200000002", "mode 2"),
        ("00090002", "the mode of the block is 9"),
        ("000000020000000000000002", "empty"),
    ];
    for (block, named) in cases {
        array.raw().write(&[0, 0], &hex(block)).unwrap();
        for message in [
            array.read::<ArrayD<i16>>(..).unwrap_err().to_string(),
            array.read::<ArrayD<i16>>(s![1, 1]).unwrap_err().to_string(),
            array.write(s![0, 0], 5_i16).unwrap_err().to_string(),
        ] {
            assert!(message.contains("chunk [0, 0]") && message.contains(named), "{block}: {message}");
        }
    }
    // The block has one row of two elements: N5 stores the length along x first. A write completes
    // the block.
    array.raw().write(&[0, 0], &hex("00000002000000020000000100070008")).unwrap();
    assert_eq!(array.read::<ArrayD<i16>>(..).unwrap().into_raw_vec_and_offset().0, [7, 8, 0, 0]);
    array.write(s![1, 1], 9_i16).unwrap();
    assert_eq!(array.read::<ArrayD<i16>>(..).unwrap().into_raw_vec_and_offset().0, [7, 8, 0, 9]);
    assert_eq!(array.raw().read(&[0, 0]).unwrap().unwrap().len(), 12 + 8);
}
