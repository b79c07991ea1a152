//! Policies that can be set when nodes are opened.

/// How missing chunks are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum MissingChunks {
    /// A missing chunk is read as the fill value.
    #[default]
    Fill,
    /// Reading a missing chunk is an error; for arrays that should be complete.
    Error,
}

/// The events that a completed write survives.
///
/// | store | [`Process`](Self::Process) | [`Disk`](Self::Disk) |
/// |---|---|---|
/// | directories | the process may be killed | completed writes are on the disk, including the names of new directories |
/// | SQLite, LMDB, redb, GDBM | as `Disk`, unless the storage option `sync` is `false` | each write is on the disk when it returns |
/// | zip archives | none: an archive is complete once it is [flushed](zarrox_stores::Store::flush) or closed | a complete archive is on the disk |
/// | all others | the guarantees of the server | the same |
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Durability {
    /// At least the end of the process. A power failure may undo the most recent writes, and more of them if the
    /// [options](crate::OpenOptions::storage_option) of the store turn off flushing.
    #[default]
    Process,
    /// A crash of the machine, since the written data is on the disk.
    Disk,
}

/// The policy for opening hierarchies from their consolidated metadata.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Consolidated {
    /// Uses consolidated metadata, if there is any, when nothing will be written ([`OpenMode::Read`](crate::OpenMode::Read)).
    #[default]
    Auto,
    /// Never uses consolidated metadata: nodes are read from their own documents.
    Never,
    /// Always uses consolidated metadata; fails if the group has none.
    Require,
}

/// The policy for consolidated metadata when one of the nodes that it describes changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Upkeep {
    /// The consolidated metadata is updated. If it cannot be read or stored, the change to the node is kept, and an error is
    /// returned; if it cannot be parsed, a warning ([`tracing`]) names the consolidated metadata.
    #[default]
    Update,
    /// The consolidated metadata is removed.
    Drop,
    /// The consolidated metadata is not updated, and becomes out of date. Nodes that were opened from it cannot be changed.
    Leave,
}
