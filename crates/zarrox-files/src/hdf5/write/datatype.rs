//! Encodes HDF5 datatypes, and maps Zarr data types to HDF5 datatypes.

use zarrox::data_type::{Storage, Structure};
use zarrox::{DataType, Result};

use super::names;
use super::options::Convention;
use crate::input::unsupported;
use crate::netcdf::NcType;

/// The size in bytes of a reference to data in a heap.
pub(super) const REFERENCE: usize = 16;

/// An encoded datatype, and the size of its elements in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Encoded {
    pub(super) bytes: Vec<u8>,
    pub(super) size: usize,
}

impl Encoded {
    fn new(class: u8, version: u8, flags: [u8; 3], size: usize, properties: &[u8]) -> Self {
        let mut bytes = vec![version << 4 | class, flags[0], flags[1], flags[2]];
        bytes.extend_from_slice(&u32::try_from(size).unwrap_or(u32::MAX).to_le_bytes());
        bytes.extend_from_slice(properties);
        Self { bytes, size }
    }
}

pub(super) fn integer(size: u8, signed: bool) -> Encoded {
    let bits = u16::from(size) * 8;
    let properties = [0, 0, bits.to_le_bytes()[0], bits.to_le_bytes()[1]];
    Encoded::new(0, 1, [if signed { 8 } else { 0 }, 0, 0], usize::from(size), &properties)
}

pub(super) fn float(size: u8) -> Encoded {
    match size {
        2 => float_of(16, 5, 10, 15),
        4 => float_of(32, 8, 23, 127),
        _ => float_of(64, 11, 52, 1023),
    }
}

/// Encodes a float type with a sign bit, `exponent` exponent bits and `mantissa` mantissa bits.
fn float_of(bits: u8, exponent: u8, mantissa: u8, bias: u32) -> Encoded {
    let mut properties = vec![0, 0, bits, 0, mantissa, exponent, 0, mantissa];
    properties.extend_from_slice(&bias.to_le_bytes());
    // The leading bit of the mantissa is implied; the sign is the most significant bit.
    Encoded::new(1, 1, [0x20, bits - 1, 0], usize::from(bits / 8), &properties)
}

/// Returns the type of fixed-length strings that are padded with zeros.
pub(super) fn fixed_text(length: usize, is_utf8: bool) -> Encoded {
    Encoded::new(3, 1, [1 | u8::from(is_utf8) << 4, 0, 0], length, &[])
}

/// Returns the type of fixed-length strings that are NUL-terminated.
pub(super) fn terminated_text(length: usize) -> Encoded {
    Encoded::new(3, 1, [0, 0, 0], length, &[])
}

/// Returns the type of variable-length UTF-8 strings.
pub(super) fn text() -> Encoded {
    Encoded::new(9, 1, [1, 1, 0], REFERENCE, &integer(1, false).bytes)
}

/// Returns the type of variable-length lists.
pub(super) fn list(of: &Encoded) -> Encoded {
    Encoded::new(9, 1, [0, 0, 0], REFERENCE, &of.bytes)
}

/// Returns the type of references to objects.
pub(super) fn reference() -> Encoded {
    Encoded::new(7, 1, [0, 0, 0], 8, &[])
}

fn opaque(size: usize) -> Encoded {
    Encoded::new(5, 1, [0, 0, 0], size, &[])
}

/// Returns an enumeration type with the given member names and values.
pub(super) fn enumeration(base: &Encoded, members: &[(String, Vec<u8>)]) -> Encoded {
    let mut properties = base.bytes.clone();
    for (name, _) in members {
        properties.extend_from_slice(name.as_bytes());
        properties.push(0);
    }
    members.iter().for_each(|(_, value)| properties.extend_from_slice(value));
    let count = u16::try_from(members.len()).unwrap_or(u16::MAX).to_le_bytes();
    Encoded::new(8, 3, [count[0], count[1], 0], base.size, &properties)
}

/// Returns the enumeration type with which h5py represents booleans.
pub(super) fn boolean() -> Encoded {
    enumeration(&integer(1, true), &[("FALSE".to_owned(), vec![0]), ("TRUE".to_owned(), vec![1])])
}

/// Returns a compound type of fields, which are given with their offsets.
pub(super) fn compound(size: usize, fields: &[(String, usize, Encoded)]) -> Encoded {
    let offset_size = match size {
        0..=0xff => 1,
        0x100..=0xffff => 2,
        0x1_0000..=0xff_ffff => 3,
        _ => 4,
    };
    let mut properties = Vec::new();
    for (name, offset, datatype) in fields {
        properties.extend_from_slice(name.as_bytes());
        properties.push(0);
        properties.extend_from_slice(&(*offset as u64).to_le_bytes()[..offset_size]);
        properties.extend_from_slice(&datatype.bytes);
    }
    let count = u16::try_from(fields.len()).unwrap_or(u16::MAX).to_le_bytes();
    Encoded::new(6, 3, [count[0], count[1], 0], size, &properties)
}

fn array(of: &Encoded, shape: &[usize]) -> Encoded {
    let mut properties = vec![u8::try_from(shape.len()).unwrap_or(u8::MAX)];
    for &length in shape {
        properties.extend_from_slice(&u32::try_from(length).unwrap_or(u32::MAX).to_le_bytes());
    }
    properties.extend_from_slice(&of.bytes);
    Encoded::new(10, 3, [0, 0, 0], of.size * shape.iter().product::<usize>(), &properties)
}

/// Returns the datatype for a NetCDF type.
pub(super) fn of_netcdf(of: NcType) -> Encoded {
    match of {
        NcType::Byte => integer(1, true),
        NcType::Short => integer(2, true),
        NcType::Int => integer(4, true),
        NcType::Int64 => integer(8, true),
        NcType::UByte => integer(1, false),
        NcType::UShort => integer(2, false),
        NcType::UInt => integer(4, false),
        NcType::UInt64 => integer(8, false),
        NcType::Float => float(4),
        NcType::Double => float(8),
        NcType::Char => fixed_text(1, true),
        NcType::String => text(),
    }
}

/// Returns the little-endian datatype for fixed-size elements. In NetCDF, structures, raw bytes and complex numbers are
/// user-defined types.
pub(super) fn of_fixed(data_type: &DataType, convention: Convention) -> Result<Encoded> {
    match data_type {
        DataType::Bool if convention == Convention::NetCdf => return Ok(integer(1, true)),
        DataType::Bool => return Ok(boolean()),
        DataType::Struct(structure) => return of_structure(structure, convention),
        DataType::RawBits(size) => return Ok(opaque(*size)),
        _ if data_type.is_named("null_terminated_bytes") => {
            let size = data_type.size();
            return Ok(match convention {
                Convention::NetCdf if size > 1 => array(&fixed_text(1, false), &[size]),
                _ => fixed_text(size, false),
            });
        }
        _ if data_type.is_named("bfloat16") && convention == Convention::Hdf5 => {
            return Ok(float_of(16, 8, 7, 127));
        }
        _ => {}
    }
    match DataType::of_storage(&data_type.storage()).filter(|plain| plain == data_type).map(|t| t.storage()) {
        Some(Storage::Int(size)) => Ok(integer(byte(size), true)),
        Some(Storage::Uint(size)) => Ok(integer(byte(size), false)),
        Some(Storage::Float(2)) if convention == Convention::NetCdf => Err(no_type(data_type, convention)),
        Some(Storage::Float(size)) => Ok(float(byte(size))),
        Some(Storage::Complex(size)) => {
            let half = float(byte(size / 2));
            let fields = [("r".to_owned(), 0, half.clone()), ("i".to_owned(), size / 2, half)];
            Ok(compound(size, &fields))
        }
        _ => Err(no_type(data_type, convention)),
    }
}

fn byte(size: usize) -> u8 {
    u8::try_from(size).unwrap_or(8)
}

fn of_structure(structure: &Structure, convention: Convention) -> Result<Encoded> {
    let mut fields = Vec::new();
    for field in structure.fields() {
        names::check(&field.name, convention)?;
        let element = of_fixed(&field.data_type, convention)?;
        let encoded = if field.shape.is_empty() { element } else { array(&element, &field.shape) };
        fields.push((field.name.clone(), field.offset, encoded));
    }
    Ok(compound(structure.layout().size, &fields))
}

/// Returns the error for elements that the format cannot represent, with advice.
pub(super) fn no_type(data_type: &DataType, convention: Convention) -> zarrox::Error {
    let is_number = matches!(data_type.storage(), Storage::Int(_) | Storage::Uint(_) | Storage::Float(_));
    let advice = match is_number {
        true => {
            "zarrox cp --dtype makes a copy with elements of another type, such as float32; --skip-unsupported leaves them out"
        }
        false => "--skip-unsupported leaves them out",
    };
    unsupported(format!("{convention} has no equivalent of the data type {data_type}; {advice}"))
}
