//! Tools for Zarr hierarchies, above the library [`zarrox`]: copies and conversions, checks and repairs, digests, comparisons and
//! statistics. Each of them works on any store and any format, in bounded memory and on all cores.
//!
//! | to … | use |
//! |---|---|
//! | copy nodes, also with other chunks, codecs, types and formats | [`copy`](mod@copy) |
//! | copy the elements of one array to another one with other chunks | [`Rechunk`] |
//! | find damage, and repair it | [`check`](mod@check) |
//! | compare what is stored in different ways, or later | [`digest`], [`manifest`] |
//! | see how two nodes differ | [`diff`](mod@diff) |
//! | compute statistics of elements | [`stats`](mod@stats) |
//! | see the space that nodes take | [`usage`] |
//! | bring documents into the strict form of their format | [`make_strict`] |
//! | choose chunks and codecs by measuring them | [`bench`](mod@bench) |

pub mod bench;
pub mod check;
pub mod copy;
pub mod diff;
mod digest;
mod pass;
mod rechunk;
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

/// What the crates above need of these tools beyond their public interface. It changes without notice.
#[doc(hidden)]
pub mod internals {
    pub use crate::copy::{Conversion, Settings, check_apart, known_nodes, pool};
    pub use crate::rechunk::{Cells, StoredCells, selection};
}
