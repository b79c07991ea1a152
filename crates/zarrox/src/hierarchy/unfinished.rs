//! Marks of unfinished work: a node that is being deleted, or moved by copying.
//!
//! A mark is stored beside the node before the work begins, and erased when it is done. What an interrupted command has left is so
//! never taken for other files, and the same command continues.

use zarrox_core::json::{self, Json, json};
use zarrox_core::metadata::Extent;
use zarrox_core::{Error, ErrorKind, Format, NodePath, Result};
use zarrox_stores::{Condition, Key};

use super::Held;
use crate::location::Location;

/// The start of the names of marks.
const NAME: &str = ".zarrox-unfinished";

/// The name of the object within an array that has the rows which are reserved for appends.
pub(crate) const APPENDS: &str = ".zarrox-unfinished-appends.json";

/// Work on a node that has begun.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mark {
    /// The format of the node.
    pub(super) format: Format,
    pub(super) work: Work,
}

/// Work that takes several steps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Work {
    /// The node is deleted.
    Deletion,
    /// The node is deleted, since it was copied to this path.
    MovedTo(NodePath),
    /// The node is copied from this path.
    MovedFrom(NodePath),
}

impl Mark {
    /// The format of the node.
    pub(crate) fn format(&self) -> Format {
        self.format
    }

    /// Returns true if the node is being copied to this place.
    pub(crate) fn is_of_copy(&self) -> bool {
        matches!(self.work, Work::MovedFrom(_))
    }

    fn to_bytes(&self) -> Result<Vec<u8>> {
        let mut document = json::Map::default();
        let about = "unfinished work by zarrox; give the same command again to finish it";
        document.insert("about".to_owned(), json!(about));
        document.insert("format".to_owned(), json!(self.format.to_string()));
        let (name, path) = match &self.work {
            Work::Deletion => return json::to_bytes(&document),
            Work::MovedTo(path) => ("moved_to", path),
            Work::MovedFrom(path) => ("moved_from", path),
        };
        document.insert(name.to_owned(), json!(path.as_str()));
        json::to_bytes(&document)
    }

    fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let map = json::parse_object(bytes)?;
        let name = map.get("format").and_then(Json::as_str);
        let format = name.and_then(Format::named);
        let format = format
            .ok_or_else(|| Error::new(ErrorKind::Corrupt, "it does not say of which format the node is"))?;
        let path = |name: &str| map.get(name).and_then(Json::as_str).map(NodePath::new).transpose();
        let work = match (path("moved_to")?, path("moved_from")?) {
            (Some(to), _) => Work::MovedTo(to),
            (None, Some(from)) => Work::MovedFrom(from),
            (None, None) => Work::Deletion,
        };
        Ok(Self { format, work })
    }
}

/// Returns true if a key with this last name can be that of a mark.
pub(crate) fn is_mark(name: &str) -> bool {
    name.starts_with(NAME)
}

impl Location {
    /// The mark of this node, if there is one.
    pub(crate) fn mark(&self) -> Result<Option<Mark>> {
        let key = Key::new(self.mark_key())?;
        let Some(bytes) = self.store.get(&key)? else { return Ok(None) };
        let mark = Mark::from_bytes(&bytes).and_then(|mark| self.fitting(mark));
        mark.map(Some).map_err(|error| error.at(format!("'{key}'")))
    }

    /// Refuses a mark of a format whose nodes lie elsewhere than those of this hierarchy: under the keys that it means, there may be parts
    /// of other nodes.
    fn fitting(&self, mark: Mark) -> Result<Mark> {
        let extent = self.extent_of(&mark)?;
        let lies_apart = |format: &Format| !format.def().layout().extent(&self.path).is_below(&self.path);
        let layouts =
            Format::all().filter(lies_apart).filter_map(|format| self.existing_layout(format).ok().flatten());
        let mut extents = layouts.map(|layout| layout.extent(&self.path)).peekable();
        let fits = match extents.peek() {
            // The root's entry document is erased before its mark.
            None => self.path.is_root() || extent.is_below(&self.path),
            Some(_) => extents.all(|other| other == extent),
        };
        if fits {
            return Ok(mark);
        }
        let message = format!("a node of Zarr {} would be elsewhere in this hierarchy", mark.format);
        Err(Error::new(ErrorKind::Corrupt, message))
    }

    pub(super) fn put_mark(&self, format: Format, work: Work) -> Result<()> {
        self.put(self.mark_key(), &Mark { format, work }.to_bytes()?, Condition::Always)
    }

    pub(super) fn erase_mark(&self) -> Result<()> {
        self.erase(self.mark_key())
    }

    /// The key of the mark. It is beside the node, so that it outlives everything below the node's prefix; the root's is in the
    /// root.
    pub(super) fn mark_key(&self) -> String {
        match self.path.parent() {
            Some(parent) => parent.key(&format!("{NAME}-{}.json", self.path.name())),
            None => format!("{NAME}.json"),
        }
    }

    /// The place of the node whose mark has this key, if it is a mark of this node, or of one directly below.
    pub(crate) fn marked_by(&self, key: &Key) -> Option<Self> {
        let name = key.name().strip_prefix(NAME)?.strip_suffix(".json")?;
        let place = match name.strip_prefix('-') {
            Some(name) => self.at(self.path.join(name).ok()?),
            None => self.clone(),
        };
        (place.mark_key() == key.as_str()).then_some(place)
    }

    /// Returns true if nothing is stored in an extent.
    pub(crate) fn is_free(&self, extent: &Extent) -> Result<bool> {
        Ok(self.occupied(extent)? == super::Occupied::Nothing)
    }

    /// All that can belong to the node that a mark tells of.
    pub(crate) fn extent_of(&self, mark: &Mark) -> Result<Extent> {
        Ok(self.layout_for(mark.format)?.extent(&self.path))
    }

    /// The node that a mark tells of, as one that can be deleted.
    pub(super) fn held_by(&self, mark: &Mark) -> Result<Held> {
        let layout = self.layout_for(mark.format)?;
        Ok(Held { format: mark.format, layout, explicit: false, is_array: false })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use zarrox_stores::{MemoryStore, Store};

    use super::*;
    use crate::OpenOptions;

    #[test]
    fn marks_are_read_as_they_were_written() {
        let path = || NodePath::new("/a/b").unwrap();
        for work in [Work::Deletion, Work::MovedTo(path()), Work::MovedFrom(path())] {
            let mark = Mark { format: Format::V2, work };
            assert_eq!(Mark::from_bytes(&mark.to_bytes().unwrap()).unwrap(), mark);
        }
        for bytes in ["", "{}", r#"{"format": "v9"}"#, r#"{"format": "v2", "moved_to": "/a//../b"}"#] {
            assert!(Mark::from_bytes(bytes.as_bytes()).is_err(), "{bytes}");
        }
    }

    #[test]
    fn a_mark_is_of_a_node_that_can_be_in_the_hierarchy() {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let options = OpenOptions::new().format(Format::V3Draft);
        options.create_group_in(Arc::clone(&store), "").unwrap();
        // All chunks of this hierarchy are below `data`, which as a node has its own at `data/root/data`.
        let place = OpenOptions::new().location(store, "data").unwrap();
        for (format, fits) in [(Format::V3Draft, true), (Format::V3, false), (Format::V3Experimental, false)]
        {
            place.put_mark(format, Work::Deletion).unwrap();
            assert_eq!(place.mark().is_ok(), fits, "{format}");
        }
    }
}
