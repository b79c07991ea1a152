//! Descriptions of nodes as text and as JSON.

use zarrox::json::{Json, Map, json};
use zarrox::{Array, Child, DataType, Node};

use crate::exit::printable;
use crate::print::tuple;

/// The maximum number of characters of an attribute that are shown.
const VALUE: usize = 160;

/// Returns a data type as in v3 metadata, or its display name if v3 has no name for it.
pub(super) fn data_type_json(data_type: &DataType) -> Json {
    let registry = zarrox::codecs::registry().with_unknown();
    let named = registry.family(data_type).and_then(|family| family.to_v3(data_type));
    named.unwrap_or_else(|_| Json::from(data_type.to_string()))
}

/// Returns a line for each attribute; long values are truncated.
pub(super) fn attribute_lines(attributes: &Map) -> impl Iterator<Item = String> {
    attributes.iter().map(|(name, value)| format!("{name} = {}", clipped(&value.to_string(), VALUE)))
}

/// Returns a text, truncated to at most `longest` characters.
pub(super) fn clipped(text: &str, longest: usize) -> String {
    match text.char_indices().nth(longest) {
        None => text.to_owned(),
        Some(_) => text.chars().take(longest - 1).chain(['…']).collect(),
    }
}

/// Returns the description of an array that follows its name.
pub(super) fn label(array: &Array) -> String {
    format!("{} {}", tuple(array.shape()), array.data_type()) + &unreadable(array)
}

/// Returns the reason why an array's elements cannot be read, in parentheses; empty if they can be read.
pub(super) fn unreadable(array: &Array) -> String {
    array.unreadable().map(|why| format!(" (cannot be read: {why})")).unwrap_or_default()
}

/// Returns a node's name and, if it can be opened, its description.
pub(super) fn child_json(child: &Child) -> Json {
    match &child.node {
        Ok(Node::Array(array)) => {
            let mut json = json!({
                "name": child.name,
                "node_type": "array",
                "format": array.metadata().format.to_string(),
                "shape": array.shape(),
                "data_type": data_type_json(array.data_type()),
                "chunk_shape": array.unit_shape(),
            });
            if let Some(why) = array.unreadable() {
                json["unreadable"] = why.into();
            }
            json
        }
        Ok(Node::Group(group)) => json!({
            "name": child.name,
            "node_type": "group",
            "format": group.metadata().format.to_string(),
        }),
        Err(error) => json!({"name": child.name, "node_type": null, "error": error.to_string()}),
    }
}

/// Returns the chunk shape, and the shard shape if there is one. For a rectilinear grid, it returns all chunk lengths.
pub(super) fn chunk_shapes(array: &Array) -> (String, Option<String>) {
    let stored = array.chunk_grid().describe();
    match array.shard_shape() {
        Some(_) => (tuple(&array.unit_shape()), Some(stored)),
        None => (stored, None),
    }
}

/// Returns the name, safe to print on a terminal.
pub(super) fn name(child: &Child) -> String {
    let name = printable(&child.name);
    if matches!(child.node, Ok(Node::Group(_))) { format!("{name}/") } else { name }
}
