//! Policies that are chosen when nodes are opened.

/// The ways to read a chunk that was never stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MissingChunks {
    /// Its elements are the fill value.
    #[default]
    Fill,
    /// It is an error: for arrays that are known to be complete.
    Error,
}

/// The rule by which hierarchies are opened by their consolidated metadata, or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Consolidated {
    /// When there is any and nothing will be written ([`OpenMode::Read`](crate::OpenMode::Read)).
    #[default]
    Auto,
    /// Never: nodes are read from their own documents.
    Never,
    /// In any case; that there is none is an error.
    Require,
}

/// A policy for consolidated metadata that repeats a node, when that node changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Upkeep {
    /// It is brought up to date. Where that cannot be done, a warning ([`tracing`]) names it; the change stands.
    #[default]
    Update,
    /// It is removed.
    Drop,
    /// It is left as it is, and does not know of the change. Nodes that were opened by it cannot be changed then.
    Leave,
}
