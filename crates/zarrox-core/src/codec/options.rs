//! Options for encoding and decoding, and the result of an update.

/// Options for encoding chunks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EncodeOptions {
    /// True if chunks that hold only the fill value are stored.
    pub store_empty_chunks: bool,
}

/// The result of writing a part of a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Update {
    /// The chunk is unchanged: the stored chunk remains valid, and nothing was appended.
    Unchanged,
    /// The new encoded chunk was appended.
    Encoded,
    /// The chunk holds only the fill value, and the options omit such chunks: nothing was appended.
    Empty,
}

impl Update {
    /// Returns the update for a whole encoded chunk: `appended` is true if bytes were appended to the output.
    pub fn of_encoded(appended: bool) -> Self {
        if appended { Self::Encoded } else { Self::Empty }
    }
}

/// Options for decoding chunks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DecodeOptions {
    /// True if checksums are verified. Without verification, a part of a chunk can be read on its own, unless something other
    /// than the checksum requires the whole chunk.
    pub verify_checksums: bool,
}

impl Default for DecodeOptions {
    fn default() -> Self {
        Self { verify_checksums: true }
    }
}
