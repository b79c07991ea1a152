//! Unknown data types: the metadata of an array can be inspected, but its elements cannot be read.

use super::{DataType, Extension, Family, Storage};
use crate::error::Result;
use crate::fill_value::FillValue;
use crate::json::{self, Json, Map};
use crate::strictness::Strictness;

/// The family of all types that belong to no other family. Fill values are kept as JSON.
#[derive(Debug)]
pub(crate) struct Unknown;

impl DataType {
    /// Creates an unknown type from its description in the metadata.
    pub(crate) fn unknown(json: &Json) -> Self {
        let named =
            json.as_object().and_then(|map| Some((map.get("name")?.as_str()?, map.get("configuration"))));
        let (name, configuration) = match (json, named) {
            (Json::String(name), _) => (name.clone(), None),
            (_, Some((name, configuration))) => (name.to_owned(), configuration.and_then(Json::as_object)),
            _ => (json.to_string(), None),
        };
        let configuration = configuration.cloned().unwrap_or_default();
        Self::Extension(Box::new(Extension { name, configuration, storage: Storage::Variable }))
    }
}

impl Family for Unknown {
    fn parse_v3(&self, _: &str, _: &Map) -> Option<Result<DataType>> {
        None
    }

    fn examples(&self) -> Vec<DataType> {
        Vec::new()
    }

    fn has(&self, _: &DataType) -> bool {
        true
    }

    fn fill_from_json(&self, _: &DataType, json: &Json, _: Strictness) -> Result<FillValue> {
        Ok(FillValue::new(json.to_string().into_bytes()))
    }

    fn fill_to_v3(&self, _: &DataType, fill: &FillValue) -> Json {
        json::parse(fill.as_bytes()).unwrap_or(Json::Null)
    }

    fn format(&self, _: &DataType, element: &[u8]) -> String {
        String::from_utf8_lossy(element).into_owned()
    }
}
