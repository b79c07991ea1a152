//! The options of encoding and decoding, and the outcome of an update.

/// Options for encoding chunks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EncodeOptions {
    /// True if chunks that hold nothing but the fill value are stored all the same.
    pub store_empty_chunks: bool,
}

/// The state of a chunk after a part of it was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Update {
    /// It is as it was: what is stored can stay, and nothing was appended.
    Unchanged,
    /// Its new bytes were appended.
    Encoded,
    /// It holds only the fill value, and the options say that such chunks are not stored: nothing was appended.
    Empty,
}

impl Update {
    /// The update that encoding a whole chunk makes: `appended` is true if bytes were appended to the output.
    pub fn of_encoded(appended: bool) -> Self {
        if appended { Self::Encoded } else { Self::Empty }
    }
}

/// Options for decoding chunks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DecodeOptions {
    /// True if checksums are compared. Where they are not, parts of a chunk can be read that only a checksum
    /// ties to the rest.
    pub verify_checksums: bool,
}

impl Default for DecodeOptions {
    fn default() -> Self {
        Self { verify_checksums: true }
    }
}
