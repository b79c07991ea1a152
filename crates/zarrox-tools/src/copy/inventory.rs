//! The inventory of a node, which finds stored objects below it that belong neither to it nor to a node below it. Such objects
//! are not copied, so they must not be deleted with the node.

use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;

use zarrox_core::internals::metadata::Layout;
use zarrox_core::{ChunkKeyEncoding, Error, ErrorKind, Format, NodeMetadata, Result};
use zarrox_stores::{Key, Prefix};

use zarrox::Node;
use zarrox::internals::{JOURNAL, Location, format_of, is_mark, is_renaming};

/// The maximum number of keys that an error names.
const NAMED: usize = 5;

/// The keys that belong to nodes.
#[derive(Default)]
struct Belongings {
    documents: HashSet<String>,
    /// The prefixes of chunks, with the encoding of their keys and the number of dimensions.
    chunks: HashMap<String, (ChunkKeyEncoding, usize)>,
}

/// Checks that all stored objects below the node belong to nodes of its format, before the node is deleted after a copy. `what`
/// describes the operation.
pub(super) fn check_inventory(place: &Location, what: &str) -> Result<()> {
    let place = place.as_stored().with_probe(None);
    let Some(found) = place.find()? else { return Ok(()) };
    let format = format_of(&found.node);
    let layout = place.layout_for(format)?;
    let place = place.of_format(Some(format));
    let mut belongings = Belongings::default();
    belongings.documents.extend(format.def().entry_key().map(str::to_owned));
    self::belongings(&place, format, &layout, &mut belongings)?;
    let (count, first) = strangers(&place, &layout, &belongings)?;
    if count == 0 {
        return Ok(());
    }
    let more = if count > first.len() { format!(" and {} more", count - first.len()) } else { String::new() };
    let message = format!(
        "'{}' cannot be {what}: it contains objects that do not belong to its nodes of Zarr {format} and would be lost: {}{more}; \
          move these away first, or copy the node and delete the original",
        place.path,
        first.join(", ")
    );
    Err(Error::new(ErrorKind::InvalidArgument, message).at(place.store.location()))
}

fn belongings(place: &Location, format: Format, layout: &Layout, known: &mut Belongings) -> Result<()> {
    let consolidation = format.def().consolidation();
    known.documents.extend(layout.keys(&place.path));
    known.documents.extend(consolidation.and_then(|copy| copy.key(layout, &place.path)));
    let Some(found) = place.find()? else { return Ok(()) };
    if let NodeMetadata::Array(_) = found.node {
        if let Node::Array(array) = Node::new(found.location, found.node)? {
            let of_chunks = (array.raw().key_encoding()?, array.ndim());
            known.chunks.insert(array.chunks_prefix().as_str().to_owned(), of_chunks);
        }
        return Ok(());
    }
    place
        .names_below(format)?
        .iter()
        .try_for_each(|name| belongings(&place.at(place.path.join(name)?), format, layout, known))
}

/// Returns the number of keys below the node that do not belong to it, and the first few of them.
fn strangers(place: &Location, layout: &Layout, known: &Belongings) -> Result<(usize, Vec<String>)> {
    let (mut count, mut first) = (0, Vec::new());
    for prefix in layout.extent(&place.path).prefixes {
        place.store.list_prefix(&Prefix::new(prefix)?, &mut |key, _| {
            if !known.has(&key) {
                count += 1;
                if first.len() < NAMED {
                    first.push(format!("'{key}'"));
                }
            }
            ControlFlow::Continue(())
        })?;
    }
    Ok((count, first))
}

impl Belongings {
    fn has(&self, key: &Key) -> bool {
        let name = key.name();
        if is_mark(name) || is_renaming(name) || name == JOURNAL || self.documents.contains(key.as_str()) {
            return true;
        }
        let text = key.as_str();
        let ends = text.match_indices('/').map(|(at, _)| at + 1).chain([0]);
        ends.filter_map(|end| self.chunks.get(&text[..end]).map(|of_chunks| (&text[end..], of_chunks)))
            .any(|(name, (encoding, ndim))| encoding.decode(name, *ndim).is_some())
    }
}
