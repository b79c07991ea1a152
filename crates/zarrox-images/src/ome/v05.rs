//! OME-Zarr 0.5: the attribute `ome` of a Zarr v3 group.

use zarrox_core::Result;
use zarrox_core::json::{Json, Map, json};

use super::image::{Image, put_entry};

/// The version.
pub(super) const VERSION: &str = "0.5";

/// The attribute that contains all other attributes of OME-Zarr.
pub(super) const OME: &str = "ome";

/// Writes the description of an image into the attributes of its group.
pub(super) fn describe(image: &Image, attributes: &mut Map) -> Result<()> {
    let entry = image.ome_entry()?;
    let Some(ome) = members(attributes) else { return Ok(()) };
    put_entry(ome, entry);
    if let Some(omero) = image.omero() {
        ome.insert("omero".to_owned(), Json::Object(omero));
    }
    if let Some(label) = image.image_label() {
        ome.insert("image-label".to_owned(), Json::Object(label));
    }
    Ok(())
}

/// Returns the members of the attribute `ome`, creating the attribute if it is missing.
pub(super) fn members(attributes: &mut Map) -> Option<&mut Map> {
    let ome = &mut attributes[OME];
    if !ome.is_object() {
        *ome = Json::Object(Map::default());
    }
    let members = ome.as_object_mut()?;
    members.insert("version".to_owned(), json!(VERSION));
    Some(members)
}
