//! [`GcsStore`].
//!
//! Credentials come from the `object_store` crate, but requests use the JSON API, which emulators fully support, and not the XML
//! API that `object_store` uses.

use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use futures_util::{StreamExt, stream};
use object_store::gcp::{GcpCredentialProvider, GoogleCloudStorageBuilder};
use object_store::{ClientOptions, RetryConfig};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use reqwest::header::{ACCEPT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, RANGE};
use reqwest::{Body, Client, Method, RequestBuilder, Response, StatusCode, Url};
use serde_json::{Value as Json, json};

use crate::url::options::StorageOption;
use crate::url::scheme::{Located, Scheme};
use crate::web::{self, body, part, range_header, refused, send};
use crate::{
    AsyncStore, Blocking, ByteRange, Capabilities, Condition, DirListing, Head, Key, Pages, Prefix,
    StoreError, StoreErrorKind, ValuePart, Version,
};

const GOOGLE: &str = "https://storage.googleapis.com";

/// The environment variable with the address of an emulator. Google's own clients use it as well.
const EMULATOR: &str = "STORAGE_EMULATOR_HOST";

/// The maximum number of entries in a page of a listing, which is set by the service.
const PAGE: u32 = 1_000;

/// The maximum size of a response that is not a value: a page of names of 1,024 bytes each, escaped.
const ANSWER: u64 = 16 << 20;

/// The characters that are escaped in a path segment or in the value of a query parameter.
const ESCAPED: AsciiSet = NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

pub(crate) static SCHEME: Scheme = Scheme::new(&["gs", "gcs"], |url, options| {
    let mut gcs = GcsOptions::new();
    if let Some(endpoint) = options.get("endpoint") {
        gcs = gcs.endpoint(endpoint);
    }
    if let Some(path) = options.get("credentials_file") {
        gcs = gcs.credentials_file(path);
    }
    if let Some(token) = options.get("token") {
        gcs = gcs.token(token);
    }
    if options.flag("anonymous")? == Some(true) {
        gcs = gcs.anonymous();
    }
    Ok(Located::one_of_many(gcs.open(url.authority())?, url.path()))
})
.with_options(&[
    StorageOption::text("endpoint", "the URL of a server other than Google's"),
    StorageOption::text("token", "an access token"),
    StorageOption::text("credentials_file", "the JSON file of a service account or user"),
    StorageOption::flag("anonymous", "send requests without credentials"),
]);

/// A store that keeps each value as an object in a Google Cloud Storage bucket. The name of the object is the key.
///
/// | option | default |
/// |---|---|
/// | [`credentials_file`](GcsOptions::credentials_file), [`token`](GcsOptions::token), [`anonymous`](GcsOptions::anonymous) | the application default credentials: the file named by `GOOGLE_APPLICATION_CREDENTIALS`, the file written by `gcloud auth application-default login`, or the machine's service account |
/// | [`endpoint`](GcsOptions::endpoint) | `STORAGE_EMULATOR_HOST`, with anonymous requests; if it is not set, Google's endpoint |
/// | [`timeout`](GcsOptions::timeout) | 60 seconds |
///
/// A value's version is its generation. Conditional writes compare generations, and all ranges that are read from an open value
/// belong to the same generation. Objects with `Content-Encoding: gzip` are read as stored, without decompression.
///
/// Requests are not retried here.
#[derive(Clone)]
pub struct GcsStore {
    client: Client,
    endpoint: Url,
    bucket: String,
    account: Account,
    /// True if the bucket is known to exist, so that only the object can be missing.
    known: Arc<AtomicBool>,
}

/// Options for opening a [`GcsStore`].
#[derive(Clone)]
pub struct GcsOptions {
    endpoint: Option<String>,
    login: Login,
    timeout: Duration,
}

/// The credentials that were set in the options.
#[derive(Clone)]
enum Login {
    Default,
    File(PathBuf),
    Token(String),
    Anonymous,
}

/// The identity that authenticates requests.
#[derive(Clone)]
enum Account {
    Anonymous,
    Token(String),
    Google(GcpCredentialProvider),
}

impl Default for GcsOptions {
    fn default() -> Self {
        Self { endpoint: None, login: Login::Default, timeout: Duration::from_secs(60) }
    }
}

impl GcsOptions {
    /// Creates the default options.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the URL of the service, such as `http://127.0.0.1:4443` for an emulator.
    #[must_use]
    pub fn endpoint(mut self, url: impl Into<String>) -> Self {
        self.endpoint = Some(url.into());
        self
    }

    /// Sets the JSON file with the credentials of a service account or a user.
    #[must_use]
    pub fn credentials_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.login = Login::File(path.into());
        self
    }

    /// Sets an OAuth 2 access token, which is not renewed.
    #[must_use]
    pub fn token(mut self, token: impl Into<String>) -> Self {
        self.login = Login::Token(token.into());
        self
    }

    /// Sends requests without credentials. Public buckets and emulators allow this.
    #[must_use]
    pub fn anonymous(mut self) -> Self {
        self.login = Login::Anonymous;
        self
    }

    /// Sets the maximum time without any bytes from the server.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Opens a bucket. A missing bucket is detected on first use.
    ///
    /// # Errors
    ///
    /// [`StoreErrorKind::InvalidKey`] when the name of the bucket is empty, and an error when the endpoint is not a URL or the
    /// credentials file cannot be read.
    pub fn open(self, bucket: &str) -> Result<Blocking<GcsStore>, StoreError> {
        if bucket.is_empty() {
            let message = "the URL has no bucket; the form is 'gs://bucket/path'";
            return Err(StoreError::new(StoreErrorKind::InvalidKey, "opening", message));
        }
        let emulator = std::env::var(EMULATOR).ok().filter(|host| !host.is_empty());
        let login = match self.login {
            Login::Default if emulator.is_some() && self.endpoint.is_none() => Login::Anonymous,
            login => login,
        };
        let endpoint = endpoint(self.endpoint.or(emulator).as_deref().unwrap_or(GOOGLE))?;
        let account = account(login, bucket, self.timeout)?;
        let client = web::client(self.timeout)?;
        let known = Arc::default();
        Ok(Blocking::new(GcsStore { client, endpoint, bucket: bucket.to_owned(), account, known }))
    }
}

impl fmt::Debug for GcsOptions {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let login = match &self.login {
            Login::Default => "default",
            Login::File(_) => "file",
            Login::Token(_) => "token",
            Login::Anonymous => "anonymous",
        };
        let mut debug = formatter.debug_struct("GcsOptions");
        debug.field("login", &login).field("timeout", &self.timeout).finish_non_exhaustive()
    }
}

/// Parses the service's URL; the scheme may be missing in `STORAGE_EMULATOR_HOST`.
fn endpoint(text: &str) -> Result<Url, StoreError> {
    let whole = if text.contains("://") { text.to_owned() } else { format!("http://{text}") };
    let url =
        Url::parse(&whole).ok().filter(|url| url.has_host() && matches!(url.scheme(), "http" | "https"));
    let mut url = url.ok_or_else(|| {
        let message = "the endpoint of Google Cloud Storage must be a URL of the form 'https://host'";
        StoreError::new(StoreErrorKind::Other, "connecting", message)
    })?;
    // A query or fragment is not valid here, and could contain secrets.
    url.set_query(None);
    url.set_fragment(None);
    Ok(url)
}

fn account(login: Login, bucket: &str, timeout: Duration) -> Result<Account, StoreError> {
    let builder = match login {
        Login::Anonymous => return Ok(Account::Anonymous),
        Login::Token(token) => return Ok(Account::Token(token)),
        Login::Default => GoogleCloudStorageBuilder::from_env(),
        Login::File(path) => {
            GoogleCloudStorageBuilder::new().with_application_credentials(path.to_string_lossy())
        }
    };
    let retry = RetryConfig { max_retries: 1, retry_timeout: timeout, ..RetryConfig::default() };
    let client = ClientOptions::new().with_timeout(timeout);
    let store = builder.with_bucket_name(bucket).with_retry(retry).with_client_options(client).build();
    let store = store.map_err(|error| no_credentials(&error))?;
    Ok(Account::Google(store.credentials().clone()))
}

/// Returns the error without its source, which may quote the credentials file.
fn no_credentials(error: &object_store::Error) -> StoreError {
    tracing::debug!(kind = error_kind(error), "no credentials for Google Cloud Storage");
    let message = "no credentials for Google Cloud Storage were found; set GOOGLE_APPLICATION_CREDENTIALS, run \
                   'gcloud auth application-default login', or set the option 'anonymous' if the bucket is public";
    StoreError::new(StoreErrorKind::Forbidden, "connecting", message)
}

fn error_kind(error: &object_store::Error) -> &'static str {
    match error {
        object_store::Error::Generic { .. } => "generic",
        object_store::Error::Unauthenticated { .. } => "unauthenticated",
        object_store::Error::PermissionDenied { .. } => "denied",
        _ => "other",
    }
}

impl fmt::Debug for GcsStore {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("GcsStore").field(&self.location()).finish()
    }
}

impl GcsStore {
    /// Returns a URL below the endpoint, with escaped parts.
    fn url(&self, parts: &[&str]) -> Url {
        let mut url = self.endpoint.clone();
        let mut path = url.path().trim_end_matches('/').to_owned();
        for part in parts {
            path.push('/');
            path.extend(utf8_percent_encode(part, &ESCAPED));
        }
        url.set_path(&path);
        url
    }

    /// Returns the URL of the bucket's object collection, or of the object with a key.
    fn objects(&self, key: Option<&Key>) -> Url {
        let parts = ["storage", "v1", "b", &self.bucket, "o"];
        match key {
            None => self.url(&parts),
            Some(key) => self.url(&[&parts[..], &[key.as_str()]].concat()),
        }
    }

    async fn request(
        &self,
        method: Method,
        mut url: Url,
        query: &[(&str, &str)],
    ) -> Result<RequestBuilder, StoreError> {
        let pairs =
            query.iter().map(|(name, value)| format!("{name}={}", utf8_percent_encode(value, &ESCAPED)));
        url.set_query(
            Some(&pairs.collect::<Vec<_>>().join("&"))
                .filter(|query| !query.is_empty())
                .map(|query| &**query),
        );
        let request = self.client.request(method, url);
        match &self.account {
            Account::Anonymous => Ok(request),
            Account::Token(token) => Ok(request.bearer_auth(token)),
            Account::Google(provider) => {
                let credential = provider.get_credential().await.map_err(|error| no_credentials(&error))?;
                Ok(request.bearer_auth(&credential.bearer))
            }
        }
    }

    /// Returns the response, `None` if the object is missing, or an error if the bucket is missing.
    async fn present(
        &self,
        operation: &'static str,
        response: Response,
    ) -> Result<Option<Response>, StoreError> {
        match response.status() {
            status if status.is_success() => {
                self.known.store(true, Ordering::Relaxed);
                Ok(Some(response))
            }
            StatusCode::NOT_FOUND => self.bucket_exists().await.map(|()| None),
            _ => Err(refused(operation, response).await),
        }
    }

    /// Returns an error if the bucket does not exist. If listing the bucket is not permitted, the bucket is assumed to exist.
    async fn bucket_exists(&self) -> Result<(), StoreError> {
        if self.known.load(Ordering::Relaxed) {
            return Ok(());
        }
        let query = [("maxResults", "1"), ("fields", "kind")];
        let response = send("reading", self.request(Method::GET, self.objects(None), &query).await?).await?;
        match response.status() {
            StatusCode::NOT_FOUND => Err(self.no_bucket("reading")),
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => Ok(()),
            status if status.is_success() => {
                self.known.store(true, Ordering::Relaxed);
                Ok(())
            }
            _ => Err(refused("reading", response).await),
        }
    }

    fn no_bucket(&self, operation: &'static str) -> StoreError {
        let message = format!("the bucket '{}' does not exist", self.bucket);
        StoreError::new(StoreErrorKind::NotFound, operation, message)
    }

    async fn read_object(
        &self,
        key: &Key,
        range: Option<ByteRange>,
        version: Option<&Version>,
    ) -> Result<Option<ValuePart>, StoreError> {
        let generation = version.map(generation_of).transpose()?;
        let mut query = vec![("alt", "media")];
        query.extend(generation.map(|generation| ("generation", generation)));
        // With this header, compressed objects arrive as stored, and ranges refer to the stored bytes.
        let request =
            self.request(Method::GET, self.objects(Some(key)), &query).await?.header(ACCEPT_ENCODING, "gzip");
        let request = match range {
            None => request,
            Some(range) => request.header(RANGE, range_header(range)?),
        };
        let Some(response) = self.present("reading", send("reading", request).await?).await? else {
            if version.is_some() {
                return Err(conflict("reading"));
            }
            return Ok(None);
        };
        let part = part(response, range).await?;
        let version = part.headers.get("x-goog-generation").map(|generation| generation.as_bytes().into());
        Ok(Some(ValuePart {
            offset: part.offset,
            bytes: part.bytes.into(),
            head: Head { size: part.size, version },
        }))
    }

    async fn head_object(&self, key: &Key) -> Result<Option<Head>, StoreError> {
        let query = [("fields", "size,generation")];
        let request = self.request(Method::GET, self.objects(Some(key)), &query).await?;
        let Some(response) = self.present("reading", send("reading", request).await?).await? else {
            return Ok(None);
        };
        let object = json_of("reading", response).await?;
        let version = object["generation"].as_str().map(|generation| generation.as_bytes().into());
        Ok(Some(Head { size: size_of("reading", &object)?, version }))
    }

    /// Uploads metadata and value in one request, the only kind of upload that is known to check all conditions.
    async fn insert(&self, key: &Key, value: Bytes, condition: Condition<'_>) -> Result<(), StoreError> {
        let generation = match condition {
            Condition::Always | Condition::Locked(_) => None,
            Condition::Absent => Some("0"),
            Condition::Matches(version) => Some(generation_of(version)?),
        };
        let mut query = vec![("uploadType", "multipart"), ("fields", "generation")];
        query.extend(generation.map(|generation| ("ifGenerationMatch", generation)));
        let url = self.url(&["upload", "storage", "v1", "b", &self.bucket, "o"]);
        let boundary = boundary();
        let metadata = json!({ "name": key.as_str(), "contentType": "application/octet-stream" });
        let before = format!(
            "--{boundary}\r\nContent-Type: application/json; charset=UTF-8\r\n\r\n{metadata}\r\n\
             --{boundary}\r\nContent-Type: application/octet-stream\r\n\r\n"
        );
        let parts = [Bytes::from(before), value, Bytes::from(format!("\r\n--{boundary}--\r\n"))];
        let length: usize = parts.iter().map(Bytes::len).sum();
        let body = Body::wrap_stream(stream::iter(parts.map(Ok::<_, std::io::Error>)));
        let request = self.request(Method::POST, url, &query).await?;
        let request = request
            .header(CONTENT_TYPE, format!("multipart/related; boundary={boundary}"))
            .header(CONTENT_LENGTH, length)
            .body(body);
        let response = send("writing", request).await?;
        match (response.status(), condition) {
            (status, _) if status.is_success() => Ok(()),
            (StatusCode::PRECONDITION_FAILED, Condition::Absent) => {
                let message = "the value already exists";
                Err(StoreError::new(StoreErrorKind::AlreadyExists, "writing", message))
            }
            (StatusCode::PRECONDITION_FAILED, _) | (StatusCode::NOT_FOUND, Condition::Matches(_)) => {
                Err(conflict("writing"))
            }
            (StatusCode::NOT_FOUND, _) => Err(self.no_bucket("writing")),
            _ => Err(refused("writing", response).await),
        }
    }

    async fn delete(&self, key: &Key, condition: Condition<'_>) -> Result<bool, StoreError> {
        // Google also compares generations here, but not every compatible server does.
        condition.unconditional()?;
        let request = self.request(Method::DELETE, self.objects(Some(key)), &[]).await?;
        Ok(self.present("erasing", send("erasing", request).await?).await?.is_some())
    }

    /// Reads one page of a listing, and the token of the next page.
    async fn page(
        &self,
        prefix: &str,
        delimiter: &str,
        token: &str,
    ) -> Result<(Json, Option<String>), StoreError> {
        let page = PAGE.to_string();
        let mut query =
            vec![("maxResults", page.as_str()), ("fields", "items(name,size),prefixes,nextPageToken")];
        let filters = [("prefix", prefix), ("delimiter", delimiter), ("pageToken", token)];
        query.extend(filters.into_iter().filter(|(_, value)| !value.is_empty()));
        let response = send("listing", self.request(Method::GET, self.objects(None), &query).await?).await?;
        if response.status() == StatusCode::NOT_FOUND {
            return Err(self.no_bucket("listing"));
        }
        if !response.status().is_success() {
            return Err(refused("listing", response).await);
        }
        let page = json_of("listing", response).await?;
        let token = page["nextPageToken"].as_str().filter(|token| !token.is_empty()).map(str::to_owned);
        Ok((page, token))
    }

    async fn list(&self, prefix: &Prefix) -> Result<DirListing, StoreError> {
        let mut listing = DirListing::default();
        let mut token = Some(String::new());
        while let Some(this) = token {
            let (page, next) = self.page(prefix.as_str(), "/", &this).await?;
            listing.keys.extend(keys_of(&page)?.into_iter().map(|(key, _)| key));
            let prefixes = page["prefixes"].as_array().into_iter().flatten().filter_map(Json::as_str);
            listing.prefixes.extend(prefixes.filter_map(|prefix| Prefix::new(prefix).ok()));
            token = next;
        }
        Ok(listing)
    }

    fn place(&self, key: &str) -> impl Fn(StoreError) -> StoreError + use<> {
        let (location, key) = (self.location(), key.to_owned());
        move |error| error.with_location(&location).with_key(&key)
    }
}

fn conflict(operation: &'static str) -> StoreError {
    StoreError::new(StoreErrorKind::Conflict, operation, "another writer changed the value in the meantime")
}

/// Returns the generation from a version. It is a number; a version of any other form comes from another store.
fn generation_of(version: &Version) -> Result<&str, StoreError> {
    let text = std::str::from_utf8(version.as_bytes()).ok();
    text.filter(|text| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())).ok_or_else(|| {
        StoreError::new(StoreErrorKind::Conflict, "reading", "the version is not from this store")
    })
}

/// Returns a multipart boundary that no value contains.
fn boundary() -> String {
    let random = || RandomState::new().hash_one(());
    format!("zarrox-{:016x}{:016x}", random(), random())
}

async fn json_of(operation: &'static str, response: Response) -> Result<Json, StoreError> {
    let bytes = body(operation, response, ANSWER).await?;
    serde_json::from_slice(&bytes).map_err(|error| {
        StoreError::new(StoreErrorKind::Other, operation, "the server's response is not JSON")
            .with_source(error)
    })
}

/// Returns the size of an object, which is a string in JSON.
fn size_of(operation: &'static str, object: &Json) -> Result<u64, StoreError> {
    let size = object["size"].as_str().map_or(Some(0), |size| size.parse().ok());
    size.ok_or_else(|| {
        StoreError::new(StoreErrorKind::Other, operation, "the server reports an invalid size")
    })
}

/// Returns the objects of a page whose names are valid keys.
fn keys_of(page: &Json) -> Result<Vec<(Key, u64)>, StoreError> {
    let items = page["items"].as_array().into_iter().flatten();
    let named = items.filter_map(|item| Some((Key::new(item["name"].as_str()?).ok()?, item)));
    named.map(|(key, item)| Ok((key, size_of("listing", item)?))).collect()
}

impl AsyncStore for GcsStore {
    fn location(&self) -> String {
        match self.endpoint.as_str().trim_end_matches('/') {
            GOOGLE => format!("gs://{}", self.bucket),
            _ => {
                let mut url = self.url(&[&self.bucket]);
                // Both calls can only fail for URLs without a host.
                let _ = (url.set_username(""), url.set_password(None));
                url.into()
            }
        }
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            writable: true,
            listable: true,
            set_if_absent: true,
            set_if_unchanged: true,
            values_above_values: true,
            in_flight: 64.try_into().ok(),
            ..Capabilities::default()
        }
    }

    async fn read(
        &self,
        key: &Key,
        range: Option<ByteRange>,
        version: Option<&Version>,
    ) -> Result<Option<ValuePart>, StoreError> {
        self.read_object(key, range, version).await.map_err(self.place(key.as_str()))
    }

    async fn head(&self, key: &Key) -> Result<Option<Head>, StoreError> {
        self.head_object(key).await.map_err(self.place(key.as_str()))
    }

    async fn set(&self, key: &Key, value: Bytes, condition: Condition<'_>) -> Result<(), StoreError> {
        self.insert(key, value, condition).await.map_err(self.place(key.as_str()))
    }

    async fn erase(&self, key: &Key, condition: Condition<'_>) -> Result<bool, StoreError> {
        self.delete(key, condition).await.map_err(self.place(key.as_str()))
    }

    fn list_prefix(&self, prefix: &Prefix) -> Pages {
        let (store, prefix) = (self.clone(), prefix.clone());
        let step = |(store, prefix, token): (Self, Prefix, Option<String>)| async move {
            let Some(this) = token else { return Ok(None) };
            let page = store.page(prefix.as_str(), "", &this).await;
            let page = page.and_then(|(page, next)| Ok((keys_of(&page)?, next)));
            let (keys, next) = page.map_err(store.place(prefix.as_str()))?;
            Ok(Some((keys, (store, prefix, next))))
        };
        stream::try_unfold((store, prefix, Some(String::new())), step).boxed()
    }

    async fn list_dir(&self, prefix: &Prefix) -> Result<DirListing, StoreError> {
        self.list(prefix).await.map_err(self.place(prefix.as_str()))
    }
}
