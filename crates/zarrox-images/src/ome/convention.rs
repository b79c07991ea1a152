//! The convention `multiscales` of zarr-conventions.

use zarrox_core::json::{Json, Map, json};

use super::image::Image;

/// The identifier of the convention.
const UUID: &str = "d35379db-88df-4056-af3a-620245f8e347";

/// Writes the description of an image into the attributes of its group.
pub(super) fn describe(image: &Image, attributes: &mut Map) {
    declare(attributes);
    let mut layout = Vec::new();
    for (index, level) in image.levels.iter().enumerate() {
        let mut entry = Map::default();
        entry.insert("asset".to_owned(), json!(level.path.as_str()));
        let before = index.checked_sub(1).and_then(|before| image.levels.get(before));
        let (scale, translation): (Vec<f64>, Vec<f64>) = match before {
            // Scale and translation are relative to the previous level, and in units of its elements.
            Some(before) => {
                entry.insert("derived_from".to_owned(), json!(before.path.as_str()));
                let ratio = |dim: usize| level.scale[dim] / before.scale[dim];
                let shift =
                    |dim: usize| (level.translation[dim] - before.translation[dim]) / before.scale[dim];
                ((0..level.scale.len()).map(ratio).collect(), (0..level.scale.len()).map(shift).collect())
            }
            None => (vec![1.0; level.scale.len()], vec![0.0; level.scale.len()]),
        };
        entry.insert(
            "transform".to_owned(),
            json!({"scale": scale.as_slice(), "translation": translation.as_slice()}),
        );
        layout.push(Json::Object(entry));
    }
    let mut multiscales = Map::default();
    multiscales.insert("layout".to_owned(), Json::Array(layout));
    if let Some(method) = &image.method {
        // The convention uses other names for two methods.
        let name = match method.as_str() {
            "mean" => "average",
            "median" => "med",
            other => other,
        };
        multiscales.insert("resampling_method".to_owned(), json!(name));
    }
    attributes.insert("multiscales".to_owned(), Json::Object(multiscales));
}

/// Adds the convention to the list of conventions in the attributes of the group.
fn declare(attributes: &mut Map) {
    let list = attributes.get_or_insert_with("zarr_conventions", || Json::Array(Vec::new()));
    let own = json!({
        "uuid": UUID,
        "schema_url": "https://raw.githubusercontent.com/zarr-conventions/multiscales/refs/tags/v1/schema.json",
        "spec_url": "https://github.com/zarr-conventions/multiscales/blob/v1/README.md",
        "name": "multiscales",
        "description": "Multiscale layout of zarr datasets",
    });
    let Some(list) = list.as_array_mut() else { return };
    if !list.iter().any(|convention| convention.get("uuid").and_then(Json::as_str) == Some(UUID)) {
        list.push(own);
    }
}
