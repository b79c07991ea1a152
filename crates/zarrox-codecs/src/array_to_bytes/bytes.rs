//! `bytes`: stores the elements in row-major order, in a given byte order.
//!
//! Specification: <https://zarr-specs.readthedocs.io/en/latest/v3/codecs/bytes/index.html>
//!
//! | member | value |
//! |---|---|
//! | `endian` | `"little"` or `"big"`; required if elements have more than one byte |
//!
//! Names: `bytes` in v3 (`endian` before 2023, which is read as well). In v2, the byte order is part of the data type. In the
//! lenient mode, `endian` defaults to `"little"`.

use zarrox_core::CodecSpec;
use zarrox_core::codec::{
    ArrayAccess, ArrayToBytes, ChunkSpec, Codec, CodecContext, CodecDef, CodecError, CodecKind,
    EncodeOptions, Fetch, ReadRegion, RegionRanges, Size, Window,
};
use zarrox_core::data_type::{Endian, Storage};
use zarrox_core::internals::codec::InPlace;
use zarrox_core::internals::codec::coalesce::{BLOCK, BLOCK_TRANSPOSED, DIRECT, DIRECT_MAX, GAP};
use zarrox_core::internals::data_type::{ByteOrder, Leaf};
use zarrox_core::internals::selection::partition::split_mut;
use zarrox_core::internals::strided::contiguous_strides;
use zarrox_core::json::json;
use zarrox_core::json::{Json, Map};
use zarrox_core::strided::{Dims, Span, View, ViewMut};

use crate::array_to_bytes::vlen::check_present;
use crate::config;

const NAME: &str = "bytes";

/// The definition of `bytes`.
pub(crate) static DEF: CodecDef = CodecDef::new(NAME, CodecKind::ArrayToBytes, create).aliases(&["endian"]);

/// Stores elements as bytes, in a given byte order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bytes {
    endian: Endian,
}

impl Bytes {
    /// Stores the least significant byte first. Nearly all data have this byte order.
    pub fn little() -> Self {
        Self { endian: Endian::Little }
    }

    /// Stores the most significant byte first.
    pub fn big() -> Self {
        Self { endian: Endian::Big }
    }

    /// Stores elements in the byte order of the machine.
    pub fn native() -> Self {
        Self { endian: Endian::NATIVE }
    }
}

impl From<Bytes> for CodecSpec {
    fn from(bytes: Bytes) -> Self {
        Self::new(NAME, json!({"endian": bytes.endian.name()}))
    }
}

fn create(configuration: &Map, context: &CodecContext<'_>) -> Result<Codec, CodecError> {
    const ENDIANS: &[(&str, Endian)] = &[("little", Endian::Little), ("big", Endian::Big)];
    let config = config::read(configuration, context, &["endian"])?;
    let chunk = context.chunk.clone();
    check_present(&chunk)?;
    if chunk.is_variable() {
        let message = "elements of variable length need another codec, such as vlen-utf8 or vlen-bytes";
        return Err(CodecError::invalid(message));
    }
    let order = match (config.get("endian"), chunk.storage()) {
        (None, storage) if storage.word() == 1 => None,
        // A list never occurs in v3 metadata. It comes from v2, in which each field has its own byte order.
        (Some(list @ Json::Array(_)), Storage::Struct(_)) => Some(each_order(list, chunk.storage())?),
        _ => Some(ByteOrder::One(config.choice("endian", ENDIANS, Endian::Little)?)),
    };
    let swapped = order.as_ref().map(|order| order.swapped(chunk.storage())).unwrap_or_default();
    let (word, fields) = match (swapped.as_slice(), chunk.storage()) {
        (_, Storage::Struct(_)) => (1, swapped),
        ([all], _) => (all.word, Vec::new()),
        _ => (1, Vec::new()),
    };
    // The member has no effect if no number has more than one byte. It is kept for raw bytes, because it may apply to fields
    // inside them.
    let order = order.filter(|_| chunk.item() > 1);
    Ok(Codec::ArrayToBytes(Box::new(BytesCodec { chunk, order, word, fields })))
}

fn each_order(list: &Json, storage: &Storage) -> Result<ByteOrder, CodecError> {
    let ordered = storage.leaves().iter().filter(|leaf| leaf.word > 1).count();
    match ByteOrder::from_json(list) {
        Some(ByteOrder::Each(each)) if each.len() == ordered => Ok(ByteOrder::Each(each)),
        _ => Err(CodecError::invalid(format!(
            "'endian' should have a byte order for each of {ordered} numbers"
        ))),
    }
}

/// The codec for chunks of one shape and data type.
#[derive(Debug)]
struct BytesCodec {
    chunk: ChunkSpec,
    order: Option<ByteOrder>,
    /// The number of bytes that are reversed as a unit. It is 1 if stored elements are the same as in memory, and for structured
    /// data types.
    word: usize,
    /// The parts of a structured element whose bytes are reversed.
    fields: Vec<Leaf>,
}

impl ArrayToBytes for BytesCodec {
    fn configuration(&self) -> Map {
        self.order
            .as_ref()
            .map_or_else(Map::default, |order| config::members(json!({"endian": order.to_json()})))
    }

    fn encoded_size(&self) -> Size {
        Size::Exact(self.chunk.size())
    }

    fn decode(&self, encoded: &[u8], mut part: ReadRegion<'_>) -> Result<(), CodecError> {
        self.check_size(encoded.len() as u64)?;
        let whole = View::contiguous(encoded, self.chunk.shape(), self.chunk.item());
        self.copy(&whole.region(&part.region), &mut part.out);
        Ok(())
    }

    fn encode(
        &self,
        chunk: &View<'_>,
        _options: EncodeOptions,
        encoded: &mut Vec<u8>,
    ) -> Result<bool, CodecError> {
        let start = encoded.len();
        encoded.try_reserve(self.chunk.size())?;
        chunk.append_to(encoded, self.word);
        self.swap_fields(&mut ViewMut::contiguous(&mut encoded[start..], chunk.shape(), chunk.item()));
        Ok(true)
    }

    fn access(&self) -> ArrayAccess<'_> {
        ArrayAccess::InPlace(self)
    }
}

impl RegionRanges for BytesCodec {
    fn read<'a>(&'a self, window: Window, part: ReadRegion<'a>) -> Result<Vec<Fetch<'a>>, CodecError> {
        if let Some(length) = window.length {
            self.check_size(length)?;
        }
        if part.region.iter().any(|span| span.count == 0) {
            return Ok(Vec::new());
        }
        let layout = Selected::new(self.chunk.shape(), self.chunk.item(), &part.region);
        let mut out = part.out;
        let (blocks, direct) = layout.plan(&mut out, self.stores_memory());
        let all: Dims<Span> = layout.counts.iter().map(|&count| Span::all(count)).collect();
        let mut fetches = Vec::with_capacity(layout.block_count(&blocks));
        split_mut(&all, &blocks, out, |pieces, out| {
            let offset: usize = pieces.iter().zip(&layout.steps).map(|(piece, step)| piece.out * step).sum();
            let extent = layout.extent(out.shape());
            let range = window.part((layout.start + offset) as u64, extent as u64)?;
            let out = match if direct { out.into_slice() } else { Err(out) } {
                Ok(memory) => {
                    fetches.push(Fetch::into(range, memory));
                    return Ok(());
                }
                Err(out) => out,
            };
            let strides: Dims<isize> = layout.steps.iter().map(|step| step.cast_signed()).collect();
            fetches.push(Fetch::then(range, move |bytes| {
                self.scatter(bytes, extent, &strides, out).map(|()| Vec::new())
            }));
            Ok::<_, CodecError>(())
        })?;
        Ok(fetches)
    }
}

impl InPlace for BytesCodec {
    fn decode_in_place(&self, chunk: &mut [u8]) {
        match self.word {
            1 => {}
            2 => swap::<2>(chunk),
            4 => swap::<4>(chunk),
            8 => swap::<8>(chunk),
            word => chunk.chunks_exact_mut(word).for_each(<[u8]>::reverse),
        }
        self.swap_fields(&mut ViewMut::contiguous(chunk, self.chunk.shape(), self.chunk.item()));
    }

    fn stores_memory(&self) -> bool {
        self.word == 1 && self.fields.is_empty()
    }
}

/// Reverses every `N` bytes. The constant length allows the compiler to vectorise the loop.
fn swap<const N: usize>(bytes: &mut [u8]) {
    bytes.as_chunks_mut::<N>().0.iter_mut().for_each(|word| word.reverse());
}

impl BytesCodec {
    /// Copies stored elements to memory.
    fn copy(&self, stored: &View<'_>, out: &mut ViewMut<'_>) {
        out.copy_from(stored, self.word);
        self.swap_fields(out);
    }

    /// Converts the fields of structured elements from one byte order to the other.
    fn swap_fields(&self, elements: &mut ViewMut<'_>) {
        for leaf in &self.fields {
            elements.reborrow().into_field(leaf.offset, leaf.size).reverse_words(leaf.word);
        }
    }

    fn check_size(&self, stored: u64) -> Result<(), CodecError> {
        let size = self.chunk.size();
        if stored == size as u64 {
            return Ok(());
        }
        let what = if stored < size as u64 { "truncated" } else { "too long" };
        Err(CodecError::corrupt(format!("{what}: {stored} bytes are stored, but a chunk has {size}")))
    }

    /// Copies the elements of a fetched block to their destinations.
    fn scatter(
        &self,
        bytes: &[u8],
        extent: usize,
        strides: &[isize],
        mut out: ViewMut<'_>,
    ) -> Result<(), CodecError> {
        if bytes.len() < extent {
            let message = format!("truncated: {} bytes arrived, but {extent} are needed", bytes.len());
            return Err(CodecError::corrupt(message));
        }
        let block = View::of_strided(bytes, out.shape(), strides, self.chunk.item());
        self.copy(&block, &mut out);
        Ok(())
    }
}

/// The positions of a region's elements in the stored chunk, in bytes or in units of the given element size. All dimensions are
/// non-empty.
pub(crate) struct Selected {
    pub(crate) start: usize,
    counts: Dims<usize>,
    pub(crate) steps: Dims<usize>,
    item: usize,
}

impl Selected {
    pub(crate) fn new(shape: &[usize], item: usize, region: &[Span]) -> Self {
        let strides = contiguous_strides(shape, item);
        let strides = strides.iter().map(|stride| stride.unsigned_abs());
        let start = region.iter().zip(strides.clone()).map(|(span, stride)| span.start * stride).sum();
        let counts = region.iter().map(|span| span.count).collect();
        let step = |(span, stride): (&Span, usize)| if span.count > 1 { span.step * stride } else { stride };
        let steps = region.iter().zip(strides).map(step).collect();
        Self { start, counts, steps, item }
    }

    /// Returns the number of positions along each dimension that one fetch reads, and whether fetches may read directly into
    /// `out`.
    fn plan(&self, out: &mut ViewMut<'_>, same_bytes: bool) -> (Dims<usize>, bool) {
        let innermost = (0..self.counts.len()).rev().find(|&dim| self.counts[dim] > 1);
        let limit = if out.fastest_axis() == innermost { BLOCK } else { BLOCK_TRANSPOSED };
        let scattered = self.blocks(GAP, limit);
        if !same_bytes {
            return (scattered, false);
        }
        let mut direct = self.blocks(0, DIRECT_MAX);
        while !self.is_contiguous(&direct, out) {
            let Some(outermost) = direct.iter_mut().find(|count| **count > 1) else { break };
            *outermost = 1;
        }
        if self.extent(&direct) >= DIRECT || self.block_count(&direct) <= self.block_count(&scattered) {
            return (direct, true);
        }
        (scattered, false)
    }

    /// Returns the shape of the largest blocks whose gaps are at most `gap` and whose extent is at most `limit`.
    pub(crate) fn blocks(&self, gap: usize, limit: usize) -> Dims<usize> {
        let mut blocks = Dims::from_elem(1, self.counts.len());
        let mut extent = self.item;
        for (dim, (&count, &step)) in self.counts.iter().zip(&self.steps).enumerate().rev() {
            if count == 1 {
                continue;
            }
            if step - extent > gap {
                break;
            }
            blocks[dim] = count.min(limit.saturating_sub(extent) / step + 1);
            if blocks[dim] < count {
                break;
            }
            extent += (count - 1) * step;
        }
        blocks
    }

    /// Returns true if the first block, and therefore every block, is contiguous in the output.
    fn is_contiguous(&self, blocks: &[usize], out: &mut ViewMut<'_>) -> bool {
        let first: Dims<Span> = blocks.iter().map(|&count| Span::all(count)).collect();
        out.reborrow().into_region(&first).is_contiguous()
    }

    /// Returns the number of bytes from the first to the last of this many positions along each dimension.
    pub(crate) fn extent(&self, counts: &[usize]) -> usize {
        let last: usize = counts.iter().zip(&self.steps).map(|(count, step)| (count - 1) * step).sum();
        last + self.item
    }

    fn block_count(&self, blocks: &[usize]) -> usize {
        self.counts.iter().zip(blocks).map(|(count, block)| count.div_ceil(*block)).product()
    }
}

#[cfg(test)]
mod tests {
    use zarrox_core::codec::ByteRange;
    use zarrox_core::data_type::Storage;
    use zarrox_core::internals::codec::{Encoded, Sink, Update, WritePart};
    use zarrox_core::json::Json;
    use zarrox_core::{CodecChain, CodecSpec, Strictness};
    use zarrox_testkit::codec::{Integrity, array_suite};

    use super::*;
    use crate::registry;
    use crate::testing::{chain, chunk, decode_chunk, spec};
    use zarrox_core::ErrorKind;
    use zarrox_testkit::errors::assert_error;

    #[test]
    fn suite() {
        for bytes in [Bytes::little(), Bytes::big(), Bytes::native()] {
            let shapes: &[&[u64]] = &[&[], &[1], &[7], &[4, 6], &[3, 1, 5, 4], &[40, 3000]];
            array_suite(&registry(), shapes, Integrity::Unchecked, |_| vec![bytes.into()]);
        }
    }

    fn make(shape: &[u64], storage: Storage, endian: &str) -> CodecChain {
        chain(
            &[spec(NAME, json!({"endian": endian}))],
            &chunk(shape, storage),
            &registry(),
            Strictness::Strict,
        )
        .unwrap()
    }

    /// Returns the stored bytes in one piece, and whether some of them lie in `buffer`.
    fn encoded(chain: &CodecChain, view: &View<'_>) -> (Option<Vec<u8>>, bool) {
        let mut buffer = Vec::new();
        let stored = match chain.encoded(view, EncodeOptions::default(), &mut buffer).unwrap() {
            Encoded::Nothing => None,
            Encoded::Bytes(bytes) => Some(bytes.to_vec()),
            Encoded::Blocks(blocks) => {
                let mut all = Vec::with_capacity(blocks.length());
                let Ok(()) = blocks.each(|block| {
                    all.extend_from_slice(block);
                    Ok::<_, std::convert::Infallible>(())
                });
                assert_eq!(all.len(), blocks.length());
                Some(all)
            }
        };
        (stored, !buffer.is_empty())
    }

    #[test]
    fn a_chunk_with_the_layout_of_memory_is_not_copied() {
        let options = EncodeOptions { store_empty_chunks: false };
        let (shape, values) = ([2, 3], [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
        let borrowed = |chain: &CodecChain, values: &[u8], shape: &[usize]| {
            let view = View::contiguous(values, shape, 2);
            let mut wanted = Vec::new();
            let is_stored = chain.encode(&view, options, &mut wanted).unwrap();
            let (found, is_copy) = encoded(chain, &view);
            assert_eq!(found, is_stored.then_some(wanted));
            found.is_some() && !is_copy
        };
        let native = make(&[2, 3], Storage::Uint(2), Endian::NATIVE.name());
        assert!(borrowed(&native, &values, &shape));
        assert!(!borrowed(&native, &[0; 12], &shape), "only fill values");
        let other = if Endian::NATIVE == Endian::Little { Endian::Big } else { Endian::Little };
        assert!(!borrowed(&make(&[2, 3], Storage::Uint(2), other.name()), &values, &shape));
        let chain = |specs: &[CodecSpec]| {
            chain(specs, &chunk(&[2, 3], Storage::Uint(2)), &registry(), Strictness::Strict).unwrap()
        };
        let plain = spec(NAME, json!({"endian": Endian::NATIVE.name()}));
        assert!(!borrowed(
            &chain(&[spec("transpose", json!({"order": [1, 0]})), plain.clone()]),
            &values,
            &shape
        ));
        assert!(!borrowed(&chain(&[plain, spec("crc32c", json!({}))]), &values, &shape));
    }

    #[test]
    fn a_part_is_written_into_a_stored_chunk() {
        let native = make(&[2, 3], Storage::Uint(2), Endian::NATIVE.name());
        let stored = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12];
        let update = |stored: &[u8], values: &[u8], first: usize, store_empty_chunks| {
            let region = [Span::all(2), Span { start: first, step: 1, count: 3 - first }];
            let part =
                WritePart::of_region(Dims::from_slice(&region), View::contiguous(values, &[2, 3 - first], 2));
            let mut encoded = vec![99];
            let update =
                native.update(Some(stored), &part, EncodeOptions { store_empty_chunks }, &mut encoded);
            assert_eq!(encoded.remove(0), 99);
            update.map(|update| (update, encoded))
        };
        assert_eq!(update(&stored, &[5, 6, 11, 12], 2, false).unwrap(), (Update::Unchanged, vec![]));
        let changed = vec![1, 2, 3, 4, 0, 0, 7, 8, 9, 10, 1, 1];
        assert_eq!(update(&stored, &[0, 0, 1, 1], 2, false).unwrap(), (Update::Encoded, changed));
        let nearly = [0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        assert_eq!(update(&nearly, &[0; 8], 1, false).unwrap(), (Update::Empty, vec![]));
        assert_eq!(update(&nearly, &[0; 8], 1, true).unwrap(), (Update::Encoded, vec![0; 12]));
        for wrong in [&stored[..11], &[0; 13]] {
            assert_error(update(wrong, &[0; 4], 2, false), ErrorKind::Corrupt, "a chunk has 12");
        }
    }

    #[test]
    fn a_large_chunk_with_gaps_is_handed_over_in_blocks() {
        // Whole rows of planes, and rows that are longer than a block.
        for shape in [[3, 300, 1000], [1, 2, 400_000]] {
            let length: usize = shape.iter().product();
            let values: Vec<u8> =
                (0..u32::try_from(2 * length).unwrap()).flat_map(u32::to_le_bytes).collect();
            let wider = View::contiguous(&values, &[shape[0], 2 * shape[1], shape[2]], 4);
            let counts = [shape[0], shape[1], shape[2]].map(Span::all);
            let view = wider.region(&counts);
            let lengths = shape.map(|length| length as u64);
            let native = make(&lengths, Storage::Uint(4), Endian::NATIVE.name());
            let mut wanted = Vec::new();
            assert!(native.encode(&view, EncodeOptions::default(), &mut wanted).unwrap());
            let gaps = view.as_slice().is_none();
            let mut buffer = Vec::new();
            let stored = native.encoded(&view, EncodeOptions::default(), &mut buffer).unwrap();
            assert_eq!(matches!(stored, Encoded::Blocks(_)), gaps);
            assert!(encoded(&native, &view) == (Some(wanted), false));
            let zero = [0; 4];
            let empty = View::contiguous(&zero, &[], 4).broadcast_to(&shape);
            assert!(encoded(&native, &empty) == (None, false), "only fill values");
        }
    }

    /// Returns the lengths of the fetches for a region, and the number of fetches that read directly into the output.
    fn fetched(chain: &CodecChain, region: &[Span], row: usize) -> (Vec<u64>, usize) {
        let counts: Vec<usize> = region.iter().map(|span| span.count).collect();
        let mut shape = counts.clone();
        shape[counts.len() - 1] = row;
        let mut memory = vec![0; shape.iter().product::<usize>() * chain.chunk().item()];
        let inside: Vec<Span> = counts.iter().map(|&count| Span::all(count)).collect();
        let out = ViewMut::contiguous(&mut memory, &shape, chain.chunk().item()).into_region(&inside);
        let window = Window { offset: 0, length: Some(chain.chunk().size() as u64) };
        let fetches = chain.read(window, ReadRegion::new(region.into(), out)).unwrap();
        let direct = fetches.iter().filter(|fetch| matches!(fetch.sink, Sink::Into(_))).count();
        let length = |fetch: &Fetch<'_>| match fetch.range {
            ByteRange::From { length, .. } => length.unwrap(),
            ByteRange::Suffix { length } => length,
        };
        (fetches.iter().map(length).collect(), direct)
    }

    #[test]
    fn fetches_are_blocks() {
        const ALL: Span = Span { start: 0, step: 1, count: 256 };
        const ONE: Span = Span { start: 5, step: 1, count: 1 };
        let chain = make(&[256, 256, 256], Storage::Uint(2), Endian::NATIVE.name());
        // The whole chunk, into rows of a larger array: blocks that fit in the cache.
        assert_eq!(fetched(&chain, &[ALL, ALL, ALL], 1024), (vec![BLOCK as u64; 128], 0));
        // The whole chunk, into a buffer of exactly its size.
        assert_eq!(fetched(&chain, &[ALL, ALL, ALL], 256), (vec![DIRECT_MAX as u64; 4], 4));
        // A plane, a row, an element.
        assert_eq!(fetched(&chain, &[ONE, ALL, ALL], 256), (vec![1 << 17], 1));
        assert_eq!(fetched(&chain, &[ONE, ONE, ALL], 256), (vec![512], 1));
        assert_eq!(fetched(&chain, &[ONE, ONE, ONE], 1), (vec![2], 1));
        // A column whose elements are close together, and a column whose elements are far apart.
        assert_eq!(fetched(&chain, &[ALL, ALL, ONE], 1).0.len(), 128);
        assert_eq!(fetched(&chain, &[ALL, ONE, ONE], 1), (vec![2; 256], 256));
        let big = make(&[256, 256, 256], Storage::Uint(2), "big");
        assert_eq!(fetched(&big, &[ALL, ALL, ALL], 256), (vec![BLOCK as u64; 128], 0));
    }

    #[test]
    fn stored_sizes_are_exact() {
        let chain = make(&[4], Storage::Uint(2), "little");
        for size in [0, 7, 9] {
            let error = decode_chunk(&chain, &vec![0; size]).unwrap_err().to_string();
            assert!(error.starts_with("codec 'bytes': "), "{error}");
            assert!(error.ends_with(&format!("{size} bytes are stored, but a chunk has 8")), "{error}");
        }
    }

    #[test]
    fn configurations() {
        let named = |name: &str, storage, configuration, strictness| {
            chain(&[spec(name, configuration)], &chunk(&[2], storage), &registry(), strictness)
                .map(|chain| Json::Object(chain.specs().remove(0).configuration))
                .map_err(|e| e.to_string())
        };
        let make = |storage, configuration, strictness| named("bytes", storage, configuration, strictness);
        let (little, none) = (json!({"endian": "little"}), json!({}));
        assert_eq!(named("endian", Storage::Uint(2), little.clone(), Strictness::Lenient).unwrap(), little);
        let error = named("endian", Storage::Uint(2), little.clone(), Strictness::Strict).unwrap_err();
        assert!(error.contains("'endian' is an alias of the codec 'bytes'"), "{error}");
        assert_eq!(make(Storage::Uint(2), none.clone(), Strictness::Lenient).unwrap(), little);
        let error = make(Storage::Uint(2), none.clone(), Strictness::Strict).unwrap_err();
        assert_eq!(error, "codec 'bytes': the configuration lacks 'endian'");
        assert_eq!(make(Storage::Uint(1), none.clone(), Strictness::Strict).unwrap(), none);
        assert_eq!(make(Storage::Uint(1), little.clone(), Strictness::Strict).unwrap(), none);
        assert_eq!(make(Storage::Raw(4), none.clone(), Strictness::Strict).unwrap(), none);
        assert_eq!(make(Storage::Raw(4), little.clone(), Strictness::Strict).unwrap(), little);
        let error = make(Storage::Uint(1), json!({"endian": "native"}), Strictness::Lenient).unwrap_err();
        assert_eq!(error, "codec 'bytes': 'endian' is \"native\"; expected one of little, big");
    }
}
