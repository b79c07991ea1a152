//! Stores whose clients are asynchronous: [`AsyncStore`], and the adapters to and from [`Store`].

use std::fmt::Debug;
use std::future::Future;
use std::ops::{ControlFlow, Range};
use std::sync::Arc;

use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};

use crate::runtime::{spawn, wait};
use crate::store::{WHOLE, checked_length, ranges_of};
use crate::{
    ByteParts, ByteRange, Capabilities, Condition, DirListing, GetDone, Key, LockGuard, Payload, Prefix,
    Store, StoreError, StoreErrorKind, Value, Version, provided,
};

/// The number of requests that one call sends in parallel, unless the store sets its own number.
const IN_FLIGHT: usize = 16;

/// The number of attempts to read parts of a value that other writers keep replacing. After that, the whole value is read.
const ATTEMPTS: usize = 3;

/// The pages of a listing: keys, and the sizes of their values in bytes.
pub type Pages = BoxStream<'static, Result<Vec<(Key, u64)>, StoreError>>;

/// A store with asynchronous methods: a map from keys to values like [`Store`], with the same guarantees. [`Blocking`] adapts it
/// to [`Store`].
///
/// Its futures run on this crate's threads, inside a Tokio runtime.
pub trait AsyncStore: Debug + Send + Sync + 'static {
    /// Returns the name of this store in errors. See [`Store::location`].
    fn location(&self) -> String;

    /// Returns the capabilities of this store.
    fn capabilities(&self) -> Capabilities;

    /// Reads a range of the value, or the whole value, in one request. Returns `None` if the key is missing.
    ///
    /// # Errors
    ///
    /// [`StoreErrorKind::OutOfRange`] when the range begins outside the value, [`StoreErrorKind::Conflict`] when the value no
    /// longer has the version `version`, and an error when the value exists but cannot be read.
    fn read(
        &self,
        key: &Key,
        range: Option<ByteRange>,
        version: Option<&Version>,
    ) -> impl Future<Output = Result<Option<ValuePart>, StoreError>> + Send;

    /// Returns the size and the version of the value, or `None` if the key is missing.
    ///
    /// # Errors
    ///
    /// When the store cannot determine them.
    fn head(&self, key: &Key) -> impl Future<Output = Result<Option<Head>, StoreError>> + Send;

    /// Writes a value. See [`Store::put`].
    ///
    /// # Errors
    ///
    /// See [`Store::put`].
    fn set(
        &self,
        key: &Key,
        value: Bytes,
        condition: Condition<'_>,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Erases a value. Returns true if it existed. See [`Store::erase_if`].
    ///
    /// # Errors
    ///
    /// See [`Store::erase_if`].
    fn erase(
        &self,
        key: &Key,
        condition: Condition<'_>,
    ) -> impl Future<Output = Result<bool, StoreError>> + Send;

    /// Erases every key below the prefix. See [`Store::erase_prefix`].
    ///
    /// # Errors
    ///
    /// See [`Store::erase_prefix`].
    fn erase_prefix(&self, prefix: &Prefix) -> impl Future<Output = Result<(), StoreError>> + Send {
        erase_listed(self, self.list_prefix(prefix))
    }

    /// Lists every key below the prefix, at any depth, page by page.
    fn list_prefix(&self, prefix: &Prefix) -> Pages;

    /// Lists the keys and prefixes directly below a prefix, in any order.
    ///
    /// # Errors
    ///
    /// When the prefix cannot be listed. A missing prefix has an empty listing.
    fn list_dir(&self, prefix: &Prefix) -> impl Future<Output = Result<DirListing, StoreError>> + Send;
}

/// The properties of a value without its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    /// The length of the value in bytes.
    pub size: u64,
    /// The version of the value, if the store reports it.
    pub version: Option<Version>,
}

/// A range of a value, after it was read.
#[derive(Clone, Debug)]
pub struct ValuePart {
    /// The offset of the first byte in the value.
    pub offset: u64,
    /// The bytes.
    pub bytes: ByteParts,
    /// The properties of the value from which the bytes were read.
    pub head: Head,
}

async fn erase_listed<S: AsyncStore + ?Sized>(store: &S, mut pages: Pages) -> Result<(), StoreError> {
    while let Some(page) = pages.next().await {
        let erase = |(key, _)| async move { store.erase(&key, Condition::Always).await };
        let mut erased = stream::iter(page?).map(erase).buffer_unordered(in_flight(store.capabilities()));
        while let Some(result) = erased.next().await {
            result?;
        }
    }
    Ok(())
}

fn in_flight(capabilities: Capabilities) -> usize {
    capabilities.in_flight.map_or(IN_FLIGHT, usize::from)
}

/// An adapter from an asynchronous store to [`Store`]. It works both inside and outside of a runtime.
#[derive(Debug)]
pub struct Blocking<S>(Arc<S>);

impl<S: AsyncStore> Blocking<S> {
    /// Adapts a store.
    pub fn new(store: S) -> Self {
        Self(Arc::new(store))
    }

    /// Returns the adapted store.
    #[doc(hidden)]
    pub fn inner(&self) -> &S {
        &self.0
    }

    /// Runs the future that `work` creates from the store, and waits for it.
    fn wait<T, F>(&self, work: impl FnOnce(Arc<S>) -> F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, StoreError>> + Send + 'static,
    {
        wait(work(Arc::clone(&self.0))).and_then(|result| result)
    }

    /// Opens a value by reading a range of it or all of it.
    fn first(&self, key: &Key, range: Option<ByteRange>) -> Result<Option<RemoteValue<S>>, StoreError> {
        let own = key.clone();
        let piece = self.wait(|store| async move {
            let piece = match store.read(&own, range, None).await {
                Err(error) if error.kind() == StoreErrorKind::OutOfRange => {
                    let nothing = |head| ValuePart { offset: 0, bytes: ByteParts::default(), head };
                    store.head(&own).await?.map(nothing)
                }
                piece => piece?,
            };
            match piece {
                // Without a version, ranges that are read later could belong to another version.
                Some(ValuePart { head, bytes, .. })
                    if head.version.is_none() && bytes.len() as u64 != head.size =>
                {
                    store.read(&own, None, None).await
                }
                piece => Ok(piece),
            }
        })?;
        Ok(piece.map(|piece| self.value(key, piece)))
    }

    /// Opens a value without reading a range.
    fn unread(&self, key: &Key) -> Result<Option<RemoteValue<S>>, StoreError> {
        let own = key.clone();
        let piece = self.wait(|store| async move {
            match store.head(&own).await? {
                // Without a version, only the bytes of a single request are known to belong together.
                Some(Head { version: None, .. }) => store.read(&own, None, None).await,
                head => Ok(head.map(|head| ValuePart { offset: 0, bytes: ByteParts::default(), head })),
            }
        })?;
        Ok(piece.map(|piece| self.value(key, piece)))
    }

    fn value(&self, key: &Key, first: ValuePart) -> RemoteValue<S> {
        RemoteValue { store: Arc::clone(&self.0), key: key.clone(), first }
    }
}

impl<S> Clone for Blocking<S> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<S: AsyncStore> Store for Blocking<S> {
    provided!(directory contains rename_prefix flush stamp hold exchange);

    fn location(&self) -> String {
        self.0.location()
    }

    fn capabilities(&self) -> Capabilities {
        // The adapter's locks only exclude other threads of this process.
        Capabilities { erase_if_unchanged: false, locks_everyone: false, ..self.0.capabilities() }
    }

    fn open_with(&self, key: &Key, first: Option<ByteRange>) -> Result<Option<Box<dyn Value>>, StoreError> {
        let value = match first {
            Some(first) => self.first(key, Some(first).filter(|first| *first != WHOLE))?,
            None => self.unread(key)?,
        };
        Ok(value.map(|value| Box::new(value) as Box<dyn Value>))
    }

    fn get(&self, key: &Key) -> Result<Option<Bytes>, StoreError> {
        Ok(self.first(key, None)?.map(|value| value.first.bytes.into()))
    }

    fn get_ranges(&self, key: &Key, ranges: &[ByteRange]) -> Result<Option<Vec<Bytes>>, StoreError> {
        let Some(&first) = ranges.first() else { return Ok(self.size(key)?.map(|_| Vec::new())) };
        for range in std::iter::repeat_n(first, ATTEMPTS).chain([WHOLE]) {
            let Some(value) = self.open_with(key, Some(range))? else { return Ok(None) };
            match ranges_of(self, key, &*value, ranges) {
                Err(error) if error.kind() == StoreErrorKind::Conflict && range != WHOLE => {}
                read => return read.map(Some),
            }
        }
        Ok(None)
    }

    fn get_many(&self, keys: &[Key], done: &GetDone<'_>) {
        let (sender, answers) = std::sync::mpsc::channel();
        let (store, keys_of_all) = (Arc::clone(&self.0), keys.to_vec());
        let read_all = async move {
            let read = |(index, key): (usize, Key)| {
                let store = Arc::clone(&store);
                async move { (index, store.read(&key, None, None).await) }
            };
            let at_once = in_flight(store.capabilities());
            let mut all =
                stream::iter(keys_of_all.into_iter().enumerate()).map(read).buffer_unordered(at_once);
            while let Some(answer) = all.next().await {
                if sender.send(answer).is_err() {
                    return;
                }
            }
        };
        if spawn(read_all).is_err() {
            return keys.iter().enumerate().for_each(|(index, key)| done(index, self.get(key)));
        }
        let mut missing: Vec<bool> = vec![true; keys.len()];
        for (index, answer) in answers {
            missing[index] = false;
            done(index, answer.map(|piece| piece.map(|piece| piece.bytes.into())));
        }
        // Results are missing only if the client panicked.
        for (index, _) in missing.into_iter().enumerate().filter(|(_, missing)| *missing) {
            done(index, self.get(&keys[index]));
        }
    }

    fn size(&self, key: &Key) -> Result<Option<u64>, StoreError> {
        let key = key.clone();
        Ok(self.wait(|store| async move { store.head(&key).await })?.map(|head| head.size))
    }

    fn put(&self, key: &Key, payload: Payload<'_>, condition: Condition<'_>) -> Result<(), StoreError> {
        let (value, key, condition) = (payload.into_owned(key)?, key.clone(), OwnCondition::of(condition));
        self.wait(|store| async move { store.set(&key, value, condition.get()).await })
    }

    fn erase_if(&self, key: &Key, condition: Condition<'_>) -> Result<bool, StoreError> {
        let (key, condition) = (key.clone(), OwnCondition::of(condition));
        self.wait(|store| async move { store.erase(&key, condition.get()).await })
    }

    fn erase_prefix(&self, prefix: &Prefix) -> Result<(), StoreError> {
        let prefix = prefix.clone();
        self.wait(|store| async move { store.erase_prefix(&prefix).await })
    }

    fn list_prefix(
        &self,
        prefix: &Prefix,
        visit: &mut dyn FnMut(Key, u64) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        let prefix = prefix.clone();
        let mut pages = self.wait(|store| async move { Ok(store.list_prefix(&prefix)) })?;
        loop {
            let (page, rest) = self.wait(|_| async move { Ok((pages.next().await, pages)) })?;
            let Some(page) = page else { return Ok(()) };
            for (key, size) in page? {
                if visit(key, size).is_break() {
                    return Ok(());
                }
            }
            pages = rest;
        }
    }

    fn list_dir(&self, prefix: &Prefix) -> Result<DirListing, StoreError> {
        let prefix = prefix.clone();
        self.wait(|store| async move { store.list_dir(&prefix).await }).map(DirListing::sorted)
    }

    fn lock(&self, key: &Key) -> Result<LockGuard, StoreError> {
        Ok(LockGuard::in_process(&self.location(), key))
    }
}

/// A condition that can be sent to another thread. It has no variant for locks, since the locks of this process have no meaning
/// for remote storage.
enum OwnCondition {
    Always,
    Absent,
    Matches(Version),
}

impl OwnCondition {
    fn of(condition: Condition<'_>) -> Self {
        match condition {
            Condition::Always | Condition::Locked(_) => Self::Always,
            Condition::Absent => Self::Absent,
            Condition::Matches(version) => Self::Matches(version.clone()),
        }
    }

    fn get(&self) -> Condition<'_> {
        match self {
            Self::Always => Condition::Always,
            Self::Absent => Condition::Absent,
            Self::Matches(version) => Condition::Matches(version),
        }
    }
}

/// One version of a remote value, part of which has already been read.
struct RemoteValue<S> {
    store: Arc<S>,
    key: Key,
    first: ValuePart,
}

impl<S: AsyncStore> RemoteValue<S> {
    /// Requests a range that lies within the value.
    fn fetch(&self, range: Range<u64>) -> Result<ByteParts, StoreError> {
        let (store, key, head) = (Arc::clone(&self.store), self.key.clone(), self.first.head.clone());
        let length = range.end - range.start;
        let wanted = ByteRange::From { offset: range.start, length: Some(length) };
        let read = async move { store.read(&key, Some(wanted), head.version.as_ref()).await };
        let same = |piece: &ValuePart| {
            (piece.head.size, piece.offset, piece.bytes.len() as u64) == (self.size(), range.start, length)
        };
        let piece = wait(read)??.filter(same);
        piece.map(|piece| piece.bytes).ok_or_else(|| {
            let message = "another writer changed the value in the meantime";
            let error = StoreError::new(StoreErrorKind::Conflict, "reading", message);
            error.with_location(self.store.location()).with_key(self.key.as_str())
        })
    }

    /// Returns the position of a range within the first part, if the first part contains all of it.
    fn at_hand(&self, range: &Range<u64>) -> Option<Range<usize>> {
        let ValuePart { offset, bytes, .. } = &self.first;
        let start = usize::try_from(range.start.checked_sub(*offset)?).ok()?;
        let end = usize::try_from(range.end.checked_sub(*offset)?).ok()?;
        (end <= bytes.len()).then_some(start..end)
    }
}

impl<S: AsyncStore> Value for RemoteValue<S> {
    fn size(&self) -> u64 {
        self.first.head.size
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), StoreError> {
        let length = buffer.len() as u64;
        checked_length(self.size(), offset, length)?;
        let range = offset..offset + length;
        let copied = match self.at_hand(&range) {
            Some(here) => self.first.bytes.copy_to(here.start, buffer),
            None if range.is_empty() => Some(()),
            None => self.fetch(range)?.copy_to(0, buffer),
        };
        debug_assert!(copied.is_some(), "the range was checked");
        Ok(())
    }

    fn as_bytes(&self) -> Option<&Bytes> {
        self.first.bytes.as_bytes().filter(|_| self.is_in_memory())
    }

    fn is_in_memory(&self) -> bool {
        self.first.bytes.len() as u64 == self.size()
    }

    fn version(&self) -> Option<Version> {
        self.first.head.version.clone()
    }

    fn read(&self, offset: u64, length: u64) -> Result<Bytes, StoreError> {
        checked_length(self.size(), offset, length)?;
        let range = offset..offset + length;
        match self.at_hand(&range) {
            Some(here) => Ok(self.first.bytes.slice(here).unwrap_or_default()),
            None if range.is_empty() => Ok(Bytes::new()),
            None => self.fetch(range).map(Bytes::from),
        }
    }
}
