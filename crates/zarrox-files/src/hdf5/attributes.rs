//! Attribute values as JSON.

use zarrox::data_type::{Casting, Endian};
use zarrox::internals::data_type::ByteOrder;
use zarrox::json::{Json, Map};
use zarrox::{DataType, DynArray, Result};

use super::format::{Attribute, Class, Datatype, EnumMember, Padding, Reference, Space};
use super::scalars::{Scalar, integer_json};
use super::text::{lenient, unpadded};
use super::types::reference;
use super::values::Heap;
use crate::input::{corrupt, unsupported};
use crate::netcdf::{NcType, Origin};

/// The maximum nesting depth of values.
const DEEPEST: usize = 32;

/// The maximum number of elements in one value, to bound the size of JSON created from malicious types.
const MOST: u64 = 1 << 24;

/// Returns the value of an attribute.
pub(super) fn value(heap: &Heap, attribute: &Attribute, origin: Origin) -> Result<Json> {
    let Attribute { datatype, space, data, .. } = attribute;
    let is_netcdf = origin == Origin::NetCdf;
    match space {
        // NetCDF stores empty lists and empty strings with null dataspaces.
        Space::Null if is_netcdf && is_text(datatype) => Ok("".into()),
        Space::Null if is_netcdf => Ok(Json::Array(Vec::new())),
        Space::Null => Ok(Json::Null),
        Space::Simple { shape, .. } => {
            // In NetCDF, an attribute with one element is a scalar.
            let shape = if is_netcdf && shape.as_slice() == [1] { &[][..] } else { shape };
            nested(heap, datatype, shape, data, DEEPEST)
        }
    }
}

/// Returns the NetCDF type of the values of an attribute, or `None` if there is no corresponding NetCDF type.
pub(super) fn nc_type(datatype: &Datatype) -> Option<NcType> {
    match &datatype.class {
        Class::Text { .. } => Some(NcType::Char),
        Class::VariableText { .. } => Some(NcType::String),
        Class::Integer { .. } | Class::Bitfield(_) | Class::Float { .. } => {
            NcType::of_elements(&Scalar::of(datatype).ok()??.data_type)
        }
        Class::Array { base, .. } => nc_type(base),
        _ => None,
    }
}

fn is_text(datatype: &Datatype) -> bool {
    matches!(datatype.class, Class::Text { .. } | Class::VariableText { .. })
}

/// Returns the elements of an array as nested lists.
fn nested(heap: &Heap, datatype: &Datatype, shape: &[u64], bytes: &[u8], depth: usize) -> Result<Json> {
    let Some((&length, inner)) = shape.split_first() else { return element(heap, datatype, bytes, depth) };
    if length == 0 {
        return Ok(Json::Array(Vec::new()));
    }
    let size = inner.iter().try_fold(datatype.size as u64, |size, &length| size.checked_mul(length));
    let size = size.filter(|&size| size > 0 && length <= MOST);
    let size = size.filter(|size| size.checked_mul(length).is_some_and(|all| all <= bytes.len() as u64));
    let size = size.ok_or_else(|| corrupt("the size of the value is not that of its shape and type"))?;
    let size = usize::try_from(size).map_err(|_| corrupt("a value is too large"))?;
    let list = bytes.chunks_exact(size).take(usize::try_from(length).unwrap_or(usize::MAX));
    let list = list.map(|bytes| nested(heap, datatype, inner, bytes, depth));
    Ok(Json::Array(list.collect::<Result<_>>()?))
}

fn element(heap: &Heap, datatype: &Datatype, bytes: &[u8], depth: usize) -> Result<Json> {
    let bytes = bytes.get(..datatype.size).ok_or_else(|| corrupt("a value is truncated"))?;
    if depth == 0 {
        return Err(unsupported("the types of the value are nested too deeply"));
    }
    match &datatype.class {
        Class::VariableText { .. } => Ok(lenient(&heap.text(bytes)?).into()),
        Class::Text { padding, .. } => Ok(text(bytes, *padding).into()),
        Class::Reference(Reference::Object) => Ok(heap.path(bytes).into()),
        Class::Reference(kind) => Err(reference(*kind)),
        Class::Array { base, shape } => nested(heap, base, shape, bytes, depth - 1),
        Class::Sequence(base) => {
            let item = base.size.max(1);
            let sequence = heap.sequence(bytes, item)?;
            let list = sequence.chunks_exact(item).map(|bytes| element(heap, base, bytes, depth - 1));
            Ok(Json::Array(list.collect::<Result<_>>()?))
        }
        Class::Compound(members) => {
            let member = |member: &super::format::Member| {
                let bytes = bytes.get(member.offset..);
                let bytes = bytes.ok_or_else(|| corrupt("a field lies outside its structure"))?;
                let name = lenient(&member.name);
                let value = element(heap, &member.datatype, bytes, depth - 1);
                Ok((name.clone(), value.map_err(|error| error.at(format!("field '{name}'")))?))
            };
            Ok(Json::Object(members.iter().map(member).collect::<Result<Map>>()?))
        }
        Class::Complex(part) => {
            let (real, imaginary) = bytes.split_at(bytes.len() / 2);
            let parts = [("r", real), ("i", imaginary)];
            let part =
                |(name, bytes): (&str, &[u8])| Ok((name.to_owned(), element(heap, part, bytes, depth - 1)?));
            Ok(Json::Object(parts.into_iter().map(part).collect::<Result<Map>>()?))
        }
        Class::Enum { base, members } => enumerated(heap, base, members, bytes, depth),
        _ => scalar(datatype, bytes),
    }
}

/// Returns a number, or for opaque bytes the list of their values.
fn scalar(datatype: &Datatype, bytes: &[u8]) -> Result<Json> {
    let scalar = Scalar::of(datatype)?
        .ok_or_else(|| unsupported("values of this type cannot be represented in JSON"))?;
    let element = scalar.element(bytes);
    match &datatype.class {
        Class::Integer { is_signed, .. } => Ok(integer_json(&element, *is_signed)),
        Class::Bitfield(_) => Ok(integer_json(&element, false)),
        Class::Float { .. } => float(&scalar.data_type, element),
        _ if scalar.data_type.time().is_some() => {
            let registry = zarrox::codecs::registry();
            let order = ByteOrder::One(Endian::Little);
            let native =
                DynArray::from_foreign(scalar.data_type, vec![], element, &order, zarrox::Order::RowMajor)?;
            native.to_json(&registry)
        }
        _ => Ok(bytes.iter().map(|&byte| Json::from(byte)).collect()),
    }
}

/// Converts a float to a 64-bit float of the same value.
fn float(data_type: &DataType, element: Vec<u8>) -> Result<Json> {
    let order = ByteOrder::One(Endian::Little);
    let element =
        DynArray::from_foreign(data_type.clone(), vec![], element, &order, zarrox::Order::RowMajor)?;
    let wide = element.cast(&DataType::Float64, Casting::Exact, &zarrox::codecs::registry())?;
    Ok(Json::from(wide.to::<Vec<f64>>()?.first().copied().unwrap_or(f64::NAN)))
}

/// Returns the value of an enumeration: a boolean if the member names are true and false, otherwise a number.
fn enumerated(
    heap: &Heap,
    base: &Datatype,
    members: &[EnumMember],
    bytes: &[u8],
    depth: usize,
) -> Result<Json> {
    let name = members.iter().find(|member| member.value == bytes).map(|member| member.name.as_slice());
    match name {
        Some(b"TRUE") if members.len() == 2 => Ok(Json::Bool(true)),
        Some(b"FALSE") if members.len() == 2 => Ok(Json::Bool(false)),
        _ => element(heap, base, bytes, depth - 1),
    }
}

/// Returns a fixed-length string without its padding.
fn text(bytes: &[u8], padding: Padding) -> String {
    lenient(unpadded(bytes, padding))
}
