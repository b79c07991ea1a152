//! Partial reads of a Blosc buffer: only the blocks that are needed are fetched and decompressed.
//!
//! A buffer consists of a 16-byte header, the 32-bit offsets of the blocks, and the blocks themselves in any order. Blocks that
//! are needed together are assembled into a small buffer, which the library decompresses like any other buffer. Format:
//! <https://github.com/Blosc/c-blosc/blob/main/README_CHUNK_FORMAT.rst>

use std::ops::Range;

use zarrox_core::codec::{ByteRange, CodecError, Fetch, Window};
use zarrox_core::internals::codec::{DeferredDecode, Sink, resolve};
use zarrox_core::internals::scratch::Scratch;

use crate::bytes_to_bytes::ffi::blosc::{HEADER, Header, decompress};
use crate::error::too_large;
use crate::error::truncated;

/// The number of bytes that are fetched first. For most buffers, they contain the header and the offsets of all blocks.
const HEAD: u64 = 4 << 10;

/// The maximum decoded size up to which a buffer is decoded as a whole if more than three quarters of it are requested.
const WHOLE: usize = 8 << 20;

/// The size of a block offset in the table.
const START: usize = 4;

/// The offset of the flags in the header, and the relevant flags.
const FLAGS: usize = 2;
const STORED: u8 = 0x02;
const NOT_SPLIT: u8 = 0x10;

/// Converts fetches from the `size` decoded bytes of a buffer to fetches from the buffer itself, which is at `window`.
pub(crate) fn read(
    window: Window,
    size: usize,
    decoded: Vec<Fetch<'_>>,
) -> Result<Vec<Fetch<'_>>, CodecError> {
    let Some(length) = window.length else {
        return Err(CodecError::unsupported("parts are read only where the stored size is known"));
    };
    let mut wanted = Vec::with_capacity(decoded.len());
    for fetch in decoded {
        let (start, length) = fetch.range.within(size as u64)?;
        wanted.push(DecodedFetch { range: to_usize(start)?..to_usize(start + length)?, fetch });
    }
    wanted.sort_by_key(|wanted| wanted.range.start);
    if wanted.is_empty() {
        return Ok(Vec::new());
    }
    if size <= WHOLE && reach(&wanted) > size / 4 * 3 {
        return Ok(Fetch::whole(window, move |encoded| decode_whole(encoded, window, size, wanted)));
    }
    let head = window.part(0, length.min(HEAD))?;
    Ok(vec![Fetch::then(head, move |head| {
        let buffer = Buffer::parse(head, window, size)?;
        if buffer.header[FLAGS] & STORED != 0 {
            return buffer.stored(wanted);
        }
        let table = HEADER..buffer.blocks_start();
        if let Some(table) = head.get(table.clone()) {
            return buffer.groups(table, wanted);
        }
        let range = window.part(table.start as u64, table.len() as u64)?;
        Ok(vec![Fetch::then(range, move |table| buffer.groups(table, wanted))])
    })])
}

/// Returns the error for a buffer that declares `size` bytes, which are more than fit in `room`. Since the declared size may be
/// wrong, the error is an overflow only if the blocks that fit are valid.
pub(crate) fn overflow(encoded: &[u8], size: usize, room: &mut [u8]) -> CodecError {
    let length = room.len();
    let Some(header) = Header::read(encoded, encoded.len()) else { return damaged() };
    let front = &mut room[..length - length % header.block.max(1)];
    let window = Window::of_size(encoded.len() as u64);
    let range = ByteRange::From { offset: 0, length: Some(front.len() as u64) };
    match read(window, size, vec![Fetch::into(range, front)]).and_then(|parts| resolve(parts, encoded)) {
        Ok(()) => too_large(length),
        Err(error) => error,
    }
}

/// A fetch of decoded bytes, and their range.
struct DecodedFetch<'a> {
    range: Range<usize>,
    fetch: Fetch<'a>,
}

/// Returns the number of leading decoded bytes that are needed. The list is sorted.
fn reach(wanted: &[DecodedFetch<'_>]) -> usize {
    let (mut reach, mut end) = (0, 0);
    for DecodedFetch { range, .. } in wanted {
        reach += range.end.saturating_sub(end.max(range.start));
        end = end.max(range.end);
    }
    reach
}

/// Completes fetches by decoding the whole buffer.
fn decode_whole(
    encoded: &[u8],
    window: Window,
    size: usize,
    wanted: Vec<DecodedFetch<'_>>,
) -> Result<(), CodecError> {
    Buffer::parse(encoded, window, size)?;
    let mut plain = Scratch::with_len(size)?;
    if !decompress(encoded, &mut plain) {
        return Err(damaged());
    }
    complete_all(&plain, 0, wanted)
}

/// Completes fetches with decoded bytes that begin at `start`.
fn complete_all(plain: &[u8], start: usize, wanted: Vec<DecodedFetch<'_>>) -> Result<(), CodecError> {
    for DecodedFetch { range, fetch } in wanted {
        let bytes = plain.get(range.start - start..range.end - start).ok_or_else(damaged)?;
        if !fetch.complete(bytes)?.is_empty() {
            return Err(CodecError::unsupported("a fetch from blocks cannot lead to further fetches"));
        }
    }
    Ok(())
}

/// A buffer whose header has been validated.
#[derive(Clone, Copy)]
struct Buffer {
    header: [u8; HEADER],
    window: Window,
    sizes: Header,
}

impl Buffer {
    fn parse(head: &[u8], window: Window, size: usize) -> Result<Self, CodecError> {
        let header = *head.first_chunk::<HEADER>().ok_or_else(|| truncated(head.len()))?;
        let length = to_usize(window.length.unwrap_or(u64::MAX))?;
        let sizes = Header::read(head, length).ok_or_else(|| {
            CodecError::corrupt("the sizes in the header are impossible: the data are damaged or truncated")
        })?;
        if sizes.decoded != size {
            let message = format!("decodes to {} bytes, but a chunk has {size}", sizes.decoded);
            return Err(CodecError::corrupt(message));
        }
        Ok(Self { header, window, sizes })
    }

    fn block_count(&self) -> usize {
        self.sizes.decoded.div_ceil(self.sizes.block)
    }

    /// Returns the smallest possible offset of a block.
    fn blocks_start(&self) -> usize {
        HEADER + self.block_count() * START
    }

    /// Returns the fetches from a buffer that is not compressed.
    fn stored(self, wanted: Vec<DecodedFetch<'_>>) -> Result<Vec<Fetch<'_>>, CodecError> {
        if self.sizes.encoded != HEADER + self.sizes.decoded {
            return Err(damaged());
        }
        let shifted = wanted.into_iter().map(|DecodedFetch { range, fetch }| {
            let range = self.window.part((HEADER + range.start) as u64, range.len() as u64)?;
            Ok(Fetch { range, ..fetch })
        });
        shifted.collect()
    }

    /// Returns the range of each block in the buffer.
    fn places(&self, table: &[u8]) -> Result<Vec<Range<usize>>, CodecError> {
        let starts: Vec<usize> = table
            .as_chunks::<START>()
            .0
            .iter()
            .map(|start| to_usize(u64::from(u32::from_le_bytes(*start))))
            .collect::<Result<_, _>>()?;
        let mut order: Vec<usize> = (0..starts.len()).collect();
        order.sort_unstable_by_key(|&block| starts[block]);
        let mut places = vec![0..0; starts.len()];
        for (n, &block) in order.iter().enumerate() {
            let end = order.get(n + 1).map_or(self.sizes.encoded, |&next| starts[next]);
            let inside = starts[block] >= self.blocks_start() && starts[block] < end;
            places[block] = if inside { starts[block]..end } else { return Err(damaged()) };
        }
        Ok(places)
    }

    /// Groups fetches that share blocks. Each group is decoded separately.
    fn groups<'a>(self, table: &[u8], wanted: Vec<DecodedFetch<'a>>) -> Result<Vec<Fetch<'a>>, CodecError> {
        let places = self.places(table)?;
        let mut groups: Vec<(Range<usize>, Vec<DecodedFetch<'a>>)> = Vec::new();
        for wanted in wanted {
            let first = wanted.range.start / self.sizes.block;
            let end = wanted.range.end.div_ceil(self.sizes.block).max(first + 1);
            match groups.last_mut().filter(|(blocks, _)| first < blocks.end) {
                Some((blocks, group)) => {
                    blocks.end = blocks.end.max(end);
                    group.push(wanted);
                }
                None => groups.push((first..end, vec![wanted])),
            }
        }
        let stage = |(blocks, wanted): (Range<usize>, Vec<DecodedFetch<'a>>)| {
            let places = places.get(blocks.clone()).ok_or_else(damaged)?.to_vec();
            Ok(Fetch::deferred(
                self.window,
                Group { buffer: self, first: blocks.start, places, wanted, memory: None },
            ))
        };
        groups.into_iter().map(stage).collect()
    }
}

/// Adjacent blocks, and the fetches that need their decoded bytes.
struct Group<'a> {
    buffer: Buffer,
    /// The index of the first block.
    first: usize,
    /// The positions of the blocks in the stored buffer.
    places: Vec<Range<usize>>,
    wanted: Vec<DecodedFetch<'a>>,
    /// The blocks as a separate buffer.
    memory: Option<Scratch>,
}

impl Group<'_> {
    /// Returns the range of decoded bytes that these blocks contain.
    fn decoded(&self) -> Range<usize> {
        let Header { block, decoded, .. } = self.buffer.sizes;
        self.first * block..((self.first + self.places.len()) * block).min(decoded)
    }

    fn encoded_size(&self) -> usize {
        HEADER + self.places.iter().map(|place| START + place.len()).sum::<usize>()
    }

    /// Returns the header of the small buffer.
    fn header(&self) -> Result<[u8; HEADER], CodecError> {
        let mut header = self.buffer.header;
        let size = self.decoded().len();
        // The shorter block at the end of a buffer is not split into byte planes. In a buffer of its own, it would not be
        // recognised as the last block.
        let block = self.buffer.sizes.block.min(size);
        if block < self.buffer.sizes.block {
            header[FLAGS] |= NOT_SPLIT;
        }
        for (place, size) in [(4, size), (8, block), (12, self.encoded_size())] {
            header[place..place + 4].copy_from_slice(&to_u32(size)?.to_le_bytes());
        }
        Ok(header)
    }
}

impl DeferredDecode for Group<'_> {
    fn size(&self) -> usize {
        self.encoded_size() + self.decoded().len()
    }

    fn fetches(&mut self) -> Result<Vec<Fetch<'_>>, CodecError> {
        let header = self.header()?;
        let size = self.encoded_size();
        let memory = self.memory.insert(Scratch::with_len(size)?);
        let (head, mut rest) = memory.split_at_mut(HEADER + self.places.len() * START);
        head[..HEADER].copy_from_slice(&header);
        let mut start = head.len();
        let mut fetches = Vec::with_capacity(self.places.len());
        for (place, entry) in self.places.iter().zip(head[HEADER..].as_chunks_mut::<START>().0) {
            *entry = to_u32(start)?.to_le_bytes();
            start += place.len();
            let (block, others) = rest.split_at_mut(place.len());
            rest = others;
            let range = self.buffer.window.part(place.start as u64, place.len() as u64)?;
            fetches.push(Fetch::into(range, block));
        }
        Ok(fetches)
    }

    fn finish(self: Box<Self>) -> Result<(), CodecError> {
        let decoded = self.decoded();
        let Some(encoded) = self.memory else { return Ok(()) };
        let mut wanted = self.wanted;
        // A fetch that needs all of the blocks is decoded without an additional copy.
        if let [DecodedFetch { range, fetch: Fetch { sink: Sink::Into(memory), .. } }] = wanted.as_mut_slice()
            && *range == decoded
        {
            return if decompress(&encoded, memory) { Ok(()) } else { Err(damaged()) };
        }
        let mut plain = Scratch::with_len(decoded.len())?;
        if !decompress(&encoded, &mut plain) {
            return Err(damaged());
        }
        complete_all(&plain, decoded.start, wanted)
    }
}

fn damaged() -> CodecError {
    CodecError::corrupt("the blocks are damaged")
}

fn to_usize(n: u64) -> Result<usize, CodecError> {
    usize::try_from(n).map_err(|_| CodecError::limit("a size does not fit into memory"))
}

fn to_u32(n: usize) -> Result<u32, CodecError> {
    u32::try_from(n).map_err(|_| CodecError::limit("the blocks of a part are too large"))
}

#[cfg(test)]
mod tests {
    use zarrox_core::codec::{EncodeOptions, ReadRegion};
    use zarrox_core::data_type::Storage;
    use zarrox_core::internals::codec::resolve;
    use zarrox_core::strided::{Span, View, ViewMut};
    use zarrox_core::{CodecChain, CodecSpec, Strictness};
    use zarrox_testkit::codec::{Random, slice};

    use super::*;
    use crate::testing::{chain, chunk};
    use crate::{Blosc, BloscCompressor, Bytes, Shuffle, registry};
    use zarrox_core::ErrorKind;
    use zarrox_testkit::errors::assert_error;

    fn make(shape: &[u64], storage: Storage, blosc: Blosc) -> CodecChain {
        let codecs: [CodecSpec; 2] = [Bytes::little().into(), blosc.into()];
        chain(&codecs, &chunk(shape, storage), &registry(), Strictness::Lenient).unwrap()
    }

    fn encode(chain: &CodecChain, data: &[u8]) -> Vec<u8> {
        let (view, mut encoded) =
            (View::contiguous(data, chain.chunk().shape(), chain.chunk().item()), Vec::new());
        chain.encode(&view, EncodeOptions { store_empty_chunks: true }, &mut encoded).unwrap();
        encoded
    }

    /// Returns numbers that are compressible and differ from block to block.
    fn numbers(count: usize, item: usize, random: &mut Random) -> Vec<u8> {
        let mut data = Vec::with_capacity(count * item);
        while data.len() < count * item {
            let some = random.bytes(item);
            (0..=random.below(50)).for_each(|_| data.extend_from_slice(&some));
        }
        data.truncate(count * item);
        data
    }

    fn region(shape: &[usize], random: &mut Random) -> Vec<Span> {
        let span = |&length: &usize| {
            let start = random.below(length);
            let step = 1 + random.below(1 + length / 3);
            Span { start, step, count: 1 + random.below((length - start).div_ceil(step)) }
        };
        shape.iter().map(span).collect()
    }

    fn read(chain: &CodecChain, encoded: &[u8], region: &[Span]) -> Result<Vec<u8>, CodecError> {
        let counts: Vec<usize> = region.iter().map(|span| span.count).collect();
        let mut memory = vec![0; counts.iter().product::<usize>() * chain.chunk().item()];
        let out = ViewMut::contiguous(&mut memory, &counts, chain.chunk().item());
        let fetches =
            chain.read(Window::of_size(encoded.len() as u64), ReadRegion::new(region.into(), out))?;
        resolve(fetches, encoded)?;
        Ok(memory)
    }

    #[test]
    fn parts_are_those_of_the_whole() {
        use BloscCompressor::{BloscLz, Lz4, Lz4Hc, Snappy, Zlib, Zstd};
        let mut random = Random::new(20);
        for compressor in [BloscLz, Lz4, Lz4Hc, Snappy, Zlib, Zstd] {
            for shuffle in [Shuffle::None, Shuffle::Byte, Shuffle::Bit] {
                for (item, level, block) in
                    [(1, 1, 4096), (2, 5, 0), (4, 9, 10_000), (8, 0, 0), (16, 3, 50_000)]
                {
                    let (rows, columns) = (300 + random.below(50), 331_usize.div_ceil(item) * 3);
                    let blosc = Blosc::new(compressor).shuffle(shuffle).level(level).block_size(block);
                    let shape = [rows, columns];
                    let chain = make(
                        &shape.map(|n| n as u64),
                        Storage::Raw(item),
                        blosc.type_size(i32::try_from(item).unwrap()),
                    );
                    let data = numbers(rows * columns, item, &mut random);
                    let encoded = encode(&chain, &data);
                    for _ in 0..8 {
                        let region = region(&shape, &mut random);
                        let found = read(&chain, &encoded, &region).unwrap();
                        assert!(
                            found == slice(&data, &shape, item, &region),
                            "{compressor:?} {shuffle:?} {item} {region:?}"
                        );
                    }
                }
            }
        }
    }

    /// Appends the lengths of the fetches in all rounds to `seen`.
    fn lengths(fetches: Vec<Fetch<'_>>, object: &[u8], seen: &mut Vec<u64>) {
        for fetch in fetches {
            if let Sink::Deferred(mut stage) = fetch.sink {
                lengths(stage.fetches().unwrap(), object, seen);
                stage.finish().unwrap();
                continue;
            }
            seen.push(fetch.range.within(object.len() as u64).unwrap().1);
            let bytes = fetch.range.of(object).unwrap();
            lengths(fetch.complete(bytes).unwrap(), object, seen);
        }
    }

    #[test]
    fn a_nearly_whole_part_takes_one_fetch() {
        let chain = make(&[1000, 100], Storage::Uint(4), Blosc::lz4().block_size(30_000));
        let data = numbers(100_000, 4, &mut Random::new(24));
        let encoded = encode(&chain, &data);
        let rows = |step| {
            [Span { start: 90, step, count: 900_usize.div_ceil(step) }, Span { start: 1, step: 3, count: 30 }]
        };
        for region in [rows(1), rows(4)] {
            let shape = region.map(|span| span.count);
            let mut memory = vec![0; shape.iter().product::<usize>() * 4];
            let out = ViewMut::contiguous(&mut memory, &shape, 4);
            let part = ReadRegion::new(region.as_slice().into(), out);
            let mut seen = Vec::new();
            lengths(chain.read(Window::of_size(encoded.len() as u64), part).unwrap(), &encoded, &mut seen);
            assert_eq!(seen, [encoded.len() as u64]);
            assert!(memory == slice(&data, &[1000, 100], 4, &region));
            for bad in [&encoded[..encoded.len() - 1], &encoded[..10]] {
                assert!(read(&chain, bad, &region).unwrap_err().to_string().contains("codec 'blosc'"));
            }
        }
    }

    #[test]
    fn one_element_takes_one_block() {
        let chain = make(&[8 << 20], Storage::Uint(8), Blosc::lz4().block_size(256 << 10));
        let data: Vec<u8> = (0..256_u32).flat_map(|n| n.to_le_bytes().repeat(1 << 16)).collect();
        let encoded = encode(&chain, &data);
        let span = Span { start: 5_000_000, step: 1, count: 1 };
        let mut element = [0; 8];
        let part = ReadRegion::new([span].into_iter().collect(), ViewMut::contiguous(&mut element, &[1], 8));
        let mut seen = Vec::new();
        lengths(chain.read(Window::of_size(encoded.len() as u64), part).unwrap(), &encoded, &mut seen);
        assert_eq!(element, data[40_000_000..40_000_008]);
        let [head, block] = seen[..] else { panic!("{seen:?}") };
        assert_eq!(head, HEAD);
        let buffer = Buffer::parse(&encoded, Window::of_size(encoded.len() as u64), data.len()).unwrap();
        assert!(buffer.block_count() >= 32, "{}", buffer.block_count());
        let places = buffer.places(&encoded[HEADER..buffer.blocks_start()]).unwrap();
        assert_eq!(block, places[40_000_000 / buffer.sizes.block].len() as u64);
    }

    /// Returns the buffer with its blocks in reverse order. Several threads may write blocks in any order.
    fn reversed(encoded: &[u8], size: usize) -> Vec<u8> {
        let buffer = Buffer::parse(encoded, Window::of_size(encoded.len() as u64), size).unwrap();
        let places = buffer.places(&encoded[HEADER..buffer.blocks_start()]).unwrap();
        let mut other = encoded[..buffer.blocks_start()].to_vec();
        for (block, place) in places.into_iter().enumerate().rev() {
            let start = to_u32(other.len()).unwrap().to_le_bytes();
            other[HEADER + block * START..][..START].copy_from_slice(&start);
            other.extend_from_slice(&encoded[place]);
        }
        other
    }

    #[test]
    fn blocks_may_be_in_any_order() {
        let mut random = Random::new(21);
        let chain = make(&[1000, 100], Storage::Uint(4), Blosc::zstd().block_size(30_000));
        let data = numbers(100_000, 4, &mut random);
        let encoded = reversed(&encode(&chain, &data), data.len());
        for _ in 0..50 {
            let region = region(&[1000, 100], &mut random);
            assert!(read(&chain, &encoded, &region).unwrap() == slice(&data, &[1000, 100], 4, &region));
        }
    }

    #[test]
    fn tables_are_not_trusted() {
        let chain = make(&[100_000], Storage::Uint(4), Blosc::lz4().block_size(30_000));
        let good = encode(&chain, &numbers(100_000, 4, &mut Random::new(22)));
        let blocks = 400_000_usize.div_ceil(30_000);
        let end = u32::try_from(good.len()).unwrap();
        for start in [0, 15, u32::try_from(HEADER + blocks * START - 1).unwrap(), end, end + 1, u32::MAX] {
            let mut bad = good.clone();
            bad[HEADER + START..][..START].copy_from_slice(&start.to_le_bytes());
            let error =
                read(&chain, &bad, &[Span { start: 8_000, step: 1, count: 3 }]).unwrap_err().to_string();
            assert!(error.contains("codec 'blosc'"), "{start}: {error}");
        }
        let mut twice = good.clone();
        twice.copy_within(HEADER..HEADER + START, HEADER + START);
        assert_error(
            read(&chain, &twice, &[Span { start: 0, step: 1, count: 3 }]),
            ErrorKind::Corrupt,
            "the blocks are damaged",
        );
        let mut random = Random::new(23);
        for _ in 0..500 {
            let mut bad = good.clone();
            let place = random.below(HEADER + blocks * START);
            bad[place] ^= 1 << random.below(8);
            let _ = read(&chain, &bad, &region(&[100_000], &mut random));
            let _ = read(&chain, &good[..random.below(good.len())], &region(&[100_000], &mut random));
        }
    }
}
