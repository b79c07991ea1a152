//! The quarantine for damaged objects.
//!
//! The quarantine is `NAME.quarantine` beside the hierarchy, with the same keys. A store without siblings, such as a memory
//! store, contains its quarantine below the prefix `.zarrox-quarantine/`. Keys in the quarantine get the suffix `.damaged`, so
//! that no program takes an object for a document.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use zarrox_core::{Error, ErrorKind, Result};
use zarrox_stores::{Condition, Key, Store, StoreError, StoreErrorKind, StoreExt, Value};

use zarrox::OpenOptions;

/// The prefix of the quarantine in a store without siblings.
pub(super) const WITHIN: &str = ".zarrox-quarantine";

/// The suffix of the name of a quarantine.
const SUFFIX: &str = ".quarantine";

/// The number of bytes that are copied at a time.
const COPIED: u64 = 8 << 20;

/// The URL schemes of stores that have siblings.
const BESIDE: [&str; 10] =
    ["s3://", "gs://", "gcs://", "az://", "abfs://", "abfss://", "webdav://", "dav://", "ftp://", "hdfs://"];

/// The location of the quarantine.
#[derive(Debug, Clone)]
enum Target {
    /// A location with this path or URL.
    Beside(PathBuf),
    /// The store of the hierarchy.
    Within(Arc<dyn Store>),
}

/// A quarantine, which is created when the first damaged object is moved to it.
pub(super) struct Quarantine {
    target: Target,
    options: OpenOptions,
    opened: Mutex<Option<(Arc<dyn Store>, String)>>,
}

impl Quarantine {
    /// Creates the quarantine of a hierarchy in a store. `path` is the path or URL by which the store was opened, and names the
    /// node `node`.
    pub(super) fn new(store: &Arc<dyn Store>, path: Option<&Path>, node: &str, options: OpenOptions) -> Self {
        let beside = |root: &Path| {
            let mut name = root.as_os_str().to_owned();
            name.push(SUFFIX);
            Target::Beside(name.into())
        };
        let file = path.and_then(zarrox::internals::store_file);
        let target = match (store.directory(), file, path.and_then(|path| url_of_root(path, node))) {
            (Some(directory), ..) if directory.parent().is_some() => beside(directory),
            (_, Some(file), _) => beside(&file),
            (.., Some(url)) => beside(Path::new(&url)),
            _ => Target::Within(store.clone()),
        };
        Self { target, options, opened: Mutex::default() }
    }

    /// Returns the path or URL of the quarantine.
    pub(super) fn location(&self) -> String {
        match &self.target {
            Target::Beside(path) => path.display().to_string(),
            Target::Within(store) => format!("{}/{WITHIN}", store.location()),
        }
    }

    /// Copies a value to the quarantine, and returns its key. An existing value is not replaced.
    pub(super) fn keep(&self, key: &Key, value: &dyn Value) -> Result<String> {
        self.copy(key, value).map_err(|error| error.at(format!("the quarantine {}", self.location())))
    }

    fn copy(&self, key: &Key, value: &dyn Value) -> Result<String> {
        let (store, prefix) = self.open()?;
        for number in 0_u32.. {
            let name = match (number, &self.target) {
                (0, Target::Beside(_)) => format!("{prefix}{key}"),
                (_, Target::Beside(_)) => format!("{prefix}{key}.{number}"),
                (0, Target::Within(_)) => format!("{prefix}{key}.damaged"),
                (_, Target::Within(_)) => format!("{prefix}{key}.{number}.damaged"),
            };
            let place = Key::new(name)?;
            match write(&*store, &place, value) {
                Ok(()) => return Ok(place.to_string()),
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                    if is_same(&*store, &place, value)? {
                        return Ok(place.to_string());
                    }
                }
                Err(error) => return Err(error),
            }
        }
        Err(Error::new(ErrorKind::AlreadyExists, "all names for the object are in use"))
    }

    fn open(&self) -> Result<(Arc<dyn Store>, String)> {
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(opened) = &*opened {
            return Ok(opened.clone());
        }
        let found = match &self.target {
            Target::Within(store) => (store.clone(), format!("{WITHIN}/")),
            Target::Beside(path) => {
                // The quarantine of a file is a directory.
                let location = self.options.new_place(path)?;
                (location.store.clone(), location.path.prefix())
            }
        };
        Ok(opened.insert(found).clone())
    }

    /// Flushes the quarantine, if it was created.
    pub(super) fn flush(&self) -> Result<()> {
        match &*self.opened.lock().unwrap_or_else(PoisonError::into_inner) {
            Some((store, _)) => store.flush().map_err(Error::from),
            None => Ok(()),
        }
    }
}

/// Returns the URL of the root of a hierarchy with siblings, given the URL of one of its nodes.
fn url_of_root(path: &Path, node: &str) -> Option<String> {
    let url = path.to_str().filter(|url| BESIDE.iter().any(|scheme| url.starts_with(scheme)))?;
    let (_, rest) = url.split_once("://")?;
    let root = url.trim_end_matches('/').strip_suffix(node)?.trim_end_matches('/');
    let is_below_top = rest.split('/').filter(|part| !part.is_empty()).count() > 1;
    (is_below_top && !url.contains(['?', '#'])).then(|| root.to_owned())
}

/// Writes a value under an unused key, part by part.
fn write(store: &dyn Store, key: &Key, value: &dyn Value) -> Result<()> {
    let compares = store.capabilities().set_if_absent;
    if !compares && store.contains(key)? {
        return Err(Error::new(ErrorKind::AlreadyExists, format!("'{key}' already exists")));
    }
    let condition = if compares { Condition::Absent } else { Condition::Always };
    let length = usize::try_from(value.size()).map_err(|_| zarrox::internals::too_many("the bytes"))?;
    let failure = RefCell::new(None);
    let parts = |write: &mut dyn FnMut(&[u8]) -> std::io::Result<()>| {
        each_part(value, &mut |part| {
            write(part).map_err(|error| StoreError::from_io("writing", error).into())
        })
        .map_err(|error| {
            let text = error.to_string();
            failure.replace(Some(error));
            std::io::Error::other(text)
        })
    };
    let written = store.set_parts(key, length, &parts, condition);
    match (written, failure.into_inner()) {
        (Ok(()), _) => Ok(()),
        (Err(error), _) if error.kind() == StoreErrorKind::StorageFull => Err(error.into()),
        (Err(_), Some(error)) => Err(error),
        (Err(error), None) => Err(error.into()),
    }
}

/// Returns true if the key already has this value.
fn is_same(store: &dyn Store, key: &Key, value: &dyn Value) -> Result<bool> {
    let Some(there) = store.open(key)? else { return Ok(false) };
    if there.size() != value.size() {
        return Ok(false);
    }
    let (mut offset, mut same) = (0, true);
    each_part(value, &mut |part| {
        same = same && there.read(offset, part.len() as u64)? == part;
        offset += part.len() as u64;
        Ok(())
    })?;
    Ok(same)
}

fn each_part(value: &dyn Value, work: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
    let mut offset = 0;
    while offset < value.size() {
        let length = COPIED.min(value.size() - offset);
        work(&value.read(offset, length)?)?;
        offset += length;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_quarantine_of_a_url_is_beside_its_hierarchy() {
        let root = |url: &str, node: &str| url_of_root(Path::new(url), node);
        assert_eq!(root("s3://bucket/d/a.zarr/t/u", "t/u").as_deref(), Some("s3://bucket/d/a.zarr"));
        assert_eq!(root("s3://bucket/d/a.zarr/", "").as_deref(), Some("s3://bucket/d/a.zarr"));
        assert_eq!(root("s3://bucket", ""), None, "another bucket is not beside it");
        assert_eq!(root("redis://host/0", ""), None);
        assert_eq!(root("d/a.zarr", ""), None);
    }
}
