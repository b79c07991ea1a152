//! Access to stored chunks without the array's own indexing: their bytes, and parts of chunks by their keys.

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
