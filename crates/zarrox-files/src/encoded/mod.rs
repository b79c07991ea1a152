//! Checks that encoded images are complete, since decoders do not report missing data.

pub(crate) mod jpeg;
pub(crate) mod png_chunks;
