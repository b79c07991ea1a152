//! The job of one process, which its driver passes as JSON on the command line.

use serde::{Deserialize, Serialize};

use crate::place::Place;
use crate::world::{self, CHUNK, SIDE};

/// The work of one process.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Job {
    /// The hierarchy.
    pub(crate) place: Place,
    /// The threads of the process, each with its own list of operations.
    pub(crate) hands: Vec<Hand>,
    /// True if an earlier process was killed during the first operation of each thread. That operation may be done already.
    pub(crate) again: bool,
    /// The nodes that are moved, replaced or converted concurrently, with all nodes below them; an operation that conflicts with
    /// such a change is retried.
    pub(crate) unsettled: Vec<String>,
}

/// One thread of a process, which runs its operations in order.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Hand {
    pub(crate) operations: Vec<Operation>,
}

/// One change of a hierarchy, or of a node in it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(crate) enum Operation {
    /// Writes a box of an array; with the number 0, fill values.
    Write { array: String, start: Vec<u64>, shape: Vec<u64>, number: u64 },
    /// Appends rows.
    Append { array: String, rows: u64, number: u64 },
    /// Changes the length of a one-dimensional array.
    Resize { array: String, length: u64 },
    /// Sets one attribute of a node, and keeps the others.
    SetAttribute { node: String, name: String, number: u64 },
    /// Opens a group, or creates it if it is missing.
    Require { path: String },
    /// Creates a group; the result `taken` means that another process was faster.
    Create { path: String },
    /// Creates an array, replacing an existing node, and fills it.
    Put { path: String, number: u64 },
    /// Creates an array at an unused path, chunks first and documents last.
    Import { path: String, number: u64 },
    /// Moves a node.
    Move { from: String, to: String },
    /// Deletes a node.
    Delete { path: String },
    /// Writes consolidated metadata of all nodes.
    Consolidate,
    /// Rechunks the array of the source.
    Rechunk { path: String, chunks: Vec<u64> },
    /// Converts the source to a separate hierarchy.
    Convert { to: Place, format: String },
    /// Copies the source to a separate hierarchy.
    Copy { to: Place, format: String, layout: Layout },
    /// Changes chunks, shards and codecs of an array in place.
    Reshape { array: String, chunks: Vec<u64>, shards: Option<Vec<u64>>, compressed: bool },
    /// Deletes the arena and creates another one in its place. Only elements of the worker are known afterwards.
    Recreate { at: String, by: Worker },
    /// Converts the whole hierarchy to Zarr v3, in place.
    Upgrade,
    /// Checks the whole hierarchy and repairs it.
    Repair,
    /// Converts a hierarchy in place.
    ConvertInPlace { at: Place, format: String },
    /// Deletes a whole hierarchy.
    Discard { at: Place },
    /// Grows an array along its first axis, checks that the new part reads as fill values, and shrinks it again.
    Probe { array: String, rows: u64 },
    /// Writes into every directory of the hierarchy.
    Sweep,
}

/// The layout of a copy.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Layout {
    /// The chunks of the source.
    Same,
    /// Other chunks, of this shape.
    Chunks(Vec<u64>),
    /// The chunks of the source, encoded as they are, in shards of this shape.
    Shards(Vec<u64>),
    /// The chunks of an HDF5 file: the source is exported to the file, and imported from it.
    Hdf5,
    /// The chunks of the source, with the lower levels of a pyramid.
    Pyramid,
}

/// One of several threads that work concurrently.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Worker {
    pub(crate) index: u64,
    /// The number of threads.
    pub(crate) of: u64,
}

impl Worker {
    /// A thread that works alone.
    pub(crate) const ALONE: Self = Self { index: 0, of: 1 };

    /// Returns true if an element of a board belongs to this worker. Every second chunk belongs to one worker; of the other
    /// chunks, each quarter belongs to one.
    pub(crate) fn owns(self, at: [u64; 2]) -> bool {
        let chunk = at.map(|index| index / CHUNK);
        let order = chunk[0] * (SIDE / CHUNK) + chunk[1];
        let quarter = at.map(|index| index % CHUNK / (CHUNK / 2));
        let turn = if order.is_multiple_of(2) { order / 2 } else { quarter[0] * 2 + quarter[1] };
        turn % self.of == self.index
    }
}

impl Operation {
    /// Returns the array that the operation writes to.
    pub(crate) fn array(&self) -> Option<&str> {
        match self {
            Self::Write { array, .. } | Self::Append { array, .. } | Self::Resize { array, .. } => {
                Some(array)
            }
            _ => None,
        }
    }

    /// Returns true if the operation moves or changes a node as a whole. If such an operation is interrupted, it is repeated
    /// before all others.
    pub(crate) fn is_structural(&self) -> bool {
        match self {
            Self::Move { from, .. } => world::ARENA.contains(&&**from),
            Self::Reshape { .. } | Self::Recreate { .. } | Self::Upgrade => true,
            _ => false,
        }
    }

    /// Returns the name of the operation in reports.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Write { number: 0, .. } => "erase",
            Self::Write { .. } => "write",
            Self::Append { .. } => "append",
            Self::Resize { .. } => "resize",
            Self::SetAttribute { .. } => "set attribute",
            Self::Require { .. } => "require",
            Self::Create { .. } => "create",
            Self::Put { .. } => "create and fill",
            Self::Import { .. } => "import",
            Self::Move { from, .. } if world::ARENA.contains(&&**from) => "move what others write",
            Self::Move { .. } => "move",
            Self::Delete { .. } => "delete",
            Self::Consolidate => "consolidate",
            Self::Rechunk { .. } => "rechunk",
            Self::Convert { .. } => "convert",
            Self::Copy { layout: Layout::Same, .. } => "copy",
            Self::Copy { layout: Layout::Chunks(_), .. } => "copy into other chunks",
            Self::Copy { layout: Layout::Shards(_), .. } => "copy into shards",
            Self::Copy { layout: Layout::Hdf5, .. } => "import of HDF5",
            Self::Copy { layout: Layout::Pyramid, .. } => "downsample",
            Self::Reshape { shards: None, .. } => "rechunk in place",
            Self::Reshape { .. } => "reshard in place",
            Self::Recreate { .. } => "delete and create",
            Self::Upgrade => "convert the hierarchy in place",
            Self::Repair => "repair",
            Self::ConvertInPlace { .. } => "convert in place",
            Self::Discard { .. } => "delete the hierarchy",
            Self::Probe { .. } => "grow and shrink",
            Self::Sweep => "sweep",
        }
    }
}
