//! Booleans: v3 `bool`, v2 `|b1`.

use super::{DataType, Endian, Family, Number, TypeString, bad_fill};
use crate::error::Result;
use crate::fill_value::FillValue;
use crate::json::{Json, Map};
use crate::strictness::Strictness;

/// The family of the boolean type.
#[derive(Debug)]
pub(crate) struct Bool;

impl Family for Bool {
    fn parse_v3(&self, name: &str, _: &Map) -> Option<Result<DataType>> {
        (name == "bool").then_some(Ok(DataType::Bool))
    }

    fn parse_v2(&self, dtype: &TypeString<'_>) -> Option<Result<DataType>> {
        (dtype.kind == 'b' && dtype.rest == "1").then_some(Ok(DataType::Bool))
    }

    fn examples(&self) -> Vec<DataType> {
        vec![DataType::Bool]
    }

    fn has(&self, data_type: &DataType) -> bool {
        *data_type == DataType::Bool
    }

    fn to_v2(&self, _: &DataType, _: Endian) -> Result<Json> {
        Ok("|b1".into())
    }

    fn fill_from_json(&self, data_type: &DataType, json: &Json, strictness: Strictness) -> Result<FillValue> {
        let value = match (json, strictness) {
            (Json::Bool(value), _) => *value,
            // Early versions of zarr-python wrote 0 and 1.
            (Json::Number(number), Strictness::Lenient) if number.as_f64() == Some(0.0) => false,
            (Json::Number(number), Strictness::Lenient) if number.as_f64() == Some(1.0) => true,
            _ => return Err(bad_fill(data_type, json, "true or false")),
        };
        Ok(FillValue::new([u8::from(value)]))
    }

    fn fill_to_v3(&self, _: &DataType, fill: &FillValue) -> Json {
        Json::Bool(fill.as_bytes() != [0])
    }

    fn number(&self, _: &DataType, element: &[u8]) -> Option<Number> {
        Some(Number::Integer((element != [0]).into()))
    }

    fn write_number(&self, _: &DataType, number: Number, element: &mut [u8]) -> bool {
        let zero = number.is_same(Number::Integer(0));
        super::number::write(element, &[u8::from(!zero)])
    }

    fn format(&self, _: &DataType, element: &[u8]) -> String {
        if element == [0] { "False" } else { "True" }.to_owned()
    }
}
