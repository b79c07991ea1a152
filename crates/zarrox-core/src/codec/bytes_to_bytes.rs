//! Bytes→bytes codecs.

use std::fmt;

use super::{ByteStream, Fetch, Size, Window};
use crate::error::CodecError;
use crate::json::Map;

/// A codec that converts bytes to bytes.
pub trait BytesToBytes: fmt::Debug + Send + Sync {
    /// Returns the complete configuration, as in v3 metadata.
    fn configuration(&self) -> Map;

    /// Returns the name that v3 metadata uses for this configuration, if it differs from the name in the definition.
    fn name(&self) -> Option<&'static str> {
        None
    }

    /// Returns the encoded size of input with the given decoded size.
    fn encoded_size(&self, decoded: Size) -> Size;

    /// Encodes bytes and appends them to `encoded`.
    fn encode(&self, decoded: &[u8], encoded: &mut Vec<u8>) -> Result<(), CodecError>;

    /// Decodes into the start of `decoded` and returns the number of decoded bytes. If the bytes do not fit, the error is an
    /// [overflow](CodecError::overflow), so that a caller that does not know the size can try a larger buffer. A declared size
    /// that exceeds the buffer does not prove an overflow, because it may be wrong.
    fn decode(&self, encoded: &[u8], decoded: &mut [u8]) -> Result<usize, CodecError>;

    /// Returns the decoded size that the encoded bytes declare, if they declare one. It may be wrong.
    fn decoded_size(&self, encoded: &[u8]) -> Option<usize> {
        let _ = encoded;
        None
    }

    /// Returns the codec's partial access to the decoded bytes. Without it, all bytes are decoded into a buffer.
    fn access(&self) -> BytesAccess<'_> {
        BytesAccess::Whole
    }
}

/// The partial access of a bytes→bytes codec to the decoded bytes.
#[derive(Debug, Clone, Copy)]
pub enum BytesAccess<'a> {
    /// No partial access: all bytes are decoded together.
    Whole,
    /// The decoded bytes are a range of the encoded bytes.
    #[doc(hidden)]
    Framed(&'a dyn Framed),
    /// The bytes can be decoded as a stream, as fast as in one call.
    Stream(&'a dyn DecodeStream),
    /// Ranges of the bytes can be decoded separately.
    #[doc(hidden)]
    Ranges(&'a dyn DecodeRanges),
}

impl BytesAccess<'_> {
    /// Returns the decoded bytes, if they are a range of the encoded bytes.
    #[doc(hidden)]
    pub fn unframed(self, encoded: &[u8]) -> Result<Option<&[u8]>, CodecError> {
        match self {
            Self::Framed(framed) => framed.unframed(encoded),
            _ => Ok(None),
        }
    }
}

/// The numbers of bytes that a codec adds before and after the decoded bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Framing {
    /// The number of bytes before the decoded bytes.
    pub before: usize,
    /// The number of bytes after the decoded bytes.
    pub after: usize,
}

/// Adds bytes before and after the decoded bytes, which themselves are usually unchanged.
pub trait Framed: fmt::Debug + Sync {
    /// Returns the decoded bytes as a part of the encoded bytes; `None` if the encoded bytes must be decoded.
    fn unframed<'e>(&self, encoded: &'e [u8]) -> Result<Option<&'e [u8]>, CodecError>;

    /// Returns the numbers of added bytes, if these bytes are only a checksum. A reader that does not verify checksums skips
    /// them.
    fn framing(&self) -> Option<Framing> {
        None
    }
}

/// Decodes bytes as a stream.
pub trait DecodeStream: fmt::Debug + Sync {
    /// Returns a stream of the decoded bytes.
    fn decode_stream<'e>(
        &self,
        encoded: &'e mut dyn ByteStream,
    ) -> Result<Box<dyn ByteStream + 'e>, CodecError>;
}

/// Decodes ranges of bytes separately.
pub trait DecodeRanges: fmt::Debug + Sync {
    /// Returns the fetches from the encoded bytes at `window` that serve `fetches` from the `size` decoded bytes. Each of
    /// `fetches` lies within the decoded bytes, and returns no further fetches.
    fn read<'a>(
        &'a self,
        window: Window,
        size: usize,
        decoded: Vec<Fetch<'a>>,
    ) -> Result<Vec<Fetch<'a>>, CodecError>;
}
