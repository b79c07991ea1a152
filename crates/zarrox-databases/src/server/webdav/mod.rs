//! [`WebDavStore`].

mod multistatus;

use std::fmt;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use reqwest::header::{
    ACCEPT_ENCODING, CONTENT_LENGTH, DATE, ETAG, HeaderMap, IF_MATCH, IF_NONE_MATCH, LAST_MODIFIED, RANGE,
};
use reqwest::{Client, Method, RequestBuilder, Response, StatusCode, Url};

use self::multistatus::Resource;
use crate::server::address::Address;
use crate::server::tree::{
    Entry, FileTree, Stat, async_store, changed, directory_of, exists, located, obstructed,
};
use zarrox_stores::internals::web::{self, body, part, range_header, refused, send};
use zarrox_stores::{
    Blocking, ByteRange, Capabilities, Head, Scheme, StorageOption, StoreError, StoreErrorKind, ValuePart,
    Version,
};

/// The maximum size of the listing of a single directory, in bytes: enough for about a quarter of a million files.
const LISTING: u64 = 128 << 20;

/// The body of a request for the properties of a resource.
const PROPERTIES: &str = "<?xml version=\"1.0\" encoding=\"utf-8\"?><propfind xmlns=\"DAV:\"><prop>\
                          <resourcetype/><getcontentlength/><getetag/><getlastmodified/></prop></propfind>";

/// The age from which the ETag of a value is sure to differ from the ETags of later values, since servers derive ETags from times
/// in whole seconds.
const SETTLED: Duration = Duration::from_secs(2);

/// The characters to escape in a path segment.
const ESCAPED: AsciiSet = NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The form of a valid URL.
const FORM: &str = "https://host/path";

pub(crate) static SCHEME: Scheme = Scheme::new(&["webdav", "webdavs"], |url, options| {
    let scheme = if url.scheme() == "webdavs" { "https" } else { "http" };
    let mut webdav = WebDavOptions::new();
    if let Some(user) = options.get("user") {
        webdav = webdav.basic(user, options.get("password").unwrap_or_default());
    }
    if let Some(token) = options.get("token") {
        webdav = webdav.token(token);
    }
    located(url, scheme, |server| webdav.open(server))
})
.with_options(&[
    StorageOption::text("user", "the user, unless the URL has one"),
    StorageOption::text("password", "the password of the user"),
    StorageOption::text("token", "a bearer token, instead of user and password"),
]);

/// A store whose values are files on a WebDAV server, below one of its directories.
///
/// | option | default |
/// |---|---|
/// | [`basic`](WebDavOptions::basic) | the user and the password in the URL; without these, no authentication |
/// | [`token`](WebDavOptions::token) | none |
/// | [`timeout`](WebDavOptions::timeout) | 60 seconds |
///
/// A value is written with a single `PUT`. It depends on the server whether readers always see either the old or the new value
/// ([`Capabilities::torn_reads`]): WsgiDAV writes in place, and Apache has been observed to send a new value with the length of
/// the old one. nginx does not list names that begin with a dot, such as those of Zarr v2 documents. Whether a value exists is
/// checked before a write; servers that support `If-None-Match` check again.
///
/// The ETag ensures that the ranges of an open value belong to the same version, if the ETag is strong and the value is older
/// than two seconds. More recent values are read as a whole, since most servers derive ETags from times in whole seconds.
///
/// ETags cannot reliably show whether a value has changed, since those of recently written values are not usable, and not every
/// server compares them. Only one process should therefore write to a chunk at a time.
///
/// Empty directories are not removed, because WebDAV cannot remove a directory on the condition that it is empty. They are not
/// listed either; to omit them, a listing has to read each directory. Redirects are not followed.
#[derive(Clone)]
pub struct WebDavStore {
    client: Client,
    /// The URL of the root, without a trailing `/` if it has a path.
    root: Url,
    login: Option<Login>,
}

/// Options for opening a [`WebDavStore`].
#[derive(Clone)]
pub struct WebDavOptions {
    login: Option<Login>,
    timeout: Duration,
}

#[derive(Clone)]
enum Login {
    Basic { user: String, password: String },
    Token(String),
}

impl Default for WebDavOptions {
    fn default() -> Self {
        Self { login: None, timeout: Duration::from_secs(60) }
    }
}

impl fmt::Debug for WebDavOptions {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("WebDavOptions").field("timeout", &self.timeout).finish_non_exhaustive()
    }
}

impl WebDavOptions {
    /// Creates the default options.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets a user and a password, which are encrypted with `https`, but not with `http`.
    #[must_use]
    pub fn basic(mut self, user: impl Into<String>, password: impl Into<String>) -> Self {
        self.login = Some(Login::Basic { user: user.into(), password: password.into() });
        self
    }

    /// Sets a bearer token.
    #[must_use]
    pub fn token(mut self, token: impl Into<String>) -> Self {
        self.login = Some(Login::Token(token.into()));
        self
    }

    /// Sets the longest time to wait without receiving any bytes from the server.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Opens the directory of this URL, such as `https://user:password@host/path`. The directory need not exist: the first write
    /// creates it.
    ///
    /// # Errors
    ///
    /// When the text is not an HTTP URL.
    pub fn open(self, url: &str) -> Result<Blocking<WebDavStore>, StoreError> {
        let address = Address::parse(url, &["http", "https"], FORM)?;
        let login = address.login().map(|(user, password)| Login::Basic { user, password });
        let login = self.login.or(login);
        let mut root = address.0;
        root.set_username("").and_then(|()| root.set_password(None)).map_err(|()| Address::error(FORM))?;
        root.set_query(None);
        root.set_fragment(None);
        let path = root.path().trim_end_matches('/').to_owned();
        root.set_path(&path);
        Ok(Blocking::new(WebDavStore { client: web::client(self.timeout)?, root, login }))
    }
}

impl fmt::Debug for WebDavStore {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("WebDavStore").field(&self.root.as_str()).finish()
    }
}

impl WebDavStore {
    fn request(&self, method: Method, path: &str, directory: bool) -> RequestBuilder {
        let mut url = self.root.clone();
        let mut whole = url.path().trim_end_matches('/').to_owned();
        for segment in path.split('/').filter(|segment| !segment.is_empty()) {
            whole.push('/');
            whole.extend(utf8_percent_encode(segment, &ESCAPED));
        }
        // Servers recognise directories by a trailing `/`, and reject or redirect URLs without it.
        if directory {
            whole.push('/');
        }
        url.set_path(&whole);
        let request = self.client.request(method, url).header(ACCEPT_ENCODING, "identity");
        match &self.login {
            None => request,
            Some(Login::Basic { user, password }) => request.basic_auth(user, Some(password)),
            Some(Login::Token(token)) => request.bearer_auth(token),
        }
    }

    /// Returns the properties of the resource at a path and, if the depth is 1, those of its members; `None` if the resource does
    /// not exist.
    async fn properties(
        &self,
        operation: &'static str,
        path: &str,
        depth: &str,
    ) -> Result<Option<(HeaderMap, Vec<Resource>)>, StoreError> {
        let response = self.ask(operation, path, depth).await?;
        if response.status() == StatusCode::BAD_REQUEST {
            // With the trailing `/`, a request for members fails if the path is a file.
            let directory = if depth == "1" { &format!("{path}/") } else { path };
            if self.is_below_file(directory).await? {
                return Ok(None);
            }
        }
        described(operation, response).await
    }

    async fn ask(&self, operation: &'static str, path: &str, depth: &str) -> Result<Response, StoreError> {
        let request = self.request(named("PROPFIND"), path, depth == "1").header("Depth", depth);
        let request = request.header("Content-Type", "application/xml; charset=utf-8").body(PROPERTIES);
        send(operation, request).await
    }

    /// Returns true if an ancestor of a path is a file, in which case Apache reports a bad request.
    async fn is_below_file(&self, path: &str) -> Result<bool, StoreError> {
        for (end, _) in path.match_indices('/') {
            match described("reading", self.ask("reading", &path[..end], "0").await?).await? {
                None => return Ok(false),
                Some((_, above)) if above.iter().any(|above| !above.directory) => return Ok(true),
                Some(_) => {}
            }
        }
        Ok(false)
    }

    /// Returns true if the path is a directory.
    async fn is_directory(&self, path: &str) -> Result<bool, StoreError> {
        Ok(matches!(self.stat(path).await?, Some(Stat::Directory)))
    }

    /// Returns an error if a file or directory cannot be created at a path because of an entry at the path or above it.
    async fn obstacle(&self, path: &str) -> Result<Option<StoreError>, StoreError> {
        match self.stat(directory_of(path)).await? {
            None => {
                let message = "the directory is missing";
                Ok(Some(StoreError::new(StoreErrorKind::NotFound, "writing", message)))
            }
            Some(Stat::File(_)) => Ok(Some(obstructed("writing"))),
            Some(Stat::Directory) => Ok(self.is_directory(path).await?.then(|| obstructed("writing"))),
        }
    }

    /// Creates the directories above the root. A directory that already exists or cannot be created is not an error here: if the
    /// root is missing, using it reports an error.
    async fn make_above_root(&self) -> Result<(), StoreError> {
        let path = self.root.path();
        for (end, _) in path.match_indices('/').filter(|(end, _)| *end > 0) {
            let mut above = self.clone();
            above.root.set_path(&path[..end]);
            send("writing", above.request(named("MKCOL"), "", true)).await?;
        }
        Ok(())
    }

    async fn remove_any(&self, path: &str, directory: bool) -> Result<bool, StoreError> {
        let response = send("erasing", self.request(Method::DELETE, path, directory)).await?;
        match response.status() {
            StatusCode::NOT_FOUND | StatusCode::GONE => Ok(false),
            // Some members could not be removed.
            StatusCode::MULTI_STATUS => {
                let message = "the server could not remove the whole content of the directory";
                Err(StoreError::new(StoreErrorKind::Forbidden, "erasing", message))
            }
            status if status.is_success() => Ok(true),
            _ => Err(refused("erasing", response).await),
        }
    }
}

/// Returns the resources that a response describes; `None` if the path does not exist.
async fn described(
    operation: &'static str,
    response: Response,
) -> Result<Option<(HeaderMap, Vec<Resource>)>, StoreError> {
    match response.status() {
        StatusCode::MULTI_STATUS => {
            let headers = response.headers().clone();
            let text = body(operation, response, LISTING).await?;
            let resources = multistatus::parse(&text).map_err(|message| {
                StoreError::new(
                    StoreErrorKind::Other,
                    operation,
                    format!("the server's response is invalid: {message}"),
                )
            })?;
            Ok(Some((headers, resources)))
        }
        StatusCode::NOT_FOUND | StatusCode::GONE => Ok(None),
        _ if leads_to_directory(&response) => {
            let resource = Resource { path: String::new(), directory: true, ..Resource::default() };
            Ok(Some((HeaderMap::new(), vec![resource])))
        }
        _ => Err(refused(operation, response).await),
    }
}

/// Returns a WebDAV method. Only the methods of HTTP have constants.
fn named(method: &str) -> Method {
    Method::from_bytes(method.as_bytes()).unwrap_or_default()
}

/// Returns true if the response redirects to the same URL with a trailing `/`, that is, to a directory.
fn leads_to_directory(response: &Response) -> bool {
    let location = response.headers().get("location").and_then(|location| location.to_str().ok());
    let target = location.and_then(|location| response.url().join(location).ok());
    let path = response.url().path();
    response.status().is_redirection()
        && target.is_some_and(|target| target.path().strip_suffix('/').is_some_and(|target| target == path))
}

/// Returns the ETag as a version, if it is sure to differ from the ETags of later values.
fn version(date: Option<&str>, etag: Option<&str>, modified: Option<&str>) -> Option<Version> {
    let etag = etag.filter(|etag| etag.starts_with('"') && etag.len() > 2)?;
    let time = |text: &str| httpdate::parse_http_date(text).ok();
    if let Some(modified) = modified {
        let age = |now: SystemTime, then| now.duration_since(then).unwrap_or_default();
        let settled = age(time(date?)?, time(modified)?) >= SETTLED;
        return settled.then(|| etag.as_bytes().into());
    }
    Some(etag.as_bytes().into())
}

fn text<'h>(headers: &'h HeaderMap, name: &reqwest::header::HeaderName) -> Option<&'h str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

async_store!(WebDavStore);

impl FileTree for WebDavStore {
    const REMOVES_ONLY_EMPTY: bool = false;

    fn address(&self) -> String {
        self.root.as_str().trim_end_matches('/').to_owned()
    }

    fn abilities(&self) -> Capabilities {
        let mut capabilities = Capabilities::default();
        capabilities.writable = true;
        capabilities.listable = true;
        capabilities.torn_reads = true;
        capabilities.in_flight = 16.try_into().ok();
        capabilities
    }

    async fn stat(&self, path: &str) -> Result<Option<Stat>, StoreError> {
        let Some((headers, resources)) = self.properties("reading", path, "0").await? else {
            return Ok(None);
        };
        let [resource] = &resources[..] else {
            let message = "the server described more than the requested resource";
            return Err(StoreError::new(StoreErrorKind::Other, "reading", message));
        };
        if resource.directory {
            return Ok(Some(Stat::Directory));
        }
        let size = resource.size.ok_or_else(|| {
            let message = "the server does not report the length of the value";
            StoreError::new(StoreErrorKind::Other, "reading", message)
        })?;
        let version = version(text(&headers, &DATE), resource.etag.as_deref(), resource.modified.as_deref());
        Ok(Some(Stat::File(Head { size, version })))
    }

    async fn read_file(
        &self,
        path: &str,
        range: Option<ByteRange>,
        expected: Option<&Version>,
    ) -> Result<Option<ValuePart>, StoreError> {
        let mut request = self.request(Method::GET, path, false);
        if let Some(version) = expected {
            request = request.header(IF_MATCH, version.as_bytes());
        }
        if let Some(range) = range {
            request = request.header(RANGE, range_header(range)?);
        }
        let response = send("reading", request).await?;
        match response.status() {
            StatusCode::OK | StatusCode::PARTIAL_CONTENT => {}
            StatusCode::NOT_FOUND | StatusCode::GONE if expected.is_some() => return Err(changed()),
            StatusCode::PRECONDITION_FAILED => return Err(changed()),
            StatusCode::NOT_FOUND | StatusCode::GONE => return Ok(None),
            _ if leads_to_directory(&response) => return Ok(None),
            // Some servers respond with these codes if the path is a directory.
            StatusCode::METHOD_NOT_ALLOWED | StatusCode::CONFLICT if self.is_directory(path).await? => {
                return Ok(None);
            }
            StatusCode::BAD_REQUEST if self.is_below_file(path).await? => return Ok(None),
            _ => return Err(refused("reading", response).await),
        }
        let part = part(response, range).await?;
        let [date, etag, modified] = [&DATE, &ETAG, &LAST_MODIFIED].map(|name| text(&part.headers, name));
        // Not every server supports `If-Match`.
        if expected.is_some_and(|expected| etag.map(str::as_bytes) != Some(expected.as_bytes())) {
            return Err(changed());
        }
        let version = expected.cloned().or_else(|| version(date, etag, modified));
        Ok(Some(ValuePart {
            offset: part.offset,
            bytes: part.bytes.into(),
            head: Head { size: part.size, version },
        }))
    }

    async fn write_file(&self, path: &str, value: &Bytes, absent: bool) -> Result<(), StoreError> {
        if absent && matches!(self.stat(path).await?, Some(Stat::File(_))) {
            return Err(exists());
        }
        // The header is set even for an empty value, since some servers require it.
        let request = self.request(Method::PUT, path, false).header(CONTENT_LENGTH, value.len());
        let mut request = request.body(value.clone());
        if absent {
            request = request.header(IF_NONE_MATCH, "*");
        }
        let response = send("writing", request).await?;
        match response.status() {
            status if status.is_success() => Ok(()),
            StatusCode::PRECONDITION_FAILED if absent => Err(exists()),
            // nginx reports an internal error if the directory is missing.
            StatusCode::BAD_REQUEST
            | StatusCode::NOT_FOUND
            | StatusCode::METHOD_NOT_ALLOWED
            | StatusCode::CONFLICT
            | StatusCode::INTERNAL_SERVER_ERROR => match self.obstacle(path).await? {
                Some(obstacle) => Err(obstacle),
                // Another writer has created the directory in the meantime.
                None if response.status() == StatusCode::CONFLICT => {
                    Err(StoreError::new(StoreErrorKind::NotFound, "writing", "its directory was missing"))
                }
                None => Err(refused("writing", response).await),
            },
            _ => Err(refused("writing", response).await),
        }
    }

    async fn remove_file(&self, path: &str) -> Result<bool, StoreError> {
        // Deleting a directory would delete its contents.
        match self.stat(path).await? {
            Some(Stat::File(_)) => self.remove_any(path, false).await,
            Some(Stat::Directory) | None => Ok(false),
        }
    }

    async fn make_directory(&self, path: &str) -> Result<(), StoreError> {
        if path.is_empty() {
            self.make_above_root().await?;
        }
        let response = send("writing", self.request(named("MKCOL"), path, true)).await?;
        match response.status() {
            status if status.is_success() => Ok(()),
            // The path already exists. If it is a file, this is detected when a file is written below it.
            StatusCode::METHOD_NOT_ALLOWED => Ok(()),
            StatusCode::BAD_REQUEST | StatusCode::CONFLICT | StatusCode::NOT_FOUND if !path.is_empty() => {
                match self.obstacle(path).await? {
                    Some(obstacle) => Err(obstacle),
                    // Another writer has created the parent in the meantime.
                    None if response.status() == StatusCode::CONFLICT => {
                        let message = "the directory above was missing";
                        Err(StoreError::new(StoreErrorKind::NotFound, "writing", message))
                    }
                    None => Err(refused("writing", response).await),
                }
            }
            _ => Err(refused("writing", response).await),
        }
    }

    async fn remove_directory(&self, path: &str) -> Result<bool, StoreError> {
        self.remove_any(path, true).await
    }

    async fn remove_all(&self, path: &str) -> Result<(), StoreError> {
        self.remove_any(path, true).await.map(drop)
    }

    async fn entries(&self, path: &str) -> Result<Option<Vec<Entry>>, StoreError> {
        let Some((_, resources)) = self.properties("listing", path, "1").await? else { return Ok(None) };
        let mut own = self.root.path().trim_matches('/').to_owned();
        own = percent_decode_str(&own).decode_utf8_lossy().into_owned();
        let own = [own.as_str(), path]
            .iter()
            .filter(|part| !part.is_empty())
            .copied()
            .collect::<Vec<_>>()
            .join("/");
        let mut entries = Vec::new();
        for resource in resources {
            let below = resource.path.strip_prefix(&own).map(|rest| rest.trim_matches('/'));
            match below {
                Some("") if !resource.directory => return Ok(None),
                Some("") => {}
                Some(name) if !name.contains('/') => {
                    let size =
                        if resource.directory { None } else { Some(resource.size.unwrap_or_default()) };
                    entries.push(Entry { name: name.to_owned(), size });
                }
                _ => {
                    let message = format!(
                        "the server lists '{}', which is outside the directory",
                        resource.path.escape_debug()
                    );
                    return Err(StoreError::new(StoreErrorKind::Other, "listing", message));
                }
            }
        }
        Ok(Some(entries))
    }
}
