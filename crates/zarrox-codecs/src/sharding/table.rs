//! A shard as a table of inner chunks, for checking and repairing.

use zarrox_core::codec::{ByteRange, CodecError, Window};
use zarrox_core::internals::codec::{ChunkTable, DecodeOptions, Entry, RepairOutcome};
use zarrox_core::internals::selection::partition::advance;
use zarrox_core::strided::Span;

use super::index::{EMPTY, ENTRY, IndexLocation};
use super::repair::ShardRepair;
use super::{Cell, NAME, ShardingCodec};

impl ChunkTable for ShardingCodec {
    fn grid(&self) -> &[usize] {
        &self.grid
    }

    fn index_range(&self, window: Window) -> Result<ByteRange, CodecError> {
        self.index.range(window).map_err(|e| e.at("index").in_codec(NAME))
    }

    fn entries(&self, index: &[u8]) -> Result<Vec<Entry>, CodecError> {
        self.all_entries(index, DecodeOptions::default()).map_err(|e| e.in_codec(NAME))
    }

    fn place(&self, entry: Entry, size: u64) -> Result<Option<Window>, CodecError> {
        match entry {
            Entry::Empty => Ok(None),
            Entry::Stored { offset, length } => self.locate(Window::of_size(size), (offset, length)),
        }
    }

    fn encode_index(&self, lengths: &[Option<u64>]) -> Result<(Vec<u8>, bool), CodecError> {
        let count: usize = self.grid.iter().product();
        if lengths.len() != count {
            let message = format!("{} inner chunks are not the {count} of a shard", lengths.len());
            return Err(CodecError::invalid(message).in_codec(NAME));
        }
        let is_first = self.index.location == IndexLocation::Start;
        let mut offset = if is_first { self.index.size as u64 } else { 0 };
        let mut entries = Vec::with_capacity(count * ENTRY);
        for length in lengths {
            let (begin, length) = length.map_or(EMPTY, |length| (offset, length));
            if (begin, length) != EMPTY {
                offset += length;
            }
            entries.extend(begin.to_ne_bytes());
            entries.extend(length.to_ne_bytes());
        }
        let mut encoded = Vec::new();
        self.index.encode(&entries, &mut encoded).map_err(|e| e.in_codec(NAME))?;
        Ok((encoded, is_first))
    }

    fn verify(&self, encoded: &[u8]) -> Result<(), CodecError> {
        self.inner.verify(encoded)
    }

    fn repair(&self, damaged: &[u8], fill: bool, encoded: &mut Vec<u8>) -> Result<RepairOutcome, CodecError> {
        ShardRepair::new(self, damaged)?.write(fill, encoded)
    }
}

impl ShardingCodec {
    /// Returns the entries of all inner chunks in row-major order.
    pub(super) fn all_entries(&self, index: &[u8], options: DecodeOptions) -> Result<Vec<Entry>, CodecError> {
        let cells = self.grid.iter().map(|&count| Span::all(count)).collect();
        let entries = self.index.entries_with(index, cells, options)?;
        let count: usize = self.grid.iter().product();
        let mut cell = Cell::from_elem(0, self.grid.len());
        let mut all = Vec::new();
        all.try_reserve_exact(count)?;
        for _ in 0..count {
            all.push(match entries.get(&cell) {
                EMPTY => Entry::Empty,
                (offset, length) => Entry::Stored { offset, length },
            });
            advance(&mut cell, &self.grid, |_| 0);
        }
        Ok(all)
    }
}
