//! The options of encoding and decoding, and the outcome of an update.

/// How chunks are encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EncodeOptions {
    /// Whether chunks that hold nothing but the fill value are stored all the same.
    pub store_empty_chunks: bool,
}

/// What has become of a chunk of which a part was written.
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
    /// What encoding a whole chunk has made of it: whether something was appended.
    pub fn of_encoded(appended: bool) -> Self {
        if appended { Self::Encoded } else { Self::Empty }
    }
}

/// How chunks are decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DecodeOptions {
    /// Whether checksums are compared. Where they are not, parts of a chunk can be read that only a checksum ties to the rest.
    pub verify_checksums: bool,
}

impl Default for DecodeOptions {
    fn default() -> Self {
        Self { verify_checksums: true }
    }
}
