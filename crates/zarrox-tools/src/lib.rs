//! Tools for Zarr hierarchies: copying and conversion, checks and repairs, digests, comparisons and statistics. Each tool
//! supports all stores and formats, runs on all cores, and uses a bounded amount of memory. The tools use the library [`zarrox`].
//!
//! | to … | use |
//! |---|---|
//! | copy nodes, optionally with other chunks, codecs, data types and formats | [`copy`](mod@copy) |
//! | copy the elements of an array to an array with a different chunk grid | [`Rechunk`] |
//! | find and repair damage | [`check`](mod@check) |
//! | compare copies by hash | [`digest`], [`manifest`] |
//! | find the differences between two nodes | [`diff`](mod@diff) |
//! | compute statistics of elements | [`stats`](mod@stats) |
//! | downsample blocks of elements | [`reduce`](mod@reduce) |
//! | measure the disk usage of nodes | [`usage`] |
//! | rewrite documents in the strict form of their format | [`make_strict`] |
//! | benchmark chunks and codecs | [`bench`](mod@bench) |

pub mod bench;
pub mod check;
pub mod copy;
pub mod diff;
mod digest;
mod pass;
mod rechunk;
pub mod reduce;
pub mod stats;
mod strict;
pub mod usage;

pub use check::check;
pub use copy::{Copier, Glob, copy};
pub use diff::diff;
pub use digest::{Digest, DigestKind, Digester, digest, hexdigest, manifest, visit_encoded_chunks};
pub use rechunk::{Rechunk, RechunkBoxes, RechunkPlan};
pub use stats::{Statistics, stats};
pub use strict::{DocumentFix, make_strict, strict_documents};

/// Items for the dependent crates of this workspace. They are not part of the public interface, and change without notice.
#[doc(hidden)]
pub mod internals {
    pub use crate::copy::{Conversion, Globs, Settings, check_apart, known_nodes, pool};
    pub use crate::rechunk::{Cells, StoredCells, selection};
    pub use crate::reduce::{MOST, Whole, whole};
}
