//! The list of label images in a group `labels`.

use zarrox_core::json::{Json, Map, json};

use super::{Multiscales, v05};

/// Adds a label image to the list in the attributes of the group `labels`.
pub(crate) fn list_label(form: Multiscales, attributes: &mut Map, name: &str) {
    let members = match form {
        Multiscales::Ome04 => Some(attributes),
        Multiscales::Ome05 => v05::members(attributes),
        Multiscales::Convention => None,
    };
    let Some(members) = members else { return };
    let list = members.get_or_insert_with("labels", || Json::Array(Vec::new()));
    let Some(list) = list.as_array_mut() else { return };
    if !list.iter().any(|label| label.as_str() == Some(name)) {
        list.push(json!(name));
    }
}
