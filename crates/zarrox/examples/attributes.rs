//! Sets and reads the attributes of an array.

use zarrox::json::json;
use zarrox::prelude::*;

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let directory = tempfile::tempdir()?;
    let path = directory.path().join("a.zarr");
    let mut array = zarrox::create_array(&path).shape([10]).data_type(DataType::Float32).create()?;
    array.update_attributes(|attributes| {
        attributes.insert("units".to_owned(), "K".into());
        attributes.insert("valid_range".to_owned(), json!([180, 330.5]));
    })?;

    let array = zarrox::open_array(&path)?;
    assert_eq!(array.attributes()["units"], "K");
    assert_eq!(array.attributes()["valid_range"][1], 330.5);
    Ok(())
}
