//! Stores that are Python mappings.

use std::collections::{HashMap, HashSet};
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};

use numpy::{PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyKeyError, PyReferenceError, PyTypeError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyDict, PyInt, PyString, PyType, PyWeakrefMethods, PyWeakrefReference};
use zarrox::stores::{
    ByteRange, Bytes, Capabilities, Condition, DirListing, Hold, HoldGuard, Key, LockGuard, Payload, Prefix,
    Stamp, Store, StoreError, StoreErrorKind, StoreExt, Value, Version, provided,
};

/// A Python mapping from keys to objects that contain bytes. Any thread can call its methods, and acquires the GIL to do so.
#[derive(Debug)]
pub(crate) struct MappingStore {
    mapping: Reference,
    /// The location, which is the same for all handles of a mapping.
    location: String,
    /// The native store that holds the values and whose locks are used, if there is one.
    place: Option<Arc<dyn Store>>,
    /// The detection of replaced documents.
    watch: Watch,
    /// True if the values are in memory: the cost of reading them is then dominated by the GIL.
    is_at_hand: bool,
    /// The number of concurrent requests that is useful for a remote store.
    in_flight: Option<NonZeroUsize>,
    /// A function that converts the bytes of a value to the object that is put into the mapping, unless bytes are put into it.
    wrap: Option<Py<PyAny>>,
    /// True if the mapping has the methods `get_range` and `size`.
    has_ranges: bool,
}

/// The detection of replaced documents.
#[derive(Debug)]
enum Watch {
    /// Values are in memory, and documents are small: their bytes serve as their version.
    Bytes,
    /// The mapping is a cache of a native store, whose stamps are compared. The last stamp of each document
    /// is kept.
    Stamps(Mutex<HashMap<Key, Stamp>>),
    /// Replaced documents are not detected, since checking would take a request, or since the mapping has its own way of reading
    /// values.
    Nothing,
}

/// A reference to a mapping. The Python objects that need the mapping hold it themselves: a mapping may refer to arrays that are
/// stored in it, and Python's garbage collector finds such a cycle only if it sees all references in the cycle.
#[derive(Debug)]
enum Reference {
    Weak(Py<PyWeakrefReference>),
    /// A strong reference to an object that does not support weak references, such as a dictionary.
    Strong(Py<PyAny>),
}

impl Reference {
    fn to(mapping: &Bound<'_, PyAny>) -> Self {
        PyWeakrefReference::new(mapping)
            .map_or_else(|_| Self::Strong(mapping.clone().unbind()), |weak| Self::Weak(weak.unbind()))
    }

    fn get<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match self {
            Self::Strong(mapping) => Ok(mapping.bind(py).clone()),
            Self::Weak(mapping) => mapping.bind(py).upgrade().ok_or_else(|| {
                PyReferenceError::new_err("the mapping with the values does not exist any more")
            }),
        }
    }
}

impl MappingStore {
    /// Creates a mapping whose values are in a native store. All mappings over the same store share its locks.
    pub(crate) fn over(mapping: &Bound<'_, PyAny>, store: Arc<dyn Store>) -> PyResult<Self> {
        Ok(Self {
            mapping: Reference::to(mapping),
            location: store.location(),
            is_at_hand: store.capabilities().one_at_a_time,
            watch: if mapping.hasattr("invalidate")? {
                Watch::Stamps(Mutex::default())
            } else {
                Watch::Nothing
            },
            place: Some(store),
            in_flight: None,
            wrap: None,
            has_ranges: false,
        })
    }

    /// Creates a mapping that holds its values itself, or in a place that is given by an object or by a string. All mappings with
    /// the same place share their locks.
    pub(crate) fn new(mapping: &Bound<'_, PyAny>, place: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let reference = Reference::to(mapping);
        let place = place.unwrap_or(mapping);
        let location = match place.cast::<PyString>() {
            Ok(text) => text.to_cow()?.into_owned(),
            Err(_) => format!("{}://{:p}", place.get_type().name()?, place.as_ptr()),
        };
        let is_at_hand = place.is_instance_of::<PyDict>();
        let in_memory =
            mapping.getattr_opt("is_in_memory")?.map_or(Ok(false), |answer| answer.is_truthy())?;
        let is_cheap = in_memory || mapping.is_exact_instance_of::<PyDict>();
        let has_ranges = mapping.getattr_opt("get_range")?.is_some();
        Ok(Self {
            mapping: reference,
            location,
            place: None,
            watch: if is_cheap { Watch::Bytes } else { Watch::Nothing },
            is_at_hand,
            in_flight: None,
            wrap: None,
            has_ranges,
        })
    }

    /// Sets the useful number of concurrent requests, and the function that converts bytes to objects.
    pub(crate) fn made_with(self, in_flight: Option<NonZeroUsize>, wrap: Option<Py<PyAny>>) -> Self {
        Self { in_flight, wrap, ..self }
    }

    fn with<T>(
        &self,
        operation: &'static str,
        key: &str,
        work: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>,
    ) -> Result<T, StoreError> {
        Python::attach(|py| {
            self.mapping.get(py).and_then(|mapping| work(&mapping)).map_err(|error| {
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

    /// Clears a mapping that is a cache if a document may have been replaced, since the whole node may then have been replaced.
    fn notice(
        &self,
        stamps: &Mutex<HashMap<Key, Stamp>>,
        key: &Key,
        stamp: &Stamp,
    ) -> Result<(), StoreError> {
        let mut stamps = stamps.lock().unwrap_or_else(PoisonError::into_inner);
        let is_known = match (stamps.get(key), stamp) {
            (_, Stamp::Unknown) | (None, Stamp::Missing) => true,
            (last, stamp) => last == Some(stamp),
        };
        if is_known {
            return Ok(());
        }
        stamps.insert(key.clone(), stamp.clone());
        drop(stamps);
        self.with("reading", key.as_str(), |mapping| mapping.call_method0("invalidate").map(drop))
    }

    /// Returns the names of keys and prefixes that are listed by the mapping's method `listdir`; `None` if the mapping has no
    /// such method.
    fn own_listing(&self, prefix: &Prefix) -> Result<Option<DirListing>, StoreError> {
        self.with("listing", prefix.as_str(), |mapping| {
            let Some(listdir) = mapping.getattr_opt("listdir")? else { return Ok(None) };
            let path = prefix.as_str().trim_end_matches('/');
            let mut listing = DirListing::default();
            for name in listdir.call1((path,))?.try_iter()? {
                let name: String = name?.extract()?;
                // A name that is not part of a valid key belongs to another program.
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

    /// Returns the keys below a prefix, sorted.
    pub(crate) fn keys(&self, prefix: &Prefix) -> Result<Vec<Key>, StoreError> {
        let mut keys = Vec::new();
        // A name that is not a valid key belongs to another program.
        self.each_key(prefix, &mut |key| keys.extend(Key::new(key).ok()))?;
        keys.sort_unstable();
        Ok(keys)
    }

    /// Visits all keys that begin with a prefix, including invalid ones.
    fn each_key(&self, prefix: &Prefix, visit: &mut dyn FnMut(&str)) -> Result<(), StoreError> {
        self.with("listing", prefix.as_str(), |mapping| {
            let mut visit = |key: Bound<'_, PyAny>| {
                let key = key.cast::<PyString>()?.to_cow()?;
                if key.starts_with(prefix.as_str()) {
                    visit(&key);
                }
                Ok::<_, PyErr>(())
            };
            // Other threads may write in the meantime.
            match mapping.cast_exact::<PyDict>() {
                Ok(dictionary) => dictionary.keys().iter().try_for_each(visit),
                Err(_) => mapping.try_iter()?.try_for_each(|key| visit(key?)),
            }
        })
    }
}

/// The bytes of a NumPy array, which this value keeps alive.
struct Shared {
    pointer: *const u8,
    length: usize,
    _array: Py<PyUntypedArray>,
}

// SAFETY: the pointer is only an address. The array is dropped while the GIL is held, or later by the next thread that acquires
// the GIL.
unsafe impl Send for Shared {}
// SAFETY: as above.
unsafe impl Sync for Shared {}

impl AsRef<[u8]> for Shared {
    fn as_ref(&self) -> &[u8] {
        // SAFETY: the address and the length of the contiguous bytes come from NumPy, and the array is held. Stores replace
        // values as a whole; if a Python caller changes a value in place, the effect is the same as in NumPy's own functions that
        // release the GIL.
        unsafe { std::slice::from_raw_parts(self.pointer, self.length) }
    }
}

/// Returns the bytes of a buffer of zarr-python 3 without a copy; `None` for other objects.
fn shared(value: &Bound<'_, PyAny>) -> PyResult<Option<Bytes>> {
    let Some(method) = value.getattr_opt("as_numpy_array")? else { return Ok(None) };
    let Ok(array) = method.call0()?.cast_into::<PyUntypedArray>() else { return Ok(None) };
    let fits = array.ndim() == 1 && array.is_contiguous() && array.dtype().itemsize() == 1;
    if !fits || array.is_empty() {
        return Ok(None);
    }
    // SAFETY: the object is an array, whose fields may be read.
    let pointer = unsafe { (*array.as_array_ptr()).fields.data.cast::<u8>() };
    let length = array.len();
    Ok(Some(Bytes::from_owner(Shared { pointer, length, _array: array.unbind() })))
}

/// Returns the bytes of a value: an object that supports the buffer protocol, a string, or an object with a method `to_bytes`.
pub(crate) fn bytes_of(value: &Bound<'_, PyAny>) -> PyResult<Bytes> {
    if let Ok(bytes) = value.cast::<PyBytes>() {
        return Ok(Bytes::copy_from_slice(bytes.as_bytes()));
    }
    if let Ok(text) = value.cast::<PyString>() {
        return Ok(Bytes::from(text.to_cow()?.into_owned()));
    }
    let py = value.py();
    if let Some(bytes) = shared(value)? {
        return Ok(bytes);
    }
    let view = py.import("builtins")?.getattr("memoryview")?.call1((value,));
    let bytes = match view {
        Ok(view) => view.call_method0("tobytes")?,
        // Integers also have a method `to_bytes`, which has a different meaning.
        Err(_) if !value.is_instance_of::<PyInt>() && value.hasattr("to_bytes")? => {
            value.call_method0("to_bytes")?
        }
        Err(_) => {
            let message = format!(
                "a value must be an object with the buffer protocol, not a {}",
                value.get_type().name()?
            );
            return Err(PyTypeError::new_err(message));
        }
    };
    Ok(Bytes::copy_from_slice(bytes.cast::<PyBytes>()?.as_bytes()))
}

/// Returns `mapping[key]`; `None` if the key is missing. For a dictionary, no exception is raised internally.
fn item<'py>(mapping: &Bound<'py, PyAny>, key: &Key) -> PyResult<Option<Bound<'py, PyAny>>> {
    if let Ok(dictionary) = mapping.cast_exact::<PyDict>() {
        return dictionary.get_item(key.as_str());
    }
    match mapping.get_item(key.as_str()) {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.is_instance_of::<PyKeyError>(mapping.py()) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Converts bytes to the object that is put into a mapping. A dictionary gets an object that can also be used as a buffer of
/// zarr-python 3.
fn to_put<'py>(mapping: &Bound<'py, PyAny>, value: &[u8]) -> PyResult<Bound<'py, PyAny>> {
    static STORED: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let bytes = PyBytes::new(mapping.py(), value);
    if !mapping.is_exact_instance_of::<PyDict>() {
        return Ok(bytes.into_any());
    }
    STORED.import(mapping.py(), "zarrox.storage.base", "StoredBytes")?.call1((bytes,))
}

/// The maximum length of a first range in bytes. If the range is longer, the whole value is read.
const LARGEST_RANGE: u64 = 64 << 20;

/// The assumed size of a value if only its end was requested: larger than any real size.
const UNKNOWN_SIZE: u64 = 1 << 62;

/// A value in a mapping that can read ranges.
struct RangedValue {
    mapping: Py<PyAny>,
    key: Key,
    size: u64,
    /// The offset of the first range, and its bytes.
    first: (u64, Bytes),
}

/// Opens a value by reading its first range. Returns `Some(None)` if the value is missing, and `None` if the whole value should
/// be read.
fn ranged(mapping: &Bound<'_, PyAny>, key: &Key, first: ByteRange) -> PyResult<Option<Option<RangedValue>>> {
    let (start, length, size) = match first {
        ByteRange::Suffix { length } => (None, length, UNKNOWN_SIZE),
        ByteRange::From { offset, length: Some(length) } if length < LARGEST_RANGE => {
            let size: Option<u64> = mapping.call_method1("size", (key.as_str(),))?.extract()?;
            let Some(size) = size else { return Ok(Some(None)) };
            // The first range may lie outside the value.
            if offset.saturating_add(length) >= size {
                return Ok(None);
            }
            (Some(offset), length, size)
        }
        ByteRange::From { .. } => return Ok(None),
    };
    let Some(bytes) = range(mapping, key, start, length, true)? else { return Ok(Some(None)) };
    let offset = start.unwrap_or(size - bytes.len() as u64);
    let mapping = mapping.clone().unbind();
    Ok(Some(Some(RangedValue { mapping, key: key.clone(), size, first: (offset, bytes) })))
}

/// Returns a range of a value; `None` if the value is missing. A range without a start is at the end of the value.
fn range(
    mapping: &Bound<'_, PyAny>,
    key: &Key,
    start: Option<u64>,
    length: u64,
    is_first: bool,
) -> PyResult<Option<Bytes>> {
    let bytes = mapping.call_method1("get_range", (key.as_str(), start, length, is_first))?;
    if bytes.is_none() { Ok(None) } else { bytes_of(&bytes).map(Some) }
}

impl Value for RangedValue {
    fn size(&self) -> u64 {
        self.size
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), StoreError> {
        buffer.copy_from_slice(&self.read(offset, buffer.len() as u64)?);
        Ok(())
    }

    fn read(&self, offset: u64, length: u64) -> Result<Bytes, StoreError> {
        let (start, bytes) = &self.first;
        let place = offset.checked_sub(*start).and_then(|from| usize::try_from(from).ok());
        if let (Some(from), Ok(count)) = (place, usize::try_from(length))
            && from.checked_add(count).is_some_and(|end| end <= bytes.len())
        {
            return Ok(bytes.slice(from..from + count));
        }
        let error = |kind, text: String| StoreError::new(kind, "reading", text).with_key(self.key.as_str());
        let read = Python::attach(|py| range(self.mapping.bind(py), &self.key, Some(offset), length, false));
        let read =
            read.map_err(|raised| error(StoreErrorKind::Other, raised.to_string()).with_source(raised))?;
        match read {
            None => Err(error(StoreErrorKind::Conflict, "the value is not there any more".to_owned())),
            Some(bytes) if bytes.len() as u64 == length => Ok(bytes),
            Some(_) => {
                Err(error(StoreErrorKind::OutOfRange, "the value is shorter than it should be".to_owned()))
            }
        }
    }
}

impl Store for MappingStore {
    provided!(directory get_ranges get_many rename_prefix flush exchange);

    fn location(&self) -> String {
        self.location.clone()
    }

    fn capabilities(&self) -> Capabilities {
        let mut capabilities = Capabilities::default();
        capabilities.writable = true;
        capabilities.listable = true;
        capabilities.set_if_absent = true;
        capabilities.values_above_values = true;
        capabilities.one_at_a_time = self.is_at_hand;
        capabilities.in_flight = self.in_flight;
        capabilities
    }

    fn open_with(&self, key: &Key, first: Option<ByteRange>) -> Result<Option<Box<dyn Value>>, StoreError> {
        if self.has_ranges
            && let Some(first) = first
            && let Some(opened) = self.with("reading", key.as_str(), |mapping| ranged(mapping, key, first))?
        {
            return Ok(opened.map(|value| Box::new(value) as Box<dyn Value>));
        }
        Ok(self.get(key)?.map(|bytes| Box::new(bytes) as Box<dyn Value>))
    }

    fn get(&self, key: &Key) -> Result<Option<Bytes>, StoreError> {
        self.with("reading", key.as_str(), |mapping| {
            item(mapping, key)?.map(|value| bytes_of(&value)).transpose()
        })
    }

    fn put(&self, key: &Key, payload: Payload<'_>, condition: Condition<'_>) -> Result<(), StoreError> {
        let value = &*payload.bytes(key)?;
        let absent = condition.absent()?;
        let is_there = self.with("writing", key.as_str(), |mapping| {
            let value = match &self.wrap {
                Some(wrap) => wrap.bind(mapping.py()).call1((PyBytes::new(mapping.py(), value),))?,
                None => to_put(mapping, value)?,
            };
            if absent && mapping.contains(key.as_str())? {
                return Ok(true);
            }
            mapping.set_item(key.as_str(), value)?;
            Ok(false)
        })?;
        if is_there {
            let message = "the key already has a value";
            let error = StoreError::new(StoreErrorKind::AlreadyExists, "writing", message);
            return Err(error.with_location(self.location()).with_key(key.as_str()));
        }
        Ok(())
    }

    fn erase_if(&self, key: &Key, condition: Condition<'_>) -> Result<bool, StoreError> {
        condition.unconditional()?;
        self.with("erasing", key.as_str(), |mapping| match mapping.del_item(key.as_str()) {
            Ok(()) => Ok(true),
            Err(error) if error.is_instance_of::<PyKeyError>(mapping.py()) => Ok(false),
            Err(error) => Err(error),
        })
    }

    fn erase_prefix(&self, prefix: &Prefix) -> Result<(), StoreError> {
        self.keys(prefix)?.iter().try_for_each(|key| StoreExt::erase(self, key).map(drop))
    }

    fn list_prefix(
        &self,
        prefix: &Prefix,
        visit: &mut dyn FnMut(Key, u64) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        for key in self.keys(prefix)? {
            // Another writer may have erased the value in the meantime.
            let Some(size) = self.size(&key)? else { continue };
            if visit(key, size).is_break() {
                break;
            }
        }
        Ok(())
    }

    fn size(&self, key: &Key) -> Result<Option<u64>, StoreError> {
        self.with("reading", key.as_str(), |mapping| {
            // If the mapping can report sizes, a value is not fetched to determine its size. For a dictionary, nothing has to be
            // fetched.
            if !mapping.is_exact_instance_of::<PyDict>() && !mapping.contains(key.as_str())? {
                return Ok(None);
            }
            let Some(value) = item(mapping, key)? else { return Ok(None) };
            Ok(Some(match value.cast::<PyBytes>() {
                Ok(bytes) => bytes.as_bytes().len() as u64,
                Err(_) => bytes_of(&value)?.len() as u64,
            }))
        })
    }

    fn contains(&self, key: &Key) -> Result<bool, StoreError> {
        self.with("reading", key.as_str(), |mapping| mapping.contains(key.as_str()))
    }

    fn list_dir(&self, prefix: &Prefix) -> Result<DirListing, StoreError> {
        if let Some(listing) = self.own_listing(prefix)? {
            return Ok(listing);
        }
        let mut listing = DirListing::default();
        let mut names = HashSet::new();
        self.each_key(prefix, &mut |key| {
            let name = &key[prefix.as_str().len()..];
            match name.split_once('/') {
                None => listing.keys.extend(Key::new(key).ok()),
                // A name that is not a valid key belongs to another program; valid keys may follow below the same prefix.
                Some((first, _)) if !names.contains(first) && Key::new(key).is_ok() => {
                    names.insert(first.to_owned());
                }
                Some(_) => {}
            }
        })?;
        listing.prefixes = names.iter().map(|name| prefix.child(name)).collect::<Result<_, _>>()?;
        listing.keys.sort_unstable();
        listing.prefixes.sort_unstable();
        Ok(listing)
    }

    fn stamp(&self, key: &Key) -> Result<Stamp, StoreError> {
        match (&self.watch, &self.place) {
            (Watch::Bytes, _) => {
                let document = self.get(key)?;
                Ok(document.map_or(Stamp::Missing, |bytes| Stamp::Settled(Version::from(&*bytes))))
            }
            (Watch::Stamps(stamps), Some(place)) => {
                let stamp = place.stamp(key)?;
                self.notice(stamps, key, &stamp)?;
                Ok(stamp)
            }
            _ => Ok(Stamp::Unknown),
        }
    }

    fn hold(&self, prefix: &Prefix, how: Hold) -> Result<HoldGuard, StoreError> {
        match &self.place {
            Some(place) => place.hold(prefix, how),
            None => Ok(HoldGuard::in_process(&self.location, prefix, how)),
        }
    }

    fn lock(&self, key: &Key) -> Result<LockGuard, StoreError> {
        match &self.place {
            Some(place) => place.lock(key),
            None => Ok(LockGuard::in_process(&self.location, key)),
        }
    }
}
