//! Raw bytes: v3 `r8`, `r16`, …; v2 `|V1`, `|V2`, …

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::{DataType, Endian, Family, TypeString, bad_fill};
use crate::error::{Error, Result};
use crate::fill_value::FillValue;
use crate::json::{Json, Map};
use crate::strictness::Strictness;

/// The family of raw types.
#[derive(Debug)]
pub(crate) struct RawBytes;

impl Family for RawBytes {
    fn parse_v3(&self, name: &str, _: &Map) -> Option<Result<DataType>> {
        let digits = name.strip_prefix('r')?;
        if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        Some(match digits.parse::<usize>() {
            Ok(bits) if bits % 8 == 0 => sized(name, bits / 8),
            _ => Err(Error::metadata(format!(
                "data type '{name}': the number of bits must be a multiple of 8"
            ))),
        })
    }

    fn parse_v2(&self, dtype: &TypeString<'_>) -> Option<Result<DataType>> {
        let size = dtype.size().filter(|_| dtype.kind == 'V')?;
        Some(sized(&format!("|V{size}"), size))
    }

    fn examples(&self) -> Vec<DataType> {
        vec![DataType::RawBits(3)]
    }

    fn has(&self, data_type: &DataType) -> bool {
        matches!(data_type, DataType::RawBits(_))
    }

    fn to_v2(&self, data_type: &DataType, _: Endian) -> Result<Json> {
        Ok(format!("|V{}", data_type.size()).into())
    }

    fn fill_from_json(&self, data_type: &DataType, json: &Json, strictness: Strictness) -> Result<FillValue> {
        let size = data_type.size();
        let bytes = match json {
            Json::Array(list) => list.iter().map(|v| v.as_u64().and_then(|v| u8::try_from(v).ok())).collect(),
            Json::String(text) => STANDARD.decode(text).ok(),
            Json::Number(number) if strictness == Strictness::Lenient && number.as_u64() == Some(0) => {
                Some(vec![0; size])
            }
            _ => None,
        };
        bytes.filter(|bytes: &Vec<u8>| bytes.len() == size).map(FillValue::new).ok_or_else(|| {
            bad_fill(
                data_type,
                json,
                &format!("a list of {size} bytes (v3), or the base64 of {size} bytes (v2)"),
            )
        })
    }

    fn fill_to_v3(&self, _: &DataType, fill: &FillValue) -> Json {
        fill.as_bytes().to_vec().into()
    }

    fn fill_to_v2(&self, _: &DataType, fill: &FillValue) -> Json {
        STANDARD.encode(fill.as_bytes()).into()
    }

    fn format(&self, _: &DataType, element: &[u8]) -> String {
        format(element)
    }
}

/// Formats raw bytes as NumPy does.
pub(in crate::data_type) fn format(element: &[u8]) -> String {
    let digits: String = element.iter().map(|byte| format!("\\x{byte:02X}")).collect();
    format!("b'{digits}'")
}

fn sized(name: &str, bytes: usize) -> Result<DataType> {
    super::check_length(name, bytes)?;
    Ok(DataType::RawBits(bytes))
}
