//! The framing shared by all codecs for variable-length elements: the number of elements, followed by the length and the bytes of
//! each element. The number and the lengths are little-endian `u32`.

pub(crate) mod array;
pub(crate) mod bytes;
pub(crate) mod utf8;
pub(crate) mod zarrs;
pub(crate) mod zarrs_v2;

use std::fmt;

use zarrox_core::DataType;
use zarrox_core::codec::{
    ArrayToBytes, ChunkSpec, Codec, CodecContext, CodecError, EncodeOptions, ReadRegion, Size,
};
use zarrox_core::internals::selection::partition::positions;
use zarrox_core::json::Map;
use zarrox_core::strided::View;

use crate::error::truncated;

/// Checks that a chunk has variable-length elements.
pub(crate) fn check_variable(chunk: &ChunkSpec) -> Result<(), CodecError> {
    check_present(chunk)?;
    if chunk.is_variable() {
        return Ok(());
    }
    Err(CodecError::invalid(
        "this codec stores elements of variable length, but the elements of the array have a fixed length",
    ))
}

/// Rejects optional elements.
pub(crate) fn check_present(chunk: &ChunkSpec) -> Result<(), CodecError> {
    if chunk.data_type().ok().and_then(DataType::optional_value).is_none() {
        return Ok(());
    }
    Err(CodecError::invalid("optional elements need another codec, such as zarrs.optional"))
}

/// Checks that an element is valid UTF-8.
pub(crate) fn check_utf8(element: &[u8]) -> Result<(), CodecError> {
    let text = std::str::from_utf8(element);
    text.map(|_| ()).map_err(|error| CodecError::corrupt(format!("is not UTF-8: {error}")).with_source(error))
}

/// How a codec with this framing converts each element.
pub(crate) trait Elements: fmt::Debug + Send + Sync + 'static {
    /// The name of the codec in errors.
    const NAME: &'static str;

    /// Returns the complete configuration as in v3 metadata.
    fn configuration(&self) -> Map {
        Map::default()
    }

    /// Converts an element between its form in memory and its stored form, and appends the result. The conversion is its own
    /// inverse.
    fn pass(&self, element: &[u8], out: &mut Vec<u8>) -> Result<(), CodecError>;
}

/// Returns the codec for these elements.
pub(crate) fn codec(elements: impl Elements, context: &CodecContext<'_>) -> Result<Codec, CodecError> {
    check_variable(context.chunk)?;
    Ok(Codec::ArrayToBytes(Box::new(Framed { chunk: context.chunk.clone(), elements })))
}

/// The codec for chunks of one shape and data type.
#[derive(Debug)]
struct Framed<E> {
    chunk: ChunkSpec,
    elements: E,
}

impl<E: Elements> ArrayToBytes for Framed<E> {
    fn configuration(&self) -> Map {
        self.elements.configuration()
    }

    fn encoded_size(&self) -> Size {
        Size::UNKNOWN
    }

    fn decode(&self, encoded: &[u8], part: ReadRegion<'_>) -> Result<(), CodecError> {
        let elements = split(encoded, count(&self.chunk));
        let pass = |element: &[u8], bytes: &mut Vec<u8>| self.elements.pass(element, bytes);
        let decoded = elements.and_then(|elements| fill(&self.chunk, &elements, part, pass));
        decoded.map_err(|e| e.in_codec(E::NAME))
    }

    fn encode(&self, chunk: &View<'_>, _: EncodeOptions, encoded: &mut Vec<u8>) -> Result<bool, CodecError> {
        encode(chunk, encoded, |element, encoded| self.elements.pass(element, encoded))?;
        Ok(true)
    }
}

/// Returns the number of elements of a chunk.
fn count(chunk: &ChunkSpec) -> usize {
    chunk.shape().iter().product()
}

/// Appends all elements of a chunk in the framing. `write` appends each element.
fn encode(
    chunk: &View<'_>,
    encoded: &mut Vec<u8>,
    mut write: impl FnMut(&[u8], &mut Vec<u8>) -> Result<(), CodecError>,
) -> Result<(), CodecError> {
    let count: usize = chunk.shape().iter().product();
    encoded.extend_from_slice(&number(count)?);
    chunk.for_each_element(|element| {
        let start = encoded.len();
        encoded.extend_from_slice(&[0; 4]);
        write(element, encoded)?;
        let length = number(encoded.len() - start - 4)?;
        encoded[start..start + 4].copy_from_slice(&length);
        Ok(())
    })
}

fn number(value: usize) -> Result<[u8; 4], CodecError> {
    let value = u32::try_from(value);
    value.map(u32::to_le_bytes).map_err(|_| {
        CodecError::unsupported(
            "a chunk with more than 2^32 elements, or an element with more than 2^32 bytes",
        )
    })
}

/// Returns the elements of a framed chunk. There must be `count` of them.
fn split(encoded: &[u8], count: usize) -> Result<Vec<&[u8]>, CodecError> {
    let mut rest = encoded;
    let stored = take_number(&mut rest).ok_or_else(|| truncated(encoded.len()))?;
    if stored != count {
        return Err(CodecError::corrupt(format!("{stored} elements are stored, but a chunk has {count}")));
    }
    // Each element takes at least the four bytes of its length, so a wrong count cannot cause a large allocation.
    if rest.len() / 4 < count {
        return Err(truncated(encoded.len()));
    }
    let mut elements = Vec::with_capacity(count);
    for index in 0..count {
        let length = take_number(&mut rest);
        let element = length.and_then(|length| rest.split_at_checked(length));
        let (element, after) = element.ok_or_else(|| {
            CodecError::corrupt(format!("truncated: {} bytes end within element {index}", encoded.len()))
        })?;
        elements.push(element);
        rest = after;
    }
    if !rest.is_empty() {
        return Err(CodecError::corrupt(format!("{} bytes follow the last element", rest.len())));
    }
    Ok(elements)
}

fn take_number(rest: &mut &[u8]) -> Option<usize> {
    let (number, after) = rest.split_first_chunk()?;
    *rest = after;
    usize::try_from(u32::from_le_bytes(*number)).ok()
}

/// Copies the requested elements to their destination. `read` appends each element.
pub(crate) fn fill(
    chunk: &ChunkSpec,
    elements: &[&[u8]],
    mut part: ReadRegion<'_>,
    mut read: impl FnMut(&[u8], &mut Vec<u8>) -> Result<(), CodecError>,
) -> Result<(), CodecError> {
    let wanted = positions(&part.region, chunk.shape());
    let mut bytes = Vec::with_capacity(wanted.iter().map(|&position| elements[position].len()).sum());
    let mut lengths = Vec::with_capacity(wanted.len());
    for position in wanted {
        let start = bytes.len();
        read(elements[position], &mut bytes).map_err(|error| error.at(format!("element {position}")))?;
        lengths.push(bytes.len() - start);
    }
    part.out.set_elements(bytes, lengths)
}
