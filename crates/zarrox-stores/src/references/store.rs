//! [`ReferenceStore`].

use std::fmt;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use super::json;
use super::lazy::{self, LazySet};
use super::options::ReferenceOptions;
use super::reference::Reference;
use super::set::Set;
use super::target::Targets;
use super::value::Part;
use crate::url::scheme::OpenUrl;
use crate::{
    ByteRange, Capabilities, Condition, DirListing, Key, LockGuard, Payload, Prefix, Store, StoreError,
    StoreErrorKind, Value, key_map, provided,
};

/// The number of parallel requests if any target is remote.
const IN_FLIGHT: usize = 64;

/// Returns true if all targets are local. Consecutive references usually have the same target, which is only looked up once.
fn are_near(set: &key_map::Map<Reference>, targets: &Targets) -> bool {
    let mut last = None;
    set.values().all(|reference| {
        let Reference::Target { url, .. } = reference else { return true };
        let is_known = last.replace(url).is_some_and(|last| last == url);
        is_known || targets.is_near(url.as_deref())
    })
}

/// A read-only store for kerchunk references: the value of each key is contained in the references themselves, or is another
/// object or a byte range in it. So files in other formats, such as NetCDF, are read as if they were Zarr.
///
/// [`ReferenceOptions`] opens it. The references are a JSON document of version 0 or 1, including templates and generators.
/// Templates may contain names, calls and integer arithmetic. Other features of Jinja are not supported.
///
/// Alternatively, the references are a directory of Parquet files, as written by fsspec's `LazyReferenceMapper`: a path that ends
/// in `.parq` or `.parquet`, or any path without a JSON document. A file is read when one of its references is needed, and then
/// cached. Later changes to the file are not seen.
///
/// # Targets
///
/// A target is a URL of an object in a bucket or on a web server, or any other URL that
/// [`StoreRegistry::open`](crate::StoreRegistry::open) supports. If the references are a local file, a path without a scheme is a
/// file, and a relative path is relative to the working directory, as in fsspec. In other references, a path is relative to the
/// references, in the same store.
///
/// A range is read in one request. If a target is missing, or ends before the end of the range, this is an error: only keys
/// without a reference are missing.
///
/// # Untrusted references
///
/// References from a server may point to buckets and web servers, but neither to local files nor to other kinds of stores.
/// References in a local file may also point to files in the same directory and below it. See
/// [`allow_local`](ReferenceOptions::allow_local). Buckets are read with the credentials of this process. Web servers see the
/// requests; references may even point to servers that only this machine can reach.
#[derive(Clone)]
pub struct ReferenceStore(Arc<Inner>);

struct Inner {
    set: Set,
    targets: Targets,
    is_remote: bool,
    location: Arc<str>,
}

impl ReferenceStore {
    /// Opens references in a local file.
    pub(crate) fn open_file(
        options: ReferenceOptions,
        path: &Path,
        open_url: OpenUrl,
    ) -> Result<Self, StoreError> {
        let fail = |error| StoreError::from_io("opening", error).with_location(path.to_string_lossy());
        let resolved = crate::local::directory::resolve(path).map_err(fail)?;
        let name = resolved.file_name().and_then(|name| name.to_str());
        let (Some(directory), Some(name)) = (resolved.parent(), name) else {
            return Err(fail(std::io::ErrorKind::InvalidFilename.into()));
        };
        let store = Arc::new(crate::DirectoryStore::open(directory)?);
        let options = ReferenceOptions { is_local: true, ..options };
        Self::open(options, store, name, None, open_url)
    }

    /// Opens references that are stored in another store, at this URL.
    pub(crate) fn open(
        options: ReferenceOptions,
        store: Arc<dyn Store>,
        path: &str,
        url: Option<&str>,
        open_url: OpenUrl,
    ) -> Result<Self, StoreError> {
        let path = path.trim_matches('/');
        let location: Arc<str> = format!("{}/{path}", store.location().trim_end_matches('/')).into();
        let set = read(&store, path, options.memory_limit, &location)?;
        let directory = path
            .rsplit_once('/')
            .map_or(Ok(Prefix::root()), |(above, _)| Prefix::new(format!("{above}/")))?;
        let targets = Targets::new(options, (store, directory), url, open_url);
        let is_remote = match &set {
            Set::Memory(map) => !are_near(map, &targets),
            // It is unknown whether the targets are local until all files have been read.
            Set::Lazy(_) => true,
        };
        Ok(Self(Arc::new(Inner { set, targets, is_remote, location })))
    }

    /// Opens the object to which a reference points, and passes on the part of the range `first` that lies within the object.
    fn target(
        &self,
        key: &Key,
        url: Option<&str>,
        range: Option<(u64, u64)>,
        first: Option<ByteRange>,
    ) -> Result<Box<dyn Value>, StoreError> {
        let (store, target) = self.0.targets.find(url).map_err(|error| self.placed(error, key))?;
        let first = match range {
            None => first,
            Some(range) => first.and_then(|first| within(first, range)),
        };
        let Some(whole) = store.open_with(&target, first)? else {
            let message = format!(
                "the target of the reference, '{}/{target}', does not exist",
                store.location().trim_end_matches('/')
            );
            return Err(self.error(StoreErrorKind::NotFound, "reading", &message, key.as_str()));
        };
        let Some((offset, length)) = range else { return Ok(whole) };
        if offset.checked_add(length).is_none_or(|end| end > whole.size()) {
            let message = format!(
                "the reference has {length} bytes from offset {offset}, but '{}/{target}' ends at {}",
                store.location().trim_end_matches('/'),
                whole.size()
            );
            return Err(self.error(StoreErrorKind::Corrupt, "reading", &message, key.as_str()));
        }
        Ok(Box::new(Part { whole, offset, length }))
    }

    fn value(&self, key: &Key, first: Option<ByteRange>) -> Result<Option<Box<dyn Value>>, StoreError> {
        match self.0.set.find(key)? {
            None => Ok(None),
            Some(Reference::Inline(bytes)) => Ok(Some(Box::new(bytes))),
            Some(Reference::Target { url, range }) => {
                self.target(key, url.as_deref(), range, first).map(Some)
            }
        }
    }

    /// Adds the key to an error that has no location yet.
    fn placed(&self, error: StoreError, key: &Key) -> StoreError {
        if error.location().is_some() || error.key().is_some() {
            return error;
        }
        error.with_location(&*self.0.location).with_key(key.as_str())
    }

    fn error(&self, kind: StoreErrorKind, operation: &'static str, message: &str, key: &str) -> StoreError {
        StoreError::new(kind, operation, message).with_location(&*self.0.location).with_key(key)
    }

    fn read_only<T>(&self, operation: &'static str, key: &str) -> Result<T, StoreError> {
        Err(self.error(StoreErrorKind::ReadOnly, operation, "references are read-only", key))
    }

    fn size_of(&self, key: &Key, reference: &Reference) -> Result<u64, StoreError> {
        match reference {
            Reference::Inline(bytes) => Ok(bytes.len() as u64),
            Reference::Target { range: Some((_, length)), .. } => Ok(*length),
            Reference::Target { url, range: None } => {
                self.target(key, url.as_deref(), None, None).map(|value| value.size())
            }
        }
    }
}

/// Converts a range within a part to a range within the whole object. Returns `None` if the range does not lie within the part.
fn within(first: ByteRange, (offset, length): (u64, u64)) -> Option<ByteRange> {
    let range = first.resolve(length).filter(|range| !range.is_empty())?;
    Some(ByteRange::From { offset: offset.checked_add(range.start)?, length: Some(range.end - range.start) })
}

/// Reads the references. They are a directory of Parquet files if the suffix says so, or if there is no JSON document.
fn read(store: &Arc<dyn Store>, path: &str, memory_limit: u64, location: &str) -> Result<Set, StoreError> {
    let name = path.rsplit_once('/').map_or(path, |(_, name)| name);
    let is_parquet = name.is_empty() || name.ends_with(".parq") || name.ends_with(".parquet");
    if !is_parquet && let Some(document) = lazy::whole(&**store, &Key::new(path)?, memory_limit)? {
        let map = json::parse(&document, memory_limit);
        return Ok(Set::Memory(map.map_err(|problem| problem.into_error(location))?));
    }
    let prefix = if path.is_empty() { Prefix::root() } else { Prefix::new(format!("{path}/"))? };
    let set = LazySet::open(Arc::clone(store), prefix, memory_limit, location)?;
    set.map(Set::Lazy).ok_or_else(|| {
        let message = "nothing found: neither a JSON document nor a directory with '.zmetadata'";
        StoreError::new(StoreErrorKind::NotFound, "reading the references", message).with_location(location)
    })
}

impl fmt::Debug for ReferenceStore {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("ReferenceStore").field("location", &self.0.location).finish_non_exhaustive()
    }
}

impl Store for ReferenceStore {
    provided!(directory get get_ranges get_many contains flush stamp hold exchange);

    fn location(&self) -> String {
        self.0.location.to_string()
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            listable: true,
            values_above_values: true,
            in_flight: NonZeroUsize::new(IN_FLIGHT).filter(|_| self.0.is_remote),
            ..Capabilities::default()
        }
    }

    fn open_with(&self, key: &Key, first: Option<ByteRange>) -> Result<Option<Box<dyn Value>>, StoreError> {
        self.value(key, first)
    }

    fn size(&self, key: &Key) -> Result<Option<u64>, StoreError> {
        self.0.set.find(key)?.map(|reference| self.size_of(key, &reference)).transpose()
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
        self.0.set.visit(prefix, &mut |key, reference| Ok(visit(key.clone(), self.size_of(key, reference)?)))
    }

    fn list_dir(&self, prefix: &Prefix) -> Result<DirListing, StoreError> {
        self.0.set.list_dir(prefix)
    }

    fn rename_prefix(&self, from: &Prefix, _: &Prefix) -> Result<(), StoreError> {
        self.read_only("renaming", from.as_str())
    }

    fn lock(&self, key: &Key) -> Result<LockGuard, StoreError> {
        Ok(LockGuard::in_process(&format!("reference://{}", self.0.location), key))
    }
}
