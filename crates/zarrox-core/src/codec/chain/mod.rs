//! The codec pipeline of an array: array→array codecs, one array→bytes codec, and bytes→bytes codecs.
//!
//! [`array_codecs`] contains the array→array codecs, and [`byte_codecs`] the codecs after them. A [`CodecChain`] combines both:
//! [`build`] creates it, [`read`] reads and decodes, [`write`] encodes and updates chunks, and [`repair`] verifies and repairs
//! them.

mod array_codecs;
mod build;
mod byte_codecs;
mod named;
mod read;
mod repair;
mod unusable;
mod write;

pub use build::CodecChain;
