//! Machine-learning floats: `bfloat16` and types of 8, 6 and 4 bits. v3 only.
//!
//! Each element takes one byte, except that a `bfloat16` takes two. The names are those of `ml_dtypes`: `e` is the number of
//! exponent bits, and `m` the number of mantissa bits. Types with `fn` have no infinities, and those of 8 bits have one NaN of
//! each sign. Types with `uz` have one NaN in place of negative zero. `float8_e8m0fnu` has neither sign nor zero: its elements
//! are powers of two, and one NaN. Its default fill value has the bit pattern 0, as for the other types, which here is the
//! smallest number, 2^-127, as in NumPy and tensorstore.
//!
//! <https://github.com/zarr-developers/zarr-extensions/tree/main/data-types>

use super::number::write;
use super::{DataType, Extension, Family, Number, Storage, bad_fill, float};
use crate::error::Result;
use crate::fill_value::FillValue;
use crate::json::{Json, Map};
use crate::strictness::Strictness;

/// The family of small floats.
#[derive(Debug)]
pub(crate) struct SmallFloats;

/// The meaning of the largest exponents and of negative zero.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Special {
    /// IEEE 754: infinities and NaNs.
    Ieee,
    /// All patterns are finite numbers, except the two with the highest magnitude, which are NaNs.
    LargestIsNan,
    /// All patterns are finite numbers.
    Finite,
    /// All patterns are finite numbers, except that of negative zero, which is the only NaN.
    NegativeZeroIsNan,
    /// All patterns are unsigned powers of two, except the highest, which is the only NaN.
    PowersOfTwo,
}

/// A binary float: sign, exponent, mantissa.
#[derive(Debug)]
struct Layout {
    name: &'static str,
    exponent: u32,
    mantissa: u32,
    bias: i32,
    special: Special,
}

const fn layout(name: &'static str, exponent: u32, mantissa: u32, bias: i32, special: Special) -> Layout {
    Layout { name, exponent, mantissa, bias, special }
}

const LAYOUTS: &[Layout] = &[
    layout("bfloat16", 8, 7, 127, Special::Ieee),
    layout("float8_e3m4", 3, 4, 3, Special::Ieee),
    layout("float8_e4m3", 4, 3, 7, Special::Ieee),
    layout("float8_e4m3fn", 4, 3, 7, Special::LargestIsNan),
    layout("float8_e5m2", 5, 2, 15, Special::Ieee),
    layout("float8_e4m3b11fnuz", 4, 3, 11, Special::NegativeZeroIsNan),
    layout("float8_e4m3fnuz", 4, 3, 8, Special::NegativeZeroIsNan),
    layout("float8_e5m2fnuz", 5, 2, 16, Special::NegativeZeroIsNan),
    layout("float8_e8m0fnu", 8, 0, 127, Special::PowersOfTwo),
    layout("float6_e2m3fn", 2, 3, 1, Special::Finite),
    layout("float6_e3m2fn", 3, 2, 3, Special::Finite),
    layout("float4_e2m1fn", 2, 1, 1, Special::Finite),
];

impl Layout {
    fn data_type(&self) -> DataType {
        let (name, storage) = (self.name.to_owned(), Storage::Uint(self.size()));
        DataType::Extension(Box::new(Extension { name, configuration: Map::default(), storage }))
    }

    /// Returns the number of bits, including the sign.
    fn bits(&self) -> u32 {
        u32::from(self.special != Special::PowersOfTwo) + self.exponent + self.mantissa
    }

    fn size(&self) -> usize {
        if self.bits() > 8 { 2 } else { 1 }
    }

    /// Returns all bits except the sign.
    fn magnitude(&self) -> u32 {
        (1 << (self.exponent + self.mantissa)) - 1
    }

    /// Returns the value of a pattern; bits beyond the size of the type are ignored.
    fn decode(&self, pattern: u32) -> f64 {
        let negative = pattern >> (self.exponent + self.mantissa) & 1 == 1;
        let exponent = pattern >> self.mantissa & ((1 << self.exponent) - 1);
        let mantissa = pattern & ((1 << self.mantissa) - 1);
        let fraction = f64::from(mantissa) / f64::from(1_u32 << self.mantissa);
        let scale = |exponent: i32| 2_f64.powi(exponent);
        let highest = exponent == (1 << self.exponent) - 1;
        let magnitude = match (self.special, exponent) {
            (Special::NegativeZeroIsNan, 0) if negative && mantissa == 0 => return f64::NAN,
            (Special::Ieee, _) if highest && mantissa == 0 => f64::INFINITY,
            (Special::Ieee, _) if highest => f64::NAN,
            (Special::LargestIsNan | Special::PowersOfTwo, _)
                if pattern & self.magnitude() == self.magnitude() =>
            {
                f64::NAN
            }
            (Special::PowersOfTwo, exponent) => scale(exponent.cast_signed() - self.bias),
            (_, 0) => fraction * scale(1 - self.bias),
            (_, exponent) => (1.0 + fraction) * scale(exponent.cast_signed() - self.bias),
        };
        if negative { -magnitude } else { magnitude }
    }

    /// Returns the pattern of the largest finite number.
    fn largest(&self) -> u32 {
        match self.special {
            Special::Ieee => (((1 << self.exponent) - 1) << self.mantissa) - 1,
            Special::LargestIsNan | Special::PowersOfTwo => self.magnitude() - 1,
            _ => self.magnitude(),
        }
    }

    /// Returns the canonical NaN, which is quiet and positive if the type has several NaNs; `None` if the type has no NaN.
    fn nan(&self) -> Option<u32> {
        match self.special {
            Special::Ieee => Some(((1 << self.exponent) - 1) << self.mantissa | 1 << (self.mantissa - 1)),
            Special::LargestIsNan | Special::PowersOfTwo => Some(self.magnitude()),
            Special::NegativeZeroIsNan => Some(1 << (self.exponent + self.mantissa)),
            Special::Finite => None,
        }
    }

    /// Returns the pattern nearest to a value; a tie goes to the even pattern (or, for powers of two, to the greater one, as in
    /// `ml_dtypes`). Returns `None` for a NaN or an infinity that the type cannot represent, and for values outside the range of
    /// a type without infinities, sign or zero.
    fn encode(&self, value: f64) -> Option<u32> {
        if value.is_nan() {
            return self.nan();
        }
        let sign = u32::from(value.is_sign_negative()) << (self.exponent + self.mantissa);
        let magnitude = value.abs();
        let powers = self.special == Special::PowersOfTwo;
        if powers && value <= 0.0 {
            return None;
        }
        let largest = self.largest();
        let last = self.decode(largest);
        let step = if powers { last } else { last - self.decode(largest - 1) };
        if magnitude >= last + step / 2.0 {
            return (self.special == Special::Ieee).then_some(sign | (largest + 1));
        }
        // The patterns of positive numbers are in the order of the numbers.
        let (mut below, mut above) = (0, largest + 1);
        while above - below > 1 {
            let middle = below.midpoint(above);
            *if self.decode(middle) <= magnitude { &mut below } else { &mut above } = middle;
        }
        let distance = |pattern: u32| (self.decode(pattern) - magnitude).abs();
        let nearest = match below {
            _ if below == largest => below,
            _ if distance(below) < distance(above) => below,
            _ if distance(below) > distance(above) => above,
            _ if powers => above,
            _ => below + (below & 1),
        };
        // In types without a negative zero, a negative value that rounds to zero loses its sign.
        let vanishes = nearest == 0 && self.special == Special::NegativeZeroIsNan;
        Some(if vanishes { 0 } else { sign | nearest })
    }
}

/// Returns the type with this name.
pub(in crate::data_type) fn named(name: &str) -> Option<DataType> {
    LAYOUTS.iter().find(|layout| layout.name == name).map(Layout::data_type)
}

fn layout_of(data_type: &DataType) -> Option<&'static Layout> {
    let DataType::Extension(extension) = data_type else { return None };
    LAYOUTS.iter().find(|layout| layout.name == extension.name)
}

fn pattern(element: &[u8]) -> u32 {
    match *element {
        [byte] => byte.into(),
        [a, b] => u16::from_ne_bytes([a, b]).into(),
        _ => 0,
    }
}

/// Returns the bytes of a pattern.
fn element(layout: &Layout, pattern: u32) -> Vec<u8> {
    let [low, high, ..] = pattern.to_le_bytes();
    match layout.size() {
        1 => vec![low],
        _ => u16::from_le_bytes([low, high]).to_ne_bytes().to_vec(),
    }
}

impl Family for SmallFloats {
    fn parse_v3(&self, name: &str, _: &Map) -> Option<Result<DataType>> {
        named(name).map(Ok)
    }

    fn examples(&self) -> Vec<DataType> {
        LAYOUTS.iter().map(Layout::data_type).collect()
    }

    fn has(&self, data_type: &DataType) -> bool {
        layout_of(data_type).is_some()
    }

    fn fill_from_json(&self, data_type: &DataType, json: &Json, strictness: Strictness) -> Result<FillValue> {
        let bad = || bad_fill(data_type, json, float::WANTS);
        let layout = layout_of(data_type).ok_or_else(bad)?;
        if let Some(digits) = json.as_str().and_then(|text| text.strip_prefix("0x")) {
            let bits = float::from_hex(digits, layout.size(), strictness).ok_or_else(bad)?;
            return Ok(FillValue::new(bits));
        }
        let double = float::from_json(json, 8, strictness).ok_or_else(bad)?;
        let value = f64::from_ne_bytes(super::number::bytes_of(&double));
        let pattern = layout.encode(value).ok_or_else(bad)?;
        Ok(FillValue::new(element(layout, pattern)))
    }

    fn fill_to_v3(&self, data_type: &DataType, fill: &FillValue) -> Json {
        let Some(layout) = layout_of(data_type) else { return Json::Null };
        let pattern = pattern(fill.as_bytes());
        let value = layout.decode(pattern);
        // A value that a JSON number cannot represent exactly is written as its bits.
        if layout.encode(value) != Some(pattern) {
            return format!("0x{pattern:0width$x}", width = 2 * layout.size()).into();
        }
        float::to_v2(&value.to_ne_bytes())
    }

    fn number(&self, data_type: &DataType, element: &[u8]) -> Option<Number> {
        layout_of(data_type).map(|layout| Number::Float(layout.decode(pattern(element))))
    }

    fn write_number(&self, data_type: &DataType, number: Number, element: &mut [u8]) -> bool {
        let encoded = layout_of(data_type).and_then(|layout| Some((layout, layout.encode(number.to_f64())?)));
        encoded.is_some_and(|(layout, pattern)| write(element, &self::element(layout, pattern)))
    }

    fn format(&self, data_type: &DataType, element: &[u8]) -> String {
        let value = layout_of(data_type).map_or(f64::NAN, |layout| layout.decode(pattern(element)));
        float::shortest(value, |short| {
            let layout = layout_of(data_type);
            layout.and_then(|layout| layout.encode(short).map(|pattern| layout.decode(pattern)))
                == Some(value)
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::json::json;

    use super::super::Endian;
    use super::*;
    use crate::registry::Registry;

    fn layout(name: &str) -> &'static Layout {
        LAYOUTS.iter().find(|layout| layout.name == name).unwrap()
    }

    /// Values of `ml_dtypes` 0.5.
    #[test]
    fn patterns_have_the_values_of_ml_dtypes() {
        let cases = [
            ("bfloat16", 0x3f80, 1.0),
            ("bfloat16", 0x4049, 3.140625),
            ("bfloat16", 0x0001, 9.183549615799121e-41),
            ("float8_e3m4", 0x6f, 15.5),
            ("float8_e4m3", 0x77, 240.0),
            ("float8_e4m3fn", 0x7e, 448.0),
            ("float8_e5m2", 0x7b, 57344.0),
            ("float8_e5m2", 0x01, 1.52587890625e-05),
            ("float8_e4m3b11fnuz", 0x7f, 30.0),
            ("float8_e4m3fnuz", 0x7f, 240.0),
            ("float8_e5m2fnuz", 0x7f, 57344.0),
            ("float6_e2m3fn", 0x1f, 7.5),
            ("float6_e3m2fn", 0x1f, 28.0),
            ("float4_e2m1fn", 0x07, 6.0),
            ("float4_e2m1fn", 0x0b, -1.5),
            ("float8_e8m0fnu", 0x00, 5.877471754111438e-39),
            ("float8_e8m0fnu", 0x7f, 1.0),
            ("float8_e8m0fnu", 0xfe, 1.7014118346046923e38),
        ];
        for (name, pattern, value) in cases {
            assert_eq!(layout(name).decode(pattern), value, "{name} {pattern:#x}");
        }
        let nans =
            [("bfloat16", 0x7fc0), ("float8_e3m4", 0x78), ("float8_e4m3", 0x7c), ("float8_e5m2", 0x7e)];
        for (name, pattern) in nans {
            assert_eq!(layout(name).nan(), Some(pattern), "{name}");
        }
        assert_eq!(layout("float8_e4m3fn").nan(), Some(0x7f));
        assert_eq!(layout("float8_e4m3fnuz").nan(), Some(0x80));
        assert_eq!(layout("float8_e8m0fnu").nan(), Some(0xff));
        assert!(layout("float8_e8m0fnu").decode(0xff).is_nan());
    }

    #[test]
    fn every_pattern_survives_as_a_fill_value() {
        let registry = Registry::new();
        for layout in LAYOUTS {
            let data_type = registry.data_type_from_v3(&json!(layout.name)).unwrap();
            let family = registry.family(&data_type).unwrap();
            let step = if layout.bits() > 8 { 97 } else { 1 };
            for pattern in (0..1_u32 << layout.bits()).step_by(step) {
                let fill = FillValue::new(element(layout, pattern));
                let json = family.fill_to_v3(&data_type, &fill);
                let back = family.fill_from_json(&data_type, &json, Strictness::Strict).unwrap();
                assert_eq!(back, fill, "{} {pattern:#x} {json}", layout.name);
                assert!(!family.format(&data_type, fill.as_bytes()).is_empty());
            }
            assert_eq!(
                family.to_v2(&data_type, Endian::Little).unwrap_err().kind(),
                crate::ErrorKind::Unsupported
            );
        }
    }

    #[test]
    fn values_are_rounded_to_the_nearest_even_one() {
        let half = layout("float4_e2m1fn");
        for (value, rounded) in
            [(0.2, 0.0), (0.25, 0.0), (0.26, 0.5), (2.5, 2.0), (3.5, 4.0), (6.9, 6.0), (-5.1, -6.0)]
        {
            assert_eq!(half.encode(value).map(|p| half.decode(p)), Some(rounded), "{value}");
        }
        assert_eq!(half.encode(7.0), None, "beyond the range of the type");
        assert_eq!(half.encode(f64::NAN), None);
        assert_eq!(layout("float8_e4m3fn").encode(460.0), Some(0x7e));
        assert_eq!(layout("float8_e4m3fn").encode(464.0), None, "it has a NaN, but no infinity");
        assert_eq!(
            layout("float8_e5m2").encode(1e9).map(|p| layout("float8_e5m2").decode(p)),
            Some(f64::INFINITY)
        );
        assert_eq!(layout("float8_e5m2fnuz").encode(-1e-30), Some(0), "the type has no negative zero");
        let powers = layout("float8_e8m0fnu");
        for (value, pattern) in [
            (1e-45, 0x00),
            (8.816207631167156e-39, 0x01),
            (0.75, 0x7f),
            (1.4999, 0x7f),
            (1.5, 0x80),
            (3.0, 0x81),
            (2.381976568446569e38, 0xfe),
        ] {
            assert_eq!(powers.encode(value), Some(pattern), "{value}");
        }
        for beyond in [0.0, -0.0, -1.0, 2.5521177519070385e38, f64::INFINITY] {
            assert_eq!(powers.encode(beyond), None, "{beyond}: the type has no zero, no sign, no infinity");
        }
    }

    #[test]
    fn elements_print_in_as_few_digits_as_tell_them_apart() {
        let registry = Registry::new();
        for (name, bytes, text) in [
            ("bfloat16", 0x4049_u16.to_ne_bytes().to_vec(), "3.14"),
            ("bfloat16", 0x7f80_u16.to_ne_bytes().to_vec(), "inf"),
            ("float8_e4m3", vec![0x77], "240.0"),
            ("float4_e2m1fn", vec![0x0b], "-1.5"),
        ] {
            let data_type = registry.data_type_from_v3(&json!(name)).unwrap();
            assert_eq!(registry.family(&data_type).unwrap().format(&data_type, &bytes), text);
        }
    }
}
