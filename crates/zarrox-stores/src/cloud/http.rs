//! [`HttpStore`].
//!
//! This module does not use the HTTP client of `object_store`, which expects servers that support listings with WebDAV.

use std::error::Error;
use std::fmt;
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream::{self, Stream, StreamExt, TryStreamExt};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use reqwest::header::{
    ACCEPT_ENCODING, AUTHORIZATION, CONTENT_RANGE, ETAG, HeaderMap, HeaderName, HeaderValue, IF_MATCH, RANGE,
};
use reqwest::redirect::{Attempt, Policy};
use reqwest::tls::Certificate;
use reqwest::{Client, Method, Proxy, RequestBuilder, Response, StatusCode, Url};

use super::connection::{ConnectionOptions, public_text, server_url};
use super::failure::{Refusal, collect, explanation, root_cause};
use crate::store::reserved;
use crate::url::options::{StorageOption, StorageOptions};
use crate::url::scheme::{Located, Scheme};
use crate::{
    AsyncStore, Blocking, ByteParts, ByteRange, Capabilities, Condition, DirListing, Head, Key, Pages,
    Prefix, StoreError, StoreErrorKind, ValuePart, Version,
};

/// The number of parallel requests.
const IN_FLIGHT: usize = 64;

/// The maximum number of redirects that are followed.
const REDIRECTIONS: usize = 10;

/// The characters that are escaped in the path of a URL.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'/');

/// `https://host/path`: the store is the whole server. The path is percent-encoded as in a browser, with `%20` for a space.
pub(crate) static SCHEME: Scheme = Scheme::new(&["http", "https"], |url, options| {
    let user = url.user_info().map(|user| format!("{user}@")).unwrap_or_default();
    let query = url.query().map(|query| format!("?{query}")).unwrap_or_default();
    let root = format!("{}://{user}{}/{query}", url.scheme(), url.authority());
    let http = HttpOptions::new().with_storage_options(options)?;
    if url.scheme() == "http" && options.flag("allow_http")? == Some(false) {
        let message = "the connection is not encrypted, and the option `allow_http` is false";
        return Err(
            StoreError::new(StoreErrorKind::Forbidden, "opening", message).with_location(url.to_string())
        );
    }
    let path = percent_decode_str(url.path()).decode_utf8_lossy();
    Ok(Located::one_of_many(http.open(&root)?, path))
})
.with_options(&[
    StorageOption::text("bearer_token", "a bearer token"),
    StorageOption::text(HEADERS, "a header of every request, such as header.X-Api-Key"),
    StorageOption::text("user_agent", "the user agent of every request"),
    StorageOption::seconds("connect_timeout", "the timeout of connecting [default: 5]"),
    StorageOption::seconds(
        "read_timeout",
        "the longest time without any bytes from the server [default: 30]",
    ),
    StorageOption::seconds("timeout", "the timeout of one request; none by default"),
    StorageOption::text("proxy_url", "the URL of a proxy, instead of those of the environment"),
    StorageOption::flag("allow_http", "false makes an unencrypted connection an error"),
]);

/// The pattern of the names of options that set headers.
const HEADERS: &str = "header.*";

/// A read-only store of the files below a URL on a web server. [`HttpOptions`] opens it.
///
/// Keys are appended to the path of the URL. Reading a range takes one request, whose response also contains the size and the
/// version of the value. A server that does not support range requests sends the whole value, and the rest is discarded. If the
/// server sends a strong `ETag`, all reads of an open value return the same version; otherwise a change of the value is detected
/// only if its size changes.
///
/// A web server cannot list keys.
pub type HttpStore = Blocking<WebServer>;

/// Options for opening an [`HttpStore`].
///
/// | option | default |
/// |---|---|
/// | [`header`](Self::header) | no further headers |
/// | [`bearer_token`](Self::bearer_token) | the user and password in the URL, if any |
/// | [`user_agent`](Self::user_agent) | `zarrox/` followed by the version |
/// | [`timeout`](Self::timeout) | no limit as long as bytes arrive |
/// | [`proxy`](Self::proxy) | the proxies set in the environment |
/// | [`connection`](Self::connection) | see [`ConnectionOptions`] |
///
/// ```no_run
/// use zarrox_stores::{HttpOptions, Store};
///
/// let store = HttpOptions::new().open("https://example.org/data/era5.zarr")?;
/// # Ok::<(), zarrox_stores::StoreError>(())
/// ```
#[derive(Clone, Default)]
pub struct HttpOptions {
    headers: Vec<(String, String)>,
    user_agent: Option<String>,
    timeout: Option<Duration>,
    proxy: Option<String>,
    connection: ConnectionOptions,
}

impl fmt::Debug for HttpOptions {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.headers.iter().map(|(name, _)| name.as_str()).collect();
        formatter
            .debug_struct("HttpOptions")
            .field("headers", &names)
            .field("connection", &self.connection)
            .finish()
    }
}

impl HttpOptions {
    /// Creates the default options.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a header to every request. Its value is treated as a secret.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Sets a token that authenticates requests: `Authorization: Bearer …`.
    #[must_use]
    pub fn bearer_token(self, token: &str) -> Self {
        self.header(AUTHORIZATION.as_str(), format!("Bearer {token}"))
    }

    /// Sets the user agent of every request.
    #[must_use]
    pub fn user_agent(self, name: impl Into<String>) -> Self {
        Self { user_agent: Some(name.into()), ..self }
    }

    /// Sets the timeout of a request, including its response. After that, an operation fails with [`StoreErrorKind::TimedOut`].
    /// The timeout applies to each retry separately.
    #[must_use]
    pub fn timeout(self, timeout: Duration) -> Self {
        Self { timeout: Some(timeout), ..self }
    }

    /// Sets the proxy for all requests, instead of the proxies set in the environment.
    #[must_use]
    pub fn proxy(self, url: impl Into<String>) -> Self {
        Self { proxy: Some(url.into()), ..self }
    }

    /// Applies the storage options of a URL.
    fn with_storage_options(mut self, options: &StorageOptions) -> Result<Self, StoreError> {
        if let Some(token) = options.get("bearer_token") {
            self = self.bearer_token(token);
        }
        let begin = HEADERS.trim_end_matches('*');
        for (name, value) in options.iter() {
            if let Some(header) = name.strip_prefix(begin) {
                self = self.header(header, value);
            }
        }
        if let Some(time) = options.seconds("connect_timeout")? {
            self.connection = self.connection.connect_timeout(time);
        }
        if let Some(time) = options.seconds("read_timeout")? {
            self.connection = self.connection.idle_timeout(time);
        }
        self.timeout = options.seconds("timeout")?;
        self.user_agent = options.get("user_agent").map(str::to_owned);
        self.proxy = options.get("proxy_url").map(str::to_owned);
        Ok(self)
    }

    /// Sets the options for connections to the server.
    #[must_use]
    pub fn connection(mut self, connection: ConnectionOptions) -> Self {
        self.connection = connection;
        self
    }

    /// Opens the files below a URL. The query of the URL, such as that of a signed URL, is sent with every request. Opening does
    /// not send a request.
    ///
    /// # Errors
    ///
    /// When the URL, a header or a certificate is invalid.
    pub fn open(self, url: &str) -> Result<HttpStore, StoreError> {
        let url = server_url(url)?;
        let location = public_text(&url);
        let client = self.client().map_err(|error| error.with_location(location.as_str()))?;
        Ok(Blocking::new(WebServer { client, url, location }))
    }

    fn client(&self) -> Result<Client, StoreError> {
        let wrong = |message: String| StoreError::new(StoreErrorKind::Other, "opening", message);
        let mut headers = HeaderMap::new();
        // Values must arrive as stored, since sizes and ranges refer to the stored bytes.
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        for (name, value) in &self.headers {
            let header = HeaderName::try_from(name)
                .map_err(|_| wrong(format!("'{name}' is not a valid header name")))?;
            let mut value = HeaderValue::try_from(value)
                .map_err(|_| wrong(format!("the value of the header '{name}' has invalid characters")))?;
            value.set_sensitive(true);
            headers.append(header, value);
        }
        let certificates = Certificate::from_pem_bundle(&self.connection.certificates)
            .map_err(|error| wrong(format!("the certificates cannot be read: {}", root_cause(&error))))?;
        let mut builder = Client::builder()
            .user_agent(self.user_agent.as_deref().unwrap_or(concat!("zarrox/", env!("CARGO_PKG_VERSION"))))
            .default_headers(headers)
            .connect_timeout(self.connection.connect_timeout)
            .read_timeout(self.connection.idle_timeout)
            .tls_certs_merge(certificates)
            .redirect(Policy::custom(follow));
        if let Some(timeout) = self.timeout {
            builder = builder.timeout(timeout);
        }
        if let Some(proxy) = &self.proxy {
            // The error would quote the URL, which may contain a password.
            let proxy = Proxy::all(proxy).map_err(|_| wrong("the URL of the proxy is invalid".to_owned()))?;
            builder = builder.proxy(proxy);
        }
        builder
            .build()
            .map_err(|error| wrong(format!("the client cannot be created: {}", root_cause(&error))))
    }
}

/// Follows redirects to other files. A redirect that only appends a `/` is not followed, since it leads to a directory, which is
/// not a value; neither is a redirect to an unencrypted URL.
fn follow(attempt: Attempt<'_>) -> reqwest::redirect::Action {
    let Some(last) = attempt.previous().last() else { return attempt.follow() };
    let directory = attempt.url().path().strip_suffix('/') == Some(last.path());
    let plain = last.scheme() == "https" && attempt.url().scheme() == "http";
    if directory || plain || attempt.previous().len() > REDIRECTIONS {
        attempt.stop()
    } else {
        attempt.follow()
    }
}

/// The files below a URL on a web server: the asynchronous store behind [`HttpStore`].
pub struct WebServer {
    client: Client,
    url: Url,
    location: String,
}

impl fmt::Debug for WebServer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("WebServer").field("location", &self.location).finish_non_exhaustive()
    }
}

impl WebServer {
    fn place(&self, error: StoreError, key: &str) -> StoreError {
        error.with_location(self.location.as_str()).with_key(key)
    }

    fn error(&self, kind: StoreErrorKind, message: &str, key: &Key) -> StoreError {
        self.place(StoreError::new(kind, "reading", message), key.as_str())
    }

    fn read_only<T>(&self, operation: &'static str, key: &str) -> Result<T, StoreError> {
        let message = "web servers are read-only";
        Err(self.place(StoreError::new(StoreErrorKind::ReadOnly, operation, message), key))
    }

    fn not_listable(&self, prefix: &Prefix) -> StoreError {
        let message = "web servers cannot list keys";
        let error = StoreError::new(StoreErrorKind::Unsupported, "listing", message);
        self.place(error, prefix.as_str())
    }

    fn request(&self, method: Method, key: &Key) -> RequestBuilder {
        let mut url = self.url.clone();
        let base = url.path().trim_end_matches('/');
        url.set_path(&format!("{base}/{}", utf8_percent_encode(key.as_str(), ESCAPED)));
        self.client.request(method, url)
    }

    /// Sends a request and returns a successful response; `None` when the value does not exist.
    async fn send(&self, request: RequestBuilder, key: &Key) -> Result<Option<Response>, StoreError> {
        let response = request.send().await;
        let response = response.map_err(|error| self.place(broken(&error), key.as_str()))?;
        let status = response.status();
        if status.is_success() {
            return Ok(Some(response));
        }
        if leads_to_directory(&response) {
            return Ok(None);
        }
        let text = explanation(response.bytes_stream()).await;
        let refusal = Refusal::new(status.as_u16(), &text);
        if refusal.is_missing_value() {
            return Ok(None);
        }
        Err(self.place(refusal.into_error("reading"), key.as_str()))
    }

    async fn body(
        &self,
        response: Response,
        length: Option<u64>,
        key: &Key,
    ) -> Result<ByteParts, StoreError> {
        let parts = response.bytes_stream().map_err(|error| broken(&error));
        let bytes = match length {
            Some(length) => collect(parts, length).await,
            None => collect_all(parts).await.map(ByteParts::from),
        };
        bytes.map_err(|error| self.place(error, key.as_str()))
    }

    /// Reads the bytes of a response that contains only a range of the value.
    async fn part(&self, response: Response, key: &Key) -> Result<ValuePart, StoreError> {
        let range = response.headers().get(CONTENT_RANGE).and_then(|value| value.to_str().ok());
        let Some((start, end, size)) = range.and_then(content_range) else {
            let message = "the server sent a part of the value, but does not report which";
            return Err(self.error(StoreErrorKind::Unsupported, message, key));
        };
        let head = Head { size, version: version(&response) };
        let bytes = self.body(response, Some(end - start), key).await?;
        Ok(ValuePart { offset: start, bytes, head })
    }

    /// Extracts the requested range from a response that contains the whole value.
    async fn whole(
        &self,
        response: Response,
        range: Option<ByteRange>,
        key: &Key,
    ) -> Result<ValuePart, StoreError> {
        let version = version(&response);
        let Some(size) = length(&response) else {
            let bytes = self.body(response, None, key).await?;
            let size = bytes.len() as u64;
            let (start, end) = self.bounds(range, size, key)?;
            let places = usize::try_from(start).ok().zip(usize::try_from(end).ok());
            let bytes = places.and_then(|(start, end)| bytes.slice(start..end)).unwrap_or_default().into();
            return Ok(ValuePart { offset: start, bytes, head: Head { size, version } });
        };
        let (start, end) = self.bounds(range, size, key)?;
        let parts = window(response.bytes_stream().map_err(|error| broken(&error)), start, end - start);
        let bytes = collect(Box::pin(parts), end - start).await;
        let bytes = bytes.map_err(|error| self.place(error, key.as_str()))?;
        Ok(ValuePart { offset: start, bytes, head: Head { size, version } })
    }

    /// Returns the part of a range that lies within a value of this size.
    fn bounds(&self, range: Option<ByteRange>, size: u64, key: &Key) -> Result<(u64, u64), StoreError> {
        let (start, end) = match range {
            None => return Ok((0, size)),
            Some(ByteRange::From { offset, length }) => {
                (offset, length.map_or(size, |length| offset.saturating_add(length).min(size)))
            }
            Some(ByteRange::Suffix { length }) => (size.saturating_sub(length), size),
        };
        if start < end {
            return Ok((start, end));
        }
        Err(self.error(StoreErrorKind::OutOfRange, "the range begins outside the value", key))
    }
}

impl AsyncStore for WebServer {
    fn location(&self) -> String {
        self.location.clone()
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { in_flight: IN_FLIGHT.try_into().ok(), ..Capabilities::default() }
    }

    async fn read(
        &self,
        key: &Key,
        range: Option<ByteRange>,
        wanted: Option<&Version>,
    ) -> Result<Option<ValuePart>, StoreError> {
        let mut request = self.request(Method::GET, key);
        if let Some(range) = range {
            let Some(text) = range_header(range) else {
                return Err(self.error(StoreErrorKind::OutOfRange, "the range is empty", key));
            };
            request = request.header(RANGE, text);
        }
        if let Some(version) = wanted {
            request = request.header(IF_MATCH, version.as_bytes());
        }
        let Some(response) = self.send(request, key).await? else { return Ok(None) };
        let piece = match response.status() {
            StatusCode::PARTIAL_CONTENT if range.is_some() => self.part(response, key).await?,
            _ => self.whole(response, range, key).await?,
        };
        if wanted.is_some_and(|wanted| piece.head.version.as_ref() != Some(wanted)) {
            let message = "another writer changed the value in the meantime";
            return Err(self.error(StoreErrorKind::Conflict, message, key));
        }
        Ok(Some(piece))
    }

    async fn head(&self, key: &Key) -> Result<Option<Head>, StoreError> {
        match self.send(self.request(Method::HEAD, key), key).await {
            Ok(None) => return Ok(None),
            Ok(Some(response)) => {
                if let Some(size) = length(&response) {
                    return Ok(Some(Head { size, version: version(&response) }));
                }
            }
            Err(error) if error.kind() == StoreErrorKind::Unsupported => {}
            Err(error) => return Err(error),
        }
        // The server does not report the size without sending the value. Reading one byte is enough, unless the value is empty.
        let byte = ByteRange::From { offset: 0, length: Some(1) };
        match self.read(key, Some(byte), None).await {
            Err(error) if error.kind() == StoreErrorKind::OutOfRange => {
                Ok(self.read(key, None, None).await?.map(|piece| piece.head))
            }
            piece => Ok(piece?.map(|piece| piece.head)),
        }
    }

    async fn set(&self, key: &Key, _: Bytes, _: Condition<'_>) -> Result<(), StoreError> {
        self.read_only("writing", key.as_str())
    }

    async fn erase(&self, key: &Key, _: Condition<'_>) -> Result<bool, StoreError> {
        self.read_only("erasing", key.as_str())
    }

    async fn erase_prefix(&self, prefix: &Prefix) -> Result<(), StoreError> {
        self.read_only("erasing", prefix.as_str())
    }

    fn list_prefix(&self, prefix: &Prefix) -> Pages {
        let error = self.not_listable(prefix);
        stream::once(async move { Err(error) }).boxed()
    }

    async fn list_dir(&self, prefix: &Prefix) -> Result<DirListing, StoreError> {
        Err(self.not_listable(prefix))
    }
}

/// Returns the header value that requests a range, or `None` if the range is empty.
fn range_header(range: ByteRange) -> Option<HeaderValue> {
    let text = match range {
        ByteRange::From { length: Some(0), .. } | ByteRange::Suffix { length: 0 } => return None,
        ByteRange::From { offset, length } => {
            // The offset of the last byte is omitted if it exceeds the numbers that servers support.
            let last =
                length.and_then(|length| offset.checked_add(length - 1)).filter(|last| *last < 1 << 62);
            last.map_or(format!("bytes={offset}-"), |last| format!("bytes={offset}-{last}"))
        }
        ByteRange::Suffix { length } => format!("bytes=-{}", length.min(1 << 62)),
    };
    HeaderValue::try_from(text).ok()
}

/// Parses `bytes 2-4/10`: returns the first byte, the offset after the last byte, and the size of the value.
fn content_range(text: &str) -> Option<(u64, u64, u64)> {
    let (range, size) = text.trim().strip_prefix("bytes ")?.split_once('/')?;
    let (first, last) = range.split_once('-')?;
    let (start, end, size) =
        (first.parse().ok()?, last.parse::<u64>().ok()?.checked_add(1)?, size.parse().ok()?);
    (start < end && end <= size).then_some((start, end, size))
}

/// Returns the content length in the header of the response, even if it has no body.
fn length(response: &Response) -> Option<u64> {
    response.headers().get(reqwest::header::CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

fn version(response: &Response) -> Option<Version> {
    let tag = response.headers().get(ETAG)?.as_bytes();
    // Weak ETags can be equal for values that are equivalent but not identical.
    (!tag.starts_with(b"W/")).then(|| Version::from(tag))
}

/// Returns true if a redirect was not followed because it leads to a directory.
fn leads_to_directory(response: &Response) -> bool {
    let location = response.headers().get(reqwest::header::LOCATION).and_then(|value| value.to_str().ok());
    let target = location.and_then(|location| response.url().join(location).ok());
    let path = target.as_ref().and_then(|target| target.path().strip_suffix('/'));
    response.status().is_redirection() && path == Some(response.url().path())
}

/// Reads `length` bytes of a body, starting at `skip`. The rest is not read.
fn window(
    parts: impl Stream<Item = Result<Bytes, StoreError>> + Unpin,
    skip: u64,
    length: u64,
) -> impl Stream<Item = Result<Bytes, StoreError>> {
    stream::try_unfold((parts, skip, length), |(mut parts, skip, length)| async move {
        if length == 0 {
            return Ok(None);
        }
        let Some(part) = parts.next().await.transpose()? else { return Ok(None) };
        let start = usize::try_from(skip).map_or(part.len(), |skip| skip.min(part.len()));
        let rest = part.slice(start..);
        let end = usize::try_from(length).map_or(rest.len(), |length| length.min(rest.len()));
        let left = (parts, skip - start as u64, length - end as u64);
        Ok(Some((rest.slice(..end), left)))
    })
}

/// Reads a whole body of unknown length.
async fn collect_all(
    mut parts: impl Stream<Item = Result<Bytes, StoreError>> + Unpin,
) -> Result<Bytes, StoreError> {
    let mut bytes = Vec::new();
    while let Some(part) = parts.next().await.transpose()? {
        if bytes.capacity() - bytes.len() < part.len() {
            let mut larger = reserved(bytes.len().saturating_mul(2).max(bytes.len() + part.len()))?;
            larger.extend_from_slice(&bytes);
            bytes = larger;
        }
        bytes.extend_from_slice(&part);
    }
    Ok(bytes.into())
}

/// Returns the error for a connection that failed or was interrupted.
fn broken(error: &reqwest::Error) -> StoreError {
    let kind = if error.is_timeout() { StoreErrorKind::TimedOut } else { StoreErrorKind::Unreachable };
    let cause = error.source().map_or_else(|| error.to_string(), root_cause);
    StoreError::new(kind, "reading", format!("the server did not respond: {cause}")).because_of(error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn storage_options_are_applied() {
        let options = StorageOptions::new()
            .with("header.X-Key", "a secret")
            .with("timeout", "1.5")
            .with("connect_timeout", "2")
            .with("read_timeout", "3")
            .with("user_agent", "mine")
            .with("proxy_url", "http://127.0.0.1:1");
        crate::registry().check(&options).unwrap();
        let http = HttpOptions::new().with_storage_options(&options).unwrap();
        assert_eq!(http.headers, [("X-Key".to_owned(), "a secret".to_owned())]);
        assert_eq!(
            (http.timeout, http.user_agent.as_deref()),
            (Some(Duration::from_millis(1500)), Some("mine"))
        );
        assert_eq!(http.connection.connect_timeout, Duration::from_secs(2));
        assert_eq!(http.connection.idle_timeout, Duration::from_secs(3));
        assert!(http.open("http://127.0.0.1/a").is_ok());
        for (name, value) in
            [("timeout", "soon"), ("read_timeout", "-1"), ("allow_http", "maybe"), ("proxy_url", "no url")]
        {
            let options = StorageOptions::new().with(name, value);
            let error = crate::registry().open("http://127.0.0.1/a", &options).unwrap_err().to_string();
            assert!(!error.contains(value), "{error}");
        }
        let options = StorageOptions::new().with("allow_http", "false");
        let error = crate::registry().open("http://127.0.0.1/a", &options).unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::Forbidden);
        assert!(crate::registry().open("https://127.0.0.1/a", &options).is_ok());
    }
}
