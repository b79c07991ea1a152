//! The driver: does the I/O that the codec chain of a stored object asks for.

use zarrox_core::codec::{ByteStream, CodecChain, Fetch, ReadPart, Sink, Staged, Window};
use zarrox_core::scratch::Scratch;
use zarrox_core::strided::{Span, ViewMut};
use zarrox_core::{CodecError, Result};
use zarrox_stores::{StoreError, Value};

use super::Array;
use crate::error::from_store;

/// Ranges of one object with less than this between them are fetched together, in bytes.
const GAP: u64 = 4 << 10;

/// From this many bytes on, a range that goes straight into the output is read on its own: a copy would cost more than
/// another call.
const STRAIGHT: u64 = 32 << 10;

/// Ranges are put together up to this many bytes, which still fit into a core's own cache.
const TOGETHER: u64 = 512 << 10;

/// What is gathered for stages at once, in bytes, unless one alone takes more.
const GATHERED: usize = 4 << 20;

impl Array {
    /// Drives the reading of one stored object: fetches what its chain asks for until it asks for no more.
    pub(super) fn read_value(
        &self,
        chain: &CodecChain,
        value: &dyn Value,
        region: &[Span],
        out: ViewMut<'_>,
        objects: usize,
    ) -> Result<()> {
        let part = ReadPart { region: region.into(), out, options: self.location.context.decode };
        let alone = objects >= self.location.context.pool.threads() || self.shard_shape().is_none();
        if let Some(bytes) = value.as_bytes().filter(|_| alone) {
            return Ok(chain.decode(bytes, part)?);
        }
        self.drive(value, chain.read(Window::of_size(value.size()), part)?, objects)
    }

    /// Completes fetches, and those that follow from them.
    fn drive(&self, value: &dyn Value, mut fetches: Vec<Fetch<'_>>, objects: usize) -> Result<()> {
        while !fetches.is_empty() {
            let mut stages = Vec::new();
            let mut ranges = Vec::with_capacity(fetches.len());
            for fetch in fetches {
                match fetch.sink {
                    Sink::Staged(stage) => stages.push(stage),
                    _ => ranges.push(fetch),
                }
            }
            fetches = self.fetch(value, ranges, objects)?;
            self.drive_stages(value, stages, objects)?;
        }
        Ok(())
    }

    /// Gathers bytes for stages and finishes them: as many together as do not take much memory.
    fn drive_stages<'a>(
        &self,
        value: &dyn Value,
        stages: Vec<Box<dyn Staged + 'a>>,
        objects: usize,
    ) -> Result<()> {
        let mut stages = stages.into_iter().peekable();
        while let Some(first) = stages.next() {
            let mut size = first.size();
            let mut batch = vec![first];
            while let Some(next) = stages.next_if(|next| size.saturating_add(next.size()) <= GATHERED) {
                size += next.size();
                batch.push(next);
            }
            let mut fetches = Vec::new();
            for stage in &mut batch {
                fetches.extend(stage.fetches()?);
            }
            self.drive(value, fetches, objects)?;
            let pool = &self.location.context.pool;
            let bytes = if objects < pool.threads() { size / batch.len() } else { 0 };
            pool.map(batch, bytes, |stage| Ok(stage.finish()?))?;
        }
        Ok(())
    }

    /// One round of fetches; returns those that follow from it.
    fn fetch<'a>(
        &self,
        value: &dyn Value,
        fetches: Vec<Fetch<'a>>,
        objects: usize,
    ) -> Result<Vec<Fetch<'a>>> {
        let groups = grouped(fetches, value, self.chain.limit())?;
        let pool = &self.location.context.pool;
        // With fewer objects than threads, the parts of this one are worked on side by side.
        let largest =
            if objects < pool.threads() { groups.iter().map(|group| group.length).max() } else { None };
        let bytes = usize::try_from(largest.unwrap_or(0)).unwrap_or(usize::MAX);
        let following = pool.map(groups, bytes, |group| group.complete(value))?;
        Ok(following.into_iter().flatten().collect())
    }
}

/// Fetches that are read from the object as one range.
struct Group<'a> {
    offset: u64,
    length: u64,
    fetches: Vec<(u64, u64, Fetch<'a>)>,
}

/// Puts together fetches that lie close to each other.
fn grouped<'a>(fetches: Vec<Fetch<'a>>, value: &dyn Value, limit: usize) -> Result<Vec<Group<'a>>> {
    let mut ranges = Vec::with_capacity(fetches.len());
    for fetch in fetches {
        let (offset, length) = fetch.range.within(value.size())?;
        if usize::try_from(length).map_or(true, |length| length > limit) {
            return Err(CodecError::limit(format!(
                "{length} stored bytes would be read at once, the limit is {limit}"
            ))
            .into());
        }
        ranges.push((offset, length, fetch));
    }
    ranges.sort_by_key(|(offset, ..)| *offset);
    let in_memory = value.as_bytes().is_some();
    let mut groups: Vec<Group<'a>> = Vec::new();
    for (offset, length, fetch) in ranges {
        let straight = length >= STRAIGHT && matches!(fetch.sink, Sink::Into(_));
        let alone = in_memory || straight || matches!(fetch.sink, Sink::Stream(_));
        match groups.last_mut().filter(|group| !alone && group.takes(offset, length)) {
            Some(group) => {
                group.length = group.length.max(offset + length - group.offset);
                group.fetches.push((offset, length, fetch));
            }
            None => groups.push(Group { offset, length, fetches: vec![(offset, length, fetch)] }),
        }
    }
    Ok(groups)
}

#[expect(clippy::cast_possible_truncation, reason = "lengths are checked against a limit in usize")]
impl<'a> Group<'a> {
    /// Whether a range that begins no earlier is close enough, and the whole not too long.
    fn takes(&self, offset: u64, length: u64) -> bool {
        offset <= self.offset + self.length + GAP && offset + length - self.offset <= TOGETHER
    }

    fn complete(mut self, value: &dyn Value) -> Result<Vec<Fetch<'a>>> {
        if let [(.., Fetch { sink: Sink::Into(memory), .. })] = self.fetches.as_mut_slice() {
            value.read_at(self.offset, memory).map_err(from_store)?;
            return Ok(Vec::new());
        }
        if let ([(.., Fetch { sink: Sink::Stream(_), .. })], None) =
            (self.fetches.as_slice(), value.as_bytes())
        {
            return self.stream(value);
        }
        if let Some(bytes) = value.as_bytes() {
            let (offset, length) = (self.offset as usize, self.length as usize);
            return self.hand_over(&bytes[offset..][..length]);
        }
        let mut buffer = Scratch::with_len(self.length as usize);
        value.read_at(self.offset, &mut buffer).map_err(from_store)?;
        self.hand_over(&buffer)
    }

    /// Hands over the bytes while they are read.
    fn stream(self, value: &dyn Value) -> Result<Vec<Fetch<'a>>> {
        let mut bytes =
            ValueStream { value, next: self.offset, end: self.offset + self.length, failure: None };
        for (.., fetch) in self.fetches {
            if let Sink::Stream(work) = fetch.sink
                && let Err(error) = work(&mut bytes)
            {
                // What kept the bytes from arriving says more than that they did not.
                return Err(bytes.failure.map_or_else(|| error.into(), from_store));
            }
        }
        Ok(Vec::new())
    }

    fn hand_over(self, bytes: &[u8]) -> Result<Vec<Fetch<'a>>> {
        let mut following = Vec::new();
        for (offset, length, fetch) in self.fetches {
            let part = &bytes[(offset - self.offset) as usize..][..length as usize];
            following.extend(fetch.complete(part)?);
        }
        Ok(following)
    }
}

/// A range of a stored object, read bit by bit.
struct ValueStream<'v> {
    value: &'v dyn Value,
    next: u64,
    end: u64,
    failure: Option<StoreError>,
}

impl ByteStream for ValueStream<'_> {
    fn fill(&mut self, buffer: &mut [u8]) -> Result<usize, CodecError> {
        let rest = usize::try_from(self.end - self.next).unwrap_or(usize::MAX);
        let length = rest.min(buffer.len());
        if let Err(error) = self.value.read_at(self.next, &mut buffer[..length]) {
            self.failure = Some(error);
            return Err(CodecError::corrupt("the stored bytes cannot be read"));
        }
        self.next += length as u64;
        Ok(length)
    }
}
