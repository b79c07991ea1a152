//! Reading without I/O: a codec returns the byte ranges that it needs, and continues when they arrive.
//!
//! A [`Fetch`] is a byte range and a continuation. The driver fetches the range at any time, either alone or together with other
//! ranges, and passes the bytes to the continuation. The continuation may return further fetches: a shard first needs its index,
//! and then the inner chunks that the index lists.

use super::{ByteRange, ByteStream, Window};
use crate::error::CodecError;

/// A continuation that receives all fetched bytes.
type Continuation<'a> = Box<dyn FnOnce(&[u8]) -> Result<Vec<Fetch<'a>>, CodecError> + Send + 'a>;

/// A continuation that receives fetched bytes as a stream.
type StreamWork<'a> = Box<dyn FnOnce(&mut dyn ByteStream) -> Result<(), CodecError> + Send + 'a>;

/// The destination of fetched bytes.
pub enum Sink<'a> {
    /// The bytes go to a continuation that reads a stream, so that they are never all in memory at once.
    Stream(StreamWork<'a>),
    /// The bytes are copied into memory of the same length.
    Into(&'a mut [u8]),
    /// The bytes go to a continuation, which may return further fetches.
    Then(Continuation<'a>),
    /// The bytes go to a deferred decoding operation, which first collects bytes from several ranges in its own buffer. All of
    /// the ranges lie within the range of the fetch.
    Deferred(Box<dyn DeferredDecode + 'a>),
}

/// A decoding operation that starts after the bytes of several ranges have arrived.
pub trait DeferredDecode: Send {
    /// Returns the size, in bytes, of the buffer that exists from the first fetch to the end of decoding.
    fn size(&self) -> usize;

    /// Returns the fetches that must complete before decoding.
    fn fetches(&mut self) -> Result<Vec<Fetch<'_>>, CodecError>;

    /// Decodes the bytes. All fetches, and the fetches that follow from them, must be complete.
    fn finish(self: Box<Self>) -> Result<(), CodecError>;
}

/// A deferred decoding operation that adds an explanation to its errors.
struct Explained<'a, F> {
    decode: Box<dyn DeferredDecode + 'a>,
    explain: F,
}

impl<F: Fn(CodecError) -> CodecError + Clone + Send> DeferredDecode for Explained<'_, F> {
    fn size(&self) -> usize {
        self.decode.size()
    }

    fn fetches(&mut self) -> Result<Vec<Fetch<'_>>, CodecError> {
        let fetches = self.decode.fetches().map_err(&self.explain)?;
        Ok(fetches.into_iter().map(|fetch| fetch.map_err(self.explain.clone())).collect())
    }

    fn finish(self: Box<Self>) -> Result<(), CodecError> {
        self.decode.finish().map_err(self.explain)
    }
}

/// A request for bytes, and their destination.
pub struct Fetch<'a> {
    /// The byte range of the stored object.
    pub range: ByteRange,
    /// The destination of the bytes.
    pub sink: Sink<'a>,
    /// True if later reads will also need these bytes, so that they are worth caching.
    pub keep: bool,
}

impl<'a> Fetch<'a> {
    /// Fetches bytes for a continuation.
    pub fn then(
        range: ByteRange,
        work: impl FnOnce(&[u8]) -> Result<Vec<Fetch<'a>>, CodecError> + Send + 'a,
    ) -> Self {
        Self { range, sink: Sink::Then(Box::new(work)), keep: false }
    }

    /// Fetches all bytes of a window for a continuation that returns no further fetches.
    pub fn whole(
        window: Window,
        work: impl FnOnce(&[u8]) -> Result<(), CodecError> + Send + 'a,
    ) -> Vec<Self> {
        vec![Self::then(window.whole(), |bytes| work(bytes).map(|()| Vec::new()))]
    }

    /// Fetches bytes as a stream.
    #[doc(hidden)]
    pub fn stream(
        range: ByteRange,
        work: impl FnOnce(&mut dyn ByteStream) -> Result<(), CodecError> + Send + 'a,
    ) -> Self {
        Self { range, sink: Sink::Stream(Box::new(work)), keep: false }
    }

    /// Fetches bytes that are stored in their decoded form.
    pub fn into(range: ByteRange, memory: &'a mut [u8]) -> Self {
        Self { range, sink: Sink::Into(memory), keep: false }
    }

    /// Fetches several ranges of a window.
    #[doc(hidden)]
    pub fn deferred(window: Window, decode: impl DeferredDecode + 'a) -> Self {
        Self { range: window.whole(), sink: Sink::Deferred(Box::new(decode)), keep: false }
    }

    /// Adds `explain` to every error of this fetch and of the fetches that follow from it.
    #[must_use]
    #[doc(hidden)]
    pub fn map_err(self, explain: impl Fn(CodecError) -> CodecError + Clone + Send + 'a) -> Self {
        let sink = match self.sink {
            Sink::Into(memory) => Sink::Into(memory),
            Sink::Deferred(decode) => Sink::Deferred(Box::new(Explained { decode, explain })),
            Sink::Stream(work) => Sink::Stream(Box::new(move |bytes| work(bytes).map_err(explain))),
            Sink::Then(work) => Sink::Then(Box::new(move |bytes| {
                let next = work(bytes).map_err(&explain)?;
                Ok(next.into_iter().map(|fetch| fetch.map_err(explain.clone())).collect())
            })),
        };
        Self { sink, ..self }
    }

    /// Marks the fetch as one whose bytes later reads will also need.
    #[must_use]
    #[doc(hidden)]
    pub fn kept(self) -> Self {
        Self { keep: true, ..self }
    }

    /// Passes the fetched bytes to their destination.
    #[doc(hidden)]
    pub fn complete(self, bytes: &[u8]) -> Result<Vec<Fetch<'a>>, CodecError> {
        match self.sink {
            Sink::Then(work) => work(bytes),
            Sink::Stream(work) => work(&mut &bytes[..]).map(|()| Vec::new()),
            Sink::Deferred(_) => Err(CodecError::unsupported(
                "the bytes of a deferred decoding cannot be delivered in one piece",
            )),
            Sink::Into(memory) if memory.len() == bytes.len() => {
                memory.copy_from_slice(bytes);
                Ok(Vec::new())
            }
            Sink::Into(memory) => Err(CodecError::corrupt(format!(
                "{} bytes arrived, but {} are needed",
                bytes.len(),
                memory.len()
            ))),
        }
    }
}

impl std::fmt::Debug for Fetch<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Fetch({})", self.range)
    }
}
