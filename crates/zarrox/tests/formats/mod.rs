//! Formats, the conversion between them, and the documents and chunks that are stored.

mod consolidated;
mod encoding;
mod n5;
mod stored_bytes;
mod v1;
mod v3_draft;
mod v3_experimental;
