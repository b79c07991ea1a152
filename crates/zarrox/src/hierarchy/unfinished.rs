//! Marks of unfinished work: a node that is being deleted, or moved by copying.
//!
//! A mark is stored beside the node before the work begins, and erased when the work is done. The remains of an interrupted
//! command are thus never mistaken for other files, and repeating the command continues the work.

use zarrox_core::internals::json::to_bytes;
use zarrox_core::internals::metadata::Extent;
use zarrox_core::json::{self, Json, json};
use zarrox_core::{Error, ErrorKind, Format, NodePath, Result};
use zarrox_stores::{Condition, Key};

use super::owner::{Owner, renewing};
use super::{DOCUMENT_LIMIT, ExistingNode};
use crate::guarded::until_unchanged;
use crate::location::Location;

/// The beginning of the name of every mark.
const NAME: &str = ".zarrox-unfinished";

/// The name of the object within an array that lists the rows reserved for appends.
pub const APPENDS: &str = ".zarrox-unfinished-appends.json";

/// The name of the object in a group that identifies the process that is appending to several arrays of the group. The marks of
/// nodes never have this name.
pub const DATASET: &str = ".zarrox-unfinished.dataset.json";

/// Unfinished work on a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark {
    /// The format of the node.
    pub(super) format: Format,
    pub(super) work: UnfinishedWork,
    /// The process that does the work; `None` if the work is protected by locks, and in marks written by older versions.
    owner: Option<Owner>,
    /// True if a repair is finishing the work of another process.
    is_repair: bool,
}

/// Work that takes several steps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum UnfinishedWork {
    /// The node is being deleted.
    Deletion,
    /// The node has been copied to this path, and is being deleted.
    MovedTo(NodePath),
    /// The node is being copied from this path.
    MovedFrom(NodePath),
}

impl Mark {
    /// Creates a mark without an owner.
    pub(super) fn new(format: Format, work: UnfinishedWork) -> Self {
        Self { format, work, owner: None, is_repair: false }
    }

    /// Returns true if the work has an owner that is still alive. Work that is protected by locks has no owner.
    pub fn is_worked_on(&self) -> bool {
        self.owner.as_ref().is_some_and(|owner| !owner.is_gone())
    }

    /// Returns true if a repair is running, with which other processes must not interfere.
    fn is_being_repaired(&self) -> bool {
        self.is_repair && self.is_worked_on()
    }

    /// Returns the format of the node.
    pub fn format(&self) -> Format {
        self.format
    }

    /// Returns true if the node is being deleted.
    pub fn is_deletion(&self) -> bool {
        self.work == UnfinishedWork::Deletion
    }

    /// Returns true if the node is being copied to this location.
    pub fn is_of_copy(&self) -> bool {
        matches!(self.work, UnfinishedWork::MovedFrom(_))
    }

    fn to_bytes(&self) -> Result<Vec<u8>> {
        let mut document = json::Map::default();
        let about = "unfinished work by zarrox; give the same command again to finish it";
        document.insert("about".to_owned(), json!(about));
        document.insert("format".to_owned(), json!(self.format.to_string()));
        if let Some(owner) = &self.owner {
            document.insert("owner".to_owned(), owner.to_json());
            document.insert("repair".to_owned(), json!(self.is_repair));
        }
        let (name, path) = match &self.work {
            UnfinishedWork::Deletion => return to_bytes(&document),
            UnfinishedWork::MovedTo(path) => ("moved_to", path),
            UnfinishedWork::MovedFrom(path) => ("moved_from", path),
        };
        document.insert(name.to_owned(), json!(path.as_str()));
        to_bytes(&document)
    }

    fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let map = json::parse_object(bytes)?;
        let name = map.get("format").and_then(Json::as_str);
        let format = name.and_then(|name| name.parse().ok());
        let format =
            format.ok_or_else(|| Error::new(ErrorKind::Corrupt, "the mark lacks the format of the node"))?;
        let path = |name: &str| map.get(name).and_then(Json::as_str).map(NodePath::new).transpose();
        let work = match (path("moved_to")?, path("moved_from")?) {
            (Some(to), _) => UnfinishedWork::MovedTo(to),
            (None, Some(from)) => UnfinishedWork::MovedFrom(from),
            (None, None) => UnfinishedWork::Deletion,
        };
        let owner = map.get("owner").and_then(Json::as_object).and_then(Owner::from_json);
        let is_repair = map.get("repair") == Some(&Json::Bool(true));
        Ok(Self { format, work, owner, is_repair })
    }
}

/// Returns true if a key with this file name can belong to a mark.
pub fn is_mark(name: &str) -> bool {
    name.starts_with(NAME)
}

/// Work that this process has taken over from a dead process. Dropping the claim gives up the work.
pub(super) struct Claim<'a>(&'a Location);

impl Drop for Claim<'_> {
    fn drop(&mut self) {
        // If the work was finished, the mark no longer exists, and this does nothing.
        self.0.abandon_mark();
    }
}

impl Location {
    /// Reads the mark of this node, if there is one.
    pub fn mark(&self) -> Result<Option<Mark>> {
        let key = Key::new(self.mark_key())?;
        let Some(bytes) = self.store.get(&key)? else { return Ok(None) };
        let mark = Mark::from_bytes(&bytes).and_then(|mark| self.fitting(mark));
        mark.map(Some).map_err(|error| error.at(format!("'{key}'")))
    }

    /// Returns an error for a mark of a format whose layout differs from that of this hierarchy, since the keys of that layout
    /// may belong to other nodes.
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
        let message =
            format!("a node of Zarr {} would have other keys than the nodes of this hierarchy", mark.format);
        Err(Error::new(ErrorKind::Corrupt, message))
    }

    /// Stores a mark, which records that work has begun. Waits if a repair is running at this location.
    pub(super) fn put_mark(&self, format: Format, work: UnfinishedWork) -> Result<()> {
        let mark = Mark::new(format, work);
        if !self.is_guarded() {
            return self.put(self.mark_key(), &mark.to_bytes()?, Condition::Always);
        }
        let mark = Mark { owner: Some(Owner::new()), ..mark };
        match self.put(self.mark_key(), &mark.to_bytes()?, Condition::Absent) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            done => return done,
        }
        self.edit_mark(|there| match there.is_some_and(Mark::is_being_repaired) {
            true => Err(self.repaired_now()),
            false => Ok(Some(mark.clone())),
        })
    }

    /// Takes over the work of a mark whose owner is dead; `None` if locks exclude other processes. Returns a conflict if the mark
    /// has changed since it was examined.
    pub(super) fn claim_mark(&self, examined: &Mark) -> Result<Option<Claim<'_>>> {
        if !self.is_guarded() {
            return Ok(None);
        }
        let claimed = Mark { owner: Some(Owner::new()), is_repair: true, ..examined.clone() };
        let mut is_same = true;
        self.edit_mark(|there| {
            // An earlier request whose response was lost may have already claimed the mark.
            is_same = there.is_some_and(|there| there == examined || *there == claimed);
            Ok(is_same.then(|| claimed.clone()))
        })?;
        if !is_same {
            return Err(Error::new(
                ErrorKind::Conflict,
                "another process has continued the work meanwhile; check again",
            ));
        }
        Ok(Some(Claim(self)))
    }

    /// Runs the work that a mark of this process records, while renewing the mark. If the work fails, the mark is given up.
    pub(super) fn while_marked<R>(&self, work: impl FnOnce() -> Result<R>) -> Result<R> {
        if !self.is_guarded() {
            return work();
        }
        renewing(|| self.edit_own_mark(Owner::renew), work).inspect_err(|_| self.abandon_mark())
    }

    /// Erases the mark of this location, unless a repair is running.
    pub fn erase_left_mark(&self) -> Result<()> {
        match self.is_guarded().then(|| self.mark()).transpose()? {
            Some(None) => Ok(()),
            Some(Some(mark)) if mark.is_being_repaired() => Err(self.repaired_now()),
            _ => self.erase_mark(),
        }
    }

    /// Returns an error if another process, which no hold excludes, is deleting a node at this location, since it would also
    /// delete a node that is created in the meantime. The mark of a dead process is erased, so that no repair mistakes the new
    /// node for remains.
    pub(super) fn check_not_being_deleted(&self) -> Result<()> {
        if !self.is_guarded() || self.stored_document(self.mark_key())?.is_none() {
            return Ok(());
        }
        // The document may be a cached response that is out of date by now.
        let Some(mark) = self.mark()? else { return Ok(()) };
        match mark.work {
            UnfinishedWork::Deletion | UnfinishedWork::MovedTo(_)
                if mark.is_worked_on() && !mark.is_repair =>
            {
                let message = format!("the deletion of '{}' is not finished; try again", self.path);
                Err(Error::new(ErrorKind::Conflict, message).with_path(&self.path))
            }
            UnfinishedWork::MovedFrom(_) if !mark.is_being_repaired() => Ok(()),
            _ => self.erase_left_mark(),
        }
    }

    /// Records in the mark that this process has given up its work.
    pub fn abandon_mark(&self) {
        if self.is_guarded() {
            self.edit_own_mark(Owner::give_up);
        }
    }

    fn repaired_now(&self) -> Error {
        let message = format!("a repair is finishing what was interrupted at '{}'; try again", self.path);
        Error::new(ErrorKind::Conflict, message)
    }

    /// Changes the owner of the mark, if the owner is this process. If the change fails, other processes detect that the mark is
    /// no longer renewed.
    fn edit_own_mark(&self, edit: impl Fn(&mut Owner)) {
        let _ = self.edit_mark(|there| {
            let Some(mut mark) = there.cloned() else { return Ok(None) };
            match mark.owner.as_mut().filter(|owner| owner.is_this_process()) {
                Some(owner) => edit(owner),
                None => return Ok(None),
            }
            Ok(Some(mark))
        });
    }

    /// Changes the mark, and retries if another process has changed it first. If `edit` returns a conflict, it is called again
    /// later; if it returns `None`, the mark is left unchanged.
    fn edit_mark(&self, mut edit: impl FnMut(Option<&Mark>) -> Result<Option<Mark>>) -> Result<()> {
        let key = Key::new(self.mark_key())?;
        until_unchanged(|| {
            let locked = self.locked_value(&key, DOCUMENT_LIMIT)?;
            // A mark that cannot be parsed is replaced.
            let there = locked.bytes().and_then(|bytes| Mark::from_bytes(bytes).ok());
            match edit(there.as_ref())? {
                Some(mark) => locked.replace(self, &mark.to_bytes()?),
                None => Ok(()),
            }
        })
    }

    pub(super) fn erase_mark(&self) -> Result<()> {
        self.erase(self.mark_key())
    }

    /// Returns the key of the mark. The mark lies beside the node, so that it still exists when everything below the node's
    /// prefix has been erased; the mark of the root lies in the root.
    pub(super) fn mark_key(&self) -> String {
        match self.path.parent() {
            Some(parent) => parent.key(&format!("{NAME}-{}.json", self.path.name())),
            None => format!("{NAME}.json"),
        }
    }

    /// Returns the location of the node whose mark has this key, if that node is this one or a node directly below it.
    pub fn marked_by(&self, key: &Key) -> Option<Self> {
        let name = key.name().strip_prefix(NAME)?.strip_suffix(".json")?;
        let place = match name.strip_prefix('-') {
            Some(name) => self.at(self.path.join(name).ok()?),
            None => self.clone(),
        };
        (place.mark_key() == key.as_str()).then_some(place)
    }

    /// Returns true if nothing is stored in an extent.
    pub fn is_free(&self, extent: &Extent) -> Result<bool> {
        Ok(self.occupied(extent)? == super::creating::Occupied::Nothing)
    }

    /// Returns the extent of keys that can belong to the node of a mark.
    pub fn extent_of(&self, mark: &Mark) -> Result<Extent> {
        Ok(self.layout_for(mark.format)?.extent(&self.path))
    }

    /// Returns the node of a mark, in order to delete it.
    pub(super) fn node_of_mark(&self, mark: &Mark) -> Result<ExistingNode> {
        let layout = self.layout_for(mark.format)?;
        Ok(ExistingNode { format: mark.format, layout, explicit: false, is_array: false })
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
        for work in
            [UnfinishedWork::Deletion, UnfinishedWork::MovedTo(path()), UnfinishedWork::MovedFrom(path())]
        {
            let mark = Mark { owner: Some(Owner::new()), is_repair: true, ..Mark::new(Format::V2, work) };
            assert_eq!(Mark::from_bytes(&mark.to_bytes().unwrap()).unwrap(), mark);
        }
        for bytes in ["", "{}", r#"{"format": "v9"}"#, r#"{"format": "v2", "moved_to": "/a//../b"}"#] {
            assert!(Mark::from_bytes(bytes.as_bytes()).is_err(), "{bytes}");
        }
    }

    #[test]
    fn a_mark_with_the_layout_of_another_format_is_refused() {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let options = OpenOptions::new().format(Format::V3Draft);
        options.create_group((Arc::clone(&store), "")).unwrap();
        // All chunks of this hierarchy are below `data`; those of a node named `data` are below `data/root/data`.
        let place = OpenOptions::new().location(store, "data").unwrap();
        for (format, fits) in [(Format::V3Draft, true), (Format::V3, false), (Format::V3Experimental, false)]
        {
            place.put_mark(format, UnfinishedWork::Deletion).unwrap();
            assert_eq!(place.mark().is_ok(), fits, "{format}");
        }
    }
}
