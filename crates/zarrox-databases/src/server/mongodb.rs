//! [`MongoDbStore`].

use std::collections::HashMap;
use std::fmt;
use std::future::Future;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ::mongodb::bson::oid::ObjectId;
use ::mongodb::bson::spec::BinarySubtype;
use ::mongodb::bson::{Binary, Document, RawBsonRef, RawDocumentBuf, doc, rawdoc};
use ::mongodb::error::{Error, ErrorKind, WriteFailure};
use ::mongodb::options::{ClientOptions, ReturnDocument};
use ::mongodb::{Client, Collection, IndexModel};
use bytes::Bytes;
use futures_util::TryStreamExt;

use crate::database::digest::{Digested, conflict, version_of};
use crate::database::ordered::{KeyRange, Ordered, Page};
use zarrox_stores::internals::support::reserved;
use zarrox_stores::internals::support::runtime::wait;
use zarrox_stores::{
    ByteRange, Capabilities, Condition, DirListing, GetDone, Key, Located, LockGuard, Payload, Prefix,
    Scheme, StorageOption, StorageOptions, Store, StoreError, StoreErrorKind, StoreUrl, Value, Version,
    provided,
};

/// The database and the collection that zarr-python uses.
const DATABASE: &str = "mongodb_zarr";
const COLLECTION: &str = "zarr_collection";

/// The timeout for connecting.
const CONNECT: Duration = Duration::from_secs(5);

/// The timeout for finding a server, after which a request fails if no server is listening, as in other stores.
const FIND: Duration = Duration::from_secs(2);

/// The operating system's message if no server is listening; the driver provides no other way to recognise this case.
const REFUSED: &str = "Connection refused";

/// MongoDB's maximum size of a document, in bytes.
const LARGEST_DOCUMENT: usize = 16 << 20;

/// The size of a document without its value and key: names, types, lengths, MongoDB's identifier, and the mark of a writer that
/// compares the value.
const AROUND_VALUE: usize = 128;

/// The field that marks a document while its value is being compared. Replacing the document removes the field.
const MARK: &str = "zarrox";

/// The maximum size of a value that fits into a document, unless its key is extremely long.
const LARGEST_VALUE: usize = LARGEST_DOCUMENT - (4 << 10);

/// The number of values that are requested together.
const BATCH: usize = 64;

/// The number of attempts to write a value while another writer creates its document.
const ATTEMPTS: usize = 10;

const IN_FLIGHT: NonZeroUsize = NonZeroUsize::MIN.saturating_add(15);

/// MongoDB's error code for a duplicate value in a unique index.
const DUPLICATE_KEY: i32 = 11_000;

/// A store whose values are documents of a MongoDB collection, as in zarr-python's `MongoDBStore`.
///
/// A document is `{key: "a/b", value: Binary}`, by default in the collection `zarr_collection` of the database `mongodb_zarr`.
/// Opening the store creates a unique index on the keys of the collection, if possible. Without the index, operations are slow,
/// and [`Condition::Absent`] fails.
///
/// A document has up to 16 MiB, which limits the size of chunks and shards. Values are always read as a whole.
///
/// A value is replaced under [`Condition::Matches`] in two steps: first, a field `zarrox` with a unique ID is added to the
/// document, and the value is returned and compared; then the document is replaced if it still has this field. Every writer that
/// replaces the document in the meantime, including zarr-python, removes the field. Hence any number of processes may write.
#[derive(Clone, Debug)]
pub struct MongoDbStore(Arc<Inner>);

struct Inner {
    collection: Collection<RawDocumentBuf>,
    location: String,
    timeout: Duration,
    /// True if keys are unique.
    unique: bool,
}

/// The scheme of `mongodb://user:password@host:port/database/collection/node?options`, where the path of the node follows the
/// collection.
pub(crate) static SCHEME: Scheme = Scheme::new(&["mongodb", "mongodb+srv"], locate).with_options(&[
    StorageOption::text("user", "the user, unless the URL has one"),
    StorageOption::text("password", "the password of the user"),
    StorageOption::text("database", "the database, unless the URL has one"),
    StorageOption::text("collection", "the collection, unless the URL has one"),
]);

fn locate(url: &StoreUrl<'_>, options: &StorageOptions) -> Result<Located, StoreError> {
    let mut names = url.path().trim_start_matches('/').splitn(3, '/');
    let mut name = || names.next().unwrap_or_default();
    let (database, collection, node) = (name(), name(), name());
    let query = url.query().map_or(String::new(), |query| format!("?{query}"));
    let collection = url.with_path(&format!("/{database}/{collection}{query}"));
    let mut settings = MongoDbOptions::new();
    settings.user = options
        .get("user")
        .map(|user| (user.to_owned(), options.get("password").unwrap_or_default().to_owned()));
    settings.database = options.get("database").map(str::to_owned);
    settings.collection = options.get("collection").map(str::to_owned);
    let store = settings.open(&collection).map_err(|error| error.or_location(|| url.to_string()))?;
    Ok(Located::whole(store, node))
}

/// Options for opening a [`MongoDbStore`].
///
/// | option | default |
/// |---|---|
/// | [`database`](Self::database) | the database in the URL, or `mongodb_zarr` |
/// | [`collection`](Self::collection) | the collection in the URL, or `zarr_collection` |
/// | [`user`](Self::user) | the user in the URL, or none |
/// | [`timeout`](Self::timeout) | 30 seconds |
#[derive(Clone)]
pub struct MongoDbOptions {
    database: Option<String>,
    collection: Option<String>,
    user: Option<(String, String)>,
    timeout: Duration,
}

impl Default for MongoDbOptions {
    fn default() -> Self {
        Self { database: None, collection: None, user: None, timeout: Duration::from_secs(30) }
    }
}

impl MongoDbOptions {
    /// Creates the default options.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the database. A database in the URL takes precedence.
    #[must_use]
    pub fn database(mut self, database: impl Into<String>) -> Self {
        self.database = Some(database.into());
        self
    }

    /// Sets the collection. A collection in the URL takes precedence.
    #[must_use]
    pub fn collection(mut self, collection: impl Into<String>) -> Self {
        self.collection = Some(collection.into());
        self
    }

    /// Sets the user and the password. A user in the URL takes precedence.
    #[must_use]
    pub fn user(mut self, user: impl Into<String>, password: impl Into<String>) -> Self {
        self.user = Some((user.into(), password.into()));
        self
    }

    /// Sets the timeout for each operation.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Connects to `mongodb://user:password@host:port/database/collection?options`, or to the same URL with `mongodb+srv`. Only
    /// the host is required. Except for the collection, the URL is a MongoDB connection string, with all of its options; the
    /// database is also the authentication database, unless `authSource` names another one.
    ///
    /// # Errors
    ///
    /// [`StoreErrorKind::Unsupported`] when the URL has another form, [`StoreErrorKind::Forbidden`] when the server rejects the
    /// user, [`StoreErrorKind::Unreachable`] or [`StoreErrorKind::TimedOut`] when no server responds.
    pub fn open(self, url: &str) -> Result<MongoDbStore, StoreError> {
        let address = Address::new(url)?;
        let inner = wait(self.connect(address))??;
        Ok(MongoDbStore(Arc::new(inner)))
    }

    async fn connect(self, address: Address) -> Result<Inner, StoreError> {
        let Address { url, server, database, collection, secret } = address;
        let refuse = |error: Error| {
            // The driver's own message may repeat the URL, including the password.
            let reason = if secret { String::new() } else { format!(": {error}") };
            let message = format!("this is not the URL of a MongoDB server{reason}");
            StoreError::new(StoreErrorKind::Unsupported, "connecting", message).with_location(&server)
        };
        let mut options = match ClientOptions::parse(&url).await {
            Err(error) if matches!(*error.kind, ErrorKind::InvalidArgument { .. }) => {
                return Err(refuse(error));
            }
            parsed => parsed.map_err(|error| into_error("connecting", error).with_location(&server))?,
        };
        options.app_name.get_or_insert_with(|| "zarrox".to_owned());
        options.connect_timeout.get_or_insert(CONNECT);
        options.server_selection_timeout.get_or_insert(FIND);
        if let (None, Some((user, password))) = (&options.credential, self.user) {
            let credential = ::mongodb::options::Credential::builder().username(user).password(password);
            options.credential = Some(credential.build());
        }
        let database = database.or(self.database).unwrap_or_else(|| DATABASE.to_owned());
        let collection = collection.or(self.collection).unwrap_or_else(|| COLLECTION.to_owned());
        let location = format!("{server}/{database}/{collection}");
        let place = |error: StoreError| error.with_location(&location);
        let client = Client::with_options(options).map_err(|error| place(into_error("connecting", error)))?;
        let collection = client.database(&database).collection(&collection);
        let indexed = within(self.timeout, "connecting", find_and_index(&collection)).await;
        let unique = indexed.map_err(place)?;
        Ok(Inner { collection, location, timeout: self.timeout, unique })
    }
}

/// Creates the index, which is the first request. If the server is slow, the timeout for connecting applies.
async fn find_and_index(collection: &Collection<RawDocumentBuf>) -> Result<bool, Error> {
    let begin = Instant::now();
    loop {
        match make_index(collection).await {
            Err(error) if is_not_found(&error) && !is_refused(&error) && begin.elapsed() < CONNECT => {}
            done => return done,
        }
    }
}

/// Returns true if no server was found in time.
fn is_not_found(error: &Error) -> bool {
    matches!(*error.kind, ErrorKind::ServerSelection { .. })
}

/// Returns true if no server listens at the address.
fn is_refused(error: &Error) -> bool {
    matches!(&*error.kind, ErrorKind::ServerSelection { message, .. } if message.contains(REFUSED))
}

/// Creates the unique index on the keys, unless it exists. Returns true if the index exists afterwards.
async fn make_index(collection: &Collection<RawDocumentBuf>) -> Result<bool, Error> {
    let options = ::mongodb::options::IndexOptions::builder().unique(true).build();
    let index = IndexModel::builder().keys(doc! { "key": 1 }).options(options).build();
    match collection.create_index(index).await {
        Ok(_) => Ok(true),
        // The user may only have read access, or there may already be duplicate keys. A failed login is an error.
        Err(error) if matches!(*error.kind, ErrorKind::Command(_)) => {
            tracing::debug!(%error, "no unique index");
            collection.find_one(doc! { "key": "" }).await.map(|_| false)
        }
        Err(error) => Err(error),
    }
}

impl fmt::Debug for MongoDbOptions {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = formatter.debug_struct("MongoDbOptions");
        debug.field("database", &self.database).field("collection", &self.collection);
        debug.field("timeout", &self.timeout).finish_non_exhaustive()
    }
}

impl fmt::Debug for Inner {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Inner").field("location", &self.location).finish_non_exhaustive()
    }
}

/// The components of a URL.
struct Address {
    /// MongoDB's connection string, without the collection.
    url: String,
    /// The URL without user, path and options.
    server: String,
    database: Option<String>,
    collection: Option<String>,
    /// True if the URL may contain secrets, such as a password.
    secret: bool,
}

impl Address {
    fn new(url: &str) -> Result<Self, StoreError> {
        let refuse = || {
            let message =
                "the URL of a MongoDB server must have the form 'mongodb://host:port/database/collection'";
            StoreError::new(StoreErrorKind::Unsupported, "connecting", message)
        };
        let url = StoreUrl::parse(url).map_err(|_| refuse())?;
        if !matches!(url.scheme(), "mongodb" | "mongodb+srv") {
            return Err(refuse());
        }
        let path = url.path().strip_prefix('/').unwrap_or_default();
        let mut names =
            path.trim_end_matches('/').split('/').map(|name| Some(name).filter(|name| !name.is_empty()));
        let (database, collection) = (names.next().flatten(), names.next().flatten());
        if names.next().is_some() {
            return Err(refuse());
        }
        let options = url.query().map_or(String::new(), |options| format!("?{options}"));
        let names_of_secrets = ["password", "authmechanismproperties"];
        let secret_option = names_of_secrets.iter().any(|name| options.to_ascii_lowercase().contains(name));
        Ok(Self {
            url: url.with_path(&format!("/{}{options}", database.unwrap_or_default())),
            server: format!("{}://{}", url.scheme(), normalized(url.authority())),
            database: database.map(str::to_owned),
            collection: collection.map(str::to_owned),
            secret: url.user_info().is_some() || secret_option,
        })
    }
}

/// Returns the servers in a canonical order and spelling, so that all ways to name them result in the same location.
fn normalized(hosts: &str) -> String {
    let hosts = hosts.to_ascii_lowercase();
    let mut hosts: Vec<&str> =
        hosts.split(',').map(|host| host.strip_suffix(":27017").unwrap_or(host)).collect();
    hosts.sort_unstable();
    hosts.join(",")
}

/// Limits the time of an operation.
async fn within<T>(
    timeout: Duration,
    operation: &'static str,
    work: impl Future<Output = Result<T, Error>>,
) -> Result<T, StoreError> {
    match tokio::time::timeout(timeout, work).await {
        Ok(result) => result.map_err(|error| into_error(operation, error)),
        Err(elapsed) => {
            let message = "the MongoDB server did not respond in time";
            Err(StoreError::new(StoreErrorKind::TimedOut, operation, message).with_source(elapsed))
        }
    }
}

impl MongoDbStore {
    /// Connects to a server. See [`MongoDbOptions::open`].
    ///
    /// # Errors
    ///
    /// See [`MongoDbOptions::open`].
    pub fn open(url: &str) -> Result<Self, StoreError> {
        MongoDbOptions::new().open(url)
    }

    /// Runs the future that `work` creates from the collection, and waits for it.
    fn run<T, F>(
        &self,
        operation: &'static str,
        key: &str,
        work: impl FnOnce(Collection<RawDocumentBuf>) -> F,
    ) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, Error>> + Send + 'static,
    {
        let work = within(self.0.timeout, operation, work(self.0.collection.clone()));
        wait(work).and_then(|result| result).map_err(|error| self.place(error, key))
    }

    fn place(&self, error: StoreError, key: &str) -> StoreError {
        error.with_location(&self.0.location).with_key(key)
    }

    fn fail<T>(
        &self,
        kind: StoreErrorKind,
        operation: &'static str,
        message: &str,
        key: &Key,
    ) -> Result<T, StoreError> {
        Err(self.place(StoreError::new(kind, operation, message), key.as_str()))
    }

    /// Returns the value in a document.
    fn value(&self, key: &Key, document: &RawDocumentBuf) -> Result<Bytes, StoreError> {
        match document.get("value") {
            Ok(Some(RawBsonRef::Binary(value))) => {
                let mut bytes = reserved(value.bytes.len())?;
                bytes.extend_from_slice(value.bytes);
                Ok(bytes.into())
            }
            _ => {
                let message = "the document of this key has no binary 'value'";
                self.fail(StoreErrorKind::Obstructed, "reading", message, key)
            }
        }
    }

    /// Marks the document of a key, and returns a filter that matches the document as long as it has the mark. Returns a conflict
    /// if the value does not have this version.
    fn marked(&self, operation: &'static str, key: &Key, version: &Version) -> Result<Document, StoreError> {
        let mark = ObjectId::new();
        let this = doc! { "key": key.as_str() };
        let set = doc! { "$set": { MARK: mark } };
        let there = self.run(operation, key.as_str(), |all| async move {
            all.find_one_and_update(this, set).return_document(ReturnDocument::After).await
        })?;
        let there = there.map(|document| self.value(key, &document)).transpose()?;
        let is_same = there.is_some_and(|value| version_of(&value) == *version);
        self.matched(is_same.into(), operation, key)?;
        Ok(doc! { "key": key.as_str(), MARK: mark })
    }

    /// Returns a conflict unless a document was found.
    fn matched(&self, count: u64, operation: &'static str, key: &Key) -> Result<(), StoreError> {
        if count > 0 { Ok(()) } else { Err(self.place(conflict(operation), key.as_str())) }
    }

    /// Reads the documents of some keys, and calls `done` with each as it arrives.
    fn get_batch(&self, keys: &[Key], done: &mut dyn FnMut(&str, RawDocumentBuf)) -> Result<(), StoreError> {
        let names: Vec<&str> = keys.iter().map(Key::as_str).collect();
        let wanted = doc! { "key": { "$in": names } };
        let mut cursor = self.run("reading", "", |all| async move { all.find(wanted).await })?;
        loop {
            let next = async move { cursor.try_next().await.map(|document| (document, cursor)) };
            let (document, rest) = wait(within(self.0.timeout, "reading", next))??;
            let Some(document) = document else { return Ok(()) };
            if let Ok(name) = document.get_str("key").map(str::to_owned) {
                done(&name, document);
            }
            cursor = rest;
        }
    }
}

impl Store for MongoDbStore {
    provided!(directory get_ranges contains rename_prefix flush stamp hold exchange);

    fn location(&self) -> String {
        self.0.location.clone()
    }

    fn capabilities(&self) -> Capabilities {
        let mut capabilities = Capabilities::default();
        capabilities.writable = true;
        capabilities.listable = true;
        capabilities.set_if_absent = self.0.unique;
        capabilities.set_if_unchanged = self.0.unique;
        capabilities.erase_if_unchanged = self.0.unique;
        capabilities.digest_versions = true;
        capabilities.values_above_values = true;
        capabilities.in_flight = Some(IN_FLIGHT);
        capabilities.largest_value = Some(LARGEST_VALUE as u64);
        capabilities
    }

    fn open_with(&self, key: &Key, _first: Option<ByteRange>) -> Result<Option<Box<dyn Value>>, StoreError> {
        Ok(self.get(key)?.map(|bytes| Box::new(Digested(bytes)) as Box<dyn Value>))
    }

    fn get(&self, key: &Key) -> Result<Option<Bytes>, StoreError> {
        let wanted = doc! { "key": key.as_str() };
        let found = self.run("reading", key.as_str(), |all| async move { all.find_one(wanted).await })?;
        found.map(|document| self.value(key, &document)).transpose()
    }

    fn get_many(&self, keys: &[Key], done: &GetDone<'_>) {
        for (batch, keys) in keys.chunks(BATCH).enumerate() {
            let mut waiting: HashMap<&str, Vec<usize>> = HashMap::new();
            for (index, key) in keys.iter().enumerate() {
                waiting.entry(key.as_str()).or_default().push(index);
            }
            let found = self.get_batch(keys, &mut |name, document| {
                for index in waiting.remove(name).into_iter().flatten() {
                    done(batch * BATCH + index, self.value(&keys[index], &document).map(Some));
                }
            });
            for index in waiting.into_values().flatten() {
                // If the whole batch has failed, each remaining key is read individually, so that the error is reported for each
                // key.
                let answer = if found.is_ok() { Ok(None) } else { self.get(&keys[index]) };
                done(batch * BATCH + index, answer);
            }
        }
    }

    fn size(&self, key: &Key) -> Result<Option<u64>, StoreError> {
        let exactly =
            KeyRange { from: key.as_str().into(), before: Some([key.as_str(), "\0"].concat().into()) };
        let page = self.page(&exactly, 1).map_err(|error| self.place(error, key.as_str()))?;
        Ok(page.first().map(|(_, size)| *size))
    }

    fn put(&self, key: &Key, payload: Payload<'_>, condition: Condition<'_>) -> Result<(), StoreError> {
        let value = &*payload.bytes(key)?;
        if value.len() + key.as_str().len() + AROUND_VALUE > LARGEST_DOCUMENT {
            let message = format!("{} bytes exceed the limit of a MongoDB document, 16 MiB", value.len());
            return self.fail(StoreErrorKind::TooLarge, "writing", &message, key);
        }
        let absent = matches!(condition, Condition::Absent);
        let is_conditional = absent || matches!(condition, Condition::Matches(_));
        if is_conditional && !self.0.unique {
            let message = "the collection has no unique index on 'key', so that two programs could create the same value";
            return self.fail(StoreErrorKind::Unsupported, "writing", message, key);
        }
        let bytes = Binary { subtype: BinarySubtype::Generic, bytes: value.to_vec() };
        let document = rawdoc! { "key": key.as_str(), "value": bytes };
        if let Condition::Matches(version) = condition {
            let this = self.marked("writing", key, version)?;
            let replace = |all: Collection<_>| async move { all.replace_one(this, document).await };
            let replaced = self.run("writing", key.as_str(), replace)?;
            return self.matched(replaced.matched_count, "writing", key);
        }
        let this = doc! { "key": key.as_str() };
        let created = self.run("writing", key.as_str(), |all| async move {
            if !absent {
                return write(&all, this, document).await.map(|()| true);
            }
            match all.insert_one(document).await {
                Err(error) if code(&error) == Some(DUPLICATE_KEY) => Ok(false),
                done => done.map(|_| true),
            }
        })?;
        if created {
            return Ok(());
        }
        self.fail(StoreErrorKind::AlreadyExists, "writing", "the value already exists", key)
    }

    fn erase_if(&self, key: &Key, condition: Condition<'_>) -> Result<bool, StoreError> {
        condition.erasing().map_err(|error| self.place(error, key.as_str()))?;
        if let Condition::Matches(version) = condition {
            let this = self.marked("erasing", key, version)?;
            let erase = |all: Collection<RawDocumentBuf>| async move { all.delete_one(this).await };
            let erased = self.run("erasing", key.as_str(), erase)?;
            return self.matched(erased.deleted_count, "erasing", key).map(|()| true);
        }
        let this = doc! { "key": key.as_str() };
        let erased = self.run("erasing", key.as_str(), |all| async move { all.delete_many(this).await })?;
        Ok(erased.deleted_count > 0)
    }

    fn erase_prefix(&self, prefix: &Prefix) -> Result<(), StoreError> {
        let below = filter(&KeyRange::below(prefix));
        self.run("erasing", prefix.as_str(), |all| async move { all.delete_many(below).await.map(drop) })
    }

    fn list_prefix(
        &self,
        prefix: &Prefix,
        visit: &mut dyn FnMut(Key, u64) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        self.list_keys(prefix, visit).map_err(|error| self.place(error, prefix.as_str()))
    }

    fn list_dir(&self, prefix: &Prefix) -> Result<DirListing, StoreError> {
        self.list_directory(prefix).map_err(|error| self.place(error, prefix.as_str()))
    }

    fn lock(&self, key: &Key) -> Result<LockGuard, StoreError> {
        Ok(LockGuard::in_process(&self.0.location, key))
    }
}

/// Replaces the document of a key, or creates it. If two writers create it concurrently, the index rejects one of them.
async fn write(
    collection: &Collection<RawDocumentBuf>,
    this: Document,
    document: RawDocumentBuf,
) -> Result<(), Error> {
    let mut attempt = 1;
    loop {
        match collection.replace_one(this.clone(), &document).upsert(true).await {
            Err(error) if code(&error) == Some(DUPLICATE_KEY) && attempt < ATTEMPTS => attempt += 1,
            done => return done.map(drop),
        }
    }
}

impl Ordered for MongoDbStore {
    fn page(&self, range: &KeyRange, limit: usize) -> Result<Page, StoreError> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let mut wanted = filter(range);
        // Documents of other types belong to other programs.
        wanted.insert("value", doc! { "$type": "binData" });
        let steps = vec![
            doc! { "$match": wanted },
            doc! { "$sort": { "key": 1 } },
            doc! { "$limit": limit },
            doc! { "$project": { "_id": 0, "key": 1, "size": { "$binarySize": "$value" } } },
        ];
        let found: Vec<RawDocumentBuf> = self.run("listing", "", |all| async move {
            all.aggregate(steps).with_type().await?.try_collect().await
        })?;
        let mut page = Page::with_capacity(found.len());
        for document in found {
            let Ok(key) = document.get_str("key") else { continue };
            let size = match document.get("size") {
                Ok(Some(RawBsonRef::Int32(size))) => u64::try_from(size).ok(),
                Ok(Some(RawBsonRef::Int64(size))) => u64::try_from(size).ok(),
                _ => None,
            };
            page.push((key.into(), size.unwrap_or_default()));
        }
        // Without the index, there may be duplicate keys.
        page.dedup_by(|one, other| one.0 == other.0);
        Ok(page)
    }
}

/// Returns a filter for the documents whose keys are in a range. MongoDB compares strings bytewise, and only with other strings.
fn filter(range: &KeyRange) -> Document {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let mut bounds = doc! { "$gte": text(&range.from) };
    if let Some(before) = &range.before {
        bounds.insert("$lt", text(before));
    }
    doc! { "key": bounds }
}

/// Returns the server's error code.
fn code(error: &Error) -> Option<i32> {
    match &*error.kind {
        ErrorKind::Command(error) => Some(error.code),
        ErrorKind::Write(WriteFailure::WriteError(error)) => Some(error.code),
        ErrorKind::Write(WriteFailure::WriteConcernError(error)) => Some(error.code),
        _ => None,
    }
}

/// Converts an error of the driver. The location and the key are added by the caller.
fn into_error(operation: &'static str, error: Error) -> StoreError {
    use StoreErrorKind as Kind;
    let by_code = code(&error).and_then(describe);
    let (kind, message) = match (&*error.kind, by_code) {
        (_, Some(known)) => known,
        (ErrorKind::Authentication { .. }, _) => {
            (Kind::Forbidden, "the MongoDB server rejected the user or the password")
        }
        (ErrorKind::Io(io), _) if io.kind() == std::io::ErrorKind::TimedOut => {
            (Kind::TimedOut, "the MongoDB server did not respond in time")
        }
        (
            ErrorKind::Io(_)
            | ErrorKind::ServerSelection { .. }
            | ErrorKind::DnsResolve { .. }
            | ErrorKind::ConnectionPoolCleared { .. },
            _,
        ) => (Kind::Unreachable, "the MongoDB server cannot be reached"),
        _ => return StoreError::new(Kind::Other, operation, error.to_string()).with_source(error),
    };
    let made = StoreError::new(kind, operation, message);
    let refused = std::io::Error::from(std::io::ErrorKind::ConnectionRefused);
    let made = if is_refused(&error) { made.because_of(&refused) } else { made };
    made.with_source(error)
}

/// Returns the error kind and the message for a MongoDB error code, if the kind is more specific than "other".
fn describe(code: i32) -> Option<(StoreErrorKind, &'static str)> {
    use StoreErrorKind as Kind;
    Some(match code {
        13 | 18 | 8000 => (Kind::Forbidden, "the MongoDB server does not permit this operation to the user"),
        50 | 89 | 202 | 262 => (Kind::TimedOut, "the MongoDB server did not finish in time"),
        6 | 7 | 91 | 189 | 9001 | 10_107 | 11_600 | 11_602 | 13_435 | 13_436 => {
            (Kind::Unreachable, "the MongoDB server is not ready")
        }
        10_334 | 17_419 | 17_420 => (Kind::TooLarge, "a MongoDB document has at most 16 MiB"),
        14_031 => (Kind::StorageFull, "the MongoDB server has no space left on its disk"),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_have_one_name_however_they_are_written() {
        let address = |url| Address::new(url).unwrap();
        let one = address("mongodb://me:hush@B.example:27017,a.example:1/d/c?tls=true");
        assert_eq!(one.server, "mongodb://a.example:1,b.example");
        assert_eq!((one.database.as_deref(), one.collection.as_deref()), (Some("d"), Some("c")));
        assert_eq!(one.url, "mongodb://me:hush@B.example:27017,a.example:1/d?tls=true");
        assert_eq!(address("mongodb://a.example:1,b.example").server, one.server);
    }

    #[test]
    fn secret_options_are_recognized() {
        let secret = |url| Address::new(url).unwrap().secret;
        assert!(secret("mongodb://me:hush@h"));
        assert!(secret("mongodb://h/?tlsCertificateKeyFilePassword=hush"));
        assert!(secret("mongodb://h/?authMechanismProperties=AWS_SESSION_TOKEN:hush"));
        assert!(!secret("mongodb://h/d/c?tls=true"));
    }
}
