//! Python objects.

use super::{Decode, Encode, FromElement, ToElement, mismatch};
use crate::data_type::DataType;
use crate::error::Result;
use crate::json::Json;
use crate::msgpack;

fn check(data_type: &DataType) -> Result<()> {
    if *data_type == DataType::object() { Ok(()) } else { Err(mismatch(data_type, "objects")) }
}

impl FromElement for Json {
    fn decoder(data_type: &DataType) -> Result<Decode<Self>> {
        check(data_type)?;
        Ok(Box::new(|element| Ok(msgpack::to_json(element)?)))
    }
}

impl ToElement for Json {
    fn encoder(data_type: &DataType) -> Result<Encode<Self>> {
        check(data_type)?;
        Ok(Box::new(|value, bytes| Ok(msgpack::from_json(value, bytes)?)))
    }
}
