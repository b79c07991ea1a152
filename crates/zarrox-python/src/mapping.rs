//! Any mapping of Python's as a store.

use std::ops::ControlFlow;

use pyo3::exceptions::{PyKeyError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyInt, PyString};
use zarrox::stores::{
    Bytes, Capabilities, Condition, DirListing, Key, LockGuard, Prefix, Store, StoreError, StoreErrorKind,
    Value,
};

/// A mapping from keys to whatever has bytes. Its methods are called from any thread, which takes Python's lock for that.
#[derive(Debug)]
pub(crate) struct MappingStore {
    mapping: Py<PyAny>,
    /// Type and address: alike for all handles of one mapping, which lives as long as any of them.
    location: String,
}

impl MappingStore {
    pub(crate) fn new(mapping: &Bound<'_, PyAny>) -> PyResult<Self> {
        let location = format!("{}://{:p}", mapping.get_type().name()?, mapping.as_ptr());
        Ok(Self { mapping: mapping.clone().unbind(), location })
    }

    fn with<T>(
        &self,
        operation: &'static str,
        key: &str,
        work: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>,
    ) -> Result<T, StoreError> {
        Python::attach(|py| {
            work(self.mapping.bind(py)).map_err(|error| {
                let kind = if error.is_instance_of::<pyo3::exceptions::PyPermissionError>(py) {
                    StoreErrorKind::Forbidden
                } else {
                    StoreErrorKind::Other
                };
                let error_text = error.to_string();
                StoreError::new(kind, operation, error_text)
                    .with_location(self.location())
                    .with_key(key)
                    .with_source(error)
            })
        })
    }

    /// What a mapping lists itself that has a method `listdir`: names, of keys and of prefixes.
    fn own_listing(&self, prefix: &Prefix) -> Result<Option<DirListing>, StoreError> {
        self.with("listing", prefix.as_str(), |mapping| {
            let Some(listdir) = mapping.getattr_opt("listdir")? else { return Ok(None) };
            let path = prefix.as_str().trim_end_matches('/');
            let mut listing = DirListing::default();
            for name in listdir.call1((path,))?.try_iter()? {
                let name: String = name?.extract()?;
                // What is no name of ours belongs to somebody else.
                let (Ok(key), Ok(below)) = (prefix.key(&name), prefix.child(&name)) else { continue };
                if mapping.contains(key.as_str())? {
                    listing.keys.push(key);
                } else {
                    listing.prefixes.push(below);
                }
            }
            listing.keys.sort_unstable();
            listing.prefixes.sort_unstable();
            Ok(Some(listing))
        })
    }

    /// Whether there is a value, which is not fetched for that.
    pub(crate) fn contains(&self, key: &Key) -> Result<bool, StoreError> {
        self.with("reading", key.as_str(), |mapping| mapping.contains(key.as_str()))
    }

    /// The keys below a prefix, sorted.
    pub(crate) fn keys(&self, prefix: &Prefix) -> Result<Vec<Key>, StoreError> {
        self.with("listing", prefix.as_str(), |mapping| {
            let mut keys = Vec::new();
            for key in mapping.try_iter()? {
                let key: String = key?.extract()?;
                // What is no key belongs to somebody else.
                keys.extend(Key::new(key).ok().filter(|key| prefix.contains(key)));
            }
            keys.sort_unstable();
            Ok(keys)
        })
    }
}

/// The bytes of a value: of anything with a buffer, of text, or of what has `to_bytes`.
pub(crate) fn bytes_of(value: &Bound<'_, PyAny>) -> PyResult<Bytes> {
    if let Ok(bytes) = value.cast::<PyBytes>() {
        return Ok(Bytes::copy_from_slice(bytes.as_bytes()));
    }
    if let Ok(text) = value.cast::<PyString>() {
        return Ok(Bytes::from(text.to_cow()?.into_owned()));
    }
    let py = value.py();
    let view = py.import("builtins")?.getattr("memoryview")?.call1((value,));
    let bytes = match view {
        Ok(view) => view.call_method0("tobytes")?,
        // Numbers have a method of this name, which means something else.
        Err(_) if !value.is_instance_of::<PyInt>() && value.hasattr("to_bytes")? => {
            value.call_method0("to_bytes")?
        }
        Err(_) => {
            let message = format!("a value must have bytes, and a {} has none", value.get_type().name()?);
            return Err(PyTypeError::new_err(message));
        }
    };
    Ok(Bytes::copy_from_slice(bytes.cast::<PyBytes>()?.as_bytes()))
}

/// `mapping[key]`, if it is there.
fn item<'py>(mapping: &Bound<'py, PyAny>, key: &Key) -> PyResult<Option<Bound<'py, PyAny>>> {
    match mapping.get_item(key.as_str()) {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.is_instance_of::<PyKeyError>(mapping.py()) => Ok(None),
        Err(error) => Err(error),
    }
}

impl Store for MappingStore {
    fn location(&self) -> String {
        self.location.clone()
    }

    fn capabilities(&self) -> Capabilities {
        let mut capabilities = Capabilities::default();
        capabilities.writable = true;
        capabilities.listable = true;
        capabilities.set_if_absent = true;
        capabilities.values_above_values = true;
        capabilities
    }

    fn open(&self, key: &Key) -> Result<Option<Box<dyn Value>>, StoreError> {
        Ok(self.get(key)?.map(|bytes| Box::new(bytes) as Box<dyn Value>))
    }

    fn get(&self, key: &Key) -> Result<Option<Bytes>, StoreError> {
        self.with("reading", key.as_str(), |mapping| {
            item(mapping, key)?.map(|value| bytes_of(&value)).transpose()
        })
    }

    fn set(&self, key: &Key, value: &[u8], condition: Condition<'_>) -> Result<(), StoreError> {
        let absent = condition.absent()?;
        let is_there = self.with("writing", key.as_str(), |mapping| {
            if absent && mapping.contains(key.as_str())? {
                return Ok(true);
            }
            mapping.set_item(key.as_str(), PyBytes::new(mapping.py(), value))?;
            Ok(false)
        })?;
        if is_there {
            let message = "there is a value already";
            let error = StoreError::new(StoreErrorKind::AlreadyExists, "writing", message);
            return Err(error.with_location(self.location()).with_key(key.as_str()));
        }
        Ok(())
    }

    fn erase(&self, key: &Key) -> Result<bool, StoreError> {
        self.with("erasing", key.as_str(), |mapping| match mapping.del_item(key.as_str()) {
            Ok(()) => Ok(true),
            Err(error) if error.is_instance_of::<PyKeyError>(mapping.py()) => Ok(false),
            Err(error) => Err(error),
        })
    }

    fn erase_prefix(&self, prefix: &Prefix) -> Result<(), StoreError> {
        self.keys(prefix)?.iter().try_for_each(|key| self.erase(key).map(drop))
    }

    fn list_prefix(
        &self,
        prefix: &Prefix,
        visit: &mut dyn FnMut(Key, u64) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        for key in self.keys(prefix)? {
            // Somebody may have erased it meanwhile.
            let Some(size) = self.size(&key)? else { continue };
            if visit(key, size).is_break() {
                break;
            }
        }
        Ok(())
    }

    fn size(&self, key: &Key) -> Result<Option<u64>, StoreError> {
        self.with("reading", key.as_str(), |mapping| {
            // What is only asked for its size is not fetched, where the mapping can tell.
            if !mapping.contains(key.as_str())? {
                return Ok(None);
            }
            let Some(value) = item(mapping, key)? else { return Ok(None) };
            Ok(Some(match value.cast::<PyBytes>() {
                Ok(bytes) => bytes.as_bytes().len() as u64,
                Err(_) => bytes_of(&value)?.len() as u64,
            }))
        })
    }

    fn list_dir(&self, prefix: &Prefix) -> Result<DirListing, StoreError> {
        if let Some(listing) = self.own_listing(prefix)? {
            return Ok(listing);
        }
        let mut listing = DirListing::default();
        for key in self.keys(prefix)? {
            match key.as_str()[prefix.as_str().len()..].split_once('/') {
                None => listing.keys.push(key),
                Some((name, _)) => listing.prefixes.push(prefix.child(name)?),
            }
        }
        listing.prefixes.sort_unstable();
        listing.prefixes.dedup();
        Ok(listing)
    }

    fn lock(&self, key: &Key) -> Result<LockGuard, StoreError> {
        Ok(LockGuard::in_process(&self.location, key))
    }
}
