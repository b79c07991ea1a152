//! The journal of an unfinished conversion, or of the unfinished creation of a node with its content. It identifies the work, so
//! that only the same call continues it, and records its progress.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use zarrox_core::internals::json::to_bytes;
use zarrox_core::json::json;
use zarrox_core::json::{self, Json};
use zarrox_core::{Error, ErrorKind, Format, Result};
use zarrox_stores::{Condition, Key, StoreExt};

use crate::location::Location;

/// The name of the journal, which exists in the destination while the work is unfinished.
pub const JOURNAL: &str = ".zarrox-journal.json";

/// The minimum time between two writes of the journal, since there can be many small arrays.
const PAUSE: Duration = Duration::from_secs(1);

/// The identity of the work, and its progress.
#[derive(Debug, Clone)]
pub struct Journal {
    source: String,
    /// The format of the source; empty if the source is not a hierarchy.
    from: String,
    to: String,
    in_place: bool,
    /// A hash of the documents that will be written.
    plan: String,
    /// The paths of the arrays whose chunks have all been stored and verified.
    finished: BTreeSet<String>,
    /// True if all content has been stored, so that only documents can be missing.
    filled: bool,
    /// True if an earlier run stored the journal.
    was_there: bool,
    /// The time when the journal was last stored or read.
    written: Instant,
}

impl Journal {
    /// Creates the journal for a conversion.
    pub fn new(source: &Location, from: Format, to: Format, in_place: bool, plan: &Fingerprint) -> Self {
        Self { from: from.to_string(), in_place, ..Self::of_creation(name_of(source), to, plan) }
    }

    /// Creates the journal for a new node whose content comes from a source that is not a hierarchy.
    pub fn of_creation(source: impl Into<String>, to: Format, plan: &Fingerprint) -> Self {
        Self {
            source: source.into(),
            from: String::new(),
            to: to.to_string(),
            in_place: false,
            plan: format!("{:016x}", plan.0),
            finished: BTreeSet::new(),
            filled: false,
            was_there: false,
            written: Instant::now(),
        }
    }

    /// Stores the journal in a destination that is empty or contains only the remains of an earlier run of the same work. In the
    /// latter case, the journal of that run is returned.
    pub fn begin(self, place: &Location, to: Format, overwrite: bool, for_group: bool) -> Result<Self> {
        let _holds = if overwrite { place.hold_alone()? } else { Vec::new() };
        match Self::read(place)? {
            Some(journal) if journal.is_same(&self) => return Ok(journal),
            Some(journal) if !overwrite => return Err(journal.unfinished(place)),
            // The destination contains only the remains of other unfinished work.
            Some(_) => place.delete_remains(to)?,
            None => drop(place.make_room(to, &place.layout_for(to)?, overwrite, for_group)?),
        }
        self.write(place)?;
        Ok(self)
    }

    /// Returns true if both journals belong to the same work.
    pub fn is_same(&self, other: &Self) -> bool {
        let identity = |journal: &Self| {
            let Self { source, from, to, in_place, plan, .. } = journal.clone();
            (source, from, to, in_place, plan)
        };
        identity(self) == identity(other)
    }

    /// Returns true if the work copies or converts the node at this location.
    pub fn is_copy_of(&self, source: &Location) -> bool {
        !self.from.is_empty() && self.source == name_of(source)
    }

    /// Returns true if an earlier run stored the journal.
    pub fn was_there(&self) -> bool {
        self.was_there
    }

    /// Returns true if all content has been stored.
    pub fn is_filled(&self) -> bool {
        self.filled
    }

    /// Records that all content has been stored.
    pub(crate) fn fill(&mut self, place: &Location) -> Result<()> {
        self.filled = true;
        self.write(place)
    }

    /// Returns true if an array is finished.
    pub fn is_finished(&self, array: &str) -> bool {
        self.finished.contains(array)
    }

    /// Records that an array is finished.
    pub fn finish(&mut self, place: &Location, array: &str) -> Result<()> {
        self.finished.insert(array.to_owned());
        if self.written.elapsed() < PAUSE {
            return Ok(());
        }
        self.written = Instant::now();
        self.write(place)
    }

    /// Reads the journal at a location, if there is one.
    pub fn read(place: &Location) -> Result<Option<Self>> {
        let key = key(place)?;
        let Some(bytes) = place.store.get(&key)? else { return Ok(None) };
        let map = json::parse_object(&bytes).map_err(|error| error.at(format!("the journal '{key}'")))?;
        let text = |name: &str| map.get(name).and_then(Json::as_str).unwrap_or_default().to_owned();
        Ok(Some(Self {
            source: text("source"),
            from: text("from"),
            to: text("to"),
            in_place: map.get("in_place") == Some(&Json::Bool(true)),
            plan: text("plan"),
            finished: paths(map.get("finished")),
            filled: map.get("filled") == Some(&Json::Bool(true)),
            was_there: true,
            written: Instant::now(),
        }))
    }

    /// Stores the journal at the destination.
    ///
    /// # Errors
    /// The errors of the store.
    pub fn write(&self, place: &Location) -> Result<()> {
        let Self { source, from, to, in_place, plan, finished, filled, .. } = self;
        let document = json!({
            "about": "unfinished work by zarrox; give the same command again to continue it",
            "source": source, "from": from, "to": to, "in_place": in_place, "plan": plan,
            "finished": finished.iter().cloned().collect::<Vec<String>>(), "filled": filled,
        });
        let Json::Object(map) = document else { return Ok(()) };
        place.put(key(place)?.to_string(), &to_bytes(&map)?, Condition::Always)
    }

    /// Erases the journal of a destination.
    ///
    /// # Errors
    /// The errors of the store.
    pub fn erase(place: &Location) -> Result<()> {
        place.store.erase(&key(place)?).map(drop).map_err(Error::from)
    }

    /// Returns the format whose documents are replaced by an unfinished in-place conversion.
    pub fn replaced_format(&self, place: &Location, to: Format) -> Result<Format> {
        match self.from.parse().ok().filter(|_| self.in_place && self.to == to.to_string()) {
            Some(from) => Ok(from),
            None => Err(self.unfinished(place)),
        }
    }

    /// Returns the format of the nodes that the work creates.
    pub fn format(&self) -> Option<Format> {
        self.to.parse().ok()
    }

    /// Returns true if the work replaces the documents of an existing hierarchy.
    pub fn is_in_place(&self) -> bool {
        self.in_place
    }

    /// Returns the error for a call that finds the journal of other unfinished work.
    pub(crate) fn unfinished(&self, place: &Location) -> Error {
        let instead = if self.in_place { "" } else { ", or begin anew with overwriting" };
        Error::new(ErrorKind::AlreadyExists, format!("{}{instead}", self.interrupted(place)))
    }

    fn interrupted(&self, place: &Location) -> String {
        let Self { source, to, .. } = self;
        let how = if self.in_place { " in place" } else { "" };
        let work = match self.from.is_empty() {
            true => format!("an import of {source}"),
            false => format!("a conversion of {source} to Zarr {to}{how}"),
        };
        format!(
            "{work} was interrupted at '{}' in {}; run it again with the same options to continue",
            place.path,
            place.store.location()
        )
    }
}

/// Returns an error if there is no complete node, but only the remains of unfinished work.
pub(crate) fn check_finished(place: &Location) -> Result<()> {
    let above = place.path.ancestors();
    for place in above.into_iter().map(|path| place.at(path)).chain([place.clone()]) {
        // A journal that cannot be read is ignored here.
        if let Ok(Some(journal)) = Journal::read(&place)
            && !journal.in_place
        {
            let message = format!(
                "there is no Zarr array or group yet, but {}, or delete its incomplete output",
                journal.interrupted(&place)
            );
            return Err(Error::new(ErrorKind::NotFound, message));
        }
    }
    Ok(())
}

/// Returns the name of a source that is a node.
fn name_of(source: &Location) -> String {
    format!("{} {}", source.store.location(), source.path)
}

fn paths(list: Option<&Json>) -> BTreeSet<String> {
    let paths = list.and_then(Json::as_array).into_iter().flatten();
    paths.filter_map(Json::as_str).map(str::to_owned).collect()
}

fn key(place: &Location) -> Result<Key> {
    Key::new(place.path.key(JOURNAL)).map_err(Error::from)
}

/// A hash (FNV-1a).
#[derive(Debug, PartialEq, Eq)]
pub struct Fingerprint(u64);

impl Default for Fingerprint {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Fingerprint {
    /// Adds bytes to the hash.
    pub fn see(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        // The boundary is hashed as well, so that one piece differs from the same bytes in two pieces.
        self.0 = (self.0 ^ 0x1ff).wrapping_mul(0x0100_0000_01b3);
    }
}
