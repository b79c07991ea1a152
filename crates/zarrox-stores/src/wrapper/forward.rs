//! The common interface of store wrappers: [`Wrapper`], and the macro that uses it to implement methods of [`Store`].

use std::cell::Cell;
use std::fmt;

use crate::{Bytes, GetDone, Key, Store, StoreError, Value, Version};

/// A store that wraps another store and does something around each operation, such as counting, waiting, retrying or failing.
///
/// Its [`Store`] implementation takes the methods that need no special code from [`wrapped!`](crate::wrapped), and defines the
/// others itself:
///
/// ```
/// use std::sync::Arc;
/// use std::sync::atomic::{AtomicUsize, Ordering};
/// use zarrox_stores::{Call, Condition, Key, MemoryStore, Store, StoreError, StoreExt, Wrapper};
/// use zarrox_stores::{provided, wrapped};
///
/// /// Counts the operations that fail.
/// #[derive(Clone, Debug)]
/// struct Failures(Arc<dyn Store>, Arc<AtomicUsize>);
///
/// impl Wrapper for Failures {
///     fn inner(&self) -> &dyn Store {
///         &*self.0
///     }
///
///     fn around<T>(
///         &self,
///         _: &Call<'_>,
///         run: &mut dyn FnMut() -> Result<T, StoreError>,
///     ) -> Result<T, StoreError> {
///         run().inspect_err(|_| drop(self.1.fetch_add(1, Ordering::Relaxed)))
///     }
/// }
///
/// impl Store for Failures {
///     wrapped!(location capabilities open_with get get_ranges get_many size contains);
///     wrapped!(put erase_if erase_prefix list_prefix list_dir rename_prefix flush lock stamp hold exchange);
///     provided!(directory);
/// }
///
/// let store = Failures(Arc::new(MemoryStore::new()), Arc::default());
/// let key = Key::new("a")?;
/// store.set(&key, b"1", Condition::Absent)?;
/// assert!(store.set(&key, b"2", Condition::Absent).is_err());
/// assert_eq!(store.1.load(Ordering::Relaxed), 1);
/// # Ok::<(), StoreError>(())
/// ```
pub trait Wrapper: fmt::Debug + Clone + Send + Sync + 'static {
    /// Returns the wrapped store.
    fn inner(&self) -> &dyn Store;

    /// Performs an operation by calling `run` once, several times or not at all. The default implementation calls it once.
    ///
    /// # Errors
    ///
    /// The error of the operation, or an error of the wrapper.
    fn around<T>(
        &self,
        _call: &Call<'_>,
        run: &mut dyn FnMut() -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        run()
    }

    /// Wraps an open value, so that reading it goes through [`around`](Self::around) as well, unless the whole value is in
    /// memory.
    fn value(&self, key: &Key, value: Box<dyn Value>) -> Box<dyn Value> {
        if value.is_in_memory() { value } else { Box::new(WrappedValue::new(self, key, value)) }
    }
}

/// The operations of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Operation {
    /// [`Store::open_with`].
    Open,
    /// Reading a range of an open value.
    Read,
    /// [`Store::get`], or one key of [`Store::get_many`].
    Get,
    /// [`Store::get_ranges`].
    GetRanges,
    /// [`Store::size`] and [`Store::contains`].
    Size,
    /// [`Store::put`].
    Set,
    /// [`Store::erase_if`].
    Erase,
    /// [`Store::erase_prefix`].
    ErasePrefix,
    /// [`Store::list_prefix`].
    ListPrefix,
    /// [`Store::list_dir`].
    ListDir,
    /// [`Store::rename_prefix`].
    RenamePrefix,
    /// [`Store::flush`].
    Flush,
    /// [`Store::lock`].
    Lock,
}

impl Operation {
    /// All operations.
    pub const ALL: [Self; 13] = [
        Self::Open,
        Self::Read,
        Self::Get,
        Self::GetRanges,
        Self::Size,
        Self::Set,
        Self::Erase,
        Self::ErasePrefix,
        Self::ListPrefix,
        Self::ListDir,
        Self::RenamePrefix,
        Self::Flush,
        Self::Lock,
    ];

    /// Returns the operation's name in errors: a word ending in "-ing".
    #[must_use]
    #[doc(hidden)]
    pub fn word(self) -> &'static str {
        match self {
            Self::Open | Self::Read | Self::Get | Self::GetRanges | Self::Size => "reading",
            Self::Set | Self::Flush => "writing",
            Self::Erase | Self::ErasePrefix => "erasing",
            Self::ListPrefix | Self::ListDir => "listing",
            Self::RenamePrefix => "renaming",
            Self::Lock => "locking",
        }
    }

    /// Returns true if the operation changes the store.
    #[must_use]
    #[doc(hidden)]
    pub fn is_write(self) -> bool {
        matches!(self, Self::Set | Self::Erase | Self::ErasePrefix | Self::RenamePrefix)
    }
}

/// One operation on one key.
#[derive(Clone, Debug)]
pub struct Call<'a> {
    operation: Operation,
    key: &'a str,
    bytes: Cell<u64>,
}

impl<'a> Call<'a> {
    /// Creates the description of an operation on a key or a prefix.
    #[doc(hidden)]
    pub fn new(operation: Operation, key: &'a (impl AsRef<str> + ?Sized)) -> Self {
        Self { operation, key: key.as_ref(), bytes: Cell::new(0) }
    }

    /// Sets the number of bytes that the operation transfers.
    #[must_use]
    #[doc(hidden)]
    pub fn with_bytes(self, bytes: usize) -> Self {
        self.moved(bytes);
        self
    }

    /// Returns the operation.
    #[must_use]
    pub fn operation(&self) -> Operation {
        self.operation
    }

    /// Returns the text of the key or prefix. It is empty for the whole store.
    #[must_use]
    pub fn key(&self) -> &'a str {
        self.key
    }

    /// Returns the number of bytes that the operation transfers. When a whole value is read, the number is only known once the
    /// read is complete.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes.get()
    }

    /// Sets the number of bytes that were transferred. This is for implementations of [`Store`].
    #[doc(hidden)]
    pub fn moved(&self, bytes: usize) {
        self.bytes.set(bytes as u64);
    }
}

/// A value that is read through a wrapper.
pub struct WrappedValue<W> {
    wrapper: W,
    key: Key,
    value: Box<dyn Value>,
}

impl<W: Wrapper> WrappedValue<W> {
    /// Wraps a value so that every read goes through the wrapper, even if the value is in memory.
    pub fn new(wrapper: &W, key: &Key, value: Box<dyn Value>) -> Self {
        Self { wrapper: wrapper.clone(), key: key.clone(), value }
    }
}

impl<W: Wrapper> fmt::Debug for WrappedValue<W> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("WrappedValue").field("key", &self.key).finish_non_exhaustive()
    }
}

impl<W: Wrapper> Value for WrappedValue<W> {
    fn size(&self) -> u64 {
        self.value.size()
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), StoreError> {
        let call = Call::new(Operation::Read, &self.key).with_bytes(buffer.len());
        self.wrapper.around(&call, &mut || self.value.read_at(offset, buffer))
    }

    fn version(&self) -> Option<Version> {
        self.value.version()
    }

    fn read(&self, offset: u64, length: u64) -> Result<Bytes, StoreError> {
        let call = Call::new(Operation::Read, &self.key);
        self.wrapper
            .around(&call, &mut || self.value.read(offset, length).inspect(|bytes| call.moved(bytes.len())))
    }
}

/// Implements `get_many` for [`wrapped!`](crate::wrapped): the inner store reads all keys in parallel, and each result is passed
/// through the wrapper as the result of the first run.
pub fn get_many<W: Wrapper>(wrapper: &W, keys: &[Key], done: &GetDone<'_>) {
    wrapper.inner().get_many(keys, &|index, answer| {
        let key = &keys[index];
        let call = Call::new(Operation::Get, key);
        let mut first = Some(answer);
        let mut run = || {
            let answer = first.take().unwrap_or_else(|| wrapper.inner().get(key));
            answer.inspect(|value| call.moved(value.as_ref().map_or(0, Bytes::len)))
        };
        done(index, wrapper.around(&call, &mut run));
    });
}

/// Defines methods of [`Store`], given by name, for a [`Wrapper`]. Each calls the wrapped store. All go through
/// [`Wrapper::around`] except `location`, `capabilities`, `stamp` and `hold`, which transfer no values.
#[macro_export]
macro_rules! wrapped {
    (location $($rest:ident)*) => {
        fn location(&self) -> String {
            $crate::Wrapper::inner(self).location()
        }
        $crate::wrapped!($($rest)*);
    };
    (capabilities $($rest:ident)*) => {
        fn capabilities(&self) -> $crate::Capabilities {
            $crate::Wrapper::inner(self).capabilities()
        }
        $crate::wrapped!($($rest)*);
    };
    (open_with $($rest:ident)*) => {
        fn open_with(
            &self,
            key: &$crate::Key,
            first: Option<$crate::ByteRange>,
        ) -> Result<Option<Box<dyn $crate::Value>>, $crate::StoreError> {
            let call = $crate::Call::new($crate::Operation::Open, key);
            let mut run = || $crate::Wrapper::inner(self).open_with(key, first);
            Ok($crate::Wrapper::around(self, &call, &mut run)?.map(|value| $crate::Wrapper::value(self, key, value)))
        }
        $crate::wrapped!($($rest)*);
    };
    (get $($rest:ident)*) => {
        fn get(&self, key: &$crate::Key) -> Result<Option<$crate::Bytes>, $crate::StoreError> {
            let call = $crate::Call::new($crate::Operation::Get, key);
            $crate::Wrapper::around(self, &call, &mut || {
                let value = $crate::Wrapper::inner(self).get(key)?;
                call.moved(value.as_ref().map_or(0, |bytes| bytes.len()));
                Ok(value)
            })
        }
        $crate::wrapped!($($rest)*);
    };
    (get_ranges $($rest:ident)*) => {
        fn get_ranges(
            &self,
            key: &$crate::Key,
            ranges: &[$crate::ByteRange],
        ) -> Result<Option<Vec<$crate::Bytes>>, $crate::StoreError> {
            let call = $crate::Call::new($crate::Operation::GetRanges, key);
            $crate::Wrapper::around(self, &call, &mut || {
                let parts = $crate::Wrapper::inner(self).get_ranges(key, ranges)?;
                call.moved(parts.iter().flatten().map(|bytes| bytes.len()).sum());
                Ok(parts)
            })
        }
        $crate::wrapped!($($rest)*);
    };
    (get_many $($rest:ident)*) => {
        fn get_many(&self, keys: &[$crate::Key], done: &$crate::GetDone<'_>) {
            $crate::internals::wrapper::get_many(self, keys, done);
        }
        $crate::wrapped!($($rest)*);
    };
    (size $($rest:ident)*) => {
        fn size(&self, key: &$crate::Key) -> Result<Option<u64>, $crate::StoreError> {
            let call = $crate::Call::new($crate::Operation::Size, key);
            $crate::Wrapper::around(self, &call, &mut || $crate::Wrapper::inner(self).size(key))
        }
        $crate::wrapped!($($rest)*);
    };
    (contains $($rest:ident)*) => {
        fn contains(&self, key: &$crate::Key) -> Result<bool, $crate::StoreError> {
            let call = $crate::Call::new($crate::Operation::Size, key);
            $crate::Wrapper::around(self, &call, &mut || $crate::Wrapper::inner(self).contains(key))
        }
        $crate::wrapped!($($rest)*);
    };
    (put $($rest:ident)*) => {
        fn put(
            &self,
            key: &$crate::Key,
            payload: $crate::Payload<'_>,
            condition: $crate::Condition<'_>,
        ) -> Result<(), $crate::StoreError> {
            let call = $crate::Call::new($crate::Operation::Set, key).with_bytes(payload.len());
            let mut run = || $crate::Wrapper::inner(self).put(key, payload, condition);
            $crate::Wrapper::around(self, &call, &mut run)
        }
        $crate::wrapped!($($rest)*);
    };
    (erase_if $($rest:ident)*) => {
        fn erase_if(
            &self,
            key: &$crate::Key,
            condition: $crate::Condition<'_>,
        ) -> Result<bool, $crate::StoreError> {
            let call = $crate::Call::new($crate::Operation::Erase, key);
            $crate::Wrapper::around(self, &call, &mut || $crate::Wrapper::inner(self).erase_if(key, condition))
        }
        $crate::wrapped!($($rest)*);
    };
    (erase_prefix $($rest:ident)*) => {
        fn erase_prefix(&self, prefix: &$crate::Prefix) -> Result<(), $crate::StoreError> {
            let call = $crate::Call::new($crate::Operation::ErasePrefix, prefix);
            $crate::Wrapper::around(self, &call, &mut || $crate::Wrapper::inner(self).erase_prefix(prefix))
        }
        $crate::wrapped!($($rest)*);
    };
    (list_prefix $($rest:ident)*) => {
        fn list_prefix(
            &self,
            prefix: &$crate::Prefix,
            visit: &mut dyn FnMut($crate::Key, u64) -> std::ops::ControlFlow<()>,
        ) -> Result<(), $crate::StoreError> {
            let call = $crate::Call::new($crate::Operation::ListPrefix, prefix);
            $crate::Wrapper::around(self, &call, &mut || $crate::Wrapper::inner(self).list_prefix(prefix, visit))
        }
        $crate::wrapped!($($rest)*);
    };
    (list_dir $($rest:ident)*) => {
        fn list_dir(&self, prefix: &$crate::Prefix) -> Result<$crate::DirListing, $crate::StoreError> {
            let call = $crate::Call::new($crate::Operation::ListDir, prefix);
            $crate::Wrapper::around(self, &call, &mut || $crate::Wrapper::inner(self).list_dir(prefix))
        }
        $crate::wrapped!($($rest)*);
    };
    (rename_prefix $($rest:ident)*) => {
        fn rename_prefix(
            &self,
            from: &$crate::Prefix,
            to: &$crate::Prefix,
        ) -> Result<(), $crate::StoreError> {
            let call = $crate::Call::new($crate::Operation::RenamePrefix, from);
            $crate::Wrapper::around(self, &call, &mut || $crate::Wrapper::inner(self).rename_prefix(from, to))
        }
        $crate::wrapped!($($rest)*);
    };
    (flush $($rest:ident)*) => {
        fn flush(&self) -> Result<(), $crate::StoreError> {
            let call = $crate::Call::new($crate::Operation::Flush, "");
            $crate::Wrapper::around(self, &call, &mut || $crate::Wrapper::inner(self).flush())
        }
        $crate::wrapped!($($rest)*);
    };
    (lock $($rest:ident)*) => {
        fn lock(&self, key: &$crate::Key) -> Result<$crate::LockGuard, $crate::StoreError> {
            let call = $crate::Call::new($crate::Operation::Lock, key);
            $crate::Wrapper::around(self, &call, &mut || $crate::Wrapper::inner(self).lock(key))
        }
        $crate::wrapped!($($rest)*);
    };
    (exchange $($rest:ident)*) => {
        fn exchange(&self, one: &$crate::Prefix, other: &$crate::Prefix) -> Result<(), $crate::StoreError> {
            let call = $crate::Call::new($crate::Operation::RenamePrefix, one);
            $crate::Wrapper::around(self, &call, &mut || $crate::Wrapper::inner(self).exchange(one, other))
        }
        $crate::wrapped!($($rest)*);
    };
    (stamp $($rest:ident)*) => {
        fn stamp(&self, key: &$crate::Key) -> Result<$crate::Stamp, $crate::StoreError> {
            $crate::Wrapper::inner(self).stamp(key)
        }
        $crate::wrapped!($($rest)*);
    };
    (hold $($rest:ident)*) => {
        fn hold(
            &self,
            prefix: &$crate::Prefix,
            how: $crate::Hold,
        ) -> Result<$crate::HoldGuard, $crate::StoreError> {
            $crate::Wrapper::inner(self).hold(prefix, how)
        }
        $crate::wrapped!($($rest)*);
    };
    (directory $($rest:ident)*) => {
        compile_error!("`directory` is not a method that wrapped! has; write provided!(directory)");
    };
    () => {};
    ($other:ident $($rest:ident)*) => {
        compile_error!(concat!(
            "`", stringify!($other), "` is not a method that wrapped! has; write it in the `impl Store`. wrapped! has location, capabilities, open_with, get, get_ranges, get_many, size, contains, put, erase_if, erase_prefix, list_prefix, list_dir, rename_prefix, flush, lock, exchange, stamp and hold"
        ));
    };
}
