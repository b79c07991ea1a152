//! Items that other crates of this workspace use beyond the public interface: the codec pipeline, the memory of selections, the
//! documents of formats. They are exempt from semantic versioning and may change without notice.

/// Codec pipelines: parts of chunks, byte ranges, tables of shards.
pub mod codec {
    pub use crate::codec::internals::*;
}

/// Data types: byte orders, casts, derived structs.
pub mod data_type {
    pub use crate::data_type::internals::*;
}

/// Elements: the memory of Rust types for reading and writing.
pub mod elements {
    pub use crate::elements::*;
}

/// The locations of errors.
pub mod error {
    pub use crate::error::ErrorPlace;
}

/// Grids: runs of chunks of the same length.
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

/// Suggestions for mistyped names.
pub mod similar {
    pub use crate::similar::*;
}

/// MessagePack.
pub mod msgpack {
    pub use crate::msgpack::*;
}

/// Numbers: loops over them, and casts between them.
pub mod number {
    pub use crate::number::*;
}

/// Reusable buffers.
pub mod scratch {
    pub use crate::scratch::*;
}

/// Selections: the selected elements of each chunk.
pub mod selection {
    pub use crate::selection::*;
}

/// Views: strides.
pub mod strided {
    pub use crate::strided::layout::contiguous_strides;
}

/// References to variable-length elements.
pub mod vlen {
    pub use crate::vlen::VlenRef;
}
