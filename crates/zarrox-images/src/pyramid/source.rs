//! Finding the source array, and naming levels.

use zarrox_core::json::Json;
use zarrox_core::{Error, ErrorKind, Result};

use zarrox::internals::argument;
use zarrox::{Array, Group, Node};

/// Returns the source array for a node: the node itself, the highest resolution of an image, or the only array of a group.
pub(super) fn array_of(node: Node) -> Result<Array> {
    let group = match node {
        Node::Array(array) => return Ok(array),
        Node::Group(group) => group,
    };
    if let Some(path) = highest(&group) {
        return group.open(&path)?.into_array();
    }
    let mut arrays = group.arrays()?;
    match (arrays.pop(), arrays.len()) {
        (Some(array), 0) => Ok(array),
        (None, _) => {
            Err(Error::new(ErrorKind::NotFound, format!("the group '{}' has no array", group.path())))
        }
        (Some(last), _) => {
            let names = arrays.iter().chain([&last]).map(|array| array.path().name().to_owned());
            let names: Vec<String> = names.collect();
            Err(argument(format!(
                "the group '{}' has several arrays; name one of {}",
                group.path(),
                names.join(", ")
            )))
        }
    }
}

/// Returns the path of the array with the highest resolution, if the group is an image.
fn highest(group: &Group) -> Option<String> {
    let attributes = group.attributes();
    let members = attributes.get("ome").and_then(Json::as_object).unwrap_or(attributes);
    let multiscales = members.get("multiscales")?;
    let first = match multiscales.get("layout") {
        Some(layout) => layout.get(0)?.get("asset")?,
        None => multiscales.get(0)?.get("datasets")?.get(0)?.get("path")?,
    };
    first.as_str().map(str::to_owned)
}

/// Returns the name of a level, given the name of the first level. A number at the end of the name is incremented, as in `0`, `1`
/// or `s0`, `s1`.
pub(super) fn level_name(first: &str, level: usize) -> String {
    let digits = first.bytes().rev().take_while(u8::is_ascii_digit).count();
    let (stem, number) = first.split_at(first.len() - digits);
    match number.parse::<usize>() {
        Ok(number) => format!("{stem}{}", number.saturating_add(level)),
        Err(_) => level.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_names_are_incremented() {
        assert_eq!(level_name("0", 3), "3");
        assert_eq!(level_name("scale0", 1), "scale1");
        assert_eq!(level_name("full", 1), "1");
        assert_eq!(level_name("a9", 1), "a10");
    }
}
