//! Reading without I/O: a codec says which bytes it needs, and what it does with them.
//!
//! A [`Fetch`] is a byte range and a continuation. Whoever drives the reading fetches the range in any way it
//! likes, alone or together with others, now or later, and hands the bytes to the continuation, which may ask
//! for more: a shard asks for its index first, then for the inner chunks that the index names.

use super::{ByteRange, ByteStream, Window};
use crate::error::CodecError;

/// Work on bytes that were fetched.
type Continuation<'a> = Box<dyn FnOnce(&[u8]) -> Result<Vec<Fetch<'a>>, CodecError> + Send + 'a>;

/// Work on bytes that arrive one after the other.
type StreamWork<'a> = Box<dyn FnOnce(&mut dyn ByteStream) -> Result<(), CodecError> + Send + 'a>;

/// The destination of fetched bytes.
pub enum Sink<'a> {
    /// To work that takes them bit by bit, so that they need not lie in memory all at once.
    Stream(StreamWork<'a>),
    /// Copied into memory of just their length.
    Into(&'a mut [u8]),
    /// To a continuation, which may ask for more.
    Then(Continuation<'a>),
    /// To a decoding that first collects bytes from several places, in memory of its own. They all lie in the range.
    Deferred(Box<dyn DeferredDecode + 'a>),
}

/// A decoding that starts when bytes from several places have been collected.
pub trait DeferredDecode: Send {
    /// The memory that it takes from the first fetch to the end, in bytes.
    fn size(&self) -> usize;

    /// Lists the bytes to fetch before it can be finished.
    fn fetches(&mut self) -> Result<Vec<Fetch<'_>>, CodecError>;

    /// Decodes, when all its fetches, and those that followed from them, are complete.
    fn finish(self: Box<Self>) -> Result<(), CodecError>;
}

/// A deferred decoding with an explanation of its errors.
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
    /// The bytes of the stored object.
    pub range: ByteRange,
    /// The destination.
    pub sink: Sink<'a>,
    /// True if others will ask for these bytes, so that they are worth keeping.
    pub keep: bool,
}

impl<'a> Fetch<'a> {
    /// Bytes that a continuation works on.
    pub fn then(
        range: ByteRange,
        work: impl FnOnce(&[u8]) -> Result<Vec<Fetch<'a>>, CodecError> + Send + 'a,
    ) -> Self {
        Self { range, sink: Sink::Then(Box::new(work)), keep: false }
    }

    /// All bytes of a window, after which there is nothing more to ask for.
    pub fn whole(
        window: Window,
        work: impl FnOnce(&[u8]) -> Result<(), CodecError> + Send + 'a,
    ) -> Vec<Self> {
        vec![Self::then(window.whole(), |bytes| work(bytes).map(|()| Vec::new()))]
    }

    /// Bytes that are taken bit by bit.
    pub fn stream(
        range: ByteRange,
        work: impl FnOnce(&mut dyn ByteStream) -> Result<(), CodecError> + Send + 'a,
    ) -> Self {
        Self { range, sink: Sink::Stream(Box::new(work)), keep: false }
    }

    /// Bytes that are the decoded ones already.
    pub fn into(range: ByteRange, memory: &'a mut [u8]) -> Self {
        Self { range, sink: Sink::Into(memory), keep: false }
    }

    /// Bytes of a window that are collected from several places.
    pub fn deferred(window: Window, decode: impl DeferredDecode + 'a) -> Self {
        Self { range: window.whole(), sink: Sink::Deferred(Box::new(decode)), keep: false }
    }

    /// This fetch with `explain` put to every error that comes of it and of what follows from it.
    #[must_use]
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

    /// This fetch, marked as one whose bytes others will ask for again.
    #[must_use]
    pub fn kept(self) -> Self {
        Self { keep: true, ..self }
    }

    /// Hands over the bytes.
    pub fn complete(self, bytes: &[u8]) -> Result<Vec<Fetch<'a>>, CodecError> {
        match self.sink {
            Sink::Then(work) => work(bytes),
            Sink::Stream(work) => work(&mut &bytes[..]).map(|()| Vec::new()),
            Sink::Deferred(_) => Err(CodecError::unsupported(
                "bytes that are collected from several places cannot be handed over as one",
            )),
            Sink::Into(memory) if memory.len() == bytes.len() => {
                memory.copy_from_slice(bytes);
                Ok(Vec::new())
            }
            Sink::Into(memory) => Err(CodecError::corrupt(format!(
                "{} bytes arrived, {} are needed",
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
