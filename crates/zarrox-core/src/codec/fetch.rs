//! How a codec says which bytes it needs, and what it does with them: reading without doing I/O.
//!
//! A [`Fetch`] is a byte range and a continuation. Whoever drives the reading fetches the range in any way it
//! likes, alone or together with others, now or later, and hands the bytes to the continuation, which may ask
//! for more: a shard asks for its index first, then for the inner chunks that the index names.

use super::{ByteStream, DecodeOptions};
use crate::error::CodecError;
use crate::strided::{Dims, Span, ViewMut};

/// A range of bytes of a stored object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ByteRange {
    /// From `offset` on; to the end when there is no `length`.
    From {
        /// The first byte.
        offset: u64,
        /// How many; all that follow when absent.
        length: Option<u64>,
    },
    /// The last bytes.
    Suffix {
        /// How many.
        length: u64,
    },
}

impl ByteRange {
    /// Offset and length in an object of `size` bytes, or an error when the range is not inside.
    pub fn within(self, size: u64) -> Result<(u64, u64), CodecError> {
        let (offset, length) = match self {
            Self::From { offset, length } => (Some(offset), length.or_else(|| size.checked_sub(offset))),
            Self::Suffix { length } => (size.checked_sub(length), Some(length)),
        };
        match (offset, length) {
            (Some(offset), Some(length)) if offset.checked_add(length).is_some_and(|end| end <= size) => {
                Ok((offset, length))
            }
            _ => Err(CodecError::corrupt(format!("the stored bytes end after {size}; {self} is needed"))),
        }
    }

    /// These bytes of an object in memory, or an error when the range is not inside.
    pub fn of(self, object: &[u8]) -> Result<&[u8], CodecError> {
        let (offset, length) = self.within(object.len() as u64)?;
        #[expect(clippy::cast_possible_truncation, reason = "the range lies inside a slice")]
        Ok(&object[offset as usize..(offset + length) as usize])
    }
}

impl std::fmt::Display for ByteRange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::From { offset, length: Some(length) } => write!(f, "range {offset}+{length}"),
            Self::From { offset, length: None } => write!(f, "all from {offset}"),
            Self::Suffix { length } => write!(f, "the last {length}"),
        }
    }
}

/// Where an encoded chunk lies in a stored object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// The first byte.
    pub offset: u64,
    /// How many; to the end of an object of unknown size when absent.
    pub length: Option<u64>,
}

impl Window {
    /// A whole object of this size.
    pub fn of_size(size: u64) -> Self {
        Self { offset: 0, length: Some(size) }
    }

    /// All of the window.
    pub fn whole(self) -> ByteRange {
        ByteRange::From { offset: self.offset, length: self.length }
    }

    /// What of an object in memory is in the window; an error when it is not inside.
    pub fn of(self, object: &[u8]) -> Result<&[u8], CodecError> {
        self.whole().of(object)
    }

    /// Part of the window; an error when it is not inside.
    pub fn part(self, offset: u64, length: u64) -> Result<ByteRange, CodecError> {
        let end = offset.checked_add(length);
        let inside = self.length.is_none_or(|size| end.is_some_and(|end| end <= size));
        let start = self.offset.checked_add(offset).filter(|_| inside && end.is_some());
        let Some(offset) = start else {
            let size = self.length.unwrap_or(u64::MAX);
            return Err(CodecError::corrupt(format!(
                "truncated: {size} bytes are stored, {length} at {offset} are needed"
            )));
        };
        Ok(ByteRange::From { offset, length: Some(length) })
    }

    /// The last bytes of the window; an error when it has not as many.
    pub fn suffix(self, length: u64) -> Result<ByteRange, CodecError> {
        match self.length {
            None => Ok(ByteRange::Suffix { length }),
            Some(size) if size >= length => self.part(size - length, length),
            Some(size) => Err(CodecError::corrupt(format!(
                "truncated: {size} bytes are stored, {length} at the end are needed"
            ))),
        }
    }
}

/// Part of a chunk, and where its elements go. The shape of `out` is the counts of `region`.
#[derive(Debug)]
pub struct ReadPart<'a> {
    /// The positions in the chunk, one span for each dimension.
    pub region: Dims<Span>,
    /// Where to write.
    pub out: ViewMut<'a>,
    /// How to decode.
    pub options: DecodeOptions,
}

/// Whether the region is the whole of a chunk of this shape.
pub fn covers(region: &[Span], shape: &[usize]) -> bool {
    region.iter().zip(shape).all(|(span, &length)| span.covers(length))
}

impl<'a> ReadPart<'a> {
    /// A region, decoded as is usual.
    pub fn new(region: Dims<Span>, out: ViewMut<'a>) -> Self {
        Self { region, out, options: DecodeOptions::default() }
    }

    /// The same for a while, after which this one can be used again.
    pub fn reborrow(&mut self) -> ReadPart<'_> {
        ReadPart { region: Dims::from_slice(&self.region), out: self.out.reborrow(), options: self.options }
    }

    /// Whether this is the whole of a chunk of this shape.
    pub fn covers(&self, shape: &[usize]) -> bool {
        covers(&self.region, shape)
    }

    /// The same part of a chunk whose axes are in another order.
    #[must_use]
    pub fn permuted(self, order: &[usize]) -> Self {
        if order.is_sorted() {
            return self;
        }
        Self { region: permuted(&self.region, order), out: self.out.permuted(order), ..self }
    }
}

/// The same region of a chunk whose axes are in another order.
pub(super) fn permuted(region: &[Span], order: &[usize]) -> Dims<Span> {
    order.iter().map(|&axis| region[axis]).collect()
}

/// What happens with bytes that were fetched.
type Continuation<'a> = Box<dyn FnOnce(&[u8]) -> Result<Vec<Fetch<'a>>, CodecError> + Send + 'a>;

/// What happens with bytes that arrive one after the other.
type StreamWork<'a> = Box<dyn FnOnce(&mut dyn ByteStream) -> Result<(), CodecError> + Send + 'a>;

/// Where fetched bytes go.
pub enum Sink<'a> {
    /// To work that takes them bit by bit, so that they need not lie in memory all at once.
    Stream(StreamWork<'a>),
    /// As they are into memory of just their length.
    Into(&'a mut [u8]),
    /// To a continuation, which may ask for more.
    Then(Continuation<'a>),
    /// To work that first gathers bytes from several places, in memory of its own. They all lie in the range.
    Staged(Box<dyn Staged + 'a>),
}

/// Work on bytes that are gathered from several places first.
pub trait Staged: Send {
    /// How much memory it takes from the first fetch to the end, in bytes.
    fn size(&self) -> usize;

    /// What must be fetched before it can be finished.
    fn fetches(&mut self) -> Result<Vec<Fetch<'_>>, CodecError>;

    /// Does the work, when all its fetches, and those that followed from them, are complete.
    fn finish(self: Box<Self>) -> Result<(), CodecError>;
}

/// A stage with an explanation of its errors.
struct Explained<'a, F> {
    stage: Box<dyn Staged + 'a>,
    explain: F,
}

impl<F: Fn(CodecError) -> CodecError + Clone + Send> Staged for Explained<'_, F> {
    fn size(&self) -> usize {
        self.stage.size()
    }

    fn fetches(&mut self) -> Result<Vec<Fetch<'_>>, CodecError> {
        let fetches = self.stage.fetches().map_err(&self.explain)?;
        Ok(fetches.into_iter().map(|fetch| fetch.map_err(self.explain.clone())).collect())
    }

    fn finish(self: Box<Self>) -> Result<(), CodecError> {
        self.stage.finish().map_err(self.explain)
    }
}

/// Bytes that are needed, and what they are needed for.
pub struct Fetch<'a> {
    /// Which bytes of the stored object.
    pub range: ByteRange,
    /// Where they go.
    pub sink: Sink<'a>,
    /// Whether others will ask for the same bytes, so that they are worth keeping.
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

    /// Bytes of a window that are gathered from several places.
    pub fn staged(window: Window, stage: impl Staged + 'a) -> Self {
        Self { range: window.whole(), sink: Sink::Staged(Box::new(stage)), keep: false }
    }

    /// The same, with `explain` put to every error that comes of it and of what follows from it.
    #[must_use]
    pub fn map_err(self, explain: impl Fn(CodecError) -> CodecError + Clone + Send + 'a) -> Self {
        let sink = match self.sink {
            Sink::Into(memory) => Sink::Into(memory),
            Sink::Staged(stage) => Sink::Staged(Box::new(Explained { stage, explain })),
            Sink::Stream(work) => Sink::Stream(Box::new(move |bytes| work(bytes).map_err(explain))),
            Sink::Then(work) => Sink::Then(Box::new(move |bytes| {
                let next = work(bytes).map_err(&explain)?;
                Ok(next.into_iter().map(|fetch| fetch.map_err(explain.clone())).collect())
            })),
        };
        Self { sink, ..self }
    }

    /// The same, with a word to whoever fetches that others will ask for these bytes again.
    #[must_use]
    pub fn kept(self) -> Self {
        Self { keep: true, ..self }
    }

    /// Hands over the bytes.
    pub fn complete(self, bytes: &[u8]) -> Result<Vec<Fetch<'a>>, CodecError> {
        match self.sink {
            Sink::Then(work) => work(bytes),
            Sink::Stream(work) => work(&mut &bytes[..]).map(|()| Vec::new()),
            Sink::Staged(_) => {
                Err(CodecError::unsupported("bytes that are gathered cannot be handed over as one"))
            }
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

/// Serves fetches, and those that follow from them, out of an object that is in memory.
pub fn resolve(fetches: Vec<Fetch<'_>>, object: &[u8]) -> Result<(), CodecError> {
    for fetch in fetches {
        if let Sink::Staged(mut stage) = fetch.sink {
            resolve(stage.fetches()?, object)?;
            stage.finish()?;
            continue;
        }
        let bytes = fetch.range.of(object)?;
        resolve(fetch.complete(bytes)?, object)?;
    }
    Ok(())
}
