//! [`RedisStore`].

mod database;
mod pool;
mod value;

use std::collections::{BTreeSet, HashSet};
use std::hash::{BuildHasher, RandomState};
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;
use std::{env, fmt};

use ::redis::{Client, Connection, ConnectionAddr, IntoConnectionInfo, Pipeline, RedisError, RedisResult};
use bytes::Bytes;

use database::Database;
use pool::{Pool, into_error};
use value::{RedisValue, WHOLE, replace};
use zarrox_stores::internals::support::ranges_of;
use zarrox_stores::{
    ByteRange, Capabilities, Condition, DirListing, GetDone, Key, Located, LockGuard, Payload, Prefix,
    Scheme, StorageOption, StorageOptions, Store, StoreError, StoreErrorKind, StoreUrl, Value, provided,
};

/// The prefix that zarr-python gives every key.
const PREFIX: &str = "zarr";

/// The number of keys that are scanned in each step of a listing.
const PAGE: usize = 1000;

/// The number of values that are requested together.
const BATCH: usize = 16;

/// The default maximum size of a value in Redis, in bytes.
const LARGEST: usize = 512 << 20;

/// The number of attempts to read parts of a value while other writers replace it, before the whole value is read.
const ATTEMPTS: usize = 3;

/// The whole value, as the first range to read.
const ALL: ByteRange = ByteRange::From { offset: 0, length: None };

/// The number of parallel requests. The server itself executes one at a time.
const IN_FLIGHT: NonZeroUsize = NonZeroUsize::MIN.saturating_add(15);

/// A store whose values are strings in a Redis database, as in zarr-python's `RedisStore`.
///
/// The key `a/b` is stored as `zarr:a/b`, or with another [prefix](RedisOptions::prefix), so that several hierarchies and other
/// data can share a database. Every write is atomic. Valkey and other servers that speak the Redis protocol are supported;
/// clusters and TLS are not.
///
/// A value has up to 512 MiB. Small values are read as a whole when they are opened. Of larger values, only the required parts
/// are read, by a script that compares the digest of the value, so that all parts belong to the same version; the user must have
/// permission to run scripts.
///
/// Any number of processes may write: the server checks [`Condition::Matches`] by computing the digest of the current value.
///
/// Redis has no directories and does not sort keys: a listing scans every key of the database, and needs 16 bytes of memory for
/// each key found, since Redis may return a key twice.
#[derive(Clone, Debug)]
pub struct RedisStore(Arc<Database>);

/// The scheme of `redis://user:password@host:port/database/node?prefix=name`, where the path of the node follows the database
/// number.
pub(crate) static SCHEME: Scheme = Scheme::new(&["redis", "rediss"], locate).with_options(&[
    StorageOption::text("user", "the user, unless the URL has one"),
    StorageOption::text("password", "the password of the user"),
    StorageOption::text("prefix", "the prefix of all keys in the database"),
]);

fn locate(url: &StoreUrl<'_>, options: &StorageOptions) -> Result<Located, StoreError> {
    let path = url.path().trim_start_matches('/');
    let (database, node) = path.split_once('/').unwrap_or((path, ""));
    let query = url.query().map_or(String::new(), |query| format!("?{query}"));
    let server = url.with_path(&format!("/{database}{query}"));
    let mut settings = RedisOptions::from_environment();
    settings.user = options.get("user").map(str::to_owned);
    settings.password = options.get("password").map(str::to_owned).or(settings.password);
    settings.prefix = options.get("prefix").map(str::to_owned);
    let store = settings.open(&server).map_err(|error| error.or_location(|| url.to_string()))?;
    Ok(Located::whole(store, node))
}

/// Options for opening a [`RedisStore`].
///
/// | option | default |
/// |---|---|
/// | [`user`](Self::user), [`password`](Self::password) | the user and the password in the URL, or none |
/// | [`database`](Self::database) | the database in the URL, or 0 |
/// | [`prefix`](Self::prefix) | the prefix in the URL, or `zarr` |
/// | [`timeout`](Self::timeout) | 30 seconds |
#[derive(Clone)]
pub struct RedisOptions {
    user: Option<String>,
    password: Option<String>,
    database: Option<u32>,
    prefix: Option<String>,
    timeout: Duration,
}

impl Default for RedisOptions {
    fn default() -> Self {
        let timeout = Duration::from_secs(30);
        Self { user: None, password: None, database: None, prefix: None, timeout }
    }
}

impl RedisOptions {
    /// Creates the default options.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates the default options, with the password from the environment variable `REDISCLI_AUTH` if it is set, as in Redis'
    /// own programs.
    #[must_use]
    pub fn from_environment() -> Self {
        Self { password: env::var("REDISCLI_AUTH").ok(), ..Self::default() }
    }

    /// Sets the user; by default, the server's user `default`. A user in the URL takes precedence.
    #[must_use]
    pub fn user(mut self, user: impl Into<String>) -> Self {
        self.user = Some(user.into());
        self
    }

    /// Sets the password. A password in the URL takes precedence.
    #[must_use]
    pub fn password(mut self, password: impl Into<String>) -> Self {
        self.password = Some(password.into());
        self
    }

    /// Sets the database number, as in the path of a URL: `redis://host/1`. A database in the URL takes precedence.
    #[must_use]
    pub fn database(mut self, database: u32) -> Self {
        self.database = Some(database);
        self
    }

    /// Sets the prefix of every key, which is separated from the key by a colon. A prefix in the URL,
    /// `redis://host?prefix=climate`, takes precedence.
    #[must_use]
    pub fn prefix(mut self, prefix: impl Into<String>) -> Self {
        self.prefix = Some(prefix.into());
        self
    }

    /// Sets the longest time to wait without receiving any bytes from the server.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Connects to `redis://user:password@host:port/database?prefix=name` or
    /// `redis+unix:///path/of/socket?db=database&user=name&pass=password`. Only the host or the socket is required.
    ///
    /// # Errors
    ///
    /// [`StoreErrorKind::Unsupported`] when the URL has another form, [`StoreErrorKind::Forbidden`] when the server rejects the
    /// user or the password, [`StoreErrorKind::NotFound`] when the database does not exist, [`StoreErrorKind::Unreachable`] or
    /// [`StoreErrorKind::TimedOut`] when no server responds.
    pub fn open(self, url: &str) -> Result<RedisStore, StoreError> {
        let refuse = |message: &str| StoreError::new(StoreErrorKind::Unsupported, "connecting", message);
        let url =
            ::redis::parse_redis_url(url).ok_or_else(|| refuse("this is not the URL of a Redis server"))?;
        if matches!(url.scheme(), "rediss" | "valkeys") {
            return Err(refuse("Redis over TLS is not supported; use a tunnel, such as stunnel's"));
        }
        let of_url = |name: &str| {
            let mut pairs = url.query_pairs();
            pairs.find(|(key, _)| key == name).map(|(_, value)| value.into_owned())
        };
        let prefix = of_url("prefix").or(self.prefix).unwrap_or_else(|| PREFIX.to_owned());
        let says_database = !url.path().trim_matches('/').is_empty() && !url.scheme().ends_with("unix");
        let says_database = says_database || of_url("db").is_some();
        // The client's own messages for an invalid URL do not repeat the URL.
        let info = url.into_connection_info().map_err(|error| refuse(&error.to_string()))?;
        let mut settings = info.redis_settings().clone();
        if let Some(database) = self.database.filter(|_| !says_database) {
            settings = settings.set_db(database.into());
        }
        if settings.password().is_none()
            && let Some(password) = self.password
        {
            settings = settings.set_password(password);
        }
        if settings.username().is_none()
            && let Some(user) = self.user
        {
            settings = settings.set_username(user);
        }
        let location = location(info.addr(), settings.db(), &prefix);
        let fail = |error: RedisError| into_error("connecting", error).with_location(&location);
        let client = Client::open(info.set_redis_settings(settings)).map_err(fail)?;
        let pool = Pool::connect(client, self.timeout).map_err(fail)?;
        Ok(RedisStore(Arc::new(Database { pool, location, prefix: format!("{prefix}:") })))
    }
}

impl fmt::Debug for RedisOptions {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = formatter.debug_struct("RedisOptions");
        debug.field("database", &self.database).field("prefix", &self.prefix);
        debug.field("timeout", &self.timeout).finish_non_exhaustive()
    }
}

/// Returns the location: the server, the database and the prefix, written as if they were directories.
fn location(address: &ConnectionAddr, database: i64, prefix: &str) -> String {
    let server = match address {
        ConnectionAddr::Tcp(host, port) if host.contains(':') => format!("redis://[{host}]:{port}"),
        ConnectionAddr::Unix(path) => format!("redis+unix://{}", path.display()),
        address => format!("redis://{address}"),
    };
    format!("{server}/{database}/{prefix}")
}

impl RedisStore {
    /// Connects to a server. See [`RedisOptions::open`].
    ///
    /// # Errors
    ///
    /// See [`RedisOptions::open`].
    pub fn open(url: &str) -> Result<Self, StoreError> {
        RedisOptions::new().open(url)
    }

    /// Returns some of the server's keys below a prefix, with the sizes of their values, and the next cursor. A key may be
    /// returned twice.
    fn page(&self, pattern: &[u8], cursor: u64) -> RedisResult<(u64, Vec<(Key, u64)>)> {
        self.0.pool.repeat(|connection| {
            let (next, names) = scan(connection, pattern, cursor)?;
            let mut sizes = Pipeline::with_capacity(2 * names.len());
            for name in &names {
                sizes.cmd("STRLEN").arg(name).cmd("EXISTS").arg(name);
            }
            let sizes: Vec<u64> = if names.is_empty() { Vec::new() } else { sizes.query(connection)? };
            let found = names.into_iter().zip(sizes.chunks_exact(2)).filter(|(_, size)| size[1] == 1);
            let keys = found.filter_map(|(name, size)| Some((self.0.key(&name)?, size[0])));
            Ok((next, keys.collect()))
        })
    }

    /// Visits each key below a prefix once, until the visitor breaks.
    fn visit(
        &self,
        prefix: &Prefix,
        visit: &mut dyn FnMut(Key, u64) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        let pattern = self.0.pattern(prefix);
        let (hasher, other) = (RandomState::new(), RandomState::new());
        let mut seen = HashSet::new();
        let mut cursor = 0;
        loop {
            let page = self.page(&pattern, cursor).map_err(self.0.fail("listing", prefix.as_str()))?;
            for (key, size) in page.1 {
                let is_new = seen.insert((hasher.hash_one(&key), other.hash_one(&key)));
                if is_new && visit(key, size).is_break() {
                    return Ok(());
                }
            }
            cursor = page.0;
            if cursor == 0 {
                return Ok(());
            }
        }
    }
}

/// Runs one step of a listing on a connection. Returns the next cursor, which is 0 at the end, and some names.
fn scan(connection: &mut Connection, pattern: &[u8], cursor: u64) -> RedisResult<(u64, Vec<Vec<u8>>)> {
    let mut scan = ::redis::cmd("SCAN");
    scan.arg(cursor).arg("MATCH").arg(pattern).arg("COUNT").arg(PAGE).arg("TYPE").arg("string");
    scan.query(connection)
}

impl Store for RedisStore {
    provided!(directory contains rename_prefix flush stamp hold exchange);

    fn location(&self) -> String {
        self.0.location.clone()
    }

    fn capabilities(&self) -> Capabilities {
        let mut capabilities = Capabilities::default();
        capabilities.writable = true;
        capabilities.listable = true;
        capabilities.set_if_absent = true;
        capabilities.rename = false;
        capabilities.values_above_values = true;
        capabilities.set_if_unchanged = true;
        capabilities.erase_if_unchanged = true;
        capabilities.in_flight = Some(IN_FLIGHT);
        capabilities.largest_value = Some(LARGEST as u64);
        capabilities
    }

    fn open_with(&self, key: &Key, first: Option<ByteRange>) -> Result<Option<Box<dyn Value>>, StoreError> {
        let value = match first.unwrap_or(ByteRange::Suffix { length: 0 }) {
            ALL => self.get(key)?.map(|bytes| RedisValue::whole(&self.0, key, bytes)),
            first => RedisValue::open(&self.0, key, first)?,
        };
        Ok(value.map(|value| Box::new(value) as Box<dyn Value>))
    }

    fn get(&self, key: &Key) -> Result<Option<Bytes>, StoreError> {
        let name = self.0.name(key);
        let get = |connection: &mut Connection| ::redis::cmd("GET").arg(&name).query(connection);
        self.0.pool.repeat(get).map_err(self.0.fail("reading", key.as_str()))
    }

    fn get_ranges(&self, key: &Key, ranges: &[ByteRange]) -> Result<Option<Vec<Bytes>>, StoreError> {
        for _ in 0..ATTEMPTS {
            let Some(size) = self.size(key)? else { return Ok(None) };
            let inside = ranges.iter().map(|range| range.resolve(size));
            let total = inside.map(|range| range.map(|range| range.end - range.start)).sum::<Option<u64>>();
            if size <= WHOLE || total.is_none_or(|total| total > size) {
                break;
            }
            if let Some(parts) = value::parts(&self.0, key, size, ranges)? {
                return Ok(Some(parts));
            }
        }
        let Some(bytes) = self.get(key)? else { return Ok(None) };
        ranges_of(self, key, &bytes, ranges).map(Some)
    }

    fn get_many(&self, keys: &[Key], done: &GetDone<'_>) {
        for (batch, keys) in keys.chunks(BATCH).enumerate() {
            let mut together = Pipeline::with_capacity(keys.len());
            together.ignore_errors();
            for key in keys {
                together.cmd("GET").arg(self.0.name(key));
            }
            let get =
                |connection: &mut Connection| together.query::<Vec<RedisResult<Option<Bytes>>>>(connection);
            let answers = self.0.pool.repeat(get);
            let answers = answers.unwrap_or_else(|error| vec![Err(error); keys.len()]);
            for (index, (key, answer)) in keys.iter().zip(answers).enumerate() {
                done(batch * BATCH + index, answer.map_err(self.0.fail("reading", key.as_str())));
            }
        }
    }

    fn size(&self, key: &Key) -> Result<Option<u64>, StoreError> {
        value::size(&self.0, key)
    }

    fn put(&self, key: &Key, payload: Payload<'_>, condition: Condition<'_>) -> Result<(), StoreError> {
        let value = &*payload.bytes(key)?;
        let fail = |kind, message: &str| {
            let error = StoreError::new(kind, "writing", message);
            Err(error.with_location(self.location()).with_key(key.as_str()))
        };
        if value.len() > LARGEST {
            return fail(StoreErrorKind::TooLarge, "a Redis string has at most 512 MiB");
        }
        if let Condition::Matches(version) = condition {
            return replace(&self.0, key, value, version);
        }
        let absent = condition.absent()?;
        let mut set = ::redis::cmd("SET");
        set.arg(self.0.name(key)).arg(value);
        let done = if absent {
            set.arg("NX");
            self.0.pool.once(|connection| set.query::<Option<()>>(connection))
        } else {
            self.0.pool.repeat(|connection| set.query::<Option<()>>(connection))
        };
        match done.map_err(self.0.fail("writing", key.as_str()))? {
            None if absent => fail(StoreErrorKind::AlreadyExists, "the value already exists"),
            _ => Ok(()),
        }
    }

    fn erase_if(&self, key: &Key, condition: Condition<'_>) -> Result<bool, StoreError> {
        condition.erasing()?;
        if let Condition::Matches(version) = condition {
            return value::erase(&self.0, key, version).map(|()| true);
        }
        let name = self.0.name(key);
        let erase = |connection: &mut Connection| ::redis::cmd("UNLINK").arg(&name).query(connection);
        self.0.pool.once(erase).map_err(self.0.fail("erasing", key.as_str()))
    }

    fn erase_prefix(&self, prefix: &Prefix) -> Result<(), StoreError> {
        let pattern = self.0.pattern(prefix);
        let mut cursor = 0;
        loop {
            let step = self.0.pool.repeat(|connection| {
                let (next, names) = scan(connection, &pattern, cursor)?;
                let names: Vec<_> = names.into_iter().filter(|name| self.0.key(name).is_some()).collect();
                if !names.is_empty() {
                    ::redis::cmd("UNLINK").arg(names).exec(connection)?;
                }
                Ok(next)
            });
            cursor = step.map_err(self.0.fail("erasing", prefix.as_str()))?;
            if cursor == 0 {
                return Ok(());
            }
        }
    }

    fn list_prefix(
        &self,
        prefix: &Prefix,
        visit: &mut dyn FnMut(Key, u64) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        self.visit(prefix, visit)
    }

    fn list_dir(&self, prefix: &Prefix) -> Result<DirListing, StoreError> {
        let pattern = self.0.pattern(prefix);
        let (mut keys, mut prefixes) = (BTreeSet::new(), BTreeSet::new());
        let mut cursor = 0;
        loop {
            let step = self.0.pool.repeat(|connection| scan(connection, &pattern, cursor));
            let (next, names) = step.map_err(self.0.fail("listing", prefix.as_str()))?;
            for key in names.iter().filter_map(|name| self.0.key(name)) {
                let below = key.as_str().get(prefix.as_str().len()..).unwrap_or_default();
                match below.split_once('/') {
                    Some((child, _)) => drop(prefixes.insert(prefix.child(child)?)),
                    None => drop(keys.insert(key)),
                }
            }
            cursor = next;
            if cursor == 0 {
                return Ok(DirListing {
                    keys: keys.into_iter().collect(),
                    prefixes: prefixes.into_iter().collect(),
                });
            }
        }
    }

    fn lock(&self, key: &Key) -> Result<LockGuard, StoreError> {
        Ok(LockGuard::in_process(&self.0.location, key))
    }
}
