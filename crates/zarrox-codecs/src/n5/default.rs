//! `n5_default`: stores a chunk as an N5 block, whose header contains its shape.
//!
//! Specification: <https://github.com/zarr-developers/zarr-extensions/tree/main/codecs/n5_default>; for the blocks,
//! <https://github.com/saalfeldlab/n5#file-system-specification>
//!
//! | member | value |
//! |---|---|
//! | `codecs` | the codecs of the elements: `transpose` (any number), `bytes` in big-endian order, at most one compressor |
//!
//! Name: `n5_default` in v3; in N5, `compression` names the compressor. The registered codec requires one `transpose` that
//! reverses all axes. Without this `transpose`, the array's axes are in the reverse of N5's order, and the blocks are the same.
//!
//! Encoded bytes: the mode (`u16`: 0 for default, 1 for a variable number of elements, 2 for a Java object), the number of
//! dimensions (`u16`), the length of each dimension (`u32`), fastest-varying first; in mode 1, the number of elements (`u32`);
//! and the encoded elements. All numbers are big-endian.
//!
//! A block may be smaller than its chunk, because the Java implementation truncates blocks at the edge of the array. Missing
//! elements have the fill value.

use zarrox_core::codec::{
    ArrayToBytes, Codec, CodecContext, CodecDef, CodecError, CodecKind, EncodeOptions, ReadRegion, Size,
};
use zarrox_core::json::Map;
use zarrox_core::json::json;
use zarrox_core::strided::{Dims, Span, View, ViewMut};
use zarrox_core::{CodecChain, CodecSpec, Registry, Strictness};

use crate::config::{self, codec_to_json};
use crate::n5::block::{Header, N5Block, longest_header};

const NAME: &str = "n5_default";

/// The definition of `n5_default`.
pub(crate) static DEF: CodecDef = CodecDef::new(NAME, CodecKind::ArrayToBytes, |configuration, context| {
    Ok(Codec::ArrayToBytes(Box::new(N5Codec::new(configuration, context)?)))
});

/// Stores a chunk as an N5 block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct N5Default {
    codecs: Vec<CodecSpec>,
}

impl N5Default {
    /// Creates the codec for blocks whose elements are encoded with these codecs: `transpose` if axes are reversed, `bytes` in
    /// big-endian order, and at most one compressor.
    pub fn new(codecs: impl IntoIterator<Item = CodecSpec>) -> Self {
        Self { codecs: codecs.into_iter().collect() }
    }
}

impl From<N5Default> for CodecSpec {
    fn from(n5: N5Default) -> Self {
        Self { name: NAME.to_owned(), configuration: members(&n5.codecs) }
    }
}

fn members(codecs: &[CodecSpec]) -> Map {
    config::members(json!({"codecs": codecs.iter().map(codec_to_json).collect::<Vec<_>>()}))
}

/// The codec for chunks of one shape and data type.
#[derive(Debug)]
struct N5Codec {
    /// The codec pipeline for a block with the shape of the chunk.
    whole: CodecChain,
    /// The order in which the block has the axes of the chunk.
    order: Vec<usize>,
    /// The shape of a complete block, in the order of its axes.
    stored: Vec<u32>,
    /// The registry, from which pipelines for other shapes are built.
    registry: Registry,
    mode: Strictness,
}

impl N5Codec {
    fn new(configuration: &Map, context: &CodecContext<'_>) -> Result<Self, CodecError> {
        let config = config::read(configuration, context, &["codecs"])?;
        let codecs = config.codecs("codecs", None)?;
        let whole = CodecChain::new(&codecs, context).map_err(|e| e.at("'codecs'"))?;
        check_codecs(&whole, context.registry)?;
        let order = whole.order().unwrap_or_default().to_vec();
        let length = |&axis: &usize| u32::try_from(context.chunk.shape()[axis]);
        let stored = order.iter().map(length).collect::<Result<_, _>>();
        let stored = stored.map_err(|_| {
            CodecError::unsupported("a block of N5 must have fewer than 2^32 elements along each dimension")
        })?;
        Ok(Self { whole, order, stored, registry: context.registry.clone(), mode: context.strictness })
    }

    /// Builds the pipeline for a block of another shape.
    fn chain(&self, codecs: &[CodecSpec], shape: &[usize]) -> Result<CodecChain, CodecError> {
        let chunk = self.whole.chunk().with_shape(shape)?;
        let limit = self.whole.limit();
        CodecChain::new(
            codecs,
            &CodecContext { chunk: &chunk, registry: &self.registry, strictness: self.mode, limit },
        )
    }

    /// Returns the shape of a block in the order of the chunk's axes.
    fn shape(&self, header: &Header) -> Vec<u64> {
        let mut shape = vec![0; self.order.len()];
        self.order.iter().zip(&header.shape).for_each(|(&axis, &length)| shape[axis] = length);
        shape
    }

    /// Returns the shape of a block, which must fit in the chunk.
    fn shape_inside(&self, header: &Header) -> Result<Vec<usize>, CodecError> {
        let shape = self.shape(header);
        let chunk = self.whole.chunk().shape();
        let inside = |(&length, &limit): (&u64, &usize)| usize::try_from(length).ok().filter(|&n| n <= limit);
        let lengths: Option<Vec<usize>> = shape.iter().zip(chunk).map(inside).collect();
        let lengths = lengths.ok_or_else(|| {
            CodecError::corrupt(format!(
                "a block of {shape:?} elements is larger than the chunk of {chunk:?}"
            ))
        })?;
        if !header.is_box() {
            let count: u64 = shape.iter().product();
            return Err(CodecError::unsupported(format!(
                "the block stores {} elements for a shape of {shape:?}, which has {count}: it can only be read as a \
                 list of elements, with `Array::read_n5_block`",
                header.count
            )));
        }
        Ok(lengths)
    }

    fn decode_block(&self, encoded: &[u8], mut part: ReadRegion<'_>) -> Result<(), CodecError> {
        let header = Header::parse(encoded, self.order.len())?;
        let shape = self.shape_inside(&header)?;
        let elements = &encoded[header.length..];
        if shape == self.whole.chunk().shape() {
            return self.whole.decode(elements, part);
        }
        if shape.contains(&0) {
            return Err(CodecError::corrupt("the header of the block declares an empty block"));
        }
        let chain = self.chain(&self.whole.specs(), &shape)?;
        let region: Dims<Span> = part.region.iter().zip(&shape).map(|(span, &n)| clipped(*span, n)).collect();
        part.out.fill(self.whole.chunk().fill().as_bytes());
        let filled: Dims<Span> = region.iter().map(|span| Span::all(span.count)).collect();
        chain.decode(
            elements,
            ReadRegion { region, out: part.out.into_region(&filled), options: part.options },
        )
    }

    fn decode_elements(&self, encoded: &[u8]) -> Result<N5Block, CodecError> {
        let header = Header::parse(encoded, self.order.len())?;
        let count = usize::try_from(header.count).unwrap_or(usize::MAX);
        let mut codecs = self.whole.specs();
        codecs.retain(|codec| !is_kind(&self.registry, codec, CodecKind::ArrayToArray));
        let chain = self.chain(&codecs, &[count])?;
        let size = chain.chunk().size();
        if size > self.whole.limit() {
            let limit = self.whole.limit();
            return Err(CodecError::limit(format!(
                "one block would take {size} bytes of memory, and the limit is {limit}"
            )));
        }
        let mut elements = vec![0; size];
        let out = ViewMut::contiguous(&mut elements, &[count], chain.chunk().item());
        let region = [Span::all(count)].into_iter().collect();
        chain.decode(&encoded[header.length..], ReadRegion::new(region, out))?;
        Ok(N5Block { mode: header.mode, shape: self.shape(&header), elements })
    }
}

/// Returns the part of a span that lies before `length`.
fn clipped(span: Span, length: usize) -> Span {
    let count = length.saturating_sub(span.start).div_ceil(span.step.max(1));
    Span { count: count.min(span.count), ..span }
}

/// Checks that N5 can represent the codecs. N5 supports only one byte order, and at most one compressor.
fn check_codecs(chain: &CodecChain, registry: &Registry) -> Result<(), CodecError> {
    if chain.order().is_none() {
        return Err(CodecError::invalid(
            "'codecs': the only codec for arrays in a block of N5 is 'transpose'",
        ));
    }
    let specs = chain.specs();
    let mut rest = specs.iter().filter(|codec| !is_kind(registry, codec, CodecKind::ArrayToArray));
    let big = json!("big");
    let is_big = |codec: &CodecSpec| codec.configuration.get("endian").is_none_or(|endian| *endian == big);
    if !rest.next().is_some_and(|codec| codec.name == "bytes" && is_big(codec)) {
        return Err(CodecError::invalid(
            "'codecs': a block of N5 needs the codec 'bytes' with \"endian\": \"big\"",
        ));
    }
    if rest.count() > 1 {
        return Err(CodecError::invalid("'codecs': a block of N5 has at most one compressor"));
    }
    Ok(())
}

fn is_kind(registry: &Registry, codec: &CodecSpec, kind: CodecKind) -> bool {
    registry.codec(&codec.name).is_ok_and(|def| def.kind == kind)
}

impl N5Block {
    /// Decodes a stored block, even if its number of elements does not match its shape. `codec` is the array's `n5_default`.
    ///
    /// # Errors
    /// When the codec is not `n5_default`, or the block is damaged.
    #[doc(hidden)]
    pub fn decode(encoded: &[u8], codec: &CodecSpec, context: &CodecContext<'_>) -> Result<Self, CodecError> {
        if codec.name != NAME {
            return Err(CodecError::unsupported(format!(
                "the chunks are not blocks of N5, but encoded by '{}'",
                codec.name
            )));
        }
        let codec = N5Codec::new(&codec.configuration, context)?;
        codec.decode_elements(encoded).map_err(|e| e.in_codec(NAME))
    }
}

impl ArrayToBytes for N5Codec {
    fn configuration(&self) -> Map {
        members(&self.whole.specs())
    }

    fn encoded_size(&self) -> Size {
        // Other writers may store fewer bytes.
        let elements = self.whole.encoded_size().limit();
        Size::AtMost(elements.saturating_add(longest_header(self.order.len())))
    }

    fn decode(&self, encoded: &[u8], part: ReadRegion<'_>) -> Result<(), CodecError> {
        self.decode_block(encoded, part).map_err(|e| e.in_codec(NAME))
    }

    fn encode(&self, chunk: &View<'_>, _: EncodeOptions, encoded: &mut Vec<u8>) -> Result<bool, CodecError> {
        Header::append(&self.stored, encoded);
        self.whole.encode(chunk, EncodeOptions { store_empty_chunks: true }, encoded)
    }
}

#[cfg(test)]
mod tests {
    use zarrox_core::FillValue;
    use zarrox_core::codec::ChunkSpec;
    use zarrox_core::data_type::Storage;
    use zarrox_core::json::Json;
    use zarrox_testkit::codec::{Integrity, Random, array_suite, slice};

    use super::*;
    use crate::n5::block::N5BlockMode;
    use crate::registry;
    use crate::testing::{chain, chunk, decode_chunk, hex, spec};
    use crate::{Bytes, Crc32c, Transpose};
    use zarrox_core::ErrorKind;
    use zarrox_testkit::errors::assert_error;

    fn reversed(ndim: usize) -> CodecSpec {
        Transpose::order((0..ndim).rev().collect::<Vec<_>>()).into()
    }

    #[test]
    fn suite() {
        let shapes: &[&[u64]] = &[&[], &[1], &[7], &[4, 6], &[3, 1, 5, 4], &[40, 300]];
        array_suite(&registry(), shapes, Integrity::Unchecked, |_| {
            vec![N5Default::new([Bytes::big().into()]).into()]
        });
        array_suite(&registry(), &[&[4, 6], &[3, 2, 5]], Integrity::Unchecked, |shape| {
            let codecs = [reversed(shape.len()), Bytes::big().into(), Crc32c::default().into()];
            vec![N5Default::new(codecs).into()]
        });
    }

    fn make(shape: &[u64], codecs: &[CodecSpec]) -> CodecChain {
        let n5 = N5Default::new(codecs.iter().cloned()).into();
        chain(&[n5], &chunk(shape, Storage::Uint(2)), &registry(), Strictness::Strict).unwrap()
    }

    fn numbers(decoded: &[u8]) -> Vec<u16> {
        decoded.as_chunks::<2>().0.iter().map(|bytes| u16::from_ne_bytes(*bytes)).collect()
    }

    fn error(chain: &CodecChain, encoded: &[u8]) -> String {
        decode_chunk(chain, encoded).unwrap_err().to_string()
    }

    /// The block in the specification's example: 1×2×3 elements of type `uint16`, which are the numbers 1 to 6.
    const EXAMPLE: &str = "00000003000000010000000200000003000100020003000400050006";

    #[test]
    fn the_example_of_the_specification() {
        let encoded = hex(EXAMPLE);
        let plain = make(&[3, 2, 1], &[Bytes::big().into()]);
        assert_eq!(numbers(&decode_chunk(&plain, &encoded).unwrap()), [1, 2, 3, 4, 5, 6]);
        // In N5's order of axes, x has length 1, y has length 2 and z has length 3, and x varies fastest.
        let registered = make(&[1, 2, 3], &[reversed(3), Bytes::big().into()]);
        assert_eq!(numbers(&decode_chunk(&registered, &encoded).unwrap()), [1, 3, 5, 2, 4, 6]);
        for chain in [plain, registered] {
            let values = decode_chunk(&chain, &encoded).unwrap();
            let view = View::contiguous(&values, chain.chunk().shape(), 2);
            let mut ours = Vec::new();
            assert!(chain.encode(&view, EncodeOptions { store_empty_chunks: true }, &mut ours).unwrap());
            assert_eq!(ours, encoded);
        }
    }

    #[test]
    fn what_a_smaller_block_lacks_is_the_fill_value() {
        let spec = ChunkSpec::new(&[2, 3], Storage::Uint(2), FillValue::new(9_u16.to_ne_bytes())).unwrap();
        // In N5's order: 2 elements along x, 1 along y.
        let encoded = hex("0000000200000002000000010007 0008".replace(' ', "").as_str());
        let n5 = N5Default::new([Bytes::big().into()]).into();
        let plain = chain(&[n5], &spec, &registry(), Strictness::Strict).unwrap();
        assert_eq!(numbers(&decode_chunk(&plain, &encoded).unwrap()), [7, 8, 9, 9, 9, 9]);
        // Every second element of the last row but one, and of the other row.
        let mut memory = [0; 8];
        let region = [Span::all(2), Span { start: 0, step: 2, count: 2 }].into_iter().collect();
        plain
            .decode(&encoded, ReadRegion::new(region, ViewMut::contiguous(&mut memory, &[2, 2], 2)))
            .unwrap();
        assert_eq!(numbers(&memory), [7, 9, 9, 9]);
        let registered = make(&[3, 2], &[reversed(2), Bytes::big().into()]);
        assert_eq!(numbers(&decode_chunk(&registered, &encoded).unwrap()), [7, 0, 8, 0, 0, 0]);
    }

    #[test]
    fn every_region_of_every_smaller_block() {
        let mut random = Random::new(5);
        for round in 0..300 {
            let ndim = 1 + random.below(4);
            let lengths: Vec<usize> = (0..ndim).map(|_| 1 + random.below(6)).collect();
            let shape: Vec<u64> = lengths.iter().map(|&n| n as u64).collect();
            let codecs = match round % 3 {
                0 => vec![Bytes::big().into()],
                1 => vec![reversed(ndim), Bytes::big().into()],
                _ => vec![reversed(ndim), Bytes::big().into(), Crc32c::default().into()],
            };
            let whole = make(&shape, &codecs);
            let smaller: Vec<u64> = lengths.iter().map(|&n| 1 + random.below(n) as u64).collect();
            let inner =
                chain(&codecs, &chunk(&smaller, Storage::Uint(2)), &registry(), Strictness::Strict).unwrap();
            let values = random.bytes(inner.chunk().size());
            // Returns the block as other programs write it: its own shape in N5's order, followed by the elements.
            let mut stored: Vec<u32> = smaller.iter().map(|&n| u32::try_from(n).unwrap()).collect();
            if codecs.len() > 1 {
                stored.reverse();
            }
            let mut encoded = Vec::new();
            Header::append(&stored, &mut encoded);
            let view = View::contiguous(&values, inner.chunk().shape(), 2);
            inner.encode(&view, EncodeOptions { store_empty_chunks: true }, &mut encoded).unwrap();

            let mut expected = vec![0; whole.chunk().size()];
            let corner: Vec<Span> = inner.chunk().shape().iter().map(|&n| Span::all(n)).collect();
            ViewMut::contiguous(&mut expected, whole.chunk().shape(), 2)
                .into_region(&corner)
                .copy_from(&view, 1);
            let span = |&n: &usize| {
                let (start, step) = (random.below(n), 1 + random.below(3));
                Span { start, step, count: 1 + random.below((n - start).div_ceil(step)) }
            };
            let region: Dims<Span> = whole.chunk().shape().iter().map(span).collect();
            let counts: Vec<usize> = region.iter().map(|span| span.count).collect();
            let mut found = vec![0xa5; counts.iter().product::<usize>() * 2];
            let out = ViewMut::contiguous(&mut found, &counts, 2);
            whole.decode(&encoded, ReadRegion::new(region.clone(), out)).unwrap();
            assert_eq!(
                found,
                slice(&expected, whole.chunk().shape(), 2, &region),
                "{smaller:?} of {shape:?}"
            );
        }
    }

    #[test]
    fn damaged_headers_say_what_is_wrong() {
        let plain = make(&[3, 2, 1], &[Bytes::big().into()]);
        let with = |at: usize, byte: u8| {
            let mut encoded = hex(EXAMPLE);
            encoded[at] = byte;
            error(&plain, &encoded)
        };
        assert!(with(1, 2).contains("mode 2"), "{}", with(1, 2));
        assert!(with(1, 3).contains("mode of the block is 3"));
        assert!(with(3, 2).contains("2 dimensions, but the array has 3"));
        assert!(
            with(7, 2).contains("[3, 2, 2] elements is larger than the chunk of [3, 2, 1]"),
            "{}",
            with(7, 2)
        );
        assert!(with(4, 0xff).contains("larger"));
        assert!(with(7, 0).contains("empty"));
        assert!(with(15, 2).contains("too long"));
        for length in 0..28 {
            assert!(error(&plain, &hex(EXAMPLE)[..length]).contains("truncated"), "{length}");
        }
    }

    #[test]
    fn blocks_of_variable_length() {
        let plain = make(&[3, 1], &[Bytes::big().into()]);
        let block = |count: &str| hex(&format!("00010002000000010000000300000{count}"));
        let as_many = [block("003"), hex("000100020003")].concat();
        assert_eq!(numbers(&decode_chunk(&plain, &as_many).unwrap()), [1, 2, 3]);
        let more = [block("005"), hex("00010002000300040005")].concat();
        let message = error(&plain, &more);
        assert!(message.contains("5 elements for a shape of [3, 1], which has 3"), "{message}");
        let (registry, spec) = (registry(), chunk(&[3, 1], Storage::Uint(2)));
        let context =
            CodecContext { chunk: &spec, registry: &registry, strictness: Strictness::Strict, limit: 100 };
        let read = N5Block::decode(&more, &plain.specs()[0], &context).unwrap();
        assert_eq!((read.mode, &read.shape[..]), (N5BlockMode::VarLength, &[3, 1][..]));
        assert_eq!(numbers(&read.elements), [1, 2, 3, 4, 5]);
        let huge = hex("000100020000000100000003ffffffff");
        assert!(
            N5Block::decode(&huge, &plain.specs()[0], &context).unwrap_err().to_string().contains("limit")
        );
        assert_error(
            N5Block::decode(&more, &Bytes::big().into(), &context),
            ErrorKind::Unsupported,
            "encoded by 'bytes'",
        );
        let default = N5Block::decode(&as_many[..2], &plain.specs()[0], &context).unwrap_err().to_string();
        assert!(default.contains("header: truncated"), "{default}");
    }

    #[test]
    fn configurations() {
        let make = |codecs: Json, mode| {
            let specs = [spec(NAME, json!({"codecs": codecs}))];
            chain(&specs, &chunk(&[2, 2], Storage::Uint(2)), &registry(), mode)
        };
        let big = json!({"name": "bytes", "configuration": {"endian": "big"}});
        let complete =
            json!([{"name": "transpose", "configuration": {"order": [1, 0]}}, big, {"name": "crc32c"}]);
        let specs = make(complete.clone(), Strictness::Strict).unwrap().specs();
        assert_eq!(specs[0].configuration["codecs"], complete);
        let bad = [
            (json!([{"name": "bytes", "configuration": {"endian": "little"}}]), "big"),
            (json!([big, {"name": "crc32c"}, {"name": "crc32c"}]), "one compressor"),
            (json!([{"name": "bytes", "configuration": {"endian": ["big"]}}]), "endian"),
            (json!([]), "no codec turns"),
            (json!("bytes"), "list of codecs"),
            (json!([{"name": "n5_default", "configuration": {"codecs": [big]}}]), "'bytes'"),
        ];
        for (codecs, named) in bad {
            let message = make(codecs, Strictness::Lenient).unwrap_err().to_string();
            assert!(message.contains(named), "{message}");
        }
    }
}
