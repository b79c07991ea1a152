//! Codecs from bytes to bytes.

use std::fmt;

use super::{ByteStream, Fetch, Size, Window};
use crate::error::CodecError;
use crate::json::Map;

/// A codec that turns bytes into bytes.
pub trait BytesToBytes: fmt::Debug + Send + Sync {
    /// The complete configuration, as v3 metadata should have it.
    fn configuration(&self) -> Map;

    /// The name for v3 metadata with this configuration, if it is not the name of the definition.
    fn name(&self) -> Option<&'static str> {
        None
    }

    /// The number of encoded bytes of so many decoded bytes.
    fn encoded_size(&self, decoded: Size) -> Size;

    /// Encodes bytes and appends them to `encoded`.
    fn encode(&self, decoded: &[u8], encoded: &mut Vec<u8>) -> Result<(), CodecError>;

    /// Decodes into the front of `decoded` and returns the number of decoded bytes. If the bytes do not fit, the error is an
    /// [overflow](CodecError::overflow), so that a caller that does not know the size can try a larger buffer. A size that is
    /// only announced is no overflow.
    fn decode(&self, encoded: &[u8], decoded: &mut [u8]) -> Result<usize, CodecError>;

    /// The decoded size that the encoded bytes announce, if they announce one. It may be wrong.
    fn decoded_size(&self, encoded: &[u8]) -> Option<usize> {
        let _ = encoded;
        None
    }

    /// The codec's access to a part of the decoded bytes. Without one, all bytes are decoded at once into a buffer.
    fn access(&self) -> BytesAccess<'_> {
        BytesAccess::Whole
    }
}

/// The access of a bytes→bytes codec to a part of the decoded bytes.
#[derive(Debug, Clone, Copy)]
pub enum BytesAccess<'a> {
    /// No access: all bytes are decoded at once.
    Whole,
    /// The decoded bytes are some of the encoded bytes.
    #[doc(hidden)]
    Framed(&'a dyn Framed),
    /// The bytes can be decoded as a stream, as fast as all at once.
    Stream(&'a dyn DecodeStream),
    /// Ranges of the bytes can be decoded separately.
    #[doc(hidden)]
    Ranges(&'a dyn DecodeRanges),
}

impl BytesAccess<'_> {
    /// The decoded bytes, if they are some of these encoded bytes.
    #[doc(hidden)]
    pub fn unframed(self, encoded: &[u8]) -> Result<Option<&[u8]>, CodecError> {
        match self {
            Self::Framed(framed) => framed.unframed(encoded),
            _ => Ok(None),
        }
    }
}

/// The number of bytes that a codec adds around others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Framing {
    /// The bytes before the others.
    pub before: usize,
    /// The bytes after the others.
    pub after: usize,
}

/// Adds bytes around others, which usually stay unchanged.
pub trait Framed: fmt::Debug + Sync {
    /// The decoded bytes inside of the encoded bytes; `None` if these bytes must be decoded.
    fn unframed<'e>(&self, encoded: &'e [u8]) -> Result<Option<&'e [u8]>, CodecError>;

    /// The added bytes, if they only serve as a check. A reader that verifies nothing skips them.
    fn framing(&self) -> Option<Framing> {
        None
    }
}

/// Decodes bytes as a stream.
pub trait DecodeStream: fmt::Debug + Sync {
    /// The decoded bytes in order.
    fn decode_stream<'e>(
        &self,
        encoded: &'e mut dyn ByteStream,
    ) -> Result<Box<dyn ByteStream + 'e>, CodecError>;
}

/// Decodes ranges of bytes separately.
pub trait DecodeRanges: fmt::Debug + Sync {
    /// Lists the encoded bytes to fetch, which are stored at `window`, to serve `fetches` of decoded bytes. The decoded bytes are
    /// `size` bytes long, the fetches lie inside of them, and need no further fetches.
    fn read<'a>(
        &'a self,
        window: Window,
        size: usize,
        decoded: Vec<Fetch<'a>>,
    ) -> Result<Vec<Fetch<'a>>, CodecError>;
}
