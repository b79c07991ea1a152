//! `bitround`: rounds numbers to fewer significant bits, so that they compress better.
//!
//! Specification: <https://github.com/zarr-developers/zarr-extensions/tree/main/codecs/bitround>
//!
//! | member | value |
//! |---|---|
//! | `keepbits` | for floats, the number of mantissa bits to keep; for integers, the number of bits to keep, starting with the highest set bit |
//!
//! Names: `numcodecs.bitround` and the registered `bitround` in v3, and leniently
//! `https://codec.zarrs.dev/array_to_array/bitround`; `bitround` in v2. New arrays use the first name, because it is the only one
//! that zarr-python reads; zarrs reads both.
//!
//! Numbers are rounded to the nearest, ties to even, as in numcodecs. Infinities and NaN are unchanged. For negative integers,
//! the magnitude is rounded. An integer is rounded down if rounding it up would exceed the range of its type. Decoding returns
//! the stored numbers unchanged.

use zarrox_core::codec::{ChunkSpec, Codec, CodecContext, CodecDef, CodecError, CodecKind};
use zarrox_core::data_type::Storage;
use zarrox_core::internals::number::{Plain, map};
use zarrox_core::json::Map;
use zarrox_core::json::json;
use zarrox_core::{CodecSpec, DataType, FillValue, with_storage};

use crate::config;
use crate::numeric::filter::{EachElement, Filter};

const NAME: &str = "numcodecs.bitround";

/// The definition with the name that zarr-python reads.
pub(crate) static DEF: CodecDef = CodecDef::new(NAME, CodecKind::ArrayToArray, create)
    .v2_id("bitround")
    .with_from_v2(|members, _| Ok(config::from_v2(members, json!({"keepbits": null}))));

/// The definition with the registered name.
pub(crate) static REGISTERED: CodecDef = CodecDef::new("bitround", CodecKind::ArrayToArray, create)
    .aliases(&["https://codec.zarrs.dev/array_to_array/bitround"])
    .v2_id("bitround")
    .with_from_v2(|_, _| Err(CodecError::invalid("from Zarr v2 it is the codec 'numcodecs.bitround'")));

/// Rounds numbers to fewer significant bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BitRound {
    keepbits: u8,
}

impl BitRound {
    /// Keeps this number of bits: of the mantissa of a float, or of an integer, starting with its highest set bit.
    pub fn keepbits(keepbits: u8) -> Self {
        Self { keepbits }
    }
}

impl From<BitRound> for CodecSpec {
    fn from(codec: BitRound) -> Self {
        Self::new(NAME, json!({"keepbits": codec.keepbits}))
    }
}

fn create(configuration: &Map, context: &CodecContext<'_>) -> Result<Codec, CodecError> {
    let config = config::read(configuration, context, &["keepbits"])?;
    if config.get("keepbits").is_none() {
        return Err(config::missing("keepbits"));
    }
    let keepbits = config.integer("keepbits", 0..=i32::MAX, 0)?;
    let chunk = context.chunk;
    let filter = BitRoundFilter::new(chunk.data_type()?, keepbits.unsigned_abs())?;
    let mut fill = vec![0; chunk.item()];
    filter.encode(chunk.fill().as_bytes(), &mut fill)?;
    let shape: Vec<u64> = chunk.shape().iter().map(|&length| length as u64).collect();
    let encoded = ChunkSpec::new(&shape, chunk.storage().clone(), FillValue::new(fill))?;
    let encoded = encoded.of_type(chunk.data_type()?);
    let configuration = config::members(json!({"keepbits": keepbits}));
    Ok(Codec::ArrayToArray(Box::new(EachElement { configuration, encoded, filter })))
}

/// The kinds of numbers that can be rounded.
#[derive(Debug, Clone, Copy)]
enum Kind {
    /// Floats with this number of mantissa bits.
    Float { mantissa: u32 },
    /// Integers in two's complement.
    Signed,
    /// Unsigned integers.
    Unsigned,
}

/// The filter for one data type.
#[derive(Debug)]
struct BitRoundFilter {
    kind: Kind,
    /// The unsigned integer type with the same number of bits.
    word: Storage,
    keepbits: u32,
}

impl BitRoundFilter {
    fn new(data_type: &DataType, keepbits: u32) -> Result<Self, CodecError> {
        let (kind, size) = match (data_type, data_type.storage()) {
            (DataType::Extension(extension), storage) => match extension.name.as_str() {
                "bfloat16" | "complex_bfloat16" => (Kind::Float { mantissa: 7 }, 2),
                "complex_float16" => (Kind::Float { mantissa: 10 }, 2),
                "numpy.datetime64" | "numpy.timedelta64" => (Kind::Signed, storage.size()),
                _ => return Err(unsupported(data_type)),
            },
            (_, Storage::Int(size)) => (Kind::Signed, size),
            (_, Storage::Uint(size)) => (Kind::Unsigned, size),
            (_, storage @ (Storage::Float(_) | Storage::Complex(_))) => match storage.word() {
                2 => (Kind::Float { mantissa: 10 }, 2),
                4 => (Kind::Float { mantissa: 23 }, 4),
                _ => (Kind::Float { mantissa: 52 }, 8),
            },
            _ => return Err(unsupported(data_type)),
        };
        Ok(Self { kind, word: Storage::Uint(size), keepbits })
    }

    fn round<T: Word>(&self, from: &[u8], to: &mut [u8]) {
        let keepbits = self.keepbits;
        match self.kind {
            Kind::Float { mantissa } if keepbits < mantissa => {
                map(from, to, |bits: T| bits.round_float(mantissa, mantissa - keepbits));
            }
            Kind::Signed if keepbits < T::BITS => map(from, to, |bits: T| bits.round_signed(keepbits)),
            Kind::Unsigned if keepbits < T::BITS => map(from, to, |bits: T| bits.round_unsigned(keepbits)),
            _ => to.copy_from_slice(from),
        }
    }
}

fn unsupported(data_type: &DataType) -> CodecError {
    CodecError::unsupported(format!("this codec rounds integers and floats, not {data_type}"))
}

impl Filter for BitRoundFilter {
    fn encode(&self, decoded: &[u8], encoded: &mut [u8]) -> Result<(), CodecError> {
        with_storage!(@ &self.word, T => self.round::<T>(decoded, encoded), (),
            Uint(1) => u8, Uint(2) => u16, Uint(4) => u32, Uint(8) => u64);
        Ok(())
    }

    fn decode(&self, encoded: &[u8], decoded: &mut [u8]) -> Result<(), CodecError> {
        decoded.copy_from_slice(encoded);
        Ok(())
    }

    fn decodes_unchanged(&self) -> bool {
        true
    }
}

/// The bits of a number.
trait Word: Plain {
    const BITS: u32;

    /// Rounds a float whose mantissa has `mantissa` bits. Its last `dropped` bits are cleared; `dropped` is at least 1.
    fn round_float(self, mantissa: u32, dropped: u32) -> Self;

    /// Rounds an unsigned integer to `keepbits` bits, which are fewer than its type has.
    fn round_unsigned(self, keepbits: u32) -> Self;

    /// Rounds an integer in two's complement.
    fn round_signed(self, keepbits: u32) -> Self;
}

/// Returns a rounded integer with the last bits cleared. It wraps to 0 if it exceeds the range.
macro_rules! round_magnitude {
    ($value:expr, $keepbits:expr, $T:ty) => {{
        // All bits up to and including the highest set bit. Counting leading zeros is avoided, because vector units lack an
        // instruction for it.
        let mut all = $value;
        all |= all >> 1;
        all |= all >> 2;
        all |= all >> 4;
        if <$T>::BITS > 8 {
            all |= all >> (8 % <$T>::BITS);
        }
        if <$T>::BITS > 16 {
            all |= all >> (16 % <$T>::BITS);
        }
        if <$T>::BITS > 32 {
            all |= all >> (32 % <$T>::BITS);
        }
        let lost = all >> $keepbits;
        let odd = <$T>::from($value & lost.wrapping_add(1) != 0) & lost & 1;
        ($value.wrapping_add((lost >> 1) + odd) & !lost, $value & !lost)
    }};
}

macro_rules! word {
    ($($T:ty)*) => {$(
        impl Word for $T {
            const BITS: u32 = Self::BITS;

            #[inline(always)]
            fn round_float(self, mantissa: u32, dropped: u32) -> Self {
                let infinity = Self::MAX >> 1 >> mantissa << mantissa;
                let lost = (1 << dropped) - 1;
                // One less than half, plus one if the last bit to keep is set.
                let rounded = self.wrapping_add((lost >> 1) + (self >> dropped & 1)) & !lost;
                if self & (Self::MAX >> 1) > infinity { self } else { rounded }
            }

            #[inline(always)]
            fn round_unsigned(self, keepbits: u32) -> Self {
                let (rounded, cut) = round_magnitude!(self, keepbits, $T);
                if rounded < cut { cut } else { rounded }
            }

            #[inline(always)]
            fn round_signed(self, keepbits: u32) -> Self {
                let negative = self >> (Self::BITS - 1);
                let magnitude = (self ^ negative.wrapping_neg()).wrapping_add(negative);
                let (rounded, cut) = round_magnitude!(magnitude, keepbits, $T);
                let rounded = if rounded > (Self::MAX >> 1) + negative { cut } else { rounded };
                (rounded ^ negative.wrapping_neg()).wrapping_add(negative)
            }
        }
    )*};
}

word!(u8 u16 u32 u64);

#[cfg(test)]
mod tests {
    use zarrox_core::Registry;
    use zarrox_core::Strictness;
    use zarrox_core::codec::ArrayToArray;
    use zarrox_core::json::Json;
    use zarrox_core::strided::{View, ViewMut};

    use super::*;
    use crate::registry;
    use crate::testing::filters as testing;

    fn codec(data_type: &DataType, keepbits: u32) -> Result<Box<dyn ArrayToArray>, CodecError> {
        let (registry, fill) = (registry(), FillValue::zero(data_type.size()));
        let chunk = ChunkSpec::new(&[3], data_type.storage(), fill)?.of_type(data_type);
        let context =
            CodecContext { chunk: &chunk, registry: &registry, strictness: Strictness::Strict, limit: 100 };
        match create(&config::members(json!({"keepbits": keepbits})), &context)? {
            Codec::ArrayToArray(codec) => Ok(codec),
            other => panic!("{other:?}"),
        }
    }

    fn encode(data_type: &str, keepbits: u32, elements: &[u8]) -> Vec<u8> {
        let data_type = DataType::parse(data_type, &Registry::new()).unwrap();
        let codec = codec(&data_type, keepbits).unwrap();
        let (item, mut encoded) = (data_type.size(), vec![0; elements.len()]);
        let shape = [elements.len() / item];
        let mut target = ViewMut::contiguous(&mut encoded, &shape, item);
        codec.encode(&View::contiguous(elements, &shape, item), &mut target).unwrap();
        assert!(codec.decodes_unchanged() && codec.encoded_chunk().data_type().unwrap() == &data_type);
        let mut decoded = vec![0; elements.len()];
        let mut target = ViewMut::contiguous(&mut decoded, &shape, item);
        codec.decode(&View::contiguous(&encoded, &shape, item), &mut target).unwrap();
        assert_eq!(decoded, encoded);
        encoded
    }

    #[test]
    fn samples_of_the_specification() {
        let original = [0.0, 0.1, 1.2, 12.3, 123.4, 1234.5, f32::NAN, f32::INFINITY, -f32::INFINITY];
        let rounded = [0.0, 0.1015625, 1.25, 12.0, 120.0, 1280.0, f32::NAN, f32::INFINITY, -f32::INFINITY];
        let bytes = |floats: [f32; 9]| floats.map(f32::to_ne_bytes).concat();
        assert_eq!(encode("float32", 3, &bytes(original)), bytes(rounded));
        let original = [0, 1, 10, 11, 100, 123, 200, 208, 209, 255];
        assert_eq!(encode("uint8", 3, &original), [0, 1, 10, 12, 96, 128, 192, 192, 224, 224]);
    }

    /// The reference implementation: rounds an integer in a wider type.
    fn rounded(value: i128, keepbits: u32, least: i128, greatest: i128) -> i128 {
        let magnitude = value.unsigned_abs();
        let bits = 128 - magnitude.leading_zeros();
        let unit = 1_u128 << bits.saturating_sub(keepbits);
        let (cut, rest) = (magnitude / unit * unit, magnitude % unit);
        let up = 2 * rest > unit || (2 * rest == unit && cut / unit % 2 == 1);
        let sign = value.signum();
        let result = |magnitude: u128| sign * i128::try_from(magnitude).unwrap();
        let whole = result(if up { cut + unit } else { cut });
        if (least..=greatest).contains(&whole) { whole } else { result(cut) }
    }

    #[test]
    fn integers_of_every_size() {
        for keepbits in 0..=9 {
            for value in 0..=255 {
                let found = encode("uint8", keepbits, &[value])[0];
                assert_eq!(
                    i128::from(found),
                    rounded(value.into(), keepbits, 0, 255),
                    "{value}, {keepbits} bits"
                );
                let value = value.cast_signed();
                let found = encode("int8", keepbits, &value.to_ne_bytes())[0].cast_signed();
                assert_eq!(
                    i128::from(found),
                    rounded(value.into(), keepbits, -128, 127),
                    "{value}, {keepbits} bits"
                );
            }
        }
        let mut random = zarrox_testkit::codec::Random::new(5);
        for _ in 0..2000 {
            let shift = random.below(64);
            let value = random.number() >> shift;
            let found = encode("uint64", 5, &value.to_ne_bytes()).try_into().map(u64::from_ne_bytes).unwrap();
            assert_eq!(i128::from(found), rounded(value.into(), 5, 0, u64::MAX.into()), "{value}");
            let value = random.number().cast_signed() >> shift;
            let [least, greatest] = [i64::MIN, i64::MAX].map(i128::from);
            for name in ["int64", "<M8[ns]"] {
                let found = encode(name, 7, &value.to_ne_bytes()).try_into().map(i64::from_ne_bytes).unwrap();
                assert_eq!(i128::from(found), rounded(value.into(), 7, least, greatest), "{value}");
            }
        }
        // NaT is unchanged.
        assert_eq!(encode("<m8[s]", 1, &i64::MIN.to_ne_bytes()), i64::MIN.to_ne_bytes());
    }

    #[test]
    fn floats_keep_nan_and_infinities() {
        // numcodecs converts such NaNs to infinity and -0.
        for bits in [0x7f80_0001_u32, 0xffff_ffff, 0x7fff_ffff, 0xff80_0001] {
            assert_eq!(encode("float32", 3, &bits.to_ne_bytes()), bits.to_ne_bytes());
        }
        assert_eq!(encode("float32", 0, &f32::NAN.to_ne_bytes()), f32::NAN.to_ne_bytes());
        assert_eq!(encode("float32", 3, &f32::MAX.to_ne_bytes()), f32::INFINITY.to_ne_bytes());
        let bytes = |words: &[u16]| words.iter().flat_map(|word| word.to_ne_bytes()).collect::<Vec<_>>();
        // 1 + 2⁻⁷ and so on, in both two-byte types: checks ties to even, and the length of the mantissa.
        assert_eq!(
            encode("bfloat16", 6, &bytes(&[0x3f81, 0x3f83, 0x7fc1])),
            bytes(&[0x3f80, 0x3f84, 0x7fc1])
        );
        assert_eq!(encode("complex_bfloat16", 7, &bytes(&[0x3f81, 0x3f83])), bytes(&[0x3f81, 0x3f83]));
        assert_eq!(encode("complex_float16", 9, &bytes(&[0x3c01, 0x3c03])), bytes(&[0x3c00, 0x3c04]));
        let parts = [1.1_f64, -2.3].map(f64::to_ne_bytes).concat();
        assert_eq!(encode("complex128", 2, &parts), [1.0_f64, -2.5].map(f64::to_ne_bytes).concat());
    }

    #[test]
    fn configurations() {
        testing::configurations(
            NAME,
            &Storage::Float(4),
            &json!({"keepbits": 10}),
            &[json!({"keepbits": 10.0})],
            &[
                (json!({}), "'keepbits'"),
                (json!({"keepbits": -1}), "'keepbits'"),
                (json!({"keepbits": "3"}), "'keepbits'"),
                (json!({"keepbits": 1e300}), "'keepbits'"),
            ],
        );
        for name in ["bool", "r16", "float8_e4m3", "int4", "<U3"] {
            let data_type = DataType::parse(name, &Registry::new()).unwrap();
            let error = codec(&data_type, 3).unwrap_err().to_string();
            assert!(error.contains("rounds integers and floats"), "{error}");
        }
        assert_eq!(
            Json::Object(CodecSpec::from(BitRound::keepbits(7)).configuration),
            json!({"keepbits": 7})
        );
    }
}
