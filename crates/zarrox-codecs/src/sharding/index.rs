//! The index of a shard: its encoding and its entries.

use zarrox_core::codec::{
    ByteRange, ChunkSpec, Codec, CodecContext, CodecError, EncodeOptions, ReadRegion, Size, Window,
};
use zarrox_core::data_type::Storage;
use zarrox_core::internals::codec::DecodeOptions;
use zarrox_core::internals::scratch::Scratch;
use zarrox_core::strided::{Dims, Span, View, ViewMut};
use zarrox_core::{CodecChain, CodecSpec, FillValue};

/// The location of an index in its chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum IndexLocation {
    /// Before the inner chunks.
    Start,
    /// After the inner chunks.
    #[default]
    End,
}

pub(crate) const LOCATIONS: &[(&str, IndexLocation)] =
    &[("start", IndexLocation::Start), ("end", IndexLocation::End)];

impl IndexLocation {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::End => "end",
        }
    }
}

/// The offset and the length of an inner chunk, in bytes.
pub(crate) type Entry = (u64, u64);

/// The entry of an inner chunk that is not stored.
pub(crate) const EMPTY: Entry = (u64::MAX, u64::MAX);

/// The size of an entry in memory.
pub(crate) const ENTRY: usize = 16;

/// The encoding of the index of a shard.
#[derive(Debug)]
pub(crate) struct Index {
    pub(crate) chain: CodecChain,
    /// The length of the encoded index.
    pub(crate) size: usize,
    pub(crate) location: IndexLocation,
}

impl Index {
    pub(crate) fn new(
        codecs: &[CodecSpec],
        grid: &[usize],
        location: IndexLocation,
        context: &CodecContext<'_>,
    ) -> Result<Self, CodecError> {
        let shape: Vec<u64> = grid.iter().map(|&n| n as u64).chain([2]).collect();
        let chunk = ChunkSpec::new(&shape, Storage::Uint(8), FillValue::zero(8))?;
        if chunk.size() > context.limit {
            let message =
                format!("the index takes {} bytes, and the limit is {}", chunk.size(), context.limit);
            return Err(CodecError::limit(message));
        }
        let context = CodecContext { chunk: &chunk, ..*context };
        let chain = CodecChain::new(codecs, &context)?;
        let Size::Exact(size) = chain.encoded_size() else {
            let name = codecs.iter().find(|spec| is_variable(spec, &context)).map_or("?", |spec| &spec.name);
            return Err(CodecError::invalid(format!(
                "'{name}' does not encode to a fixed size, which an index needs"
            )));
        };
        Ok(Self { chain, size, location })
    }

    /// Returns the range of the index in a shard.
    pub(crate) fn range(&self, window: Window) -> Result<ByteRange, CodecError> {
        match self.location {
            IndexLocation::Start => window.part(0, self.size as u64),
            IndexLocation::End => window.suffix(self.size as u64),
        }
    }

    /// Decodes the entries of a region of inner chunks.
    pub(crate) fn entries(&self, encoded: &[u8], cells: Dims<Span>) -> Result<Entries, CodecError> {
        self.entries_with(encoded, cells, DecodeOptions::default())
    }

    /// Decodes the entries of a region of inner chunks with these options.
    pub(crate) fn entries_with(
        &self,
        encoded: &[u8],
        mut cells: Dims<Span>,
        options: DecodeOptions,
    ) -> Result<Entries, CodecError> {
        cells.push(Span::all(2));
        let shape: Dims<usize> = cells.iter().map(|span| span.count).collect();
        let first = cells.iter().map(|span| span.start).collect();
        let mut bytes = Scratch::with_len(shape.iter().product::<usize>() * 8)?;
        let out = ViewMut::contiguous(&mut bytes, &shape, 8);
        let region = ReadRegion { options, ..ReadRegion::new(cells, out) };
        self.chain.decode(encoded, region).map_err(|e| e.at("index"))?;
        Ok(Entries { bytes, first, shape })
    }

    /// Encodes all entries, appending to `encoded`.
    pub(crate) fn encode(&self, entries: &[u8], encoded: &mut Vec<u8>) -> Result<(), CodecError> {
        let view = View::contiguous(entries, self.chain.chunk().shape(), 8);
        let options = EncodeOptions { store_empty_chunks: true };
        self.chain.encode(&view, options, encoded).map(|_| ()).map_err(|e| e.at("index"))
    }
}

/// Returns true if this codec is the reason why the size of the index is not fixed.
fn is_variable(spec: &CodecSpec, context: &CodecContext<'_>) -> bool {
    let Ok(def) = context.registry.codec(&spec.name) else { return false };
    let size = match (def.create)(&spec.configuration, context) {
        Ok(Codec::ArrayToBytes(codec)) => codec.encoded_size(),
        Ok(Codec::BytesToBytes(codec)) => codec.encoded_size(Size::Exact(context.chunk.size())),
        _ => return false,
    };
    !matches!(size, Size::Exact(_))
}

/// The decoded entries of a region of inner chunks.
pub(crate) struct Entries {
    bytes: Scratch,
    first: Dims<usize>,
    shape: Dims<usize>,
}

impl Entries {
    /// Returns the entry of an inner chunk in the region.
    pub(crate) fn get(&self, cell: &[usize]) -> Entry {
        let from_first = cell.iter().zip(&self.first).map(|(cell, first)| cell - first);
        let at = from_first.zip(&self.shape).fold(0, |at, (cell, &length)| at * length + cell) * ENTRY;
        let number = |at: usize| {
            let mut bytes = [0; 8];
            bytes.copy_from_slice(&self.bytes[at..at + 8]);
            u64::from_ne_bytes(bytes)
        };
        (number(at), number(at + 8))
    }
}
