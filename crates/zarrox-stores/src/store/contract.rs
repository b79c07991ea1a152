//! The [`Store`] trait, and the types of its arguments and return values.

use std::fmt::Debug;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::Path;

use bytes::Bytes;

use super::payload::Payload;
use super::range::ByteRange;
use super::value::{Stamp, Value, Version};
use crate::{Hold, HoldGuard, Key, LockGuard, Prefix, StoreError, StoreErrorKind};

/// A map from keys to values: the [abstract store interface] of Zarr v3.
///
/// | method | in the specification |
/// |---|---|
/// | [`get`](Self::get), [`get_ranges`](Self::get_ranges), [`open_with`](Self::open_with) | `get`, `get_partial_values` |
/// | [`put`](Self::put) | `set` |
/// | [`erase_if`](Self::erase_if), [`erase_prefix`](Self::erase_prefix) | `erase`, `erase_prefix` |
/// | [`list_prefix`](Self::list_prefix) | `list`, `list_prefix` |
/// | [`list_dir`](Self::list_dir) | `list_dir` |
///
/// A missing key is `None`, not an error. If a value cannot be read for any other reason, this is an error: a forbidden or
/// unreachable value is not missing.
///
/// Stores are shared between threads. Every method may be called from several threads concurrently.
///
/// Every store must define every method, so that a wrapper that does not forward all of them does not compile. A store without
/// better implementations takes the following methods from [`provided!`](crate::provided): `directory`, `get`, `get_ranges`,
/// `get_many`, `size`, `contains`, `rename_prefix`, `flush`, `stamp`, `hold` and `exchange`. [`StoreExt`](crate::StoreExt) has
/// further methods that are based on the methods of this trait.
///
/// [abstract store interface]: https://zarr-specs.readthedocs.io/en/latest/v3/core/index.html#abstract-store-interface
pub trait Store: Debug + Send + Sync {
    /// Returns the name of this store in errors: a path or a URL. It never contains secrets.
    fn location(&self) -> String;

    /// Returns the capabilities of this store.
    fn capabilities(&self) -> Capabilities;

    /// Opens the value for reading. Returns `None` if the key is missing. A remote store fetches the range `first` with the same
    /// request that opens the value.
    ///
    /// All reads through the same [`Value`] return bytes of the same version, even if a writer replaces or erases the value in
    /// the meantime. If a remote store does not keep old versions, the reads fail with [`StoreErrorKind::Conflict`] instead. If
    /// `first` is out of bounds, opening the value does not fail.
    ///
    /// # Errors
    ///
    /// When the value exists but cannot be read. A store with directories may return [`StoreErrorKind::Obstructed`] for a key
    /// that is a directory, since a chunk is never a directory. [`get`](Self::get) returns `None` for such a key, since documents
    /// may be missing.
    fn open_with(&self, key: &Key, first: Option<ByteRange>) -> Result<Option<Box<dyn Value>>, StoreError>;

    /// Reads the whole value. Returns `None` if the key is missing.
    ///
    /// # Errors
    ///
    /// When the value exists but cannot be read.
    fn get(&self, key: &Key) -> Result<Option<Bytes>, StoreError>;

    /// Reads ranges of the value, all from the same version, and returns them in the given order. Returns `None` if the key is
    /// missing.
    ///
    /// The bytes that are read take no more memory than the whole value, even if ranges overlap.
    ///
    /// # Errors
    ///
    /// [`StoreErrorKind::OutOfRange`] when a range lies outside the value, and the errors of [`get`](Self::get).
    fn get_ranges(&self, key: &Key, ranges: &[ByteRange]) -> Result<Option<Vec<Bytes>>, StoreError>;

    /// Reads the whole values of several keys. `done` is called with the index of a key and its value as soon as the value
    /// arrives, in any order and on any thread. `done` should leave long-running work to other threads.
    ///
    /// If reading one key fails, the other keys are still read.
    fn get_many(&self, keys: &[Key], done: &GetDone<'_>);

    /// Returns the size of the value in bytes, or `None` if the key is missing.
    ///
    /// # Errors
    ///
    /// When the store cannot determine the size.
    fn size(&self, key: &Key) -> Result<Option<u64>, StoreError>;

    /// Returns true if the key has a value.
    ///
    /// # Errors
    ///
    /// When the store cannot determine whether the value exists.
    fn contains(&self, key: &Key) -> Result<bool, StoreError>;

    /// Writes a value, replacing an existing one.
    ///
    /// Readers see either the old value or the new one, never a part of it. If writing fails, the old value is untouched.
    ///
    /// # Errors
    ///
    /// [`StoreErrorKind::AlreadyExists`] when the condition is [`Condition::Absent`] and the key has a value,
    /// [`StoreErrorKind::Conflict`] when the condition is [`Condition::Matches`] or [`Condition::Locked`] and the value has
    /// changed, [`StoreErrorKind::Unsupported`] when the store cannot check the condition, and an error when the value cannot be
    /// written.
    fn put(&self, key: &Key, payload: Payload<'_>, condition: Condition<'_>) -> Result<(), StoreError>;

    /// Erases a value. Returns true if it existed.
    ///
    /// # Errors
    ///
    /// [`StoreErrorKind::Conflict`] when the condition is [`Condition::Matches`] or [`Condition::Locked`] and the value has
    /// changed, [`StoreErrorKind::Unsupported`] when the store cannot check the condition or when the condition is
    /// [`Condition::Absent`], and an error when the value exists but cannot be erased.
    fn erase_if(&self, key: &Key, condition: Condition<'_>) -> Result<bool, StoreError>;

    /// Erases every key below the prefix. Also succeeds if there are none.
    ///
    /// # Errors
    ///
    /// When a value cannot be erased. Other values may already have been erased.
    fn erase_prefix(&self, prefix: &Prefix) -> Result<(), StoreError>;

    /// Visits every key below the prefix, at any depth, together with the size of its value in bytes, until the visitor breaks.
    ///
    /// The order is unspecified, and memory use does not grow with the number of keys. The visitor may use the store. Keys that
    /// are written or erased during the listing may or may not be visited.
    ///
    /// # Errors
    ///
    /// When any part of the listing fails. A listing that succeeds is complete.
    fn list_prefix(
        &self,
        prefix: &Prefix,
        visit: &mut dyn FnMut(Key, u64) -> ControlFlow<()>,
    ) -> Result<(), StoreError>;

    /// Lists the keys and the prefixes directly below a prefix.
    ///
    /// A store with directories may list a prefix that contains no keys.
    ///
    /// # Errors
    ///
    /// When the prefix cannot be listed. A missing prefix has an empty listing.
    fn list_dir(&self, prefix: &Prefix) -> Result<DirListing, StoreError>;

    /// Moves every key below `from` to the same path below `to`.
    ///
    /// This is atomic if [`Capabilities::rename`] is true. Otherwise, all values are copied and then erased: an interruption may
    /// leave values below both prefixes, but no value is lost. If copying fails, the copies are erased.
    ///
    /// # Errors
    ///
    /// [`StoreErrorKind::NotFound`] when there is nothing below `from`, [`StoreErrorKind::AlreadyExists`] when there is something
    /// below `to`, [`StoreErrorKind::InvalidKey`] when one prefix contains the other.
    fn rename_prefix(&self, from: &Prefix, to: &Prefix) -> Result<(), StoreError>;

    /// Returns the directory in which each value is a file whose path is the key, or `None` for stores with another layout.
    fn directory(&self) -> Option<&Path>;

    /// Completes all earlier writes, so that they are visible to other programs.
    ///
    /// Most stores complete every write immediately, and do nothing here. An archive is finished here, or when its last handle is
    /// dropped, but then errors are only logged.
    ///
    /// # Errors
    ///
    /// When the writes cannot be completed.
    fn flush(&self) -> Result<(), StoreError>;

    /// Acquires the lock of `key`, which excludes all other holders until the guard is dropped: those in this process that use
    /// any handle to the same storage, and those in other processes if [`Capabilities::locks_everyone`] is true.
    ///
    /// A caller holds the lock while it reads a stored object, changes it and writes it back with [`Condition::Locked`]. The lock
    /// does not keep other threads of this process from calling [`put`](Self::put). If they do, the holder's write is a conflict,
    /// provided that the store can detect it. A thread that acquires a lock that it already holds waits forever, and threads that
    /// acquire several locks may deadlock: hold only one lock at a time, or acquire locks in a fixed order.
    ///
    /// # Errors
    ///
    /// [`StoreErrorKind::TimedOut`] when another process does not release the lock, [`StoreErrorKind::Unsupported`] when the
    /// storage should support locks that exclude other processes, but does not.
    fn lock(&self, key: &Key) -> Result<LockGuard, StoreError>;

    /// Returns the stamp of a value: the version that the store can determine without reading the value. By comparing stamps of a
    /// document, a caller can detect that the document was replaced. The stamp is [`Stamp::Unknown`] if determining it would
    /// require more than one access to a local file or database.
    ///
    /// # Errors
    ///
    /// When the store cannot determine the stamp.
    fn stamp(&self, key: &Key) -> Result<Stamp, StoreError>;

    /// Holds everything below a prefix until the guard is dropped. A writer [shares](Hold::Shared) a hold on a node with other
    /// writers while it writes to the node. While it has the hold, it can check that the node is still the one that it opened. A
    /// thread that moves, replaces or deletes a node holds it [exclusively](Hold::Exclusive). Holds in a directory store are
    /// effective across processes; holds in other stores are only effective among the threads of this process.
    ///
    /// A hold does not block other methods. Acquire it before the [locks](Self::lock) of individual values. A thread that
    /// acquires an exclusive hold while it has another hold on the same prefix waits forever.
    ///
    /// # Errors
    ///
    /// [`StoreErrorKind::TimedOut`] when another holder does not release its hold.
    fn hold(&self, prefix: &Prefix, how: Hold) -> Result<HoldGuard, StoreError>;

    /// Atomically exchanges everything below two prefixes: at any time, both have either their old or their new content.
    ///
    /// # Errors
    ///
    /// [`StoreErrorKind::Unsupported`] when the storage does not support this, [`StoreErrorKind::NotFound`] when there is nothing
    /// below one of the prefixes, [`StoreErrorKind::InvalidKey`] when one prefix contains the other. If there is an error,
    /// nothing was changed.
    fn exchange(&self, one: &Prefix, other: &Prefix) -> Result<(), StoreError>;
}

/// A function that receives the index and the value of each key from [`Store::get_many`].
pub type GetDone<'a> = dyn Fn(usize, Result<Option<Bytes>, StoreError>) + Send + Sync + 'a;

/// The capabilities of a store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Capabilities {
    /// Values can be written and erased.
    pub writable: bool,
    /// Keys can be listed.
    pub listable: bool,
    /// [`Store::put`] supports [`Condition::Absent`], and checks and writes atomically.
    pub set_if_absent: bool,
    /// [`Store::rename_prefix`] is atomic and cheap.
    pub rename: bool,
    /// `a` and `a/b` can both have values.
    pub values_above_values: bool,
    /// [`Store::put`] supports [`Condition::Matches`], with the same guarantee, and values have a
    /// [`version`](Value::version).
    pub set_if_unchanged: bool,
    /// [`Store::erase_if`] supports [`Condition::Matches`].
    pub erase_if_unchanged: bool,
    /// The [`version`](Value::version) of a value is a digest of all its bytes, which is suitable for conditional writes but too
    /// expensive for caches.
    pub digest_versions: bool,
    /// The guard of [`Store::lock`] excludes all other writers to the storage, including those in other processes, and a write
    /// with [`Condition::Locked`] is a conflict if a writer without the lock changed the value.
    pub locks_everyone: bool,
    /// Keys with control characters, such as line breaks, fail with [`StoreErrorKind::InvalidKey`].
    pub printable_keys: bool,
    /// While a value is being replaced, a reader may get the size of one version and the bytes of another, as with some servers.
    /// Only a check of the bytes, such as a codec's checksum, detects this.
    pub torn_reads: bool,
    /// The optimal number of parallel requests to a remote store, for which each request takes a round trip. `None` for local
    /// storage.
    pub in_flight: Option<NonZeroUsize>,
    /// The storage is local, but only one thread at a time can access it, so that parallel requests wait for each other.
    pub one_at_a_time: bool,
    /// The maximum size of a value in bytes, if the storage has a limit. Writing a larger value fails with
    /// [`StoreErrorKind::TooLarge`].
    pub largest_value: Option<u64>,
}

impl Capabilities {
    /// Creates a set without capabilities: values can only be read.
    ///
    /// ```
    /// use zarrox_stores::Capabilities;
    ///
    /// let capabilities = Capabilities::new().writable().listable().set_if_absent();
    /// assert!(capabilities.writable && !capabilities.rename);
    /// ```
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds [`writable`](field@Self::writable).
    #[must_use]
    pub const fn writable(self) -> Self {
        Self { writable: true, ..self }
    }

    /// Adds [`listable`](field@Self::listable).
    #[must_use]
    pub const fn listable(self) -> Self {
        Self { listable: true, ..self }
    }

    /// Adds [`set_if_absent`](field@Self::set_if_absent).
    #[must_use]
    pub const fn set_if_absent(self) -> Self {
        Self { set_if_absent: true, ..self }
    }

    /// Adds [`rename`](field@Self::rename).
    #[must_use]
    pub const fn rename(self) -> Self {
        Self { rename: true, ..self }
    }

    /// Adds [`values_above_values`](field@Self::values_above_values).
    #[must_use]
    pub const fn values_above_values(self) -> Self {
        Self { values_above_values: true, ..self }
    }

    /// Adds [`set_if_unchanged`](field@Self::set_if_unchanged).
    #[must_use]
    pub const fn set_if_unchanged(self) -> Self {
        Self { set_if_unchanged: true, ..self }
    }

    /// Adds [`erase_if_unchanged`](field@Self::erase_if_unchanged).
    #[must_use]
    pub const fn erase_if_unchanged(self) -> Self {
        Self { erase_if_unchanged: true, ..self }
    }

    /// Adds [`digest_versions`](field@Self::digest_versions).
    #[must_use]
    pub const fn digest_versions(self) -> Self {
        Self { digest_versions: true, ..self }
    }

    /// Adds [`locks_everyone`](field@Self::locks_everyone).
    #[must_use]
    pub const fn locks_everyone(self) -> Self {
        Self { locks_everyone: true, ..self }
    }

    /// Adds [`printable_keys`](field@Self::printable_keys).
    #[must_use]
    pub const fn printable_keys(self) -> Self {
        Self { printable_keys: true, ..self }
    }

    /// Adds [`torn_reads`](field@Self::torn_reads).
    #[must_use]
    pub const fn torn_reads(self) -> Self {
        Self { torn_reads: true, ..self }
    }

    /// Adds [`one_at_a_time`](field@Self::one_at_a_time).
    #[must_use]
    pub const fn one_at_a_time(self) -> Self {
        Self { one_at_a_time: true, ..self }
    }

    /// Sets [`in_flight`](field@Self::in_flight); 0 stands for local storage.
    #[must_use]
    pub const fn in_flight(self, requests: usize) -> Self {
        Self { in_flight: NonZeroUsize::new(requests), ..self }
    }

    /// Sets [`largest_value`](field@Self::largest_value).
    #[must_use]
    pub const fn largest_value(self, bytes: u64) -> Self {
        Self { largest_value: Some(bytes), ..self }
    }
}

/// A condition under which the value of a key is written.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub enum Condition<'v> {
    /// Unconditional: an existing value is replaced.
    #[default]
    Always,
    /// The key has no value yet.
    Absent,
    /// The value still has this version, which was [read](Value::version).
    Matches(&'v Version),
    /// The value has not changed since the caller acquired this guard of the key's [lock](Store::lock). Stores whose locks only
    /// exclude threads of this process rely on the lock and do not check.
    Locked(&'v LockGuard),
}

impl Condition<'_> {
    /// Returns true if the key must not have a value yet. This is for stores that cannot compare versions.
    ///
    /// # Errors
    ///
    /// [`StoreErrorKind::Unsupported`] for [`Condition::Matches`].
    pub fn absent(self) -> Result<bool, StoreError> {
        match self {
            Self::Always | Self::Locked(_) => Ok(false),
            Self::Absent => Ok(true),
            Self::Matches(_) => Err(cannot_compare("writing")),
        }
    }

    /// Checks that a value can be erased under this condition without a comparison. This is for stores that cannot erase
    /// conditionally.
    ///
    /// # Errors
    ///
    /// [`StoreErrorKind::Unsupported`] for [`Condition::Matches`] and [`Condition::Absent`].
    pub fn unconditional(self) -> Result<(), StoreError> {
        match self {
            Self::Always | Self::Locked(_) => Ok(()),
            Self::Absent | Self::Matches(_) => Err(cannot_compare("erasing")),
        }
    }

    /// Checks that the condition is valid for erasing. This is for stores that can compare versions.
    ///
    /// # Errors
    ///
    /// [`StoreErrorKind::Unsupported`] for [`Condition::Absent`].
    pub fn erasing(self) -> Result<(), StoreError> {
        if matches!(self, Self::Absent) { self.unconditional() } else { Ok(()) }
    }
}

fn cannot_compare(operation: &'static str) -> StoreError {
    let message = "the store cannot check whether a value has changed";
    StoreError::new(StoreErrorKind::Unsupported, operation, message)
}

/// The entries directly below a prefix. Both lists are sorted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DirListing {
    /// The keys.
    pub keys: Vec<Key>,
    /// The prefixes that contain further keys.
    pub prefixes: Vec<Prefix>,
}

impl DirListing {
    /// Sorts both lists.
    #[must_use]
    pub fn sorted(mut self) -> Self {
        self.keys.sort_unstable();
        self.prefixes.sort_unstable();
        self
    }
}
