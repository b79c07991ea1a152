//! Checks that encoded images are complete. Decoders do not report missing data.

pub(crate) mod jpeg;
pub(crate) mod png_chunks;
