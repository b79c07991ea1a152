//! The zfp streams shared by the codecs `zfp` and `numcodecs.zfpy`.
//!
//! Format: <https://zfp.readthedocs.io/en/latest/algorithm.html>
//!
//! zfp supports integers and floats of 32 and 64 bits. Integers of 8 and 16 bits are shifted up to 31 bits, as by zfp's own
//! conversion functions. Unsigned integers of 32 and 64 bits are stored as signed integers, which can only represent the lower
//! half of their range.

use bytemuck::Pod;
use zarrox_core::codec::{ChunkSpec, CodecContext, CodecError, ReadRegion};
use zarrox_core::data_type::Storage;
use zarrox_core::strided::View;
use zfp_rs::{
    STREAM_WORD_BITS, STREAM_WORD_BYTES, ZFP_MIN_EXP, ZfpBitStreamRef, ZfpBitStreamRefMut,
    ZfpCompressionError, ZfpConfig, ZfpDecompressionError, ZfpField, ZfpFieldMut, ZfpHeaderMask, ZfpMode,
    ZfpScalar, ZfpScalarType,
};

use crate::array_to_bytes::numbers::{self, Buffer};
use crate::error::truncated;

/// The maximum number of dimensions that zfp supports.
const MAX_DIMENSIONS: usize = 4;

/// Runs `$work` with `$T` as the Rust type of an element.
macro_rules! with_element {
    ($storage:expr, $T:ident => $work:expr, [$($layout:ident $size:literal $type:ty),+]) => {
        match $storage {
            $(Storage::$layout($size) => { type $T = $type; $work })+
            other => Err(CodecError::unsupported(format!("elements of the layout {other:?}"))),
        }
    };
    ($storage:expr, $T:ident => $work:expr) => {
        with_element!($storage, $T => $work, [
            Int 1 i8, Int 2 i16, Int 4 i32, Int 8 i64, Uint 1 u8, Uint 2 u16, Uint 4 u32, Uint 8 u64,
            Float 4 f32, Float 8 f64
        ])
    };
}

/// The properties of chunks in terms of zfp.
#[derive(Debug)]
pub(crate) struct ZfpChunk {
    chunk: ChunkSpec,
    limit: usize,
    /// The type in which zfp stores an element.
    scalar: ZfpScalarType,
    /// The shape, fastest-varying axis first, padded with zeros; `None` if there are too many axes.
    dims: Option<[usize; 4]>,
}

impl ZfpChunk {
    /// Returns the properties of the chunks for which a codec is created, if zfp can store their elements.
    pub(crate) fn new(context: &CodecContext<'_>) -> Result<Self, CodecError> {
        let chunk = context.chunk.clone();
        let scalar = match chunk.storage() {
            _ if !numbers::are_plain(&chunk) => None,
            Storage::Int(1 | 2 | 4) | Storage::Uint(1 | 2 | 4) => Some(ZfpScalarType::I32),
            Storage::Int(8) | Storage::Uint(8) => Some(ZfpScalarType::I64),
            Storage::Float(4) => Some(ZfpScalarType::F32),
            Storage::Float(8) => Some(ZfpScalarType::F64),
            _ => None,
        };
        let scalar =
            scalar.ok_or_else(|| numbers::unfit(&chunk, "integers, and floats of 32 and 64 bits"))?;
        let dims = dims(chunk.shape());
        Ok(Self { chunk, limit: context.limit, scalar, dims })
    }

    /// Returns the type in which zfp stores an element.
    pub(crate) fn scalar(&self) -> ZfpScalarType {
        self.scalar
    }

    /// Returns true if zfp stores the elements as integers.
    pub(crate) fn is_integer(&self) -> bool {
        matches!(self.scalar, ZfpScalarType::I32 | ZfpScalarType::I64)
    }

    /// Returns true if zfp stores the elements unchanged.
    pub(crate) fn is_unchanged(&self) -> bool {
        matches!(self.chunk.storage(), Storage::Int(4 | 8) | Storage::Float(_))
    }

    /// Returns the shape, fastest-varying axis first, padded with zeros.
    pub(crate) fn dims(&self) -> Result<[usize; 4], CodecError> {
        self.dims.ok_or_else(|| self.too_many_dimensions())
    }

    /// Returns the error for more dimensions than zfp supports.
    pub(crate) fn too_many_dimensions(&self) -> CodecError {
        let count = self.chunk.shape().len();
        CodecError::unsupported(format!(
            "zfp stores up to {MAX_DIMENSIONS} dimensions, but a chunk has {count}"
        ))
    }

    /// Decodes a stream without a header, using these parameters, or a stream with a header that contains its parameters.
    pub(crate) fn decode(
        &self,
        encoded: &[u8],
        config: Option<&ZfpConfig>,
        part: ReadRegion<'_>,
    ) -> Result<(), CodecError> {
        with_element!(self.chunk.storage(), T => self.decode_elements::<T>(encoded, config, part))
    }

    fn decode_elements<T: Element>(
        &self,
        encoded: &[u8],
        config: Option<&ZfpConfig>,
        part: ReadRegion<'_>,
    ) -> Result<(), CodecError> {
        let shape = config.map(|config| Ok::<_, CodecError>((*config, self.dims()?))).transpose()?;
        numbers::decode::<T>(&self.chunk, self.limit, part, |elements| {
            if T::IS_SCALAR {
                return decompress::<T::Scalar>(encoded, shape, bytemuck::cast_slice_mut(elements)).map(drop);
            }
            let mut buffer = Buffer::new(elements.len() * size_of::<T::Scalar>(), self.limit)?;
            let scalars = buffer.numbers::<T::Scalar>();
            let exact = decompress(encoded, shape, scalars)? == ZfpMode::Reversible;
            let pairs = elements.iter_mut().zip(&*scalars);
            let strays = pairs.fold(false, |strays, (element, &scalar)| {
                *element = T::from_scalar(scalar);
                strays | (element.to_scalar() != Some(scalar))
            });
            if strays && exact {
                return Err(CodecError::corrupt("a stored number does not fit into the array's data type"));
            }
            Ok(())
        })
    }

    /// Encodes a chunk, appending to `encoded`.
    pub(crate) fn encode(
        &self,
        chunk: &View<'_>,
        config: &ZfpConfig,
        header: bool,
        encoded: &mut Vec<u8>,
    ) -> Result<(), CodecError> {
        with_element!(self.chunk.storage(), T => self.encode_elements::<T>(chunk, config, header, encoded))
    }

    fn encode_elements<T: Element>(
        &self,
        chunk: &View<'_>,
        config: &ZfpConfig,
        header: bool,
        encoded: &mut Vec<u8>,
    ) -> Result<(), CodecError> {
        numbers::encode::<T>(chunk, |elements| {
            if T::IS_SCALAR {
                return self.compress::<T::Scalar>(bytemuck::cast_slice(elements), config, header, encoded);
            }
            let mut buffer = Buffer::new(elements.len() * size_of::<T::Scalar>(), self.limit)?;
            let scalars = buffer.numbers::<T::Scalar>();
            for (scalar, element) in scalars.iter_mut().zip(elements) {
                *scalar = element.to_scalar().ok_or_else(|| {
                    CodecError::invalid(format!(
                        "zfp stores signed integers, which cannot represent {element:?}"
                    ))
                })?;
            }
            self.compress(scalars, config, header, encoded)
        })
    }

    fn compress<S: Scalar>(
        &self,
        scalars: &[S],
        config: &ZfpConfig,
        header: bool,
        encoded: &mut Vec<u8>,
    ) -> Result<(), CodecError> {
        if !is_reversible(config) && !S::lossy_modes_support(scalars) {
            return Err(CodecError::invalid(S::LOSSY_RANGE_ERROR));
        }
        let dims = self.dims()?;
        let capacity = config.maximum_size(S::SCALAR_TYPE, dims).unwrap_or(usize::MAX);
        let mut buffer = Buffer::new(capacity, self.limit)?;
        let words = buffer.numbers::<u64>();
        let mut stream = ZfpBitStreamRefMut::from_words(words);
        let field = ZfpField::new(scalars, dims)
            .map_err(|error| CodecError::invalid(error.to_string()).with_source(error))?;
        if header {
            stream.write_header(config, &field.metadata(), ZfpHeaderMask::FULL).map_err(refused)?;
        }
        let size = stream.compress(config, &field).map_err(refused)?;
        let words = &mut words[..size / STREAM_WORD_BYTES];
        words.iter_mut().for_each(|word| *word = word.to_le());
        encoded.extend_from_slice(bytemuck::cast_slice(words));
        Ok(())
    }
}

fn dims(shape: &[usize]) -> Option<[usize; 4]> {
    let mut dims = [0; MAX_DIMENSIONS];
    // An array without dimensions has one element.
    dims[0] = 1;
    dims.get_mut(..shape.len())?.iter_mut().zip(shape.iter().rev()).for_each(|(dim, &length)| *dim = length);
    Some(dims)
}

/// Returns true if compression with these parameters is lossless, provided that the stream is not truncated.
fn is_reversible(config: &ZfpConfig) -> bool {
    config.min_exp() < ZFP_MIN_EXP
}

/// Decodes a stream, which must fill `scalars`, and returns its compression mode. If no shape is given, the stream must have a
/// header.
fn decompress<S: ZfpScalar>(
    encoded: &[u8],
    shape: Option<(ZfpConfig, [usize; 4])>,
    scalars: &mut [S],
) -> Result<ZfpMode, CodecError> {
    with_stream(encoded, |stream| {
        let (config, dims) = match shape {
            Some(shape) => shape,
            None => read_header(stream, S::SCALAR_TYPE, scalars.len())?,
        };
        let field = ZfpFieldMut::new(scalars, dims);
        let mut field = field.map_err(|error| CodecError::corrupt(error.to_string()).with_source(error))?;
        stream.decompress(&config, &mut field).map_err(|error| match error {
            ZfpDecompressionError::Truncated { .. } => truncated(encoded.len()),
            other => CodecError::corrupt(other.to_string()).with_source(other),
        })?;
        Ok(config.mode())
    })
}

/// Reads a header: the compression mode and the shape. The shape must have `count` elements, but its dimensions may differ, since
/// numcodecs up to 0.9 flattened all dimensions into one.
fn read_header(
    stream: &mut ZfpBitStreamRef<'_>,
    scalar: ZfpScalarType,
    count: usize,
) -> Result<(ZfpConfig, [usize; 4]), CodecError> {
    let header = stream.read_header(ZfpHeaderMask::FULL);
    let header = header.map_err(|error| CodecError::corrupt(error.to_string()).with_source(error))?;
    let (Some(field), Some(config)) = (header.metadata, header.config) else {
        return Err(CodecError::corrupt("the header is incomplete"));
    };
    let stored = field.dims.iter().filter(|&&dim| dim > 0).try_fold(1, |n: usize, &dim| n.checked_mul(dim));
    if field.scalar_type != scalar || stored != Some(count) {
        let (kind, shape) = (field.scalar_type, field.dims);
        return Err(CodecError::corrupt(format!(
            "numbers of the type {kind} are stored in the shape {shape:?}, but a chunk has {count} numbers of the type {scalar}"
        )));
    }
    Ok((config, field.dims))
}

/// Passes encoded bytes to `work` as a stream of words. They are not copied if they are aligned.
fn with_stream<R>(
    encoded: &[u8],
    work: impl FnOnce(&mut ZfpBitStreamRef<'_>) -> Result<R, CodecError>,
) -> Result<R, CodecError> {
    if cfg!(target_endian = "little")
        && encoded.len().is_multiple_of(STREAM_WORD_BYTES)
        && let Ok(words) = bytemuck::try_cast_slice(encoded)
    {
        return work(&mut ZfpBitStreamRef::from_words(words));
    }
    // The writer's zfp may have been built with shorter words. The stream is placed so that it ends at the end of a long word,
    // and reading past the end is detected.
    let size = encoded.len().next_multiple_of(STREAM_WORD_BYTES);
    let skipped = size - encoded.len();
    let mut buffer = Buffer::new(size, usize::MAX)?;
    buffer.bytes()[..skipped].fill(0);
    buffer.bytes()[skipped..].copy_from_slice(encoded);
    let words = buffer.numbers::<u64>();
    words.iter_mut().for_each(|word| *word = u64::from_le(*word));
    let mut stream = ZfpBitStreamRef::from_words(words);
    stream.seek_read(skipped as u64 * 8);
    work(&mut stream)
}

/// Returns the length of a stream without a header whose blocks all have the same number of bits.
pub(crate) fn fixed_size(dims: [usize; 4], block_bits: u32) -> Option<usize> {
    let blocks =
        dims.iter().filter(|&&dim| dim > 0).try_fold(1, |n: usize, dim| n.checked_mul(dim.div_ceil(4)))?;
    let bits = blocks.checked_mul(block_bits as usize)?;
    bits.div_ceil(STREAM_WORD_BITS as usize).checked_mul(STREAM_WORD_BYTES)
}

fn refused(error: ZfpCompressionError) -> CodecError {
    CodecError::invalid(format!("zfp cannot store this: {error}"))
}

/// A number type that zfp stores.
trait Scalar: ZfpScalar + PartialEq {
    /// The error message if [`Scalar::lossy_modes_support`] returns false.
    const LOSSY_RANGE_ERROR: &str;

    /// Returns true if the lossy modes can store these numbers without corrupting adjacent elements.
    fn lossy_modes_support(scalars: &[Self]) -> bool;
}

macro_rules! scalars {
    ($($type:ty: $scalar:ident => $takes:expr, $what:expr;)+) => {$(
        impl Scalar for $type {
            const LOSSY_RANGE_ERROR: &str = $what;

            fn lossy_modes_support(scalars: &[Self]) -> bool {
                scalars.iter().fold(true, |all, &$scalar| all & $takes)
            }
        }
    )+};
}

scalars! {
    i32: x => (-(1 << 30)..1 << 30).contains(&x),
        "zfp's lossy modes store integers from -2^30 to 2^30 - 1; the reversible mode stores all";
    i64: x => (-(1 << 62)..1 << 62).contains(&x),
        "zfp's lossy modes store integers from -2^62 to 2^62 - 1; the reversible mode stores all";
    f32: x => x.is_finite(), FINITE;
    f64: x => x.is_finite(), FINITE;
}

const FINITE: &str = "zfp's lossy modes store neither NaN nor infinities, but the reversible mode does. \
                      A fill value of NaN is stored, too, in chunks that are not full";

/// An element type, which is converted to a number type that zfp stores.
trait Element: Pod + std::fmt::Debug {
    /// The number type.
    type Scalar: Scalar;
    /// True if the element type is the number type.
    const IS_SCALAR: bool = false;

    /// Returns the number for an element, or `None` if the number type cannot represent it.
    fn to_scalar(self) -> Option<Self::Scalar>;

    /// Returns the element for a number, or the nearest element.
    fn from_scalar(scalar: Self::Scalar) -> Self;
}

macro_rules! elements {
    ($($type:ty, $scalar:ty: $x:ident => $to:expr, $from:expr;)+) => {$(
        impl Element for $type {
            type Scalar = $scalar;

            fn to_scalar(self) -> Option<$scalar> {
                let $x = self;
                $to
            }

            fn from_scalar($x: $scalar) -> Self {
                $from
            }
        }
    )+};
}

elements! {
    i8, i32: x => Some(i32::from(x) << 23), Self::try_from((x >> 23).clamp(-0x80, 0x7f)).unwrap_or(0);
    u8, i32: x => Some((i32::from(x) - 0x80) << 23), Self::try_from(((x >> 23) + 0x80).clamp(0, 0xff)).unwrap_or(0);
    i16, i32: x => Some(i32::from(x) << 15), Self::try_from((x >> 15).clamp(-0x8000, 0x7fff)).unwrap_or(0);
    u16, i32: x => Some((i32::from(x) - 0x8000) << 15), Self::try_from(((x >> 15) + 0x8000).clamp(0, 0xffff)).unwrap_or(0);
    u32, i32: x => i32::try_from(x).ok(), x.max(0).cast_unsigned();
    u64, i64: x => i64::try_from(x).ok(), x.max(0).cast_unsigned();
}

macro_rules! scalar_elements {
    ($($type:ty),+) => {$(
        impl Element for $type {
            type Scalar = $type;
            const IS_SCALAR: bool = true;

            fn to_scalar(self) -> Option<$type> {
                Some(self)
            }

            fn from_scalar(scalar: $type) -> Self {
                scalar
            }
        }
    )+};
}

scalar_elements!(i32, i64, f32, f64);

#[cfg(test)]
mod tests {
    use zarrox_core::codec::EncodeOptions;
    use zarrox_core::json::json;
    use zarrox_core::{CodecChain, Strictness};

    use super::*;
    use crate::testing::{chain, chunk, decode_chunk, hex, spec};
    use crate::{Zfp, Zfpy, registry};
    use zarrox_core::ErrorKind;
    use zarrox_testkit::errors::assert_error;

    fn encode(chain: &CodecChain, decoded: &[u8]) -> Result<Vec<u8>, CodecError> {
        let mut encoded = Vec::new();
        let all = EncodeOptions { store_empty_chunks: true };
        let view = View::contiguous(decoded, chain.chunk().shape(), chain.chunk().item());
        chain.encode(&view, all, &mut encoded).map(|_| encoded)
    }

    /// Returns the data of `tests/golden/zfp.py` as in memory.
    fn data(storage: &Storage, count: usize) -> Vec<u8> {
        let squares = (0_i32..).take(count).map(|i| i * i % 37);
        match storage {
            Storage::Int(4) => squares.flat_map(|x| (x * (1 << 20) - 3).to_ne_bytes()).collect(),
            Storage::Int(_) => squares.flat_map(|x| (i64::from(x) * (1 << 20) - 3).to_ne_bytes()).collect(),
            Storage::Float(4) => squares.flat_map(|x| (x as f32 * 0.25 - 3.0).to_ne_bytes()).collect(),
            _ => squares.flat_map(|x| (f64::from(x) * 0.25 - 3.0).to_ne_bytes()).collect(),
        }
    }

    /// Converts little-endian numbers to the native byte order.
    fn native(bytes: &[u8], word: usize) -> Vec<u8> {
        let order = |word: &[u8]| match cfg!(target_endian = "little") {
            true => word.to_vec(),
            false => word.iter().rev().copied().collect(),
        };
        bytes.chunks_exact(word).flat_map(order).collect()
    }

    #[test]
    fn golden() {
        let golden = include_str!("../../../tests/golden/zfp.txt");
        let mut odd = 0;
        for line in golden.lines() {
            let [mode, dtype, shape, encoded, bare, decoded] =
                line.split(' ').collect::<Vec<_>>().try_into().unwrap();
            let storage = match dtype {
                "int32" => Storage::Int(4),
                "int64" => Storage::Int(8),
                "float32" => Storage::Float(4),
                _ => Storage::Float(8),
            };
            let (zfp, zfpy) = match mode {
                "reversible" => (Zfp::reversible(), Zfpy::reversible()),
                "fixed_rate" => (Zfp::fixed_rate(11.5), Zfpy::fixed_rate(11.5)),
                "fixed_precision" => (Zfp::fixed_precision(13), Zfpy::fixed_precision(13)),
                _ => (Zfp::fixed_accuracy(0.1), Zfpy::fixed_accuracy(0.1)),
            };
            let shape: Vec<u64> = shape.split('x').map(|length| length.parse().unwrap()).collect();
            let chunk = chunk(&shape, storage.clone());
            let decoded = native(&hex(decoded), storage.size());
            let what = format!("{mode} {dtype} {shape:?}");
            for (codec, encoded) in [(zfp.into(), hex(bare)), (zfpy.into(), hex(encoded))] {
                let chain = chain(&[codec], &chunk, &registry(), Strictness::Strict).unwrap();
                assert!(decode_chunk(&chain, &encoded).unwrap() == decoded, "{what}: decoded");
                let count = chunk.size() / chunk.item();
                assert!(encode(&chain, &data(&storage, count)).unwrap() == encoded, "{what}: encoded");
                // A stream from a zfp with one-byte words ends at its last bit. A shorter stream is an error, except with a fixed
                // rate, since its blocks are padded.
                let ends = |length: &usize| decode_chunk(&chain, &encoded[..*length]).is_ok();
                let shortest = (0..encoded.len()).find(ends).unwrap_or(encoded.len());
                assert!(
                    shortest + STREAM_WORD_BYTES > encoded.len() || mode == "fixed_rate",
                    "{what}: truncated"
                );
                odd += usize::from(!shortest.is_multiple_of(STREAM_WORD_BYTES));
                for length in shortest..encoded.len() {
                    let cut = decode_chunk(&chain, &encoded[..length]);
                    let right = cut.map_or(mode == "fixed_rate", |cut| cut == decoded);
                    assert!(right, "{what}: {length} bytes");
                }
            }
        }
        assert!(odd > 50, "{odd} streams end inside of a word");
    }

    #[test]
    fn small_and_unsigned_integers() {
        let encoded = |storage: Storage, codec: Zfp, decoded: &[u8]| {
            let chain =
                chain(&[codec.into()], &chunk(&[4], storage), &registry(), Strictness::Strict).unwrap();
            encode(&chain, decoded)
        };
        let of = |numbers: [i32; 4]| numbers.iter().flat_map(|x| x.to_ne_bytes()).collect::<Vec<u8>>();
        for codec in [Zfp::reversible(), Zfp::fixed_precision(20)] {
            let scalars = of([i32::from(i8::MIN) << 23, 0, 1 << 23, 127 << 23]);
            let wanted = encoded(Storage::Int(4), codec.clone(), &scalars).unwrap();
            assert_eq!(encoded(Storage::Int(1), codec.clone(), &[128, 0, 1, 127]).unwrap(), wanted);
            assert_eq!(encoded(Storage::Uint(1), codec.clone(), &[0, 128, 129, 255]).unwrap(), wanted);
        }
        let unsigned = [0_u32, 7, 1 << 30, i32::MAX.unsigned_abs()].map(u32::to_ne_bytes).concat();
        let stored = encoded(Storage::Uint(4), Zfp::reversible(), &unsigned).unwrap();
        assert_eq!(stored, encoded(Storage::Int(4), Zfp::reversible(), &unsigned).unwrap());
        let too_large = [0_u32, 7, 1 << 31, 0].map(u32::to_ne_bytes).concat();
        let error = encoded(Storage::Uint(4), Zfp::reversible(), &too_large).unwrap_err().to_string();
        assert!(error.contains("2147483648"), "{error}");
        // A negative number is not a valid unsigned integer. 1 is not a valid 8-bit integer, since those are shifted up.
        for (storage, numbers) in [(Storage::Uint(4), [-1, 0, 0, 0]), (Storage::Int(1), [1, 0, 0, 0])] {
            let stored = encoded(Storage::Int(4), Zfp::reversible(), &of(numbers)).unwrap();
            let chain =
                chain(&[Zfp::reversible().into()], &chunk(&[4], storage), &registry(), Strictness::Strict)
                    .unwrap();
            let error = decode_chunk(&chain, &stored).unwrap_err().to_string();
            assert!(error.contains("does not fit"), "{error}");
        }
    }

    #[test]
    fn lossy_modes_reject_numbers_that_they_would_destroy() {
        let refused = |storage: Storage, codec: Zfp, decoded: Vec<u8>| {
            let chain =
                chain(&[codec.into()], &chunk(&[4], storage), &registry(), Strictness::Strict).unwrap();
            encode(&chain, &decoded).err().map(|error| error.to_string())
        };
        let floats = |x: f64| [0.0, 1.0, x, 2.0].map(f64::to_ne_bytes).concat();
        let small = |x: f32| [0.0, 1.0, x, 2.0].map(f32::to_ne_bytes).concat();
        let integers = |x: i32| [0, 1, x, 2].map(i32::to_ne_bytes).concat();
        let long = |x: i64| [0, 1, x, 2].map(i64::to_ne_bytes).concat();
        for codec in [Zfp::fixed_rate(16.0), Zfp::fixed_precision(20), Zfp::expert(1, 1000, 20, -10)] {
            for (storage, bad, good) in [
                (Storage::Float(8), floats(f64::NAN), floats(f64::MAX)),
                (Storage::Float(4), small(f32::NEG_INFINITY), small(f32::MIN)),
                (Storage::Int(4), integers(1 << 30), integers(-1 << 30)),
                (Storage::Int(4), integers((-1 << 30) - 1), integers((1 << 30) - 1)),
                (Storage::Int(8), long(1 << 62), long(-1 << 62)),
            ] {
                let error = refused(storage.clone(), codec.clone(), bad.clone()).unwrap();
                assert!(error.contains("lossy"), "{error}");
                assert_eq!(refused(storage.clone(), codec.clone(), good), None);
                assert_eq!(refused(storage, Zfp::reversible(), bad), None);
            }
        }
    }

    #[test]
    fn headers_are_compared_with_the_chunk() {
        let zfpy = |shape: &[u64], storage| {
            chain(&[Zfpy::reversible().into()], &chunk(shape, storage), &registry(), Strictness::Strict)
                .unwrap()
        };
        let floats: Vec<u8> = (0..24_u8).flat_map(|x| f32::from(x).to_ne_bytes()).collect();
        let encoded = encode(&zfpy(&[24], Storage::Float(4)), &floats).unwrap();
        // numcodecs 0.9 flattened all dimensions into one.
        assert_eq!(decode_chunk(&zfpy(&[2, 3, 4], Storage::Float(4)), &encoded).unwrap(), floats);
        assert_eq!(decode_chunk(&zfpy(&[1, 2, 1, 3, 4], Storage::Float(4)), &encoded).unwrap(), floats);
        assert_error(
            encode(&zfpy(&[1, 2, 1, 3, 4], Storage::Float(4)), &floats),
            ErrorKind::Unsupported,
            "a chunk has 5",
        );
        for (shape, storage) in [
            (&[23][..], Storage::Float(4)),
            (&[25], Storage::Float(4)),
            (&[24], Storage::Int(4)),
            (&[24], Storage::Float(8)),
        ] {
            let error = decode_chunk(&zfpy(shape, storage), &encoded).unwrap_err().to_string();
            assert!(error.contains("codec 'numcodecs.zfpy': numbers of the type float"), "{error}");
        }
        // A header that declares 2^96 elements, which overflows.
        let mut huge = encoded.clone();
        huge[4..10].copy_from_slice(&[0x3e | 0xc0, 0xff, 0xff, 0xff, 0xff, 0xff]);
        assert_error(
            decode_chunk(&zfpy(&[24], Storage::Float(4)), &huge),
            ErrorKind::Corrupt,
            "[4096, 4096, 4096, 256]",
        );
        assert_error(
            decode_chunk(&zfpy(&[24], Storage::Float(4)), &encoded[..7]),
            ErrorKind::Corrupt,
            "truncated",
        );
    }

    #[test]
    fn memory_is_limited() {
        let chunk = chunk(&[1000], Storage::Uint(1));
        let registry = registry();
        let context =
            CodecContext { chunk: &chunk, registry: &registry, strictness: Strictness::Strict, limit: 2000 };
        let chain = CodecChain::new(&[spec("zfp", json!({"mode": "reversible"}))], &context).unwrap();
        let error = encode(&chain, &[0; 1000]).unwrap_err().to_string();
        assert!(error.contains("limit"), "{error}");
    }
}
