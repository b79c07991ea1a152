//! The report of a conversion: its obstacles and its actions.

use std::fmt;

use zarrox_core::{Error, ErrorKind, Format, Result};

/// A property of a node that a format may not be able to express.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Property {
    /// The data type of the elements. If its loss is allowed, the array is skipped.
    DataTypes,
    /// The codecs of the chunks.
    Codecs,
    /// The chunk grid.
    ChunkGrids,
    /// The chunk keys.
    ChunkKeys,
    /// The fill value. If its loss is allowed, every chunk is stored.
    FillValues,
    /// The dimension names. If their loss is allowed, they are dropped.
    DimensionNames,
    /// Attributes. If their loss is allowed, attributes that the format cannot store are dropped.
    Attributes,
    /// Unknown members of metadata. If their loss is allowed, they are dropped.
    Members,
    /// Groups.
    Groups,
    /// Nodes that cannot be read, or whose path the format does not allow. If their loss is allowed, they are
    /// skipped.
    Nodes,
}

/// All properties, with their names.
const NAMES: &[(Property, &str)] = &[
    (Property::DataTypes, "data-types"),
    (Property::Codecs, "codecs"),
    (Property::ChunkGrids, "chunk-grids"),
    (Property::ChunkKeys, "chunk-keys"),
    (Property::FillValues, "fill-values"),
    (Property::DimensionNames, "dimension-names"),
    (Property::Attributes, "attributes"),
    (Property::Members, "members"),
    (Property::Groups, "groups"),
    (Property::Nodes, "nodes"),
];

impl Property {
    /// Returns all properties.
    pub fn all() -> impl Iterator<Item = Self> {
        NAMES.iter().map(|(what, _)| *what)
    }
}

impl fmt::Display for Property {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(NAMES.iter().find(|(what, _)| what == self).map_or("nodes", |(_, name)| name))
    }
}

impl std::str::FromStr for Property {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        if let Some((what, _)) = NAMES.iter().find(|(_, name)| *name == text) {
            return Ok(*what);
        }
        let names: Vec<_> = NAMES.iter().map(|(_, name)| *name).collect();
        let message = format!("unknown property '{text}'; expected one of {}", names.join(", "));
        Err(Error::new(ErrorKind::InvalidArgument, message))
    }
}

/// The effect of an obstacle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Effect {
    /// The property is stored differently, and nothing is lost.
    Note,
    /// The property is lost, which must be allowed.
    Loss,
    /// The node cannot be converted.
    Refusal,
}

/// A property that the target stores differently from the source, or not at all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Obstacle {
    /// The path of the node, relative to the converted node: `/`, `/a/b`.
    pub path: String,
    /// The property of the node.
    pub property: Property,
    /// The effect.
    pub effect: Effect,
    /// A sentence about the property and its conversion.
    pub reason: String,
}

impl fmt::Display for Obstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let effect = match self.effect {
            Effect::Note => "note",
            Effect::Loss => "loss",
            Effect::Refusal => "refused",
        };
        write!(f, "{}: {effect} ({}): {}", self.path, self.property, self.reason)
    }
}

/// The action for a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Action {
    /// The node already has the target's format, and stays unchanged.
    Nothing,
    /// Only the documents of the node are written.
    Metadata,
    /// The bytes of the chunks are copied.
    CopyChunks,
    /// The encoded chunks are copied into different shards, or out of shards, without being decoded.
    Reshard,
    /// The chunks are decoded and encoded.
    Reencode,
    /// The elements of an array without chunks are encoded.
    Encode,
    /// The node exists, and only differences are copied.
    Update,
}

impl Action {
    /// Returns true if chunks are copied.
    pub(super) fn has_chunks(self) -> bool {
        !matches!(self, Self::Nothing | Self::Metadata)
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Nothing => "nothing to do",
            Self::Metadata => "metadata only",
            Self::CopyChunks => "copy bytes",
            Self::Reshard => "copy bytes into other shards",
            Self::Reencode => "re-encode",
            Self::Encode => "encode",
            Self::Update => "copy what differs",
        })
    }
}

/// The report about one node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeReport {
    /// The path of the node, relative to the converted node: `/`, `/a/b`.
    pub path: String,
    /// True for an array.
    pub is_array: bool,
    /// The action for the node.
    pub action: Action,
    /// The number of stored chunks (or shards, if the array has shards) that are copied or encoded.
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
            action if *is_array && action.has_chunks() => {
                write!(f, ", {chunks} chunks, {bytes} bytes")
            }
            _ => Ok(()),
        }
    }
}

/// The report of a conversion: the actions, and all properties that the target stores differently or not at all.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CopyReport {
    /// The source's format.
    pub from: Format,
    /// The target's format.
    pub to: Format,
    /// The location of the source.
    pub source: String,
    /// The location of the destination; `None` for a conversion in place.
    pub destination: Option<String>,
    /// The converted nodes, parents before children.
    pub nodes: Vec<NodeReport>,
    /// All properties that the target stores differently or not at all.
    pub obstacles: Vec<Obstacle>,
    /// Damaged parts of the source that were skipped.
    pub skipped: Vec<Skipped>,
}

/// A part of an array that could not be read and was therefore not copied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    /// The path of the array in the source.
    pub path: String,
    /// The region of the copy that has fill values instead: the start and the end along each dimension.
    pub region: Vec<(u64, u64)>,
    /// The error.
    pub reason: String,
}

impl fmt::Display for Skipped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, region, reason } = self;
        let along: Vec<String> = region.iter().map(|(begin, end)| format!("{begin}:{end}")).collect();
        write!(f, "{path}[{}]: left out: {reason}", along.join(", "))
    }
}

impl CopyReport {
    /// Adds the nodes of another piece of the same copy.
    pub(crate) fn add(&mut self, other: Self) {
        self.nodes.extend(other.nodes);
        self.obstacles.extend(other.obstacles);
        self.skipped.extend(other.skipped);
    }

    /// Returns the number of stored chunks that are copied or encoded.
    pub fn chunks(&self) -> u64 {
        self.nodes.iter().map(|node| node.chunks).fold(0, u64::saturating_add)
    }

    /// Returns the size of these chunks, in bytes.
    pub fn bytes(&self) -> u64 {
        self.nodes.iter().map(|node| node.bytes).fold(0, u64::saturating_add)
    }

    /// Returns the obstacles that prevent the conversion: refusals, and losses that are not allowed.
    pub fn obstacles(&self, allowed: impl Fn(Property) -> bool) -> impl Iterator<Item = &Obstacle> {
        self.obstacles.iter().filter(move |obstacle| match obstacle.effect {
            Effect::Note => false,
            Effect::Loss => !allowed(obstacle.property),
            Effect::Refusal => true,
        })
    }

    /// Checks that the conversion is possible; the error lists all obstacles, one per line.
    pub(super) fn check(&self, allowed: impl Fn(Property) -> bool) -> Result<()> {
        /// The maximum number of obstacles in the error; more would hide the advice.
        const SHOWN: usize = 20;
        let obstacles: Vec<&Obstacle> = self.obstacles(allowed).collect();
        if obstacles.is_empty() {
            return Ok(());
        }
        let mut lines = vec![format!("{} cannot be converted to Zarr {}:", self.source, self.to)];
        lines.extend(obstacles.iter().take(SHOWN).map(|obstacle| match obstacle.effect {
            Effect::Loss => format!("{obstacle}; can be allowed: {}", obstacle.property),
            _ => obstacle.to_string(),
        }));
        if obstacles.len() > SHOWN {
            lines.push(format!("and {} more", obstacles.len() - SHOWN));
        }
        Err(Error::new(ErrorKind::Unsupported, lines.join("\n  ")))
    }
}

/// Formats every node and every obstacle as a line.
impl fmt::Display for CopyReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let destination = self.destination.as_deref().unwrap_or("in place");
        writeln!(f, "{} (Zarr {}) -> {destination} (Zarr {})", self.source, self.from, self.to)?;
        for node in &self.nodes {
            writeln!(f, "{node}")?;
        }
        for obstacle in &self.obstacles {
            writeln!(f, "{obstacle}")?;
        }
        Ok(())
    }
}
