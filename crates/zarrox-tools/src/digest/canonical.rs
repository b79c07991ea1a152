//! The canonical form of metadata and elements, from which digests are computed.

use std::fmt::Write as _;

use zarrox_core::data_type::{Endian, Field, Storage};
use zarrox_core::internals::data_type::{ByteOrder, Leaf};
use zarrox_core::internals::json::sorted;
use zarrox_core::internals::msgpack::{self, Token};
use zarrox_core::json::{Json, JsonNumber, Map, to_line};
use zarrox_core::strided::{View, ViewMut};
use zarrox_core::{DataType, Error, ErrorKind, Result};

use zarrox::internals::{ARRAY_DIMENSIONS, attribute_names};
use zarrox::{Array, DynArray};

/// Returns the metadata of an array as canonical JSON.
pub(super) fn array_text(array: &Array, form: &Form) -> Result<String> {
    let (names, attributes) = names_and_attributes(array);
    let members = [
        ("attributes", Json::from(attributes)),
        ("data_type", type_json(array.data_type())),
        ("dimension_names", Json::from(names)),
        ("fill_value", Json::from(hexadecimal(&form.fill(array)?))),
        ("shape", Json::from(array.shape())),
    ];
    Ok(text(members.into_iter().map(|(name, json)| (name.to_owned(), json)).collect()))
}

/// Returns the metadata of a group as canonical JSON.
pub(super) fn group_text(attributes: &Map) -> String {
    text(Map::from_iter([("attributes".to_owned(), Json::from(attributes.clone()))]))
}

/// Returns the dimension names, if any, and the attributes except those that repeat the names.
pub(crate) fn names_and_attributes(array: &Array) -> (Option<Vec<Option<String>>>, Map) {
    let mut attributes = array.attributes().clone();
    let own = array.dimension_names().filter(|names| names.iter().any(Option::is_some)).map(<[_]>::to_vec);
    let told = attribute_names(array.metadata());
    let repeated = told.is_some() && (own.is_none() || own == told);
    if repeated {
        attributes.remove(ARRAY_DIMENSIONS);
    }
    let names = own.or(told).filter(|names| !names.is_empty());
    (names, attributes)
}

/// Returns the data type in the form of v3: its name, and its configuration if it has one. Padding is omitted.
fn type_json(data_type: &DataType) -> Json {
    match data_type {
        DataType::Struct(structure) => {
            let fields: Json = structure.fields().iter().map(field_json).collect();
            named("struct", Map::from_iter([("fields".to_owned(), fields)]))
        }
        DataType::Extension(extension) => named(&extension.name, extension.configuration.clone()),
        core => Json::from(core.to_string()),
    }
}

fn named(name: &str, configuration: Map) -> Json {
    match configuration.is_empty() {
        true => Json::from(name),
        false => [("name", Json::from(name)), ("configuration", configuration.into())].into_iter().collect(),
    }
}

fn field_json(field: &Field) -> Json {
    let mut members = Map::default();
    members.insert("name".to_owned(), Json::from(field.name.as_str()));
    members.insert("data_type".to_owned(), type_json(&field.data_type));
    if !field.shape.is_empty() {
        members.insert("shape".to_owned(), field.shape.iter().copied().collect());
    }
    members.into()
}

/// Formats an object as canonical JSON: one line without spaces, with sorted members and canonical numbers.
fn text(map: Map) -> String {
    let map = sorted(map).into_iter().map(|(name, json)| (name, with_canonical_numbers(json))).collect();
    to_line(&map)
}

fn with_canonical_numbers(json: Json) -> Json {
    match json {
        Json::Number(number) => canonical_number(number).into(),
        Json::Array(list) => list.into_iter().map(with_canonical_numbers).collect(),
        Json::Object(map) => {
            map.into_iter().map(|(name, json)| (name, with_canonical_numbers(json))).collect()
        }
        other => other,
    }
}

/// Converts a number with a fraction or an exponent to the shortest digits that represent it as a double. Integers, and numbers
/// beyond the range of doubles, are unchanged.
fn canonical_number(number: JsonNumber) -> JsonNumber {
    let is_integer =
        number.as_i128().is_some() || number.to_string().bytes().all(|byte| byte.is_ascii_digit());
    match number.as_f64().filter(|_| !is_integer) {
        Some(double) => JsonNumber::from_f64(double),
        None => number,
    }
}

/// Formats bytes as hexadecimal digits.
pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        // Writing to memory does not fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// The conversion of elements in memory to canonical bytes: little-endian numbers, structured data types without padding, and
/// variable-length elements preceded by their number of bytes.
pub(super) struct Form {
    data_type: DataType,
    /// The size of an element; an estimate for variable-length elements.
    item: usize,
    /// The parts whose bytes must be swapped.
    swapped: Vec<Leaf>,
    kind: Kind,
}

enum Kind {
    /// The bytes in memory.
    Plain,
    /// Structured data types, without padding.
    Padded,
    /// Variable-length elements, in words of this size.
    Variable { word: usize },
    /// Python objects.
    Objects,
}

/// The estimated size in memory of a variable-length element, in bytes.
const GUESS: usize = 64;

impl Form {
    pub(super) fn new(data_type: &DataType) -> Self {
        let packed = data_type.packed();
        let kind = match packed.storage() {
            Storage::Variable if *data_type == DataType::object() => Kind::Objects,
            Storage::Variable => {
                Kind::Variable { word: data_type.vlen_item().map_or(1, |item| item.storage().word()) }
            }
            _ if packed == *data_type => Kind::Plain,
            _ => Kind::Padded,
        };
        let is_fixed = matches!(kind, Kind::Plain | Kind::Padded);
        let swapped = ByteOrder::One(Endian::Little).swapped(&packed.storage());
        let swapped = if is_fixed { swapped } else { Vec::new() };
        Self {
            data_type: data_type.clone(),
            item: if is_fixed { packed.size() } else { GUESS },
            swapped,
            kind,
        }
    }

    /// Returns the size of an element in bytes; an estimate for variable-length elements.
    pub(super) fn item(&self) -> usize {
        self.item
    }

    /// Returns the memory that an element takes during the computation, in bytes.
    pub(super) fn in_memory(&self) -> usize {
        self.item.max(self.data_type.size())
    }

    /// Returns the canonical bytes of an array's fill value.
    pub(super) fn fill(&self, array: &Array) -> Result<Vec<u8>> {
        let fill = array.fill_bytes();
        let one = DynArray::from_elements(self.data_type.clone(), vec![1], [fill.as_bytes()])?;
        let mut bytes = Vec::new();
        self.append(&one.view(), &mut bytes)?;
        Ok(bytes)
    }

    /// Appends the canonical bytes of elements in row-major order.
    pub(super) fn append(&self, elements: &View<'_>, out: &mut Vec<u8>) -> Result<()> {
        let start = out.len();
        match self.kind {
            Kind::Plain => elements.append_to(out, 1),
            Kind::Padded => elements.for_each_element(|element| {
                self.data_type.pack(element, out);
                Ok::<_, Error>(())
            })?,
            Kind::Variable { word } => elements.for_each_element(|element| {
                append_framed(out, |out| append_words(element, word, out));
                Ok::<_, Error>(())
            })?,
            Kind::Objects => elements.for_each_element(|element| {
                let mut result = Ok(());
                append_framed(out, |out| result = append_object(element, out));
                result
            })?,
        }
        self.swap(&mut out[start..]);
        Ok(())
    }

    /// Swaps the bytes of numbers into little-endian order.
    fn swap(&self, bytes: &mut [u8]) {
        let count = bytes.len() / self.item;
        for leaf in &self.swapped {
            let elements = ViewMut::contiguous(bytes, &[count], self.item);
            elements.into_field(leaf.offset, leaf.size).reverse_words(leaf.word);
        }
    }
}

/// Appends the output of `append`, preceded by its number of bytes.
fn append_framed(out: &mut Vec<u8>, append: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    out.extend_from_slice(&[0; 8]);
    append(out);
    let length = (out.len() - start - 8) as u64;
    out[start..start + 8].copy_from_slice(&length.to_le_bytes());
}

/// Appends words in little-endian byte order.
fn append_words(element: &[u8], word: usize, out: &mut Vec<u8>) {
    if word <= 1 || Endian::NATIVE == Endian::Little {
        return out.extend_from_slice(element);
    }
    element.chunks(word).for_each(|word| out.extend(word.iter().rev()));
}

/// Appends a MessagePack value, with each token in its shortest form and all floats as doubles.
fn append_object(element: &[u8], out: &mut Vec<u8>) -> Result<()> {
    let mut value = msgpack::element(element)?;
    msgpack::walk(&mut value, |token| match token {
        Token::F32(single) => Token::F64(single.into()).write(out),
        token => token.write(out),
    })?;
    Ok(())
}

/// Returns true if bytes are `count` repetitions of `once`.
pub(super) fn is_repeated(bytes: &[u8], once: &[u8], count: usize) -> bool {
    once.len().checked_mul(count) == Some(bytes.len())
        && (count == 0
            || (bytes.starts_with(once) && bytes[once.len()..] == bytes[..bytes.len() - once.len()]))
}

/// Checks that the elements of an array can be read.
pub(super) fn check_readable(array: &Array) -> Result<()> {
    match array.unreadable() {
        None => Ok(()),
        Some(why) => Err(Error::new(ErrorKind::Unsupported, format!("the elements cannot be read: {why}"))),
    }
}

#[cfg(test)]
mod tests {
    use zarrox_core::json::parse_object;

    use super::*;

    #[test]
    fn json_has_one_form() {
        let canonical = |json: &str| text(parse_object(json.as_bytes()).unwrap());
        let wanted = r#"{"a":[1,1.5,-0.0,1e100,NaN,"é\n"],"b":{"x":null,"y":true}}"#;
        for same in [
            wanted,
            r#"{"b": {"y": true, "x": null}, "a": [1, 1.50, -0, 1E+100, NaN, "\u00e9\u000a"]}"#,
            r#"{"a": [1, 15e-1, -0.000, 10000e96, NaN, "\u00e9\n"], "b": {"x": null, "y": true}}"#,
        ] {
            assert_eq!(canonical(same), wanted);
        }
        let others =
            [r#"{"a":1}"#, r#"{"a":1.0}"#, r#"{"a":"1"}"#, r#"{"a":0.0}"#, r#"{"a":-0.0}"#, r#"{"a":[1]}"#];
        let texts: std::collections::BTreeSet<String> = others.into_iter().map(canonical).collect();
        assert_eq!(texts.len(), others.len());
        let large = r#"{"a":123456789012345678901234567890123456789012345678901234567890,"b":1e999}"#;
        assert_eq!(canonical(large), large);
    }

    #[test]
    fn objects_have_one_form() {
        let canonical = |element: &[u8]| {
            let mut out = Vec::new();
            append_object(element, &mut out).map(|()| out)
        };
        // 1 as a byte and as 64 bits; 0.5 as a single and as a double; a list with its length in two forms; no bytes and nil.
        for (a, b) in [
            (&[1][..], &[0xd3, 0, 0, 0, 0, 0, 0, 0, 1][..]),
            (&[0xca, 0x3f, 0, 0, 0], &[0xcb, 0x3f, 0xe0, 0, 0, 0, 0, 0, 0]),
            (&[0x91, 0xc2], &[0xdc, 0, 1, 0xc2]),
            (&[], &[0xc0]),
        ] {
            assert_eq!(canonical(a).unwrap(), canonical(b).unwrap());
        }
        assert_ne!(canonical(&[0xa1, b'a']).unwrap(), canonical(&[0xc4, 1, b'a']).unwrap());
        assert_eq!(canonical(&[0xc1]).unwrap_err().kind(), ErrorKind::Corrupt);
    }

    #[test]
    fn repetitions_are_found() {
        assert!(
            is_repeated(b"ababab", b"ab", 3) && is_repeated(b"", b"ab", 0) && is_repeated(b"ab", b"ab", 1)
        );
        for (bytes, once, count) in [(&b"abab"[..], &b"ab"[..], 3), (b"abac", b"ab", 2), (b"acab", b"ab", 2)]
        {
            assert!(!is_repeated(bytes, once, count));
        }
    }
}
