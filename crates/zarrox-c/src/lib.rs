//! The C interface of Zarrox. The header `include/zarrox.h` is generated from this crate. The guide is `docs/c.md` in the
//! repository. Rust programs use the crate `zarrox`.
//!
//! | file | functions |
//! |---|---|
//! | `nodes` | open, create, list and delete nodes |
//! | `metadata` | get and set documents, attributes, shapes and data types |
//! | `elements` | read and write elements with strides |
//! | `text` | read and write variable-length strings and bytes |
//! | `dlpack`, `arrow` | return results in memory that this library owns, for other libraries |
//! | `cancel` | cancel reading and writing |
//! | `status` | error codes and messages |
//!
//! All functions follow the same rules, which are stated at the beginning of the header:
//!
//! - Each function is `extern "C"` and runs in `guard`, which converts errors and panics to a status.
//! - Pointers are checked for null. Otherwise, as in C, the caller must ensure that they are valid, so each function is unsafe.
//! - A program refers to an open node by its number in a table. Thus the use of a closed node is an error, rather than the use of
//!   an invalid pointer.

#![expect(
    clippy::missing_safety_doc,
    reason = "the header states what callers ensure, once for all functions"
)]

mod arguments;
mod arrow;
mod block;
mod buffer;
mod callback;
mod cancel;
mod dlpack;
mod element_type;
mod elements;
mod members;
mod metadata;
mod nodes;
mod options;
mod region;
mod settings;
mod status;
mod strides;
mod table;
mod text;

pub use arrow::{ArrowArray, ArrowSchema, zarrox_read_arrow};
pub use block::{zarrox_free, zarrox_string};
pub use callback::CancelCallback;
pub use cancel::zarrox_set_cancel;
pub use dlpack::{
    DLDataType, DLDevice, DLManagedTensorVersioned, DLPackVersion, DLTensor, zarrox_read_dlpack,
};
pub use element_type::ElementType;
pub use elements::{zarrox_memory, zarrox_read, zarrox_write};
pub use metadata::{
    zarrox_attributes, zarrox_chunk_shape, zarrox_data_type, zarrox_data_type_name, zarrox_metadata,
    zarrox_ndim, zarrox_node_kind, zarrox_resize, zarrox_set_attributes, zarrox_shape,
    zarrox_update_attributes,
};
pub use nodes::{
    NodeKind, zarrox_child, zarrox_children, zarrox_close, zarrox_create_array, zarrox_create_array_in,
    zarrox_create_group, zarrox_create_group_in, zarrox_delete, zarrox_open, zarrox_open_in,
};
pub use region::zarrox_region;
pub use status::{Status, zarrox_error_message, zarrox_status_name, zarrox_version};
pub use table::zarrox_node;
pub use text::{zarrox_read_strings, zarrox_write_strings};
