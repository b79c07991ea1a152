//! `_native.Store`: keys and bytes.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::exceptions::PyValueError;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use zarrox::stores::{
    self, ByteRange, Bytes, Condition, Key, MemoryStore, Prefix, PrefixStore, ReadOnlyStore, StorageOptions,
    StoreError, StoreErrorKind, StoreExt,
};

use crate::copied::CopiedDocuments;
use crate::error::OrRaise;
use crate::locked::LockedStore;
use crate::mapping::{MappingStore, bytes_of};
use crate::split::SplitStore;

/// A handle to a store.
#[pyclass(frozen, module = "zarrox._native")]
pub(crate) struct Store {
    pub(crate) store: Arc<dyn stores::Store>,
    /// The mapping itself, which can provide more information without reading values.
    mapping: Option<Arc<MappingStore>>,
    pub(crate) owned: Owned,
}

/// The Python mappings of which a store consists. Every Python object that uses the store holds them, and shows them to Python's
/// garbage collector, so that the collector can find unreachable cycles.
#[derive(Debug, Default)]
pub(crate) struct Owned(Vec<Py<PyAny>>);

impl Owned {
    /// References to the same mappings, for another object.
    pub(crate) fn again(&self, py: Python<'_>) -> Self {
        Self(self.0.iter().map(|mapping| mapping.clone_ref(py)).collect())
    }

    pub(crate) fn visit(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.0.iter().try_for_each(|mapping| visit.call(mapping))
    }
}

/// The result of a key lookup.
type Answer = Result<Option<Bytes>, StoreError>;

/// The numbers of compression methods in zip archives, which are also the constants in `zipfile`.
const STORED: u16 = 0;
const DEFLATED: u16 = 8;

impl Store {
    fn new(store: impl stores::Store + 'static) -> Self {
        Self::of(Arc::new(store))
    }

    /// Creates a handle to a shared store.
    pub(crate) fn of(store: Arc<dyn stores::Store>) -> Self {
        Self { store, mapping: None, owned: Owned::default() }
    }

    /// Creates a handle to a store that wraps this one.
    fn around(&self, py: Python<'_>, store: impl stores::Store + 'static) -> Self {
        Self { owned: self.owned.again(py), ..Self::new(store) }
    }
}

fn key(text: &str) -> PyResult<Key> {
    Key::new(text).or_raise()
}

/// Returns the prefix of a path, with or without leading and trailing slashes.
fn prefix_of(path: &str) -> PyResult<Prefix> {
    let path = path.trim_matches('/');
    let text = if path.is_empty() { String::new() } else { format!("{path}/") };
    Prefix::new(text).or_raise()
}

fn bytes<'py>(py: Python<'py>, value: Option<Bytes>) -> Option<Bound<'py, PyBytes>> {
    value.map(|value| PyBytes::new(py, &value))
}

#[pymethods]
impl Store {
    #[staticmethod]
    fn memory() -> Self {
        Self::new(MemoryStore::new())
    }

    #[staticmethod]
    #[pyo3(signature = (path, options = None))]
    fn directory(path: &str, options: Option<BTreeMap<String, String>>) -> PyResult<Self> {
        let options = options.into_iter().flatten();
        let options = options.fold(StorageOptions::new(), |all, (name, value)| all.with(name, value));
        stores::internals::open_directory(path, &options).map(Self::new).or_raise()
    }

    #[staticmethod]
    #[pyo3(signature = (path, mode, compression, sync = false))]
    fn zip(path: &str, mode: &str, compression: u16, sync: bool) -> PyResult<Self> {
        let mode = match mode {
            "r" => stores::ZipMode::Read,
            "r+" => stores::ZipMode::ReadWrite,
            "a" => stores::ZipMode::Append,
            "w" => stores::ZipMode::Create,
            "x" | "w-" => stores::ZipMode::CreateNew,
            other => {
                return Err(PyValueError::new_err(format!(
                    "the mode of an archive must be 'r', 'a', 'w' or 'x', not '{other}'"
                )));
            }
        };
        let store = stores::ZipStore::open(path, mode).or_raise()?.sync(sync);
        match compression {
            STORED => Ok(Self::new(store)),
            DEFLATED => Ok(Self::new(store.deflate(Some(6)))),
            other => Err(PyValueError::new_err(format!(
                "the compression of an archive must be 0 (stored) or 8 (deflated), not {other}"
            ))),
        }
    }

    #[staticmethod]
    #[pyo3(signature = (path, sync = true))]
    fn sqlite(py: Python<'_>, path: &str, sync: bool) -> PyResult<Self> {
        py.detach(|| stores::SqliteOptions::new().sync(sync).create(path)).map(Self::new).or_raise()
    }

    #[staticmethod]
    #[pyo3(signature = (path, sync = true))]
    fn lmdb(path: &str, sync: bool) -> PyResult<Self> {
        stores::LmdbOptions::new().sync(sync).create(path).map(Self::new).or_raise()
    }

    #[staticmethod]
    #[pyo3(signature = (path, sync = true))]
    fn gdbm(py: Python<'_>, path: &str, sync: bool) -> PyResult<Self> {
        py.detach(|| stores::GdbmOptions::new().sync(sync).create(path)).map(Self::new).or_raise()
    }

    #[staticmethod]
    #[pyo3(signature = (path, sync = true))]
    fn redb(path: &str, sync: bool) -> PyResult<Self> {
        stores::RedbOptions::new().sync(sync).create(path).map(Self::new).or_raise()
    }

    #[staticmethod]
    fn berkeley_db(path: &str) -> PyResult<Self> {
        stores::BerkeleyDbStore::open(path).map(Self::new).or_raise()
    }

    #[staticmethod]
    #[pyo3(signature = (mapping, place = None, in_flight = None, wrap = None))]
    fn mapping(
        mapping: &Bound<'_, PyAny>,
        place: Option<&Bound<'_, PyAny>>,
        in_flight: Option<NonZeroUsize>,
        wrap: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let owned = Owned(vec![mapping.clone().unbind()]);
        let mapping = match place.unwrap_or(mapping).cast::<Self>() {
            Ok(store) => MappingStore::over(mapping, store.get().store.clone())?,
            Err(_) => MappingStore::new(mapping, place)?,
        };
        let mapping = Arc::new(mapping.made_with(in_flight, wrap));
        Ok(Self { store: mapping.clone(), mapping: Some(mapping), owned })
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.owned.visit(&visit)
    }

    #[staticmethod]
    #[pyo3(signature = (url, options = None, create = false))]
    fn from_url(
        py: Python<'_>,
        url: &str,
        options: Option<std::collections::BTreeMap<String, String>>,
        create: bool,
    ) -> PyResult<(Self, String)> {
        let set = |all: StorageOptions, (name, value)| all.with(name, value);
        let options = options.unwrap_or_default().into_iter().fold(StorageOptions::new(), set);
        let located =
            py.detach(|| zarrox::internals::locate(Path::new(url), &options.create(create))).or_raise()?;
        Ok((Self::of(located.0), located.1.as_str().to_owned()))
    }

    fn prefixed(&self, py: Python<'_>, prefix: &str) -> PyResult<Self> {
        Ok(self.around(py, PrefixStore::new(self.store.clone(), prefix_of(prefix)?)))
    }

    fn read_only(&self, py: Python<'_>) -> Self {
        self.around(py, ReadOnlyStore::new(self.store.clone()))
    }

    fn cached(&self, py: Python<'_>, bytes: Option<u64>) -> Self {
        self.around(py, stores::LruCacheStore::new(self.store.clone(), bytes.unwrap_or(u64::MAX >> 1)))
    }

    fn with_chunks(&self, py: Python<'_>, chunks: &Self) -> Self {
        let mut both = self.around(py, SplitStore::new(self.store.clone(), chunks.store.clone()));
        both.owned.0.extend(chunks.owned.again(py).0);
        both
    }

    fn copy_of(&self, py: Python<'_>, originals: &Self) -> Self {
        let mut copies = self.around(py, CopiedDocuments::new(self.store.clone(), originals.store.clone()));
        copies.owned.0.extend(originals.owned.again(py).0);
        copies
    }

    fn with_locks(&self, py: Python<'_>, locks: Py<PyAny>) -> Self {
        self.around(py, LockedStore::new(self.store.clone(), locks))
    }

    #[getter]
    fn location(&self) -> String {
        self.store.location()
    }

    #[getter]
    fn writable(&self) -> bool {
        self.store.capabilities().writable
    }

    /// Returns true if every request is a round trip over a network.
    #[getter]
    fn is_far(&self) -> bool {
        self.store.capabilities().in_flight.is_some()
    }

    #[getter]
    fn listable(&self) -> bool {
        self.store.capabilities().listable
    }

    #[pyo3(name = "get")]
    fn get_value<'py>(&self, py: Python<'py>, key: &str) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let key = self::key(key)?;
        Ok(bytes(py, py.detach(|| self.store.get(&key)).or_raise()?))
    }

    fn get_range<'py>(
        &self,
        py: Python<'py>,
        key: &str,
        start: u64,
        length: Option<u64>,
    ) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let key = self::key(key)?;
        let range = [ByteRange::From { offset: start, length }];
        let parts = py.detach(|| self.store.get_ranges(&key, &range)).or_raise()?;
        Ok(bytes(py, parts.and_then(|mut parts| parts.pop())))
    }

    /// Reads ranges from a single version of a value. A range has a start and a length. A range without a start is at the end of
    /// the value, and a range without a length extends to the end. A range that exceeds the value is truncated.
    fn get_ranges<'py>(
        &self,
        py: Python<'py>,
        key: &str,
        ranges: Vec<(Option<u64>, Option<u64>)>,
    ) -> PyResult<Option<Vec<Bound<'py, PyBytes>>>> {
        let key = self::key(key)?;
        let first = ranges.first().map(|&(start, length)| match start {
            Some(offset) => ByteRange::From { offset, length },
            None => ByteRange::Suffix { length: length.unwrap_or(u64::MAX) },
        });
        let parts = py.detach(|| {
            let Some(value) = self.store.open_with(&key, first)? else { return Ok(None) };
            let read = |(start, length): (Option<u64>, Option<u64>)| {
                let size = value.size();
                let length = length.unwrap_or(u64::MAX);
                let start = start.map_or_else(|| size.saturating_sub(length), |start| start.min(size));
                value.read(start, length.min(size - start))
            };
            ranges.into_iter().map(read).collect::<Result<Vec<_>, _>>().map(Some)
        });
        let to_bytes = |parts: Vec<Bytes>| parts.iter().map(|part| PyBytes::new(py, part)).collect();
        Ok(parts.or_raise()?.map(to_bytes))
    }

    fn get_many<'py>(&self, py: Python<'py>, keys: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyDict>> {
        let keys: Vec<String> = keys.try_iter()?.map(|key| key?.extract()).collect::<PyResult<_>>()?;
        let parsed: Vec<Key> = keys.iter().map(|key| self::key(key)).collect::<PyResult<_>>()?;
        let answers: Mutex<Vec<Option<Answer>>> = Mutex::new(keys.iter().map(|_| None).collect());
        py.detach(|| {
            self.store.get_many(&parsed, &|index, answer| {
                answers.lock().unwrap_or_else(PoisonError::into_inner)[index] = Some(answer);
            });
        });
        let found = PyDict::new(py);
        let answers = answers.into_inner().unwrap_or_else(PoisonError::into_inner);
        for (key, answer) in keys.iter().zip(answers) {
            if let Some(value) = answer.transpose().or_raise()?.flatten() {
                found.set_item(key, PyBytes::new(py, &value))?;
            }
        }
        Ok(found)
    }

    #[pyo3(name = "set")]
    fn set_value(&self, py: Python<'_>, key: &str, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let (key, value) = (self::key(key)?, bytes_of(value)?);
        py.detach(|| self.store.set(&key, &value, Condition::Always)).or_raise()
    }

    /// Writes a value unless the key already has one. Returns true if it was written.
    fn set_if_absent(&self, py: Python<'_>, key: &str, value: &Bound<'_, PyAny>) -> PyResult<bool> {
        let (key, value) = (self::key(key)?, bytes_of(value)?);
        let written = py.detach(|| {
            if self.store.capabilities().set_if_absent {
                return self.store.set(&key, &value, Condition::Absent);
            }
            let _lock = self.store.lock(&key)?;
            if self.store.contains(&key)? {
                return Err(StoreError::new(
                    StoreErrorKind::AlreadyExists,
                    "writing",
                    "the key already has a value",
                ));
            }
            self.store.set(&key, &value, Condition::Always)
        });
        match written {
            Err(error) if error.kind() == StoreErrorKind::AlreadyExists => Ok(false),
            written => written.map(|()| true).or_raise(),
        }
    }

    fn delete(&self, py: Python<'_>, key: &str) -> PyResult<bool> {
        let key = self::key(key)?;
        py.detach(|| self.store.erase(&key)).or_raise()
    }

    fn contains(&self, py: Python<'_>, key: &str) -> PyResult<bool> {
        // An invalid key is never in a store.
        let Ok(key) = Key::new(key) else { return Ok(false) };
        py.detach(|| self.store.contains(&key)).or_raise()
    }

    fn size(&self, py: Python<'_>, key: &str) -> PyResult<Option<u64>> {
        let key = self::key(key)?;
        py.detach(|| self.store.size(&key)).or_raise()
    }

    #[pyo3(signature = (prefix = ""))]
    fn keys(&self, py: Python<'_>, prefix: &str) -> PyResult<Vec<String>> {
        if let Some(mapping) = &self.mapping {
            let keys = mapping.keys(&prefix_of(prefix)?).or_raise()?;
            return Ok(keys.iter().map(|key| key.as_str().to_owned()).collect());
        }
        let mut keys = Vec::new();
        self.visit(py, prefix, |key, _| keys.push(key.as_str().to_owned()))?;
        keys.sort_unstable();
        Ok(keys)
    }

    #[pyo3(signature = (prefix = ""))]
    fn sizes(&self, py: Python<'_>, prefix: &str) -> PyResult<u64> {
        let mut sum = 0;
        self.visit(py, prefix, |_, size| sum += size)?;
        Ok(sum)
    }

    /// Returns true if no key is below a prefix.
    #[pyo3(signature = (prefix = ""))]
    fn is_empty(&self, py: Python<'_>, prefix: &str) -> PyResult<bool> {
        let prefix = prefix_of(prefix)?;
        let mut is_empty = true;
        let mut visit = |_, _| {
            is_empty = false;
            ControlFlow::Break(())
        };
        py.detach(|| self.store.list_prefix(&prefix, &mut visit)).or_raise()?;
        Ok(is_empty)
    }

    #[pyo3(signature = (prefix = ""))]
    fn list_dir(&self, py: Python<'_>, prefix: &str) -> PyResult<Vec<String>> {
        let prefix = prefix_of(prefix)?;
        let listing = py.detach(|| self.store.list_dir(&prefix)).or_raise()?;
        let keys = listing.keys.iter().map(Key::name);
        let names: BTreeSet<&str> = keys.chain(listing.prefixes.iter().map(Prefix::name)).collect();
        Ok(names.into_iter().map(str::to_owned).collect())
    }

    fn delete_prefix(&self, py: Python<'_>, prefix: &str) -> PyResult<()> {
        let prefix = prefix_of(prefix)?;
        py.detach(|| self.store.erase_prefix(&prefix)).or_raise()
    }

    fn rename(&self, py: Python<'_>, from_: &str, to: &str) -> PyResult<()> {
        let (from, to) = (from_.trim_matches('/'), to.trim_matches('/'));
        py.detach(|| {
            if let (Ok(from), Ok(to)) = (Key::new(from), Key::new(to))
                && let Some(value) = self.store.get(&from)?
            {
                self.store.set(&to, &value, Condition::Always)?;
                self.store.erase(&from)?;
                return Ok(());
            }
            let prefix =
                |path: &str| Prefix::new(if path.is_empty() { String::new() } else { format!("{path}/") });
            self.store.rename_prefix(&prefix(from)?, &prefix(to)?)
        })
        .or_raise()
    }

    fn flush(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.store.flush()).or_raise()
    }

    fn __repr__(&self) -> String {
        format!("<zarrox._native.Store {}>", self.store.location())
    }
}

impl Store {
    fn visit(&self, py: Python<'_>, path: &str, mut work: impl FnMut(Key, u64) + Send) -> PyResult<()> {
        let prefix = prefix_of(path)?;
        let mut visit = |key: Key, size: u64| {
            work(key, size);
            ControlFlow::Continue(())
        };
        py.detach(|| self.store.list_prefix(&prefix, &mut visit)).or_raise()
    }
}
