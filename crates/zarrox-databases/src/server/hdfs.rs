//! [`HdfsStore`].

use std::collections::HashMap;
use std::fmt;
use std::future::Future;
use std::pin::pin;
use std::time::Duration;

use bytes::Bytes;
use futures_util::StreamExt;
use hdfs_native::{Client, ClientBuilder, HdfsError, WriteOptions};
use tokio::time::timeout;

use crate::server::address::Address;
use crate::server::escape::{Special, escaped, unescaped};
use crate::server::tree::{
    Entry, FileTree, Stat, async_store, below, directory_of, exists, located, obstructed,
};
use zarrox_stores::internals::support::{reserved, runtime};
use zarrox_stores::internals::temporary;
use zarrox_stores::{
    Blocking, ByteRange, Capabilities, Head, Scheme, StorageOption, StoreError, StoreErrorKind, ValuePart,
    Version,
};

/// The number of bytes that are written to the cluster at a time.
const BLOCK: usize = 4 << 20;

/// The port of the name node, if neither the URL nor Hadoop's settings specify one.
const PORT: u16 = 8020;

/// The client's settings for failures. Operations are retried by the wrapper around the store. The client itself only finds the
/// active name node among up to three, and tries the next data node of a block if one does not respond.
const SETTINGS: [(&str, &str); 3] = [
    ("dfs.client.failover.max.attempts", "2"),
    ("dfs.client.failover.sleep.max.millis", "100"),
    ("dfs.client.socket-timeout", "15000"),
];

/// The permissions of new directories, to which the cluster applies its umask.
const PERMISSIONS: u32 = 0o777;

/// The characters that names in HDFS cannot contain.
const SPECIAL: Special = |character| character == ':';

/// The form of a valid URL.
const FORM: &str = "hdfs://namenode:8020/path";

pub(crate) static SCHEME: Scheme = Scheme::new(&["hdfs"], |url, options| {
    let hdfs = options.iter().fold(HdfsOptions::new(), |hdfs, (name, value)| match name {
        "user" => hdfs.user(value),
        // A property of Hadoop's client, such as `dfs.client.use.datanode.hostname`.
        _ if name.contains('.') => hdfs.setting(name, value),
        _ => hdfs,
    });
    located(url, "hdfs", |server| hdfs.open(server))
})
.with_options(&[
    StorageOption::text("user", "the user, unless the URL has one"),
    StorageOption::text("*.*", "a setting of Hadoop's client, such as dfs.client.use.datanode.hostname"),
]);

/// A store whose values are files on a Hadoop cluster (HDFS), below one of its directories.
///
/// | option | default |
/// |---|---|
/// | [`user`](HdfsOptions::user) | `HADOOP_USER_NAME`, else the user of this process |
/// | [`setting`](HdfsOptions::setting) | the files in `HADOOP_CONF_DIR` |
/// | [`timeout`](HdfsOptions::timeout) | 60 seconds |
///
/// HDFS has no file versions, so only one process should write to a chunk at a time.
///
/// A value is written to a temporary file, which is then renamed, so readers see either the old or the new value. If the value
/// must not exist yet, the name node checks this as part of the rename. Names that begin with `.zarrox-` and end in `.tmp` are
/// reserved for temporary files. Directories are removed with their last value.
///
/// Since HDFS does not report a reliable version of a file, values are always read as a whole. A `:` in a name is written as
/// `%3A`, since HDFS does not support colons. Writing a small value takes about half a second, since HDFS is designed for large
/// files.
#[derive(Clone)]
pub struct HdfsStore {
    client: Client,
    /// The host of the URL.
    host: String,
    /// The path of the root, with a leading `/` and no trailing `/`; empty for the root of the cluster.
    root: String,
    patience: Duration,
}

/// Options for opening an [`HdfsStore`].
#[derive(Clone)]
pub struct HdfsOptions {
    user: Option<String>,
    settings: HashMap<String, String>,
    timeout: Duration,
}

impl Default for HdfsOptions {
    fn default() -> Self {
        let settings = SETTINGS.map(|(name, value)| (name.to_owned(), value.to_owned()));
        Self { user: None, settings: settings.into(), timeout: Duration::from_secs(60) }
    }
}

impl fmt::Debug for HdfsOptions {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("HdfsOptions").field("timeout", &self.timeout).finish_non_exhaustive()
    }
}

impl HdfsOptions {
    /// Creates the default options.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the name of the user. A cluster without Kerberos trusts it.
    #[must_use]
    pub fn user(mut self, user: impl Into<String>) -> Self {
        self.user = Some(user.into());
        self
    }

    /// Sets a property of Hadoop's client, such as `dfs.ha.namenodes.cluster`.
    #[must_use]
    pub fn setting(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.settings.insert(name.into(), value.into());
        self
    }

    /// Sets the timeout of a single step: a request to the name node, or the transfer of four mebibytes to or from the cluster.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Opens the directory of this URL, such as `hdfs://namenode:8020/path` or `hdfs://cluster/path`. The directory need not
    /// exist: the first write creates it.
    ///
    /// # Errors
    ///
    /// When the text is not an HDFS URL, or when Hadoop's settings cannot be read.
    pub fn open(self, url: &str) -> Result<Blocking<HdfsStore>, StoreError> {
        let address = Address::parse(url, &["hdfs"], FORM)?;
        let url = &address.0;
        let host = url.host_str().unwrap_or_default();
        let host = url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"));
        let path = address.path()?;
        let path = path.trim_matches('/');
        let root = if path.is_empty() { String::new() } else { format!("/{}", escaped(path, SPECIAL)) };
        let user = self.user.clone().or_else(|| address.login().map(|(user, _)| user));
        let handle = runtime::handle()?;
        let client = |authority: &str| {
            let builder = ClientBuilder::new().with_url(format!("hdfs://{authority}"));
            let builder = builder.with_config(self.settings.clone()).with_io_runtime(handle.clone());
            user.clone().into_iter().fold(builder, ClientBuilder::with_user).build()
        };
        let client = match client(&host) {
            // Hadoop's settings do not define a cluster with this name.
            Err(HdfsError::InvalidArgument(_)) if url.port().is_none() => client(&format!("{host}:{PORT}")),
            client => client,
        };
        let client = client.map_err(|error| fault("connecting", error))?;
        Ok(Blocking::new(HdfsStore { client, host, root, patience: self.timeout }))
    }
}

impl fmt::Debug for HdfsStore {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("HdfsStore").field(&self.address()).finish()
    }
}

impl HdfsStore {
    /// Returns the path on the cluster.
    fn at(&self, path: &str) -> String {
        match path {
            "" if self.root.is_empty() => "/".to_owned(),
            "" => self.root.clone(),
            path => format!("{}/{}", self.root, escaped(path, SPECIAL)),
        }
    }

    async fn within<T>(
        &self,
        operation: &'static str,
        step: impl Future<Output = Result<T, HdfsError>>,
    ) -> Result<T, StoreError> {
        match timeout(self.patience, step).await {
            Ok(result) => result.map_err(|error| fault(operation, error)),
            Err(_) => Err(StoreError::new(StoreErrorKind::TimedOut, operation, "no response in time")),
        }
    }

    /// Returns the content of a file; `None` when it does not exist. All bytes belong to the same version of the file, even if
    /// the file is replaced in the meantime.
    async fn content(&self, place: &str) -> Result<Option<Bytes>, StoreError> {
        let reader = match self.within("reading", self.client.read(place)).await {
            Err(error) if is_absence(&error) => return Ok(None),
            reader => reader?,
        };
        let size = reader.file_length();
        let mut bytes = reserved(size)?;
        let mut packets = pin!(reader.read_range_stream(0, size));
        while let Some(packet) = self.within("reading", async { packets.next().await.transpose() }).await? {
            bytes.extend_from_slice(&packet);
        }
        if bytes.len() != size {
            let message = format!("received {} bytes of a file of {size}", bytes.len());
            return Err(StoreError::new(StoreErrorKind::Unreachable, "reading", message));
        }
        Ok(Some(bytes.into()))
    }

    async fn create(&self, place: &str, value: &Bytes) -> Result<(), StoreError> {
        let options = WriteOptions::default();
        let mut writer = self.within("writing", self.client.create(place, options)).await?;
        for start in (0..value.len()).step_by(BLOCK) {
            let block = value.slice(start..value.len().min(start + BLOCK));
            self.within("writing", writer.write_bytes(block)).await?;
        }
        self.within("writing", writer.close()).await
    }
}

/// Returns true if an error means that the path does not exist.
fn is_absence(error: &StoreError) -> bool {
    matches!(error.kind(), StoreErrorKind::NotFound | StoreErrorKind::Obstructed)
}

/// Converts a client error to the error of an operation. The name node identifies errors by the names of Java exceptions.
fn fault(operation: &'static str, error: HdfsError) -> StoreError {
    use StoreErrorKind as Kind;
    let by_name = |name: &str, text: &str| match name.rsplit('.').next().unwrap_or(name) {
        // When a path below a file is looked up, old name nodes deny access or fail internally.
        "AccessControlException" | "IllegalStateException" if text.contains("is not a directory") => {
            Kind::Obstructed
        }
        "ParentNotDirectoryException" | "PathIsNotEmptyDirectoryException" => Kind::Obstructed,
        "AccessControlException" | "AuthorizationException" | "AuthenticationException" => Kind::Forbidden,
        "FileNotFoundException" => Kind::NotFound,
        "NSQuotaExceededException" | "DSQuotaExceededException" | "QuotaByStorageTypeExceededException" => {
            Kind::StorageFull
        }
        "InvalidPathException" | "PathComponentTooLongException" => Kind::InvalidKey,
        // No data node is currently available.
        "IOException" if text.contains("could only be") => Kind::Unreachable,
        "StandbyException" | "SafeModeException" | "RetriableException" => Kind::Unreachable,
        _ => Kind::Other,
    };
    let kind = match &error {
        HdfsError::IOError(error) if error.kind() == std::io::ErrorKind::TimedOut => Kind::TimedOut,
        HdfsError::IOError(_) | HdfsError::DataTransferError(_) => Kind::Unreachable,
        HdfsError::ChecksumError | HdfsError::BlocksNotFound(_) => Kind::Corrupt,
        HdfsError::InvalidPath(_) => Kind::InvalidKey,
        HdfsError::AlreadyExists(text) if text.contains("is not a directory") => Kind::Obstructed,
        HdfsError::AlreadyExists(_) => Kind::AlreadyExists,
        HdfsError::FileNotFound(_) => Kind::NotFound,
        HdfsError::IsADirectoryError(_) => Kind::Obstructed,
        HdfsError::UnsupportedFeature(_) | HdfsError::UnsupportedErasureCodingPolicy(_) => Kind::Unsupported,
        HdfsError::SASLError(_) | HdfsError::GSSAPIError(..) | HdfsError::NoSASLMechanism => Kind::Forbidden,
        HdfsError::RPCError(name, text) | HdfsError::FatalRPCError(name, text) => by_name(name, text),
        _ => Kind::Other,
    };
    // Only the first line is used, since the other lines are the name node's stack trace.
    let message = error.to_string().lines().next().unwrap_or_default().to_owned();
    StoreError::new(kind, operation, message).with_source(error)
}

async_store!(HdfsStore);

impl FileTree for HdfsStore {
    const REMOVES_ONLY_EMPTY: bool = true;

    fn address(&self) -> String {
        format!("hdfs://{}{}", self.host, self.root)
    }

    fn abilities(&self) -> Capabilities {
        let mut capabilities = Capabilities::default();
        capabilities.writable = true;
        capabilities.listable = true;
        capabilities.set_if_absent = true;
        capabilities.in_flight = 8.try_into().ok();
        capabilities
    }

    async fn stat(&self, path: &str) -> Result<Option<Stat>, StoreError> {
        if temporary::check(path).is_err() {
            return Ok(None);
        }
        match self.within("reading", self.client.get_file_info(&self.at(path))).await {
            Err(error) if is_absence(&error) => Ok(None),
            Err(error) => Err(error),
            Ok(status) if status.isdir => Ok(Some(Stat::Directory)),
            Ok(status) => Ok(Some(Stat::File(Head { size: status.length as u64, version: None }))),
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
        let place = self.at(path);
        let mut content = self.content(&place).await;
        // The blocks of a replaced file are deleted soon after. In that case, the new file can be read.
        let is_broken = |error: &StoreError| {
            matches!(error.kind(), StoreErrorKind::Unreachable | StoreErrorKind::Corrupt)
        };
        if content.as_ref().is_err_and(is_broken) {
            content = self.content(&place).await;
        }
        let piece = |bytes: Bytes| {
            let head = Head { size: bytes.len() as u64, version: None };
            ValuePart { offset: 0, bytes: bytes.into(), head }
        };
        Ok(content?.map(piece))
    }

    async fn write_file(&self, path: &str, value: &Bytes, absent: bool) -> Result<(), StoreError> {
        temporary::check(path)?;
        let temporary = self.at(&below(directory_of(path), &temporary::next_name()));
        let place = self.at(path);
        let written = match self.create(&temporary, value).await {
            Ok(()) => self.within("writing", self.client.rename(&temporary, &place, !absent)).await,
            Err(error) => Err(error),
        };
        let Err(error) = written else { return Ok(()) };
        // The temporary file may not exist, so a failure here is ignored: the error above is reported.
        let _ = self.within("writing", self.client.delete(&temporary, false)).await;
        if matches!(error.kind(), StoreErrorKind::Unreachable | StoreErrorKind::TimedOut) {
            return Err(error);
        }
        match self.stat(path).await? {
            Some(Stat::Directory) => Err(obstructed("writing")),
            Some(Stat::File(_)) if absent && error.kind() == StoreErrorKind::AlreadyExists => Err(exists()),
            _ => Err(error),
        }
    }

    async fn remove_file(&self, path: &str) -> Result<bool, StoreError> {
        match self.stat(path).await? {
            Some(Stat::File(_)) => self.within("erasing", self.client.delete(&self.at(path), false)).await,
            Some(Stat::Directory) | None => Ok(false),
        }
    }

    async fn make_directory(&self, path: &str) -> Result<(), StoreError> {
        self.within("writing", self.client.mkdirs(&self.at(path), PERMISSIONS, true)).await
    }

    async fn remove_directory(&self, path: &str) -> Result<bool, StoreError> {
        let removed = self.within("erasing", self.client.delete(&self.at(path), false)).await;
        removed.or_else(|error| if is_absence(&error) { Ok(false) } else { Err(error) })
    }

    async fn remove_all(&self, path: &str) -> Result<(), StoreError> {
        self.within("erasing", self.client.delete(&self.at(path), true)).await.map(drop)
    }

    async fn entries(&self, path: &str) -> Result<Option<Vec<Entry>>, StoreError> {
        let place = self.at(path);
        let listing = self.client.list_status_iter(&place, false);
        let mut entries = Vec::new();
        loop {
            let next = async { listing.next().await.transpose() };
            let status = match self.within("listing", next).await {
                Ok(Some(status)) => status,
                Ok(None) => return Ok(Some(entries)),
                Err(error) if is_absence(&error) => return Ok(None),
                Err(error) => return Err(error),
            };
            // The listing of a file contains only the file itself.
            if status.path == place {
                return Ok(None);
            }
            let name = unescaped(status.path.rsplit('/').next().unwrap_or_default(), SPECIAL);
            if !temporary::is_temporary(&name) {
                entries.push(Entry { name, size: (!status.isdir).then_some(status.length as u64) });
            }
        }
    }
}
