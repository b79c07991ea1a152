//! Marks of unfinished work: a node that is being deleted, or moved by copying.
//!
//! A mark is stored beside the node before the work begins, and erased when it is done. What an interrupted command has left is so
//! never taken for other files, and the same command continues.

use zarrox_core::internals::json::to_bytes;
use zarrox_core::internals::metadata::Extent;
use zarrox_core::json::{self, Json, json};
use zarrox_core::{Error, ErrorKind, Format, NodePath, Result};
use zarrox_stores::{Condition, Key};

use super::owner::{Owner, renewing};
use super::{DOCUMENT_LIMIT, ExistingNode};
use crate::guarded::until_unchanged;
use crate::location::Location;

/// The start of the names of marks.
const NAME: &str = ".zarrox-unfinished";

/// The name of the object within an array that has the rows which are reserved for appends.
pub const APPENDS: &str = ".zarrox-unfinished-appends.json";

/// The name of the object within a group that says who appends to its arrays together. No node has such a mark.
pub const DATASET: &str = ".zarrox-unfinished.dataset.json";

/// Work on a node that has begun.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark {
    /// The format of the node.
    pub(super) format: Format,
    pub(super) work: Work,
    /// Who does it; `None` where locks tell, and in marks of older versions.
    owner: Option<Owner>,
    /// True if a repair finishes what another one has begun.
    is_repair: bool,
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
    /// A mark of nobody.
    pub(super) fn new(format: Format, work: Work) -> Self {
        Self { format, work, owner: None, is_repair: false }
    }

    /// Returns true if whoever has begun the work is still there, where no lock tells.
    pub fn is_worked_on(&self) -> bool {
        self.owner.as_ref().is_some_and(|owner| !owner.is_gone())
    }

    /// Returns true if a repair is at work, with which nobody may interfere.
    fn is_being_repaired(&self) -> bool {
        self.is_repair && self.is_worked_on()
    }

    /// The format of the node.
    pub fn format(&self) -> Format {
        self.format
    }

    /// Returns true if the node is being copied to this place.
    pub fn is_of_copy(&self) -> bool {
        matches!(self.work, Work::MovedFrom(_))
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
            Work::Deletion => return to_bytes(&document),
            Work::MovedTo(path) => ("moved_to", path),
            Work::MovedFrom(path) => ("moved_from", path),
        };
        document.insert(name.to_owned(), json!(path.as_str()));
        to_bytes(&document)
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
        let owner = map.get("owner").and_then(Json::as_object).and_then(Owner::from_json);
        let is_repair = map.get("repair") == Some(&Json::Bool(true));
        Ok(Self { format, work, owner, is_repair })
    }
}

/// Returns true if a key with this last name can be that of a mark.
pub fn is_mark(name: &str) -> bool {
    name.starts_with(NAME)
}

/// Work of others that this process has taken over, until this is dropped.
pub(super) struct Claim<'a>(&'a Location);

impl Drop for Claim<'_> {
    fn drop(&mut self) {
        // The mark is gone if the work is done.
        self.0.abandon_mark();
    }
}

impl Location {
    /// The mark of this node, if there is one.
    pub fn mark(&self) -> Result<Option<Mark>> {
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

    /// Notes that work has begun. A repair that is at work here is waited for.
    pub(super) fn put_mark(&self, format: Format, work: Work) -> Result<()> {
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

    /// Takes over the work that a mark tells of, and of which nobody is in charge any more, where no lock keeps others out. That it is
    /// another mark by now is a conflict.
    pub(super) fn claim_mark(&self, judged: &Mark) -> Result<Option<Claim<'_>>> {
        if !self.is_guarded() {
            return Ok(None);
        }
        let claimed = Mark { owner: Some(Owner::new()), is_repair: true, ..judged.clone() };
        let mut is_judged = true;
        self.edit_mark(|there| {
            // An answer that was lost may have claimed it already.
            is_judged = there.is_some_and(|there| there == judged || *there == claimed);
            Ok(is_judged.then(|| claimed.clone()))
        })?;
        if !is_judged {
            return Err(Error::new(
                ErrorKind::Conflict,
                "somebody has gone on with it meanwhile; check again",
            ));
        }
        Ok(Some(Claim(self)))
    }

    /// Does what a mark of this process tells of. It says again and again that the process is at work, and no longer if that fails.
    pub(super) fn while_marked<R>(&self, work: impl FnOnce() -> Result<R>) -> Result<R> {
        if !self.is_guarded() {
            return work();
        }
        renewing(|| self.edit_own_mark(Owner::renew), work).inspect_err(|_| self.abandon_mark())
    }

    /// Erases a mark that was left, unless a repair is at work.
    pub fn erase_left_mark(&self) -> Result<()> {
        match self.is_guarded().then(|| self.mark()).transpose()? {
            Some(None) => Ok(()),
            Some(Some(mark)) if mark.is_being_repaired() => Err(self.repaired_now()),
            _ => self.erase_mark(),
        }
    }

    /// Makes sure that nobody is deleting here, where no hold keeps others out: what is created meanwhile would be deleted as well. A mark
    /// whose process is gone is erased, so that no repair takes the new node for what was left.
    pub(super) fn check_not_being_deleted(&self) -> Result<()> {
        if !self.is_guarded() || self.stored_document(self.mark_key())?.is_none() {
            return Ok(());
        }
        // The first answer may be old by now.
        let Some(mark) = self.mark()? else { return Ok(()) };
        match mark.work {
            Work::Deletion | Work::MovedTo(_) if mark.is_worked_on() && !mark.is_repair => {
                let message = format!("the deletion of '{}' is not finished; try again", self.path);
                Err(Error::new(ErrorKind::Conflict, message))
            }
            Work::MovedFrom(_) if !mark.is_being_repaired() => Ok(()),
            _ => self.erase_left_mark(),
        }
    }

    /// Notes that this process goes on no longer with what the mark tells of.
    pub fn abandon_mark(&self) {
        if self.is_guarded() {
            self.edit_own_mark(Owner::give_up);
        }
    }

    fn repaired_now(&self) -> Error {
        let message = format!("a repair is finishing what was interrupted at '{}'; try again", self.path);
        Error::new(ErrorKind::Conflict, message)
    }

    /// Changes who is in charge of the mark, if this process is. Where this fails, others find out that nobody renews it.
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

    /// Changes the mark, and does so again when somebody else was faster. A conflict of `edit` is waited for; `None` leaves it as it is.
    fn edit_mark(&self, mut edit: impl FnMut(Option<&Mark>) -> Result<Option<Mark>>) -> Result<()> {
        let key = Key::new(self.mark_key())?;
        until_unchanged(|| {
            let locked = self.locked_value(&key, DOCUMENT_LIMIT)?;
            // What nobody understands is replaced.
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

    /// The key of the mark. It is beside the node, so that it outlives everything below the node's prefix; the root's is in the
    /// root.
    pub(super) fn mark_key(&self) -> String {
        match self.path.parent() {
            Some(parent) => parent.key(&format!("{NAME}-{}.json", self.path.name())),
            None => format!("{NAME}.json"),
        }
    }

    /// The place of the node whose mark has this key, if it is a mark of this node, or of one directly below.
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
        Ok(self.occupied(extent)? == super::Occupied::Nothing)
    }

    /// All that can belong to the node that a mark tells of.
    pub fn extent_of(&self, mark: &Mark) -> Result<Extent> {
        Ok(self.layout_for(mark.format)?.extent(&self.path))
    }

    /// The node that a mark tells of, as one that can be deleted.
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
        for work in [Work::Deletion, Work::MovedTo(path()), Work::MovedFrom(path())] {
            let mark = Mark { owner: Some(Owner::new()), is_repair: true, ..Mark::new(Format::V2, work) };
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
        options.create_group((Arc::clone(&store), "")).unwrap();
        // All chunks of this hierarchy are below `data`, which as a node has its own at `data/root/data`.
        let place = OpenOptions::new().location(store, "data").unwrap();
        for (format, fits) in [(Format::V3Draft, true), (Format::V3, false), (Format::V3Experimental, false)]
        {
            place.put_mark(format, Work::Deletion).unwrap();
            assert_eq!(place.mark().is_ok(), fits, "{format}");
        }
    }
}
