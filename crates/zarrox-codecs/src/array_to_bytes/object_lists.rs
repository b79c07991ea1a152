//! The encoding shared by `json2` and `msgpack2`: a chunk is a single list, nested once for each additional dimension. The
//! elements are followed by the NumPy type of the array and, except in the predecessors `json` and `msgpack`, by the shape of the
//! chunk. In this module, the list is in MessagePack.

use zarrox_core::codec::{ChunkSpec, CodecError, ReadRegion};
use zarrox_core::internals::msgpack::{self, Token};
use zarrox_core::strided::View;

use crate::array_to_bytes::vlen;

/// NumPy's name for the object type.
const OBJECTS: &[u8] = b"|O";

/// The items after the elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trailer {
    /// Only the type.
    Type,
    /// The type and the shape.
    TypeAndShape,
}

impl Trailer {
    fn length(self) -> usize {
        match self {
            Self::Type => 1,
            Self::TypeAndShape => 2,
        }
    }
}

/// Encodes a chunk as one list. Each token of an element is passed through `map`.
pub(crate) fn encode(
    chunk: &View<'_>,
    trailer: Trailer,
    map: impl for<'t> Fn(Token<'t>) -> Result<Token<'t>, CodecError>,
) -> Result<Vec<u8>, CodecError> {
    let shape = chunk.shape();
    let mut list = Vec::new();
    let (&outer, inner) = shape.split_first().unwrap_or((&1, &[]));
    open_list(outer.saturating_add(trailer.length()), &mut list)?;
    // The number of elements in a list of each level.
    let below: Vec<usize> = (0..inner.len()).map(|dim| inner[dim..].iter().product()).collect();
    let mut index = 0;
    chunk.for_each_element(|element| {
        for (&length, &below) in inner.iter().zip(&below) {
            if index % below == 0 {
                open_list(length, &mut list)?;
            }
        }
        let place = |error: CodecError| error.at(format!("element {index}"));
        let mut value = msgpack::element(element).map_err(place)?;
        msgpack::walk(&mut value, |token| map(token)?.write(&mut list)).map_err(place)?;
        index += 1;
        Ok::<_, CodecError>(())
    })?;
    Token::Text(OBJECTS).write(&mut list)?;
    if trailer == Trailer::TypeAndShape {
        open_list(shape.len(), &mut list)?;
        shape.iter().try_for_each(|&length| Token::Uint(length as u64).write(&mut list))?;
    }
    Ok(list)
}

fn open_list(length: usize, list: &mut Vec<u8>) -> Result<(), CodecError> {
    let too_long = |_| CodecError::unsupported("more than 2^32 elements in a list");
    Token::List(u32::try_from(length).map_err(too_long)?).write(list)
}

/// Copies the requested elements from a list that [`encode`] created. Each token of an element is passed through `map`.
pub(crate) fn decode(
    list: &[u8],
    trailer: Trailer,
    chunk: &ChunkSpec,
    part: ReadRegion<'_>,
    map: impl for<'t> Fn(Token<'t>) -> Result<Token<'t>, CodecError>,
) -> Result<(), CodecError> {
    let elements = split(list, trailer, chunk.shape())?;
    vlen::fill(chunk, &elements, part, |mut element, bytes| {
        msgpack::walk(&mut element, |token| map(token)?.write(bytes))
    })
}

/// Returns the elements of a list. The list must have the shape of the chunk.
fn split<'l>(list: &'l [u8], trailer: Trailer, shape: &[usize]) -> Result<Vec<&'l [u8]>, CodecError> {
    let mut rest = list;
    let (&outer, inner) = shape.split_first().unwrap_or((&1, &[]));
    close_list(&mut rest, outer.saturating_add(trailer.length()), trailer)?;
    let mut elements = Vec::new();
    take_elements(&mut rest, outer, inner, &mut elements)?;
    match Token::take(&mut rest)? {
        Token::Text(OBJECTS) => {}
        Token::Text(other) => {
            let message =
                format!("the elements have the NumPy type '{}'; expected '|O'", other.escape_ascii());
            return Err(CodecError::corrupt(message));
        }
        other => {
            return Err(CodecError::corrupt(format!(
                "expected a data type after the elements, found {other:?}"
            )));
        }
    }
    if trailer == Trailer::TypeAndShape {
        close_list(&mut rest, shape.len(), trailer)?;
        for &length in shape {
            if Token::take(&mut rest)? != Token::Uint(length as u64) {
                return Err(CodecError::corrupt(format!(
                    "the stored shape differs from the shape of the chunk, {shape:?}"
                )));
            }
        }
    }
    match rest.len() {
        0 => Ok(elements),
        more => Err(CodecError::corrupt(format!("{more} bytes follow the last element"))),
    }
}

/// Reads the header of a list. The list must have exactly this length.
fn close_list(rest: &mut &[u8], length: usize, trailer: Trailer) -> Result<(), CodecError> {
    match Token::take(rest)? {
        Token::List(found) if usize::try_from(found) == Ok(length) => Ok(()),
        Token::List(found) => Err(CodecError::corrupt(format!(
            "the list has {found} values, but {length} are expected ({} after the elements)",
            trailer.length()
        ))),
        other => Err(CodecError::corrupt(format!("expected a list of {length} values, found {other:?}"))),
    }
}

/// Reads `count` elements or, for more dimensions, nested lists of elements. The recursion depth is the number of dimensions.
fn take_elements<'l>(
    rest: &mut &'l [u8],
    count: usize,
    inner: &[usize],
    elements: &mut Vec<&'l [u8]>,
) -> Result<(), CodecError> {
    for _ in 0..count {
        match inner.split_first() {
            None => elements.push(msgpack::take_value(rest)?),
            Some((&length, inner)) => {
                inner_list(rest, length)?;
                take_elements(rest, length, inner, elements)?;
            }
        }
    }
    Ok(())
}

fn inner_list(rest: &mut &[u8], length: usize) -> Result<(), CodecError> {
    match Token::take(rest)? {
        Token::List(found) if usize::try_from(found) == Ok(length) => Ok(()),
        Token::List(found) => {
            Err(CodecError::corrupt(format!("a row has {found} elements, but {length} are expected")))
        }
        other => Err(CodecError::corrupt(format!("expected a row of {length} elements, found {other:?}"))),
    }
}
