//! `delta`: stores the first number, followed by the differences between consecutive numbers.
//!
//! Documentation: <https://numcodecs.readthedocs.io/en/stable/filter/delta.html>
//!
//! | member | value |
//! |---|---|
//! | `dtype` | the type of the array's elements, such as `<i4` |
//! | `astype` | the type of the stored elements; defaults to `dtype` |
//!
//! Names: `numcodecs.delta`, leniently `delta`, in v3; `delta` in v2. Differences and sums of integers wrap. Booleans are
//! rejected, because numcodecs cannot decode its own encoding of them. In the lenient mode, `dtype` defaults to the data type of
//! the array.

use std::convert::identity;

use multiversion::multiversion;
use zarrox_core::codec::{ChunkSpec, Codec, CodecContext, CodecDef, CodecError, CodecKind};
use zarrox_core::data_type::Storage;
use zarrox_core::internals::data_type::Complex;
use zarrox_core::internals::number::{Plain, Policy, f16};
use zarrox_core::internals::scratch::Scratch;
use zarrox_core::json::Map;
use zarrox_core::json::json;
use zarrox_core::{CodecSpec, FillValue, with_storage};

use crate::config;
use crate::numeric::filter::element::{Float, Integer};
use crate::numeric::filter::{self, EachElement, Filter, Steps, WholeChunk, dtype, is_same};

const NAME: &str = "numcodecs.delta";

/// The definition of `delta`.
pub(crate) static DEF: CodecDef = CodecDef::new(NAME, CodecKind::ArrayToArray, create)
    .aliases(&["delta"])
    .v2_id("delta")
    .with_from_v2(|members, _| to_v2(&config::from_v2(members, json!({"dtype": null, "astype": null}))))
    .with_to_v2(to_v2);

fn to_v2(configuration: &Map) -> Result<Map, CodecError> {
    dtype::normalised(configuration, "dtype", "astype")
}

/// Differences between adjacent elements.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delta {
    dtype: String,
    astype: Option<String>,
}

impl Delta {
    /// Encodes elements of this type, named as in NumPy: `<i4`, `int32`.
    pub fn new(dtype: impl Into<String>) -> Self {
        Self { dtype: dtype.into(), astype: None }
    }

    /// Stores the differences as this type. The differences and the first element of each chunk must be in its range.
    #[must_use]
    pub fn stored_as(self, astype: impl Into<String>) -> Self {
        Self { astype: Some(astype.into()), ..self }
    }
}

impl From<Delta> for CodecSpec {
    fn from(codec: Delta) -> Self {
        let astype = codec.astype.unwrap_or_else(|| codec.dtype.clone());
        Self::new(NAME, json!({"dtype": codec.dtype, "astype": astype}))
    }
}

fn create(configuration: &Map, context: &CodecContext<'_>) -> Result<Codec, CodecError> {
    let config = config::read(configuration, context, &["dtype", "astype"])?;
    let chunk = context.chunk;
    let (dtype, astype) = dtype::pair(config, "dtype", "astype", chunk.storage())?;
    if [&dtype, &astype].iter().any(|dtype| dtype.storage == Storage::Bool) {
        let message = "differences of booleans are not supported, since numcodecs cannot decode them";
        return Err(CodecError::unsupported(message));
    }
    let own = (dtype.storage.clone(), dtype.storage.clone());
    let sums = sum_type(&astype.storage, &dtype.storage);
    let filter = DeltaFilter {
        encode: Steps::encoding(&dtype.storage, &own, &astype.storage)?,
        decode: Steps::decoding(&astype.storage, &sums, &dtype.storage)?,
        check: match (is_integer(&dtype.storage), is_integer(&astype.storage)) {
            (true, true) if dtype.storage.size() <= astype.storage.size() => Check::Never,
            (true, false) => Check::Always,
            _ => Check::Misfits,
        },
        truncates: !is_integer(&dtype.storage) && is_integer(&astype.storage),
        dtype: dtype.storage.clone(),
        sums,
        fill: chunk.fill().clone(),
    };
    let configuration = json!({"dtype": dtype.to_json(), "astype": astype.to_json()});
    let mut fill = vec![0; astype.storage.size()];
    if chunk.item() == dtype.storage.size() && !chunk.is_variable() {
        filter::cast(&dtype.storage, &astype.storage, Policy::Lossy)?
            .cast(chunk.fill().as_bytes(), &mut fill);
    }
    let shape = filter::viewed_shape(chunk, &dtype)?;
    let encoded = ChunkSpec::new(&shape, astype.storage, FillValue::new(fill))?;
    let codec = EachElement { configuration: config::members(configuration), encoded, filter };
    Ok(Codec::ArrayToArray(Box::new(WholeChunk(codec))))
}

/// Returns the type in which NumPy sums the differences: a type that can represent the numbers of both types. For integers, it is
/// the type of the sums, because they wrap.
fn sum_type(differences: &Storage, sums: &Storage) -> Storage {
    use Storage::{Complex, Float, Int, Uint};
    let float = |storage: &Storage| match *storage {
        Int(1) | Uint(1) => 2,
        Int(2) | Uint(2) => 4,
        Float(size) => size,
        Complex(size) => size / 2,
        _ => 8,
    };
    let size = float(differences).max(float(sums));
    match (differences, sums) {
        (Complex(_), _) | (_, Complex(_)) => Complex(2 * size.max(4)),
        (Float(_), _) | (_, Float(_)) => Float(size),
        _ => sums.clone(),
    }
}

fn is_integer(storage: &Storage) -> bool {
    matches!(storage, Storage::Int(_) | Storage::Uint(_))
}

/// The filter for one pair of data types.
#[derive(Debug)]
struct DeltaFilter {
    encode: Steps,
    decode: Steps,
    dtype: Storage,
    sums: Storage,
    check: Check,
    /// True if floats are stored as integers.
    truncates: bool,
    fill: FillValue,
}

/// When the encoder checks that the encoded elements decode to the original elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Check {
    /// Never: integers that wrap in encoding wrap back in decoding.
    Never,
    /// If the stored type cannot represent a difference. Such a difference may still decode correctly, because integers wrap, or
    /// it may belong to the fill value.
    Misfits,
    /// Always: floats cannot represent all integers.
    Always,
}

impl DeltaFilter {
    /// Returns true if all elements other than the fill value decode to their original values.
    fn decodes_back(&self, decoded: &[u8], encoded: &[u8]) -> Result<bool, CodecError> {
        let mut back = Scratch::with_len(decoded.len())?;
        self.decode(encoded, &mut back)?;
        Ok(with_storage!(number &self.dtype, T => {
            let fill = T::elements(self.fill.as_bytes()).first().map(|fill| T::get(*fill));
            let pairs = T::elements(decoded).iter().zip(T::elements(&back));
            let mut pairs = pairs.map(|(element, back)| (T::get(*element), T::get(*back)));
            pairs.all(|(element, back)| element == back || fill.is_some_and(|fill| is_same(&element, &fill)))
        }, else false))
    }
}

impl Filter for DeltaFilter {
    fn encode(&self, decoded: &[u8], encoded: &mut [u8]) -> Result<(), CodecError> {
        let fits = with_storage!(number &self.dtype, T => {
            let mut before = None;
            self.encode.run(decoded, encoded, |from, to| {
                differences::<T>(&mut before, from, to);
                if self.truncates {
                    T::elements_mut(to).iter_mut().for_each(|number| *number = T::get(*number).truncated().put());
                }
            })
        }, else false);
        let right = match self.check {
            Check::Never => true,
            Check::Misfits => fits || self.decodes_back(decoded, encoded)?,
            Check::Always => self.decodes_back(decoded, encoded)?,
        };
        if right {
            return Ok(());
        }
        Err(CodecError::invalid(
            "a difference, or the first element, does not fit into 'astype'; choose a larger type",
        ))
    }

    fn decode(&self, encoded: &[u8], decoded: &mut [u8]) -> Result<(), CodecError> {
        with_storage!(number &self.sums, T => {
            let mut sum = None;
            self.decode.run(encoded, decoded, |from, to| sums::<T>(&mut sum, from, to));
        }, else ());
        Ok(())
    }
}

/// Numbers that can be stored as differences.
trait Sums: Plain {
    /// Returns the sum of two numbers.
    fn plus(self, other: Self) -> Self;

    /// Returns the difference between two numbers.
    fn minus(self, other: Self) -> Self;

    /// Returns the number truncated towards zero.
    fn truncated(self) -> Self;

    /// Computes the cumulative sums of the elements, starting with `sum`, and returns the last one.
    fn sums(mut sum: Self, from: &[Self::Bytes], to: &mut [Self::Bytes]) -> Self {
        for (from, to) in from.iter().zip(to) {
            sum = sum.plus(Self::get(*from));
            *to = sum.put();
        }
        sum
    }
}

macro_rules! sums {
    ($($T:ty: $by:ident, $truncated:expr;)*) => {$(
        impl Sums for $T {
            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                $by::add(self, other)
            }

            #[inline(always)]
            fn minus(self, other: Self) -> Self {
                $by::subtract(self, other)
            }

            fn truncated(self) -> Self {
                $truncated(self)
            }
        }
    )*};
}

sums! {
    i8: Integer, identity;
    i16: Integer, identity;
    i32: Integer, identity;
    i64: Integer, identity;
    u8: Integer, identity;
    u16: Integer, identity;
    u32: Integer, identity;
    u64: Integer, identity;
    f16: Float, Float::truncate;
    f32: Float, Float::truncate;
    f64: Float, Float::truncate;
}

impl<T: Float> Sums for Complex<T>
where
    Self: Plain,
{
    fn plus(self, other: Self) -> Self {
        Self { re: self.re.add(other.re), im: self.im.add(other.im) }
    }

    fn minus(self, other: Self) -> Self {
        Self { re: self.re.subtract(other.re), im: self.im.subtract(other.im) }
    }

    fn truncated(self) -> Self {
        Self { re: self.re.truncate(), im: self.im.truncate() }
    }
}

/// Computes the difference between each element and its predecessor. `before` is the predecessor of the first element; without
/// it, the first element is unchanged.
#[multiversion(targets("x86_64+avx2"))]
fn differences<T: Sums>(before: &mut Option<T>, from: &[u8], to: &mut [u8]) {
    let (from, to) = (T::elements(from), T::elements_mut(to));
    let ([first, ..], Some(start)) = (from, to.first_mut()) else { return };
    let value = T::get(*first);
    *start = before.map_or(value, |before| value.minus(before)).put();
    for (pair, to) in from.windows(2).zip(&mut to[1..]) {
        *to = T::get(pair[1]).minus(T::get(pair[0])).put();
    }
    *before = from.last().map(|last| T::get(*last));
}

/// Computes the cumulative sums.
fn sums<T: Sums>(before: &mut Option<T>, from: &[u8], to: &mut [u8]) {
    let (from, to) = (T::elements(from), T::elements_mut(to));
    let ([first, ..], [start, ..]) = (from, &mut *to) else { return };
    let first = T::get(*first);
    let sum = before.map_or(first, |sum| sum.plus(first));
    *start = sum.put();
    *before = Some(T::sums(sum, &from[1..], &mut to[1..]));
}

#[cfg(test)]
mod tests {

    use super::*;
    use crate::testing::filters::{self as testing, suite_of};
    use zarrox_core::ErrorKind;
    use zarrox_testkit::errors::assert_error;

    #[test]
    fn suite() {
        let delta = |dtype: &str, astype: &str| vec![Delta::new(dtype).stored_as(astype).into()];
        suite_of(&Storage::Uint(1), &delta("|u1", "|i1"));
        suite_of(&Storage::Int(4), &delta("<i4", "<i4"));
        suite_of(&Storage::Uint(2), &delta("<u2", "<i8"));
        suite_of(&Storage::Int(8), &delta("<i8", "<u8"));
        // Views with a different item size.
        suite_of(&Storage::Int(4), &delta("<i2", "<i2"));
        suite_of(&Storage::Raw(6), &delta("<u2", "<u2"));
        suite_of(&Storage::Float(4), &delta("|u1", "|u1"));
        suite_of(&Storage::Complex(8), &[Delta::new("<u4").into(), Delta::new("<i4").into()]);
    }

    #[test]
    fn lossy_elements_are_rejected_except_padding() {
        let encode = |values: &[i32]| {
            let spec = [Delta::new("<i4").stored_as("|i1").into()];
            let values: Vec<u8> = values.iter().flat_map(|value| value.to_ne_bytes()).collect();
            testing::round_trip(&spec, &Storage::Int(4), &values)
        };
        assert!(encode(&[100, 101, 99, 110]).is_ok());
        // The differences to the fill value 0 wrap, and the sums wrap back.
        assert!(encode(&[1, 100, 0, 0, 101, 0]).is_ok());
        let error = encode(&[100, 300, 301]).unwrap_err().to_string();
        assert!(error.contains("codec 'numcodecs.delta'") && error.contains("'astype'"), "{error}");
        assert!(encode(&[1000, 1001]).is_err(), "the first");
        let floats = [Delta::new("<f8").stored_as("<i4").into()];
        let values = |values: &[f64]| values.iter().flat_map(|value| value.to_ne_bytes()).collect::<Vec<_>>();
        assert!(testing::round_trip(&floats, &Storage::Float(8), &values(&[1.0, 7.0, -3.0])).is_ok());
        assert_error(
            testing::round_trip(&floats, &Storage::Float(8), &values(&[1.0, f64::NAN, -3.0])),
            ErrorKind::InvalidMetadata,
            "'astype'",
        );
        let inexact = [Delta::new("<i8").stored_as("<f4").into()];
        let values: Vec<u8> = [1_i64 << 40, 1, 5].iter().flat_map(|value| value.to_ne_bytes()).collect();
        assert_error(
            testing::round_trip(&inexact, &Storage::Int(8), &values),
            ErrorKind::InvalidMetadata,
            "'astype'",
        );
    }

    #[test]
    fn configurations() {
        testing::configurations(
            NAME,
            &Storage::Int(4),
            &json!({"dtype": "<i4", "astype": "<i4"}),
            &[json!({"dtype": "i4"}), json!({"dtype": "int32", "astype": null}), json!({})],
            &[
                (json!({"dtype": "<i3"}), "'dtype'"),
                (json!({"dtype": "<i4", "astype": 1}), "'astype'"),
                (json!({"dtype": "|b1"}), "booleans"),
                (json!({"dtype": "<i4", "astype": "|b1"}), "booleans"),
                (json!({"dtype": "<M8[s]"}), "'dtype'"),
                (json!({"dtype": ">i2", "astype": "<i2"}), "little-endian"),
                (json!({"dtype": "<c16"}), "has 12 bytes"),
            ],
        );
        assert_eq!(CodecSpec::from(Delta::new("<i4")).configuration["astype"], "<i4");
    }
}
