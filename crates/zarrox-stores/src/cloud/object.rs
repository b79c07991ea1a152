//! [`CloudStore`]: buckets and containers of cloud services.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use futures_util::stream::{self, StreamExt, TryStreamExt};
use object_store::list::{PaginatedListOptions, PaginatedListResult};
use object_store::path::Path;
use object_store::{
    GetOptions, GetRange, ListResult, ObjectMeta, ObjectStore, ObjectStoreExt, PutMode, PutPayload,
    UpdateVersion, WriteMultipart,
};

use super::client::{Client, Failure};
use super::failure::{Refusal, collect};
use crate::{
    AsyncStore, Blocking, ByteRange, Capabilities, Condition, DirListing, Head, Key, Pages, Prefix,
    StoreError, StoreErrorKind, ValuePart, Version,
};

/// The number of parallel requests.
const IN_FLIGHT: usize = 64;

/// The size in bytes of the parts in which large values are sent. A value has at most [`MOST_PARTS`] parts; if necessary, the
/// parts are larger.
const PART: usize = 16 << 20;
const MOST_PARTS: usize = 10_000;

/// The number of parts of a value that are sent in parallel.
const PARTS_AT_ONCE: usize = 4;

/// The number of attempts to read a suffix of a value that other writers keep replacing. After that, the whole value is read.
const ATTEMPTS: usize = 3;

/// An S3 bucket, an Azure container, or the storage behind any other `object_store` client. `S3Store` and `AzureStore` are based
/// on it.
///
/// The name of an object is the key. Objects whose names are not valid keys, such as directory markers (`a/`), are ignored. The
/// client does not support control characters in names ([`StoreErrorKind::InvalidKey`]). Its listings fail if they contain an
/// object whose name has a control character or `//` in it.
pub struct CloudStore {
    location: String,
    client: Arc<dyn ObjectStore>,
    /// Credentials and listings, for clients created by this crate.
    account: Option<Arc<dyn Client>>,
    anonymous: bool,
    /// True if the server supports suffix ranges.
    suffixes: bool,
    /// The maximum number of keys that one request erases.
    batch: usize,
    /// True if the bucket or container is known to exist.
    seen: Arc<AtomicBool>,
}

impl CloudStore {
    /// Creates a store from a client that the program has created. `location` is the store's name in errors, and must not contain
    /// secrets.
    ///
    /// The client must support `PutMode::Create` and `PutMode::Update`, by which writers exclude each other. The clients for
    /// cloud services and the in-memory client support both. `LocalFileSystem` does not; for directories, use
    /// [`DirectoryStore`](crate::DirectoryStore). Requests are retried only by the client.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use object_store::memory::InMemory;
    /// use zarrox_stores::{CloudStore, Condition, Key, Store, StoreExt};
    ///
    /// let store = CloudStore::new("my bucket", Arc::new(InMemory::new()));
    /// let key = Key::new("a/zarr.json")?;
    /// store.set(&key, b"{}", Condition::Absent)?;
    /// assert!(store.set(&key, b"{}", Condition::Absent).is_err());
    /// assert_eq!(store.get(&key)?.as_deref(), Some(&b"{}"[..]));
    /// # Ok::<(), zarrox_stores::StoreError>(())
    /// ```
    pub fn new(location: impl Into<String>, client: Arc<dyn ObjectStore>) -> Blocking<Self> {
        let seen = Arc::new(AtomicBool::new(true));
        let location = location.into();
        Blocking::new(Self {
            location,
            client,
            account: None,
            anonymous: true,
            suffixes: true,
            batch: 1_000,
            seen,
        })
    }

    pub(super) fn of_account(
        location: String,
        client: Arc<impl Client>,
        anonymous: bool,
        suffixes: bool,
    ) -> Self {
        // Only Azure does not support suffix ranges, and Azure's batches take time for each key.
        let batch = if suffixes { 1_000 } else { 50 };
        let account: Option<Arc<dyn Client>> = Some(Arc::clone(&client) as _);
        Self { location, client, account, anonymous, suffixes, batch, seen: Arc::default() }
    }

    fn place(&self, error: StoreError, key: &str) -> StoreError {
        error.with_location(self.location.as_str()).with_key(key)
    }

    fn error(&self, failure: impl Into<Failure>, operation: &'static str, key: &str) -> StoreError {
        self.place(failure.into().into_error(operation), key)
    }

    fn out_of_range(&self, range: ByteRange, key: &Key) -> StoreError {
        let message = format!("{range:?} begins outside the value");
        self.place(StoreError::new(StoreErrorKind::OutOfRange, "reading", message), key.as_str())
    }

    fn conflict(&self, operation: &'static str, key: &Key) -> StoreError {
        let message = "another writer changed the value in the meantime";
        self.place(StoreError::new(StoreErrorKind::Conflict, operation, message), key.as_str())
    }

    fn failed(&self, failed: Failed, key: &Key) -> StoreError {
        match failed {
            Failed::Store(error) => error,
            Failed::Client(Failure::Refused(Refusal { status: 412, .. })) => self.conflict("reading", key),
            Failed::Client(failure) => self.error(failure, "reading", key.as_str()),
        }
    }

    /// Obtains the credentials for the operation, and returns the name of the object.
    async fn prepare(&self, operation: &'static str, key: &Key) -> Result<Path, StoreError> {
        self.authenticate(operation, key.as_str()).await?;
        Path::parse(key.as_str()).map_err(|_| {
            let message = "names cannot contain control characters";
            self.place(StoreError::new(StoreErrorKind::InvalidKey, operation, message), key.as_str())
        })
    }

    async fn authenticate(&self, operation: &'static str, key: &str) -> Result<(), StoreError> {
        let Some(account) = self.account.as_ref().filter(|_| !self.anonymous) else { return Ok(()) };
        account.authenticate().await.map_err(|error| {
            let reason = self.error(error, operation, key);
            let message =
                "no credentials were found; set them, or the option 'anonymous' if the data are public";
            self.place(StoreError::new(StoreErrorKind::Forbidden, operation, message), key)
                .with_source(reason)
        })
    }

    /// Converts a non-empty range to the client's type.
    fn client_range(range: ByteRange) -> Option<GetRange> {
        // Some servers use signed integers.
        const MOST: u64 = i64::MAX.unsigned_abs();
        match range {
            ByteRange::From { offset: 0, length: None } => None,
            ByteRange::From { offset, length: Some(length) } if length <= MOST.saturating_sub(offset) => {
                Some(GetRange::Bounded(offset..offset + length))
            }
            ByteRange::From { offset, .. } => Some(GetRange::Offset(offset)),
            ByteRange::Suffix { length } => Some(GetRange::Suffix(length.min(MOST))),
        }
    }

    async fn get(
        &self,
        key: &Key,
        range: Option<GetRange>,
        version: Option<&Version>,
    ) -> Result<Option<ValuePart>, Failed> {
        let path = self.prepare("reading", key).await?;
        let if_match = version.map(|version| String::from_utf8_lossy(version.as_bytes()).into_owned());
        let options = GetOptions { range, if_match, ..GetOptions::default() };
        let answer = match self.client.get_opts(&path, options).await.map_err(Failure::from) {
            Ok(answer) => answer,
            Err(Failure::Refused(refusal)) if refusal.is_missing_value() => return Ok(None),
            Err(failure) => return Err(Failed::Client(failure)),
        };
        let (range, head) = (answer.range.clone(), head_of(&answer.meta));
        if version.is_some_and(|version| head.version.as_ref() != Some(version)) {
            return Err(self.conflict("reading", key).into());
        }
        let body = answer.into_stream().map_err(|error| Failure::from(error).into_error("reading"));
        let bytes = collect(body, range.end - range.start).await;
        let bytes = bytes.map_err(|error| self.place(error, key.as_str()))?;
        Ok(Some(ValuePart { offset: range.start, bytes, head }))
    }

    /// Reads a suffix of a value from a server that only supports offsets from the start.
    async fn get_end(
        &self,
        key: &Key,
        length: u64,
        version: Option<&Version>,
    ) -> Result<Option<ValuePart>, Failed> {
        for _ in 0..ATTEMPTS {
            let Some(head) = self.head(key).await? else { return Ok(None) };
            if head.size == 0 {
                return Err(self.out_of_range(ByteRange::Suffix { length }, key).into());
            }
            let start = head.size.saturating_sub(length);
            match self.get(key, Some(GetRange::Bounded(start..head.size)), version).await {
                Ok(piece) if piece.as_ref().is_none_or(|piece| piece.head == head) => return Ok(piece),
                // The value was replaced, perhaps by a value so short that the range begins beyond its end.
                Ok(_) => {}
                Err(Failed::Client(failure)) if failure.may_be_out_of_range() => {}
                Err(failed) => return Err(failed),
            }
        }
        self.get(key, None, version).await
    }

    async fn send(&self, path: &Path, value: Bytes, mode: PutMode) -> Result<(), Failure> {
        let part = PART.max(value.len().div_ceil(MOST_PARTS));
        // Conditions are only possible for values that are sent in one request.
        if value.len() <= part || mode != PutMode::Overwrite {
            self.client.put_opts(path, PutPayload::from_bytes(value), mode.into()).await?;
            return Ok(());
        }
        let mut upload = WriteMultipart::new_with_chunk_size(self.client.put_multipart(path).await?, part);
        let mut rest = value;
        while !rest.is_empty() {
            let next = rest.split_to(part.min(rest.len()));
            if let Err(error) = upload.wait_for_capacity(PARTS_AT_ONCE - 1).await {
                // The parts are discarded; the error gives the reason.
                let _ = upload.abort().await;
                return Err(error.into());
            }
            upload.put(next);
        }
        // If this fails, the client itself discards the parts.
        upload.finish().await?;
        Ok(())
    }

    fn lister(&self) -> Lister {
        Lister {
            client: Arc::clone(&self.client),
            account: self.account.clone(),
            location: self.location.clone(),
        }
    }

    fn duplicate(&self) -> Self {
        Self {
            location: self.location.clone(),
            client: Arc::clone(&self.client),
            account: self.account.clone(),
            seen: Arc::clone(&self.seen),
            ..*self
        }
    }

    /// Checks that the name of an empty object really is this key. The client does not distinguish such an object from a
    /// directory marker, whose name ends in `/`.
    async fn is_value(&self, (key, size): (Key, u64)) -> Result<Option<(Key, u64)>, StoreError> {
        if size > 0 {
            return Ok(Some((key, size)));
        }
        let head = self.head(&key).await?;
        Ok(head.map(|head| (key, head.size)))
    }
}

impl fmt::Debug for CloudStore {
    // The client's own debug output would contain secrets.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("CloudStore").field("location", &self.location).finish_non_exhaustive()
    }
}

/// The reason why a value cannot be read: an error of the client or of this crate.
enum Failed {
    Client(Failure),
    Store(StoreError),
}

impl From<StoreError> for Failed {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

fn head_of(meta: &ObjectMeta) -> Head {
    // Weak ETags can be equal for values that are equivalent but not identical.
    let strong = meta.e_tag.as_ref().filter(|tag| !tag.starts_with("W/"));
    Head { size: meta.size, version: strong.map(|tag| Version::from(tag.as_bytes())) }
}

impl AsyncStore for CloudStore {
    fn location(&self) -> String {
        self.location.clone()
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            writable: true,
            listable: true,
            set_if_absent: true,
            set_if_unchanged: true,
            values_above_values: true,
            printable_keys: true,
            in_flight: IN_FLIGHT.try_into().ok(),
            ..Capabilities::default()
        }
    }

    async fn read(
        &self,
        key: &Key,
        range: Option<ByteRange>,
        version: Option<&Version>,
    ) -> Result<Option<ValuePart>, StoreError> {
        let empty = |range: &ByteRange| {
            matches!(range, ByteRange::From { length: Some(0), .. } | ByteRange::Suffix { length: 0 })
        };
        if let Some(range) = range.filter(empty) {
            return Err(self.out_of_range(range, key));
        }
        let mut piece = match range {
            Some(ByteRange::Suffix { length }) if !self.suffixes => self.get_end(key, length, version).await,
            _ => self.get(key, range.and_then(Self::client_range), version).await,
        };
        match (&piece, range) {
            (Err(Failed::Client(Failure::WholeInstead)), _) => piece = self.get(key, None, version).await,
            (Err(Failed::Client(failure)), Some(range)) if failure.may_be_out_of_range() => {
                let head = self.head(key).await?;
                if matches!(range, ByteRange::From { offset, .. } if head.is_some_and(|head| offset >= head.size))
                {
                    return Err(self.out_of_range(range, key));
                }
            }
            _ => {}
        }
        if piece.is_ok() {
            self.seen.store(true, Ordering::Relaxed);
        }
        piece.map_err(|failed| self.failed(failed, key))
    }

    async fn head(&self, key: &Key) -> Result<Option<Head>, StoreError> {
        let path = self.prepare("reading", key).await?;
        let refusal = match self.client.head(&path).await.map_err(Failure::from) {
            Ok(meta) => {
                self.seen.store(true, Ordering::Relaxed);
                return Ok(Some(head_of(&meta)));
            }
            Err(Failure::Refused(refusal)) if refusal.is_missing_value() => refusal,
            Err(failure) => return Err(self.error(failure, "reading", key.as_str())),
        };
        if refusal.code.is_some() || self.seen.load(Ordering::Relaxed) {
            return Ok(None);
        }
        // A response without a body does not say whether it is the value or the bucket that is missing. The response to a read
        // does.
        let piece = self.get(key, Some(GetRange::Bounded(0..1)), None).await;
        let piece = piece.map_err(|failed| self.failed(failed, key))?;
        self.seen.store(true, Ordering::Relaxed);
        Ok(piece.map(|piece| piece.head))
    }

    async fn set(&self, key: &Key, value: Bytes, condition: Condition<'_>) -> Result<(), StoreError> {
        let path = self.prepare("writing", key).await?;
        let mode = match condition {
            Condition::Always | Condition::Locked(_) => PutMode::Overwrite,
            Condition::Absent => PutMode::Create,
            Condition::Matches(version) => {
                let e_tag = Some(String::from_utf8_lossy(version.as_bytes()).into_owned());
                PutMode::Update(UpdateVersion { e_tag, version: None })
            }
        };
        let Err(failure) = self.send(&path, value, mode).await else { return Ok(()) };
        let Failure::Refused(refusal) = &failure else {
            return Err(self.error(failure, "writing", key.as_str()));
        };
        match condition {
            Condition::Matches(_) if matches!(refusal.status, 409 | 412) || refusal.is_missing_value() => {
                Err(self.conflict("writing", key))
            }
            Condition::Absent if refusal.kind() == StoreErrorKind::Conflict => {
                let message = "the value already exists";
                let error = StoreError::new(StoreErrorKind::AlreadyExists, "writing", message);
                Err(self.place(error, key.as_str()))
            }
            _ => Err(self.error(failure, "writing", key.as_str())),
        }
    }

    async fn erase(&self, key: &Key, condition: Condition<'_>) -> Result<bool, StoreError> {
        condition.unconditional().map_err(|error| self.place(error, key.as_str()))?;
        // Not every server reports whether the object existed.
        if self.head(key).await?.is_none() {
            return Ok(false);
        }
        let path = self.prepare("erasing", key).await?;
        match self.client.delete(&path).await.map_err(Failure::from) {
            Ok(()) => Ok(true),
            Err(Failure::Refused(refusal)) if refusal.is_missing_value() => Ok(false),
            Err(failure) => Err(self.error(failure, "erasing", key.as_str())),
        }
    }

    async fn erase_prefix(&self, prefix: &Prefix) -> Result<(), StoreError> {
        self.authenticate("erasing", prefix.as_str()).await?;
        let mut pages = self.lister().pages(prefix, false);
        while let Some(page) = pages.next().await {
            let paths: Vec<_> = page?.result.objects.into_iter().map(|object| object.location).collect();
            for paths in paths.chunks(self.batch) {
                let paths: Vec<_> = paths.iter().cloned().map(Ok).collect();
                let mut erased = self.client.delete_stream(stream::iter(paths).boxed());
                while let Some(result) = erased.next().await {
                    match result.map_err(Failure::from) {
                        Ok(_) => {}
                        Err(Failure::Refused(refusal)) if refusal.is_missing_value() => {}
                        Err(failure) => return Err(self.error(failure, "erasing", prefix.as_str())),
                    }
                }
            }
        }
        Ok(())
    }

    fn list_prefix(&self, prefix: &Prefix) -> Pages {
        let (store, below) = (self.duplicate(), prefix.clone());
        let start = async move {
            store.authenticate("listing", below.as_str()).await?;
            let pages = store.lister().pages(&below, false);
            let store = Arc::new(store);
            let values = move |page: PaginatedListResult| {
                let (store, keys) = (Arc::clone(&store), keys_below(&below, page.result.objects));
                async move {
                    let check = |entry| {
                        let store = Arc::clone(&store);
                        async move { store.is_value(entry).await }
                    };
                    let checked = stream::iter(keys).map(check).buffered(IN_FLIGHT);
                    checked.try_filter_map(|entry| async move { Ok(entry) }).try_collect().await
                }
            };
            Ok::<_, StoreError>(pages.and_then(values))
        };
        stream::once(start).try_flatten().boxed()
    }

    async fn list_dir(&self, prefix: &Prefix) -> Result<DirListing, StoreError> {
        self.authenticate("listing", prefix.as_str()).await?;
        let mut listing = DirListing::default();
        let mut pages = self.lister().pages(prefix, true);
        while let Some(page) = pages.next().await {
            let result = page?.result;
            listing.keys.extend(keys_below(prefix, result.objects).into_iter().map(|(key, _)| key));
            let below = |path: Path| Prefix::new(format!("{path}/")).ok().filter(|below| below != prefix);
            listing.prefixes.extend(result.common_prefixes.into_iter().filter_map(below));
        }
        Ok(listing)
    }
}

/// Returns the objects whose names are valid keys, with their sizes.
fn keys_below(prefix: &Prefix, objects: Vec<ObjectMeta>) -> Vec<(Key, u64)> {
    let key = |object: ObjectMeta| Some((Key::new(String::from(object.location)).ok()?, object.size));
    objects.into_iter().filter_map(key).filter(|(key, _)| prefix.contains(key)).collect()
}

/// A lister that reads page by page.
struct Lister {
    client: Arc<dyn ObjectStore>,
    account: Option<Arc<dyn Client>>,
    location: String,
}

impl Lister {
    /// Lists a prefix page by page: either the objects at any depth, or only those directly below.
    fn pages(
        self,
        prefix: &Prefix,
        directly: bool,
    ) -> stream::BoxStream<'static, Result<PaginatedListResult, StoreError>> {
        let Some(account) = self.account else {
            return unpaged(self.client, self.location, prefix, directly);
        };
        let text = prefix.as_str().to_owned();
        let next = move |token: Option<Option<String>>| {
            let (client, location, text) = (Arc::clone(&account), self.location.clone(), text.clone());
            async move {
                let Some(page_token) = token else { return Ok(None) };
                let options = PaginatedListOptions {
                    delimiter: directly.then_some("/".into()),
                    page_token,
                    ..PaginatedListOptions::default()
                };
                let below = Some(text.as_str()).filter(|text| !text.is_empty());
                let page = client.list_paginated(below, options).await.map_err(|error| {
                    Failure::from(error).into_error("listing").with_location(location).with_key(text.as_str())
                })?;
                let rest = page.page_token.clone().map(Some);
                Ok(Some((page, rest)))
            }
        };
        stream::try_unfold(Some(None), next).boxed()
    }
}

/// Lists the objects below a prefix with a client that does not list page by page.
fn unpaged(
    client: Arc<dyn ObjectStore>,
    location: String,
    prefix: &Prefix,
    directly: bool,
) -> stream::BoxStream<'static, Result<PaginatedListResult, StoreError>> {
    let text = prefix.as_str().to_owned();
    let failed = move |error: object_store::Error| {
        Failure::from(error).into_error("listing").with_location(location.as_str()).with_key(text.as_str())
    };
    let below = Path::parse(prefix.as_str()).ok().filter(|below| !below.as_ref().is_empty());
    let page = |result| PaginatedListResult { result, page_token: None };
    if directly {
        let list = async move { client.list_with_delimiter(below.as_ref()).await.map(page).map_err(failed) };
        return stream::once(list).boxed();
    }
    let pages = client.list(below.as_ref()).map_err(failed).try_chunks(PAGE).map_err(|error| error.1);
    let result =
        |objects| ListResult { objects, common_prefixes: Vec::new(), extensions: Default::default() };
    pages.map_ok(move |objects| page(result(objects))).boxed()
}

/// The number of keys in a page.
const PAGE: usize = 1_000;
