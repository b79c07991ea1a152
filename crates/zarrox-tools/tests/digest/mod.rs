//! Digests: equal for equal content, different for different content, and equal to their definition.

#![expect(clippy::unwrap_used, reason = "a test stops at the first failure")]

mod manifest;
mod naive;
mod stale;
mod zarr2;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use ndarray::{ArrayD, IxDyn};
use zarrox::codecs::{Blosc, Bytes, Gzip, Sharding, Transpose, VlenUtf8, Zstd};
use zarrox::data_type::Endian;
use zarrox::json::{Json, Map, json};
use zarrox::stores::{DirectoryStore, MemoryStore, Store};
use zarrox::{ArrayBuilder, ErrorKind, MissingChunks, OpenOptions};
use zarrox::{prelude::*, s};
use zarrox_tools::copy::{Copier, Effect};
use zarrox_tools::{Digest, DigestKind, Digester, digest};

use zarrox_testkit::choices::{Choices, run};

fn memory() -> Arc<dyn Store> {
    Arc::new(MemoryStore::new())
}

fn attributes(json: &Json) -> Map {
    json.as_object().cloned().unwrap()
}

/// Returns an array of 16-bit numbers, whose first rows were never written.
fn sample(store: Arc<dyn Store>, with: impl FnOnce(ArrayBuilder) -> ArrayBuilder) -> Digest {
    let builder = OpenOptions::new().create_array((store, ""));
    let builder = builder.shape([9, 7]).data_type(DataType::Int16);
    let builder =
        builder.attributes(attributes(&json!({"units": "m", "n": [1, 2.5], "deep": {"b": null, "a": "é"}})));
    let array = with(builder).create().unwrap();
    let values =
        ArrayD::from_shape_fn(IxDyn(&[5, 7]), |place| i16::try_from(place[0] * 7 + place[1]).unwrap());
    array.write(s![4..9, ..], &values).unwrap();
    digest(&array.into()).unwrap()
}

#[test]
fn digests_are_equal_however_an_array_is_stored() {
    let plain = sample(memory(), |builder| builder);
    // An implementation of the definition in Python computed the expected digest.
    assert_eq!(plain.to_string(), "content:a572f8e4f7ba11c9bbbf8da0976d30624bbcac13e3eaf8fbe239cf95c7123cb4");
    let shards = Sharding::new([2, 3], [Bytes::little().into(), Zstd::level(1).into()]);
    let ways: [(&str, &dyn Fn(ArrayBuilder) -> ArrayBuilder); 11] = [
        ("chunks", &|b| b.chunks([4, 3])),
        ("other chunks", &|b| b.chunks([9, 1])),
        ("one chunk", &|b| b.chunks([20, 20])),
        ("shards", &|b| b.chunks([4, 6]).codecs([shards.clone().into()])),
        ("lengths that differ", &|b| b.rectilinear_chunks([vec![2_u64, 7], vec![7]])),
        ("blosc", &|b| b.compressor(Blosc::lz4())),
        ("big-endian", &|b| b.endian(Endian::Big)),
        ("transposed", &|b| {
            b.codecs([Transpose::order([1, 0]).into(), Bytes::big().into(), Gzip::level(1).into()])
        }),
        ("v2", &|b| b.format(Format::V2).order(Order::ColumnMajor)),
        ("v1", &|b| b.format(Format::V1)),
        ("N5", &|b| b.format(Format::N5)),
    ];
    for (name, way) in ways {
        assert_eq!(sample(memory(), way), plain, "{name}");
    }
    for format in [Format::V3Draft, Format::V3Experimental] {
        assert_eq!(sample(memory(), |b| b.format(format)), plain, "{format}");
    }
    let directory = tempfile::tempdir().unwrap();
    let store = Arc::new(DirectoryStore::open(directory.path().join("a.zarr")).unwrap());
    assert_eq!(sample(store, |b| b), plain);
}

#[test]
fn digests_do_not_depend_on_which_chunks_of_fill_values_are_stored() {
    let plain = sample(memory(), |builder| builder);
    let store = memory();
    sample(store.clone(), |builder| builder.chunks([2, 2]));
    let array = OpenOptions::new().store_empty_chunks(true).open((store, "")).unwrap().into_array().unwrap();
    array.write(s![..4, ..], 0_i16).unwrap();
    assert_eq!(Some(array.info().unwrap().chunks_stored), array.info().unwrap().chunks);
    assert_eq!(digest(&array.clone().into()).unwrap(), plain);
    let complete = array.with_options(&zarrox::AccessOptions::new().missing_chunks(MissingChunks::Error));
    assert_eq!(digest(&complete.into()).unwrap(), plain);
}

#[test]
fn v2_says_undefined_where_v3_says_a_number() {
    let undefined = sample(memory(), |b| b.format(Format::V2).fill_value_json(Json::Null));
    assert_eq!(undefined, sample(memory(), |b| b));
}

#[test]
fn digests_differ_wherever_something_does() {
    let plain = sample(memory(), |builder| builder);
    let others = [
        sample(memory(), |b| b.dimension_names(["y", "x"])),
        sample(memory(), |b| b.dimension_names(["x", "y"])),
        sample(memory(), |b| b.optional_dimension_names([Some("y".to_owned()), None])),
        sample(memory(), |b| b.fill_value(1_i16)),
        sample(memory(), |b| b.shape([10, 7])),
        sample(memory(), |b| b.attributes(attributes(&json!({"units": "m"})))),
        sample(memory(), |b| {
            b.attributes(attributes(&json!({"units": "m", "n": [1.0, 2.5], "deep": {"b": null, "a": "é"}})))
        }),
        sample(memory(), |b| {
            b.attributes(attributes(&json!({"units": "m", "n": [1, 2.5], "deep": {"b": null, "a": "e"}})))
        }),
    ];
    let mut all = vec![plain];
    for other in others {
        assert!(!all.contains(&other), "{other} is there twice");
        all.push(other);
    }
    let told = sample(memory(), |b| {
        b.format(Format::V2).attributes(attributes(
            &json!({"deep": {"a": "é", "b": null}, "_ARRAY_DIMENSIONS": ["y", "x"], "n": [1, 25e-1], "units": "m"}),
        ))
    });
    assert_eq!(
        told,
        sample(memory(), |b| b.dimension_names(["y", "x"])),
        "the names are xarray's attribute in v2"
    );
}

/// Returns the digest of one element of a type.
fn of_one(data_type: DataType, element: &[u8]) -> Digest {
    let array = OpenOptions::new().create_array((memory(), "")).shape([1]).data_type(data_type.clone());
    let array = array.create().unwrap();
    array.write(.., DynArray::from_elements(data_type, vec![1], [element]).unwrap()).unwrap();
    digest(&array.into()).unwrap()
}

#[test]
fn zeros_have_signs_and_nans_payloads_and_types_names() {
    let float = |bits: u64| of_one(DataType::Float64, &f64::from_bits(bits).to_ne_bytes());
    let floats =
        [0, 1 << 63, f64::NAN.to_bits(), f64::NAN.to_bits() + 1, f64::NAN.to_bits() | 1 << 63].map(float);
    let same_bytes = [DataType::Int64, DataType::UInt64, DataType::Complex64, DataType::RawBits(8)];
    let mut all: Vec<Digest> = floats.to_vec();
    all.extend(same_bytes.map(|data_type| of_one(data_type, &[0, 0, 0, 0, 0, 0, 0, 1])));
    for (index, one) in all.iter().enumerate() {
        assert!(!all[..index].contains(one), "number {index}");
    }
}

#[test]
fn padding_is_no_content() {
    let padded = json!([["a", "|u1"], ["", "|V3"], ["b", "<i4"]]);
    let packed = json!([["a", "|u1"], ["b", "<i4"]]);
    let big = json!([["a", "|u1"], ["b", ">i4"]]);
    let one = |dtype: &Json, format: Format, element: &[u8]| {
        let (data_type, order) = zarrox::codecs::registry().data_type_from_v2(dtype).unwrap();
        let array = OpenOptions::new()
            .create_array((memory(), ""))
            .format(format)
            .shape([2])
            .data_type(data_type.clone());
        let array = match order {
            Some(zarrox::internals::data_type::ByteOrder::One(endian)) => array.endian(endian),
            _ => array,
        };
        let array = array.create().unwrap();
        let values = DynArray::from_elements(data_type, vec![2], [element, element]).unwrap();
        array.write(.., &values).unwrap();
        digest(&array.into()).unwrap()
    };
    let number = 5_i32.to_ne_bytes();
    let expected = one(&packed, Format::V3, &[&[1][..], &number].concat());
    assert_eq!(one(&packed, Format::V2, &[&[1][..], &number].concat()), expected);
    assert_eq!(one(&big, Format::V2, &[&[1][..], &number].concat()), expected);
    assert_eq!(one(&padded, Format::V2, &[&[1, 9, 9, 9][..], &number].concat()), expected);
    assert_ne!(one(&padded, Format::V2, &[&[2, 9, 9, 9][..], &number].concat()), expected);
}

#[test]
fn python_objects_are_equal_by_json_and_by_message_pack() {
    let digests = ["numcodecs.json2", "numcodecs.msgpack2"].map(|codec| {
        let builder = OpenOptions::new().format(Format::V2).create_array((memory(), "")).shape([3]);
        let codec = zarrox::CodecSpec::new(codec, Json::Null);
        let array = builder.data_type(DataType::object()).codecs([codec]).create().unwrap();
        // A list of 1 and 0.5, text, and nil.
        let elements = [&[0x92, 1, 0xcb, 0x3f, 0xe0, 0, 0, 0, 0, 0, 0][..], &[0xa1, b'a'], &[0xc0]];
        let values = DynArray::from_elements(DataType::object(), vec![3], elements).unwrap();
        array.write(.., &values).unwrap();
        digest(&array.into()).unwrap()
    });
    assert_eq!(digests[0], digests[1]);
}

#[test]
fn digests_of_groups_depend_on_all_below() {
    let root = |format: Format, edit: &dyn Fn(&Group)| {
        let root = OpenOptions::new().format(format).create_group((memory(), "")).unwrap();
        root.create_group("g").unwrap().set_attributes(attributes(&json!({"a": 1}))).unwrap();
        for name in ["g/x", "y"] {
            let array = root.create_array(name).shape([3]).data_type(DataType::UInt8).create().unwrap();
            array.write(1.., 7_u8).unwrap();
        }
        edit(&root);
        digest(&root.into()).unwrap()
    };
    let plain = root(Format::V3, &|_| {});
    for format in [Format::V2, Format::N5, Format::V3Draft, Format::V3Experimental] {
        assert_eq!(root(format, &|_| {}), plain, "{format}");
    }
    assert_eq!(root(Format::V3, &|root| root.consolidate_metadata().unwrap()), plain);
    let edits: [&dyn Fn(&Group); 6] = [
        &|root| root.open("g/x").unwrap().into_array().unwrap().write(0, 1_u8).unwrap(),
        &|root| root.move_node("g/x", "g/z").unwrap(),
        &|root| root.move_node("y", "g/y").unwrap(),
        &|root| root.delete("y").unwrap(),
        &|root| drop(root.create_group("h").unwrap()),
        &|root| root.open("g").unwrap().set_attributes(Map::default()).unwrap(),
    ];
    let mut all = vec![plain];
    for edit in edits {
        let other = root(Format::V3, edit);
        assert!(!all.contains(&other));
        all.push(other);
    }
}

#[test]
fn a_node_that_cannot_be_opened_is_an_error_with_its_name() {
    use zarrox::stores::{Key, StoreExt};
    let store = memory();
    let root = OpenOptions::new().create_group((store.clone(), "")).unwrap();
    store.set(&Key::new("broken/zarr.json").unwrap(), b"{", zarrox::stores::Condition::Always).unwrap();
    let error = digest(&root.into()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidMetadata);
    assert!(error.to_string().contains("broken"), "{error}");
}

#[test]
fn converted_hierarchies_have_one_digest() {
    let store = memory();
    let root = OpenOptions::new().format(Format::V2).create_group((store.clone(), "")).unwrap();
    let text = DataType::string();
    let types = ["|b1", "<i2", ">f4", "<c16", "|S5", "<U3", "<M8[ns]", "|V6"];
    for (index, name) in types.iter().enumerate() {
        let data_type = DataType::parse(name, &zarrox::codecs::registry()).unwrap();
        let size = data_type.size();
        let array =
            root.create_array(format!("a{index}")).shape([3, 2]).chunks([2, 2]).data_type(data_type.clone());
        let array = array
            .attributes(attributes(&json!({"_ARRAY_DIMENSIONS": ["y", "x"], "n": index})))
            .create()
            .unwrap();
        let element = |n: usize| {
            if *name == "|b1" {
                vec![u8::from(n.is_multiple_of(2))]
            } else {
                vec![65 * u8::from(n.is_multiple_of(3)); size]
            }
        };
        let element = |n: usize| {
            if *name == "<U3" {
                [65_u32 + u32::try_from(n).unwrap(), 0, 0].map(u32::to_ne_bytes).concat()
            } else {
                element(n)
            }
        };
        array
            .write(.., DynArray::from_elements(data_type, vec![3, 2], (0..6).map(element)).unwrap())
            .unwrap();
    }
    let words = root
        .create_array("words")
        .shape([3])
        .chunks([2])
        .data_type(text.clone())
        .codecs([VlenUtf8.into()])
        .create()
        .unwrap();
    words.write(.., DynArray::from_elements(text, vec![3], ["", "é", "two words"]).unwrap()).unwrap();
    let expected = digest(&root.into()).unwrap();
    for format in [Format::V3, Format::V3Experimental, Format::V2] {
        let target = memory();
        // xarray's missing value is in an attribute, which is a part of the digest.
        let convert = Copier::new().format(format).lossy(true).keep_fill_values(true);
        let convert = convert.plan((store.clone(), ""), (target.clone(), "")).unwrap();
        let report = convert.run().unwrap();
        let lost = report.obstacles.iter().any(|finding| finding.effect == Effect::Loss);
        let found = digest(&OpenOptions::new().open((target, "")).unwrap()).unwrap();
        assert_eq!(found == expected, !lost, "{format}: {report}");
        assert!(!lost || format == Format::V3Experimental, "{report}");
    }
}

/// A type, and the name that it has in the definition.
const TYPES: [(&str, &str); 6] = [
    ("uint8", "uint8"),
    ("int32", "int32"),
    ("complex128", "complex128"),
    ("r4000", "r4000"),
    ("bool", "bool"),
    ("string", "string"),
];

#[derive(Debug)]
struct Case {
    shape: Vec<u64>,
    chunks: Vec<u64>,
    inner: Option<Vec<u64>>,
    data_type: usize,
    big: bool,
    memory: usize,
    seed: usize,
    /// The distance of two successive elements that differ from the fill value.
    sparse: usize,
}

impl Case {
    fn choose(choices: &mut Choices) -> Self {
        let ndim = choices.below(4);
        let shape: Vec<u64> = (0..ndim).map(|_| choices.pick(&[1, 3, 7, 20, 33, 0, 70])).collect();
        let inner: Vec<u64> = (0..ndim).map(|_| choices.pick(&[1, 2, 5, 40])).collect();
        let times: Vec<u64> = (0..ndim).map(|_| choices.pick(&[1, 2, 3])).collect();
        let sharded = choices.one_in(3);
        let chunks = if sharded {
            inner.iter().zip(times).map(|(n, times)| n * times).collect()
        } else {
            inner.clone()
        };
        Self {
            shape,
            chunks,
            inner: sharded.then_some(inner),
            data_type: choices.below(TYPES.len()),
            big: choices.one_in(2),
            memory: choices.pick(&[0, 1000, 100_000, 1 << 30]),
            seed: choices.below(1000),
            sparse: choices.pick(&[1, 5, 1000]),
        }
    }
}

#[test]
fn digests_are_as_they_are_defined() {
    run(150, Case::choose, |case| {
        let (name, type_name) = TYPES[case.data_type];
        let data_type = DataType::parse(name, &zarrox::codecs::registry()).unwrap();
        let bytes = match (name, case.big) {
            ("string", _) => VlenUtf8.into(),
            (_, true) => Bytes::big().into(),
            (_, false) => Bytes::little().into(),
        };
        let codecs = match &case.inner {
            Some(inner) => vec![Sharding::new(inner.clone(), [bytes]).into()],
            None => vec![bytes, Zstd::level(1).into()],
        };
        let builder = OpenOptions::new().create_array((memory(), "")).shape(case.shape.clone());
        let array =
            builder.chunks(case.chunks.clone()).data_type(data_type.clone()).codecs(codecs).create().unwrap();
        let shape: Vec<usize> = case.shape.iter().map(|&n| usize::try_from(n).unwrap()).collect();
        let element = |n: usize| {
            let value =
                if (n + case.seed).is_multiple_of(case.sparse) { u8::try_from(n % 251).unwrap() } else { 0 };
            match name {
                "string" => vec![b'a' + value % 26; usize::from(value) % 5],
                "bool" => vec![value % 2],
                _ => vec![value; data_type.size()],
            }
        };
        let count = shape.iter().product();
        let values = DynArray::from_elements(data_type.clone(), shape, (0..count).map(element)).unwrap();
        array.write(.., &values).unwrap();
        let expected = naive::digest(&array, type_name);
        let found = Digester::new().memory(case.memory).content(&array.into()).unwrap();
        assert_eq!(found.to_string(), expected);
    });
}

#[test]
fn the_cost_follows_what_is_stored() {
    let builder = OpenOptions::new().create_array((memory(), "")).shape([1 << 40, 1 << 20]);
    let array = builder.chunks([100, 100]).data_type(DataType::Float64).create().unwrap();
    let empty = digest(&array.clone().into()).unwrap();
    array.write(s![1_000_000_000_000_i64, 77_777], 1.0).unwrap();
    let one = digest(&array.clone().into()).unwrap();
    assert_ne!(one, empty);
    array.write(s![1_000_000_000_000_i64, 77_777], 0.0).unwrap();
    assert_eq!(digest(&array.into()).unwrap(), empty);
}

#[test]
fn damaged_chunks_are_errors_and_progress_can_end_the_work() {
    let array =
        OpenOptions::new().create_array((memory(), "a")).shape([8]).chunks([4]).data_type(DataType::Int32);
    let array = array.compressor(Zstd::level(1)).create().unwrap();
    array.write(.., 3).unwrap();
    array.raw().write(&[1], b"no chunk").unwrap();
    let node: Node = array.into();
    let error = digest(&node).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    assert!(error.to_string().contains("a/c/1"), "{error}");
    assert_eq!(digest_of_stored(&node).kind(), DigestKind::Stored, "stored bytes are not decoded");
    let stop = || Err(zarrox::Error::new(ErrorKind::Interrupted, "enough"));
    let digester = Digester::new().on_progress(move |_| stop());
    assert_eq!(digester.content(&node).unwrap_err().kind(), ErrorKind::Interrupted);
    assert_eq!(digester.stored(&node).unwrap_err().kind(), ErrorKind::Interrupted);
    let done = Arc::new(AtomicU64::new(0));
    let heard = done.clone();
    let digester = Digester::new().on_progress(move |progress| {
        assert!(progress.done <= progress.total);
        heard.fetch_max(progress.done, Ordering::Relaxed);
        Ok(())
    });
    digester.stored(&node).unwrap();
    assert!(done.load(Ordering::Relaxed) > 0);
}

fn digest_of_stored(node: &Node) -> Digest {
    Digester::new().stored(node).unwrap()
}

/// Returns a hierarchy with a value of each kind.
fn hierarchy(store: Arc<dyn Store>, format: Format) -> Group {
    let root = OpenOptions::new().format(format).create_group((store, "")).unwrap();
    let array = root
        .create_array("g/a")
        .shape([100, 100])
        .chunks([10, 50])
        .data_type(DataType::Int32)
        .create()
        .unwrap();
    array.write(s![3..70, ..], 9).unwrap();
    root.flush().unwrap();
    root
}

/// Stores of several kinds in a directory.
fn stores_in(directory: &std::path::Path) -> Vec<Arc<dyn Store>> {
    let path = |name: &str| directory.join(name);
    let mut stores: Vec<Arc<dyn Store>> = vec![Arc::new(DirectoryStore::open(path("a.zarr")).unwrap())];
    stores.push(Arc::new(
        zarrox::stores::ZipStore::open(path("a.zip"), zarrox::stores::ZipMode::Append).unwrap(),
    ));
    stores.push(
        zarrox::internals::locate(
            format!("sqlite://{}", path("a.db").display()),
            &zarrox::stores::StorageOptions::new().create(true),
        )
        .unwrap()
        .0,
    );
    stores
}

#[test]
fn digests_of_stored_values_do_not_depend_on_the_store() {
    for format in [Format::V2, Format::V3, Format::V3Experimental] {
        let directory = tempfile::tempdir().unwrap();
        let expected = digest_of_stored(&hierarchy(memory(), format).into());
        let stores = stores_in(directory.path());
        for store in stores {
            let place = store.location();
            let root = hierarchy(store.clone(), format);
            assert_eq!(digest_of_stored(&root.clone().into()), expected, "{place}");
            let array = root.open("g/a").unwrap();
            let of_array = digest_of_stored(&array);
            assert_ne!(of_array, expected);
            array.into_array().unwrap().write(s![0, 0], 1).unwrap();
            assert_ne!(digest_of_stored(&root.clone().into()), expected, "{place}");
            assert_ne!(digest_of_stored(&root.open("g/a").unwrap()), of_array);
        }
    }
}

#[test]
fn a_moved_node_keeps_its_digests() {
    let root = hierarchy(memory(), Format::V3);
    let digests = |path: &str| {
        let node = root.open(path).unwrap();
        (digest(&node).unwrap(), digest_of_stored(&node))
    };
    let before = digests("g/a");
    root.move_node("g/a", "b").unwrap();
    assert_eq!(digests("b"), before);
}
