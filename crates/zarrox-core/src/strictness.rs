//! The strictness with which documents are read.

/// The variants of documents that a reader accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Strictness {
    /// Every variant with a clear meaning is accepted.
    #[default]
    Lenient,
    /// Only documents that follow the specification are accepted.
    Strict,
}
