//! The storage of variables.

use zarrox::json::Map;

use super::STORAGE;

/// The storage of a variable. It is recorded only if an export would choose a different one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Storage {
    /// The elements are contiguous.
    Contiguous,
    /// The elements are stored in unfiltered chunks.
    Chunked,
}

impl Storage {
    /// The maximum total size in bytes up to which an export stores elements contiguously by default.
    pub(crate) const SMALL: u64 = 1 << 10;

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Contiguous => "contiguous",
            Self::Chunked => "chunked",
        }
    }

    /// Returns the storage named in the attribute.
    pub(crate) fn of(attributes: &Map) -> Option<Self> {
        let name = attributes.get(STORAGE)?.as_str()?;
        [Self::Contiguous, Self::Chunked].into_iter().find(|storage| storage.name() == name)
    }
}
