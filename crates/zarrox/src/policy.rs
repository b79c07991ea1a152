//! Policies that are chosen when nodes are opened.

/// The ways to read a chunk that was never stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum MissingChunks {
    /// Its elements are the fill value.
    #[default]
    Fill,
    /// It is an error: for arrays that are known to be complete.
    Error,
}

/// The events that a write has outlived when it returns.
///
/// | store | [`Process`](Self::Process) | [`Disk`](Self::Disk) |
/// |---|---|---|
/// | directories | the process may be killed | what returned is on the disk, with the names of new directories |
/// | SQLite, LMDB, redb, GDBM | as `Disk`, unless the storage option `sync` is `false` | each write is on the disk when it returns |
/// | zip archives | nothing: an archive is finished when it is [flushed](zarrox_stores::Store::flush) or closed | what was written is on the disk when the archive is finished |
/// | all others | what the server promises | the same |
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Durability {
    /// At least the end of the process. A power failure may take away what was written last, and more of it where a store is
    /// [told](crate::OpenOptions::storage_option) not to flush anything.
    #[default]
    Process,
    /// The end of the machine: it is on the disk.
    Disk,
}

/// The rule by which hierarchies are opened by their consolidated metadata, or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
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
#[non_exhaustive]
pub enum Upkeep {
    /// It is brought up to date. If it cannot be read or stored, the change stands, and the error says so; if it cannot be understood, a
    /// warning ([`tracing`]) names it.
    #[default]
    Update,
    /// It is removed.
    Drop,
    /// It is left as it is, and does not know of the change. Nodes that were opened by it cannot be changed then.
    Leave,
}
