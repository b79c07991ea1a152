//! Stored chunks without the array's own indexing: their bytes, and parts of them by their keys.

mod bytes;
mod parts;

pub use parts::{StoredChunk, StoredRead, StoredWrite};
