//! [`FtpStore`].

mod connection;

use std::fmt;
use std::io::{Error as IoError, ErrorKind};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use suppaftp::Status;
use suppaftp::list::ListParser;
use suppaftp::tokio::AsyncNoTlsStream;
use suppaftp::types::{FtpError, FtpResult, Response};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use self::connection::{Lease, Pool, Server, fault, is_absence, is_denial};
use crate::server::address::Address;
use crate::server::escape::{Special, escaped, unescaped};
use crate::server::tree::{
    Entry, FileTree, Stat, async_store, below, directory_of, exists, located, obstructed,
};
use zarrox_stores::internals::temporary;
use zarrox_stores::{
    Blocking, ByteRange, Capabilities, Head, Scheme, StorageOption, StoreError, StoreErrorKind, ValuePart,
    Version,
};

/// The maximum size of the listing of a single directory, in bytes: enough for about a million files.
const LISTING: u64 = 128 << 20;

/// The number of bytes that are sent or received at a time.
const BLOCK: usize = 1 << 20;

/// The maximum size of a value, in bytes. The size of a value is known only once it has been received.
const VALUE: u64 = 4 << 30;

/// The number of attempts to read a file that is in the listing, but for which the server returns an error without a reason.
const ATTEMPTS: usize = 3;

/// The characters that would end a command.
const SPECIAL: Special = |character| character.is_ascii_control();

/// The form of a valid URL.
const FORM: &str = "ftp://host/path";

pub(crate) static SCHEME: Scheme = Scheme::new(&["ftp"], |url, options| {
    let password = options.get("password").unwrap_or_default();
    let login = options.get("user").map(|user| FtpOptions::new().login(user, password));
    located(url, "ftp", |server| login.unwrap_or_default().open(server))
})
.with_options(&[
    StorageOption::text("user", "the user, unless the URL has one"),
    StorageOption::text("password", "the password of the user"),
]);

/// A store whose values are files on an FTP server, below one of its directories.
///
/// | option | default |
/// |---|---|
/// | [`login`](FtpOptions::login) | the user and the password in the URL; without these, `anonymous` |
/// | [`connections`](FtpOptions::connections) | 4 |
/// | [`timeout`](FtpOptions::timeout) | 30 seconds |
///
/// The network traffic, including the password, is not encrypted. Use this store for public data only.
///
/// FTP has no file versions, so only one process should write to a chunk at a time.
///
/// A value is written to a temporary file, which is then renamed. If renaming replaces an existing file on the server, as it does
/// on Unix, readers see either the old or the new value. Names that begin with `.zarrox-` and end in `.tmp` are reserved for
/// temporary files. Whether a value exists is checked before the rename, so another writer may interfere in between. Directories
/// are removed with their last value.
///
/// Values have up to 4 GiB and are always read as a whole, since FTP provides no means to verify that two ranges belong to the
/// same version.
///
/// Control characters in names are written as `%0A`, since a line break would end the command.
#[derive(Clone)]
pub struct FtpStore {
    pool: Arc<Pool>,
    /// The path of the root: absolute if it begins with `/`, otherwise relative to the initial directory of a connection.
    root: String,
    connections: u8,
}

/// Options for opening an [`FtpStore`].
#[derive(Clone)]
pub struct FtpOptions {
    login: Option<(String, String)>,
    connections: u8,
    timeout: Duration,
}

impl Default for FtpOptions {
    fn default() -> Self {
        Self { login: None, connections: 4, timeout: Duration::from_secs(30) }
    }
}

impl fmt::Debug for FtpOptions {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = formatter.debug_struct("FtpOptions");
        debug.field("connections", &self.connections).field("timeout", &self.timeout).finish_non_exhaustive()
    }
}

impl FtpOptions {
    /// Creates the default options.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the user and the password.
    #[must_use]
    pub fn login(mut self, user: impl Into<String>, password: impl Into<String>) -> Self {
        self.login = Some((user.into(), password.into()));
        self
    }

    /// Sets the maximum number of concurrent connections. Servers allow only a few.
    #[must_use]
    pub fn connections(mut self, connections: u8) -> Self {
        self.connections = connections.max(1);
        self
    }

    /// Sets the longest time to wait without receiving any bytes from the server.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Opens the directory of this URL, such as `ftp://user:password@host/path`. The directory need not exist: the first write
    /// creates it.
    ///
    /// The path is relative to the initial directory of the user, or to the root of the server if it begins with a second `/`.
    ///
    /// # Errors
    ///
    /// When the text is not an FTP URL.
    pub fn open(self, url: &str) -> Result<Blocking<FtpStore>, StoreError> {
        let address = Address::parse(url, &["ftp"], FORM)?;
        let login = self.login.or_else(|| address.login());
        let (user, password) = login.unwrap_or_else(|| ("anonymous".to_owned(), "anonymous@".to_owned()));
        let path = address.path()?;
        let path = path.strip_prefix('/').unwrap_or(&path);
        let absolute = if path.starts_with('/') { "/" } else { "" };
        let root = format!("{absolute}{}", escaped(path.trim_matches('/'), SPECIAL));
        // A line break would end the command. In the names of files, line breaks are escaped.
        if [&user, &password].into_iter().any(|text| text.contains(['\r', '\n'])) {
            return Err(Address::error(FORM));
        }
        let host = address.0.host_str().unwrap_or_default().to_owned();
        let server =
            Server { host, port: address.0.port().unwrap_or(21), user, password, patience: self.timeout };
        let pool = Arc::new(Pool::new(server, usize::from(self.connections)));
        Ok(Blocking::new(FtpStore { pool, root, connections: self.connections }))
    }
}

impl fmt::Debug for FtpStore {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("FtpStore").field(&self.address()).finish()
    }
}

/// The reply to a command, which may be an expected error.
enum Answer<T> {
    Done(T),
    Refused(Response),
}

/// What exists at a path for which the server returned an error.
enum Other {
    Missing,
    Directory,
    /// The listing contains the entry: reading it is not permitted, or it was written after the error occurred.
    Refused(Response),
}

impl FtpStore {
    /// Returns the path on the server.
    fn at(&self, lease: &Lease<'_>, path: &str) -> String {
        let root = if self.root.starts_with('/') {
            self.root.clone()
        } else {
            format!("{}/{}", lease.session.home, self.root)
        };
        let root = root.trim_end_matches('/');
        match path {
            "" if root.is_empty() => "/".to_owned(),
            "" => root.to_owned(),
            path => format!("{root}/{}", escaped(path, SPECIAL)),
        }
    }

    /// Returns the connection to the pool. An error that may mean a missing file leaves the connection usable.
    fn answer<T>(
        operation: &'static str,
        lease: Lease<'_>,
        result: FtpResult<T>,
    ) -> Result<Answer<T>, StoreError> {
        lease.end(&result);
        match result {
            Ok(done) => Ok(Answer::Done(done)),
            Err(FtpError::UnexpectedResponse(response))
                if matches!(response.status, Status::FileUnavailable | Status::BadFilename) =>
            {
                Ok(Answer::Refused(response))
            }
            Err(error) => Err(fault(operation, error)),
        }
    }

    /// Determines what exists at a path for which the server returned an error. Servers do not always give the reason for an
    /// error, but the listing of the parent directory reveals it.
    async fn other(&self, path: &str, refusal: Response) -> Result<Other, StoreError> {
        if path.is_empty() {
            return Ok(Other::Directory);
        }
        if is_absence(&refusal) {
            return Ok(Other::Missing);
        }
        let mut shown = path;
        let above = loop {
            let above = directory_of(shown);
            match self.listed(above).await? {
                Some(entries) => break entries,
                None if above.is_empty() => return Ok(Other::Missing),
                None => shown = above,
            }
        };
        let name = shown.rsplit('/').next().unwrap_or(shown);
        match above.iter().find(|entry| entry.name == name) {
            Some(Entry { size: None, .. }) if shown == path => Ok(Other::Directory),
            Some(Entry { size: Some(_), .. }) if shown == path => Ok(Other::Refused(refusal)),
            // A directory above the path that could not be listed.
            Some(Entry { size: None, .. }) => Ok(Other::Refused(refusal)),
            _ if is_denial(&refusal) => Err(fault("reading", FtpError::UnexpectedResponse(refusal))),
            _ => Ok(Other::Missing),
        }
    }

    /// Returns the entries of a directory, including temporary files; `None` when the directory does not exist.
    async fn listed(&self, path: &str) -> Result<Option<Vec<Entry>>, StoreError> {
        let mut lease = self.pool.lease("listing").await?;
        let directory = self.at(&lease, path);
        let mut parse: fn(&str) -> Option<Option<Entry>> = mlsd_entry;
        let mut result = self.lines(&mut lease, &format!("MLSD {directory}")).await;
        if let Err(FtpError::UnexpectedResponse(response)) = &result
            && matches!(response.status.code(), 500 | 502)
        {
            // Old servers support only human-readable listings.
            parse = list_entry;
            result = match self.pool.within(lease.session.ftp.cwd(&directory)).await {
                Ok(()) => self.lines(&mut lease, "LIST -a").await,
                Err(error) => Err(error),
            };
        }
        let text = match Self::answer("listing", lease, result.map_err(not_a_directory))? {
            Answer::Done(text) => text,
            Answer::Refused(response) if is_denial(&response) => {
                return Err(fault("listing", FtpError::UnexpectedResponse(response)));
            }
            Answer::Refused(_) => return Ok(None),
        };
        let odd = |line: &str| {
            let message = format!("the server's listing has an invalid line: '{}'", line.escape_debug());
            StoreError::new(StoreErrorKind::Other, "listing", message)
        };
        let lines = text.split("\r\n").filter(|line| !line.is_empty());
        let entries = lines.map(|line| parse(line).ok_or_else(|| odd(line)));
        let entries: Vec<_> = entries.filter_map(Result::transpose).collect::<Result<_, _>>()?;
        Ok(Some(entries))
    }

    /// Returns the lines of the response to a command.
    async fn lines(&self, lease: &mut Lease<'_>, command: &str) -> FtpResult<String> {
        let expected = [Status::AboutToSend, Status::AlreadyOpen];
        let opened = self.pool.within(lease.session.ftp.custom_data_command(command, &expected)).await;
        let (_, mut transfer) = opened?;
        let bytes = self.receive(&mut transfer, LISTING).await?;
        self.pool.within(transfer.finish()).await?;
        String::from_utf8(bytes).map_err(|error| FtpError::ConnectionError(IoError::other(error)))
    }

    /// Receives at most `limit` + 1 bytes, so that the caller can detect a larger file.
    async fn receive(&self, transfer: &mut Transfer, limit: u64) -> FtpResult<Vec<u8>> {
        let mut bytes = Vec::new();
        let too_much = || {
            let message = format!("larger than memory or than the limit of {limit} bytes");
            FtpError::ConnectionError(IoError::new(ErrorKind::FileTooLarge, message))
        };
        while bytes.len() as u64 <= limit {
            bytes
                .try_reserve(BLOCK.min(usize::try_from(limit - bytes.len() as u64 + 1).unwrap_or(BLOCK)))
                .map_err(|_| too_much())?;
            let step = async { transfer.read_buf(&mut bytes).await.map_err(FtpError::ConnectionError) };
            if self.pool.within(step).await? == 0 {
                return Ok(bytes);
            }
        }
        Err(too_much())
    }

    /// Returns the content of a file. The size of the file is not requested, since the file may be replaced before it is sent.
    async fn retrieve(&self, lease: &mut Lease<'_>, path: &str) -> FtpResult<Vec<u8>> {
        let mut transfer = self.pool.within(lease.session.ftp.retr_as_stream(path)).await?;
        let bytes = self.receive(&mut transfer, VALUE).await?;
        self.pool.within(transfer.finish()).await?;
        Ok(bytes)
    }

    async fn store(&self, lease: &mut Lease<'_>, path: &str, value: &[u8]) -> FtpResult<()> {
        let mut transfer = self.pool.within(lease.session.ftp.put_with_stream(path)).await?;
        for block in value.chunks(BLOCK) {
            let step = async { transfer.write_all(block).await.map_err(FtpError::ConnectionError) };
            self.pool.within(step).await?;
        }
        self.pool.within(transfer.finish()).await
    }

    /// Creates the directories above the root. A directory that already exists or cannot be created is not an error here: if the
    /// root is missing, using it reports an error.
    async fn make_above_root(&self) -> Result<(), StoreError> {
        let mut lease = self.pool.lease("writing").await?;
        let root = self.at(&lease, "");
        let mut result = Ok(());
        for (end, _) in root.match_indices('/').filter(|(end, _)| *end > 0) {
            result = self.pool.within(lease.session.ftp.mkdir(&root[..end])).await;
            if !matches!(result, Ok(()) | Err(FtpError::UnexpectedResponse(_))) {
                break;
            }
        }
        Self::answer("writing", lease, result).map(drop)
    }

    /// Returns the error for a file that could not be written, with the reason.
    async fn refusal(&self, path: &str, response: Response) -> StoreError {
        let (above, itself) = (self.stat(directory_of(path)).await, self.stat(path).await);
        match (above, itself) {
            (Ok(None), _) => StoreError::new(StoreErrorKind::NotFound, "writing", "the directory is missing"),
            // Another writer has created the directory in the meantime, and perhaps the file as well.
            (Ok(Some(Stat::Directory)), Ok(None | Some(Stat::File(_)))) if is_absence(&response) => {
                StoreError::new(StoreErrorKind::NotFound, "writing", "its directory was missing")
            }
            (Ok(Some(Stat::File(_))), _) | (_, Ok(Some(Stat::Directory))) => obstructed("writing"),
            (Ok(Some(Stat::Directory)), _) => denied("writing", response),
            (Err(error), _) => error,
        }
    }
}

type Transfer = suppaftp::tokio::TransferStream<AsyncNoTlsStream>;

/// Returns the error for an existing file that may not be accessed.
fn denied(operation: &'static str, response: Response) -> StoreError {
    let message = "the server denied the operation without a reason";
    StoreError::new(StoreErrorKind::Forbidden, operation, message)
        .with_source(FtpError::UnexpectedResponse(response))
}

/// Corrects the error for a path that is not a directory, for which some servers return the code for an invalid command.
fn not_a_directory(error: FtpError) -> FtpError {
    match error {
        FtpError::UnexpectedResponse(response) if response.status == Status::BadArguments => {
            FtpError::UnexpectedResponse(Response::new(Status::FileUnavailable, response.body))
        }
        error => error,
    }
}

/// Parses an entry such as `type=file;size=12; name`. `None` if the line is not an entry; `Some(None)` for an entry that is
/// neither a file nor a directory.
fn mlsd_entry(line: &str) -> Option<Option<Entry>> {
    let (facts, name) = line.split_once(' ')?;
    let fact = |wanted: &str| {
        let facts = facts.split(';').filter_map(|fact| fact.split_once('='));
        facts.into_iter().find(|(name, _)| name.eq_ignore_ascii_case(wanted)).map(|(_, value)| value)
    };
    let size = match fact("type")?.to_ascii_lowercase().as_str() {
        "file" => Some(fact("size")?.parse().ok()?),
        "dir" => None,
        _ => return Some(None),
    };
    Some(Some(Entry { name: unescaped(name, SPECIAL), size }))
}

/// Parses an entry in the format of `ls -l`.
fn list_entry(line: &str) -> Option<Option<Entry>> {
    if line.starts_with("total ") {
        return Some(None);
    }
    let file = ListParser::parse_posix(line).ok()?;
    if file.name() == "." || file.name() == ".." || !(file.is_file() || file.is_directory()) {
        return Some(None);
    }
    let size = file.is_file().then(|| file.size() as u64);
    Some(Some(Entry { name: unescaped(file.name(), SPECIAL), size }))
}

async_store!(FtpStore);

impl FileTree for FtpStore {
    const REMOVES_ONLY_EMPTY: bool = true;

    fn address(&self) -> String {
        let server = self.pool.server();
        let port = if server.port == 21 { String::new() } else { format!(":{}", server.port) };
        let slash = if self.root.is_empty() { "" } else { "/" };
        format!("ftp://{}{port}{slash}{}", server.host, self.root)
    }

    fn abilities(&self) -> Capabilities {
        let mut capabilities = Capabilities::default();
        capabilities.writable = true;
        capabilities.listable = true;
        capabilities.in_flight = usize::from(self.connections).try_into().ok();
        capabilities
    }

    async fn stat(&self, path: &str) -> Result<Option<Stat>, StoreError> {
        if path.is_empty() {
            return Ok(self.listed(path).await?.map(|_| Stat::Directory));
        }
        if temporary::check(path).is_err() {
            return Ok(None);
        }
        let mut attempts = 0;
        loop {
            attempts += 1;
            let mut lease = self.pool.lease("reading").await?;
            let place = self.at(&lease, path);
            let result = self.pool.within(lease.session.ftp.size(place)).await;
            let refusal = match Self::answer("reading", lease, result)? {
                Answer::Done(size) => {
                    return Ok(Some(Stat::File(Head { size: size as u64, version: None })));
                }
                Answer::Refused(refusal) => refusal,
            };
            match self.other(path, refusal).await? {
                Other::Missing => return Ok(None),
                Other::Directory => return Ok(Some(Stat::Directory)),
                Other::Refused(refusal) if attempts == ATTEMPTS => return Err(denied("reading", refusal)),
                Other::Refused(_) => {}
            }
        }
    }

    async fn read_file(
        &self,
        path: &str,
        _range: Option<ByteRange>,
        _version: Option<&Version>,
    ) -> Result<Option<ValuePart>, StoreError> {
        if temporary::check(path).is_err() {
            return Ok(None);
        }
        let mut attempts = 0;
        loop {
            attempts += 1;
            let mut lease = self.pool.lease("reading").await?;
            let place = self.at(&lease, path);
            let result = self.retrieve(&mut lease, &place).await;
            let refusal = match Self::answer("reading", lease, result)? {
                Answer::Done(bytes) => {
                    let head = Head { size: bytes.len() as u64, version: None };
                    return Ok(Some(ValuePart { offset: 0, bytes: bytes.into(), head }));
                }
                Answer::Refused(refusal) => refusal,
            };
            match self.other(path, refusal).await? {
                Other::Missing | Other::Directory => return Ok(None),
                Other::Refused(refusal) if attempts == ATTEMPTS => return Err(denied("reading", refusal)),
                Other::Refused(_) => {}
            }
        }
    }

    async fn write_file(&self, path: &str, value: &Bytes, absent: bool) -> Result<(), StoreError> {
        temporary::check(path)?;
        let mut lease = self.pool.lease("writing").await?;
        let temporary = below(directory_of(path), &temporary::next_name());
        let [place, temporary_place] = [path, &temporary].map(|path| self.at(&lease, path));
        let result = self.store(&mut lease, &temporary_place, value).await;
        if let Answer::Refused(response) = Self::answer("writing", lease, result)? {
            return Err(self.refusal(path, response).await);
        }
        if absent && matches!(self.stat(path).await?, Some(Stat::File(_))) {
            self.remove_file(&temporary).await?;
            return Err(exists());
        }
        let mut lease = self.pool.lease("writing").await?;
        let result = self.pool.within(lease.session.ftp.rename(temporary_place, place)).await;
        if let Answer::Refused(response) = Self::answer("writing", lease, result)? {
            self.remove_file(&temporary).await?;
            return Err(self.refusal(path, response).await);
        }
        Ok(())
    }

    async fn remove_file(&self, path: &str) -> Result<bool, StoreError> {
        let mut attempts = 0;
        loop {
            attempts += 1;
            let mut lease = self.pool.lease("erasing").await?;
            let place = self.at(&lease, path);
            let result = self.pool.within(lease.session.ftp.rm(place)).await;
            let refusal = match Self::answer("erasing", lease, result)? {
                Answer::Done(()) => return Ok(true),
                Answer::Refused(refusal) if is_absence(&refusal) => return Ok(false),
                Answer::Refused(refusal) => refusal,
            };
            match self.stat(path).await? {
                Some(Stat::File(_)) if attempts == ATTEMPTS => return Err(denied("erasing", refusal)),
                Some(Stat::File(_)) => {}
                Some(Stat::Directory) | None => return Ok(false),
            }
        }
    }

    async fn make_directory(&self, path: &str) -> Result<(), StoreError> {
        if path.is_empty() {
            self.make_above_root().await?;
        }
        let mut lease = self.pool.lease("writing").await?;
        let place = self.at(&lease, path);
        let result = self.pool.within(lease.session.ftp.mkdir(place)).await;
        let Answer::Refused(response) = Self::answer("writing", lease, result)? else { return Ok(()) };
        match self.stat(path).await? {
            Some(Stat::Directory) => Ok(()),
            Some(Stat::File(_)) => Err(obstructed("writing")),
            None => Err(self.refusal(path, response).await),
        }
    }

    async fn remove_directory(&self, path: &str) -> Result<bool, StoreError> {
        let mut lease = self.pool.lease("erasing").await?;
        let place = self.at(&lease, path);
        let result = self.pool.within(lease.session.ftp.rmdir(place)).await;
        Ok(matches!(Self::answer("erasing", lease, result)?, Answer::Done(())))
    }

    async fn remove_all(&self, path: &str) -> Result<(), StoreError> {
        let mut directories = vec![path.to_owned()];
        let mut next = 0;
        while let Some(directory) = directories.get(next).cloned() {
            for entry in self.listed(&directory).await?.unwrap_or_default() {
                let path = below(&directory, &entry.name);
                match entry.size {
                    None => directories.push(path),
                    Some(_) => drop(self.remove_file(&path).await?),
                }
            }
            next += 1;
        }
        for directory in directories.iter().rev() {
            self.remove_directory(directory).await?;
        }
        Ok(())
    }

    async fn entries(&self, path: &str) -> Result<Option<Vec<Entry>>, StoreError> {
        let mut entries = self.listed(path).await?;
        if let Some(entries) = &mut entries {
            entries.retain(|entry| !temporary::is_temporary(&entry.name));
        }
        Ok(entries)
    }
}
