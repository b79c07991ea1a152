//! The [`Store`] trait, and the types of its arguments and results.

use std::fmt::Debug;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::Path;

use bytes::Bytes;

use super::payload::Payload;
use super::range::ByteRange;
use super::value::{Stamp, Value, Version};
use crate::{Hold, HoldGuard, Key, LockGuard, Prefix, StoreError, StoreErrorKind};

/// A map from keys to values, kept somewhere: the [abstract store interface] of Zarr v3.
///
/// | method | in the specification |
/// |---|---|
/// | [`get`](Self::get), [`get_ranges`](Self::get_ranges), [`open_with`](Self::open_with) | `get`, `get_partial_values` |
/// | [`put`](Self::put) | `set` |
/// | [`erase_if`](Self::erase_if), [`erase_prefix`](Self::erase_prefix) | `erase`, `erase_prefix` |
/// | [`list_prefix`](Self::list_prefix) | `list`, `list_prefix` |
/// | [`list_dir`](Self::list_dir) | `list_dir` |
///
/// A missing key is `None` and no error. Everything else that keeps a value from being read is an error:
/// forbidden and unreachable are not missing.
///
/// Stores are shared between threads, and every method may be called from many at once.
///
/// Every method must be written, so that a store around another one forwards all of them or does not compile. A store that has no
/// better way than other methods of its own takes those that [`provided!`](crate::provided) has: `directory`, `get`,
/// `get_ranges`, `get_many`, `size`, `contains`, `rename_prefix`, `flush`, `stamp`, `hold` and `exchange`. [`StoreExt`](crate::StoreExt) has what is built on
/// all of these.
///
/// [abstract store interface]: https://zarr-specs.readthedocs.io/en/latest/v3/core/index.html#abstract-store-interface
pub trait Store: Debug + Send + Sync {
    /// The name of this store in errors: a path or a URL, never with secrets in it.
    fn location(&self) -> String;

    /// The capabilities of this store.
    fn capabilities(&self) -> Capabilities;

    /// Opens the value for reading; `None` when the key is missing. A store that reads by requests fetches the `first` range with
    /// the request that opens the value.
    ///
    /// All reads through one [`Value`] return bytes of one version, even when a writer replaces or erases the value
    /// meanwhile. A remote store that keeps no old versions fails with [`StoreErrorKind::Conflict`] instead.
    /// A first range that does not lie inside the value is no error here.
    ///
    /// # Errors
    ///
    /// When the value is there but cannot be read. A store that has directories may refuse a key that is one, with
    /// [`StoreErrorKind::Obstructed`]: for [`get`](Self::get) it is missing, as documents may be, but a chunk is no directory.
    fn open_with(&self, key: &Key, first: Option<ByteRange>) -> Result<Option<Box<dyn Value>>, StoreError>;

    /// The whole value; `None` when the key is missing.
    ///
    /// # Errors
    ///
    /// When the value is there but cannot be read.
    fn get(&self, key: &Key) -> Result<Option<Bytes>, StoreError>;

    /// Parts of one version of the value, in the order of the ranges; `None` when the key is missing.
    ///
    /// Takes no more memory than the value has bytes, whatever the ranges are.
    ///
    /// # Errors
    ///
    /// [`StoreErrorKind::OutOfRange`] when a range lies outside the value; otherwise as [`get`](Self::get).
    fn get_ranges(&self, key: &Key, ranges: &[ByteRange]) -> Result<Option<Vec<Bytes>>, StoreError>;

    /// Reads the whole values of several keys. `done` is called with the index of a key and its value as soon as the value has
    /// arrived, in any order and on any thread. It should leave longer work to other threads.
    ///
    /// The other keys are read even if reading one of them fails.
    fn get_many(&self, keys: &[Key], done: &GetDone<'_>);

    /// The length of the value in bytes; `None` when the key is missing.
    ///
    /// # Errors
    ///
    /// When that cannot be found out.
    fn size(&self, key: &Key) -> Result<Option<u64>, StoreError>;

    /// True when there is a value of this key.
    ///
    /// # Errors
    ///
    /// When that cannot be found out.
    fn contains(&self, key: &Key) -> Result<bool, StoreError>;

    /// Writes a value, replacing the one that is there.
    ///
    /// A reader sees the old value or the new one, never a part. On failure the old value is untouched.
    ///
    /// # Errors
    ///
    /// [`StoreErrorKind::AlreadyExists`] when the condition is [`Condition::Absent`] and the key has a
    /// value, [`StoreErrorKind::Conflict`] when it is [`Condition::Matches`] or [`Condition::Locked`] and the value is
    /// another one, [`StoreErrorKind::Unsupported`] when the store cannot check the condition; otherwise when the value
    /// cannot be written.
    fn put(&self, key: &Key, payload: Payload<'_>, condition: Condition<'_>) -> Result<(), StoreError>;

    /// Erases a value. Returns true if it was there.
    ///
    /// # Errors
    ///
    /// [`StoreErrorKind::Conflict`] when the condition is [`Condition::Matches`] or [`Condition::Locked`] and the value is another
    /// one, [`StoreErrorKind::Unsupported`] when the store cannot check the condition or when it is [`Condition::Absent`];
    /// otherwise when the value is there but cannot be erased.
    fn erase_if(&self, key: &Key, condition: Condition<'_>) -> Result<bool, StoreError>;

    /// Erases every key below the prefix. It is no error if there are none.
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
    fn rename_prefix(&self, from: &Prefix, to: &Prefix) -> Result<(), StoreError>;

    /// The directory in which each value is a file whose path is its key; `None` for stores that keep values in another way.
    fn directory(&self) -> Option<&Path>;

    /// Completes everything that was written, so that other programs see it.
    ///
    /// Most stores are complete after every write, and have nothing to do. An archive is finished here; it is as well
    /// when its last handle is dropped, but an error is only logged then.
    ///
    /// # Errors
    ///
    /// When what was written cannot be made complete.
    fn flush(&self) -> Result<(), StoreError>;

    /// Excludes every other holder of the lock of `key` until the guard is dropped: in this process, whichever handle of the
    /// same storage it came through, and in other processes where [`Capabilities::locks_everyone`] says so.
    ///
    /// The lock is held while a stored object is read, changed and written back with [`Condition::Locked`]. It does not keep
    /// others in this process from calling [`put`](Self::put); the holder's write is a conflict then, where the store can tell.
    /// A thread that takes a lock that it already holds waits for ever, and threads that take several locks may deadlock:
    /// hold one at a time, or take several in a fixed order.
    ///
    /// # Errors
    ///
    /// [`StoreErrorKind::TimedOut`] when another process does not release the lock, [`StoreErrorKind::Unsupported`] when the
    /// storage has no locks that exclude other processes, although it is of a kind that should have.
    fn lock(&self, key: &Key) -> Result<LockGuard, StoreError>;

    /// What the store says of a value without reading it: whoever knows a document by its stamp sees whether it was replaced.
    /// [`Stamp::Unknown`] where that would cost more than a look at a local file or database.
    ///
    /// # Errors
    ///
    /// When that cannot be found out.
    fn stamp(&self, key: &Key) -> Result<Stamp, StoreError>;

    /// Holds what is below a prefix, until the guard is dropped. Whoever writes into a node holds it [together](Hold::Shared) with other
    /// writers, and then sees whether it still is the node that is meant; whoever moves, replaces or deletes it holds it
    /// [alone](Hold::Exclusive). In a directory this holds among all processes, elsewhere among the threads of this one.
    ///
    /// A hold keeps nobody from calling other methods. It is asked for before the [locks](Self::lock) of single values, and a thread
    /// that asks for a hold alone while it has another one of the same prefix waits for ever.
    ///
    /// # Errors
    ///
    /// [`StoreErrorKind::TimedOut`] when others do not release it.
    fn hold(&self, prefix: &Prefix, how: Hold) -> Result<HoldGuard, StoreError>;

    /// Exchanges all that is below two prefixes, in one step: at each moment, both have either what they had or what the other had.
    ///
    /// # Errors
    ///
    /// [`StoreErrorKind::Unsupported`] when the storage has no such step, [`StoreErrorKind::NotFound`] when nothing is below one of the
    /// prefixes, [`StoreErrorKind::InvalidKey`] when one contains the other. Nothing is changed then.
    fn exchange(&self, one: &Prefix, other: &Prefix) -> Result<(), StoreError>;
}

/// The function that receives the value of each key from [`Store::get_many`].
pub type GetDone<'a> = dyn Fn(usize, Result<Option<Bytes>, StoreError>) + Send + Sync + 'a;

/// The capabilities of a store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Capabilities {
    /// Values can be written and erased.
    pub writable: bool,
    /// Keys can be listed.
    pub listable: bool,
    /// [`Store::put`] takes [`Condition::Absent`], and nobody can write between the check and the write.
    pub set_if_absent: bool,
    /// [`Store::rename_prefix`] is one cheap step.
    pub rename: bool,
    /// `a` and `a/b` can both have a value.
    pub values_above_values: bool,
    /// [`Store::put`] takes [`Condition::Matches`], with the same promise, and values say their [`version`](Value::version).
    pub set_if_unchanged: bool,
    /// [`Store::erase_if`] takes [`Condition::Matches`].
    pub erase_if_unchanged: bool,
    /// The [`version`](Value::version) of a value is a digest of all its bytes: good enough for conditional writes, but too
    /// expensive for caches.
    pub digest_versions: bool,
    /// The guard of [`Store::lock`] excludes everybody else who can write to the storage, other processes as well, and
    /// [`Condition::Locked`] is a conflict where somebody wrote without the lock.
    pub locks_everyone: bool,
    /// Keys with control characters, such as line breaks, are refused with [`StoreErrorKind::InvalidKey`].
    pub printable_keys: bool,
    /// True if a reader may get the length of one version and bytes of another while a value is replaced, as with some
    /// servers. Only a check of the bytes, such as a codec's checksum, notices that.
    pub torn_reads: bool,
    /// The number of parallel requests that is best for a remote store, where each request takes a round trip. `None` for
    /// local storage.
    pub in_flight: Option<NonZeroUsize>,
    /// The storage is local, but only one thread at a time has access to it, so that parallel requests wait for each other.
    pub one_at_a_time: bool,
    /// The largest length of a value in bytes, if the storage has a limit. A larger value is refused with
    /// [`StoreErrorKind::TooLarge`].
    pub largest_value: Option<u64>,
}

impl Capabilities {
    /// No capabilities: values can only be read.
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

/// A condition on a key under which a value is written.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub enum Condition<'v> {
    /// Nothing: a value that is there is replaced.
    #[default]
    Always,
    /// The key has no value yet.
    Absent,
    /// The value is still this version, which was [read](Value::version).
    Matches(&'v Version),
    /// The value is what it was when the caller got this guard of the key's [lock](Store::lock). Stores whose locks exclude
    /// only this process rely on the lock and check nothing.
    Locked(&'v LockGuard),
}

impl Condition<'_> {
    /// Returns true if there must be no value yet. For stores that cannot compare versions.
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

    /// Checks that there is nothing to compare before a value is erased. For stores that erase without a condition.
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

    /// Checks that the condition is one for erasing. For stores that compare versions.
    ///
    /// # Errors
    ///
    /// [`StoreErrorKind::Unsupported`] for [`Condition::Absent`].
    pub fn erasing(self) -> Result<(), StoreError> {
        if matches!(self, Self::Absent) { self.unconditional() } else { Ok(()) }
    }
}

fn cannot_compare(operation: &'static str) -> StoreError {
    let message = "the store cannot tell whether a value is still the same";
    StoreError::new(StoreErrorKind::Unsupported, operation, message)
}

/// The entries directly below a prefix, each list sorted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DirListing {
    /// The keys.
    pub keys: Vec<Key>,
    /// The prefixes that further keys lie below.
    pub prefixes: Vec<Prefix>,
}

impl DirListing {
    /// The same entries, with each list sorted.
    #[must_use]
    pub fn sorted(mut self) -> Self {
        self.keys.sort_unstable();
        self.prefixes.sort_unstable();
        self
    }
}
