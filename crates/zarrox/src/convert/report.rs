//! The report of a conversion, for people and programs: its findings, and what it does.

use std::fmt;

use zarrox_core::{Error, ErrorKind, Format, Result};

/// A property of a node that a format may not be able to say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum What {
    /// The type of the elements. With consent the array is left out.
    DataTypes,
    /// The codecs of the chunks.
    Codecs,
    /// The division of the array into chunks.
    ChunkGrids,
    /// The names of chunks.
    ChunkKeys,
    /// The value of elements that nobody has written. With consent every chunk is stored.
    FillValues,
    /// The names of dimensions. With consent they are dropped.
    DimensionNames,
    /// Attributes. With consent those that cannot be said are dropped.
    Attributes,
    /// Members of metadata that this library does not know. With consent they are dropped.
    Members,
    /// Groups.
    Groups,
    /// Nodes that cannot be read, or that cannot be where they are. With consent they are left out.
    Nodes,
}

/// All there is, with the name that people give it.
const NAMES: &[(What, &str)] = &[
    (What::DataTypes, "data-types"),
    (What::Codecs, "codecs"),
    (What::ChunkGrids, "chunk-grids"),
    (What::ChunkKeys, "chunk-keys"),
    (What::FillValues, "fill-values"),
    (What::DimensionNames, "dimension-names"),
    (What::Attributes, "attributes"),
    (What::Members, "members"),
    (What::Groups, "groups"),
    (What::Nodes, "nodes"),
];

impl What {
    /// All there is.
    pub fn all() -> impl Iterator<Item = Self> {
        NAMES.iter().map(|(what, _)| *what)
    }
}

impl fmt::Display for What {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(NAMES.iter().find(|(what, _)| what == self).map_or("nodes", |(_, name)| name))
    }
}

impl std::str::FromStr for What {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        if let Some((what, _)) = NAMES.iter().find(|(_, name)| *name == text) {
            return Ok(*what);
        }
        let names: Vec<_> = NAMES.iter().map(|(_, name)| *name).collect();
        let message = format!("'{text}' is not a property that can be lost; there are {}", names.join(", "));
        Err(Error::new(ErrorKind::InvalidArgument, message))
    }
}

/// The severity of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    /// It is said in another way; nothing is lost.
    Note,
    /// Something is lost; done only with consent.
    Loss,
    /// It cannot be done.
    Refusal,
}

/// Something that the target says otherwise than the source, or not at all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The node, seen from the one that is converted: `/`, `/a/b`.
    pub path: String,
    /// The property of the node that the finding is about.
    pub what: What,
    /// The severity.
    pub severity: Severity,
    /// A sentence that says what was found, and what becomes of it.
    pub reason: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let severity = match self.severity {
            Severity::Note => "note",
            Severity::Loss => "loss",
            Severity::Refusal => "refused",
        };
        write!(f, "{}: {severity} ({}): {}", self.path, self.what, self.reason)
    }
}

/// The way that a node is converted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Action {
    /// It has the target's format already, and stays as it is.
    Nothing,
    /// Only its documents are written.
    Metadata,
    /// The bytes of its chunks are copied as they are.
    CopyChunks,
    /// Its chunks are decoded and encoded.
    Reencode,
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Nothing => "nothing to do",
            Self::Metadata => "metadata only",
            Self::CopyChunks => "copy bytes",
            Self::Reencode => "re-encode",
        })
    }
}

/// The report about one node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeReport {
    /// The node, seen from the one that is converted: `/`, `/a/b`.
    pub path: String,
    /// True for an array.
    pub is_array: bool,
    /// The way that the node is converted.
    pub action: Action,
    /// The number of stored chunks (shards, where there are shards) that are copied or encoded anew.
    pub chunks: u64,
    /// The size of these chunks, in bytes.
    pub bytes: u64,
}

impl fmt::Display for NodeReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, is_array, action, chunks, bytes } = self;
        let kind = if *is_array { "array" } else { "group" };
        write!(f, "{path} ({kind}): {action}")?;
        match action {
            Action::CopyChunks | Action::Reencode if *is_array => {
                write!(f, ", {chunks} chunks, {bytes} bytes")
            }
            _ => Ok(()),
        }
    }
}

/// The report of a conversion: what it does, and everything that the target says otherwise or not at all.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConvertReport {
    /// The source's format.
    pub from: Format,
    /// The target's format.
    pub to: Format,
    /// Where from.
    pub source: String,
    /// Where to; `None` when nodes are converted where they are.
    pub destination: Option<String>,
    /// The nodes that are converted; parents before children.
    pub nodes: Vec<NodeReport>,
    /// Everything that the target says otherwise, or not at all.
    pub findings: Vec<Finding>,
}

impl ConvertReport {
    /// The findings that keep the conversion from being done: refusals, and losses outside of what is allowed.
    pub fn obstacles(&self, allowed: impl Fn(What) -> bool) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(move |finding| match finding.severity {
            Severity::Note => false,
            Severity::Loss => !allowed(finding.what),
            Severity::Refusal => true,
        })
    }

    /// An error that lists everything that keeps the conversion from being done, if anything does, line by line.
    pub(super) fn check(&self, allowed: impl Fn(What) -> bool) -> Result<()> {
        /// So many are told; more would hide what there is to do.
        const SHOWN: usize = 20;
        let obstacles: Vec<&Finding> = self.obstacles(allowed).collect();
        if obstacles.is_empty() {
            return Ok(());
        }
        let mut lines = vec![format!("{} cannot become Zarr {}:", self.source, self.to)];
        lines.extend(obstacles.iter().take(SHOWN).map(|finding| match finding.severity {
            Severity::Loss => format!("{finding}; can be allowed: {}", finding.what),
            _ => finding.to_string(),
        }));
        if obstacles.len() > SHOWN {
            lines.push(format!("and {} more", obstacles.len() - SHOWN));
        }
        Err(Error::new(ErrorKind::Unsupported, lines.join("\n  ")))
    }
}

/// Every node and every finding on a line of its own.
impl fmt::Display for ConvertReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let destination = self.destination.as_deref().unwrap_or("in place");
        writeln!(f, "{} (Zarr {}) -> {destination} (Zarr {})", self.source, self.from, self.to)?;
        for node in &self.nodes {
            writeln!(f, "{node}")?;
        }
        for finding in &self.findings {
            writeln!(f, "{finding}")?;
        }
        Ok(())
    }
}
