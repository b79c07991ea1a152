//! The [`Store`] trait and what its methods speak in.

use std::fmt::Debug;
use std::io;
use std::num::NonZeroUsize;
use std::ops::{ControlFlow, Range};
use std::path::Path;

use bytes::Bytes;

use crate::{Key, LockGuard, Prefix, StoreError, StoreErrorKind};

/// A map from keys to values, kept somewhere: the [abstract store interface] of Zarr v3.
///
/// | method | in the specification |
/// |---|---|
/// | [`get`](Self::get), [`get_ranges`](Self::get_ranges), [`open`](Self::open) | `get`, `get_partial_values` |
/// | [`set`](Self::set) | `set` |
/// | [`erase`](Self::erase), [`erase_prefix`](Self::erase_prefix) | `erase`, `erase_prefix` |
/// | [`list_prefix`](Self::list_prefix) | `list`, `list_prefix` |
/// | [`list_dir`](Self::list_dir) | `list_dir` |
///
/// A missing key is `None` and no error. Everything else that keeps a value from being read is an error:
/// forbidden and unreachable are not missing.
///
/// Stores are shared between threads, and every method may be called from many at once.
///
/// [abstract store interface]: https://zarr-specs.readthedocs.io/en/latest/v3/core/index.html#abstract-store-interface
pub trait Store: Debug + Send + Sync {
    /// What errors call this store: a path or a URL, never with secrets in it.
    fn location(&self) -> String;

    /// What this store can do.
    fn capabilities(&self) -> Capabilities;

    /// Opens the value for reading; `None` when the key is missing.
    ///
    /// All reads through one [`Value`] see one version of it, even when a writer replaces or erases it
    /// meanwhile; or they fail with [`StoreErrorKind::Conflict`], where the storage is elsewhere and keeps no old versions.
    ///
    /// # Errors
    ///
    /// When the value is there but cannot be read.
    fn open(&self, key: &Key) -> Result<Option<Box<dyn Value>>, StoreError>;

    /// Opens the value for reading, of which this range is needed first.
    ///
    /// A remote store brings the range along, so that reading it costs nothing more. A range that
    /// does not lie inside the value is no error here.
    ///
    /// # Errors
    ///
    /// As for [`open`](Self::open).
    fn open_with(&self, key: &Key, first: ByteRange) -> Result<Option<Box<dyn Value>>, StoreError> {
        let _ = first;
        self.open(key)
    }

    /// The whole value; `None` when the key is missing.
    ///
    /// # Errors
    ///
    /// When the value is there but cannot be read.
    fn get(&self, key: &Key) -> Result<Option<Bytes>, StoreError> {
        let Some(value) = self.open(key)? else { return Ok(None) };
        value.read(0, value.size()).map(Some)
    }

    /// Parts of one version of the value, in the order of the ranges; `None` when the key is missing.
    ///
    /// Takes no more memory than the value has bytes, whatever the ranges ask for.
    ///
    /// # Errors
    ///
    /// [`StoreErrorKind::OutOfRange`] when a range lies outside the value; otherwise as [`get`](Self::get).
    fn get_ranges(&self, key: &Key, ranges: &[ByteRange]) -> Result<Option<Vec<Bytes>>, StoreError> {
        let Some(value) = self.open(key)? else { return Ok(None) };
        ranges_of(self, key, &*value, ranges).map(Some)
    }

    /// The whole values of several keys. `done` is told each, by the key's place in the list, when it is there: in any order,
    /// and from any thread. It should hand longer work to others.
    ///
    /// An error of one key keeps no other from being read.
    fn get_many(&self, keys: &[Key], done: &GetDone<'_>) {
        keys.iter().enumerate().for_each(|(index, key)| done(index, self.get(key)));
    }

    /// The length of the value in bytes; `None` when the key is missing.
    ///
    /// # Errors
    ///
    /// When that cannot be found out.
    fn size(&self, key: &Key) -> Result<Option<u64>, StoreError> {
        Ok(self.open(key)?.map(|value| value.size()))
    }

    /// True when there is a value of this key.
    ///
    /// # Errors
    ///
    /// When that cannot be found out.
    fn contains(&self, key: &Key) -> Result<bool, StoreError> {
        Ok(self.size(key)?.is_some())
    }

    /// Writes a value, replacing the one that is there.
    ///
    /// A reader sees the old value or the new one, never a part. On failure the old value is untouched.
    ///
    /// # Errors
    ///
    /// [`StoreErrorKind::AlreadyExists`] when the condition is [`Condition::Absent`] and the key has a
    /// value, [`StoreErrorKind::Conflict`] when it is [`Condition::Matches`] and the value is another one or gone,
    /// [`StoreErrorKind::Unsupported`] when the store cannot check the condition; otherwise when the value cannot be
    /// written.
    fn set(&self, key: &Key, value: &[u8], condition: Condition<'_>) -> Result<(), StoreError>;

    /// Writes a value of this length that comes in parts, replacing the one that is there; otherwise as [`set`](Self::set).
    ///
    /// A store may ask for the parts more than once, each time from the first.
    ///
    /// # Errors
    ///
    /// As for [`set`](Self::set).
    fn set_parts(
        &self,
        key: &Key,
        length: usize,
        parts: &PartSource<'_>,
        condition: Condition<'_>,
    ) -> Result<(), StoreError> {
        let mut value = reserved(length)?;
        let mut take = |part: &[u8]| {
            value.extend_from_slice(part);
            Ok(())
        };
        parts(&mut take).map_err(|error| StoreError::from_io("writing", error).with_key(key.as_str()))?;
        self.set(key, &value, condition)
    }

    /// Erases a value. Tells whether it was there.
    ///
    /// # Errors
    ///
    /// When the value is there but cannot be erased.
    fn erase(&self, key: &Key) -> Result<bool, StoreError>;

    /// Erases every key below the prefix. Nothing there is no error.
    ///
    /// # Errors
    ///
    /// When something cannot be erased; some keys may be gone by then.
    fn erase_prefix(&self, prefix: &Prefix) -> Result<(), StoreError>;

    /// Visits every key below the prefix, at any depth, with the size of its value in bytes, until the
    /// visitor breaks off.
    ///
    /// In no particular order, and with memory that does not grow with the number of keys. The visitor may
    /// use the store. Keys that are written or erased during the visit may or may not be seen.
    ///
    /// # Errors
    ///
    /// When something cannot be listed: what is listed without an error is complete.
    fn list_prefix(
        &self,
        prefix: &Prefix,
        visit: &mut dyn FnMut(Key, u64) -> ControlFlow<()>,
    ) -> Result<(), StoreError>;

    /// The keys and the prefixes directly below a prefix.
    ///
    /// A store that has directories may list a prefix that no key lies below.
    ///
    /// # Errors
    ///
    /// When the prefix cannot be listed. A missing one has an empty listing.
    fn list_dir(&self, prefix: &Prefix) -> Result<DirListing, StoreError>;

    /// Moves every key below `from` to the same name below `to`.
    ///
    /// One step where [`Capabilities::rename`] says so; otherwise each value is copied and then all are
    /// erased, so that an interruption leaves both prefixes but loses nothing. Where copying fails, the copies are erased.
    ///
    /// # Errors
    ///
    /// [`StoreErrorKind::NotFound`] when nothing is below `from`, [`StoreErrorKind::AlreadyExists`] when
    /// something is below `to`, [`StoreErrorKind::InvalidKey`] when one prefix contains the other.
    fn rename_prefix(&self, from: &Prefix, to: &Prefix) -> Result<(), StoreError> {
        copy_then_erase(self, from, to)
    }

    /// The directory whose files are the values, each called by its key; `None` where values are kept in another way.
    fn directory(&self) -> Option<&Path> {
        None
    }

    /// Makes all that was written complete, so that other programs see it.
    ///
    /// Most stores are complete after every write, and have nothing to do. An archive is finished here; it is as well
    /// when its last handle is dropped, but an error is only logged then.
    ///
    /// # Errors
    ///
    /// When what was written cannot be made complete.
    fn flush(&self) -> Result<(), StoreError> {
        Ok(())
    }

    /// Excludes every other holder of the lock of `key` in this process, whichever handle of the same
    /// storage it came through, until the guard is dropped.
    ///
    /// Held while a stored object is read, merged and written back. It does not keep anybody from calling
    /// [`set`](Self::set). A thread that asks for a lock that it holds waits for ever, and so may threads
    /// that hold one lock and ask for another: hold one at a time.
    ///
    /// # Errors
    ///
    /// When the store cannot lock.
    fn lock(&self, key: &Key) -> Result<LockGuard, StoreError>;
}

/// What is told of each key by [`Store::get_many`].
pub type GetDone<'a> = dyn Fn(usize, Result<Option<Bytes>, StoreError>) + Send + Sync + 'a;

/// Hands the parts of a value, one after the other, to a function that writes them, until that fails.
pub type PartSource<'a> = dyn Fn(&mut dyn FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> + 'a;

/// What tells one version of a value from all others: values of one key with equal versions have equal bytes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Version(Box<[u8]>);

impl Version {
    /// What it is made of: whatever the store has, such as an ETag.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl<T: Into<Box<[u8]>>> From<T> for Version {
    fn from(bytes: T) -> Self {
        Self(bytes.into())
    }
}

/// One version of a stored value, open for reading.
pub trait Value: Send + Sync {
    /// The length in bytes.
    fn size(&self) -> u64;

    /// Fills the buffer with the bytes from `offset` on.
    ///
    /// # Errors
    ///
    /// [`StoreErrorKind::OutOfRange`] when the range lies outside the value, [`StoreErrorKind::Conflict`] when this version is
    /// not there any more; otherwise when it cannot be read. The content of the buffer is unspecified then.
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), StoreError>;

    /// The whole value, when it is in memory already.
    fn as_bytes(&self) -> Option<&Bytes> {
        None
    }

    /// Whether reading it takes no more than a copy: all of it is in memory, if perhaps not in one piece.
    fn is_in_memory(&self) -> bool {
        self.as_bytes().is_some()
    }

    /// Which version this is, where that can be told for sure: bytes that were read of it may then be kept for later.
    fn version(&self) -> Option<Version> {
        None
    }

    /// The `length` bytes from `offset` on. Without a copy when the value is in memory already.
    ///
    /// # Errors
    ///
    /// As [`read_at`](Self::read_at); the range is checked before memory is taken.
    fn read(&self, offset: u64, length: u64) -> Result<Bytes, StoreError> {
        let length = checked_length(self.size(), offset, length)?;
        if let (Some(bytes), Ok(start)) = (self.as_bytes(), usize::try_from(offset)) {
            return Ok(bytes.slice(start..start + length));
        }
        let mut buffer = reserved(length)?;
        buffer.resize(length, 0);
        self.read_at(offset, &mut buffer)?;
        Ok(buffer.into())
    }
}

/// What a store can do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Capabilities {
    /// Values can be written and erased.
    pub writable: bool,
    /// Keys can be listed.
    pub listable: bool,
    /// [`Store::set`] takes [`Condition::Absent`], and nobody can write between the check and the write.
    pub set_if_absent: bool,
    /// [`Store::rename_prefix`] is one cheap step.
    pub rename: bool,
    /// `a` and `a/b` can both have a value.
    pub values_above_values: bool,
    /// [`Store::set`] takes [`Condition::Matches`], with the same promise, and values say their [`version`](Value::version).
    pub set_if_unchanged: bool,
    /// Keys with control characters, such as line breaks, are refused with [`StoreErrorKind::InvalidKey`].
    pub printable_keys: bool,
    /// Whether a reader may see a value with the length of one version and bytes of another while it is replaced: so some servers
    /// answer. What is read then fails where the bytes are checked, by a codec for example.
    pub torn_reads: bool,
    /// How many requests are worth having under way at the same time, where each takes time to travel. `None` for
    /// storage that is at hand.
    pub in_flight: Option<NonZeroUsize>,
    /// Values are at hand, but only one thread at a time gets at them: threads that do little else only wait for each other.
    pub one_at_a_time: bool,
    /// How many bytes a value may have, where the storage has a limit of its own; a larger one is refused with
    /// [`StoreErrorKind::TooLarge`].
    pub largest_value: Option<u64>,
}

/// What must be true of a key for a value to be written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Condition<'v> {
    /// Nothing: a value that is there is replaced.
    #[default]
    Always,
    /// The key has no value yet.
    Absent,
    /// The value is still this version, which was [read](Value::version).
    Matches(&'v Version),
}

impl Condition<'_> {
    /// Whether there must be no value yet. For stores that cannot compare versions.
    ///
    /// # Errors
    ///
    /// [`StoreErrorKind::Unsupported`] for [`Condition::Matches`].
    pub fn absent(self) -> Result<bool, StoreError> {
        match self {
            Self::Always => Ok(false),
            Self::Absent => Ok(true),
            Self::Matches(_) => {
                let message = "the store cannot tell whether a value is still the same";
                Err(StoreError::new(StoreErrorKind::Unsupported, "writing", message))
            }
        }
    }
}

/// A part of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ByteRange {
    /// From an offset on.
    From {
        /// The first byte, counted from the start of the value.
        offset: u64,
        /// How many bytes; up to the end of the value when `None`.
        length: Option<u64>,
    },
    /// The last bytes.
    Suffix {
        /// How many bytes.
        length: u64,
    },
}

impl ByteRange {
    /// The bytes that this means in a value of `size` bytes; `None` when some lie outside.
    #[must_use]
    pub fn resolve(self, size: u64) -> Option<Range<u64>> {
        let range = match self {
            Self::From { offset, length: None } => offset..size,
            Self::From { offset, length: Some(length) } => offset..offset.checked_add(length)?,
            Self::Suffix { length } => size.checked_sub(length)?..size,
        };
        (range.start <= range.end && range.end <= size).then_some(range)
    }
}

/// All of a value.
#[cfg(any(feature = "async", feature = "cache", feature = "references"))]
pub(crate) const WHOLE: ByteRange = ByteRange::From { offset: 0, length: None };

/// What lies directly below a prefix, each list sorted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DirListing {
    /// The keys.
    pub keys: Vec<Key>,
    /// The prefixes that further keys lie below.
    pub prefixes: Vec<Prefix>,
}

impl DirListing {
    pub(crate) fn sorted(mut self) -> Self {
        self.keys.sort_unstable();
        self.prefixes.sort_unstable();
        self
    }
}

/// Checks that a range lies inside a value and fits into memory.
pub(crate) fn checked_length(size: u64, offset: u64, length: u64) -> Result<usize, StoreError> {
    if offset.checked_add(length).is_none_or(|end| end > size) {
        return Err(out_of_range(&format!("{length} bytes from offset {offset}"), size));
    }
    usize::try_from(length).map_err(|error| too_large(length).with_source(error))
}

/// An empty buffer with room for `length` bytes. An error, and no abort, when there is not enough memory.
pub(crate) fn reserved(length: usize) -> Result<Vec<u8>, StoreError> {
    let mut buffer = Vec::new();
    buffer.try_reserve_exact(length).map_err(|error| too_large(length as u64).with_source(error))?;
    Ok(buffer)
}

fn too_large(length: u64) -> StoreError {
    StoreError::new(StoreErrorKind::TooLarge, "reading", format!("no memory for {length} bytes"))
}

fn out_of_range(range: &str, size: u64) -> StoreError {
    let message = format!("{range} is outside the value of {size} bytes");
    StoreError::new(StoreErrorKind::OutOfRange, "reading", message)
}

/// What [`Store::get_ranges`] gives of a value that is open.
pub(crate) fn ranges_of<S: Store + ?Sized>(
    store: &S,
    key: &Key,
    value: &dyn Value,
    ranges: &[ByteRange],
) -> Result<Vec<Bytes>, StoreError> {
    let outside = |range: &ByteRange| {
        out_of_range(&format!("{range:?}"), value.size())
            .with_location(store.location())
            .with_key(key.as_str())
    };
    let ranges = ranges
        .iter()
        .map(|range| range.resolve(value.size()).ok_or_else(|| outside(range)))
        .collect::<Result<Vec<_>, _>>()?;
    read_ranges(value, &ranges)
}

/// Reads ranges that lie inside the value. Overlapping ranges that ask for more than there is share one
/// read of everything, so that memory stays bounded by the size of the value.
fn read_ranges(value: &dyn Value, ranges: &[Range<u64>]) -> Result<Vec<Bytes>, StoreError> {
    let total = ranges.iter().fold(0_u64, |sum, range| sum.saturating_add(range.end - range.start));
    if total <= value.size() {
        return ranges.iter().map(|range| value.read(range.start, range.end - range.start)).collect();
    }
    let whole = value.read(0, value.size())?;
    let slice = |range: &Range<u64>| {
        let start = checked_length(value.size(), 0, range.start)?;
        let end = checked_length(value.size(), 0, range.end)?;
        Ok(whole.slice(start..end))
    };
    ranges.iter().map(slice).collect()
}

/// Whether `from` can be renamed to `to` at all; `false` when there is nothing to do.
pub(crate) fn check_rename(from: &Prefix, to: &Prefix) -> Result<bool, StoreError> {
    if from == to {
        return Ok(false);
    }
    if to.as_str().starts_with(from.as_str()) || from.as_str().starts_with(to.as_str()) {
        let message = format!("'{from}' and '{to}' contain one another");
        return Err(StoreError::new(StoreErrorKind::InvalidKey, "renaming", message).with_key(from.as_str()));
    }
    Ok(true)
}

/// The rename of stores that have none of their own.
pub(crate) fn copy_then_erase<S: Store + ?Sized>(
    store: &S,
    from: &Prefix,
    to: &Prefix,
) -> Result<(), StoreError> {
    if !check_rename(from, to)? {
        return Ok(());
    }
    let fail = |kind, message: &str, prefix: &Prefix| {
        let error = StoreError::new(kind, "renaming", message);
        Err(error.with_location(store.location()).with_key(prefix.as_str()))
    };
    if !store.capabilities().writable {
        return fail(StoreErrorKind::ReadOnly, "the store takes no writes", from);
    }
    if any_key_below(store, to)? {
        return fail(StoreErrorKind::AlreadyExists, "there is something already", to);
    }
    let mut copied = 0;
    let mut result = Ok(());
    let listed = store.list_prefix(from, &mut |key, _| {
        copied += 1;
        result = copy_value(store, &key, from, to);
        if result.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    if let Err(error) = listed.and(result) {
        // What made copying fail is the one thing to tell.
        let _ = erase_copies(store, from, to, copied);
        return Err(error);
    }
    if copied == 0 {
        return fail(StoreErrorKind::NotFound, "nothing found", from);
    }
    store.erase_prefix(from)
}

/// Erases the copies of the first values below a prefix, until one cannot be erased.
fn erase_copies<S: Store + ?Sized>(
    store: &S,
    from: &Prefix,
    to: &Prefix,
    mut count: u64,
) -> Result<(), StoreError> {
    store.list_prefix(from, &mut |key, _| {
        let copy = (count > 0).then(|| to.key(&key.as_str()[from.as_str().len()..]));
        count = count.saturating_sub(1);
        match copy {
            Some(Ok(copy)) if store.erase(&copy).is_ok() => ControlFlow::Continue(()),
            _ => ControlFlow::Break(()),
        }
    })
}

fn any_key_below<S: Store + ?Sized>(store: &S, prefix: &Prefix) -> Result<bool, StoreError> {
    let mut any = false;
    store.list_prefix(prefix, &mut |_, _| {
        any = true;
        ControlFlow::Break(())
    })?;
    Ok(any)
}

fn copy_value<S: Store + ?Sized>(store: &S, key: &Key, from: &Prefix, to: &Prefix) -> Result<(), StoreError> {
    let Some(value) = store.get(key)? else { return Ok(()) };
    let name = &key.as_str()[from.as_str().len()..];
    store.set(&to.key(name)?, &value, Condition::Always)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_resolve_inside_the_value_or_not_at_all() {
        let from = |offset, length| ByteRange::From { offset, length };
        assert_eq!(from(2, None).resolve(5), Some(2..5));
        assert_eq!(from(5, None).resolve(5), Some(5..5));
        assert_eq!(from(6, None).resolve(5), None);
        assert_eq!(from(1, Some(4)).resolve(5), Some(1..5));
        assert_eq!(from(1, Some(5)).resolve(5), None);
        assert_eq!(from(u64::MAX, Some(2)).resolve(5), None);
        assert_eq!(ByteRange::Suffix { length: 5 }.resolve(5), Some(0..5));
        assert_eq!(ByteRange::Suffix { length: 6 }.resolve(5), None);
    }
}
