//! Checks of keys: each key should belong to a document or to a chunk of a node.

use std::collections::BTreeMap;
use std::fs;
use std::ops::ControlFlow;

use zarrox_core::internals::metadata::Layout;
use zarrox_core::{ChunkKeyEncoding, Error, NodePath, Result, Separator};
use zarrox_stores::{Key, Prefix};

use super::chunks::{self, Target};
use super::finding::{Finding, FindingKind, Remedy};
use super::outside;
use super::quarantine::WITHIN;
use super::session::Session;
use super::unfinished;
use zarrox::internals::{APPENDS, JOURNAL, Location, is_mark};
use zarrox::{Array, Group};

/// The number of chunks that are collected before they are checked in parallel.
const BATCH: usize = 1024;

/// The maximum number of directories with foreign keys that are reported separately.
const DIRECTORIES: usize = 64;

/// The documents that prove the existence of a node.
pub(super) const NODE_DOCUMENTS: [&str; 3] = ["zarr.json", ".zarray", ".zgroup"];

/// The chunk key encodings that writers use.
const ENCODINGS: [ChunkKeyEncoding; 4] = [
    ChunkKeyEncoding::Default(Separator::Slash),
    ChunkKeyEncoding::Default(Separator::Dot),
    ChunkKeyEncoding::V2(Separator::Dot),
    ChunkKeyEncoding::V2(Separator::Slash),
];

/// Checks all stored objects of an array, except its documents.
pub(super) fn array(session: &Session<'_>, array: &Array) -> Result<()> {
    let place = array.location();
    let encoding = array.raw().key_encoding()?;
    let mut listing = Listing::new(session, array, encoding)?;
    if !place.store.capabilities().listable {
        let mut done = Ok(());
        array.visit_stored(&mut |chunk, size| {
            if let (Some(chunk), true) = (chunk, done.is_ok()) {
                done = array.object_key(&chunk).and_then(|key| listing.add(Key::new(key)?, chunk, size));
            }
        })?;
        done?;
        return listing.finish();
    }
    let mut done = Ok(());
    let listed = place.store.list_prefix(array.chunks_prefix(), &mut |key, size| {
        done = listing.see(key, size);
        if done.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    done?;
    listing.directories("")?;
    listing.finish()?;
    listed.or_else(|error| session.report_unreadable(array.path().as_str(), error.into()))
}

/// The keys of an array.
struct Listing<'s, 'a> {
    session: &'s Session<'a>,
    array: &'s Array,
    encoding: ChunkKeyEncoding,
    documents: Vec<String>,
    chunks: Vec<Target>,
    outside: Vec<Target>,
    foreign: Foreign,
    /// The prefixes of nodes inside the array.
    nodes: Vec<String>,
}

impl<'s, 'a> Listing<'s, 'a> {
    fn new(session: &'s Session<'a>, array: &'s Array, encoding: ChunkKeyEncoding) -> Result<Self> {
        let layout = array.location().layout_for(array.metadata().format)?;
        Ok(Self {
            session,
            array,
            encoding,
            documents: layout.keys(array.path()),
            chunks: Vec::new(),
            outside: Vec::new(),
            foreign: Foreign::default(),
            nodes: Vec::new(),
        })
    }

    /// Reports directories that are named like chunks; listings of objects omit them.
    fn directories(&self, below: &str) -> Result<()> {
        let (place, prefix) = (self.array.location(), self.array.chunks_prefix());
        let Some(root) = &self.session.directory else { return Ok(()) };
        // Directories that cannot be listed were reported already.
        let Ok(entries) = fs::read_dir(root.join(prefix.as_str()).join(below)) else { return Ok(()) };
        let directories = entries.flatten().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        for name in directories.filter_map(|entry| entry.file_name().into_string().ok()) {
            let name = if below.is_empty() { name } else { format!("{below}/{name}") };
            let chunk = self.encoding.decode(&name, self.array.ndim());
            if !chunk.is_some_and(|chunk| self.array.has_chunk(&chunk)) {
                if name.split('/').count() <= self.array.ndim() {
                    self.directories(&name)?;
                }
            } else if let Err(error) = place.store.open_with(&prefix.key(&name)?, None) {
                self.session.report_unreadable(self.array.path().as_str(), error.into())?;
            }
        }
        Ok(())
    }

    fn see(&mut self, key: Key, size: u64) -> Result<()> {
        let name = &key.as_str()[self.array.chunks_prefix().as_str().len()..];
        if self.documents.iter().any(|document| document == key.as_str()) || is_quarantined(key.as_str()) {
            return Ok(());
        }
        if let Some(chunk) = self.encoding.decode(name, self.array.ndim()) {
            if self.array.has_chunk(&chunk) {
                return self.add(key, chunk, size);
            }
            self.outside.push(Target { key, chunk, size });
            return if self.outside.len() < BATCH { Ok(()) } else { self.flush_outside() };
        }
        if let Some(chunk) = self.chunk_by_another_name(name) {
            return self.wrong_key(&key, &chunk);
        }
        match name.rsplit_once('/') {
            Some((node, document)) if NODE_DOCUMENTS.contains(&document) => {
                let node = format!("{}{node}", self.array.chunks_prefix());
                if !self.nodes.contains(&node) {
                    self.nodes.push(node);
                }
                Ok(())
            }
            None if NODE_DOCUMENTS.contains(&name) => {
                several_formats(self.session, self.array.path().as_str(), &key)
            }
            None if name == APPENDS => unfinished::appends(self.session, self.array),
            None if name == JOURNAL => interrupted(self.session, self.array.path().as_str(), key.as_str()),
            // A dangling symbolic link may have pointed to chunks or to a node.
            _ if size == 0 => self.foreign.add_or_report(self.session, self.array.location(), &key),
            _ => {
                self.foreign.add(&key);
                Ok(())
            }
        }
    }

    fn chunk_by_another_name(&self, name: &str) -> Option<Vec<u64>> {
        let others = ENCODINGS.iter().filter(|&&other| other != self.encoding);
        let mut chunks = others.filter_map(|other| other.decode(name, self.array.ndim()));
        chunks.find(|chunk| self.array.has_chunk(chunk))
    }

    fn wrong_key(&self, key: &Key, chunk: &[u64]) -> Result<()> {
        let right = self.array.object_key(chunk)?;
        let message =
            format!("it is never read: in the array's metadata, the key of this chunk is '{right}'");
        let why = Remedy::Nothing("correct the separator in the metadata, or rename the chunk".to_owned());
        let finding = Finding::new(FindingKind::WrongChunkKey, self.array.path().as_str(), message, why);
        self.session.report(finding.of_chunk(chunk).at_key(key.as_str()))
    }

    fn add(&mut self, key: Key, chunk: Vec<u64>, size: u64) -> Result<()> {
        self.chunks.push(Target { key, chunk, size });
        if self.chunks.len() < BATCH { Ok(()) } else { self.flush() }
    }

    fn flush(&mut self) -> Result<()> {
        let chunks = std::mem::take(&mut self.chunks);
        chunks::check(self.session, self.array, &chunks)
    }

    fn flush_outside(&mut self) -> Result<()> {
        let outside = std::mem::take(&mut self.outside);
        outside::check(self.session, self.array, &outside)
    }

    fn finish(mut self) -> Result<()> {
        self.flush()?;
        self.flush_outside()?;
        let path = self.array.path().as_str();
        for node in &self.nodes {
            let message = "a node is inside the array, where few programs find it";
            let why = Remedy::Nothing("move it to a path outside of the array".to_owned());
            self.session.report(Finding::new(FindingKind::NodeInArray, path, message, why).at_key(node))?;
            self.foreign.forget_below(node);
        }
        self.foreign.report(self.session, path)
    }
}

/// Checks the keys directly below a group, except the documents of the group and of nodes below it. `children` are the names of
/// all possible nodes. Returns the prefixes of chunks with other names.
pub(super) fn group(
    session: &Session<'_>,
    group: &Group,
    layout: &Layout,
    children: &[String],
) -> Result<Vec<Prefix>> {
    let (place, path) = (group.location(), group.path());
    let format = group.metadata().format;
    let consolidated = format.def().consolidation().and_then(|consolidation| consolidation.key(layout, path));
    let entry = format.def().entry_key().map(str::to_owned);
    let known: Vec<String> = layout.keys(path).into_iter().chain(consolidated).chain(entry).collect();
    let (mut foreign, mut others) = (Foreign::default(), Vec::new());
    let mut prefixes = vec![layout.below(path), layout.chunks(path)];
    prefixes.dedup();
    for (nth, prefix) in prefixes.into_iter().enumerate() {
        let listing = place.store.list_dir(&Prefix::new(prefix)?)?;
        for key in listing.keys {
            let is_known = known.iter().any(|known| known == key.as_str())
                || !layout.children([key.name()], []).is_empty();
            match key.name() {
                _ if is_known || place.marked_by(&key).is_some() => {}
                JOURNAL => interrupted(session, path.as_str(), key.as_str())?,
                name if NODE_DOCUMENTS.contains(&name) => several_formats(session, path.as_str(), &key)?,
                _ => foreign.add_or_report(session, place, &key)?,
            }
        }
        // Only formats that store chunks and documents under different prefixes can have chunks without documents.
        let is_other = |below: &Prefix| nth > 0 && !children.iter().any(|name| name == below.name());
        others.extend(listing.prefixes.into_iter().filter(is_other));
    }
    foreign.report(session, path.as_str())?;
    Ok(others)
}

/// Reports an interrupted conversion or import.
pub(super) fn interrupted(session: &Session<'_>, path: &str, key: &str) -> Result<()> {
    let message = "a conversion or an import was interrupted; its output is incomplete";
    let why = Remedy::Nothing("run the same command again to continue, or delete its output".to_owned());
    session.report(Finding::new(FindingKind::InterruptedTransfer, path, message, why).at_key(key))
}

fn several_formats(session: &Session<'_>, path: &str, key: &Key) -> Result<()> {
    let message = "the node also has documents of another format: programs may read different nodes";
    let why = Remedy::Nothing("delete the documents of the unwanted format".to_owned());
    session.report(Finding::new(FindingKind::SeveralFormats, path, message, why).at_key(key.as_str()))
}

/// Reports the foreign keys below a prefix.
pub(super) fn report_others(session: &Session<'_>, path: &str, scan: &Scan) -> Result<()> {
    match &scan.other {
        Some(example) => report_foreign(session, path, scan.others, example),
        None => Ok(()),
    }
}

fn report_foreign(session: &Session<'_>, path: &str, count: u64, example: &str) -> Result<()> {
    let message = match count {
        1 => "it does not belong to a node".to_owned(),
        _ => format!("{count} keys like this do not belong to a node"),
    };
    let why = Remedy::Nothing("it may belong to another program".to_owned());
    session.report(Finding::new(FindingKind::ForeignKeys, path, message, why).at_key(example))
}

/// Keys that do not belong to any node, grouped by directory.
#[derive(Default)]
struct Foreign(BTreeMap<String, (u64, String)>);

impl Foreign {
    fn add(&mut self, key: &Key) {
        let directory = match self.0.len() < DIRECTORIES {
            true => key.parent().to_string(),
            // The remaining directories are reported together.
            false => self.0.keys().next_back().cloned().unwrap_or_default(),
        };
        self.0.entry(directory).or_insert_with(|| (0, key.to_string())).0 += 1;
    }

    /// Adds a key. A key that cannot be read, such as a dangling symbolic link, is reported separately instead.
    fn add_or_report(&mut self, session: &Session<'_>, place: &Location, key: &Key) -> Result<()> {
        if !place.is_remote()
            && let Err(error) = place.store.size(key)
        {
            return session.report_unreadable(place.path.as_str(), error.into());
        }
        self.add(key);
        Ok(())
    }

    fn forget_below(&mut self, node: &str) {
        self.0.retain(|directory, _| !directory.strip_prefix(node).is_some_and(|rest| rest.starts_with('/')));
    }

    fn report(self, session: &Session<'_>, path: &str) -> Result<()> {
        self.0.into_values().try_for_each(|(count, example)| report_foreign(session, path, count, &example))
    }
}

/// The content of a prefix that is not a node.
#[derive(Debug, Default)]
pub(super) struct Scan {
    /// The file name of a document of a node below.
    pub(super) document: Option<&'static str>,
    /// True if a node below the location has a document, rather than only the location itself.
    pub(super) has_nodes: bool,
    /// True if the prefix directly contains the journal of an incomplete operation.
    pub(super) journal: bool,
    /// The number of keys that look like chunk keys.
    pub(super) chunks: u64,
    /// The number of other keys.
    pub(super) others: u64,
    /// One of the other keys.
    pub(super) other: Option<String>,
}

impl Scan {
    /// Scans all keys below a prefix.
    pub(super) fn below(place: &Location, prefix: &Prefix) -> Result<Self> {
        let mut scan = Self::default();
        place.store.list_prefix(prefix, &mut |key, _| {
            scan.see(&key, &key.as_str()[prefix.as_str().len()..]);
            ControlFlow::Continue(())
        })?;
        Ok(scan)
    }

    fn see(&mut self, key: &Key, name: &str) {
        let document = NODE_DOCUMENTS.into_iter().find(|document| *document == key.name());
        if is_quarantined(key.as_str()) || is_mark(key.name()) {
        } else if name == JOURNAL {
            self.journal = true;
        } else if let Some(document) = document {
            self.document.get_or_insert(document);
            self.has_nodes |= name != document;
        } else if looks_like_a_chunk(name) {
            self.chunks += 1;
        } else {
            self.others += 1;
            self.other.get_or_insert_with(|| key.to_string());
        }
    }
}

/// Returns true if a name ends like a chunk key: `c/0/1`, `0.1`, `0/1`, `c0/1`.
fn looks_like_a_chunk(name: &str) -> bool {
    let last = name.rsplit('/').next().unwrap_or_default();
    let number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let mut numbers = last.split('.').peekable();
    if numbers.peek() == Some(&"c") {
        return numbers.skip(1).all(number);
    }
    let first = numbers.next().unwrap_or_default();
    number(first.strip_prefix('c').unwrap_or(first)) && numbers.all(number)
}

/// Returns true if a key is in a quarantine inside the store.
fn is_quarantined(key: &str) -> bool {
    key.strip_prefix(WITHIN).is_some_and(|rest| rest.starts_with('/'))
}

/// Looks for sibling nodes whose names differ only in case.
pub(super) fn names_by_case(session: &Session<'_>, path: &NodePath, names: &[String]) -> Result<()> {
    let mut seen: BTreeMap<String, &String> = BTreeMap::new();
    for name in names {
        if let Some(other) = seen.insert(name.to_lowercase(), name) {
            let message =
                format!("'{other}' and '{name}' differ only in case; not every file system can store both");
            let why = Remedy::Nothing("rename one of them".to_owned());
            session.report(Finding::new(FindingKind::NamesDifferInCase, path.as_str(), message, why))?;
        }
    }
    Ok(())
}

/// Reports an error that occurs while a group is listed as a finding, unless the error ends the check.
pub(super) fn listed<T>(session: &Session<'_>, path: &str, listed: Result<T, Error>) -> Result<Option<T>> {
    match listed {
        Ok(listed) => Ok(Some(listed)),
        Err(error) => session.report_unreadable(path, error).map(|()| None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_chunks_are_known_by_their_looks() {
        for name in ["c/0/1", "0.1", "0/1", "c0/1", "c", "c.0.1", "a/b/0"] {
            assert!(looks_like_a_chunk(name), "{name}");
        }
        for name in ["README", "c1.txt", "0.txt", "a/.DS_Store", "1.", ""] {
            assert!(!looks_like_a_chunk(name), "{name}");
        }
    }
}
