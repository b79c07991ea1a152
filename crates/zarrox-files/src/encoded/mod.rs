//! Checks that encoded images are complete, which decoders do not report.

pub(crate) mod jpeg;
pub(crate) mod png_chunks;
