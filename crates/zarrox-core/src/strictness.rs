//! Leniency in reading documents.

/// The variants of a document that a reader accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Strictness {
    /// Every variant with a clear meaning is accepted.
    #[default]
    Lenient,
    /// Only what the specification has is accepted.
    Strict,
}
