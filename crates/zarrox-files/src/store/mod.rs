//! [`FileStore`]: a file in another format as a read-only Zarr v3 store (v2 for NumPy files).

pub(crate) mod keys;

use std::collections::BTreeMap;
use std::fmt;
use std::ops::{Bound, ControlFlow};
use std::sync::{Arc, Mutex, PoisonError};

use zarrox::stores::{
    Bytes, Capabilities, Condition, DirListing, Key, LockGuard, MemoryStore, Payload, Prefix, Store,
    StoreError, StoreErrorKind, Value, provided,
};
use zarrox::{Error, ErrorKind};
use zarrox_tools::copy::Access;

use self::keys::Keys;
use crate::chunks::Chunks;
use crate::inventory::{Inventories, Inventory};

/// A part of a file that was left out, such as a node, an attribute or a page.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LeftOut {
    /// The path of the part in the file.
    pub path: String,
    /// The reason why the part was left out.
    pub reason: String,
    /// The kind of the error: [`ErrorKind::Unsupported`] for parts that have no equivalent in Zarr, and
    /// [`ErrorKind::Corrupt`] for damaged parts.
    pub kind: ErrorKind,
    /// True if the part belongs to the whole file, so that any node may use it. A page is an example.
    pub(crate) is_of_file: bool,
}

impl LeftOut {
    /// Creates the record of a node, or part of a node, that failed with the given error.
    pub(crate) fn new(path: impl Into<String>, error: &Error) -> Self {
        // A property that an array cannot have means that the file is damaged, not that the user passed an invalid argument.
        let kind = match error.kind() {
            ErrorKind::InvalidArgument | ErrorKind::InvalidSelection => ErrorKind::Corrupt,
            kind => kind,
        };
        Self { path: path.into(), reason: error.to_string(), kind, is_of_file: false }
    }

    /// Creates the record of a part of the whole file that failed with the given error, such as a page or a description
    /// of several nodes.
    #[cfg(feature = "tiff")]
    pub(crate) fn of_file(path: impl Into<String>, error: &Error) -> Self {
        Self { is_of_file: true, ..Self::new(path, error) }
    }

    /// Creates the record of a part that has no equivalent in Zarr.
    #[cfg(any(feature = "nifti", feature = "tiff"))]
    pub(crate) fn unsupported(path: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { path: path.into(), reason: reason.into(), kind: ErrorKind::Unsupported, is_of_file: false }
    }

    /// Returns true if the part is the given node or one of its ancestors.
    pub(crate) fn holds(&self, node: &str) -> bool {
        let part = self.path.trim_matches('/');
        !part.is_empty()
            && node.strip_prefix(part).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }

    /// Returns true if the part is missing from an import of the given nodes.
    pub(crate) fn concerns(&self, has_node: impl Fn(&str) -> bool) -> bool {
        self.is_of_file || self.path == "/" || has_node(&self.path)
    }

    /// Returns true if the part is damaged, and false if it has no equivalent in Zarr or is in another file that is
    /// missing or not allowed.
    pub fn is_damaged(&self) -> bool {
        !matches!(self.kind, ErrorKind::Unsupported | ErrorKind::NotFound | ErrorKind::Forbidden)
    }
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path, self.reason)
    }
}

/// A file in another format as a read-only Zarr v3 store (v2 for NumPy files). Chunks are read from the file on demand.
#[derive(Clone)]
pub struct FileStore {
    inner: Arc<Inner>,
    /// The record of skipped damaged chunks; `None` if damage is an error.
    skipped: Option<Skipped>,
}

/// A record of skipped damaged chunks, by file name and chunk key. Clones share the record.
#[derive(Debug, Clone, Default)]
pub(crate) struct Skipped(Arc<Mutex<BTreeMap<String, LeftOut>>>);

impl Skipped {
    /// Returns the recorded chunks, sorted by name.
    pub(crate) fn parts(&self) -> Vec<LeftOut> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).values().cloned().collect()
    }

    fn add(&self, name: String, part: LeftOut) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(name, part);
    }
}

struct Inner {
    location: String,
    documents: MemoryStore,
    /// The arrays, by path.
    arrays: BTreeMap<String, Box<dyn Chunks>>,
    left_out: Vec<LeftOut>,
    notes: Vec<String>,
    /// The inventory of the file, if its objects were counted.
    inventories: Inventories,
    keys: Keys,
    /// The methods for reading arrays of contiguous elements; empty for a chunked file.
    accesses: BTreeMap<String, Access>,
}

impl FileStore {
    pub(crate) fn new(
        location: String,
        documents: MemoryStore,
        arrays: BTreeMap<String, Box<dyn Chunks>>,
        left_out: Vec<LeftOut>,
    ) -> Self {
        Self::counted(location, documents, arrays, left_out, Inventories::default())
    }

    /// Adds notes on changed content, each beginning with the path of a node.
    pub(crate) fn with_notes(self, notes: Vec<String>) -> Self {
        self.with(|inner| Inner { notes, ..inner })
    }

    /// Sets the methods for reading arrays of contiguous elements.
    pub(crate) fn with_elements(self, keys: Keys, accesses: BTreeMap<String, Access>) -> Self {
        self.with(|inner| Inner { keys, accesses, ..inner })
    }

    /// Returns the methods for reading arrays of contiguous elements; empty for a chunked file.
    pub(crate) fn accesses(&self) -> &BTreeMap<String, Access> {
        &self.inner.accesses
    }

    /// Sets the inventory of the file.
    #[cfg(feature = "hdf5")]
    pub(crate) fn with_inventories(self, inventories: Inventories) -> Self {
        self.with(|inner| Inner { inventories, ..inner })
    }

    /// Modifies a newly created store.
    fn with(self, change: impl FnOnce(Inner) -> Inner) -> Self {
        let Self { inner, skipped } = self;
        let inner = match Arc::try_unwrap(inner) {
            Ok(inner) => Arc::new(change(inner)),
            Err(shared) => shared,
        };
        Self { inner, skipped }
    }

    /// Returns notes on changed content, such as a missing value that the type of its variable cannot represent. Each
    /// note begins with the path of a node.
    pub fn notes(&self) -> &[String] {
        &self.inner.notes
    }

    /// Creates the store of a file whose objects were counted.
    pub(crate) fn counted(
        location: String,
        documents: MemoryStore,
        arrays: BTreeMap<String, Box<dyn Chunks>>,
        left_out: Vec<LeftOut>,
        inventories: Inventories,
    ) -> Self {
        Self {
            inner: Arc::new(Inner {
                location,
                documents,
                arrays,
                left_out,
                notes: Vec::new(),
                inventories,
                keys: Keys::default(),
                accesses: BTreeMap::new(),
            }),
            skipped: None,
        }
    }

    /// Sets the record of skipped chunks. Damaged chunks are recorded, and read as if they were not stored. If the record
    /// is `None`, they are an error.
    pub(crate) fn skipping(self, skipped: Option<Skipped>) -> Self {
        Self { skipped, ..self }
    }

    /// Returns the record of skipped chunks; `None` if damaged chunks are an error.
    pub(crate) fn skips(&self) -> Option<Skipped> {
        self.skipped.clone()
    }

    /// Returns the damaged chunks that were skipped, sorted by key.
    pub(crate) fn skipped(&self) -> Vec<LeftOut> {
        self.skipped.iter().flat_map(Skipped::parts).collect()
    }

    /// Returns the number of objects in the file, by node path.
    pub(crate) fn inventories(&self) -> &Inventories {
        &self.inner.inventories
    }

    /// Returns the number of objects in the file, which are counted while the file is read. Skipped objects are not
    /// counted. Returns `None` for formats whose objects are not counted.
    pub fn inventory(&self) -> Option<Inventory> {
        self.inventory_below("")
    }

    /// Returns the number of objects in a node of the file and all nodes below it; `None` if [`FileStore::inventory`]
    /// returns `None`.
    pub fn inventory_below(&self, node: &str) -> Option<Inventory> {
        self.inner.inventories.below(node)
    }

    /// Returns the parts of the file that were left out.
    pub fn left_out(&self) -> &[LeftOut] {
        &self.inner.left_out
    }

    /// Returns the array that a key belongs to, and the chunk index.
    fn chunk(&self, key: &Key) -> Option<(&dyn Chunks, Vec<u64>)> {
        self.inner.keys.split(key.as_str()).find_map(|(path, chunk)| {
            let chunks = self.inner.arrays.get(path)?;
            Some((&**chunks, self.inner.keys.position(chunk, chunks.ndim())?))
        })
    }

    fn fail(&self, kind: StoreErrorKind, operation: &'static str, message: &str, key: &str) -> StoreError {
        StoreError::new(kind, operation, message).with_location(&*self.inner.location).with_key(key)
    }

    fn read_only<T>(&self, operation: &'static str, key: &str) -> Result<T, StoreError> {
        Err(self.fail(StoreErrorKind::ReadOnly, operation, "files of other formats are read-only", key))
    }

    /// Reads a metadata document, or calls `read` for a chunk.
    fn read<T>(
        &self,
        key: &Key,
        document: impl FnOnce(Bytes) -> T,
        read: impl FnOnce(&dyn Chunks, &[u64]) -> Result<Option<T>, Error>,
    ) -> Result<Option<T>, StoreError> {
        if let Some(bytes) = self.inner.documents.get(key)? {
            return Ok(Some(document(bytes)));
        }
        let Some((chunks, index)) = self.chunk(key) else { return Ok(None) };
        match (read(chunks, &index), &self.skipped) {
            (Err(error), Some(skipped)) if error.kind() == ErrorKind::Corrupt => {
                let part = LeftOut::new(format!("/{key}"), &error);
                skipped.add(format!("{}/{key}", self.inner.location), part);
                Ok(None)
            }
            (read, _) => read.map_err(|error| self.located(&error, key)),
        }
    }

    /// Converts a read error to a store error.
    fn located(&self, error: &Error, key: &Key) -> StoreError {
        store_error(error).with_location(&*self.inner.location).with_key(key.as_str())
    }
}

/// Converts a read error to a store error.
pub(crate) fn store_error(error: &Error) -> StoreError {
    let kind = match error.kind() {
        ErrorKind::Corrupt => StoreErrorKind::Corrupt,
        ErrorKind::NotFound => StoreErrorKind::NotFound,
        ErrorKind::Forbidden => StoreErrorKind::Forbidden,
        ErrorKind::Unsupported => StoreErrorKind::Unsupported,
        ErrorKind::LimitExceeded => StoreErrorKind::TooLarge,
        ErrorKind::OutOfMemory => StoreErrorKind::OutOfMemory,
        _ => StoreErrorKind::Other,
    };
    StoreError::new(kind, "reading", error.to_string()).with_source(error.clone())
}

impl fmt::Debug for FileStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FileStore").field("location", &self.inner.location).finish_non_exhaustive()
    }
}

impl Store for FileStore {
    provided!(directory get_ranges get_many contains flush stamp hold exchange);

    fn location(&self) -> String {
        self.inner.location.clone()
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
        self.read(key, |document| Box::new(document) as Box<dyn Value>, |chunks, index| chunks.open(index))
    }

    fn get(&self, key: &Key) -> Result<Option<Bytes>, StoreError> {
        self.read(key, |document| document, |chunks, index| chunks.read(index))
    }

    fn size(&self, key: &Key) -> Result<Option<u64>, StoreError> {
        match self.inner.documents.size(key)? {
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
        self.inner.documents.list_prefix(prefix, &mut |key, size| {
            flow = visit(key, size);
            flow
        })?;
        let wanted = prefix.as_str();
        for (path, chunks) in self.arrays_at(wanted) {
            let all = self.inner.keys.common(path);
            if flow.is_break() || !(all.starts_with(wanted) || wanted.starts_with(&all)) {
                continue;
            }
            let mut failure = None;
            flow = chunks.visit(&mut |index, size| {
                let key = self.inner.keys.key(path, index);
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
        let mut listing = self.inner.documents.list_dir(prefix)?;
        let wanted = prefix.as_str();
        for (path, chunks) in self.arrays_at(wanted) {
            let below = self.inner.keys.common(path);
            if self.inner.keys == Keys::Dots {
                if wanted == below {
                    self.list_chunks(prefix, path, chunks, &mut listing)?;
                }
                continue;
            }
            if below.starts_with(wanted) && chunks.any() && chunks.ndim() > 0 {
                // Ancestor groups and arrays are listed with their documents, so only the prefix of the chunks is missing.
                let rest = &below[wanted.len()..];
                if !rest.contains('/') {
                    listing.prefixes.push(prefix.child(rest)?);
                }
            } else if wanted.starts_with(&below) || (below.starts_with(wanted) && chunks.ndim() == 0) {
                self.list_chunks(prefix, path, chunks, &mut listing)?;
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
        Ok(LockGuard::in_process(&format!("file of another format {}", self.inner.location), key))
    }
}

impl FileStore {
    /// Returns the arrays that can have keys below a prefix: those above and those below the prefix. The cost depends on
    /// the number of arrays found, not on the total number of arrays.
    fn arrays_at<'s>(&'s self, prefix: &'s str) -> impl Iterator<Item = (&'s str, &'s dyn Chunks)> {
        let arrays = &self.inner.arrays;
        let cuts = prefix.match_indices('/').map(|(at, _)| at);
        let root = (!prefix.is_empty()).then_some(0);
        let above = root.into_iter().chain(cuts).filter_map(|at| arrays.get_key_value(&prefix[..at]));
        let from = (Bound::Included(prefix), Bound::Unbounded);
        let below = arrays.range::<str, _>(from).take_while(move |(path, _)| path.starts_with(prefix));
        above.chain(below).map(|(path, chunks)| (path.as_str(), &**chunks))
    }

    /// Adds the chunks of an array that are directly below a prefix to a listing.
    fn list_chunks(
        &self,
        prefix: &Prefix,
        path: &str,
        chunks: &dyn Chunks,
        listing: &mut DirListing,
    ) -> Result<(), StoreError> {
        let (wanted, mut names) = (prefix.as_str(), std::collections::BTreeSet::new());
        let _ = chunks.visit(&mut |index, _| {
            let key = self.inner.keys.key(path, index);
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
