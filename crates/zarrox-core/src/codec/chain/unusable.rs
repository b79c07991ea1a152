//! Placeholders for unknown codecs, which make it possible to inspect the metadata of an array whose codecs are unknown.

use super::build::CodecChain;
use super::named::Named;
use crate::codec::{
    ArrayAccess, ArrayToBytes, ChunkTable, Codec, CodecContext, CodecSpec, EncodeOptions, Fetch, InnerChunks,
    ReadPart, ReadRegion, RegionRanges, Size, Update, Window, WritePart,
};
use crate::error::CodecError;
use crate::json::{Json, Map};
use crate::strided::View;

impl CodecChain {
    /// Creates a pipeline in which some codecs cannot be created. Every access to a chunk returns an error with the reason.
    #[doc(hidden)]
    pub fn unusable(specs: &[CodecSpec], context: &CodecContext<'_>, why: &str) -> Self {
        let mut array_to_array = Vec::new();
        let mut chunk = context.chunk.clone();
        let mut specs = specs.iter();
        // Known codecs before the unknown codec may change the order of the axes inside a shard.
        let in_place_of = specs.find(|spec| match spec.create(&CodecContext { chunk: &chunk, ..*context }) {
            Ok((name, Codec::ArrayToArray(codec))) => {
                chunk = codec.encoded_chunk().clone();
                array_to_array.push(Named { name, codec });
                false
            }
            _ => true,
        });
        let codec = Box::new(Unusable::new(why, in_place_of, chunk.shape().len()));
        Self::of(array_to_array, Named { name: "unusable", codec }, Vec::new(), context)
    }
}

/// A placeholder codec: every access to a chunk returns an error with the reason.
#[derive(Debug)]
struct Unusable {
    why: String,
    inner: Option<Vec<usize>>,
}

impl Unusable {
    /// Creates a placeholder for a codec and all codecs after it. The shape of a shard's inner chunks is read from the
    /// metadata.
    fn new(why: &str, codec: Option<&CodecSpec>, ndim: usize) -> Self {
        let inner = codec.filter(|codec| !codec.inside().is_empty());
        let inner = inner.and_then(|codec| codec.configuration.get("chunk_shape")?.as_array());
        let length = |json: &Json| json.as_u64().and_then(|length| usize::try_from(length).ok());
        let inner: Option<Vec<usize>> = inner.and_then(|lengths| lengths.iter().map(length).collect());
        Self { why: why.to_owned(), inner: inner.filter(|inner| inner.len() == ndim && !inner.contains(&0)) }
    }

    fn error(&self) -> CodecError {
        CodecError::unsupported(self.why.as_str())
    }
}

impl ArrayToBytes for Unusable {
    fn configuration(&self) -> Map {
        Map::default()
    }

    fn encoded_size(&self) -> Size {
        Size::UNKNOWN
    }

    fn encode(&self, _: &View<'_>, _: EncodeOptions, _: &mut Vec<u8>) -> Result<bool, CodecError> {
        Err(self.error())
    }

    fn decode(&self, _: &[u8], _: ReadRegion<'_>) -> Result<(), CodecError> {
        Err(self.error())
    }

    fn access(&self) -> ArrayAccess<'_> {
        match self.inner {
            Some(_) => ArrayAccess::Chunks(self),
            None => ArrayAccess::Ranges(self),
        }
    }
}

impl RegionRanges for Unusable {
    fn read<'a>(&'a self, _: Window, _: ReadRegion<'a>) -> Result<Vec<Fetch<'a>>, CodecError> {
        Err(self.error())
    }
}

impl InnerChunks for Unusable {
    fn shape(&self) -> &[usize] {
        self.inner.as_deref().unwrap_or_default()
    }

    fn read<'a>(&'a self, _: Window, _: ReadPart<'a>) -> Result<Vec<Fetch<'a>>, CodecError> {
        Err(self.error())
    }

    fn update(
        &self,
        _: Option<&[u8]>,
        _: &WritePart<'_>,
        _: EncodeOptions,
        _: &mut Vec<u8>,
    ) -> Result<Update, CodecError> {
        Err(self.error())
    }

    fn table(&self) -> Option<&dyn ChunkTable> {
        None
    }
}
