//! Elements that the writers recorded, and elements that the library reads, in the same form.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use zarrox::json::{Json, Map, json};
use zarrox::{DataType, DynArray};

/// The kind of an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The same number of bytes for each element: little-endian numbers, and structures without
    /// padding.
    Fixed,
    /// A variable number of bytes: UTF-8, raw bytes, or little-endian numbers.
    Varied,
    /// Any JSON value.
    Object,
}

/// One element.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Element {
    Bytes(Vec<u8>),
    Object(Json),
}

/// All elements of an array, row-major.
pub(crate) struct Values {
    pub(crate) kind: Kind,
    pub(crate) elements: Vec<Element>,
}

impl Values {
    /// Returns the elements that a node of `expected.json` has.
    pub(crate) fn expected(node: &Json) -> Self {
        let listed = || node["elements"].as_array().unwrap().iter();
        let (kind, elements) = match node.get("element").and_then(Json::as_str) {
            None => {
                let size = usize::try_from(node["item"].as_u64().unwrap()).unwrap();
                let bytes = base64(&node["data"]);
                (Kind::Fixed, bytes.chunks_exact(size).map(|bytes| Element::Bytes(bytes.to_vec())).collect())
            }
            Some("utf8") => {
                (Kind::Varied, listed().map(|text| Element::Bytes(text.as_str().unwrap().into())).collect())
            }
            Some("object") => (Kind::Object, listed().cloned().map(Element::Object).collect()),
            Some(_) => (Kind::Varied, listed().map(|bytes| Element::Bytes(base64(bytes))).collect()),
        };
        Self { kind, elements }
    }

    /// Returns elements of fixed size with these elements at these positions, and zeros elsewhere.
    pub(crate) fn only(&self, positions: &[usize]) -> Self {
        let zeros = self.elements.iter().map(|element| match element {
            Element::Bytes(bytes) => Element::Bytes(vec![0; bytes.len()]),
            Element::Object(_) => Element::Object(Json::Null),
        });
        let mut elements: Vec<Element> = zeros.collect();
        for &position in positions {
            elements[position] = self.elements[position].clone();
        }
        Self { kind: self.kind, elements }
    }

    /// Returns the fill value of a node; `None` if it is undefined, or the elements vary in size.
    pub(crate) fn fill_value(node: &Json) -> Option<Element> {
        node["fill_value"].is_string().then(|| Element::Bytes(base64(&node["fill_value"])))
    }
}

fn base64(text: &Json) -> Vec<u8> {
    STANDARD.decode(text.as_str().unwrap()).unwrap()
}

/// Returns the elements of an array that the library has read.
pub(crate) fn of_array(array: &DynArray, kind: Kind) -> Vec<Element> {
    if let Some(value) = array.data_type().optional_value().filter(|_| kind == Kind::Object) {
        return array.elements().map(|element| of_optional(&value, element)).collect();
    }
    match kind {
        Kind::Fixed => array.elements().map(|element| of_element(array.data_type(), element)).collect(),
        Kind::Varied => array.elements().map(|bytes| Element::Bytes(bytes.to_vec())).collect(),
        Kind::Object => array.elements().map(|bytes| Element::Object(from_message_pack(bytes))).collect(),
    }
}

/// Returns `null`, or base64 of an element of fixed size.
fn of_optional(value: &DataType, element: &[u8]) -> Element {
    Element::Object(match element.split_first() {
        Some((1, element)) => STANDARD.encode(packed(value, element)).into(),
        _ => Json::Null,
    })
}

/// Returns an element of a fixed size, little-endian and without padding.
pub(crate) fn of_element(data_type: &DataType, element: &[u8]) -> Element {
    Element::Bytes(packed(data_type, element))
}

fn packed(data_type: &DataType, element: &[u8]) -> Vec<u8> {
    if let Some(structure) = data_type.fields() {
        let all = structure.fields().iter().flat_map(|field| {
            let values = element[field.offset..][..field.size()].chunks_exact(field.data_type.size());
            values.flat_map(|value| packed(&field.data_type, value)).collect::<Vec<u8>>()
        });
        return all.collect();
    }
    if cfg!(target_endian = "little") {
        return element.to_vec();
    }
    element.chunks_exact(data_type.storage().word()).flat_map(|word| word.iter().rev().copied()).collect()
}

/// Parses an object from MessagePack.
fn from_message_pack(mut bytes: &[u8]) -> Json {
    let object = take_object(&mut bytes);
    assert!(bytes.is_empty(), "{} bytes behind {object}", bytes.len());
    object
}

fn take<'a>(bytes: &mut &'a [u8], count: usize) -> &'a [u8] {
    let (taken, rest) = bytes.split_at(count);
    *bytes = rest;
    taken
}

fn take_uint(bytes: &mut &[u8], size: usize) -> u64 {
    take(bytes, size).iter().fold(0, |number, &byte| number << 8 | u64::from(byte))
}

fn take_int(bytes: &mut &[u8], size: usize) -> i64 {
    let unused = 64 - 8 * size;
    take_uint(bytes, size).cast_signed() << unused >> unused
}

/// Parses a value of MessagePack; bytes become JSON as in `record.py`.
fn take_object(bytes: &mut &[u8]) -> Json {
    let size = |bytes: &mut &[u8], bits: u8| usize::try_from(take_uint(bytes, 1 << bits)).unwrap();
    match take(bytes, 1)[0] {
        tag @ 0x00..=0x7f => tag.into(),
        tag @ 0x80..=0x8f => take_map(bytes, usize::from(tag & 0x0f)),
        tag @ 0x90..=0x9f => take_list(bytes, usize::from(tag & 0x0f)),
        tag @ 0xa0..=0xbf => take_text(bytes, usize::from(tag & 0x1f)),
        0xc0 => Json::Null,
        tag @ 0xc2..=0xc3 => (tag == 0xc3).into(),
        tag @ 0xc4..=0xc6 => {
            let count = size(bytes, tag - 0xc4);
            json!({"base64": STANDARD.encode(take(bytes, count))})
        }
        0xca => f64::from(f32::from_be_bytes(take(bytes, 4).try_into().unwrap())).into(),
        0xcb => f64::from_be_bytes(take(bytes, 8).try_into().unwrap()).into(),
        tag @ 0xcc..=0xcf => take_uint(bytes, 1 << (tag - 0xcc)).into(),
        tag @ 0xd0..=0xd3 => take_int(bytes, 1 << (tag - 0xd0)).into(),
        tag @ 0xd9..=0xdb => {
            let count = size(bytes, tag - 0xd9);
            take_text(bytes, count)
        }
        tag @ 0xdc..=0xdd => {
            let count = size(bytes, tag - 0xdb);
            take_list(bytes, count)
        }
        tag @ 0xde..=0xdf => {
            let count = size(bytes, tag - 0xdd);
            take_map(bytes, count)
        }
        tag @ 0xe0..=0xff => tag.cast_signed().into(),
        tag => panic!("the tag {tag:#x} is not of a type that the corpus has"),
    }
}

fn take_text(bytes: &mut &[u8], count: usize) -> Json {
    std::str::from_utf8(take(bytes, count)).unwrap().into()
}

fn take_list(bytes: &mut &[u8], count: usize) -> Json {
    (0..count).map(|_| take_object(bytes)).collect()
}

fn take_map(bytes: &mut &[u8], count: usize) -> Json {
    let mut map = Map::default();
    for _ in 0..count {
        let Json::String(key) = take_object(bytes) else { panic!("a key that is not text") };
        let value = take_object(bytes);
        map.insert(key, value);
    }
    map.into()
}
