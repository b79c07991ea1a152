//! The driver, which does the I/O that codec pipelines request.

use zarrox_core::codec::{ByteRange as Range, ByteStream, CodecError, Fetch, Window};
use zarrox_core::internals::codec::coalesce::{Coalesce, CoalescedRanges, DIRECT};
use zarrox_core::internals::codec::{DeferredDecode, ReadPart, Sink};
use zarrox_core::internals::scratch::Scratch;
use zarrox_core::{CodecChain, Error, ErrorKind, Result};
use zarrox_stores::{ByteRange, Bytes, Key, StoreError, Value};

use super::Array;
use crate::location::Timer;
use crate::policy::MissingChunks;
use crate::pool::Pool;

/// The maximum number of bytes that are collected for deferred decoding at a time, unless a single chunk needs more.
const COLLECTED: usize = 4 << 20;

/// The maximum decoded size, in bytes, of a remote object that is fetched with a single request when all of its elements are
/// read. For a larger shard, the index is read first, and then parts of the shard are read in parallel.
const WHOLE_FAR: usize = 64 << 20;

/// The number of attempts to read an object while writers replace it.
const ATTEMPTS: usize = 10;

impl Array {
    /// Reads a part of a stored object, one of `count` objects. If the object does not exist, the part is filled with the fill
    /// value. Returns true if the object exists.
    pub(super) fn read_object(
        &self,
        chain: &CodecChain,
        key: &Key,
        mut part: ReadPart<'_>,
        objects: usize,
    ) -> Result<bool> {
        if !self.location.is_remote() || self.may_be_cached(chain, key, &part) {
            return self.read_once(chain, key, None, part, objects);
        }
        let first = Some(first_range(chain, &mut part)?);
        for _ in 1..ATTEMPTS {
            match self.read_once(chain, key, first, part.reborrow(), objects) {
                Err(error) if error.kind() == ErrorKind::Conflict => {}
                result => return result,
            }
        }
        self.read_once(chain, key, first, part, objects)
    }

    /// Opens an object and reads a part of it. The request that opens the object also reads the range `first`.
    fn read_once(
        &self,
        chain: &CodecChain,
        key: &Key,
        first: Option<ByteRange>,
        part: ReadPart<'_>,
        objects: usize,
    ) -> Result<bool> {
        let timer = &self.location.context.timer;
        let Some(value) = timer.fetch(|| self.location.store.open_with(key, first))? else {
            return self.read_missing(part).map(|()| false);
        };
        if let Some(cache) = self.chunk_cache(chain)
            && let Some(version) = value.version()
        {
            return self.read_cached(cache, chain, (key, &*value, &version), part, objects).map(|()| true);
        }
        self.read_value(chain, key, &*value, part, objects).map(|()| true)
    }

    /// Fills the elements of a missing object with the fill value, or returns an error if the options require all objects to
    /// exist.
    fn read_missing(&self, mut part: ReadPart<'_>) -> Result<()> {
        if self.location.context.missing == MissingChunks::Error {
            let message = "the chunk is missing, which is an error with the option `missing_chunks`";
            return Err(Error::new(ErrorKind::NotFound, message));
        }
        part.fill(self.chain.chunk().fill().as_bytes());
        Ok(())
    }

    /// Reads a stored object: fetches the bytes that its codec pipeline requests, until the pipeline requests no more.
    pub(super) fn read_value(
        &self,
        chain: &CodecChain,
        key: &Key,
        value: &dyn Value,
        part: ReadPart<'_>,
        objects: usize,
    ) -> Result<()> {
        let alone = objects >= self.location.context.pool.threads() || self.shard_shape().is_none();
        if let Some(bytes) = value.as_bytes().filter(|_| alone) {
            return Ok(self.location.decode(value.size(), || chain.decode(bytes, part))?);
        }
        let object = Object { key, value, objects };
        self.drive(object, chain.read(Window::of_size(value.size()), part)?)
    }

    /// Completes fetches, and any further fetches that they result in.
    fn drive(&self, object: Object<'_>, mut fetches: Vec<Fetch<'_>>) -> Result<()> {
        while !fetches.is_empty() {
            let (mut deferred, mut ranges, mut following) = (Vec::new(), Vec::new(), Vec::new());
            for fetch in fetches {
                match fetch.sink {
                    Sink::Deferred(decode) => deferred.push(decode),
                    _ if fetch.keep => match self.complete_cached(object, fetch)? {
                        Ok(next) => following.extend(next),
                        Err(fetch) => ranges.push(fetch),
                    },
                    _ => ranges.push(fetch),
                }
            }
            following.extend(self.fetch(object, ranges)?);
            self.drive_deferred(object, deferred)?;
            fetches = following;
        }
        Ok(())
    }

    /// Completes a fetch from the cached bytes of the object, if the object still has the same version. Otherwise returns a fetch
    /// that also caches its bytes.
    fn complete_cached<'a>(
        &self,
        object: Object<'_>,
        fetch: Fetch<'a>,
    ) -> Result<std::result::Result<Vec<Fetch<'a>>, Fetch<'a>>> {
        // The bytes of an in-memory store need no cache. If versions are digests, computing them costs more than the cache saves.
        let spared = !object.value.is_in_memory() && !self.location.store.capabilities().digest_versions;
        let version = if spared { object.value.version() } else { None };
        let Some(version) = version else { return Ok(Err(fetch)) };
        let (offset, length) = fetch.range.within(object.value.size())?;
        let place = (object.key.clone(), offset, length);
        if let Some(bytes) = self.shared.index_cache.get(&place, &version) {
            return Ok(Ok(fetch.complete(&bytes)?));
        }
        let shared = self.shared.clone();
        Ok(Err(Fetch::then(fetch.range, move |bytes| {
            shared.index_cache.insert(place, version, Bytes::copy_from_slice(bytes));
            fetch.complete(bytes)
        })))
    }

    /// Collects the bytes of deferred chunks and decodes them, as many at a time as the memory limit allows.
    fn drive_deferred<'a>(
        &self,
        object: Object<'_>,
        deferred: Vec<Box<dyn DeferredDecode + 'a>>,
    ) -> Result<()> {
        let mut deferred = deferred.into_iter().peekable();
        while let Some(first) = deferred.next() {
            let mut size = first.size();
            let mut batch = vec![first];
            while let Some(next) = deferred.next_if(|next| size.saturating_add(next.size()) <= COLLECTED) {
                size += next.size();
                batch.push(next);
            }
            let mut fetches = Vec::new();
            for decode in &mut batch {
                fetches.extend(decode.fetches()?);
            }
            self.drive(object, fetches)?;
            let pool = self.pool_for(object.value);
            let bytes = if object.objects < pool.threads() { size / batch.len() } else { 0 };
            pool.map(batch, bytes, self.at_once(), |decode| {
                Ok(self.location.decode(0, || decode.finish())?)
            })?;
        }
        Ok(())
    }

    /// Runs one round of fetches, and returns the further fetches that they result in.
    fn fetch<'a>(&self, object: Object<'_>, fetches: Vec<Fetch<'a>>) -> Result<Vec<Fetch<'a>>> {
        let groups = self.grouped(fetches, object.value)?;
        let pool = self.pool_for(object.value);
        // If there are fewer objects than threads, the parts of each object are distributed among threads.
        let largest = if object.objects < pool.threads() {
            groups.iter().map(|group| group.length).max()
        } else {
            None
        };
        let bytes = usize::try_from(largest.unwrap_or(0)).unwrap_or(usize::MAX);
        let location = &self.location;
        let following = pool.map(groups, bytes, self.at_once(), |group| {
            let (length, timer) = (group.length, &location.context.timer);
            if !location.is_remote() || object.value.is_in_memory() {
                return location.decode(length, || complete(group, object.value, timer));
            }
            // Many threads can wait for a remote store, but the number of threads that decode is limited to the number of cores.
            let bytes = timer.fetch(|| object.value.read(group.offset, group.length))?;
            location.decode(length, || hand_over(group, &bytes))
        })?;
        Ok(following.into_iter().flatten().collect())
    }

    /// Returns the thread pool for parts of an object: the pool for computation if the object is in memory and the store is not
    /// remote, otherwise the pool of the store.
    fn pool_for(&self, value: &dyn Value) -> &Pool {
        let needs_store = self.location.is_remote() || !value.is_in_memory();
        if needs_store { self.location.pool() } else { &self.location.context.pool }
    }

    /// Groups fetches of adjacent ranges.
    fn grouped<'a>(&self, fetches: Vec<Fetch<'a>>, value: &dyn Value) -> Result<Vec<Group<'a>>> {
        let mut ranges = Vec::with_capacity(fetches.len());
        for fetch in fetches {
            let (offset, length) = fetch.range.within(value.size())?;
            self.check_length(length)?;
            ranges.push((offset, length, fetch));
        }
        let in_memory = value.is_in_memory();
        let far = self.location.is_remote();
        let coalesce = if far { Coalesce::REMOTE } else { Coalesce::LOCAL };
        Ok(coalesce.group(ranges, |length, fetch: &Fetch<'_>| {
            let straight = length >= DIRECT as u64 && matches!(fetch.sink, Sink::Into(_));
            in_memory || (!far && (straight || matches!(fetch.sink, Sink::Stream(_))))
        }))
    }

    /// Returns an error if the length exceeds the size limit of a chunk.
    fn check_length(&self, length: u64) -> Result<()> {
        let limit = self.chain.limit();
        if usize::try_from(length).is_ok_and(|length| length <= limit) {
            return Ok(());
        }
        let message = format!("reading {length} stored bytes at once exceeds the limit of {limit}");
        Err(Error::new(ErrorKind::LimitExceeded, message))
    }
}

/// Returns the range of the first request for an object, as far as it can be determined before the object is opened.
fn first_range(chain: &CodecChain, part: &mut ReadPart<'_>) -> Result<ByteRange> {
    // However large the object is, no more bytes are read than the size limit of a chunk.
    let whole = ByteRange::From { offset: 0, length: Some(chain.limit() as u64) };
    if part.elements().covers(chain.chunk().shape()) && chain.chunk().size() <= WHOLE_FAR {
        return Ok(whole);
    }
    let fetches = chain.read(Window { offset: 0, length: None }, part.reborrow())?;
    let (mut start, mut end, mut wanted) = (u64::MAX, 0, 0_u64);
    for fetch in &fetches {
        match fetch.range {
            Range::Suffix { length } => return Ok(ByteRange::Suffix { length }),
            Range::From { length: None, .. } => return Ok(whole),
            Range::From { offset, length: Some(length) } => {
                start = start.min(offset);
                end = end.max(offset.saturating_add(length));
                wanted = wanted.saturating_add(length);
            }
        }
    }
    let all = end.saturating_sub(start);
    match fetches.first().map(|fetch| fetch.range) {
        Some(Range::From { offset, length })
            if all > Coalesce::REMOTE.together.max(wanted.saturating_mul(2)) =>
        {
            Ok(ByteRange::From { offset, length })
        }
        _ => Ok(ByteRange::From { offset: start.min(end), length: Some(all) }),
    }
}

/// An open stored object, one of `count`.
#[derive(Clone, Copy)]
struct Object<'v> {
    key: &'v Key,
    value: &'v dyn Value,
    objects: usize,
}

/// Fetches whose bytes are read as one range.
type Group<'a> = CoalescedRanges<Fetch<'a>>;

/// Reads the range of a group and completes its fetches.
#[expect(clippy::cast_possible_truncation, reason = "lengths are checked against a limit in usize")]
fn complete<'a>(mut group: Group<'a>, value: &dyn Value, timer: &Timer) -> Result<Vec<Fetch<'a>>> {
    if let [(.., Fetch { sink: Sink::Into(memory), .. })] = group.ranges.as_mut_slice() {
        timer.fetch(|| value.read_at(group.offset, memory))?;
        return Ok(Vec::new());
    }
    let (offset, length) = (group.offset as usize, group.length as usize);
    match (group.ranges.as_slice(), value.as_bytes()) {
        (_, Some(bytes)) => hand_over(group, &bytes[offset..][..length]),
        ([(.., Fetch { sink: Sink::Stream(_), .. })], None) => stream(group, value, timer),
        (_, None) => {
            let mut buffer = Scratch::with_len(length).map_err(CodecError::from)?;
            timer.fetch(|| value.read_at(group.offset, &mut buffer))?;
            hand_over(group, &buffer)
        }
    }
}

/// Passes the bytes of a group to the decoder while they are read.
fn stream<'a>(group: Group<'a>, value: &dyn Value, timer: &Timer) -> Result<Vec<Fetch<'a>>> {
    let (next, end) = (group.offset, group.offset + group.length);
    let mut bytes = ValueStream { value, timer, next, end, failure: None };
    for (.., fetch) in group.ranges {
        if let Sink::Stream(work) = fetch.sink
            && let Err(error) = work(&mut bytes)
        {
            // The error of the store is more useful than an error about missing bytes.
            return Err(bytes.failure.map_or_else(|| error.into(), Error::from));
        }
    }
    Ok(Vec::new())
}

/// Passes the bytes of a group to their fetches.
#[expect(clippy::cast_possible_truncation, reason = "lengths are checked against a limit in usize")]
fn hand_over<'a>(group: Group<'a>, bytes: &[u8]) -> Result<Vec<Fetch<'a>>> {
    let mut following = Vec::new();
    for (offset, length, fetch) in group.ranges {
        let part = &bytes[(offset - group.offset) as usize..][..length as usize];
        following.extend(fetch.complete(part)?);
    }
    Ok(following)
}

/// A range of a stored object, read as a stream.
struct ValueStream<'v> {
    value: &'v dyn Value,
    timer: &'v Timer,
    next: u64,
    end: u64,
    failure: Option<StoreError>,
}

impl ByteStream for ValueStream<'_> {
    fn fill(&mut self, buffer: &mut [u8]) -> Result<usize, CodecError> {
        let rest = usize::try_from(self.end - self.next).unwrap_or(usize::MAX);
        let length = rest.min(buffer.len());
        let read = self.timer.fetch(|| self.value.read_at(self.next, &mut buffer[..length]));
        if let Err(error) = read {
            self.failure = Some(error);
            return Err(CodecError::corrupt("the stored bytes cannot be read"));
        }
        self.next += length as u64;
        Ok(length)
    }
}
