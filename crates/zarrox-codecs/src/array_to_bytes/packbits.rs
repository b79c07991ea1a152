//! `packbits`: stores only the significant bits of the elements, without gaps.
//!
//! Specification: <https://github.com/zarr-developers/zarr-extensions/tree/main/codecs/packbits>
//!
//! | member | value |
//! |---|---|
//! | `padding_encoding` | where the number of unused bits in the last byte is stored: `"none"` (the default), `"first_byte"` or `"last_byte"` |
//! | `first_bit` | the lowest bit of each number to store, 0 by default |
//! | `last_bit` | the highest bit to store, by default the highest bit of the data type |
//!
//! Name: `packbits` in v3. The `packbits` of numcodecs (v2, and `numcodecs.packbits`) has the opposite bit order.
//!
//! A boolean has one bit, a small integer or float has 2, 4 or 6 bits, and any other number has as many bits as in memory. The
//! real and imaginary parts of a complex number are packed separately. The lowest bit of the first element is the lowest bit of
//! the first byte. Bits outside the stored range are lost: they decode to zero, except that signed integers are sign-extended.
//!
//! For types whose bits fill whole bytes, zarrs 0.23 does not write the byte that `padding_encoding` requires. Such chunks are
//! rejected, since they cannot be distinguished from truncated chunks.

use zarrox_core::codec::{
    ArrayAccess, ArrayToBytes, ChunkSpec, Codec, CodecContext, CodecDef, CodecError, CodecKind,
    EncodeOptions, Fetch, ReadRegion, RegionRanges, Size, Window,
};
use zarrox_core::data_type::Storage;
use zarrox_core::internals::codec::coalesce::{BLOCK, GAP};
use zarrox_core::internals::codec::resolve;
use zarrox_core::internals::scratch::Scratch;
use zarrox_core::internals::selection::partition::split_mut;
use zarrox_core::json::json;
use zarrox_core::json::{Json, Map};
use zarrox_core::strided::{Dims, Span, View, ViewMut};
use zarrox_core::{CodecSpec, DataType};

use crate::array_to_bytes::bit_packing::Packing;
use crate::array_to_bytes::bytes::Selected;
use crate::config::{self, Config, wrong};

const NAME: &str = "packbits";

/// The definition of `packbits`.
pub(crate) static DEF: CodecDef = CodecDef::new(NAME, CodecKind::ArrayToBytes, create);

/// Where the number of unused bits in the last byte is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum PackBitsPadding {
    /// Not stored.
    #[default]
    None,
    /// In the first byte.
    FirstByte,
    /// In an additional last byte.
    LastByte,
}

const PADDINGS: &[(&str, PackBitsPadding)] = &[
    ("none", PackBitsPadding::None),
    ("first_byte", PackBitsPadding::FirstByte),
    ("last_byte", PackBitsPadding::LastByte),
];

impl PackBitsPadding {
    fn name(self) -> &'static str {
        PADDINGS[self as usize].0
    }
}

/// Packs the significant bits of elements without gaps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PackBits {
    padding: PackBitsPadding,
    first_bit: Option<u32>,
    last_bit: Option<u32>,
}

impl PackBits {
    /// Sets where the number of unused bits is stored.
    #[must_use]
    pub fn padding(self, padding: PackBitsPadding) -> Self {
        Self { padding, ..self }
    }

    /// Sets the lowest bit to store.
    #[must_use]
    pub fn first_bit(self, bit: u32) -> Self {
        Self { first_bit: Some(bit), ..self }
    }

    /// Sets the highest bit to store.
    #[must_use]
    pub fn last_bit(self, bit: u32) -> Self {
        Self { last_bit: Some(bit), ..self }
    }

    fn members(self) -> Map {
        let mut members = config::members(json!({"padding_encoding": self.padding.name()}));
        for (name, bit) in [("first_bit", self.first_bit), ("last_bit", self.last_bit)] {
            members.extend(bit.map(|bit| (name.to_owned(), Json::from(bit))));
        }
        members
    }
}

impl From<PackBits> for CodecSpec {
    fn from(packbits: PackBits) -> Self {
        Self { name: NAME.to_owned(), configuration: packbits.members() }
    }
}

fn create(configuration: &Map, context: &CodecContext<'_>) -> Result<Codec, CodecError> {
    let config = config::read(configuration, context, &["padding_encoding", "first_bit", "last_bit"])?;
    let chunk = context.chunk;
    let padding = match config.get("padding_encoding") {
        None => PackBitsPadding::None,
        Some(_) => config.choice("padding_encoding", PADDINGS, PackBitsPadding::None)?,
    };
    let bits = bits_of(chunk)?;
    let top = bits.count - 1;
    let first = bit(config, "first_bit", 0..=top)?;
    let last = bit(config, "last_bit", first.unwrap_or(0)..=top)?;
    let settings = PackBits {
        padding,
        first_bit: first.filter(|&bit| bit > 0),
        last_bit: last.filter(|&bit| bit < top),
    };
    let first = first.unwrap_or(0);
    let packing = Packing {
        bytes: chunk.item() / bits.parts,
        first,
        bits: last.unwrap_or(top) - first + 1,
        signed: bits.signed,
    };
    let numbers = chunk.size() / packing.bytes;
    let size = packing.packed_size(numbers).ok_or_else(|| {
        CodecError::limit(format!("a chunk of shape {:?} has too many bits", chunk.shape()))
    })?;
    let unused = size * 8 - numbers * packing.bits as usize;
    Ok(Codec::ArrayToBytes(Box::new(PackBitsCodec {
        chunk: chunk.clone(),
        settings,
        packing,
        element_bits: bits.parts * packing.bits as usize,
        size,
        unused: u8::try_from(unused).unwrap_or(u8::MAX),
    })))
}

fn bit(
    config: Config<'_>,
    name: &str,
    range: std::ops::RangeInclusive<u32>,
) -> Result<Option<u32>, CodecError> {
    let Some(json) = config.get(name).filter(|json| !json.is_null()) else { return Ok(None) };
    let bit =
        config.to_integer(json).and_then(|bit| u32::try_from(bit).ok()).filter(|bit| range.contains(bit));
    let wants = || format!("a bit from {} to {}", range.start(), range.end());
    bit.map(Some).ok_or_else(|| wrong(name, json, &wants()))
}

/// The bits of the elements of a data type.
struct Bits {
    /// The number of components of an element: two for a complex number.
    parts: usize,
    /// The number of bits of each component.
    count: u32,
    signed: bool,
}

fn bits_of(chunk: &ChunkSpec) -> Result<Bits, CodecError> {
    let data_type = chunk.data_type()?;
    let refused =
        || CodecError::invalid(format!("elements of the type {data_type} cannot be packed as bits"));
    let (parts, size, signed) = match data_type.storage() {
        Storage::Bool => return Ok(Bits { parts: 1, count: 1, signed: false }),
        Storage::Int(size) => (1, size, true),
        Storage::Uint(size) | Storage::Float(size) => (1, size, false),
        Storage::Complex(size) => (2, size / 2, false),
        _ => return Err(refused()),
    };
    if ![1, 2, 4, 8].contains(&size) {
        return Err(refused());
    }
    let full = u32::try_from(8 * size).map_err(|_| refused())?;
    let name = match data_type {
        DataType::Extension(extension) => extension.name.as_str(),
        _ => "",
    };
    let count = match name.strip_prefix("complex_").unwrap_or(name) {
        "int2" | "uint2" => 2,
        "int4" | "uint4" | "float4_e2m1fn" => 4,
        "float6_e2m3fn" | "float6_e3m2fn" => 6,
        _ => full,
    };
    Ok(Bits { parts, count, signed })
}

/// The codec for chunks of one shape and data type.
#[derive(Debug)]
struct PackBitsCodec {
    chunk: ChunkSpec,
    settings: PackBits,
    packing: Packing,
    /// The number of bits of an element.
    element_bits: usize,
    /// The total number of bytes of the packed elements.
    size: usize,
    /// The number of unused bits in the last byte.
    unused: u8,
}

/// The positions of the parts of an encoded chunk.
#[derive(Clone, Copy)]
struct Places {
    elements: u64,
    unused: Option<u64>,
}

impl ArrayToBytes for PackBitsCodec {
    fn configuration(&self) -> Map {
        self.settings.members()
    }

    fn encoded_size(&self) -> Size {
        match self.settings.padding {
            PackBitsPadding::None => Size::Exact(self.size),
            _ => Size::Exact(self.size + 1),
        }
    }

    fn decode(&self, encoded: &[u8], part: ReadRegion<'_>) -> Result<(), CodecError> {
        let places = self.places(Some(encoded.len() as u64)).map_err(|e| e.in_codec(NAME))?;
        let unused = places.unused.and_then(|at| encoded.get(usize::try_from(at).ok()?));
        unused.map_or(Ok(()), |&byte| self.check_unused(byte)).map_err(|e| e.in_codec(NAME))?;
        resolve(self.read(Window::of_size(encoded.len() as u64), part)?, encoded)
    }

    fn encode(&self, chunk: &View<'_>, _: EncodeOptions, encoded: &mut Vec<u8>) -> Result<bool, CodecError> {
        if self.settings.padding == PackBitsPadding::FirstByte {
            encoded.push(self.unused);
        }
        let start = encoded.len();
        encoded.resize(start + self.size, 0);
        let packed = &mut encoded[start..];
        match chunk.as_slice() {
            Some(elements) => self.packing.pack(elements, packed),
            None => {
                let mut elements = Scratch::with_len(self.chunk.size())?;
                self.chunk
                    .view_mut(&mut elements, &zarrox_core::strided::VlenBuffer::new())
                    .copy_from(chunk, 1);
                self.packing.pack(&elements, packed);
            }
        }
        if self.settings.padding == PackBitsPadding::LastByte {
            encoded.push(self.unused);
        }
        Ok(true)
    }

    fn access(&self) -> ArrayAccess<'_> {
        ArrayAccess::Ranges(self)
    }
}

impl RegionRanges for PackBitsCodec {
    fn read<'a>(&'a self, window: Window, region: ReadRegion<'a>) -> Result<Vec<Fetch<'a>>, CodecError> {
        self.fetches(window, region).map_err(|e| e.in_codec(NAME))
    }
}

impl PackBitsCodec {
    /// Returns the positions of the parts in an encoded chunk. If the length of the chunk is known, it is checked.
    fn places(&self, stored: Option<u64>) -> Result<Places, CodecError> {
        let size = self.size as u64;
        let (places, wanted) = match self.settings.padding {
            PackBitsPadding::None => (Places { elements: 0, unused: None }, size),
            PackBitsPadding::FirstByte => (Places { elements: 1, unused: Some(0) }, size + 1),
            PackBitsPadding::LastByte => (Places { elements: 0, unused: Some(size) }, size + 1),
        };
        match stored {
            Some(stored) if stored != wanted => {
                let what = if stored < wanted { "truncated" } else { "too long" };
                Err(CodecError::corrupt(format!(
                    "{what}: {stored} bytes are stored, but a chunk has {wanted}"
                )))
            }
            _ => Ok(places),
        }
    }

    fn check_unused(&self, stored: u8) -> Result<(), CodecError> {
        if stored == self.unused {
            return Ok(());
        }
        let message = format!(
            "the header says that {stored} bits of the last byte are unused, but it should be {}",
            self.unused
        );
        Err(CodecError::corrupt(message))
    }

    fn fetches<'a>(&'a self, window: Window, part: ReadRegion<'a>) -> Result<Vec<Fetch<'a>>, CodecError> {
        let places = self.places(window.length)?;
        if part.region.iter().any(|span| span.count == 0) {
            return Ok(Vec::new());
        }
        let mut fetches = Vec::new();
        if let Some(at) = places.unused.filter(|_| part.covers(self.chunk.shape())) {
            fetches.push(Fetch::then(window.part(at, 1)?, |bytes| {
                bytes
                    .first()
                    .map_or(Ok(()), |&byte| self.check_unused(byte))
                    .map_err(|e| e.in_codec(NAME))?;
                Ok(Vec::new())
            }));
        }
        let selected = Selected::new(self.chunk.shape(), 1, &part.region);
        let blocks = selected.blocks(GAP * 8 / self.element_bits, BLOCK / self.chunk.item());
        let all: Dims<Span> = part.region.iter().map(|span| Span::all(span.count)).collect();
        split_mut(&all, &blocks, part.out, |pieces, out| {
            let offset: usize =
                pieces.iter().zip(&selected.steps).map(|(piece, step)| piece.out * step).sum();
            let extent = selected.extent(out.shape());
            let bit = (selected.start + offset) * self.element_bits;
            let (start, skip) = (bit / 8, bit % 8);
            let length = (skip + extent * self.element_bits).div_ceil(8);
            let range = window.part(places.elements + start as u64, length as u64)?;
            let item = self.chunk.item().cast_signed();
            let strides: Dims<isize> = selected.steps.iter().map(|step| step.cast_signed() * item).collect();
            fetches.push(Fetch::then(range, move |bytes| {
                self.unpack(bytes, skip, extent, &strides, out).map_err(|e| e.in_codec(NAME))?;
                Ok(Vec::new())
            }));
            Ok::<_, CodecError>(())
        })?;
        Ok(fetches)
    }

    /// Unpacks `extent` elements, starting at bit `skip`, and copies the elements at these strides to their destinations.
    fn unpack(
        &self,
        packed: &[u8],
        skip: usize,
        extent: usize,
        strides: &[isize],
        mut out: ViewMut<'_>,
    ) -> Result<(), CodecError> {
        let length = (skip + extent * self.element_bits).div_ceil(8);
        let Some(packed) = packed.get(..length) else {
            let message = format!("truncated: {} bytes arrived, but {length} are needed", packed.len());
            return Err(CodecError::corrupt(message));
        };
        let size = extent * self.chunk.item();
        if let Some(elements) = out.as_slice_mut().filter(|elements| elements.len() == size) {
            self.packing.unpack(packed, skip, elements);
            return Ok(());
        }
        let mut elements = Scratch::with_len(size)?;
        self.packing.unpack(packed, skip, &mut elements);
        out.copy_from(&View::of_strided(&elements, out.shape(), strides, self.chunk.item()), 1);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use zarrox_core::codec::ByteRange;
    use zarrox_core::{CodecChain, FillValue, Strictness};
    use zarrox_testkit::codec::{Integrity, Random, typed_suite};

    use super::*;
    use crate::testing::{chain, decode_chunk, hex, spec};
    use crate::{Crc32c, Transpose, registry};
    use zarrox_core::ErrorKind;
    use zarrox_testkit::errors::assert_error;

    fn named(name: &str) -> DataType {
        DataType::parse(name, &registry()).unwrap()
    }

    /// Tests a type whose elements have this number of bits.
    fn check_small(name: &str, bits: u32, signed: bool) {
        let shapes: &[&[u64]] = &[&[], &[1], &[7], &[4, 6], &[3, 1, 5, 4], &[5, 3, 300]];
        let data_type = named(name);
        let byte = |random: &mut Random| {
            let high = random.bytes(1)[0] << (8 - bits);
            if signed { (high.cast_signed() >> (8 - bits)).cast_unsigned() } else { high >> (8 - bits) }
        };
        let element = |random: &mut Random| (0..data_type.size()).map(|_| byte(random)).collect();
        for (_, padding) in PADDINGS {
            let packbits = PackBits::default().padding(*padding);
            let specs = |_: &[u64]| vec![packbits.into()];
            typed_suite(&registry(), &data_type, shapes, Integrity::Unchecked, element, specs);
        }
    }

    #[test]
    fn suite_of_small_elements() {
        check_small("bool", 1, false);
        check_small("uint2", 2, false);
        check_small("int4", 4, true);
        check_small("float6_e3m2fn", 6, false);
        check_small("complex_float4_e2m1fn", 4, false);
        check_small("int8", 8, true);
    }

    #[test]
    fn suite_of_numbers() {
        let check = |name: &str, packbits: PackBits, element: fn(&mut Random) -> Vec<u8>| {
            let (data_type, order) = (named(name), Transpose::order([1, 0]));
            let specs = |_: &[u64]| vec![order.clone().into(), packbits.into(), Crc32c::default().into()];
            let shapes: &[&[u64]] = &[&[4, 6], &[33, 700]];
            typed_suite(&registry(), &data_type, shapes, Integrity::Checked, element, specs);
        };
        let some = PackBits::default().first_bit(2).last_bit(10).padding(PackBitsPadding::LastByte);
        check("int16", some, |random| {
            let number = random.number().cast_signed() >> 55 << 2;
            i16::try_from(number).unwrap().to_ne_bytes().to_vec()
        });
        check("uint64", PackBits::default().first_bit(1).last_bit(62), |random| {
            (random.number() >> 2 << 1).to_ne_bytes().to_vec()
        });
        check("complex64", PackBits::default().first_bit(13), |random| {
            let mut part = || u32::try_from(random.number() >> 45 << 13).unwrap();
            [part(), part()].into_iter().flat_map(u32::to_ne_bytes).collect()
        });
        check("float64", PackBits::default().padding(PackBitsPadding::FirstByte), |random| random.bytes(8));
    }

    fn make(
        name: &str,
        shape: &[u64],
        configuration: Json,
        strictness: Strictness,
    ) -> Result<CodecChain, String> {
        let data_type = named(name);
        let fill = FillValue::zero(data_type.size());
        let chunk = ChunkSpec::new(shape, data_type.storage(), fill).unwrap().of_type(&data_type);
        chain(&[spec(NAME, configuration)], &chunk, &registry(), strictness).map_err(|e| e.to_string())
    }

    #[test]
    fn golden() {
        // zarrs 0.23.14: `Array::store_chunk` of a chunk with these elements, given as in memory on a little-endian machine.
        let bytes = |numbers: std::ops::Range<u8>, of: fn(u8) -> u8| numbers.map(of).collect::<Vec<u8>>();
        let bools = || bytes(0..21, |i| u8::from(i % 3 == 0));
        let int16 = (0..9_i16).flat_map(|i| ((i * 100 - 400) & !3).to_le_bytes()).collect();
        let uint32 = (0..5_u32).flat_map(|i| ((i * 123_456) & 0x1f_fff8).to_le_bytes()).collect();
        let complex = (0..6_u32).flat_map(|i| ((i * 0x5_a5a5) & 0x1f_fc00).to_le_bytes()).collect();
        let cases = [
            ("bool", json!({}), bools(), "499204"),
            ("bool", json!({"padding_encoding": "first_byte"}), bools(), "03499204"),
            ("bool", json!({"padding_encoding": "last_byte"}), bools(), "49920403"),
            ("int2", json!({}), bytes(0..10, |i| (i % 4).wrapping_sub(2)), "4e4e0e"),
            ("uint2", json!({}), bytes(0..10, |i| i % 4), "e4e404"),
            ("int4", json!({}), bytes(0..7, |i| (2 * i).wrapping_sub(8)), "a8ec2004"),
            ("uint4", json!({}), bytes(0..7, |i| 2 * i + 1), "3175b90d"),
            ("float6_e2m3fn", json!({}), bytes(0..7, |i| 9 * i + 1), "813271a57b03"),
            ("float6_e3m2fn", json!({}), bytes(0..7, |i| 9 * i + 1), "813271a57b03"),
            ("complex_float4_e2m1fn", json!({}), bytes(0..10, |i| i + 3), "436587a9cb"),
            ("complex_float6_e2m3fn", json!({}), bytes(0..10, |i| 6 * i + 3), "43f2545b78b6730e"),
            ("uint32", json!({"first_bit": 3, "last_bit": 20}), uint32, "000020f1008907362d20f100"),
            ("complex64", json!({"first_bit": 10, "last_bit": 20}), complex, "00488bb47858da8703"),
            ("int64", json!({}), vec![7; 8], "0707070707070707"),
            (
                "int16",
                json!({"first_bit": 2, "last_bit": 10, "padding_encoding": "last_byte"}),
                int16,
                "9c6b3b3f0f20838c25640007",
            ),
        ];
        for (name, configuration, mut memory, golden) in cases {
            let word = named(name).storage().word();
            if cfg!(target_endian = "big") {
                memory.chunks_exact_mut(word).for_each(<[u8]>::reverse);
            }
            let count = memory.len() / named(name).size();
            let chain = make(name, &[count as u64], configuration, Strictness::Strict).unwrap();
            let mut encoded = Vec::new();
            let view = View::contiguous(&memory, &[count], named(name).size());
            assert!(chain.encode(&view, EncodeOptions::default(), &mut encoded).unwrap());
            assert_eq!(encoded, hex(golden), "{name}");
            assert_eq!(decode_chunk(&chain, &encoded).unwrap(), memory, "{name}");
        }
    }

    #[test]
    fn bits_outside_are_lost() {
        let chain = make("int16", &[2], json!({"last_bit": 7}), Strictness::Strict).unwrap();
        let memory: Vec<u8> = [0x1234_i16, 0x12f4].into_iter().flat_map(i16::to_ne_bytes).collect();
        let mut encoded = Vec::new();
        chain.encode(&View::contiguous(&memory, &[2], 2), EncodeOptions::default(), &mut encoded).unwrap();
        assert_eq!(encoded, [0x34, 0xf4]);
        let decoded: Vec<u8> = [0x34_i16, 0xf4 - 0x100].into_iter().flat_map(i16::to_ne_bytes).collect();
        assert_eq!(decode_chunk(&chain, &encoded).unwrap(), decoded);
    }

    #[test]
    fn the_number_of_unused_bits_is_compared() {
        for (padding, stored) in [("first_byte", [4, 1, 0]), ("last_byte", [1, 0, 4])] {
            let chain =
                make("bool", &[13], json!({"padding_encoding": padding}), Strictness::Lenient).unwrap();
            let error = decode_chunk(&chain, &stored).unwrap_err().to_string();
            assert_eq!(
                error,
                "codec 'packbits': the header says that 4 bits of the last byte are unused, but it should be 3"
            );
            let mut out = vec![0; 13];
            let part = ReadRegion::new(
                [Span::all(13)].into_iter().collect(),
                ViewMut::contiguous(&mut out, &[13], 1),
            );
            let fetches = chain.read(Window { offset: 0, length: None }, part).unwrap();
            assert_error(resolve(fetches, &stored), ErrorKind::Corrupt, "4 bits of the last byte");
        }
    }

    #[test]
    fn sizes_are_exact_also_of_whole_numbers() {
        for padding in ["first_byte", "last_byte"] {
            let chain =
                make("uint8", &[3], json!({"padding_encoding": padding}), Strictness::Lenient).unwrap();
            let error = decode_chunk(&chain, &[1, 2, 3]).unwrap_err().to_string();
            assert_eq!(error, "codec 'packbits': truncated: 3 bytes are stored, but a chunk has 4");
        }
    }

    #[test]
    fn parts_are_read_in_blocks() {
        let chain =
            make("bool", &[4000, 4096], json!({"padding_encoding": "first_byte"}), Strictness::Strict)
                .unwrap();
        let fetched = |rows: Span, columns: Span| {
            let mut memory = vec![0; rows.count * columns.count];
            let out = ViewMut::contiguous(&mut memory, &[rows.count, columns.count], 1);
            let part = ReadRegion::new([rows, columns].into_iter().collect(), out);
            let window = Window { offset: 100, length: Some(4000 * 512 + 1) };
            let fetches = chain.read(window, part).unwrap();
            let range = |fetch: &Fetch<'_>| match fetch.range {
                ByteRange::From { offset, length } => (offset, length.unwrap()),
                ByteRange::Suffix { .. } => panic!(),
            };
            fetches.iter().map(range).collect::<Vec<_>>()
        };
        let span = |start, step, count| Span { start, step, count };
        assert_eq!(fetched(span(2, 1, 1), span(9, 1, 20)), [(101 + 1024 + 1, 3)]);
        assert_eq!(fetched(span(0, 1000, 2), span(0, 1, 8)).len(), 2);
        let whole = fetched(Span::all(4000), Span::all(4096));
        assert_eq!((whole[0], whole[1], whole.len()), ((100, 1), (101, (BLOCK / 8) as u64), 64));
    }

    #[test]
    fn configurations() {
        let configured = |name: &str, configuration: Json| {
            let chain = make(name, &[3], configuration, Strictness::Lenient)?;
            Ok::<_, String>(Json::Object(chain.specs().remove(0).configuration))
        };
        let none = json!({"padding_encoding": "none"});
        for same in
            [json!({}), json!({"first_bit": null, "last_bit": null}), json!({"first_bit": 0, "last_bit": 1})]
        {
            assert_eq!(configured("int2", same).unwrap(), none);
        }
        let kept = json!({"padding_encoding": "last_byte", "first_bit": 1, "last_bit": 2});
        assert_eq!(configured("uint4", kept.clone()).unwrap(), kept);
        let nulls = json!({"first_bit": null, "last_bit": null});
        assert!(make("bool", &[3], nulls, Strictness::Strict).is_ok());
        for (name, bad, says) in [
            ("int2", json!({"last_bit": 2}), "'last_bit' is 2; expected a bit from 0 to 1"),
            ("int8", json!({"first_bit": 5, "last_bit": 4}), "expected a bit from 5 to 7"),
            ("int8", json!({"first_bit": -1}), "'first_bit' is -1"),
            ("int8", json!({"first_bit": 1_u64 << 40}), "expected a bit from 0 to 7"),
            ("bool", json!({"padding_encoding": "start"}), "expected one of none, first_byte, last_byte"),
            ("r16", json!({}), "elements of the type r16 cannot be packed as bits"),
            ("string", json!({}), "elements of the type string cannot be packed as bits"),
            ("float32", json!({"bits": 3}), "unknown member 'bits'"),
        ] {
            let error = configured(name, bad).unwrap_err();
            assert!(error.starts_with("codec 'packbits': ") && error.contains(says), "{error}");
        }
    }
}
