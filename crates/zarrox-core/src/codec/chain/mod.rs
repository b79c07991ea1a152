//! The chain of codecs of an array: array→array codecs, one array→bytes codec, bytes→bytes codecs.
//!
//! [`array_codecs`] takes elements through the codecs in front, [`byte_codecs`] turns the elements behind them into stored bytes and
//! back. A [`CodecChain`] has both: [`build`] makes it, [`read`] reads and decodes with it, [`write`] encodes and changes, and [`mend`]
//! tells whether stored bytes can be decoded, and makes new ones of what is whole in damaged ones.

mod array_codecs;
mod build;
mod byte_codecs;
mod mend;
mod named;
mod read;
mod unusable;
mod write;

pub use build::CodecChain;
