//! OME-Zarr 0.4: attributes of a Zarr v2 group.

use zarrox_core::Result;
use zarrox_core::json::{Json, Map, json};

use super::image::{Image, put_entry};

/// The version.
pub(super) const VERSION: &str = "0.4";

/// Writes the description of an image into the attributes of its group.
pub(super) fn describe(image: &Image, attributes: &mut Map) -> Result<()> {
    let versioned = |map: Map| {
        let mut all = Map::default();
        all.insert("version".to_owned(), json!(VERSION));
        all.extend(map);
        all
    };
    put_entry(attributes, versioned(image.ome_entry()?));
    if let Some(omero) = image.omero() {
        attributes.insert("omero".to_owned(), Json::Object(versioned(omero)));
    }
    if let Some(label) = image.image_label() {
        attributes.insert("image-label".to_owned(), Json::Object(versioned(label)));
    }
    Ok(())
}
