//! Formats, the conversion between them, and their stored documents and chunks.

mod consolidated;
mod encoding;
mod n5;
mod stored_bytes;
mod v1;
mod v3_draft;
mod v3_experimental;
