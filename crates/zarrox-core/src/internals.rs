//! What the crates of this workspace need of this one beyond its public interface: the drivers of codec chains, the memory of
//! selections, the documents of formats. It is outside of semantic versioning and changes without notice.

/// Codec chains: parts of chunks, byte ranges, tables of shards.
pub mod codec {
    pub use crate::codec::internals::*;
}

/// Data types: byte orders, casts, structs that are derived.
pub mod data_type {
    pub use crate::data_type::internals::*;
}

/// Elements: the memory that Rust types are read into and written from.
pub mod elements {
    pub use crate::elements::*;
}

/// Errors: where they happened.
pub mod error {
    pub use crate::error::ErrorPlace;
}

/// Grids: runs of chunks of one length.
pub mod grid {
    pub use crate::grid::{Run, Runs, about_a_mebibyte};
}

/// JSON: documents and messages.
pub mod json {
    pub use crate::json::internals::*;
}

/// Metadata: formats, the layout of their documents, consolidated metadata.
pub mod metadata {
    pub use crate::metadata::*;
}

/// MessagePack.
pub mod msgpack {
    pub use crate::msgpack::*;
}

/// Numbers: loops over them, and the one cast between them.
pub mod number {
    pub use crate::number::*;
}

/// Buffers that are used again.
pub mod scratch {
    pub use crate::scratch::*;
}

/// Selections: the elements of each chunk that they select.
pub mod selection {
    pub use crate::selection::*;
}

/// Views: strides.
pub mod strided {
    pub use crate::strided::layout::contiguous_strides;
}

/// References to elements of variable length.
pub mod vlen {
    pub use crate::vlen::VlenRef;
}
