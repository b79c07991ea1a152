//! Values of HDF5: attributes as JSON, and elements as those of Zarr.

use std::collections::HashMap;
use std::sync::Arc;

use hdf5_reader::group::Group;
use hdf5_reader::messages::attribute::AttributeMessage;
use hdf5_reader::messages::datatype::{Datatype, ReferenceType, StringPadding, StringSize, VarLenKind};
use zarrox::data_type::{ByteOrder, Endian};
use zarrox::json::{Json, Map};
use zarrox::{DataType, DynArray, Error, ErrorKind, Result};

use super::types::{Form, Mapped, integer_json, size_of};
use crate::input::{corrupt, unsupported};

/// The most bytes that the texts of one chunk may take, so that many references to one text take no memory without a bound.
const MOST_TEXT: usize = 1 << 30;

/// The parts of a file to which values refer.
#[derive(Clone)]
pub(super) struct Heap {
    pub(super) root: Group,
    /// The paths of nodes by their addresses.
    pub(super) paths: Arc<HashMap<u64, String>>,
    pub(super) offset_size: usize,
    /// True if attributes of one element are scalars, as in NetCDF.
    pub(super) is_netcdf: bool,
}

impl std::fmt::Debug for Heap {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Heap").field("offset_size", &self.offset_size).finish_non_exhaustive()
    }
}

impl Heap {
    /// The bytes to which a reference of variable length leads.
    pub(super) fn sequence(&self, reference: &[u8], item: usize) -> Result<Vec<u8>> {
        let found = self.root.resolve_vlen_reference_bytes(reference, item);
        found.map_err(|error| corrupt(format!("a reference to an element of variable length: {error}")))
    }

    /// The text to which a reference leads.
    fn text(&self, reference: &[u8]) -> Result<Vec<u8>> {
        let mut text = self.sequence(reference, 1)?;
        while text.last() == Some(&0) {
            text.pop();
        }
        Ok(text)
    }

    /// The path of the object to which a reference leads; empty for a reference to nothing.
    pub(super) fn path(&self, reference: &[u8]) -> String {
        let mut address = [0; 8];
        let length = reference.len().min(8);
        address[..length].copy_from_slice(&reference[..length]);
        self.paths.get(&u64::from_le_bytes(address)).cloned().unwrap_or_default()
    }

    /// The value of an attribute.
    pub(super) fn attribute(&self, attribute: &AttributeMessage) -> Result<Json> {
        use hdf5_reader::messages::dataspace::DataspaceType;
        let AttributeMessage { datatype, dataspace, raw_data, .. } = attribute;
        match dataspace.dataspace_type {
            DataspaceType::Null => Ok(Json::Null),
            DataspaceType::Scalar => self.nested(datatype, &[], raw_data),
            DataspaceType::Simple if self.is_netcdf && dataspace.dims == [1] => {
                self.nested(datatype, &[], raw_data)
            }
            DataspaceType::Simple => self.nested(datatype, &dataspace.dims, raw_data),
        }
    }

    /// Elements of a shape as nested lists.
    fn nested(&self, datatype: &Datatype, shape: &[u64], bytes: &[u8]) -> Result<Json> {
        let Some((&length, inner)) = shape.split_first() else { return self.value(datatype, bytes) };
        if length == 0 {
            return Ok(Json::Array(Vec::new()));
        }
        let size = size_of(datatype, self.offset_size)? as u64;
        let item = inner.iter().try_fold(size, |size, &length| size.checked_mul(length)).unwrap_or(u64::MAX);
        if item == 0 || item.checked_mul(length) != Some(bytes.len() as u64) {
            return Err(corrupt("the size of the value is not that of its shape and type"));
        }
        let item = usize::try_from(item).map_err(|_| corrupt("a value is too large"))?;
        let list = bytes.chunks_exact(item).map(|bytes| self.nested(datatype, inner, bytes));
        Ok(Json::Array(list.collect::<Result<_>>()?))
    }

    fn value(&self, datatype: &Datatype, bytes: &[u8]) -> Result<Json> {
        let size = size_of(datatype, self.offset_size)?;
        let bytes = bytes.get(..size).ok_or_else(|| corrupt("a value is cut off"))?;
        let is_big = |order: &hdf5_reader::ByteOrder| *order == hdf5_reader::ByteOrder::BigEndian;
        match datatype {
            Datatype::FixedPoint { size: 1..=8, signed, byte_order } => {
                Ok(integer_json(bytes, *signed, is_big(byte_order)))
            }
            Datatype::Bitfield { size: 1..=8, byte_order } => {
                Ok(integer_json(bytes, false, is_big(byte_order)))
            }
            Datatype::FloatingPoint { byte_order, .. } => float(bytes, is_big(byte_order)),
            Datatype::String { size: StringSize::Fixed(_), padding, .. } => {
                Ok(fixed_text(bytes, *padding).into())
            }
            Datatype::String { .. } | Datatype::VarLen { kind: VarLenKind::String, .. } => {
                Ok(lenient_text(self.text(bytes)?).into())
            }
            Datatype::VarLen { base, .. } if matches!(**base, Datatype::String { .. }) => {
                Ok(lenient_text(self.text(bytes)?).into())
            }
            Datatype::VarLen { base, .. } => {
                let item = size_of(base, self.offset_size)?.max(1);
                let sequence = self.sequence(bytes, item)?;
                let list = sequence.chunks_exact(item).map(|bytes| self.value(base, bytes));
                Ok(Json::Array(list.collect::<Result<_>>()?))
            }
            Datatype::Compound { fields, .. } => {
                let field = |field: &hdf5_reader::messages::datatype::CompoundField| {
                    let bytes = bytes.get(field.byte_offset as usize..);
                    let bytes = bytes.ok_or_else(|| corrupt("a field lies outside of its structure"))?;
                    Ok((field.name.clone(), self.value(&field.datatype, bytes)?))
                };
                Ok(Json::Object(fields.iter().map(field).collect::<Result<Map>>()?))
            }
            Datatype::Enum { base, members } => Ok(self.member(base, members, bytes)?),
            Datatype::Array { base, dims } => self.nested(base, dims, bytes),
            Datatype::Reference { ref_type: ReferenceType::Object, .. } => Ok(self.path(bytes).into()),
            Datatype::Opaque { .. } => Ok(bytes.iter().map(|&byte| Json::from(byte)).collect()),
            _ => Err(unsupported("values of this type have no form in JSON")),
        }
    }

    /// The value of an enumeration: true or false where these are its names, and else the number.
    fn member(
        &self,
        base: &Datatype,
        members: &[hdf5_reader::messages::datatype::EnumMember],
        bytes: &[u8],
    ) -> Result<Json> {
        let name = members.iter().find(|member| member.value == bytes).map(|member| member.name.as_str());
        match name {
            Some("TRUE") if members.len() == 2 => Ok(Json::Bool(true)),
            Some("FALSE") if members.len() == 2 => Ok(Json::Bool(false)),
            _ => self.value(base, bytes),
        }
    }

    /// Stored elements as those of Zarr, in an array of this shape.
    pub(super) fn elements(
        &self,
        mapped: &Mapped,
        item: usize,
        shape: Vec<usize>,
        bytes: Vec<u8>,
    ) -> Result<DynArray> {
        let data_type = mapped.data_type.clone();
        match &mapped.form {
            Form::Same(endian) => {
                DynArray::from_foreign(data_type, shape, bytes, &ByteOrder::One(*endian), false)
            }
            Form::Pieces(pieces) => {
                let mut packed = Vec::with_capacity(bytes.len());
                for element in bytes.chunks_exact(item) {
                    for piece in pieces {
                        let start = packed.len();
                        packed.extend_from_slice(&element[piece.offset..piece.offset + piece.size]);
                        packed[start..].chunks_mut(piece.swapped).for_each(<[u8]>::reverse);
                    }
                }
                DynArray::from_foreign(data_type, shape, packed, &ByteOrder::One(Endian::Little), false)
            }
            Form::Text | Form::Bytes => {
                let is_text = matches!(mapped.form, Form::Text);
                let mut texts = Vec::with_capacity(bytes.len() / item.max(1));
                let mut total = 0_usize;
                for reference in bytes.chunks_exact(item) {
                    let text = if is_text { self.text(reference)? } else { self.sequence(reference, 1)? };
                    if is_text && std::str::from_utf8(&text).is_err() {
                        return Err(corrupt("a text is not in UTF-8"));
                    }
                    total = total.saturating_add(text.len());
                    if total > MOST_TEXT {
                        let message = "the texts of one chunk take more than 1 GiB";
                        return Err(Error::new(ErrorKind::LimitExceeded, message));
                    }
                    texts.push(text);
                }
                DynArray::from_elements(data_type, shape, texts)
            }
            Form::Paths => {
                let paths = bytes.chunks_exact(item).map(|reference| self.path(reference).into_bytes());
                DynArray::from_elements(data_type, shape, paths)
            }
        }
    }

    /// The fill value as JSON, if one is stored and differs from zeros.
    pub(super) fn fill(&self, mapped: &Mapped, item: usize, bytes: &[u8]) -> Result<Option<Json>> {
        if matches!(mapped.form, Form::Text | Form::Bytes | Form::Paths) || bytes.is_empty() {
            return Ok(None);
        }
        let inner = mapped.inner.iter().try_fold(1_u64, |count, &length| count.checked_mul(length));
        if inner.and_then(|inner| inner.checked_mul(item as u64)) != Some(bytes.len() as u64) {
            return Err(corrupt("the fill value does not have the size of an element"));
        }
        let mut parts = bytes.chunks_exact(item.max(1));
        let Some(first) = parts.next() else { return Ok(None) };
        if parts.any(|part| part != first) {
            return Err(unsupported("the fill value has different elements"));
        }
        let element = self.elements(mapped, item, vec![], first.to_vec())?;
        let registry = zarrox::codecs::registry();
        let fill = zarrox::FillValue::new(element.into_bytes());
        Ok(Some(registry.family(&mapped.data_type)?.fill_to_v3(&mapped.data_type, &fill)))
    }
}

/// Text of a fixed length without its padding.
fn fixed_text(bytes: &[u8], padding: StringPadding) -> String {
    let end = match padding {
        StringPadding::NullTerminate => bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len()),
        StringPadding::NullPad => bytes.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1),
        StringPadding::SpacePad => bytes.iter().rposition(|&byte| byte != b' ').map_or(0, |last| last + 1),
    };
    lenient_text(bytes[..end].to_vec())
}

/// Text in UTF-8, or in Latin-1, which old programs wrote.
fn lenient_text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes)
        .unwrap_or_else(|error| error.as_bytes().iter().map(|&byte| char::from(byte)).collect())
}

fn float(bytes: &[u8], big: bool) -> Result<Json> {
    let data_type = match bytes.len() {
        2 => DataType::Float16,
        4 => DataType::Float32,
        8 => DataType::Float64,
        length => return Err(unsupported(format!("JSON has no floats of {length} bytes"))),
    };
    let order = ByteOrder::One(if big { Endian::Big } else { Endian::Little });
    let element = DynArray::from_foreign(data_type, vec![], bytes.to_vec(), &order, false)?;
    let wide =
        element.cast(&DataType::Float64, zarrox::data_type::Casting::Exact, &zarrox::codecs::registry())?;
    let value = wide.to_typed::<f64>()?.first().copied().unwrap_or(f64::NAN);
    Ok(Json::from(value))
}
