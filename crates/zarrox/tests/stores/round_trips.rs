//! Every data type in every format: written values are read back, or the error names the unsupported type.

#![expect(clippy::unwrap_used, reason = "a test stops at the first failure")]

use std::sync::Arc;

use zarrox::data_type::{Endian, Storage};
use zarrox::internals::data_type::ByteOrder;
use zarrox::internals::msgpack;
use zarrox::json::{Json, json};
use zarrox::prelude::*;
use zarrox::stores::{Key, MemoryStore, Store, StoreExt};
use zarrox::{Array, ArrayBuilder, Error, ErrorKind, FillValue, NodePath, OpenOptions, Registry, s};

fn registry() -> Registry {
    zarrox::codecs::registry()
}

fn memory() -> Arc<dyn Store> {
    Arc::new(MemoryStore::new())
}

/// Returns the path of the array of a format: v1 has no groups, so it is the root.
fn place(format: Format) -> &'static str {
    if format == Format::V1 { "" } else { "a" }
}

fn builder(store: &Arc<dyn Store>, format: Format, data_type: &DataType, length: usize) -> ArrayBuilder {
    let builder = OpenOptions::new().create_array((store.clone(), place(format))).format(format);
    builder.shape([length as u64]).chunks([3]).data_type(data_type.clone())
}

fn reopened(store: &Arc<dyn Store>, format: Format, strict: bool) -> Array {
    OpenOptions::new().strict(strict).open((store.clone(), place(format))).unwrap().into_array().unwrap()
}

/// Returns the type as the format stores it: v3 has two names for raw bytes, and v2 has one.
fn as_read(format: Format, data_type: &DataType) -> DataType {
    match data_type.storage() {
        Storage::Raw(size) if data_type.to_string().starts_with("raw_bytes") && format != Format::V3 => {
            DataType::RawBits(size)
        }
        _ => data_type.clone(),
    }
}

/// Returns elements of a type with bits that are easily lost, in this machine's endianness.
fn samples(data_type: &DataType) -> Vec<Vec<u8>> {
    if let Some(structure) = data_type.fields() {
        let fields: Vec<_> = structure.fields().iter().map(|field| samples(&field.data_type)).collect();
        let longest = fields.iter().map(Vec::len).max().unwrap();
        let record = |k: usize| fields.iter().flat_map(|field| field[k % field.len()].clone()).collect();
        return (0..longest).map(record).collect();
    }
    if let Some(item) = data_type.vlen_item() {
        let numbers = samples(&item);
        return vec![vec![], numbers[0].clone(), numbers.concat(), numbers[1..3].concat()];
    }
    if let Some(value) = data_type.optional_value() {
        let present = samples(&value).into_iter().map(|value| [&[1], value.as_slice()].concat());
        let missing = if value.storage() == Storage::Variable { vec![] } else { vec![0; data_type.size()] };
        return std::iter::once(missing).chain(present).collect();
    }
    match data_type.storage() {
        Storage::Variable if *data_type == DataType::object() => objects(),
        Storage::Variable if data_type.to_string() == "string" => {
            ["", "a", "né🧊", "\0", "ends in\0", "longer than the sixteen bytes of a handle"]
                .map(|text| text.as_bytes().to_vec())
                .to_vec()
        }
        Storage::Variable => {
            vec![vec![], vec![0], vec![0xff, 0], (0..=255).collect(), b"text".to_vec()]
        }
        Storage::Bool => vec![vec![0], vec![1], vec![1]],
        Storage::Utf32(size) => texts(size / 4),
        Storage::Complex(size) => pairs(&patterns(size / 2)),
        other => patterns(other.size()),
    }
}

/// Encodes JSON as MessagePack, the form of objects in memory.
fn objects() -> Vec<Vec<u8>> {
    let values = json!([null, false, 0, -1, u64::MAX, i64::MIN, 0.5, -0.0, 1e300, "", "né\0", [], [[1], {}], {"": [null], "b": {"a": 1}}]);
    let message = |json: &Json| {
        let mut bytes = Vec::new();
        msgpack::from_json(json, &mut bytes).unwrap();
        bytes
    };
    values.as_array().unwrap().iter().map(message).collect()
}

fn texts(length: usize) -> Vec<Vec<u8>> {
    let code_points =
        [[0; 3], [0x61, 0xe9, 0x1f9ca], [0x10_ffff, 0, 0], [0x61, 0, 0x62], [0xd7ff, 0xe000, 0xffff_u32]];
    let text = |points: &[u32; 3]| points.iter().take(length).flat_map(|point| point.to_ne_bytes()).collect();
    code_points.iter().map(text).collect()
}

/// Returns the bytes of zeros, ones, signs, infinities, NaN with and without a payload, and the numbers next to these.
fn patterns(size: usize) -> Vec<Vec<u8>> {
    if size == 1 {
        return (0..=255).map(|byte| vec![byte]).collect();
    }
    let upper: &[&[u8]] = match size {
        2 => &[&[0x7c, 0], &[0xfc, 0], &[0x7e, 0], &[0x7f, 0x80], &[0xfe, 0x2a]],
        4 => &[&[0x7f, 0x80], &[0xff, 0x80], &[0x7f, 0xc0], &[0xff, 0xc0, 0, 0x2a], &[0x7f, 0x80, 0, 1]],
        8 => &[&[0x7f, 0xf0], &[0xff, 0xf0], &[0x7f, 0xf8], &[0xff, 0xf8, 0, 0, 0, 0, 0, 0x2a]],
        _ => &[],
    };
    let edges: &[&[u8]] = &[&[], &[0x80], &[0x3f, 0x80], &[0, 1], &[1]];
    let padded = |bytes: &&[u8]| {
        let mut big = bytes.to_vec();
        big.resize(size, 0);
        if size.is_power_of_two() && Endian::NATIVE == Endian::Little {
            big.reverse();
        }
        big
    };
    let counted = (1..=size).map(|n| u8::try_from(n).unwrap()).collect();
    let filled = [0xff, 0x7f, 0x80].map(|byte| vec![byte; size]);
    let mut lowest = vec![0; size];
    lowest[0] = 1;
    let mut all: Vec<_> = edges.iter().chain(upper).map(padded).collect();
    all.extend(filled);
    all.extend([counted, lowest]);
    all
}

/// Returns each part, concatenated with the next part.
fn pairs(parts: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let next = parts.iter().cycle().skip(1);
    parts.iter().zip(next).map(|(a, b)| [a.as_slice(), b].concat()).collect()
}

/// Returns the samples in the library's normal form: meaningless bits are cleared.
fn sample(data_type: &DataType) -> DynArray {
    let elements = samples(data_type);
    let length = elements.len();
    let array = DynArray::from_elements(data_type.clone(), vec![length], elements).unwrap();
    assert!(length >= 3, "{data_type}");
    array
}

/// Checks that an error names the unsupported type or value, and that nothing was stored.
fn assert_refused(error: &Error, store: &Arc<dyn Store>, format: Format, data_type: &DataType) {
    let message = error.to_string();
    let named = data_type.to_string();
    let named = named.split(['(', ' ']).next().unwrap();
    let in_v2 = registry().data_type_to_v2(data_type, &ByteOrder::One(Endian::Little));
    let in_v2 = in_v2.is_ok_and(|dtype| message.contains(&dtype.to_string()));
    assert_eq!(error.kind(), ErrorKind::Unsupported, "{format}: {message}");
    assert!(message.contains(named) || in_v2, "{format}: the refusal does not name {named}: {message}");
    assert!(OpenOptions::new().open((store.clone(), place(format))).is_err(), "{format}: {data_type}");
}

/// Calls `work` with every data type in each format that supports it. The other formats must refuse the type.
fn each(mut work: impl FnMut(Format, &DataType)) {
    for format in Format::all() {
        let mut said = 0;
        for data_type in registry().examples() {
            let store = memory();
            match builder(&store, format, &data_type, 1).create() {
                Ok(_) => work(format, &data_type),
                Err(error) => {
                    assert_refused(&error, &store, format, &data_type);
                    continue;
                }
            }
            said += 1;
        }
        assert!(said >= 10, "{format} can say only {said} types");
    }
}

#[test]
fn values_in_any_format_round_trip() {
    each(|format, data_type| {
        let values = sample(data_type);
        let length = values.shape()[0];
        for endian in [Endian::Little, Endian::Big] {
            let store = memory();
            // One chunk is never written.
            let array = builder(&store, format, data_type, length + 3).endian(endian).create().unwrap();
            array.write(s![..i64::try_from(length).unwrap()], &values).unwrap();
            for strict in [false, true] {
                let array = reopened(&store, format, strict);
                let place = format!("{format}: {data_type}, strict {strict}");
                assert_eq!(*array.data_type(), as_read(format, data_type), "{place}");
                assert_eq!(array.fill_bytes(), registry().default_scalar(data_type).unwrap(), "{place}");
                let read = array.read::<DynArray>(..).unwrap();
                let fill = array.fill_bytes();
                let rest = std::iter::repeat_n(fill.as_bytes(), 3);
                assert!(read.elements().eq(values.elements().chain(rest)), "{place}");
            }
        }
    });
}

/// Returns true if fill values are the same: v3 and its draft keep all bits, the other formats do not keep the payload of NaN.
fn same_fill(array: &Array, element: &[u8]) -> bool {
    let fill = array.fill_bytes();
    let text = |element: &[u8]| array.format_element(element).unwrap();
    let nan = text(element).contains("nan") && text(element) == text(fill.as_bytes());
    fill.as_bytes() == element || (nan && ![Format::V3, Format::V3Draft].contains(&array.metadata().format))
}

/// A fill value is stored exactly or refused. It is never replaced by another value.
#[test]
fn every_element_is_the_fill_value_of_an_array_or_refused() {
    let mut filled = 0;
    each(|format, data_type| {
        let known = registry();
        for element in sample(data_type).elements() {
            let element = FillValue::new(element);
            let json = known.scalar_to_v3(data_type, &element).unwrap();
            let store = memory();
            let place = format!("{format}: {data_type} filled with {json}");
            let array = builder(&store, format, data_type, 4).fill_value_json(json.clone()).create();
            let array = match array {
                Ok(array) => array,
                Err(error) => {
                    assert!(error.to_string().contains("fill"), "{place}: {error}");
                    assert!(
                        OpenOptions::new().open((store.clone(), self::place(format))).is_err(),
                        "{place}"
                    );
                    continue;
                }
            };
            assert_eq!(array.fill_bytes(), element, "{place}");
            for strict in [false, true] {
                let array = reopened(&store, format, strict);
                let fill = array.fill_bytes();
                assert!(same_fill(&array, element.as_bytes()), "{place}, strict {strict}: {fill:?}");
                assert!(
                    array.read::<DynArray>(..).unwrap().elements().all(|read| read == fill.as_bytes()),
                    "{place}"
                );
            }
            filled += 1;
        }
    });
    assert!(filled > 1000, "only {filled} were tried");
}

/// Returns the documents of an array by their keys.
fn documents(store: &Arc<dyn Store>, format: Format) -> Vec<(String, &'static str, Json)> {
    let (layout, path) = (format.def().layout(), NodePath::new(place(format)).unwrap());
    let get = |name: &&'static str| {
        let key = layout.key(&path, name);
        let bytes = store.get(&Key::new(&key).unwrap()).unwrap()?;
        Some((key, *name, serde_json::from_slice(&bytes).unwrap()))
    };
    layout.documents().iter().filter_map(get).collect()
}

#[test]
fn documents_keep_unknown_members_when_they_are_written_again() {
    each(|format, data_type| {
        let store = memory();
        let attributes = json!({"title": "né", "nested": {"list": [1, null, {}]}});
        let builder =
            builder(&store, format, data_type, 4).attributes(attributes.as_object().cloned().unwrap());
        builder.create().unwrap();
        let (key, name, mut document) = documents(&store, format).into_iter().next().unwrap();
        let unknown = json!({"must_understand": false, "list": [1, {"": null}]});
        document["something_new"] = unknown;
        store.set(&Key::new(&key).unwrap(), document.to_string().as_bytes(), Default::default()).unwrap();
        let array = reopened(&store, format, false);
        let node = zarrox::NodeMetadata::Array(array.metadata().clone());
        let written = format.def().to_documents(array.path(), &node, &registry()).unwrap();
        let written =
            |name: &str| written.iter().find(|document| document.0 == name).map(|document| &document.1);
        for (key, name, document) in documents(&store, format) {
            let written = serde_json::from_slice::<Json>(written(name).unwrap()).unwrap();
            assert_eq!(written, document, "{key} of {data_type}");
        }
        assert!(written(name).is_some());
    });
}
