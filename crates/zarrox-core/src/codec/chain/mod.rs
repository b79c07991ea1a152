//! The chain of codecs of an array: array→array codecs, one array→bytes codec, bytes→bytes codecs.
//!
//! [`array_codecs`] has the array→array codecs, [`byte_codecs`] the codecs after them. A [`CodecChain`] has both: [`build`] makes
//! it, [`read`] reads and decodes with it, [`write`] encodes and changes chunks, and [`mend`] finds and replaces what cannot be decoded.

mod array_codecs;
mod build;
mod byte_codecs;
mod mend;
mod named;
mod read;
mod unusable;
mod write;

pub use build::CodecChain;
