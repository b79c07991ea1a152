//! Policies that are set when nodes are opened.

/// The ways to read a chunk that was never stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum MissingChunks {
    /// Elements of a missing chunk have the fill value.
    #[default]
    Fill,
    /// Reading a missing chunk is an error, for arrays that should be complete.
    Error,
}

/// The events that a write survives once it has returned.
///
/// | store | [`Process`](Self::Process) | [`Disk`](Self::Disk) |
/// |---|---|---|
/// | directories | the process may be killed | finished writes are on the disk, with the names of new directories |
/// | SQLite, LMDB, redb, GDBM | as `Disk`, unless the storage option `sync` is `false` | each write is on the disk when it returns |
/// | zip archives | none: an archive is finished when it is [flushed](zarrox_stores::Store::flush) or closed | a finished archive is on the disk |
/// | all others | the guarantees of the server | the same |
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Durability {
    /// At least the end of the process. A power failure may undo the last writes, and more of them if the
    /// [options](crate::OpenOptions::storage_option) of the store turn off flushing.
    #[default]
    Process,
    /// A crash of the machine, since the written data are on the disk.
    Disk,
}

/// The policy for opening hierarchies by their consolidated metadata.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Consolidated {
    /// Uses existing consolidated metadata if nothing will be written ([`OpenMode::Read`](crate::OpenMode::Read)).
    #[default]
    Auto,
    /// Never uses consolidated metadata: nodes are read from their own documents.
    Never,
    /// Always uses consolidated metadata; fails if the group has none.
    Require,
}

/// The policy for consolidated metadata with a copy of a node's documents, when that node changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Upkeep {
    /// The consolidated metadata is updated. If it cannot be read or stored, the change of the node remains, and an error is
    /// returned; if it cannot be parsed, a warning ([`tracing`]) names the consolidated metadata.
    #[default]
    Update,
    /// The consolidated metadata is removed.
    Drop,
    /// The consolidated metadata is not updated, and becomes out of date. Nodes that were opened by it cannot be changed.
    Leave,
}
