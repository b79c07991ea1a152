//! Repair of a damaged shard: its valid inner chunks are written to a new shard.
//!
//! An inner chunk is valid if it can be decoded at its position according to the index. If the index cannot be decoded, it is
//! replaced with the original index, provided that this can be [proven](super::recover) to be the original. Otherwise no inner
//! chunk can be identified.

use std::ops::Range;

use zarrox_core::codec::{CodecError, EncodeOptions, Window};
use zarrox_core::internals::codec::{DecodeOptions, Entry, RepairOutcome};

use super::recover::recover;
use super::{NAME, ShardingCodec};

/// The state of an inner chunk in a damaged shard.
#[derive(Debug, Clone, PartialEq, Eq)]
enum InnerChunkState {
    /// The inner chunk is marked as not stored.
    Empty,
    /// The inner chunk is valid, and is in this range of the shard.
    Whole(Range<usize>),
    /// The inner chunk is itself a shard, which was rebuilt from its valid inner chunks to these bytes.
    Rebuilt(Vec<u8>),
    /// The entry of the inner chunk refers to bytes that cannot be decoded or that are outside the shard.
    Lost,
}

/// A damaged shard, and the state of its inner chunks.
pub(super) struct ShardRepair<'a> {
    codec: &'a ShardingCodec,
    shard: &'a [u8],
    states: Vec<InnerChunkState>,
    /// True if the index was damaged and has been recovered.
    is_recovered: bool,
}

impl<'a> ShardRepair<'a> {
    /// Determines the state of every inner chunk.
    pub(super) fn new(codec: &'a ShardingCodec, shard: &'a [u8]) -> Result<Self, CodecError> {
        let window = Window::of_size(shard.len() as u64);
        let index = codec.index.range(window).map_err(|e| e.at("index").in_codec(NAME))?.of(shard)?;
        let checked = codec.all_entries(index, DecodeOptions::default());
        let is_recovered = checked.is_err();
        let entries = checked.or_else(|_| recover(codec, shard, index))?;
        let mut repair = Self { codec, shard, states: Vec::with_capacity(entries.len()), is_recovered };
        for entry in entries {
            let state = repair.state(entry);
            repair.states.push(state);
        }
        Ok(repair)
    }

    /// Returns the state of the inner chunk to which an entry refers.
    fn state(&self, entry: Entry) -> InnerChunkState {
        let Entry::Stored { offset, length } = entry else { return InnerChunkState::Empty };
        let window = self.codec.locate(Window::of_size(self.shard.len() as u64), (offset, length));
        let Ok(Some(Window { offset, length: Some(length) })) = window else { return InnerChunkState::Lost };
        let (Ok(start), Ok(length)) = (usize::try_from(offset), usize::try_from(length)) else {
            return InnerChunkState::Lost;
        };
        let bytes = &self.shard[start..start + length];
        if self.codec.inner.verify(bytes).is_ok() {
            return InnerChunkState::Whole(start..start + length);
        }
        let mut repaired = Vec::new();
        match self.codec.inner.repair(bytes, false, &mut repaired) {
            Ok(Some(_)) if !repaired.is_empty() => InnerChunkState::Rebuilt(repaired),
            _ => InnerChunkState::Lost,
        }
    }

    /// Writes a shard with all valid inner chunks.
    pub(super) fn write(self, fill: bool, encoded: &mut Vec<u8>) -> Result<RepairOutcome, CodecError> {
        let base = encoded.len();
        let (mut states, mut repaired) = (self.states.iter(), RepairOutcome::default());
        self.codec.assemble(EncodeOptions::default(), encoded, |_, encoded| {
            self.codec.check_room(encoded.len() - base)?;
            match states.next().unwrap_or(&InnerChunkState::Empty) {
                InnerChunkState::Empty => return Ok(false),
                InnerChunkState::Whole(range) => {
                    encoded.extend_from_slice(&self.shard[range.clone()]);
                    repaired.kept += 1;
                }
                InnerChunkState::Rebuilt(bytes) => {
                    encoded.extend_from_slice(bytes);
                    repaired.lost += 1;
                }
                InnerChunkState::Lost => {
                    repaired.lost += 1;
                    if !fill {
                        return Ok(false);
                    }
                    self.codec.inner.encode_fill(encoded)?;
                }
            }
            Ok(true)
        })?;
        repaired.found = if self.is_recovered { repaired.kept } else { 0 };
        Ok(repaired)
    }
}
