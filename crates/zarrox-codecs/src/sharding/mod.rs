//! `sharding_indexed`: stores a chunk as a shard of smaller chunks, which are encoded separately, with an index.
//!
//! Specification: <https://zarr-specs.readthedocs.io/en/latest/v3/codecs/sharding-indexed/index.html>
//!
//! | member | value |
//! |---|---|
//! | `chunk_shape` | the shape of the inner chunks; it must evenly divide the shape of the shard |
//! | `codecs` | the codecs of the inner chunks |
//! | `index_codecs` | the codecs of the index; their encoded size must be fixed |
//! | `index_location` | the location of the index: `"start"` or `"end"` (the default) |
//!
//! Name: `sharding_indexed` in v3; v2 has no sharding. In the lenient mode, `index_codecs` defaults to `bytes` (little-endian)
//! and `crc32c`.
//!
//! For each inner chunk, in row-major order, the index contains its offset from the start of the shard and its length. Both are
//! 2^64 − 1 if the inner chunk is not stored because it contains only the fill value. Inner chunks may be in any order, with gaps
//! between them.

pub(crate) mod index;
pub(crate) mod read_budget;
mod recover;
mod repair;
mod table;

use zarrox_core::codec::{
    ArrayAccess, ArrayToBytes, ByteRange, Codec, CodecContext, CodecDef, CodecError, CodecKind,
    EncodeOptions, Fetch, ReadRegion, Size, Window,
};
use zarrox_core::internals::codec::{ChunkTable, InnerChunks, ReadPart, Update, WritePart, resolve};
use zarrox_core::internals::scratch::{Scratch, with_vec};
use zarrox_core::internals::selection::partition::{advance, piece, piece_count};
use zarrox_core::json::json;
use zarrox_core::json::{Json, Map};
use zarrox_core::strided::{Dims, Span, View};
use zarrox_core::{CodecChain, CodecSpec};

use crate::config::{self, codec_to_json};
pub use crate::sharding::index::IndexLocation;
use crate::sharding::index::{EMPTY, ENTRY, Entries, Entry, Index, LOCATIONS};
use crate::sharding::read_budget::ReadBudget;
use crate::{Bytes, Crc32c};

const NAME: &str = "sharding_indexed";

/// The definition of `sharding_indexed`.
pub(crate) static DEF: CodecDef = CodecDef::new(NAME, CodecKind::ArrayToBytes, create);

/// Stores a chunk as a shard of smaller chunks, which can be read individually.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sharding {
    chunk_shape: Vec<u64>,
    codecs: Vec<CodecSpec>,
    index_codecs: Vec<CodecSpec>,
    index_location: IndexLocation,
}

impl Sharding {
    /// Creates the codec for inner chunks of this shape, in elements, with these codecs. The index is at the end, with a
    /// checksum.
    pub fn new(chunk_shape: impl Into<Vec<u64>>, codecs: impl IntoIterator<Item = CodecSpec>) -> Self {
        Self {
            chunk_shape: chunk_shape.into(),
            codecs: codecs.into_iter().collect(),
            index_codecs: default_index_codecs(),
            index_location: IndexLocation::End,
        }
    }

    /// Sets the codecs of the index.
    #[must_use]
    pub fn index_codecs(self, codecs: impl IntoIterator<Item = CodecSpec>) -> Self {
        Self { index_codecs: codecs.into_iter().collect(), ..self }
    }

    /// Sets the location of the index.
    #[must_use]
    pub fn index_location(self, index_location: IndexLocation) -> Self {
        Self { index_location, ..self }
    }
}

impl From<Sharding> for CodecSpec {
    fn from(sharding: Sharding) -> Self {
        let Sharding { chunk_shape, codecs, index_codecs, index_location } = sharding;
        let chunk_shape = Json::from(chunk_shape);
        Self {
            name: NAME.to_owned(),
            configuration: members(&chunk_shape, &codecs, &index_codecs, index_location),
        }
    }
}

fn members(
    chunk_shape: &Json,
    codecs: &[CodecSpec],
    index_codecs: &[CodecSpec],
    location: IndexLocation,
) -> Map {
    let list = |codecs: &[CodecSpec]| codecs.iter().map(codec_to_json).collect::<Vec<_>>();
    config::members(json!({
        "chunk_shape": chunk_shape,
        "codecs": list(codecs),
        "index_codecs": list(index_codecs),
        "index_location": location.name(),
    }))
}

fn default_index_codecs() -> Vec<CodecSpec> {
    vec![Bytes::little().into(), Crc32c::default().into()]
}

fn create(configuration: &Map, context: &CodecContext<'_>) -> Result<Codec, CodecError> {
    const MEMBERS: &[&str] = &["chunk_shape", "codecs", "index_codecs", "index_location"];
    let config = config::read(configuration, context, MEMBERS)?;
    let (shape, grid) = inner_grid(&config.integers("chunk_shape")?, context.chunk.shape())?;
    let inner = context.chunk.with_shape(&shape)?;
    let inner_context = CodecContext { chunk: &inner, ..*context };
    let codecs = config.codecs("codecs", None)?;
    let inner = CodecChain::new(&codecs, &inner_context).map_err(|e| e.at("'codecs'"))?;
    let location = match config.get("index_location") {
        None => IndexLocation::End,
        Some(_) => config.choice("index_location", LOCATIONS, IndexLocation::End)?,
    };
    let codecs = config.codecs("index_codecs", Some(default_index_codecs()))?;
    let index = Index::new(&codecs, &grid, location, context).map_err(|e| e.at("'index_codecs'"))?;
    Ok(Codec::ArrayToBytes(Box::new(ShardingCodec { shape, grid, inner, index })))
}

/// Returns the shape of the inner chunks, and the number of inner chunks along each dimension.
fn inner_grid(inner: &[u64], shard: &[usize]) -> Result<(Vec<usize>, Vec<usize>), CodecError> {
    if inner.len() != shard.len() {
        let message = format!(
            "'chunk_shape' has {} dimensions, but the shard {shard:?} has {}",
            inner.len(),
            shard.len()
        );
        return Err(CodecError::invalid(message));
    }
    let mut shape = Vec::with_capacity(shard.len());
    for (dim, (&inner, &outer)) in inner.iter().zip(shard).enumerate() {
        match usize::try_from(inner) {
            Ok(length) if length > 0 && outer % length == 0 => shape.push(length),
            _ => {
                let message = format!(
                    "'chunk_shape' is {inner} in dimension {dim}; it must divide the length of the shard, {outer}"
                );
                return Err(CodecError::invalid(message));
            }
        }
    }
    let grid = shard.iter().zip(&shape).map(|(outer, inner)| outer / inner).collect();
    Ok((shape, grid))
}

/// The position of an inner chunk in the grid of inner chunks.
type Cell = Dims<usize>;

/// The codec for chunks of one shape and data type.
#[derive(Debug)]
struct ShardingCodec {
    /// The shape of the inner chunks.
    shape: Vec<usize>,
    /// The number of inner chunks along each dimension.
    grid: Vec<usize>,
    inner: CodecChain,
    index: Index,
}

impl ArrayToBytes for ShardingCodec {
    fn configuration(&self) -> Map {
        let shape = Json::from(self.shape.clone());
        members(&shape, &self.inner.specs(), &self.index.chain.specs(), self.index.location)
    }

    fn encoded_size(&self) -> Size {
        let count: usize = self.grid.iter().product();
        let chunks = count.saturating_mul(self.inner.encoded_size().limit());
        Size::AtMost(chunks.saturating_add(self.index.size))
    }

    fn decode(&self, encoded: &[u8], region: ReadRegion<'_>) -> Result<(), CodecError> {
        resolve(self.read(Window::of_size(encoded.len() as u64), region.into())?, encoded)
    }

    fn encode(
        &self,
        chunk: &View<'_>,
        options: EncodeOptions,
        encoded: &mut Vec<u8>,
    ) -> Result<bool, CodecError> {
        self.assemble(options, encoded, |cell, encoded| {
            let span =
                |(&cell, &length): (&usize, &usize)| Span { start: cell * length, step: 1, count: length };
            let region: Dims<Span> = cell.iter().zip(&self.shape).map(span).collect();
            self.inner.encode(&chunk.region(&region), options, encoded)
        })
    }

    fn access(&self) -> ArrayAccess<'_> {
        ArrayAccess::Chunks(self)
    }
}

impl InnerChunks for ShardingCodec {
    fn shape(&self) -> &[usize] {
        &self.shape
    }

    fn read<'a>(&'a self, window: Window, part: ReadPart<'a>) -> Result<Vec<Fetch<'a>>, CodecError> {
        if part.elements().is_empty() {
            return Ok(Vec::new());
        }
        let range = self.index.range(window).map_err(|e| e.at("index").in_codec(NAME))?;
        let index = Fetch::then(range, move |index| {
            self.read_chunks(index, window, part).map_err(|e| e.in_codec(NAME))
        });
        Ok(vec![index.kept()])
    }

    fn update(
        &self,
        existing: Option<&[u8]>,
        part: &WritePart<'_>,
        options: EncodeOptions,
        encoded: &mut Vec<u8>,
    ) -> Result<Update, CodecError> {
        let stored = match existing {
            Some(bytes) => self.update_stored(bytes, part, options, encoded),
            None => self.update_chunks(part, options, encoded, |_| Ok(None)),
        };
        stored.map_err(|e| e.in_codec(NAME))
    }

    fn table(&self) -> Option<&dyn ChunkTable> {
        Some(self)
    }
}

impl ShardingCodec {
    /// Returns the fetches for the inner chunks that a region intersects.
    fn read_chunks<'a>(
        &'a self,
        index: &[u8],
        window: Window,
        part: ReadPart<'a>,
    ) -> Result<Vec<Fetch<'a>>, CodecError> {
        let mut reading = Reading::new(self, index, window, &part.elements().bounding_box(self.shape.len()))?;
        part.divide(&self.shape, |cell, mut part| {
            let Some(stored) = reading.locate(cell)? else {
                part.fill(self.inner.chunk().fill().as_bytes());
                return Ok(());
            };
            reading.add(cell.into(), self.inner.read(stored, part))
        })?;
        Ok(reading.fetches)
    }

    /// Returns the position of an inner chunk in the stored object, or `None` if the inner chunk is not stored.
    fn locate(&self, shard: Window, (offset, length): Entry) -> Result<Option<Window>, CodecError> {
        if (offset, length) == EMPTY {
            return Ok(None);
        }
        if offset == u64::MAX || length == u64::MAX {
            let message = format!(
                "the index has offset {offset} and length {length}: only one of them marks an empty chunk"
            );
            return Err(CodecError::corrupt(message));
        }
        // A damaged index must not cause reads of more bytes than an inner chunk can have. A nested shard may contain gaps, and
        // is not fetched as a whole.
        let limit = self.inner.encoded_size().limit() as u64;
        if length > limit && self.inner.inner_chunk_shape().is_none() {
            let message = format!(
                "the index gives an inner chunk {length} bytes, but such a chunk has at most {limit}"
            );
            return Err(CodecError::corrupt(message));
        }
        match shard.part(offset, length) {
            Ok(ByteRange::From { offset, length }) => Ok(Some(Window { offset, length })),
            Ok(range) => Err(CodecError::corrupt(format!("{range} is not inside of a shard"))),
            Err(error) => Err(error.at("the index points outside of the shard")),
        }
    }

    /// Writes a shard. `encode_chunk` appends each inner chunk, and returns false if the inner chunk is not stored.
    fn assemble(
        &self,
        options: EncodeOptions,
        encoded: &mut Vec<u8>,
        mut encode_chunk: impl FnMut(&[usize], &mut Vec<u8>) -> Result<bool, CodecError>,
    ) -> Result<bool, CodecError> {
        let base = encoded.len();
        if self.index.location == IndexLocation::Start {
            encoded.resize(base + self.index.size, 0);
        }
        let mut entries = Scratch::with_len(self.index.chain.chunk().size())?;
        entries.fill(0xff);
        let mut cell = Cell::from_elem(0, self.grid.len());
        let mut any = false;
        for entry in entries.chunks_exact_mut(ENTRY) {
            let start = encoded.len();
            if encode_chunk(&cell, encoded).map_err(|e| e.at_inner_chunk(&cell))? {
                let numbers = [(start - base) as u64, (encoded.len() - start) as u64];
                entry.copy_from_slice(numbers.map(u64::to_ne_bytes).as_flattened());
                any = true;
            }
            advance(&mut cell, &self.grid, |_| 0);
        }
        if !any && !options.store_empty_chunks {
            encoded.truncate(base);
            return Ok(false);
        }
        match self.index.location {
            IndexLocation::End => self.index.encode(&entries, encoded)?,
            IndexLocation::Start => with_vec(|index| {
                self.index.encode(&entries, index)?;
                encoded[base..base + index.len()].copy_from_slice(index);
                Ok::<_, CodecError>(())
            })?,
        }
        Ok(true)
    }

    /// Rejects shards larger than the limit: if entries of a damaged index overlap, the rewritten shard could be far larger than
    /// the stored one.
    fn check_room(&self, size: usize) -> Result<(), CodecError> {
        let limit = self.inner.limit();
        if size <= limit {
            return Ok(());
        }
        Err(CodecError::limit(format!("the encoded shard would take more than the limit of {limit} bytes")))
    }

    fn update_stored(
        &self,
        existing: &[u8],
        part: &WritePart<'_>,
        options: EncodeOptions,
        encoded: &mut Vec<u8>,
    ) -> Result<Update, CodecError> {
        let window = Window::of_size(existing.len() as u64);
        let index = self.index.range(window).map_err(|e| e.at("index"))?.of(existing)?;
        let entries = self.index.entries(index, self.grid.iter().map(|&count| Span::all(count)).collect())?;
        let (base, mut budget) = (encoded.len(), ReadBudget::new(window, &self.inner));
        self.update_chunks(part, options, encoded, |(cell, encoded)| {
            self.check_room(encoded - base)?;
            let Some(stored) = self.locate(window, entries.get(cell))? else { return Ok(None) };
            budget.add(stored)?;
            stored.of(existing).map(Some)
        })
    }

    /// Re-encodes a shard in which a region was changed. `stored` is called with the position of an inner chunk and the current
    /// length of `encoded`, and returns the stored bytes of the inner chunk.
    fn update_chunks<'e>(
        &self,
        part: &WritePart<'_>,
        options: EncodeOptions,
        encoded: &mut Vec<u8>,
        mut stored: impl FnMut((&[usize], usize)) -> Result<Option<&'e [u8]>, CodecError>,
    ) -> Result<Update, CodecError> {
        let (base, mut unchanged) = (encoded.len(), true);
        let parts = part.divided(&self.shape);
        let any = self.assemble(options, encoded, |cell, encoded| {
            let (stored, start) = (stored((cell, encoded.len()))?, encoded.len());
            let update = match parts.within(cell) {
                Some(part) => self.inner.update(stored, &part, options, encoded)?,
                None => Update::Unchanged,
            };
            if update == Update::Unchanged {
                encoded.extend_from_slice(stored.unwrap_or_default());
                return Ok(stored.is_some());
            }
            let now = (update == Update::Encoded).then(|| &encoded[start..]);
            unchanged = unchanged && now == stored;
            Ok(now.is_some())
        })?;
        if unchanged {
            encoded.truncate(base);
            return Ok(Update::Unchanged);
        }
        Ok(Update::of_encoded(any))
    }
}

/// The reading of inner chunks once the index is known.
struct Reading<'a> {
    codec: &'a ShardingCodec,
    shard: Window,
    entries: Entries,
    budget: ReadBudget,
    fetches: Vec<Fetch<'a>>,
}

impl<'a> Reading<'a> {
    /// Prepares to read the inner chunks that a non-empty region intersects.
    fn new(
        codec: &'a ShardingCodec,
        index: &[u8],
        shard: Window,
        region: &[Span],
    ) -> Result<Self, CodecError> {
        let cells = region.iter().zip(&codec.shape).map(|(&span, &length)| touched(span, length)).collect();
        let entries = codec.index.entries(index, cells)?;
        let budget = ReadBudget::new(shard, &codec.inner);
        Ok(Self { codec, shard, entries, budget, fetches: Vec::new() })
    }

    /// Returns the position of an inner chunk in the stored object, if the inner chunk is stored.
    fn locate(&mut self, cell: &[usize]) -> Result<Option<Window>, CodecError> {
        let located = self.codec.locate(self.shard, self.entries.get(cell));
        let located = located.map_err(|e| e.at_inner_chunk(cell))?;
        if let Some(window) = located {
            self.budget.add(window)?;
        }
        Ok(located)
    }

    /// Adds the fetches of an inner chunk.
    fn add(&mut self, cell: Cell, fetches: Result<Vec<Fetch<'a>>, CodecError>) -> Result<(), CodecError> {
        let fetches = fetches.map_err(|e| e.at_inner_chunk(&cell))?;
        let explain = move |e: CodecError| e.at_inner_chunk(&cell).in_codec(NAME);
        self.fetches.extend(fetches.into_iter().map(|fetch| fetch.map_err(explain.clone())));
        Ok(())
    }
}

/// Returns the span of inner chunks from the first to the last that a non-empty span intersects.
fn touched(span: Span, length: usize) -> Span {
    let first = piece(span, length, 0).chunk;
    let last = piece(span, length, piece_count(span, length) - 1).chunk;
    Span { start: first, step: 1, count: last - first + 1 }
}

#[cfg(test)]
mod tests {
    use zarrox_core::Strictness;
    use zarrox_core::data_type::Storage;
    use zarrox_core::strided::ViewMut;
    use zarrox_testkit::codec::{Integrity, array_suite};

    use super::*;
    use crate::registry;
    use crate::testing::{chain, chunk, decode_chunk, hex, spec};
    use crate::{Bz2, Transpose};
    use zarrox_core::ErrorKind;
    use zarrox_testkit::errors::assert_error;

    /// Returns an inner chunk shape with at most three elements along each axis: 2 × 2 × … if possible.
    fn inner(shape: &[u64]) -> Vec<u64> {
        let divisor = |&length: &u64| [2, 3, 5, 7].into_iter().find(|d| length % d == 0).unwrap_or(1);
        shape.iter().map(divisor).collect()
    }

    const SHAPES: &[&[u64]] = &[&[], &[1], &[7], &[4, 6], &[4, 1, 6], &[2, 9, 4, 2]];

    #[test]
    fn suite_of_plain_inner_chunks() {
        for location in [IndexLocation::Start, IndexLocation::End] {
            array_suite(&registry(), SHAPES, Integrity::Unchecked, |shape| {
                let codecs = [Bytes::big().into()];
                let index = [Bytes::big().into()];
                vec![Sharding::new(inner(shape), codecs).index_codecs(index).index_location(location).into()]
            });
        }
    }

    #[test]
    fn suite_of_checked_inner_chunks() {
        for location in [IndexLocation::Start, IndexLocation::End] {
            array_suite(&registry(), SHAPES, Integrity::Checked, |shape| {
                let codecs = [Bytes::little().into(), Bz2::level(1).into(), Crc32c::default().into()];
                vec![Sharding::new(inner(shape), codecs).index_location(location).into()]
            });
        }
    }

    #[test]
    fn suite_of_nested_and_transposed_shards() {
        array_suite(&registry(), &[&[4, 8], &[8, 12]], Integrity::Unchecked, |_| {
            let innermost = Sharding::new([1, 2], [Transpose::order([1, 0]).into(), Bytes::little().into()]);
            let middle = Sharding::new([4, 2], [Transpose::order([1, 0]).into(), innermost.into()]);
            vec![Transpose::order([1, 0]).into(), middle.into()]
        });
        array_suite(&registry(), &[&[4, 6]], Integrity::Checked, |_| {
            let sharding = Sharding::new([2, 2], [Bytes::little().into(), Crc32c::default().into()]);
            vec![sharding.into(), Crc32c::default().into()]
        });
    }

    fn make(configuration: Json, strictness: Strictness) -> Result<CodecChain, CodecError> {
        chain(&[spec(NAME, configuration)], &chunk(&[4, 4], Storage::Uint(2)), &registry(), strictness)
    }

    fn little() -> Json {
        json!([{"name": "bytes", "configuration": {"endian": "little"}}])
    }

    /// Returns the numbers 0 to 15, except that the lower left inner chunk is all zeros.
    fn numbers() -> Vec<u8> {
        [0_u16, 1, 2, 3, 4, 5, 6, 7, 0, 0, 10, 11, 0, 0, 14, 15]
            .into_iter()
            .flat_map(u16::to_ne_bytes)
            .collect()
    }

    /// zarr-python: `ShardingCodec(chunk_shape=(2, 2), codecs=[BytesCodec(endian='little')])`
    const END: &str = "000001000400050002000300060007000a000b000e000f000000000000000000080000000000000008000000\
         000000000800000000000000ffffffffffffffffffffffffffffffff10000000000000000800000000000000\
         4bcf75e4";
    /// zarr-python: `codecs=[BytesCodec(endian='big'), Crc32cCodec()]`, `index_location='start'`,
    /// `index_codecs=[BytesCodec(endian='big')]`
    const START: &str = "0000000000000040000000000000000c000000000000004c000000000000000cffffffffffffffffffffffff\
         ffffffff0000000000000058000000000000000c0000000100040005206d161f000200030006000712c96611\
         000a000b000e000fda59a428";
    /// zarr-python: `chunk_shape=(4, 2)`, `codecs=[TransposeCodec(order=(1, 0)), …]` with the codec of `END` in it
    const NESTED: &str = "000004000100050000000000000000000800000000000000ffffffffffffffffffffffffffffffff1559ede7\
         02000600030007000a000e000b000f0000000000000000000800000000000000080000000000000008000000\
         0000000012a46c8100000000000000002c000000000000002c000000000000003400000000000000c02a296d";

    fn golden() -> [(Json, &'static str); 3] {
        let crc32c = json!({"name": "crc32c"});
        let bytes = |endian: &str| json!({"name": "bytes", "configuration": {"endian": endian}});
        let index = json!([bytes("little"), crc32c]);
        let end = |shape: [u8; 2], codecs: Json| {
            let mut end = json!({"chunk_shape": shape, "codecs": codecs, "index_codecs": index});
            end["index_location"] = Json::from("end");
            end
        };
        let start = json!({"chunk_shape": [2, 2], "codecs": [bytes("big"), crc32c], "index_codecs": [bytes("big")],
            "index_location": "start"});
        let transpose = json!({"name": "transpose", "configuration": {"order": [1, 0]}});
        let nested = json!({"name": NAME, "configuration": end([2, 2], little())});
        [(end([2, 2], little()), END), (start, START), (end([4, 2], json!([transpose, nested])), NESTED)]
    }

    #[test]
    fn golden_shards() {
        for (configuration, golden) in golden() {
            let chain = make(configuration.clone(), Strictness::Strict).unwrap();
            assert_eq!(Json::Object(chain.specs().remove(0).configuration), configuration);
            assert_eq!(decode_chunk(&chain, &hex(golden)).unwrap(), numbers());
            let mut encoded = Vec::new();
            let numbers = numbers();
            let view = View::contiguous(&numbers, &[4, 4], 2);
            assert!(chain.encode(&view, EncodeOptions::default(), &mut encoded).unwrap());
            assert_eq!(encoded, hex(golden));
        }
    }

    #[test]
    fn untouched_inner_chunks_are_copied() {
        let configuration = json!({"chunk_shape": [2, 2], "codecs": little(), "index_codecs": little()});
        let chain = make(configuration, Strictness::Lenient).unwrap();
        // The inner chunks are in an unusual order, with gaps, and two of them share their bytes.
        let entries: [u64; 8] = [20, 8, 3, 8, u64::MAX, u64::MAX, 3, 8];
        let stored =
            [(0..40).collect::<Vec<u8>>(), entries.into_iter().flat_map(u64::to_le_bytes).collect()].concat();
        let before = decode_chunk(&chain, &stored).unwrap();
        let source = [0xff; 2];
        let region = [Span { start: 0, step: 1, count: 1 }; 2].into_iter().collect();
        let part = WritePart::of_region(region, View::contiguous(&source, &[1, 1], 2));
        let mut encoded = Vec::new();
        let update = chain.update(Some(&stored), &part, EncodeOptions::default(), &mut encoded);
        assert_eq!(update.unwrap(), Update::Encoded);
        assert_eq!(&encoded[8..24], [&stored[3..11], &stored[3..11]].concat());
        let after = decode_chunk(&chain, &encoded).unwrap();
        assert_eq!((&after[..2], &after[2..]), (&[0xff, 0xff][..], &before[2..]));
        // A shard that already contains the data is not rewritten, regardless of the order of its inner chunks.
        for shape in [[1, 1], [2, 2], [2, 3]] {
            let region: Dims<Span> = shape.iter().map(|&count| Span::all(count)).collect();
            let whole = View::contiguous(&before, &[4, 4], 2);
            let part = WritePart::of_region(region.clone(), whole.region(&region));
            let mut encoded = vec![9];
            let update = chain.update(Some(&stored), &part, EncodeOptions::default(), &mut encoded);
            assert_eq!((update.unwrap(), encoded), (Update::Unchanged, vec![9]));
        }
    }

    #[test]
    fn a_false_index_entry_names_the_inner_chunk() {
        let configuration = json!({"chunk_shape": [2, 2], "codecs": little(), "index_codecs": little()});
        let chain = make(configuration, Strictness::Lenient).unwrap();
        let error = |offset: u64, length: u64| {
            let entries = [0, 8, 8, 8, offset, length, 0, 8].map(u64::to_le_bytes);
            let shard = [&[0; 16], entries.as_flattened()].concat();
            decode_chunk(&chain, &shard).unwrap_err().to_string()
        };
        let max = u64::MAX;
        let lies = [
            (0, max, "only one of them"),
            (max, 8, "only one of them"),
            (80, 8, "outside"),
            (max - 3, 8, "outside"),
            (0, max - 1, "at most"),
            (0, 9, "at most"),
            (0, 7, "truncated: 7 bytes are stored, but a chunk has 8"),
        ];
        for (offset, length, says) in lies {
            let error = error(offset, length);
            assert!(error.starts_with("codec 'sharding_indexed': inner chunk [1, 0]: "), "{error}");
            assert!(error.contains(says), "{error}");
        }
    }

    #[test]
    fn only_touched_inner_chunks_are_fetched() {
        let configuration = json!({"chunk_shape": [1, 1], "codecs": little()});
        let chain = chain(
            &[spec(NAME, configuration)],
            &chunk(&[300, 300], Storage::Uint(2)),
            &registry(),
            Strictness::Lenient,
        )
        .unwrap();
        let data: Vec<u8> = (1..=45_000_u16).cycle().take(90_000).flat_map(u16::to_ne_bytes).collect();
        let mut encoded = Vec::new();
        chain
            .encode(&View::contiguous(&data, &[300, 300], 2), EncodeOptions::default(), &mut encoded)
            .unwrap();
        let region = [Span { start: 7, step: 100, count: 3 }, Span { start: 250, step: 1, count: 2 }];
        let mut found = [0; 12];
        let out = ViewMut::contiguous(&mut found, &[3, 2], 2);
        let window = Window { offset: 0, length: None };
        let part = ReadRegion::new(region.into_iter().collect(), out);
        let [index] = chain.read(window, part).unwrap().try_into().unwrap();
        assert!(index.range == ByteRange::Suffix { length: 90_000 * 16 + 4 });
        let then = index.complete(&encoded[180_000..]).unwrap();
        assert_eq!(then.len(), 6);
        zarrox_core::internals::codec::resolve(then, &encoded).unwrap();
        assert_eq!(found.to_vec(), zarrox_testkit::codec::slice(&data, &[300, 300], 2, &region));
    }

    #[test]
    fn configurations() {
        let complete = json!({"chunk_shape": [2, 2], "codecs": little(), "index_codecs":
            [little()[0], {"name": "crc32c"}], "index_location": "end"});
        let partial = json!({"chunk_shape": [2.0, 2], "codecs": ["bytes"]});
        let lenient = make(partial.clone(), Strictness::Lenient).unwrap().specs().remove(0);
        assert_eq!(Json::Object(lenient.configuration), complete);
        assert_error(make(partial, Strictness::Strict), ErrorKind::InvalidMetadata, "'chunk_shape'");
        let mut strict = complete;
        strict.as_object_mut().unwrap().remove("index_location");
        assert!(make(strict.clone(), Strictness::Strict).is_ok());
        let mut null = strict.clone();
        null["codecs"].as_array_mut().unwrap()[0] = json!({"name": "crc32c", "configuration": null});
        assert!(make(null, Strictness::Strict).unwrap_err().to_string().contains("'codecs' is"));
        strict.as_object_mut().unwrap().remove("index_codecs");
        let error = make(strict, Strictness::Strict).unwrap_err().to_string();
        assert_eq!(error, "codec 'sharding_indexed': the configuration lacks 'index_codecs'");
    }

    #[test]
    fn bad_configurations_say_why() {
        let with = |name: &str, value: Json| {
            let mut configuration = json!({"chunk_shape": [2, 2], "codecs": little()});
            configuration[name] = value;
            make(configuration, Strictness::Lenient).unwrap_err().to_string()
        };
        for (shape, says) in [
            (json!([2]), "has 1 dimensions"),
            (json!([2, 3]), "is 3 in dimension 1; it must divide the length of the shard, 4"),
            (json!([0, 2]), "is 0 in dimension 0"),
            (json!([8, 2]), "is 8 in dimension 0"),
            (json!(2), "expected a list of integers"),
        ] {
            let error = with("chunk_shape", shape);
            assert!(error.contains(says), "{error}");
        }
        assert!(with("codecs", json!([])).contains("'codecs': no codec turns the array into bytes"));
        assert!(with("codecs", json!([{"configuration": {}}])).contains("list of codecs"));
        assert!(with("codecs", json!(["nosuch"])).contains("unknown codec 'nosuch'"));
        assert!(with("index_location", json!("middle")).contains("one of start, end"));
        let error = with("index_codecs", json!([little()[0], {"name": "numcodecs.bz2"}]));
        assert_eq!(
            error,
            "codec 'sharding_indexed': 'index_codecs': 'numcodecs.bz2' does not encode to a fixed size, which an index needs"
        );
    }

    #[test]
    fn a_huge_index_is_refused() {
        let spec = spec(NAME, json!({"chunk_shape": [1, 1], "codecs": little()}));
        let chunk = chunk(&[1 << 20, 1 << 20], Storage::Uint(1));
        let error = chain(&[spec], &chunk, &registry(), Strictness::Lenient).unwrap_err().to_string();
        assert!(error.contains("the index takes 17592186044416 bytes, and the limit is"), "{error}");
    }
}
