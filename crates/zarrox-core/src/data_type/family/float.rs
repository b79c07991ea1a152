//! Floats: v3 `float16`, `float32`, `float64`; v2 `f2`, `f4`, `f8` with a byte order.

use half::f16;

use super::number::{bytes_of, write};
use super::{DataType, Endian, Family, Number, TypeString, bad_fill};
use crate::error::Result;
use crate::fill_value::FillValue;
use crate::json::{Json, Map};
use crate::number::half_of;
use crate::strictness::Strictness;

/// The family of the IEEE 754 types.
#[derive(Debug)]
pub(crate) struct Floats;

pub(in crate::data_type) const WANTS: &str =
    "a number, \"NaN\", \"Infinity\", \"-Infinity\" or \"0x…\" with all bits of the type";

impl Family for Floats {
    fn parse_v3(&self, name: &str, _: &Map) -> Option<Result<DataType>> {
        Some(Ok(match name {
            "float16" => DataType::Float16,
            "float32" => DataType::Float32,
            "float64" => DataType::Float64,
            _ => return None,
        }))
    }

    fn parse_v2(&self, dtype: &TypeString<'_>) -> Option<Result<DataType>> {
        dtype.endian?;
        Some(Ok(match (dtype.kind, dtype.size()?) {
            ('f', 2) => DataType::Float16,
            ('f', 4) => DataType::Float32,
            ('f', 8) => DataType::Float64,
            _ => return None,
        }))
    }

    fn examples(&self) -> Vec<DataType> {
        vec![DataType::Float16, DataType::Float32, DataType::Float64]
    }

    fn has(&self, data_type: &DataType) -> bool {
        matches!(data_type, DataType::Float16 | DataType::Float32 | DataType::Float64)
    }

    fn to_v2(&self, data_type: &DataType, endian: Endian) -> Result<Json> {
        Ok(format!("{}f{}", endian.character(), data_type.size()).into())
    }

    fn fill_from_json(&self, data_type: &DataType, json: &Json, strictness: Strictness) -> Result<FillValue> {
        let bytes =
            from_json(json, data_type.size(), strictness).ok_or_else(|| bad_fill(data_type, json, WANTS))?;
        Ok(FillValue::new(bytes))
    }

    fn fill_to_v3(&self, data_type: &DataType, fill: &FillValue) -> Json {
        debug_assert_eq!(data_type.size(), fill.as_bytes().len());
        to_v3(fill.as_bytes())
    }

    fn fill_to_v2(&self, _: &DataType, fill: &FillValue) -> Json {
        to_v2(fill.as_bytes())
    }

    fn number(&self, _: &DataType, element: &[u8]) -> Option<Number> {
        Some(Number::Float(value(element)))
    }

    fn write_number(&self, _: &DataType, number: Number, element: &mut [u8]) -> bool {
        write_number(number, element)
    }

    fn format(&self, _: &DataType, element: &[u8]) -> String {
        format(element)
    }
}

/// Returns the value of a float.
pub(in crate::data_type) fn value(element: &[u8]) -> f64 {
    bits(element).1
}

/// Writes the float nearest to a number, in the size of the element.
pub(in crate::data_type) fn write_number(number: Number, element: &mut [u8]) -> bool {
    match element.len() {
        2 => write(element, &half_of(number.to_f64()).to_ne_bytes()),
        4 => write(element, &number.to_f32().to_ne_bytes()),
        _ => write(element, &number.to_f64().to_ne_bytes()),
    }
}

/// Returns the bytes of the float that a JSON value represents; `None` if the value is not a float of this size.
pub(in crate::data_type) fn from_json(json: &Json, size: usize, strictness: Strictness) -> Option<Vec<u8>> {
    match json {
        Json::Number(number) => parse_number(&number.to_string(), size),
        Json::String(text) => match text.as_str() {
            "NaN" => parse_number("NaN", size),
            "Infinity" => parse_number("inf", size),
            "-Infinity" => parse_number("-inf", size),
            hex if hex.starts_with("0x") => from_hex(&hex[2..], size, strictness),
            "+Infinity" if strictness == Strictness::Lenient => parse_number("inf", size),
            other if strictness == Strictness::Lenient => parse_number(other, size),
            _ => None,
        },
        Json::Array(list) if strictness == Strictness::Lenient && list.len() == 1 => {
            from_json(&list[0], size, strictness)
        }
        Json::Bool(value) if strictness == Strictness::Lenient => {
            parse_number(if *value { "1" } else { "0" }, size)
        }
        _ => None,
    }
}

/// Parses a decimal string directly into the type, so that the number is rounded only once (to nearest, ties to even).
fn parse_number(text: &str, size: usize) -> Option<Vec<u8>> {
    Some(match size {
        2 if text == "NaN" => f16::NAN.to_ne_bytes().to_vec(),
        2 => parse_half(text)?.to_ne_bytes().to_vec(),
        4 if text == "NaN" => f32::NAN.to_ne_bytes().to_vec(),
        4 => text.parse::<f32>().ok()?.to_ne_bytes().to_vec(),
        8 if text == "NaN" => f64::NAN.to_ne_bytes().to_vec(),
        8 => text.parse::<f64>().ok()?.to_ne_bytes().to_vec(),
        _ => return None,
    })
}

/// Parses a decimal string as half precision via f64: every tie between two half-precision values is exact there, so only a
/// decimal of more than 16 digits could be rounded twice.
fn parse_half(text: &str) -> Option<f16> {
    text.parse::<f64>().ok().map(half_of)
}

/// Parses the bits in hexadecimal, most significant digit first. In lenient mode, leading zeros may be omitted.
pub(in crate::data_type) fn from_hex(digits: &str, size: usize, strictness: Strictness) -> Option<Vec<u8>> {
    let full = digits.len() == 2 * size
        || (strictness == Strictness::Lenient && (1..2 * size).contains(&digits.len()));
    if !full || !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return None;
    }
    let bits = u64::from_str_radix(digits, 16).ok()?;
    let mut bytes = bits.to_be_bytes()[8 - size..].to_vec();
    if Endian::NATIVE == Endian::Little {
        bytes.reverse();
    }
    Some(bytes)
}

/// Returns the bits of an element, its value, and the bits of the canonical NaN.
fn bits(element: &[u8]) -> (u64, f64, u64) {
    match element.len() {
        2 => {
            let value = f16::from_ne_bytes(bytes_of(element));
            (value.to_bits().into(), value.to_f64(), f16::NAN.to_bits().into())
        }
        4 => {
            let value = f32::from_ne_bytes(bytes_of(element));
            (value.to_bits().into(), value.into(), f32::NAN.to_bits().into())
        }
        _ => {
            let value = f64::from_ne_bytes(bytes_of(element));
            (value.to_bits(), value, f64::NAN.to_bits())
        }
    }
}

/// Returns the JSON for v3: a number, a name, or the bits of a NaN that is not canonical.
pub(in crate::data_type) fn to_v3(element: &[u8]) -> Json {
    let (bits, value, canonical) = bits(element);
    if value.is_nan() && bits != canonical {
        return format!("0x{bits:0width$x}", width = 2 * element.len()).into();
    }
    to_v2(element)
}

/// Returns the JSON for v2: a number or a name; every NaN is `"NaN"`.
pub(in crate::data_type) fn to_v2(element: &[u8]) -> Json {
    let (_, value, _) = bits(element);
    if value.is_nan() {
        return "NaN".into();
    }
    if value.is_infinite() {
        return if value > 0.0 { "Infinity" } else { "-Infinity" }.into();
    }
    if element.len() == 4 {
        // The shortest decimal that parses to the same f32. It may parse to an f64 that differs from the widened f32.
        let short: Option<f64> = f32::from_ne_bytes(bytes_of(element)).to_string().parse().ok();
        return short.unwrap_or(value).into();
    }
    value.into()
}

/// Formats a float like a NumPy scalar: `0.1`, `1e+20`, `nan`, `-inf`. Narrower floats switch to an exponent at a smaller
/// magnitude.
pub(in crate::data_type) fn format(element: &[u8]) -> String {
    match element.len() {
        2 => numpy_style(f16::from_ne_bytes(bytes_of(element)).to_f64(), 1e3, shortest_half),
        4 => numpy_style(f32::from_ne_bytes(bytes_of(element)).into(), 1e6, |v| narrow(v).to_string()),
        _ => numpy_style(f64::from_ne_bytes(bytes_of(element)), WIDE, |v| v.to_string()),
    }
}

/// The magnitude at which 8-byte floats switch to an exponent.
const WIDE: f64 = 1e16;

#[expect(clippy::cast_possible_truncation, reason = "the value was widened from an f32")]
fn narrow(value: f64) -> f32 {
    value as f32
}

/// Returns the shortest decimal that parses to the same half-precision value.
fn shortest_half(value: f64) -> String {
    shortest_decimal(value, |short| half_of(short).to_f64() == value)
}

/// Formats a value with the fewest digits that identify it in a less precise type: `same` returns true if another value is the
/// same element of that type.
pub(in crate::data_type) fn shortest(value: f64, same: impl Fn(f64) -> bool) -> String {
    numpy_style(value, WIDE, |value| shortest_decimal(value, same))
}

fn shortest_decimal(value: f64, same: impl Fn(f64) -> bool) -> String {
    let candidates = (0..=16).filter_map(|digits| format!("{value:.digits$e}").parse::<f64>().ok());
    candidates.into_iter().find(|&short| same(short)).unwrap_or(value).to_string()
}

/// Formats a value as NumPy does, from its `shortest` decimal without an exponent. NumPy uses an exponent for magnitudes of at
/// least `limit`, and for small numbers.
fn numpy_style(value: f64, limit: f64, shortest: impl FnOnce(f64) -> String) -> String {
    if value.is_nan() {
        return "nan".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "inf" } else { "-inf" }.to_owned();
    }
    let digits = shortest(value);
    if value != 0.0 && !(1e-4..limit).contains(&value.abs()) {
        return scientific(value, &digits);
    }
    match digits.split_once('.') {
        None => format!("{digits}.0"),
        // If two of the shortest decimals are equally near, NumPy uses the one with the even digit, and Rust the larger one.
        Some((_, fraction)) => format!("{value:.precision$}", precision = fraction.len()),
    }
}

/// Formats a value in scientific notation with the digits of its plain decimal, like NumPy's `1.5e-07`: the exponent has a sign
/// and at least two digits.
fn scientific(value: f64, digits: &str) -> String {
    let significant = digits.bytes().filter(u8::is_ascii_digit).skip_while(|&digit| digit == b'0');
    let significant: Vec<u8> = significant.collect();
    let last = significant.iter().rposition(|&digit| digit != b'0').unwrap_or(0);
    let text = format!("{value:.last$e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let (sign, exponent) = exponent.strip_prefix('-').map_or(('+', exponent), |exponent| ('-', exponent));
    format!("{mantissa}e{sign}{exponent:0>2}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::json;

    fn f32_of(json: &Json, strictness: Strictness) -> Option<f32> {
        from_json(json, 4, strictness).map(|bytes| f32::from_ne_bytes(bytes_of(&bytes)))
    }

    #[test]
    fn halves_are_rounded_once() {
        // This value is beyond the midpoint of two half-precision values by the last bit of a double.
        let beyond = (1.0 + 2_f64.powi(-11)).next_up();
        assert_eq!([half_of(beyond), half_of(-beyond)].map(f16::to_bits), [0x3c01, 0xbc01]);
        assert_eq!(half_of(beyond.next_down()).to_bits(), 0x3c00, "to the even one");
        assert_eq!(half_of(beyond.next_down().next_down()).to_bits(), 0x3c00);
        assert_eq!([half_of(65520.0), half_of(65520_f64.next_down())].map(f16::to_bits), [0x7c00, 0x7bff]);
        assert!(half_of(f64::NAN).is_nan() && half_of(-1e-300).to_bits() == 0x8000);
    }

    #[test]
    fn every_form_of_a_fill_value_is_read() {
        assert_eq!(f32_of(&json!(1.5), Strictness::Strict), Some(1.5));
        assert_eq!(f32_of(&json!(1), Strictness::Strict), Some(1.0));
        assert_eq!(f32_of(&json!("-Infinity"), Strictness::Strict), Some(f32::NEG_INFINITY));
        assert_eq!(f32_of(&json!("0x3fc00000"), Strictness::Strict), Some(1.5));
        assert_eq!(f32_of(&json!(1e40), Strictness::Strict), Some(f32::INFINITY));
        assert_eq!(f32_of(&json!("+Infinity"), Strictness::Strict), None);
        assert_eq!(f32_of(&json!("+Infinity"), Strictness::Lenient), Some(f32::INFINITY));
        assert_eq!(f32_of(&json!("1.5"), Strictness::Lenient), Some(1.5));
        assert_eq!(f32_of(&json!("0x1"), Strictness::Lenient).map(f32::to_bits), Some(1));
        assert_eq!(f32_of(&json!("0x1"), Strictness::Strict), None);
        assert_eq!(f32_of(&json!("0x123456789"), Strictness::Lenient), None);
        assert_eq!(f32_of(&json!("one"), Strictness::Lenient), None);
        assert_eq!(f32_of(&json!("NaN"), Strictness::Strict).map(f32::to_bits), Some(0x7fc0_0000));
    }

    #[test]
    fn written_values_read_back_to_the_same_bits() {
        for bits in
            [0, 1, 0x7f80_0000, 0xff80_0000, 0x7fc0_0000, 0x7fc0_0001, 0xffc0_0000, 0x3dcc_cccd, 0x8000_0000]
        {
            let bytes = f32::from_bits(bits).to_ne_bytes();
            let back = from_json(&to_v3(&bytes), 4, Strictness::Strict).unwrap();
            assert_eq!(back, bytes, "{bits:#x} {}", to_v3(&bytes));
        }
        assert_eq!(to_v3(&0.1_f32.to_ne_bytes()).to_string(), "0.1");
        assert_eq!(to_v3(&f32::from_bits(0x7fc0_0001).to_ne_bytes()), json!("0x7fc00001"));
    }

    #[test]
    fn floats_print_as_numpys_str_prints_them() {
        let f2 = |value: f64| format(&f16::from_f64(value).to_ne_bytes());
        let f4 = |value: f32| format(&value.to_ne_bytes());
        let f8 = |value: f64| format(&value.to_ne_bytes());
        assert_eq!([f2(0.1), f2(999.0), f2(1000.0), f2(65504.0)], ["0.1", "999.0", "1e+03", "6.55e+04"]);
        assert_eq!([f4(0.1), f4(999_999.0), f4(1e6), f4(1e8)], ["0.1", "999999.0", "1e+06", "1e+08"]);
        assert_eq!(f4(-16_777_216.0), "-1.6777216e+07");
        assert_eq!([f8(0.1), f8(1.0), f8(-0.0), f8(1e8)], ["0.1", "1.0", "-0.0", "100000000.0"]);
        assert_eq!([f8(1e16), f8(1.5e-7), f8(1e-5), f8(1e-300)], ["1e+16", "1.5e-07", "1e-05", "1e-300"]);
        assert_eq!(
            [f4(-1_390_265.0 / 8.0), f8(562_949_953_421_313.0 / 8.0)],
            ["-173783.12", "70368744177664.12"]
        );
        assert_eq!([f8(f64::NAN), f4(f32::NEG_INFINITY)], ["nan", "-inf"]);
    }
}
