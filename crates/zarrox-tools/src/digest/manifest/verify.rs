//! The comparison of a manifest with stored values.

use std::collections::HashMap;
use std::fmt;
use std::io::BufRead;
use std::mem;

use blake3::Hash;
use zarrox_core::json::{Json, Map};
use zarrox_core::{Error, ErrorKind, Result};

use super::lines::{Line, LineReader};
use super::sorted::{BATCH, Entry, Sorted, sorted_names};
use crate::digest::{Hashed, StoredValues};
use zarrox::internals::Task;

/// The maximum number of changed values held in memory. Swapped pairs are found only among these.
const REMEMBERED: usize = 1 << 20;

/// A difference between a manifest and the stored values.
#[derive(Debug, Clone)]
pub enum Discrepancy {
    /// A key in the manifest is not stored.
    Missing {
        /// The key.
        key: String,
        /// The size of its value in the manifest, in bytes.
        size: u64,
    },
    /// A stored key is not in the manifest.
    Added {
        /// The key.
        key: String,
        /// The size of its value, in bytes.
        size: u64,
    },
    /// A value differs.
    Changed {
        /// The key.
        key: String,
        /// The size that its value had, in bytes.
        before: u64,
        /// The current size.
        now: u64,
    },
    /// Two keys have swapped their values.
    Swapped {
        /// The keys.
        keys: [String; 2],
    },
    /// A value exists but cannot be read.
    Unreadable {
        /// The key.
        key: String,
        /// The reason.
        error: Error,
    },
}

impl Discrepancy {
    /// Returns the kind of difference: `missing`, `added`, `changed`, `swapped` or `unreadable`.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Missing { .. } => "missing",
            Self::Added { .. } => "added",
            Self::Changed { .. } => "changed",
            Self::Swapped { .. } => "swapped",
            Self::Unreadable { .. } => "unreadable",
        }
    }

    /// Returns the keys that differ.
    pub fn keys(&self) -> Vec<&str> {
        match self {
            Self::Missing { key, .. }
            | Self::Added { key, .. }
            | Self::Changed { key, .. }
            | Self::Unreadable { key, .. } => vec![key],
            Self::Swapped { keys } => keys.iter().map(String::as_str).collect(),
        }
    }
}

impl Discrepancy {
    /// Returns the difference as JSON, with the members `kind` and `key` or `keys` and, where they apply, `size_before` and
    /// `size` in bytes, and `error`.
    pub fn to_json(&self) -> Map {
        let mut map = Map::from_iter([("kind".to_owned(), Json::from(self.kind()))]);
        match self.keys().as_slice() {
            [key] => map.insert("key".to_owned(), Json::from(*key)),
            keys => map.insert("keys".to_owned(), keys.iter().copied().collect()),
        };
        let mut size = |name: &str, size: u64| drop(map.insert(name.to_owned(), Json::from(size)));
        match self {
            Self::Missing { size: before, .. } => size("size_before", *before),
            Self::Added { size: now, .. } => size("size", *now),
            Self::Changed { before, now, .. } => {
                size("size_before", *before);
                size("size", *now);
            }
            Self::Unreadable { error, .. } => {
                map.insert("error".to_owned(), Json::from(error.to_string()));
            }
            Self::Swapped { .. } => {}
        }
        map
    }
}

/// Formats a line such as `changed: c/0/1 (4096 bytes, before 4095)`.
impl fmt::Display for Discrepancy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind(), self.keys().join(" and "))?;
        match self {
            Self::Missing { size, .. } => write!(f, " (it had {size} bytes)"),
            Self::Added { size, .. } => write!(f, " ({size} bytes)"),
            Self::Changed { before, now, .. } => write!(f, " ({now} bytes, before {before})"),
            Self::Swapped { .. } => f.write_str(" have each other's value"),
            Self::Unreadable { error, .. } => write!(f, " ({error})"),
        }
    }
}

/// The result of a comparison: the number of keys of each kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Verified {
    /// The number of keys whose value matches the manifest.
    pub same: u64,
    /// The number of keys that are not stored.
    pub missing: u64,
    /// The number of keys that are not in the manifest.
    pub added: u64,
    /// The number of keys with different values.
    pub changed: u64,
    /// The number of keys of swapped values: two for each pair.
    pub swapped: u64,
    /// The number of keys whose value cannot be read.
    pub unreadable: u64,
}

impl Verified {
    /// Returns true if there is no difference.
    pub fn is_same(&self) -> bool {
        *self == Self { same: self.same, ..Self::default() }
    }

    fn count(&mut self, finding: &Discrepancy) {
        match finding {
            Discrepancy::Missing { .. } => self.missing += 1,
            Discrepancy::Added { .. } => self.added += 1,
            Discrepancy::Changed { .. } => self.changed += 1,
            Discrepancy::Swapped { .. } => self.swapped += 2,
            Discrepancy::Unreadable { .. } => self.unreadable += 1,
        }
    }
}

/// A listener that is called with each difference; an error stops the comparison.
pub(super) type DiscrepancyListener<'t> = &'t mut dyn FnMut(Discrepancy) -> Result<()>;

/// Compares stored values with a manifest.
pub(super) fn verify(
    values: &StoredValues,
    manifest: &mut dyn BufRead,
    work: &Task,
    listener: DiscrepancyListener<'_>,
) -> Result<Verified> {
    let lines = LineReader::begin(manifest)?;
    let stored = sorted_names(values, work)?;
    let mut verifier =
        Verifier { values, work, listener, verified: Verified::default(), changed: Vec::new() };
    let mut pairs = Pairs::new(lines, stored)?;
    let mut batch = Vec::with_capacity(BATCH);
    while let Some(pair) = pairs.next()? {
        match pair {
            (Some(line), Some(_)) => batch.push(line),
            (Some(line), None) => {
                verifier.find(Discrepancy::Missing { key: line.name, size: line.value.size })?;
            }
            (None, Some(entry)) => {
                work.advance(entry.size)?;
                verifier.find(Discrepancy::Added { key: entry.name, size: entry.size })?;
            }
            (None, None) => {}
        }
        if batch.len() == BATCH {
            verifier.compare(mem::take(&mut batch))?;
        }
    }
    verifier.compare(batch)?;
    verifier.report_changed()?;
    Ok(verifier.verified)
}

/// A merge of the lines of a manifest and the stored entries by name.
struct Pairs<'r> {
    lines: LineReader<'r>,
    line: Option<Line>,
    stored: Sorted,
    entry: Option<Entry>,
}

impl<'r> Pairs<'r> {
    fn new(mut lines: LineReader<'r>, mut stored: Sorted) -> Result<Self> {
        let (line, entry) = (lines.next()?, stored.next()?);
        Ok(Self { lines, line, stored, entry })
    }

    fn next(&mut self) -> Result<Option<(Option<Line>, Option<Entry>)>> {
        let order = match (&self.line, &self.entry) {
            (None, None) => return Ok(None),
            (Some(line), Some(entry)) => line.name.cmp(&entry.name),
            (Some(_), None) => std::cmp::Ordering::Less,
            (None, Some(_)) => std::cmp::Ordering::Greater,
        };
        let mut pair = (None, None);
        if order.is_le() {
            pair.0 = mem::replace(&mut self.line, self.lines.next()?);
        }
        if order.is_ge() {
            pair.1 = mem::replace(&mut self.entry, self.stored.next()?);
        }
        Ok(Some(pair))
    }
}

/// A value that differs from the manifest.
struct Changed {
    name: String,
    before: Hashed,
    now: Hashed,
}

struct Verifier<'a> {
    values: &'a StoredValues,
    work: &'a Task,
    listener: DiscrepancyListener<'a>,
    verified: Verified,
    changed: Vec<Changed>,
}

impl Verifier<'_> {
    fn find(&mut self, finding: Discrepancy) -> Result<()> {
        self.verified.count(&finding);
        (self.listener)(finding)
    }

    /// Compares values that are both in the manifest and in the store.
    fn compare(&mut self, lines: Vec<Line>) -> Result<()> {
        let (values, work) = (self.values, self.work);
        let bytes = lines.iter().map(|line| line.value.size).fold(0, u64::saturating_add);
        let each = usize::try_from(bytes / lines.len().max(1) as u64).unwrap_or(usize::MAX);
        let at_once = StoredValues::at_once(work.memory);
        let compared = values.pool().map(lines, each, at_once, |line| {
            let hashed = values.hash(&line.name);
            work.advance(hashed.as_ref().ok().and_then(Option::as_ref).map_or(0, |hashed| hashed.size))?;
            match hashed {
                Err(error) if is_of_no_value(&error) => Err(error),
                hashed => Ok((line, hashed)),
            }
        })?;
        for (line, hashed) in compared {
            match hashed {
                Ok(Some(now)) if now == line.value => self.verified.same += 1,
                Ok(Some(now)) => self.remember(Changed { name: line.name, before: line.value, now })?,
                Ok(None) => self.find(Discrepancy::Missing { key: line.name, size: line.value.size })?,
                Err(error) => self.find(Discrepancy::Unreadable { key: line.name, error })?,
            }
        }
        Ok(())
    }

    fn remember(&mut self, changed: Changed) -> Result<()> {
        self.changed.push(changed);
        if self.changed.len() < REMEMBERED { Ok(()) } else { self.report_changed() }
    }

    /// Reports the changed values and swapped pairs.
    fn report_changed(&mut self) -> Result<()> {
        // The changed values are indexed by the old and the new hash.
        let mut waiting: HashMap<(Hash, Hash), Vec<usize>> = HashMap::new();
        let changed = mem::take(&mut self.changed);
        let mut partners = vec![None; changed.len()];
        for (index, Changed { before, now, .. }) in changed.iter().enumerate() {
            match waiting.get_mut(&(now.hash, before.hash)).and_then(Vec::pop) {
                Some(partner) => (partners[index], partners[partner]) = (Some(partner), Some(index)),
                None => waiting.entry((before.hash, now.hash)).or_default().push(index),
            }
        }
        for (index, Changed { name, before, now }) in changed.iter().enumerate() {
            match partners[index] {
                Some(partner) if partner < index => {}
                Some(partner) => {
                    self.find(Discrepancy::Swapped { keys: [name.clone(), changed[partner].name.clone()] })?;
                }
                None => {
                    self.find(Discrepancy::Changed {
                        key: name.clone(),
                        before: before.size,
                        now: now.size,
                    })?;
                }
            }
        }
        Ok(())
    }
}

/// Returns true if an error does not concern a value itself: the store is unreachable, or the operation was interrupted.
fn is_of_no_value(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Unreachable | ErrorKind::TimedOut | ErrorKind::Interrupted)
}
