//! Data types of HDF5 as those of Zarr, and the way from stored elements to Zarr's.

use hdf5_reader::ByteOrder as Order;
use hdf5_reader::messages::datatype::{Datatype, EnumMember, ReferenceType, StringSize, VarLenKind};
use zarrox::codecs;
use zarrox::data_type::{ByteOrder, Endian, Structure};
use zarrox::json::{Json, Map};
use zarrox::{DataType, Result};

use crate::input::{corrupt, unsupported};

/// The most leaves of a structure, which is far more than anybody has.
const MOST_LEAVES: usize = 1 << 16;

/// A data type of HDF5 in Zarr.
#[derive(Debug, Clone)]
pub(super) struct Mapped {
    pub(super) data_type: DataType,
    /// The dimensions that elements have of their own, which become dimensions of the array.
    pub(super) inner: Vec<u64>,
    pub(super) form: Form,
    /// The names of an enumeration, with their values.
    pub(super) names: Option<Map>,
}

/// The form of stored elements.
#[derive(Debug, Clone)]
pub(super) enum Form {
    /// The bytes are those of Zarr, in this byte order.
    Same(Endian),
    /// A structure whose pieces are copied one by one.
    Pieces(Vec<Piece>),
    /// References to text in a heap.
    Text,
    /// References to bytes in a heap.
    Bytes,
    /// References to objects, which become their paths.
    Paths,
}

/// A number or text inside of a structure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Piece {
    /// The offset in HDF5's structure.
    pub(super) offset: usize,
    pub(super) size: usize,
    /// The size of the words whose bytes are reversed; 1 for none.
    pub(super) swapped: usize,
}

/// The size of an element, without that of its own dimensions.
pub(super) fn size_of(datatype: &Datatype, offset_size: usize) -> Result<usize> {
    let size = |size: u32| usize::try_from(size).map_err(|_| corrupt("an element is too large"));
    match datatype {
        Datatype::FixedPoint { size, .. } | Datatype::FloatingPoint { size, .. } => Ok(usize::from(*size)),
        Datatype::Bitfield { size, .. } | Datatype::Reference { size, .. } => Ok(usize::from(*size)),
        Datatype::String { size: StringSize::Fixed(length), .. } => size(*length),
        Datatype::String { .. } | Datatype::VarLen { .. } => Ok(4 + offset_size + 4),
        Datatype::Compound { size: length, .. } | Datatype::Opaque { size: length, .. } => size(*length),
        Datatype::Enum { base, .. } => size_of(base, offset_size),
        Datatype::Array { base, dims } => {
            let count = dims.iter().try_fold(1_usize, |count, &length| {
                usize::try_from(length).ok().and_then(|length| count.checked_mul(length))
            });
            let size = size_of(base, offset_size)?;
            count.and_then(|count| count.checked_mul(size)).ok_or_else(|| corrupt("an element is too large"))
        }
    }
}

/// The type of a dataset. `raw` is its stored form, which tells more about numbers.
pub(super) fn mapped(datatype: &Datatype, raw: &[u8], offset_size: usize) -> Result<Mapped> {
    let plain = |data_type, form| Mapped { data_type, inner: Vec::new(), form, names: None };
    match datatype {
        Datatype::Array { base, dims } => {
            // The stored form of the base is behind the dimensions.
            let inner = mapped(base, base_of_array(raw, dims.len()), offset_size)?;
            let dims = dims.iter().copied().chain(inner.inner.iter().copied()).collect();
            Ok(Mapped { inner: dims, ..inner })
        }
        Datatype::Enum { base, members } => {
            let (data_type, order) = number(base, &[])?;
            if is_bool(base, members) {
                return Ok(plain(DataType::Bool, Form::Same(order)));
            }
            let names = members.iter().map(|member| Ok((member.name.clone(), value(base, &member.value)?)));
            let names = Some(names.collect::<Result<Map>>()?);
            Ok(Mapped { names, ..plain(data_type, Form::Same(order)) })
        }
        Datatype::Compound { .. } => structure(datatype, offset_size),
        Datatype::VarLen { kind: VarLenKind::String, .. } => Ok(plain(text()?, Form::Text)),
        Datatype::VarLen { base, .. } if base.is_vlen_string_base() && is_text(base) => {
            Ok(plain(text()?, Form::Text))
        }
        Datatype::VarLen { base, .. }
            if matches!(**base, Datatype::FixedPoint { size: 1, signed: false, .. }) =>
        {
            Ok(plain(DataType::parse("variable_length_bytes", &codecs::registry())?, Form::Bytes))
        }
        Datatype::VarLen { .. } => Err(unsupported("Zarr v3 has no elements that are lists of any length")),
        Datatype::Reference { ref_type: ReferenceType::Object, size: 8 } => Ok(plain(text()?, Form::Paths)),
        Datatype::Reference { .. } => Err(unsupported("Zarr has no references to regions of arrays")),
        _ => {
            let (data_type, order) = number(datatype, raw)?;
            Ok(plain(data_type, Form::Same(order)))
        }
    }
}

fn is_text(base: &Datatype) -> bool {
    matches!(base, Datatype::String { .. })
}

/// The stored form of the elements of an array type, which follows the lengths of its dimensions. Empty where it is not there.
fn base_of_array(raw: &[u8], ndim: usize) -> &[u8] {
    let version = raw.first().map_or(0, |first| first >> 4);
    // Version 2 has reserved bytes, and a permutation of the dimensions.
    let start = if version < 3 { 8 + 4 + 8 * ndim } else { 8 + 1 + 4 * ndim };
    raw.get(start..).unwrap_or_default()
}

fn text() -> Result<DataType> {
    DataType::parse("string", &codecs::registry())
}

/// A number, text of a fixed length, or bytes without a meaning.
fn number(datatype: &Datatype, raw: &[u8]) -> Result<(DataType, Endian)> {
    let endian = |order: Order| if order == Order::BigEndian { Endian::Big } else { Endian::Little };
    match datatype {
        Datatype::FixedPoint { size, signed, byte_order } => {
            check_precision(raw, *size)?;
            Ok((integer(*size, *signed)?, endian(*byte_order)))
        }
        Datatype::Bitfield { size, byte_order } => Ok((integer(*size, false)?, endian(*byte_order))),
        Datatype::FloatingPoint { size, byte_order } => Ok((float(*size, raw)?, endian(*byte_order))),
        Datatype::String { size: StringSize::Fixed(length), .. } => {
            Ok((DataType::parse(&format!("|S{length}"), &codecs::registry())?, Endian::Little))
        }
        Datatype::Opaque { size, .. } => Ok((raw_bits(*size)?, Endian::Little)),
        Datatype::Reference { size, .. } => Ok((raw_bits(u32::from(*size))?, Endian::Little)),
        Datatype::Enum { base, members } => {
            let (data_type, order) = number(base, &[])?;
            Ok((if is_bool(base, members) { DataType::Bool } else { data_type }, order))
        }
        _ => Err(unsupported("Zarr has no elements of variable length inside of others")),
    }
}

fn raw_bits(size: u32) -> Result<DataType> {
    match usize::try_from(size) {
        Ok(size) if size > 0 && size <= 1 << 20 => Ok(DataType::RawBits(size)),
        _ => Err(unsupported(format!("elements of {size} bytes are too large for Zarr"))),
    }
}

fn integer(size: u8, signed: bool) -> Result<DataType> {
    Ok(match (size, signed) {
        (1, true) => DataType::Int8,
        (2, true) => DataType::Int16,
        (4, true) => DataType::Int32,
        (8, true) => DataType::Int64,
        (1, false) => DataType::UInt8,
        (2, false) => DataType::UInt16,
        (4, false) => DataType::UInt32,
        (8, false) => DataType::UInt64,
        _ => return Err(unsupported(format!("Zarr has no integers of {size} bytes"))),
    })
}

/// Refuses integers that do not fill their bytes: the value of the other bits is not defined.
fn check_precision(raw: &[u8], size: u8) -> Result<()> {
    let Some([offset_low, offset_high, low, high]) = raw.get(8..12) else { return Ok(()) };
    let (offset, bits) = (u16::from_le_bytes([*offset_low, *offset_high]), u16::from_le_bytes([*low, *high]));
    if offset == 0 && bits == u16::from(size) * 8 {
        return Ok(());
    }
    Err(unsupported(format!("Zarr has no integers of {bits} bits from bit {offset} on in {size} bytes")))
}

fn float(size: u8, raw: &[u8]) -> Result<DataType> {
    let usual = match size {
        2 => Some((DataType::Float16, [10, 5, 0, 10], 15)),
        4 => Some((DataType::Float32, [23, 8, 0, 23], 127)),
        8 => Some((DataType::Float64, [52, 11, 0, 52], 1023)),
        _ => None,
    };
    let is_vax = raw.get(1).is_some_and(|flags| flags & 0x40 != 0);
    let properties = raw.get(8..20).filter(|_| !is_vax);
    let layout =
        properties.map(|p| ([p[4], p[5], p[6], p[7]], u32::from_le_bytes([p[8], p[9], p[10], p[11]])));
    match (usual, layout) {
        (Some((data_type, ..)), None) if !is_vax => Ok(data_type),
        (Some((data_type, places, bias)), Some(found)) if found == (places, bias) => Ok(data_type),
        // The upper half of a float32.
        (Some(_), Some(([7, 8, 0, 7], 127))) if size == 2 => DataType::parse("bfloat16", &codecs::registry()),
        _ => Err(unsupported(format!("Zarr has no floats of {size} bytes in this form"))),
    }
}

/// Returns true for the enumeration that h5py makes of booleans.
fn is_bool(base: &Datatype, members: &[EnumMember]) -> bool {
    let has = |name: &str, value: u8| {
        members.iter().any(|member| member.name.eq_ignore_ascii_case(name) && member.value == [value])
    };
    matches!(base, Datatype::FixedPoint { size: 1, .. })
        && members.len() == 2
        && has("FALSE", 0)
        && has("TRUE", 1)
}

/// The value of a member of an enumeration.
fn value(base: &Datatype, bytes: &[u8]) -> Result<Json> {
    let Datatype::FixedPoint { size, signed, byte_order } = base else {
        return Err(corrupt("an enumeration is not one of integers"));
    };
    let bytes = bytes.get(..usize::from(*size)).filter(|_| *size <= 8);
    let bytes = bytes.ok_or_else(|| corrupt("a value of an enumeration is cut off"))?;
    Ok(integer_json(bytes, *signed, *byte_order == Order::BigEndian))
}

/// An integer of at most 8 bytes as JSON.
pub(super) fn integer_json(bytes: &[u8], signed: bool, big: bool) -> Json {
    let mut little = bytes.to_vec();
    if big {
        little.reverse();
    }
    let is_negative = signed && little.last().is_some_and(|last| last & 0x80 != 0);
    let mut wide = if is_negative { [0xff; 16] } else { [0; 16] };
    wide[..little.len().min(16)].copy_from_slice(&little[..little.len().min(16)]);
    Json::from(i128::from_le_bytes(wide))
}

/// The complex number that a structure of two floats is, as h5py writes it.
fn complex(datatype: &Datatype) -> Option<(DataType, Endian)> {
    let Datatype::Compound { size, fields } = datatype else { return None };
    let [real, imaginary] = fields.as_slice() else { return None };
    if (real.name.as_str(), imaginary.name.as_str()) != ("r", "i") || real.datatype != imaginary.datatype {
        return None;
    }
    let Datatype::FloatingPoint { size: half, byte_order } = &real.datatype else { return None };
    if (real.byte_offset, imaginary.byte_offset, *size) != (0, u32::from(*half), 2 * u32::from(*half)) {
        return None;
    }
    let endian = if *byte_order == Order::BigEndian { Endian::Big } else { Endian::Little };
    match half {
        4 => Some((DataType::Complex64, endian)),
        8 => Some((DataType::Complex128, endian)),
        _ => None,
    }
}

fn structure(datatype: &Datatype, offset_size: usize) -> Result<Mapped> {
    if let Some((data_type, endian)) = complex(datatype) {
        return Ok(Mapped { data_type, inner: Vec::new(), form: Form::Same(endian), names: None });
    }
    let mut pieces = Vec::new();
    let data_type = fields(datatype, 0, offset_size, &mut pieces)?;
    let size = size_of(datatype, offset_size)?;
    if pieces.iter().any(|piece: &Piece| piece.offset + piece.size > size) {
        return Err(corrupt("a field lies outside of its structure"));
    }
    let mut end = 0;
    let is_packed = pieces.iter().all(|piece| {
        let follows = piece.offset == end;
        end += piece.size;
        follows && piece.swapped == 1
    });
    let form = if is_packed && end == size { Form::Same(Endian::Little) } else { Form::Pieces(pieces) };
    Ok(Mapped { data_type, inner: Vec::new(), form, names: None })
}

/// The structure without padding, and its pieces.
fn fields(
    datatype: &Datatype,
    start: usize,
    offset_size: usize,
    pieces: &mut Vec<Piece>,
) -> Result<DataType> {
    let Datatype::Compound { fields: list, .. } = datatype else {
        return Err(corrupt("a structure has no fields"));
    };
    let mut found = Vec::new();
    for field in list {
        let offset = start + field.byte_offset as usize;
        let (data_type, shape) = self::field(&field.datatype, offset, offset_size, pieces)
            .map_err(|error| error.at(format!("field '{}'", field.name)))?;
        found.push((field.name.clone(), data_type, shape));
    }
    Ok(DataType::Struct(std::sync::Arc::new(Structure::with_shapes(found)?)))
}

fn field(
    datatype: &Datatype,
    offset: usize,
    offset_size: usize,
    pieces: &mut Vec<Piece>,
) -> Result<(DataType, Vec<usize>)> {
    if let Datatype::Array { base, dims } = datatype {
        let size = size_of(base, offset_size)?;
        let own: Vec<usize> =
            dims.iter().map(|&length| usize::try_from(length).unwrap_or(usize::MAX)).collect();
        let count = own.iter().try_fold(1_usize, |count, &length| count.checked_mul(length));
        let count = count.filter(|&count| count > 0 && count <= MOST_LEAVES);
        let count = count.ok_or_else(|| unsupported("the structure has too many elements"))?;
        let (data_type, inner) = field(base, offset, offset_size, pieces)?;
        for index in 1..count {
            field(base, offset + index * size, offset_size, pieces)?;
        }
        return Ok((data_type, own.into_iter().chain(inner).collect()));
    }
    if pieces.len() >= MOST_LEAVES {
        return Err(unsupported("the structure has too many elements"));
    }
    let (data_type, endian) = match (datatype, complex(datatype)) {
        (_, Some(complex)) => complex,
        (Datatype::Compound { .. }, None) => {
            return Ok((fields(datatype, offset, offset_size, pieces)?, Vec::new()));
        }
        _ => number(datatype, &[])?,
    };
    let word = data_type.storage().word();
    let swapped = if endian == Endian::Big { word.max(1) } else { 1 };
    pieces.push(Piece { offset, size: data_type.size(), swapped });
    Ok((data_type, Vec::new()))
}

impl Form {
    /// The byte order of elements whose bytes are those of Zarr.
    pub(super) fn order(&self) -> Option<ByteOrder> {
        match self {
            Self::Same(endian) => Some(ByteOrder::One(*endian)),
            _ => None,
        }
    }
}
