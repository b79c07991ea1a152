//! [`FileStore`]: a file of another format as a read-only store of Zarr v3.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::ControlFlow;
use std::sync::Arc;

use zarrox::stores::{
    Bytes, Capabilities, Condition, DirListing, Key, LockGuard, MemoryStore, Payload, Prefix, Store,
    StoreError, StoreErrorKind, Value, provided,
};
use zarrox::{Error, ErrorKind};

use crate::chunks::Chunks;

/// A node of a file that has no form in Zarr, and the reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// The path of the node in the file.
    pub path: String,
    /// The reason.
    pub reason: String,
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path, self.reason)
    }
}

/// A file of another format as a store of Zarr v3, for reading. The file is read when a chunk is asked for.
#[derive(Clone)]
pub struct FileStore(Arc<Inner>);

struct Inner {
    location: String,
    documents: MemoryStore,
    /// The arrays by their paths.
    arrays: BTreeMap<String, Box<dyn Chunks>>,
    left_out: Vec<LeftOut>,
}

impl FileStore {
    pub(crate) fn new(
        location: String,
        documents: MemoryStore,
        arrays: BTreeMap<String, Box<dyn Chunks>>,
        left_out: Vec<LeftOut>,
    ) -> Self {
        Self(Arc::new(Inner { location, documents, arrays, left_out }))
    }

    /// The nodes of the file that have no form in Zarr.
    pub fn left_out(&self) -> &[LeftOut] {
        &self.0.left_out
    }

    /// The array to which a key belongs, and the position of the chunk.
    fn chunk(&self, key: &Key) -> Option<(&dyn Chunks, Vec<u64>)> {
        let text = key.as_str();
        let ends = text.match_indices('/').map(|(at, _)| at).filter(|&at| text[at + 1..].starts_with('c'));
        let whole = text.starts_with('c').then_some(("", text));
        let parts = ends.map(|at| (&text[..at], &text[at + 1..]));
        parts.chain(whole).find_map(|(path, chunk)| {
            let chunks = self.0.arrays.get(path)?;
            let index = position(chunk)?;
            (index.len() == chunks.ndim()).then_some((&**chunks, index))
        })
    }

    fn fail(&self, kind: StoreErrorKind, operation: &'static str, message: &str, key: &str) -> StoreError {
        StoreError::new(kind, operation, message).with_location(&*self.0.location).with_key(key)
    }

    fn read_only<T>(&self, operation: &'static str, key: &str) -> Result<T, StoreError> {
        Err(self.fail(StoreErrorKind::ReadOnly, operation, "files of other formats are only read", key))
    }

    fn read(&self, key: &Key) -> Result<Option<Bytes>, StoreError> {
        if let Some(document) = self.0.documents.get(key)? {
            return Ok(Some(document));
        }
        let Some((chunks, index)) = self.chunk(key) else { return Ok(None) };
        chunks.read(&index).map_err(|error| self.store_error(&error, key))
    }

    /// An error of reading as one of a store.
    fn store_error(&self, error: &Error, key: &Key) -> StoreError {
        let kind = match error.kind() {
            ErrorKind::Corrupt => StoreErrorKind::Corrupt,
            ErrorKind::NotFound => StoreErrorKind::NotFound,
            ErrorKind::Forbidden => StoreErrorKind::Forbidden,
            ErrorKind::Unsupported => StoreErrorKind::Unsupported,
            ErrorKind::LimitExceeded => StoreErrorKind::TooLarge,
            _ => StoreErrorKind::Other,
        };
        self.fail(kind, "reading", &error.to_string(), key.as_str()).with_source(error.clone())
    }
}

/// The position that the key of a chunk tells: `c/0/1`.
fn position(key: &str) -> Option<Vec<u64>> {
    let mut parts = key.split('/');
    if parts.next() != Some("c") {
        return None;
    }
    let number = |part: &str| {
        let is_plain = part == "0" || !part.starts_with(['0', '+']);
        part.parse().ok().filter(|_| is_plain)
    };
    parts.map(number).collect()
}

/// The key of a chunk.
fn key_of(path: &str, chunk: &[u64]) -> String {
    let mut key = if path.is_empty() { "c".to_owned() } else { format!("{path}/c") };
    for index in chunk {
        key.push('/');
        key.push_str(&index.to_string());
    }
    key
}

impl fmt::Debug for FileStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FileStore").field("location", &self.0.location).finish_non_exhaustive()
    }
}

impl Store for FileStore {
    provided!(directory get_ranges get_many contains flush);

    fn location(&self) -> String {
        self.0.location.clone()
    }

    fn capabilities(&self) -> Capabilities {
        let mut capabilities = Capabilities::default();
        capabilities.listable = true;
        capabilities.values_above_values = true;
        capabilities
    }

    fn open_with(
        &self,
        key: &Key,
        _: Option<zarrox::stores::ByteRange>,
    ) -> Result<Option<Box<dyn Value>>, StoreError> {
        Ok(self.read(key)?.map(|bytes| Box::new(bytes) as Box<dyn Value>))
    }

    fn get(&self, key: &Key) -> Result<Option<Bytes>, StoreError> {
        self.read(key)
    }

    fn size(&self, key: &Key) -> Result<Option<u64>, StoreError> {
        match self.0.documents.size(key)? {
            Some(size) => Ok(Some(size)),
            None => Ok(self.chunk(key).and_then(|(chunks, index)| chunks.size(&index))),
        }
    }

    fn put(&self, key: &Key, _: Payload<'_>, _: Condition<'_>) -> Result<(), StoreError> {
        self.read_only("writing", key.as_str())
    }

    fn erase_if(&self, key: &Key, condition: Condition<'_>) -> Result<bool, StoreError> {
        condition.unconditional()?;
        self.read_only("erasing", key.as_str())
    }

    fn erase_prefix(&self, prefix: &Prefix) -> Result<(), StoreError> {
        self.read_only("erasing", prefix.as_str())
    }

    fn list_prefix(
        &self,
        prefix: &Prefix,
        visit: &mut dyn FnMut(Key, u64) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        let mut flow = ControlFlow::Continue(());
        self.0.documents.list_prefix(prefix, &mut |key, size| {
            flow = visit(key, size);
            flow
        })?;
        let wanted = prefix.as_str();
        for (path, chunks) in &self.0.arrays {
            let all = key_of(path, &[]);
            if flow.is_break() || !(all.starts_with(wanted) || wanted.starts_with(&all)) {
                continue;
            }
            let mut failure = None;
            flow = chunks.visit(&mut |index, size| {
                let key = key_of(path, index);
                if !key.starts_with(wanted) {
                    return ControlFlow::Continue(());
                }
                match Key::new(key) {
                    Ok(key) => visit(key, size),
                    Err(error) => {
                        failure = Some(error);
                        ControlFlow::Break(())
                    }
                }
            });
            if let Some(error) = failure {
                return Err(error);
            }
        }
        Ok(())
    }

    fn list_dir(&self, prefix: &Prefix) -> Result<DirListing, StoreError> {
        let mut listing = self.0.documents.list_dir(prefix)?;
        let wanted = prefix.as_str();
        for (path, chunks) in &self.0.arrays {
            let below = key_of(path, &[]);
            if below.starts_with(wanted) && chunks.any() && chunks.ndim() > 0 {
                // Groups and arrays above it have documents, so that only the chunks' own prefix is missing.
                let rest = &below[wanted.len()..];
                if !rest.contains('/') {
                    listing.prefixes.push(prefix.child(rest)?);
                }
            } else if wanted.starts_with(&below) || (below.starts_with(wanted) && chunks.ndim() == 0) {
                self.list_chunks(prefix, path, &**chunks, &mut listing)?;
            }
        }
        listing.keys.sort_unstable();
        listing.keys.dedup();
        listing.prefixes.sort_unstable();
        listing.prefixes.dedup();
        Ok(listing)
    }

    fn rename_prefix(&self, from: &Prefix, _: &Prefix) -> Result<(), StoreError> {
        self.read_only("renaming", from.as_str())
    }

    fn lock(&self, key: &Key) -> Result<LockGuard, StoreError> {
        Ok(LockGuard::in_process(&format!("file of another format {}", self.0.location), key))
    }
}

impl FileStore {
    /// Adds the chunks of one array that lie directly below a prefix.
    fn list_chunks(
        &self,
        prefix: &Prefix,
        path: &str,
        chunks: &dyn Chunks,
        listing: &mut DirListing,
    ) -> Result<(), StoreError> {
        let (wanted, mut names) = (prefix.as_str(), std::collections::BTreeSet::new());
        let _ = chunks.visit(&mut |index, _| {
            let key = key_of(path, index);
            if let Some(rest) = key.strip_prefix(wanted) {
                let (name, is_key) = rest.split_once('/').map_or((rest, true), |(name, _)| (name, false));
                names.insert((name.to_owned(), is_key));
            }
            ControlFlow::Continue(())
        });
        for (name, is_key) in names {
            if is_key {
                listing.keys.push(prefix.key(&name)?);
            } else {
                listing.prefixes.push(prefix.child(&name)?);
            }
        }
        Ok(())
    }
}
