//! The findings of a check, and their repairs.

use std::fmt;

use zarrox_core::json::{Map, json};

/// The severity of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    /// Informational; nothing is wrong.
    Note,
    /// Something is wrong, but all values can still be read as they were written.
    Warning,
    /// Values cannot be read, nodes cannot be opened, or values may differ from those that were written.
    Error,
}

impl Severity {
    /// Returns the name: `note`, `warning` or `error`.
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
            /// All kinds, in the order of the checks.
            pub const ALL: &'static [Self] = &[$(Self::$kind),*];

            /// Returns the name, which never changes: `corrupt-chunk`.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$kind => $name,)*
                }
            }

            /// Returns the severity of findings of this kind.
            pub fn severity(self) -> Severity {
                match self {
                    $(Self::$kind => Severity::$severity,)*
                }
            }
        }
    };
}

kinds! {
    /// A document of a node is invalid.
    UnreadableDocument "unreadable-document" Error,
    /// A document violates its specification, but is unambiguous.
    NonstandardDocument "nonstandard-document" Warning,
    /// The document of an array differs from the consolidated metadata, and the stored chunks either do not fit the document, or
    /// do not show which of the two is right.
    DisputedDocument "disputed-document" Error,
    /// A codec, a data type or a chunk grid is unknown, so that the chunks cannot be checked.
    Unsupported "unsupported" Warning,
    /// A group has no document, which its format requires.
    ImplicitGroup "implicit-group" Warning,
    /// The names of sibling nodes differ only in case: case-insensitive file systems can store only one of them.
    NamesDifferInCase "names-differ-in-case" Warning,
    /// A node has documents of several formats.
    SeveralFormats "several-formats" Warning,
    /// A directory contains both the document of an array and the document of a group.
    ArrayAndGroup "array-and-group" Warning,
    /// A node has a different format from its group.
    MixedFormats "mixed-formats" Warning,
    /// A node is inside an array.
    NodeInArray "node-in-array" Warning,
    /// The consolidated metadata of a node differs from the node's own documents.
    StaleConsolidated "stale-consolidated" Warning,
    /// The consolidated metadata is invalid.
    BrokenConsolidated "broken-consolidated" Error,
    /// A conversion or an import was interrupted.
    InterruptedTransfer "interrupted-transfer" Warning,
    /// The deletion of a node, or its move by copying, was interrupted.
    UnfinishedWork "unfinished-work" Warning,
    /// A node that was set aside while another one was moved to its path was not deleted.
    ReplacedNode "replaced-node" Warning,
    /// A temporary file whose writer has ended.
    TemporaryFile "temporary-file" Warning,
    /// Keys that do not belong to a node.
    ForeignKeys "foreign-keys" Note,
    /// Chunks exist without the document of an array.
    ChunksWithoutArray "chunks-without-array" Error,
    /// A chunk is stored outside the array's shape.
    ChunkOutsideGrid "chunk-outside-grid" Warning,
    /// The separator or form of a chunk key differs from the one in the array's metadata, so that the chunk is never read.
    WrongChunkKey "wrong-chunk-key" Error,
    /// An object cannot be read from the store.
    Unreadable "unreadable" Error,
    /// A chunk is an empty object.
    EmptyChunk "empty-chunk" Error,
    /// The size of a chunk is not one that its codecs produce.
    WrongSize "wrong-size" Error,
    /// A chunk exceeds the memory limit.
    TooLarge "too-large" Error,
    /// The index of a shard cannot be decoded.
    ShardIndex "shard-index" Error,
    /// An entry in the index of a shard is out of bounds.
    ShardEntry "shard-entry" Error,
    /// Inner chunks of a shard overlap one another or the index.
    ShardOverlap "shard-overlap" Error,
    /// A chunk cannot be decoded.
    CorruptChunk "corrupt-chunk" Error,
    /// An inner chunk of a shard cannot be decoded.
    CorruptInnerChunk "corrupt-inner-chunk" Error,
    /// The chunks of an array have no checksums, so that some kinds of damage cannot be detected.
    NoChecksums "no-checksums" Note,
    /// Chunks are missing. They are read as the fill value.
    MissingChunks "missing-chunks" Note,
}

impl fmt::Display for FindingKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The repair of a finding.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Remedy {
    /// No repair is possible, for this reason.
    Nothing(String),
    /// The file is deleted.
    Delete,
    /// The object is moved to the quarantine.
    Quarantine,
    /// The object is moved to the quarantine, and a chunk of fill values is written.
    Refill,
    /// The shard is copied to the quarantine, and rewritten from its intact inner chunks.
    Rebuild {
        /// The number of intact inner chunks.
        kept: usize,
        /// The number of intact inner chunks that the damaged index had lost.
        found: usize,
        /// The number of inner chunks that are lost.
        lost: usize,
    },
    /// The chunk is copied to the quarantine, and rewritten from its readable elements.
    Salvage {
        /// The number of readable elements.
        kept: usize,
        /// The number of elements that are lost and are replaced by the fill value.
        lost: usize,
    },
    /// The consolidated metadata is rewritten.
    Consolidate,
    /// The node's documents are restored from the consolidated metadata of a group above.
    Restore,
    /// The group's document is written.
    CreateGroup,
    /// The node is moved back to its original path.
    MoveBack,
    /// An incomplete operation is undone.
    Undo,
    /// An incomplete operation is finished.
    Finish,
}

impl Remedy {
    /// Returns true if there is a repair.
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
                write!(f, "rewrite the shard from {kept} intact inner chunks")?;
                if *found > 0 {
                    write!(f, " ({found} found despite the damaged index)")?;
                }
                if *lost > 0 {
                    write!(f, "; {lost} lost")?;
                }
                f.write_str("; copy the damaged one to the quarantine")
            }
            Self::Salvage { kept, lost } => write!(
                f,
                "rewrite the chunk from {kept} readable elements; {lost} lost; copy the damaged one to the quarantine"
            ),
            Self::Consolidate => f.write_str("rewrite the consolidated metadata"),
            Self::Restore => f.write_str("restore the node's documents from the consolidated metadata"),
            Self::CreateGroup => f.write_str("write the group's document"),
            Self::MoveBack => f.write_str("move the node back to its path"),
            Self::Undo => f.write_str("undo it"),
            Self::Finish => f.write_str("finish it"),
        }
    }
}

/// The outcome of a finding.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outcome {
    /// The finding was left: no repair was requested, or none is possible.
    Left,
    /// The finding would have been repaired if this had not been a dry run.
    Planned,
    /// The finding was repaired.
    Repaired,
    /// The repair failed, for this reason; nothing was changed.
    Failed(String),
}

impl Outcome {
    /// Returns the name: `left`, `planned`, `repaired` or `failed`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Left => "left",
            Self::Planned => "planned",
            Self::Repaired => "repaired",
            Self::Failed(_) => "failed",
        }
    }
}

/// A finding of a check.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// The kind.
    pub kind: FindingKind,
    /// The path of the node in the hierarchy; empty for the root.
    pub path: String,
    /// The index of the chunk in the grid, if the finding concerns one chunk; the index of the first chunk, if it concerns
    /// several.
    pub chunk: Option<Vec<u64>>,
    /// The index of the last chunk in row-major order, if the finding concerns several chunks.
    pub last_chunk: Option<Vec<u64>>,
    /// The index of the inner chunk in its shard, if the finding concerns an inner chunk.
    pub inner_chunk: Option<Vec<u64>>,
    /// The key of the object, relative to the root of the store, if the finding concerns an object.
    pub key: Option<String>,
    /// The message, without the node and the chunk.
    pub message: String,
    /// The repair of the finding.
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

    /// Returns the severity.
    pub fn severity(&self) -> Severity {
        self.kind.severity()
    }

    /// Returns true if the finding is a warning or an error that was not repaired.
    pub fn is_left(&self) -> bool {
        self.severity() > Severity::Note && self.outcome != Outcome::Repaired
    }
}

impl Finding {
    /// Returns the finding as a JSON object; members that do not apply are `null`.
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

/// Formats the finding as one line that omits the node: `error corrupt-chunk: chunk [0, 1] (key 'a/c/0/1'): …`.
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
        assert!(rebuild.to_string().contains("3 intact inner chunks (1 found"), "{rebuild}");
    }
}
