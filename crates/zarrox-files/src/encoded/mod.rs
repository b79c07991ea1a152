//! Encoded images of files and of TIFF: whether they are whole, which decoders do not tell.

pub(crate) mod jpeg;
pub(crate) mod png_chunks;
