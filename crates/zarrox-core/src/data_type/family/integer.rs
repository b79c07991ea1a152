//! Integers: v3 `int8` … `uint64`, v2 `i1` … `u8` with a byte order.

use super::number::{bytes_of, write};
use super::{DataType, Endian, Family, Number, Storage, TypeString, bad_fill};
use crate::error::Result;
use crate::fill_value::FillValue;
use crate::json::{Json, Map};
use crate::strictness::Strictness;
use crate::with_storage;

/// The family of the integer types.
#[derive(Debug)]
pub(crate) struct Integers;

const TYPES: &[DataType] = &[
    DataType::Int8,
    DataType::Int16,
    DataType::Int32,
    DataType::Int64,
    DataType::UInt8,
    DataType::UInt16,
    DataType::UInt32,
    DataType::UInt64,
];

impl Family for Integers {
    fn parse_v3(&self, name: &str, _: &Map) -> Option<Result<DataType>> {
        TYPES.iter().find(|t| t.core_name() == Some(name)).cloned().map(Ok)
    }

    fn parse_v2(&self, dtype: &TypeString<'_>) -> Option<Result<DataType>> {
        let size = dtype.size()?;
        // A byte order is required for larger integers; an unnecessary byte order (`<u1`, written by jzarr) is accepted.
        if dtype.endian.is_none() && size > 1 {
            return None;
        }
        let storage = match dtype.kind {
            'i' => Storage::Int(size),
            'u' => Storage::Uint(size),
            _ => return None,
        };
        TYPES.iter().find(|t| t.storage() == storage).cloned().map(Ok)
    }

    fn examples(&self) -> Vec<DataType> {
        TYPES.to_vec()
    }

    fn has(&self, data_type: &DataType) -> bool {
        TYPES.contains(data_type)
    }

    fn to_v2(&self, data_type: &DataType, endian: Endian) -> Result<Json> {
        let size = data_type.size();
        let order = if size == 1 { '|' } else { endian.character() };
        let kind = if matches!(data_type.storage(), Storage::Int(_)) { 'i' } else { 'u' };
        Ok(format!("{order}{kind}{size}").into())
    }

    fn fill_from_json(&self, data_type: &DataType, json: &Json, strictness: Strictness) -> Result<FillValue> {
        let bad = || bad_fill(data_type, json, "an integer in the range of the type");
        let value = from_json(json, strictness).ok_or_else(bad)?;
        with_storage!(integer data_type.storage(), T => {
            T::try_from(value).map(|value| FillValue::new(value.to_ne_bytes())).map_err(|_| bad())
        }, else Err(bad()))
    }

    fn fill_to_v3(&self, data_type: &DataType, fill: &FillValue) -> Json {
        with_storage!(integer data_type.storage(), T => {
            T::from_ne_bytes(bytes_of(fill.as_bytes())).into()
        }, else Json::Null)
    }

    fn number(&self, data_type: &DataType, element: &[u8]) -> Option<Number> {
        with_storage!(integer data_type.storage(), T => {
            Some(Number::Integer(T::from_ne_bytes(bytes_of(element)).into()))
        }, else None)
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "documented at `Casting::Lossy`"
    )]
    fn write_number(&self, data_type: &DataType, number: Number, element: &mut [u8]) -> bool {
        with_storage!(integer data_type.storage(), T => {
            let value = match number {
                Number::Integer(value) => value as T,
                Number::Float(value) | Number::Complex(value, _) => value as T,
            };
            write(element, &value.to_ne_bytes())
        }, else false)
    }

    fn format(&self, data_type: &DataType, element: &[u8]) -> String {
        with_storage!(integer data_type.storage(), T => {
            T::from_ne_bytes(bytes_of(element)).to_string()
        }, else String::new())
    }
}

/// Returns the integer that a JSON value represents: `7`; in lenient mode also `7.0`, `"7"`, `true`, `[7]`.
pub(in crate::data_type) fn from_json(json: &Json, strictness: Strictness) -> Option<i128> {
    if let Some(value) = json.as_i64() {
        return Some(value.into());
    }
    if let Some(value) = json.as_u64() {
        return Some(value.into());
    }
    if strictness == Strictness::Strict {
        return None;
    }
    match json {
        Json::Number(number) => whole(number.as_f64()?),
        Json::String(text) => text.parse().ok().or_else(|| whole(text.parse().ok()?)),
        Json::Bool(value) => Some((*value).into()),
        // NCZarr 4.8.0 wrote the value as a list with one item.
        Json::Array(list) if list.len() == 1 => from_json(&list[0], strictness),
        _ => None,
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the value is integral and in the range of i128")]
fn whole(value: f64) -> Option<i128> {
    (value.fract() == 0.0 && value.abs() < 1e20).then_some(value as i128)
}
