//! MessagePack, the encoding of Python objects in memory: one self-describing value for each object.
//!
//! Specification: <https://github.com/msgpack/msgpack/blob/master/spec.md>
//!
//! Values are processed in place, token by token, so that a wrong count cannot cause a large allocation. Only [`to_json`] builds
//! a tree. An empty element is nil. No crate is used, because the existing MessagePack crates build values or trust counts.

use crate::error::CodecError;
use crate::json::{Json, JsonNumber, Map};

/// The maximum nesting of lists and maps, which is that of Python's writer.
pub const MAX_DEPTH: usize = 512;

/// Nil: Python's `None`.
pub const NIL: u8 = 0xc0;

/// A scalar value, or the beginning of a list or map.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Token<'a> {
    /// `None`.
    Nil,
    /// A boolean.
    Bool(bool),
    /// A non-negative integer.
    Uint(u64),
    /// A negative or non-negative integer.
    Int(i64),
    /// A single-precision float.
    F32(f32),
    /// A double-precision float.
    F64(f64),
    /// Text that has not been checked to be UTF-8.
    Text(&'a [u8]),
    /// Bytes.
    Bytes(&'a [u8]),
    /// Bytes of an application-defined type.
    Extension(i8, &'a [u8]),
    /// The number of values in a list. The values follow the token.
    List(u32),
    /// The number of pairs in a map. The pairs follow the token, each key before its value.
    Map(u32),
}

impl<'a> Token<'a> {
    /// Removes the next token from the front of `rest`, and returns it.
    ///
    /// # Errors
    /// When the bytes end inside the token, or are not a token.
    pub fn take(rest: &mut &'a [u8]) -> Result<Self, CodecError> {
        let [tag] = *fixed(rest)?;
        Ok(match tag {
            0x00..=0x7f => Self::Uint(tag.into()),
            0x80..=0x8f => Self::Map((tag & 0x0f).into()),
            0x90..=0x9f => Self::List((tag & 0x0f).into()),
            0xa0..=0xbf => Self::Text(many(rest, (tag & 0x1f).into())?),
            NIL => Self::Nil,
            0xc2 | 0xc3 => Self::Bool(tag == 0xc3),
            0xc4..=0xc6 => {
                let length = unsigned(rest, tag - 0xc4)?;
                Self::Bytes(many(rest, length)?)
            }
            0xc7..=0xc9 => {
                let length = unsigned(rest, tag - 0xc7)?;
                extension(rest, length)?
            }
            0xca => Self::F32(f32::from_be_bytes(*fixed(rest)?)),
            0xcb => Self::F64(f64::from_be_bytes(*fixed(rest)?)),
            0xcc..=0xcf => Self::Uint(unsigned(rest, tag - 0xcc)?),
            0xd0 => Self::Int(i8::from_be_bytes(*fixed(rest)?).into()),
            0xd1 => Self::Int(i16::from_be_bytes(*fixed(rest)?).into()),
            0xd2 => Self::Int(i32::from_be_bytes(*fixed(rest)?).into()),
            0xd3 => Self::Int(i64::from_be_bytes(*fixed(rest)?)),
            0xd4..=0xd8 => extension(rest, 1 << (tag - 0xd4))?,
            0xd9..=0xdb => {
                let length = unsigned(rest, tag - 0xd9)?;
                Self::Text(many(rest, length)?)
            }
            0xdc => Self::List(u16::from_be_bytes(*fixed(rest)?).into()),
            0xdd => Self::List(u32::from_be_bytes(*fixed(rest)?)),
            0xde => Self::Map(u16::from_be_bytes(*fixed(rest)?).into()),
            0xdf => Self::Map(u32::from_be_bytes(*fixed(rest)?)),
            0xe0..=0xff => Self::Int(tag.cast_signed().into()),
            0xc1 => return Err(CodecError::corrupt("the byte 0xc1 does not begin a MessagePack value")),
        })
    }

    /// Appends the token in its shortest form.
    ///
    /// # Errors
    /// When text or bytes are too long for MessagePack.
    pub fn write(self, out: &mut Vec<u8>) -> Result<(), CodecError> {
        match self {
            Self::Nil => out.push(NIL),
            Self::Bool(value) => out.push(0xc2 + u8::from(value)),
            Self::Uint(value) => write_unsigned(out, value),
            Self::Int(value) => match u64::try_from(value) {
                Ok(value) => write_unsigned(out, value),
                Err(_) => write_negative(out, value),
            },
            Self::F32(value) => tagged(out, 0xca, &value.to_be_bytes()),
            Self::F64(value) => tagged(out, 0xcb, &value.to_be_bytes()),
            Self::Text(text) => {
                match u8::try_from(text.len()) {
                    Ok(length @ 0..=31) => out.push(0xa0 | length),
                    _ => write_length(out, text.len(), [0xd9, 0xda, 0xdb])?,
                }
                out.extend_from_slice(text);
            }
            Self::Bytes(bytes) => {
                write_length(out, bytes.len(), [0xc4, 0xc5, 0xc6])?;
                out.extend_from_slice(bytes);
            }
            Self::Extension(kind, bytes) => {
                write_length(out, bytes.len(), [0xc7, 0xc8, 0xc9])?;
                out.push(kind.cast_unsigned());
                out.extend_from_slice(bytes);
            }
            Self::List(length) => write_count(out, length, 0x90, [0xdc, 0xdd]),
            Self::Map(length) => write_count(out, length, 0x80, [0xde, 0xdf]),
        }
        Ok(())
    }

    /// Returns the number of following values that the token contains.
    fn inside(self) -> u64 {
        match self {
            Self::List(count) => count.into(),
            Self::Map(count) => 2 * u64::from(count),
            _ => 0,
        }
    }
}

fn truncated() -> CodecError {
    CodecError::corrupt("the bytes end inside of a MessagePack value")
}

fn fixed<'a, const N: usize>(rest: &mut &'a [u8]) -> Result<&'a [u8; N], CodecError> {
    let (taken, after) = rest.split_first_chunk().ok_or_else(truncated)?;
    *rest = after;
    Ok(taken)
}

fn many<'a>(rest: &mut &'a [u8], length: u64) -> Result<&'a [u8], CodecError> {
    let length = usize::try_from(length).map_err(|_| truncated())?;
    let (taken, after) = rest.split_at_checked(length).ok_or_else(truncated)?;
    *rest = after;
    Ok(taken)
}

/// Reads a number of `2^power` bytes.
fn unsigned(rest: &mut &[u8], power: u8) -> Result<u64, CodecError> {
    let bytes = many(rest, 1 << power)?;
    Ok(bytes.iter().fold(0, |number, &byte| number << 8 | u64::from(byte)))
}

fn extension<'a>(rest: &mut &'a [u8], length: u64) -> Result<Token<'a>, CodecError> {
    let [kind] = *fixed(rest)?;
    Ok(Token::Extension(kind.cast_signed(), many(rest, length)?))
}

fn tagged(out: &mut Vec<u8>, tag: u8, bytes: &[u8]) {
    out.push(tag);
    out.extend_from_slice(bytes);
}

fn write_unsigned(out: &mut Vec<u8>, value: u64) {
    match (u8::try_from(value), u16::try_from(value), u32::try_from(value)) {
        (Ok(small @ 0..=0x7f), ..) => out.push(small),
        (Ok(value), ..) => tagged(out, 0xcc, &[value]),
        (_, Ok(value), _) => tagged(out, 0xcd, &value.to_be_bytes()),
        (.., Ok(value)) => tagged(out, 0xce, &value.to_be_bytes()),
        _ => tagged(out, 0xcf, &value.to_be_bytes()),
    }
}

fn write_negative(out: &mut Vec<u8>, value: i64) {
    match (i8::try_from(value), i16::try_from(value), i32::try_from(value)) {
        (Ok(small @ -32..), ..) => out.push(small.cast_unsigned()),
        (Ok(value), ..) => tagged(out, 0xd0, &value.to_be_bytes()),
        (_, Ok(value), _) => tagged(out, 0xd1, &value.to_be_bytes()),
        (.., Ok(value)) => tagged(out, 0xd2, &value.to_be_bytes()),
        _ => tagged(out, 0xd3, &value.to_be_bytes()),
    }
}

/// Writes a length in one, two or four bytes, after the tag of that size.
fn write_length(out: &mut Vec<u8>, length: usize, tags: [u8; 3]) -> Result<(), CodecError> {
    match (u8::try_from(length), u16::try_from(length), u32::try_from(length)) {
        (Ok(length), ..) => tagged(out, tags[0], &[length]),
        (_, Ok(length), _) => tagged(out, tags[1], &length.to_be_bytes()),
        (.., Ok(length)) => tagged(out, tags[2], &length.to_be_bytes()),
        _ => {
            return Err(CodecError::unsupported(format!(
                "{length} bytes are more than MessagePack can store in one value"
            )));
        }
    }
    Ok(())
}

/// Writes a count in the tag itself, or in two or four bytes after a tag.
fn write_count(out: &mut Vec<u8>, count: u32, small: u8, tags: [u8; 2]) {
    match (u8::try_from(count), u16::try_from(count)) {
        (Ok(count @ 0..=15), _) => out.push(small | count),
        (_, Ok(count)) => tagged(out, tags[0], &count.to_be_bytes()),
        _ => tagged(out, tags[1], &count.to_be_bytes()),
    }
}

/// Calls `work` with each token of the value at the front of `rest`, including nested values, and removes the value.
///
/// # Errors
/// When the bytes are not a value, the value is nested too deeply, or `work` fails.
pub fn walk<'a>(
    rest: &mut &'a [u8],
    mut work: impl FnMut(Token<'a>) -> Result<(), CodecError>,
) -> Result<(), CodecError> {
    // The number of remaining values at each level.
    let mut levels = vec![1_u64];
    while let Some(left) = levels.last_mut() {
        let Some(less) = left.checked_sub(1) else {
            levels.pop();
            continue;
        };
        *left = less;
        let token = Token::take(rest)?;
        work(token)?;
        if token.inside() > 0 {
            if levels.len() > MAX_DEPTH {
                return Err(too_deep());
            }
            levels.push(token.inside());
        }
    }
    Ok(())
}

fn too_deep() -> CodecError {
    CodecError::unsupported(format!("lists and maps are nested more than {MAX_DEPTH} deep"))
}

/// Removes a whole value from the front of `rest`, and returns its bytes.
///
/// # Errors
/// The errors of [`walk`].
pub fn take_value<'a>(rest: &mut &'a [u8]) -> Result<&'a [u8], CodecError> {
    let all = *rest;
    walk(rest, |_| Ok(()))?;
    Ok(&all[..all.len() - rest.len()])
}

/// Returns the bytes of the value of an element; for an empty element, the bytes of nil.
///
/// # Errors
/// When the bytes are not exactly one value.
pub fn element(bytes: &[u8]) -> Result<&[u8], CodecError> {
    if bytes.is_empty() {
        return Ok(&[NIL]);
    }
    let mut rest = bytes;
    let value = take_value(&mut rest)?;
    if rest.is_empty() {
        return Ok(value);
    }
    Err(CodecError::corrupt(format!("{} bytes follow a MessagePack value", rest.len())))
}

/// Returns the content of a text token.
///
/// # Errors
/// When the content is not UTF-8.
pub fn utf8(text: &[u8]) -> Result<&str, CodecError> {
    std::str::from_utf8(text).map_err(|error| CodecError::corrupt(format!("a text is not UTF-8: {error}")))
}

/// Converts an element to JSON.
///
/// # Errors
/// When the bytes are not a value, or JSON cannot represent the value, such as bytes, or a map with a key that is not text.
pub fn to_json(bytes: &[u8]) -> Result<Json, CodecError> {
    json_value(&mut element(bytes)?)
}

/// Converts a value to JSON. The recursion depth is limited by [`walk`].
fn json_value(rest: &mut &[u8]) -> Result<Json, CodecError> {
    let cannot = |what: &str| CodecError::unsupported(format!("JSON cannot represent {what}"));
    Ok(match Token::take(rest)? {
        Token::Nil => Json::Null,
        Token::Bool(value) => value.into(),
        Token::Uint(value) => value.into(),
        Token::Int(value) => value.into(),
        Token::F32(value) => value.into(),
        Token::F64(value) => value.into(),
        Token::Text(text) => utf8(text)?.into(),
        Token::Bytes(_) => return Err(cannot("bytes")),
        Token::Extension(kind, _) => return Err(cannot(&format!("the extension type {kind}"))),
        Token::List(count) => (0..count).map(|_| json_value(rest)).collect::<Result<_, _>>()?,
        Token::Map(count) => {
            let mut map = Map::default();
            for _ in 0..count {
                let Token::Text(key) = Token::take(rest)? else {
                    return Err(cannot("a key that is not text"));
                };
                map.insert(utf8(key)?.to_owned(), json_value(rest)?);
            }
            map.into()
        }
    })
}

/// Converts JSON to an element, and appends it.
///
/// # Errors
/// When the value is nested too deeply, or too long for MessagePack.
pub fn from_json(json: &Json, out: &mut Vec<u8>) -> Result<(), CodecError> {
    append_json(json, MAX_DEPTH, out)
}

fn append_json(json: &Json, levels: usize, out: &mut Vec<u8>) -> Result<(), CodecError> {
    let below = levels.checked_sub(1).ok_or_else(too_deep);
    let count = |length: usize| {
        u32::try_from(length).map_err(|_| CodecError::unsupported(format!("{length} values in a list")))
    };
    match json {
        Json::Null => Token::Nil.write(out),
        Json::Bool(value) => Token::Bool(*value).write(out),
        Json::Number(number) => number_token(number).write(out),
        Json::String(text) => Token::Text(text.as_bytes()).write(out),
        Json::Array(list) => {
            Token::List(count(list.len())?).write(out)?;
            let below = below?;
            list.iter().try_for_each(|json| append_json(json, below, out))
        }
        Json::Object(map) => {
            Token::Map(count(map.len())?).write(out)?;
            let below = below?;
            map.iter().try_for_each(|(key, json)| {
                Token::Text(key.as_bytes()).write(out)?;
                append_json(json, below, out)
            })
        }
    }
}

fn number_token(number: &JsonNumber) -> Token<'static> {
    match (number.as_u64(), number.as_i64()) {
        (Some(value), _) => Token::Uint(value),
        (None, Some(value)) => Token::Int(value),
        (None, None) => Token::F64(number.to_f64()),
    }
}

#[cfg(test)]
mod tests {
    use crate::json::json;

    use super::*;

    fn pack(json: &Json) -> Vec<u8> {
        let mut bytes = Vec::new();
        from_json(json, &mut bytes).unwrap();
        bytes
    }

    #[test]
    fn json_values_are_written_in_the_shortest_form() {
        let numbers = json!([0, 127, 128, 255, 256, 65535, 65536, 4294967295_u64, 4294967296_u64, u64::MAX]);
        let negative = json!([-1, -32, -33, -128, -129, -32768, -32769, i32::MIN, i64::MIN]);
        let texts = json!(["", "é", "x".repeat(31), "x".repeat(32), "x".repeat(256), "x".repeat(65536)]);
        let nested = json!({"a": [null, true, false, 1.5, {}], "b": vec![0; 16], "": {"c": []}});
        let long = json!(vec![Json::Null; 70_000]);
        for value in [numbers, negative, texts, nested, long] {
            assert_eq!(to_json(&pack(&value)).unwrap(), value);
        }
        // `msgpack.packb` of msgpack-python 1.1.
        let golden: [(Json, &[u8]); 6] = [
            (json!([1, -1, 128, -33]), b"\x94\x01\xff\xcc\x80\xd0\xdf"),
            (json!({"a": null}), b"\x81\xa1a\xc0"),
            (json!(1.5), b"\xcb\x3f\xf8\0\0\0\0\0\0"),
            (json!(65536), b"\xce\0\x01\0\0"),
            (json!(-40000), b"\xd2\xff\xff\x63\xc0"),
            (json!(true), b"\xc3"),
        ];
        for (value, bytes) in golden {
            assert_eq!(pack(&value), bytes, "{value}");
        }
    }

    #[test]
    fn every_token_is_written_as_it_is_read() {
        let (short, long) = ([7; 3], [7; 70_000]);
        let mut tokens = vec![Token::Nil, Token::F32(0.5), Token::F64(f64::MAX)];
        for bytes in [&[], &short[..], &[1; 16], &[1; 300], &long] {
            tokens.extend([Token::Bytes(bytes), Token::Extension(-1, bytes), Token::Text(bytes)]);
        }
        for token in tokens {
            let mut bytes = Vec::new();
            token.write(&mut bytes).unwrap();
            let mut rest = bytes.as_slice();
            assert_eq!(Token::take(&mut rest).unwrap(), token);
            assert!(rest.is_empty());
            assert_eq!(element(&bytes).unwrap(), bytes);
            for length in 1..bytes.len().min(10) {
                assert_eq!(element(&bytes[..length]).unwrap_err().kind(), crate::ErrorKind::Corrupt);
            }
        }
    }

    #[test]
    fn nonsense_is_an_error_and_takes_neither_stack_nor_memory() {
        let cases: [(&[u8], &str); 6] = [
            (&[0xc1], "0xc1"),
            (&[0xdd, 0xff, 0xff, 0xff, 0xff, 0], "end inside"),
            (&[0xdf, 0xff, 0xff, 0xff, 0xff], "end inside"),
            (&[0xc6, 0xff, 0xff, 0xff, 0xff, 0], "end inside"),
            (&[0, 0], "1 bytes follow"),
            (&[0x91; 1 << 20], "512 deep"),
        ];
        for (bytes, says) in cases {
            for error in [element(bytes).map(<[u8]>::len).unwrap_err(), to_json(bytes).unwrap_err()] {
                assert!(error.to_string().contains(says), "{error}");
            }
        }
        let deep = |levels| (0..levels).fold(Json::Null, |json, _| Json::Array(vec![json]));
        assert!(to_json(&pack(&deep(MAX_DEPTH))).is_ok());
        assert_eq!(
            from_json(&deep(MAX_DEPTH + 1), &mut Vec::new()).unwrap_err().kind(),
            crate::ErrorKind::Unsupported
        );
    }

    #[test]
    fn values_without_json_are_named_in_errors() {
        let cases: [(&[u8], &str); 3] =
            [(b"\xc4\x01x", "bytes"), (b"\x81\x01\x02", "key"), (b"\xd6\xff\0\0\0\0", "extension type -1")];
        for (bytes, says) in cases {
            let error = to_json(bytes).unwrap_err().to_string();
            assert!(error.starts_with("JSON cannot represent") && error.contains(says), "{error}");
        }
        assert_eq!(to_json(b"\xcb\x7f\xf8\0\0\0\0\0\0").unwrap().to_string(), "NaN");
        assert!(to_json(b"\xa1\xff").unwrap_err().to_string().contains("UTF-8"));
        assert_eq!(to_json(b"").unwrap(), Json::Null);
    }
}
