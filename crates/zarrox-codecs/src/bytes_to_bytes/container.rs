//! The container formats of DEFLATE.

/// The container format of the compressed bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Container {
    /// RFC 1952.
    Gzip,
    /// RFC 1950.
    Zlib,
}
