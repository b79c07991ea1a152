//! Access to stored chunks that bypasses the indexing of the array: the bytes of chunks, and parts of chunks by key.

mod bytes;
mod copy;
mod inner;
mod parts;
mod written;

pub(super) use copy::copy_value;
pub use inner::InnerChunk;
pub use inner::cell;
pub use parts::{StoredChunk, StoredRead, StoredWrite};
pub use written::WrittenChunks;
