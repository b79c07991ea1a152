//! Repair of a shard: the valid inner chunks of a damaged shard become a new shard.
//!
//! An inner chunk is valid if it can be decoded at the position in the index. An index that cannot be decoded is replaced by
//! the original index if the original can be [proven](super::recover); otherwise no inner chunk can be identified.

use std::ops::Range;

use zarrox_core::codec::{CodecError, EncodeOptions, Window};
use zarrox_core::internals::codec::{DecodeOptions, Entry, Mended};

use super::recover::recover;
use super::{NAME, ShardingCodec};

/// The state of an inner chunk in a damaged shard.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    /// It is marked as not stored.
    Empty,
    /// It is valid: its bytes in the shard.
    Whole(Range<usize>),
    /// It is a shard itself, rebuilt from its valid inner chunks.
    Mended(Vec<u8>),
    /// Its entry points to bytes that cannot be decoded, or outside of the shard.
    Lost,
}

/// A damaged shard, and the state of its inner chunks.
pub(super) struct Mending<'a> {
    codec: &'a ShardingCodec,
    shard: &'a [u8],
    parts: Vec<Part>,
    /// True if the index could not be decoded.
    is_recovered: bool,
}

impl<'a> Mending<'a> {
    /// Finds all valid inner chunks.
    pub(super) fn new(codec: &'a ShardingCodec, shard: &'a [u8]) -> Result<Self, CodecError> {
        let window = Window::of_size(shard.len() as u64);
        let index = codec.index.range(window).map_err(|e| e.at("index").in_codec(NAME))?.of(shard)?;
        let checked = codec.all_entries(index, DecodeOptions::default());
        let is_recovered = checked.is_err();
        let entries = checked.or_else(|_| recover(codec, shard, index))?;
        let mut mending = Self { codec, shard, parts: Vec::with_capacity(entries.len()), is_recovered };
        for entry in entries {
            let part = mending.part(entry);
            mending.parts.push(part);
        }
        Ok(mending)
    }

    /// Returns the state of the inner chunk of an entry.
    fn part(&self, entry: Entry) -> Part {
        let Entry::Stored { offset, length } = entry else { return Part::Empty };
        let window = self.codec.locate(Window::of_size(self.shard.len() as u64), (offset, length));
        let Ok(Some(Window { offset, length: Some(length) })) = window else { return Part::Lost };
        let (Ok(start), Ok(length)) = (usize::try_from(offset), usize::try_from(length)) else {
            return Part::Lost;
        };
        let bytes = &self.shard[start..start + length];
        if self.codec.inner.verify(bytes).is_ok() {
            return Part::Whole(start..start + length);
        }
        let mut mended = Vec::new();
        match self.codec.inner.mend(bytes, false, &mut mended) {
            Ok(Some(_)) if !mended.is_empty() => Part::Mended(mended),
            _ => Part::Lost,
        }
    }

    /// Writes a shard of all valid inner chunks.
    pub(super) fn write(self, fill: bool, encoded: &mut Vec<u8>) -> Result<Mended, CodecError> {
        let base = encoded.len();
        let (mut parts, mut mended) = (self.parts.iter(), Mended::default());
        self.codec.assemble(EncodeOptions::default(), encoded, |_, encoded| {
            self.codec.check_room(encoded.len() - base)?;
            match parts.next().unwrap_or(&Part::Empty) {
                Part::Empty => return Ok(false),
                Part::Whole(range) => {
                    encoded.extend_from_slice(&self.shard[range.clone()]);
                    mended.kept += 1;
                }
                Part::Mended(bytes) => {
                    encoded.extend_from_slice(bytes);
                    mended.lost += 1;
                }
                Part::Lost => {
                    mended.lost += 1;
                    if !fill {
                        return Ok(false);
                    }
                    self.codec.inner.encode_fill(encoded)?;
                }
            }
            Ok(true)
        })?;
        mended.found = if self.is_recovered { mended.kept } else { 0 };
        Ok(mended)
    }
}
