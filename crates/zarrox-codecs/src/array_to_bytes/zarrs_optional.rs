//! `zarrs.optional`: stores optional elements as a boolean mask and the values that are present.
//!
//! Specification: <https://docs.rs/zarrs/latest/zarrs/array/codec/array_to_bytes/optional/index.html>, an experimental codec of
//! the Rust library zarrs.
//!
//! | member | value |
//! |---|---|
//! | `mask_codecs` | the codecs of the mask, which has the shape of the chunk |
//! | `data_codecs` | the codecs of the values, which are one-dimensional |
//!
//! Names: `zarrs.optional` in v3 (also `optional` and a URL, in older versions); v2 does not have it.
//!
//! Encoded bytes: the lengths of the encoded mask and of the encoded values as little-endian `u64`, the encoded mask, and the
//! encoded values. If no value is present, the encoded values are empty.

use zarrox_core::codec::{
    ArrayToBytes, ChunkSpec, Codec, CodecContext, CodecDef, CodecError, CodecKind, EncodeOptions, ReadRegion,
    Size,
};
use zarrox_core::data_type::Storage;
use zarrox_core::internals::scratch::Scratch;
use zarrox_core::internals::vlen::VlenRef;
use zarrox_core::json::Map;
use zarrox_core::json::json;
use zarrox_core::strided::{Span, View, ViewMut, VlenBuffer};
use zarrox_core::{CodecChain, CodecSpec, DataType, FillValue};

use crate::array_to_bytes::linear_chain::LinearChain;
use crate::config::{self, codec_to_json};
use crate::error::truncated;
use crate::{Bytes, PackBits};

const NAME: &str = "zarrs.optional";

/// The definition of `zarrs.optional`.
pub(crate) static DEF: CodecDef = CodecDef::new(NAME, CodecKind::ArrayToBytes, create)
    .aliases(&["optional", "https://codec.zarrs.dev/array_to_bytes/optional"]);

/// Stores optional elements as a mask and the values that are present.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ZarrsOptional {
    mask_codecs: Vec<CodecSpec>,
    data_codecs: Vec<CodecSpec>,
}

impl Default for ZarrsOptional {
    /// Packs the mask to one bit per element, and stores the values with `bytes`.
    fn default() -> Self {
        Self { mask_codecs: vec![PackBits::default().into()], data_codecs: vec![Bytes::little().into()] }
    }
}

impl ZarrsOptional {
    /// Sets the codecs of the mask.
    #[must_use]
    pub fn mask_codecs(self, codecs: impl IntoIterator<Item = CodecSpec>) -> Self {
        Self { mask_codecs: codecs.into_iter().collect(), ..self }
    }

    /// Sets the codecs of the values.
    #[must_use]
    pub fn data_codecs(self, codecs: impl IntoIterator<Item = CodecSpec>) -> Self {
        Self { data_codecs: codecs.into_iter().collect(), ..self }
    }
}

impl From<ZarrsOptional> for CodecSpec {
    fn from(optional: ZarrsOptional) -> Self {
        let configuration = members(&optional.mask_codecs, &optional.data_codecs);
        Self { name: NAME.to_owned(), configuration }
    }
}

fn members(mask_codecs: &[CodecSpec], data_codecs: &[CodecSpec]) -> Map {
    let list = |codecs: &[CodecSpec]| codecs.iter().map(codec_to_json).collect::<Vec<_>>();
    config::members(json!({"mask_codecs": list(mask_codecs), "data_codecs": list(data_codecs)}))
}

fn create(configuration: &Map, context: &CodecContext<'_>) -> Result<Codec, CodecError> {
    let config = config::read(configuration, context, &["mask_codecs", "data_codecs"])?;
    let (mask_codecs, data_codecs) =
        (config.codecs("mask_codecs", None)?, config.codecs("data_codecs", None)?);
    let chunk = context.chunk.clone();
    let value = chunk.data_type().ok().and_then(DataType::optional_value).ok_or_else(|| {
        CodecError::invalid(
            "this codec stores optional elements, but the data type of the array is not optional",
        )
    })?;
    let shape: Vec<u64> = chunk.shape().iter().map(|&length| length as u64).collect();
    let booleans = ChunkSpec::new(&shape, Storage::Bool, FillValue::zero(1))?;
    let mask = CodecChain::new(&mask_codecs, &CodecContext { chunk: &booleans, ..*context });
    let mask = mask.map_err(|e| e.at("'mask_codecs'"))?;
    let count = chunk.shape().iter().product();
    let data = LinearChain::new(data_codecs, &value, count, context).map_err(|e| e.at("'data_codecs'"))?;
    Ok(Codec::ArrayToBytes(Box::new(OptionalCodec { chunk, value, mask, data, limit: context.limit })))
}

/// The codec for chunks of one shape and data type.
#[derive(Debug)]
struct OptionalCodec {
    chunk: ChunkSpec,
    /// The data type of the values.
    value: DataType,
    mask: CodecChain,
    data: LinearChain,
    limit: usize,
}

impl ArrayToBytes for OptionalCodec {
    fn configuration(&self) -> Map {
        members(&self.mask.specs(), &self.data.usual().specs())
    }

    fn encoded_size(&self) -> Size {
        let (mask, data) = (self.mask.encoded_size().limit(), self.data.usual().encoded_size().limit());
        Size::AtMost(mask.saturating_add(data).saturating_add(16))
    }

    fn decode(&self, encoded: &[u8], part: ReadRegion<'_>) -> Result<(), CodecError> {
        self.decode_part(encoded, part).map_err(|e| e.in_codec(NAME))
    }

    fn encode(&self, chunk: &View<'_>, _: EncodeOptions, encoded: &mut Vec<u8>) -> Result<bool, CodecError> {
        if self.chunk.is_variable() {
            return self.encode_variable(chunk, encoded);
        }
        let size = self.value.size();
        let mut gathered;
        let elements = match chunk.as_slice() {
            Some(elements) => elements,
            None => {
                gathered = self.scratch(self.chunk.size())?;
                ViewMut::contiguous(&mut gathered, chunk.shape(), chunk.item()).copy_from(chunk, 1);
                &gathered
            }
        };
        let mask: Vec<u8> =
            elements.chunks_exact(size + 1).map(|element| u8::from(element[0] != 0)).collect();
        let present = mask.iter().map(|&present| usize::from(present)).sum::<usize>();
        // One more element than there are values: a missing value is written to the position of the next value.
        let mut values = self.scratch((present + 1) * size)?;
        compact(elements, size, &mask, &mut values);
        let values = &values[..present * size];
        self.value
            .check_range(&View::contiguous(values, &[present], size))
            .map_err(|error| CodecError::invalid(error.to_string()))?;
        self.join(&mask, values, &VlenBuffer::new(), encoded)
    }
}

impl OptionalCodec {
    /// Appends the encoded mask and the encoded values.
    fn join(
        &self,
        mask: &[u8],
        values: &[u8],
        vlen: &VlenBuffer,
        encoded: &mut Vec<u8>,
    ) -> Result<bool, CodecError> {
        let start = encoded.len();
        encoded.extend_from_slice(&[0; 16]);
        let options = EncodeOptions { store_empty_chunks: true };
        self.mask
            .encode(&View::contiguous(mask, self.chunk.shape(), 1), options, encoded)
            .map_err(|e| e.at("mask"))?;
        let middle = encoded.len();
        self.data.encode(values, vlen, encoded).map_err(|e| e.at("data"))?;
        let lengths =
            [middle - start - 16, encoded.len() - middle].map(|length| (length as u64).to_le_bytes());
        encoded[start..start + 16].copy_from_slice(lengths.as_flattened());
        Ok(true)
    }

    fn encode_variable(&self, chunk: &View<'_>, encoded: &mut Vec<u8>) -> Result<bool, CodecError> {
        let (mut mask, mut bytes, mut lengths) = (Vec::new(), Vec::new(), Vec::new());
        let gathered = chunk.for_each_element(|element| {
            let value = element.split_first().filter(|(present, _)| **present != 0);
            mask.push(u8::from(value.is_some()));
            if let Some((_, value)) = value {
                bytes.extend_from_slice(value);
                lengths.push(value.len());
            }
            Ok::<_, std::convert::Infallible>(())
        });
        let Ok(()) = gathered;
        let (vlen, mut values) = (VlenBuffer::new(), vec![0; lengths.len() * VlenRef::SIZE]);
        let mut view = ViewMut::contiguous(&mut values, &[lengths.len()], VlenRef::SIZE).with_vlen(&vlen);
        view.set_elements(bytes, lengths)?;
        self.join(&mask, &values, &vlen, encoded)
    }

    fn decode_variable(&self, mask: &[u8], data: &[u8], mut part: ReadRegion<'_>) -> Result<(), CodecError> {
        let present = mask.iter().map(|&present| usize::from(present)).sum::<usize>();
        let (vlen, mut values) = (VlenBuffer::new(), vec![0; present * VlenRef::SIZE]);
        self.data.decode(data, &mut values, &vlen).map_err(|e| e.at("data"))?;
        let mut values = values.chunks_exact(VlenRef::SIZE).map(|reference| vlen.element(reference));
        let (mut bytes, mut lengths) = (Vec::new(), Vec::with_capacity(mask.len()));
        for &present in mask {
            let start = bytes.len();
            if let Some(value) = if present == 1 { values.next() } else { None } {
                bytes.push(1);
                bytes.extend_from_slice(value);
            }
            lengths.push(bytes.len() - start);
        }
        if part.covers(self.chunk.shape()) {
            return part.out.set_elements(bytes, lengths);
        }
        let (vlen, mut memory) = (VlenBuffer::new(), vec![0; self.chunk.size()]);
        self.chunk.view_mut(&mut memory, &vlen).set_elements(bytes, lengths)?;
        part.copy_from(&self.chunk.view(&memory, &vlen));
        Ok(())
    }

    fn decode_part(&self, encoded: &[u8], mut part: ReadRegion<'_>) -> Result<(), CodecError> {
        let (mask, data) = split(encoded)?;
        let mask = self.decode_mask(mask).map_err(|e| e.at("mask"))?;
        if self.chunk.is_variable() {
            return self.decode_variable(&mask, data, part);
        }
        let present = mask.iter().map(|&present| usize::from(present)).sum::<usize>();
        let size = self.value.size();
        // One more element than there are values: a missing value is read from the position of the next value.
        let mut values = self.scratch((present + 1) * size)?;
        let (stored, behind) = values.split_at_mut(present * size);
        self.data.decode(data, stored, &VlenBuffer::new()).map_err(|e| e.at("data"))?;
        self.value.normalise(&mut ViewMut::contiguous(stored, &[present], size));
        behind.fill(0);
        if part.covers(self.chunk.shape())
            && let Some(elements) = part.out.as_slice_mut()
        {
            expand(&values, size, &mask, elements);
            return Ok(());
        }
        let mut elements = self.scratch(self.chunk.size())?;
        expand(&values, size, &mask, &mut elements);
        let chunk = View::contiguous(&elements, self.chunk.shape(), size + 1);
        part.copy_from(&chunk);
        Ok(())
    }

    /// Decodes the mask to one byte per element: 1 if the value is present, and otherwise 0.
    fn decode_mask(&self, encoded: &[u8]) -> Result<Scratch, CodecError> {
        let shape = self.chunk.shape();
        let mut mask = self.scratch(shape.iter().product())?;
        let region = shape.iter().map(|&length| Span::all(length)).collect();
        self.mask.decode(encoded, ReadRegion::new(region, ViewMut::contiguous(&mut mask, shape, 1)))?;
        mask.iter_mut().for_each(|present| *present = u8::from(*present != 0));
        Ok(mask)
    }

    fn scratch(&self, size: usize) -> Result<Scratch, CodecError> {
        if size > self.limit {
            let message =
                format!("one chunk would take {size} bytes of memory, and the limit is {}", self.limit);
            return Err(CodecError::limit(message));
        }
        Ok(Scratch::with_len(size)?)
    }
}

/// Returns the encoded mask and the encoded values.
fn split(encoded: &[u8]) -> Result<(&[u8], &[u8]), CodecError> {
    let (lengths, rest) = encoded.split_first_chunk::<16>().ok_or_else(|| truncated(encoded.len()))?;
    let [mask, data] = [0, 8].map(|at| {
        let mut length = [0; 8];
        length.copy_from_slice(&lengths[at..at + 8]);
        u64::from_le_bytes(length)
    });
    if mask.checked_add(data) != Some(rest.len() as u64) {
        return Err(CodecError::corrupt(format!(
            "the header gives the mask {mask} bytes and the values {data}, but {} bytes are stored",
            rest.len()
        )));
    }
    Ok(rest.split_at(rest.len() - usize::try_from(data).unwrap_or(rest.len())))
}

/// Copies the present values to consecutive positions. `values` must have room for one more value.
fn compact(elements: &[u8], size: usize, mask: &[u8], values: &mut [u8]) {
    match size {
        1 => compact_sized::<1>(elements, mask, values),
        2 => compact_sized::<2>(elements, mask, values),
        4 => compact_sized::<4>(elements, mask, values),
        8 => compact_sized::<8>(elements, mask, values),
        _ => {
            let present = elements.chunks_exact(size + 1).zip(mask).filter(|(_, present)| **present == 1);
            for ((element, _), value) in present.zip(values.chunks_exact_mut(size)) {
                value.copy_from_slice(&element[1..]);
            }
        }
    }
}

/// [`compact`] for a constant size, with a branchless loop.
fn compact_sized<const N: usize>(elements: &[u8], mask: &[u8], values: &mut [u8]) {
    let values = values.as_chunks_mut::<N>().0;
    let mut next = 0;
    for (element, &present) in elements.chunks_exact(N + 1).zip(mask) {
        values[next].copy_from_slice(&element[1..]);
        next += usize::from(present);
    }
}

/// Copies values to the elements that the mask marks as present. The values must be followed by one more value, which is zero.
fn expand(values: &[u8], size: usize, mask: &[u8], elements: &mut [u8]) {
    match size {
        1 => expand_sized::<1>(values, mask, elements),
        2 => expand_sized::<2>(values, mask, elements),
        4 => expand_sized::<4>(values, mask, elements),
        8 => expand_sized::<8>(values, mask, elements),
        _ => {
            let mut values = values.chunks_exact(size);
            for (element, &present) in elements.chunks_exact_mut(size + 1).zip(mask) {
                element[0] = present;
                let value = if present == 1 { values.next() } else { None };
                match value {
                    Some(value) => element[1..].copy_from_slice(value),
                    None => element[1..].fill(0),
                }
            }
        }
    }
}

/// [`expand`] for a constant size, with a branchless loop.
fn expand_sized<const N: usize>(values: &[u8], mask: &[u8], elements: &mut [u8]) {
    let values = values.as_chunks::<N>().0;
    let mut next = 0;
    for (element, &present) in elements.chunks_exact_mut(N + 1).zip(mask) {
        element[0] = present;
        let kept = present.wrapping_neg();
        element[1..].copy_from_slice(&values[next].map(|byte| byte & kept));
        next += usize::from(present);
    }
}

#[cfg(test)]
mod tests {
    use zarrox_core::Strictness;
    use zarrox_core::json::Json;
    use zarrox_core::json::json;
    use zarrox_testkit::codec::{Integrity, Random, typed_suite};

    use super::*;
    use crate::testing::{chain, decode_chunk, hex, spec};
    use crate::{Crc32c, Sharding, Transpose, registry};
    use zarrox_core::ErrorKind;
    use zarrox_testkit::errors::assert_error;

    fn of(value: &str) -> DataType {
        DataType::optional(DataType::parse(value, &registry()).unwrap()).unwrap()
    }

    fn nested() -> DataType {
        DataType::optional(of("int16")).unwrap()
    }

    /// Returns an element that is missing with a probability of one half. `value` creates its value.
    fn element(
        data_type: &DataType,
        value: impl Fn(&mut Random) -> Vec<u8>,
    ) -> impl Fn(&mut Random) -> Vec<u8> {
        let size = data_type.size();
        move |random| match random.below(2) {
            0 => vec![0; size],
            _ => [vec![1], value(random)].concat(),
        }
    }

    #[test]
    fn suite() {
        let shapes: &[&[u64]] = &[&[], &[1], &[7], &[4, 6], &[3, 1, 5, 4]];
        let check = |data_type: &DataType, integrity, size: usize, specs: &dyn Fn() -> Vec<CodecSpec>| {
            let element = element(data_type, |random| random.bytes(size));
            typed_suite(&registry(), data_type, shapes, integrity, element, |_| specs());
        };
        for (value, size) in [("uint8", 1), ("int16", 2), ("float32", 4), ("complex64", 8), ("r24", 3)] {
            check(&of(value), Integrity::Unchecked, size, &|| vec![ZarrsOptional::default().into()]);
        }
        let checked = || [Bytes::big().into(), Crc32c::default().into()];
        let both = || ZarrsOptional::default().mask_codecs(checked()).data_codecs(checked());
        check(&of("complex128"), Integrity::Unchecked, 16, &|| vec![both().into()]);
        check(&of("int64"), Integrity::Checked, 8, &|| vec![both().into(), Crc32c::default().into()]);
    }

    #[test]
    fn suite_of_nested_and_moved_elements() {
        let inside = || ZarrsOptional::default().data_codecs([ZarrsOptional::default().into()]);
        let inner = of("int16");
        let value = element(&inner, |random| random.bytes(2));
        let specs = |_: &[u64]| vec![inside().into()];
        let shapes: &[&[u64]] = &[&[7], &[4, 6]];
        typed_suite(&registry(), &nested(), shapes, Integrity::Unchecked, element(&nested(), value), specs);
        let data_type = of("float64");
        let sharded = |_: &[u64]| {
            let order: CodecSpec = Transpose::order([1, 0]).into();
            vec![order.clone(), Sharding::new([3, 2], [order, ZarrsOptional::default().into()]).into()]
        };
        let element = element(&data_type, |random| random.bytes(8));
        typed_suite(&registry(), &data_type, &[&[4, 6]], Integrity::Unchecked, element, sharded);
    }

    fn make(
        data_type: &DataType,
        shape: &[u64],
        configuration: Json,
        strictness: Strictness,
    ) -> Result<CodecChain, String> {
        let fill = FillValue::zero(data_type.size());
        let chunk = ChunkSpec::new(shape, data_type.storage(), fill).unwrap().of_type(data_type);
        chain(&[spec(NAME, configuration)], &chunk, &registry(), strictness).map_err(|e| e.to_string())
    }

    /// Returns the elements with these values; `None` is a missing value.
    fn elements<const N: usize>(values: &[Option<[u8; N]>]) -> Vec<u8> {
        let element = |value: &Option<[u8; N]>| match value {
            Some(value) => [&[1], value.as_slice()].concat(),
            None => vec![0; N + 1],
        };
        values.iter().flat_map(element).collect()
    }

    #[test]
    fn golden() {
        // zarrs 0.23.14: `Array::store_chunk` of elements with these masks and values.
        let little = json!([{"name": "bytes", "configuration": {"endian": "little"}}]);
        let with = |data: Json| json!({"mask_codecs": ["packbits"], "data_codecs": data});
        let number = |n: i16| Some(n.to_ne_bytes());
        let time = |n: i64| Some(n.to_ne_bytes());
        let times = DataType::optional(
            DataType::parse("numpy.datetime64", &registry())
                .or_else(|_| DataType::parse("M8[s]", &registry()))
                .unwrap(),
        );
        let big = json!({"mask_codecs": ["bytes", "crc32c"],
            "data_codecs": [{"name": "bytes", "configuration": {"endian": "big"}}, "crc32c"]});
        let in_two = with(json!([{"name": NAME, "configuration": with(json!(["bytes"]))}]));
        let of_two = DataType::optional(of("uint8")).unwrap();
        let cases = [
            (
                of("uint8"),
                vec![2, 3],
                with(json!(["bytes"])),
                elements(&[Some([1]), Some([2]), None, None, Some([5]), Some([6])]),
                "010000000000000004000000000000003301020506",
            ),
            (
                of("int16"),
                vec![2, 3],
                big,
                elements(&[number(1), None, number(-3), None, None, number(6)]),
                "0a000000000000000a00000000000000010001000001283e34970001fffd00062965f3bf",
            ),
            (
                of("int16"),
                vec![2, 3],
                with(little.clone()),
                elements::<2>(&[None; 6]),
                "0100000000000000000000000000000000",
            ),
            (
                of("int16"),
                vec![2],
                with(little.clone()),
                elements(&[number(5), number(6)]),
                "010000000000000004000000000000000305000600",
            ),
            (
                times.unwrap(),
                vec![3],
                with(little),
                elements(&[time(7), None, time(9)]),
                "010000000000000010000000000000000507000000000000000900000000000000",
            ),
            (
                of("bool"),
                vec![5],
                with(json!(["packbits"])),
                elements(&[Some([1]), None, Some([0]), None, Some([1])]),
                "010000000000000001000000000000001505",
            ),
            (
                of_two.clone(),
                vec![4],
                in_two.clone(),
                elements(&[Some([1, 1]), Some([0, 0]), None, Some([1, 4])]),
                "010000000000000013000000000000000b01000000000000000200000000000000050104",
            ),
            (
                of_two,
                vec![2],
                in_two,
                elements(&[Some([0, 0]), None]),
                "01000000000000001100000000000000010100000000000000000000000000000000",
            ),
        ];
        for (data_type, shape, configuration, memory, golden) in cases {
            let chain = make(&data_type, &shape, configuration, Strictness::Lenient).unwrap();
            assert_eq!(decode_chunk(&chain, &hex(golden)).unwrap(), memory, "{data_type}");
            let mut encoded = Vec::new();
            let view = View::contiguous(&memory, chain.chunk().shape(), chain.chunk().item());
            assert!(chain.encode(&view, EncodeOptions { store_empty_chunks: true }, &mut encoded).unwrap());
            assert_eq!(encoded, hex(golden), "{data_type}");
        }
    }

    #[test]
    fn values_of_variable_length() {
        // zarrs 0.23.14: `Array::store_chunk` of "ab", a missing element and "c".
        let golden = hex("01000000000000000f0000000000000005020000000200000061620100000063");
        let text = of("string");
        let chunk = ChunkSpec::new(&[3], Storage::Variable, FillValue::new([])).unwrap().of_type(&text);
        let optional = |data: Json| spec(NAME, json!({"mask_codecs": ["packbits"], "data_codecs": data}));
        let chain_of = |data: Json| chain(&[optional(data)], &chunk, &registry(), Strictness::Lenient);
        let chain_of_utf8 = chain_of(json!(["vlen-utf8"])).unwrap();
        let vlen = VlenBuffer::new();
        let decode = |encoded: &[u8], span: Span| {
            let mut memory = vec![0; span.count * VlenRef::SIZE];
            let out = ViewMut::contiguous(&mut memory, &[span.count], VlenRef::SIZE).with_vlen(&vlen);
            chain_of_utf8.decode(encoded, ReadRegion::new([span].into_iter().collect(), out)).map(|()| memory)
        };
        let bytes = |memory: &[u8]| {
            memory
                .chunks_exact(VlenRef::SIZE)
                .map(|reference| vlen.element(reference).to_vec())
                .collect::<Vec<_>>()
        };
        let whole = decode(&golden, Span::all(3)).unwrap();
        assert_eq!(bytes(&whole), [&b"\x01ab"[..], b"", b"\x01c"]);
        let part = decode(&golden, Span { start: 0, step: 2, count: 2 }).unwrap();
        assert_eq!(bytes(&part), [&b"\x01ab"[..], b"\x01c"]);
        let mut encoded = Vec::new();
        chain_of_utf8.encode(&chunk.view(&whole, &vlen), EncodeOptions::default(), &mut encoded).unwrap();
        assert_eq!(encoded, golden);
        for length in 0..golden.len() {
            assert_error(decode(&golden[..length], Span::all(3)), ErrorKind::Corrupt, "'zarrs.optional'");
        }
        let mut damaged = golden;
        damaged[16] = 7;
        let error = decode(&damaged, Span::all(3)).unwrap_err().to_string();
        assert!(
            error.contains("data: codec 'vlen-utf8': 2 elements are stored, but a chunk has 3"),
            "{error}"
        );
        let error =
            chain(&[spec("vlen-utf8", json!({}))], &chunk, &registry(), Strictness::Lenient).unwrap_err();
        assert!(error.to_string().contains("optional elements need another codec"), "{error}");
        assert_error(chain_of(json!(["bytes"])), ErrorKind::InvalidMetadata, "'data_codecs'");
    }

    #[test]
    fn elements_that_mean_the_same_are_the_same() {
        let plain = json!({"mask_codecs": ["bytes"], "data_codecs": ["bytes"]});
        let chain = make(&of("int4"), &[3], plain, Strictness::Lenient).unwrap();
        let stored = |mask: [u8; 3], data: &[u8]| {
            [&3_u64.to_le_bytes()[..], &(data.len() as u64).to_le_bytes(), &mask, data].concat()
        };
        let found = decode_chunk(&chain, &stored([0, 7, 255], &[0x77, 0x0f])).unwrap();
        assert_eq!(found, elements(&[None, Some([7]), Some([0xff])]));
        let mut encoded = Vec::new();
        let memory = [0, 9, 1, 0xff, 2, 7];
        chain.encode(&View::contiguous(&memory, &[3], 2), EncodeOptions::default(), &mut encoded).unwrap();
        assert_eq!(encoded, stored([0, 1, 1], &[0xff, 7]));
        let wrong = [1, 8, 0, 0, 0, 0];
        let error = chain.encode(&View::contiguous(&wrong, &[3], 2), EncodeOptions::default(), &mut encoded);
        assert!(error.unwrap_err().to_string().contains("8 is outside of the range of int4"));
    }

    #[test]
    fn damaged_chunks_say_why() {
        let plain = json!({"mask_codecs": ["bytes"], "data_codecs": ["bytes"]});
        let chain = make(&of("uint8"), &[2], plain, Strictness::Lenient).unwrap();
        let chunk =
            |mask: u64, data: u64, rest: &[u8]| [&mask.to_le_bytes()[..], &data.to_le_bytes(), rest].concat();
        assert!(decode_chunk(&chain, &chunk(2, 1, &[0, 1, 5])).is_ok());
        for (bad, says) in [
            (vec![0; 15], "truncated: 15 bytes are not enough"),
            (chunk(2, 2, &[0, 1, 5]), "gives the mask 2 bytes and the values 2, but 3 bytes are stored"),
            (chunk(u64::MAX, 4, &[0, 1, 5]), "gives the mask 18446744073709551615 bytes"),
            (chunk(1, 2, &[0, 1, 5]), "mask: codec 'bytes': truncated"),
            (
                chunk(2, 1, &[1, 1, 5]),
                "data: codec 'bytes': truncated: 1 bytes are stored, but a chunk has 2",
            ),
            (chunk(2, 1, &[0, 0, 5]), "data: 1 bytes are stored, but the chunk has no elements"),
            (chunk(2, 0, &[0, 1]), "data: codec 'bytes': truncated"),
        ] {
            let error = decode_chunk(&chain, &bad).unwrap_err().to_string();
            assert!(error.starts_with("codec 'zarrs.optional': ") && error.contains(says), "{error}");
        }
    }

    #[test]
    fn configurations() {
        let complete = json!({
            "mask_codecs": [{"name": "packbits", "configuration": {"padding_encoding": "none"}}],
            "data_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
        });
        let number = of("int16");
        let chain_of = |json: Json, strictness| {
            make(&number, &[2], json, strictness).map(|chain| chain.specs().remove(0))
        };
        assert_eq!(
            Json::Object(chain_of(complete.clone(), Strictness::Strict).unwrap().configuration),
            complete
        );
        let error = |name: &str, value: Json| {
            let mut json = complete.clone();
            json[name] = value;
            chain_of(json, Strictness::Lenient).unwrap_err()
        };
        assert!(error("mask_codecs", json!(null)).contains("lacks 'mask_codecs'"));
        assert!(error("data_codecs", json!(3)).contains("expected a list of codecs"));
        assert!(
            error("mask_codecs", json!([])).contains("'mask_codecs': no codec turns the array into bytes")
        );
        assert!(error("data_codecs", json!(["nosuch"])).contains("'data_codecs': unknown codec 'nosuch'"));
        assert!(error("more", json!(1)).contains("unknown member 'more'"));
        let plain = make(&DataType::Int16, &[2], complete.clone(), Strictness::Lenient).unwrap_err();
        assert!(plain.contains("the data type of the array is not optional"), "{plain}");
        let chunk = ChunkSpec::new(&[2], number.storage(), FillValue::zero(3)).unwrap().of_type(&number);
        for alias in DEF.aliases {
            assert!(
                chain(&[spec(alias, complete.clone())], &chunk, &registry(), Strictness::Lenient).is_ok()
            );
        }
        let bytes = chain(&[Bytes::little().into()], &chunk, &registry(), Strictness::Lenient)
            .unwrap_err()
            .to_string();
        assert!(bytes.contains("optional elements need another codec"), "{bytes}");
    }
}
