//! Codecs from bytes to bytes.

use std::fmt;

use super::{ByteStream, Fetch, Size, Window};
use crate::error::CodecError;
use crate::json::Map;

/// A codec that turns bytes into bytes.
pub trait BytesToBytes: fmt::Debug + Send + Sync {
    /// The complete configuration, as v3 metadata should have it.
    fn configuration(&self) -> Map;

    /// The name that v3 metadata should have with this configuration, where it is not the definition's.
    fn name(&self) -> Option<&'static str> {
        None
    }

    /// The number of bytes that `decoded` many become.
    fn encoded_size(&self, decoded: Size) -> Size;

    /// Encodes bytes and appends them to `encoded`.
    fn encode(&self, decoded: &[u8], encoded: &mut Vec<u8>) -> Result<(), CodecError>;

    /// Decodes into the front of `decoded` and returns the number of decoded bytes. More than fit are an
    /// [overflow](CodecError::overflow), if they were decoded and not only announced: a caller that does not know the size takes
    /// more memory then.
    fn decode(&self, encoded: &[u8], decoded: &mut [u8]) -> Result<usize, CodecError>;

    /// The number of bytes that will be decoded, where the encoded bytes announce it. It need not be true.
    fn decoded_size(&self, encoded: &[u8]) -> Option<usize> {
        let _ = encoded;
        None
    }

    /// The codec's way to a part of the decoded bytes; without one, all are decoded at once into memory of their own.
    fn access(&self) -> BytesAccess<'_> {
        BytesAccess::Whole
    }
}

/// The ways to a part of what a bytes→bytes codec encoded.
#[derive(Debug, Clone, Copy)]
pub enum BytesAccess<'a> {
    /// None: all bytes are decoded at once.
    Whole,
    /// The decoded bytes are among the encoded ones.
    Framed(&'a dyn Framed),
    /// The bytes can be decoded one after the other, as fast as all at once.
    Stream(&'a dyn DecodeStream),
    /// Ranges of the bytes can be decoded for themselves.
    Ranges(&'a dyn DecodeRanges),
}

impl BytesAccess<'_> {
    /// The decoded bytes, where they are among these encoded ones.
    pub fn unframed(self, encoded: &[u8]) -> Result<Option<&[u8]>, CodecError> {
        match self {
            Self::Framed(framed) => framed.unframed(encoded),
            _ => Ok(None),
        }
    }
}

/// The number of bytes that a codec puts around others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Framing {
    /// In front of them.
    pub before: usize,
    /// Behind them.
    pub after: usize,
}

/// Puts something around the bytes and may leave them unchanged.
pub trait Framed: fmt::Debug + Sync {
    /// The decoded bytes, which are some of the encoded ones; `None` where these bytes have to be decoded.
    fn unframed<'e>(&self, encoded: &'e [u8]) -> Result<Option<&'e [u8]>, CodecError>;

    /// The bytes around the decoded ones, if they serve for checking alone: a reader that does not check passes over them.
    fn framing(&self) -> Option<Framing> {
        None
    }
}

/// Decodes bytes one after the other.
pub trait DecodeStream: fmt::Debug + Sync {
    /// The decoded bytes in order.
    fn decode_stream<'e>(
        &self,
        encoded: &'e mut dyn ByteStream,
    ) -> Result<Box<dyn ByteStream + 'e>, CodecError>;
}

/// Decodes ranges of the bytes for themselves.
pub trait DecodeRanges: fmt::Debug + Sync {
    /// Lists the encoded bytes to fetch, which are stored at `window`, to serve fetches of the decoded ones. Those are `size`
    /// bytes, the fetches lie inside, and no others follow from them.
    fn read<'a>(
        &'a self,
        window: Window,
        size: usize,
        decoded: Vec<Fetch<'a>>,
    ) -> Result<Vec<Fetch<'a>>, CodecError>;
}
