//! Zarr data types for numbers and fixed-length strings, and the conversion of their stored bytes.
//!
//! The same rules apply to elements of datasets, fields of structures, and attribute values.

use zarrox::codecs;
use zarrox::data_type::Endian;
use zarrox::internals::data_type::ByteOrder;
use zarrox::json::{Json, Map};
use zarrox::{DataType, Result};

use super::format::{Bits, Class, Datatype, EnumMember, FloatLayout, Member, Order, Padding};
use super::text::{lenient, unpadded};
use crate::input::{corrupt, unsupported};

/// The tag prefix that h5py uses for NumPy types without an HDF5 equivalent.
const NUMPY_TAG: &str = "NUMPY:";

/// A number, a fixed-length string, or opaque bytes.
#[derive(Debug, Clone)]
pub(super) struct Scalar {
    pub(super) data_type: DataType,
    /// The size in the file, in bytes.
    pub(super) size: usize,
    pub(super) change: Change,
    /// The names of an enumeration and their values.
    pub(super) names: Option<Map>,
    /// The tag of opaque bytes.
    pub(super) tag: Option<String>,
}

/// The conversion from stored bytes to Zarr's bytes in little-endian order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    /// The bytes are unchanged.
    None,
    /// The bytes of each word of the given size are reversed.
    Reversed(usize),
    /// An integer occupies only some of the bits.
    Bits { bits: Bits, is_signed: bool },
    /// Bytes after the end of a string become zeros.
    Text(Padding),
}

impl Change {
    /// Converts a stored element to its Zarr representation, which has `size` bytes, and appends it to `out`.
    pub(super) fn append(self, stored: &[u8], size: usize, out: &mut Vec<u8>) {
        let start = out.len();
        match self {
            Self::None => out.extend_from_slice(stored),
            Self::Reversed(word) => {
                out.extend_from_slice(stored);
                out[start..].chunks_mut(word.max(1)).for_each(<[u8]>::reverse);
            }
            Self::Bits { bits, is_signed } => {
                out.extend_from_slice(&integer(stored, bits, is_signed).to_le_bytes());
            }
            Self::Text(padding) => out.extend_from_slice(unpadded(stored, padding)),
        }
        out.resize(start + size, 0);
    }

    /// Returns the byte order of the stored bytes; `None` if they differ from Zarr's bytes in more than their order.
    pub(super) fn order(self) -> Option<Endian> {
        match self {
            Self::None => Some(Endian::Little),
            Self::Reversed(_) => Some(Endian::Big),
            Self::Bits { .. } | Self::Text(_) => None,
        }
    }
}

/// Returns the value of an integer of at most 8 bytes that occupies only some of the bits.
fn integer(stored: &[u8], bits: Bits, is_signed: bool) -> i64 {
    let mut wide = [0; 8];
    wide.iter_mut().zip(stored).for_each(|(to, &from)| *to = from);
    if bits.order == Order::Big {
        wide[..stored.len().min(8)].reverse();
    }
    let raw = u64::from_le_bytes(wide).checked_shr(u32::from(bits.offset)).unwrap_or(0);
    let unused = 64_u32.saturating_sub(u32::from(bits.precision)).min(63);
    let top = raw << unused;
    // The sign bit fills the bits above the value.
    if is_signed { top.cast_signed() >> unused } else { (top >> unused).cast_signed() }
}

impl Scalar {
    /// Returns the scalar for a datatype; `None` if the datatype is not a scalar.
    ///
    /// # Errors
    /// If Zarr has no equivalent data type.
    pub(super) fn of(datatype: &Datatype) -> Result<Option<Self>> {
        let size = datatype.size;
        if size == 0 {
            return Err(corrupt("an element has no bytes"));
        }
        let plain = |data_type, change| Self { data_type, size, change, names: None, tag: None };
        Ok(Some(match &datatype.class {
            Class::Integer { bits, is_signed } => {
                let (data_type, change) = of_bits(size, *bits, *is_signed)?;
                plain(data_type, change)
            }
            Class::Bitfield(bits) => {
                let (data_type, change) = of_bits(size, *bits, false)?;
                plain(data_type, change)
            }
            Class::Float { bits, layout } => {
                let data_type = float(size, *bits, *layout)?;
                let change = ordered(bits.order, data_type.storage().word());
                plain(data_type, change)
            }
            Class::Text { padding, .. } => {
                let data_type = DataType::parse(&format!("|S{size}"), &codecs::registry())?;
                // A single byte has no padding.
                let is_padded =
                    *padding == Padding::NullPadded || (*padding == Padding::NullTerminated && size == 1);
                plain(data_type, if is_padded { Change::None } else { Change::Text(*padding) })
            }
            Class::Opaque(tag) => return opaque(size, tag).map(Some),
            Class::Enum { base, members } => return enumeration(base, members).map(Some),
            Class::Complex(part) => complex(part, size)?,
            Class::Compound(members) => return Ok(complex_members(members, size)),
            Class::Time(_) => {
                return Err(unsupported("Zarr has no data type for HDF5's time class"));
            }
            Class::Reference(_) | Class::VariableText { .. } | Class::Sequence(_) | Class::Array { .. } => {
                return Ok(None);
            }
        }))
    }

    /// Converts a stored element to its Zarr representation.
    pub(super) fn element(&self, stored: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.data_type.size());
        self.change.append(stored, self.data_type.size(), &mut out);
        out
    }
}

fn ordered(order: Order, word: usize) -> Change {
    if order == Order::Big && word > 1 { Change::Reversed(word) } else { Change::None }
}

/// Returns the data type of an integer. For an integer of unusual size, this is the next larger type; for an integer that
/// occupies only some of its bits, the type with all the bits.
fn of_bits(size: usize, bits: Bits, is_signed: bool) -> Result<(DataType, Change)> {
    let Bits { order, offset, precision } = bits;
    let end = usize::from(offset) + usize::from(precision);
    if precision == 0 || end > size.saturating_mul(8) {
        return Err(corrupt(format!("an integer of {size} bytes has {precision} bits from bit {offset} on")));
    }
    if order == Order::Vax {
        return Err(unsupported("Zarr has no data type for integers in the byte order of VAX"));
    }
    let data_type = match (size, is_signed) {
        (1, true) => DataType::Int8,
        (2, true) => DataType::Int16,
        (3..=4, true) => DataType::Int32,
        (5..=8, true) => DataType::Int64,
        (1, false) => DataType::UInt8,
        (2, false) => DataType::UInt16,
        (3..=4, false) => DataType::UInt32,
        (5..=8, false) => DataType::UInt64,
        _ => return Err(unsupported(format!("Zarr has no data type for integers of {size} bytes"))),
    };
    let is_whole = offset == 0 && usize::from(precision) == size * 8 && data_type.size() == size;
    let change = if is_whole { ordered(order, size) } else { Change::Bits { bits, is_signed } };
    Ok((data_type, change))
}

/// Returns the data type of a float.
fn float(size: usize, bits: Bits, layout: FloatLayout) -> Result<DataType> {
    let FloatLayout { sign, exponent, exponent_bits, mantissa, mantissa_bits, bias, is_normalised } = layout;
    let found = [sign, exponent, exponent_bits, mantissa, mantissa_bits];
    let is_whole = bits.offset == 0 && usize::from(bits.precision) == size * 8;
    let is_plain = is_whole && is_normalised && bits.order != Order::Vax;
    match (size, found, bias) {
        (2, [15, 10, 5, 0, 10], 15) if is_plain => Ok(DataType::Float16),
        (4, [31, 23, 8, 0, 23], 127) if is_plain => Ok(DataType::Float32),
        (8, [63, 52, 11, 0, 52], 1023) if is_plain => Ok(DataType::Float64),
        (2, [15, 7, 8, 0, 7], 127) if is_plain => DataType::parse("bfloat16", &codecs::registry()),
        _ => Err(unsupported(format!(
            "Zarr has no data type for floats of {size} bytes with {exponent_bits} bits of exponent and {mantissa_bits} of mantissa"
        ))),
    }
}

/// Returns the data type of tagged opaque bytes. h5py uses tags for NumPy types such as dates.
fn opaque(size: usize, tag: &str) -> Result<Scalar> {
    if let Some(dtype) = tag.strip_prefix(NUMPY_TAG)
        && let Ok((data_type, order)) = codecs::registry().data_type_from_v2(&Json::from(dtype))
        && data_type.size() == size
        && !matches!(data_type, DataType::Struct(_))
    {
        let is_big = order == Some(ByteOrder::One(Endian::Big));
        let change = ordered(if is_big { Order::Big } else { Order::Little }, data_type.storage().word());
        return Ok(Scalar { data_type, size, change, names: None, tag: None });
    }
    if size > zarrox::internals::data_type::LARGEST {
        return Err(unsupported(format!("elements of {size} bytes are too large for Zarr")));
    }
    let tag = Some(tag.to_owned()).filter(|tag| !tag.is_empty());
    Ok(Scalar { data_type: DataType::RawBits(size), size, change: Change::None, names: None, tag })
}

/// Returns the data type of an enumeration: bool, or its integer type.
fn enumeration(base: &Datatype, members: &[EnumMember]) -> Result<Scalar> {
    let Class::Integer { is_signed, .. } = base.class else {
        return Err(corrupt("an enumeration does not have an integer type"));
    };
    let base = Scalar::of(base)?.ok_or_else(|| corrupt("an enumeration does not have an integer type"))?;
    if is_truth(base.size, members) {
        return Ok(Scalar { data_type: DataType::Bool, ..base });
    }
    let value = |member: &EnumMember| {
        let bytes = member.value.get(..base.size);
        let bytes = bytes.ok_or_else(|| corrupt("a value of an enumeration is truncated"))?;
        Ok((lenient(&member.name), integer_json(&base.element(bytes), is_signed)))
    };
    let names = members.iter().map(value).collect::<Result<Map>>()?;
    Ok(Scalar { names: Some(names), ..base })
}

/// Returns true for the enumeration with which h5py represents booleans.
fn is_truth(size: usize, members: &[EnumMember]) -> bool {
    let has = |name: &[u8], value: u8| {
        members.iter().any(|member| member.name.eq_ignore_ascii_case(name) && member.value == [value])
    };
    size == 1 && members.len() == 2 && has(b"FALSE", 0) && has(b"TRUE", 1)
}

/// Converts a little-endian integer of at most 8 bytes to JSON.
pub(super) fn integer_json(bytes: &[u8], is_signed: bool) -> Json {
    let is_negative = is_signed && bytes.last().is_some_and(|last| last & 0x80 != 0);
    let mut wide = if is_negative { [0xff; 16] } else { [0; 16] };
    wide.iter_mut().zip(bytes).for_each(|(to, &from)| *to = from);
    Json::from(i128::from_le_bytes(wide))
}

/// Returns the data type of a complex number whose two parts have the given type.
fn complex(part: &Datatype, size: usize) -> Result<Scalar> {
    let half = Scalar::of(part)?.filter(|half| half.size.checked_mul(2) == Some(size));
    let half = half.ok_or_else(|| corrupt("a complex number does not have two parts"))?;
    let data_type = match &half.data_type {
        DataType::Float32 => DataType::Complex64,
        DataType::Float64 => DataType::Complex128,
        part => {
            let unknown = |_| unsupported(format!("Zarr has no data type for complex numbers of {part}"));
            DataType::parse(&format!("complex_{part}"), &codecs::registry()).map_err(unknown)?
        }
    };
    Ok(Scalar { data_type, size, change: half.change, names: None, tag: None })
}

/// Returns the complex data type for a structure of two floats, as written by h5py.
fn complex_members(members: &[Member], size: usize) -> Option<Scalar> {
    let [real, imaginary] = members else { return None };
    if (real.name.as_slice(), imaginary.name.as_slice()) != (b"r", b"i")
        || real.datatype != imaginary.datatype
    {
        return None;
    }
    let half = real.datatype.size;
    if (real.offset, imaginary.offset) != (0, half) || !matches!(real.datatype.class, Class::Float { .. }) {
        return None;
    }
    let found = complex(&real.datatype, size).ok()?;
    matches!(found.data_type, DataType::Complex64 | DataType::Complex128).then_some(found)
}

#[cfg(test)]
mod tests {
    use zarrox::ErrorKind;
    use zarrox_testkit::errors::assert_error;

    use super::*;

    fn integers(size: usize, offset: u16, precision: u16, order: Order, is_signed: bool) -> Datatype {
        Datatype { size, class: Class::Integer { bits: Bits { order, offset, precision }, is_signed } }
    }

    fn converted(datatype: &Datatype, bytes: &[u8]) -> (DataType, Json) {
        let scalar = Scalar::of(datatype).unwrap().unwrap();
        let is_signed = matches!(datatype.class, Class::Integer { is_signed: true, .. });
        let value = integer_json(&scalar.element(bytes), is_signed);
        (scalar.data_type, value)
    }

    #[test]
    fn integers_of_any_bits_have_their_values() {
        // h5py reads the same values from the same types.
        let datatype = integers(2, 4, 12, Order::Little, true);
        assert_eq!(converted(&datatype, &[0x50, 0x00]), (DataType::Int16, Json::from(5)));
        assert_eq!(converted(&datatype, &[0xf0, 0xff]), (DataType::Int16, Json::from(-1)));
        let datatype = integers(2, 4, 12, Order::Big, false);
        assert_eq!(converted(&datatype, &[0xff, 0xf0]), (DataType::UInt16, Json::from(4095)));
        let datatype = integers(3, 0, 24, Order::Big, true);
        assert_eq!(converted(&datatype, &[0xff, 0xff, 0xfe]), (DataType::Int32, Json::from(-2)));
        let datatype = integers(8, 0, 64, Order::Big, true);
        assert_eq!(converted(&datatype, &[0xff; 8]), (DataType::Int64, Json::from(-1)));
        let datatype = integers(8, 1, 63, Order::Little, false);
        assert_eq!(converted(&datatype, &[0xff; 8]), (DataType::UInt64, Json::from(u64::MAX >> 1)));
        let corrupt = [(2, 8, 12), (1, 0, 0), (4, 32, 1)].map(|parts| (parts, ErrorKind::Corrupt));
        for ((size, offset, precision), kind) in
            corrupt.into_iter().chain([((16, 0, 128), ErrorKind::Unsupported)])
        {
            assert_error(
                Scalar::of(&integers(size, offset, precision, Order::Little, true)),
                kind,
                "integer",
            );
        }
    }

    #[test]
    fn opaque_elements_of_numpy_have_its_types() {
        let of = |tag: &str| {
            let class = Class::Opaque(tag.to_owned());
            Scalar::of(&Datatype { size: 8, class }).unwrap().unwrap()
        };
        assert_eq!(of("NUMPY:<M8[ns]").data_type, DataType::parse("<M8[ns]", &codecs::registry()).unwrap());
        assert_eq!(of("NUMPY:>m8[s]").change, Change::Reversed(8));
        assert_eq!(of("NUMPY:<f4").data_type, DataType::RawBits(8));
        assert_eq!(of("pixels").tag.as_deref(), Some("pixels"));
        assert_eq!(of("").tag, None);
    }
}
