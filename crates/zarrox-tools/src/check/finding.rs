//! Findings: what a check has found, and what becomes of it.

use std::fmt;

use zarrox_core::json::{Map, json};

/// The severity of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    /// Worth knowing; nothing is wrong.
    Note,
    /// Something is not as it should be, but every value that is asked for is read as it was written.
    Warning,
    /// Values cannot be read, or nodes not be opened; or what is read may not be what was written.
    Error,
}

impl Severity {
    /// The name: `note`, `warning` or `error`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident $name:literal $severity:ident,)*) => {
        /// The kind of a finding.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum FindingKind {
            $($(#[$doc])* $kind,)*
        }

        impl FindingKind {
            /// Every kind, in the order in which they are looked for.
            pub const ALL: &'static [Self] = &[$(Self::$kind),*];

            /// The name, which never changes: `corrupt-chunk`.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$kind => $name,)*
                }
            }

            /// The severity of all findings of this kind.
            pub fn severity(self) -> Severity {
                match self {
                    $(Self::$kind => Severity::$severity,)*
                }
            }
        }
    };
}

kinds! {
    /// A document of a node cannot be understood.
    UnreadableDocument "unreadable-document" Error,
    /// A document is not as its specification demands, but has one clear meaning.
    NonstandardDocument "nonstandard-document" Warning,
    /// The document of an array says something else than the consolidated metadata, and the stored chunks do not fit the document, or
    /// do not tell which one is right.
    DisputedDocument "disputed-document" Error,
    /// A codec, a data type or a form of chunks is not known here: what it is for cannot be checked.
    Unsupported "unsupported" Warning,
    /// A group has no document, and its format demands one.
    ImplicitGroup "implicit-group" Warning,
    /// The names of nodes side by side differ only in case: on some disks only one of them can be there.
    NamesDifferInCase "names-differ-in-case" Warning,
    /// A node has documents of several formats.
    SeveralFormats "several-formats" Warning,
    /// A directory has the documents of an array and of a group.
    ArrayAndGroup "array-and-group" Warning,
    /// A node is of another format than the group that it is in.
    MixedFormats "mixed-formats" Warning,
    /// A node lies inside an array.
    NodeInArray "node-in-array" Warning,
    /// The consolidated metadata says something else of a node than the node's own documents.
    StaleConsolidated "stale-consolidated" Warning,
    /// The consolidated metadata cannot be understood.
    BrokenConsolidated "broken-consolidated" Error,
    /// A conversion or an import was interrupted.
    InterruptedTransfer "interrupted-transfer" Warning,
    /// The deletion of a node was interrupted, or its move by copying.
    UnfinishedWork "unfinished-work" Warning,
    /// A node was put aside while another one was moved to its place, and is still there.
    ReplacedNode "replaced-node" Warning,
    /// A temporary file whose writer is gone.
    TemporaryFile "temporary-file" Warning,
    /// Keys that are no part of any node.
    ForeignKeys "foreign-keys" Note,
    /// There are chunks, and no document of an array.
    ChunksWithoutArray "chunks-without-array" Error,
    /// A chunk is stored outside of the array's shape.
    ChunkOutsideGrid "chunk-outside-grid" Warning,
    /// The key of a chunk has another separator, or another form, than the array's metadata says: nobody reads the chunk.
    WrongChunkKey "wrong-chunk-key" Error,
    /// An object cannot be read from the store.
    Unreadable "unreadable" Error,
    /// A chunk has no bytes at all.
    EmptyChunk "empty-chunk" Error,
    /// A chunk has another number of bytes than all such chunks have.
    WrongSize "wrong-size" Error,
    /// A chunk is larger than the limit on memory.
    TooLarge "too-large" Error,
    /// The index of a shard cannot be decoded.
    ShardIndex "shard-index" Error,
    /// An entry in the index of a shard leads to no place in the shard.
    ShardEntry "shard-entry" Error,
    /// Inner chunks of a shard share bytes with one another, or with the index.
    ShardOverlap "shard-overlap" Error,
    /// A chunk cannot be decoded.
    CorruptChunk "corrupt-chunk" Error,
    /// A chunk inside of a shard cannot be decoded.
    CorruptInnerChunk "corrupt-inner-chunk" Error,
    /// The chunks of an array have no checksums: not every changed byte is noticed.
    NoChecksums "no-checksums" Note,
    /// Chunks are not stored: they are read as the fill value.
    MissingChunks "missing-chunks" Note,
}

impl fmt::Display for FindingKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The repair that a finding calls for.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Remedy {
    /// Nothing is done, for this reason.
    Nothing(String),
    /// The file is deleted.
    Delete,
    /// The object is moved to the quarantine.
    Quarantine,
    /// The object is moved to the quarantine, and a chunk of fill values is written.
    Refill,
    /// The shard is copied to the quarantine, and written anew from its inner chunks that are whole.
    Rebuild {
        /// The number of inner chunks that stay as they are.
        kept: usize,
        /// The number of those among the kept that the damaged index had lost.
        found: usize,
        /// The number of inner chunks that are lost.
        lost: usize,
    },
    /// The chunk is copied to the quarantine, and written anew from its elements that can be read one by one.
    Salvage {
        /// The number of elements that stay as they are.
        kept: usize,
        /// The number of elements that are lost, and become the fill value.
        lost: usize,
    },
    /// The consolidated metadata is written anew.
    Consolidate,
    /// The node's documents are written, as the consolidated metadata of a group above has them.
    Restore,
    /// The group's document is written.
    CreateGroup,
    /// The node is moved back to its place.
    MoveBack,
    /// What was done in part is undone.
    Undo,
}

impl Remedy {
    /// Returns true if something is done.
    pub fn is_possible(&self) -> bool {
        !matches!(self, Self::Nothing(_))
    }
}

impl fmt::Display for Remedy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing(why) => write!(f, "nothing: {why}"),
            Self::Delete => f.write_str("delete it"),
            Self::Quarantine => f.write_str("move it to the quarantine"),
            Self::Refill => f.write_str("move it to the quarantine, and write fill values"),
            Self::Rebuild { kept, found, lost } => {
                write!(f, "write the shard anew, of {kept} inner chunks that are whole")?;
                if *found > 0 {
                    write!(f, " ({found} found behind the damaged index)")?;
                }
                if *lost > 0 {
                    write!(f, "; {lost} lost")?;
                }
                f.write_str("; the damaged one goes to the quarantine")
            }
            Self::Salvage { kept, lost } => write!(
                f,
                "write the chunk anew, of {kept} elements that can be read; {lost} lost; the damaged one goes to the quarantine"
            ),
            Self::Consolidate => f.write_str("write the consolidated metadata anew"),
            Self::Restore => f.write_str("write the node's documents as the consolidated metadata has them"),
            Self::CreateGroup => f.write_str("write the group's document"),
            Self::MoveBack => f.write_str("move the node back to its place"),
            Self::Undo => f.write_str("undo it"),
        }
    }
}

/// The outcome of a finding.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outcome {
    /// Nothing was to be repaired, or nothing can be.
    Left,
    /// It would have been repaired: this was a dry run.
    Planned,
    /// It was repaired.
    Repaired,
    /// Its repair failed, for this reason; what was there is there still.
    Failed(String),
}

impl Outcome {
    /// The name: `left`, `planned`, `repaired` or `failed`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Left => "left",
            Self::Planned => "planned",
            Self::Repaired => "repaired",
            Self::Failed(_) => "failed",
        }
    }
}

/// Something that a check has found.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// The kind.
    pub kind: FindingKind,
    /// The node, by its path in the hierarchy; empty for the root.
    pub path: String,
    /// The indices of the chunk in the grid, where it is about one; of the first one, where it is about several.
    pub chunk: Option<Vec<u64>>,
    /// The indices of the last chunk in row-major order, where it is about several.
    pub last_chunk: Option<Vec<u64>>,
    /// The indices of the inner chunk in its shard, where it is about one.
    pub inner_chunk: Option<Vec<u64>>,
    /// The key of the object, seen from the root of the store, where it is about one.
    pub key: Option<String>,
    /// The message for people, without the place.
    pub message: String,
    /// The repair that it calls for.
    pub remedy: Remedy,
    /// The outcome of the repair.
    pub outcome: Outcome,
}

impl Finding {
    pub(super) fn new(kind: FindingKind, path: &str, message: impl Into<String>, remedy: Remedy) -> Self {
        Self {
            kind,
            path: path.to_owned(),
            chunk: None,
            last_chunk: None,
            inner_chunk: None,
            key: None,
            message: message.into(),
            remedy,
            outcome: Outcome::Left,
        }
    }

    pub(super) fn at_key(self, key: impl Into<String>) -> Self {
        Self { key: Some(key.into()), ..self }
    }

    pub(super) fn of_chunk(self, chunk: &[u64]) -> Self {
        Self { chunk: Some(chunk.to_vec()), ..self }
    }

    /// The severity.
    pub fn severity(&self) -> Severity {
        self.kind.severity()
    }

    /// Returns true if it is a warning or an error that was not repaired.
    pub fn is_left(&self) -> bool {
        self.severity() > Severity::Note && self.outcome != Outcome::Repaired
    }
}

impl Finding {
    /// The finding as an object; what does not apply is `null`.
    pub fn to_json(&self) -> Map {
        let failure = match &self.outcome {
            Outcome::Failed(why) => Some(why.clone()),
            _ => None,
        };
        let members = json!({
            "severity": self.severity().name(),
            "kind": self.kind.name(),
            "path": self.path,
            "chunk": self.chunk,
            "last_chunk": self.last_chunk,
            "inner_chunk": self.inner_chunk,
            "key": self.key,
            "message": self.message,
            "repair": self.remedy.to_string(),
            "repairable": self.remedy.is_possible(),
            "outcome": self.outcome.name(),
            "failure": failure,
        });
        members.as_object().cloned().unwrap_or_default()
    }
}

/// One line: `error corrupt-chunk: chunk [0, 1] (key 'a/c/0/1'): …`, without the node.
impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}: ", self.severity(), self.kind)?;
        match (&self.chunk, &self.last_chunk) {
            (Some(first), Some(last)) => write!(f, "chunks {first:?} to {last:?}")?,
            (Some(chunk), None) => write!(f, "chunk {chunk:?}")?,
            _ => {}
        }
        if let Some(inner) = &self.inner_chunk {
            write!(f, ", inner chunk {inner:?}")?;
        }
        match (&self.chunk, &self.key) {
            (Some(_), Some(key)) => write!(f, " (key '{key}'): ")?,
            (Some(_), None) => f.write_str(": ")?,
            (None, Some(key)) => write!(f, "'{key}': ")?,
            (None, None) => {}
        }
        f.write_str(&self.message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_kinds_are_kebab_case_and_differ() {
        let names: std::collections::BTreeSet<_> = FindingKind::ALL.iter().map(|kind| kind.name()).collect();
        assert_eq!(names.len(), FindingKind::ALL.len());
        assert!(names.iter().all(|name| name.bytes().all(|b| b.is_ascii_lowercase() || b == b'-')));
    }

    #[test]
    fn findings_are_one_line() {
        let finding =
            Finding::new(FindingKind::CorruptInnerChunk, "a", "the checksum differs", Remedy::Quarantine);
        let mut finding = finding.of_chunk(&[0, 1]).at_key("a/c/0/1");
        finding.inner_chunk = Some(vec![2, 3]);
        assert_eq!(
            finding.to_string(),
            "error corrupt-inner-chunk: chunk [0, 1], inner chunk [2, 3] (key 'a/c/0/1'): the checksum differs"
        );
        let rebuild = Remedy::Rebuild { kept: 3, found: 1, lost: 2 };
        assert!(rebuild.to_string().contains("3 inner chunks that are whole (1 found"), "{rebuild}");
    }
}
