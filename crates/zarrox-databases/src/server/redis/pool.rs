//! A pool of connections to a Redis server that threads share, and the conversion of their errors.

use std::time::Duration;
use std::{fmt, io};

use ::redis::{Client, Connection, ErrorKind, RedisError, RedisResult, ServerErrorKind};

use zarrox_stores::internals::sync::{Mutex, unpoisoned};
use zarrox_stores::{StoreError, StoreErrorKind};

/// The maximum number of idle connections that are kept.
const IDLE: usize = 16;

/// The timeout for connecting.
const CONNECT: Duration = Duration::from_secs(5);

/// Connections to one server. Each connection is used by one thread at a time.
pub(super) struct Pool {
    client: Client,
    timeout: Duration,
    idle: Mutex<Vec<Connection>>,
}

impl Pool {
    /// Opens the first connection, so that a wrong address or password is detected at once.
    pub(super) fn connect(client: Client, timeout: Duration) -> RedisResult<Self> {
        let pool = Self { client, timeout, idle: Mutex::default() };
        let first = pool.fresh()?;
        unpoisoned(&pool.idle).push(first);
        Ok(pool)
    }

    /// Runs idempotent work. If the server has closed the connection, for instance because it was restarted, the work is run
    /// again on a new connection.
    pub(super) fn repeat<T>(
        &self,
        mut work: impl FnMut(&mut Connection) -> RedisResult<T>,
    ) -> RedisResult<T> {
        while let Some(mut connection) = self.idle() {
            match work(&mut connection) {
                Err(error) if error.is_connection_dropped() => {}
                result => return self.give_back(connection, result),
            }
        }
        self.run_on_fresh(work)
    }

    /// Runs work that is not idempotent, on a connection that is known to be open.
    pub(super) fn once<T>(&self, work: impl FnOnce(&mut Connection) -> RedisResult<T>) -> RedisResult<T> {
        while let Some(mut connection) = self.idle() {
            if ::redis::cmd("PING").exec(&mut connection).is_ok() {
                let result = work(&mut connection);
                return self.give_back(connection, result);
            }
        }
        self.run_on_fresh(work)
    }

    fn idle(&self) -> Option<Connection> {
        unpoisoned(&self.idle).pop()
    }

    fn fresh(&self) -> RedisResult<Connection> {
        let connection = self.client.get_connection_with_timeout(self.timeout.min(CONNECT))?;
        connection.set_read_timeout(Some(self.timeout))?;
        connection.set_write_timeout(Some(self.timeout))?;
        Ok(connection)
    }

    fn run_on_fresh<T>(&self, work: impl FnOnce(&mut Connection) -> RedisResult<T>) -> RedisResult<T> {
        let mut connection = self.fresh()?;
        let result = work(&mut connection);
        self.give_back(connection, result)
    }

    /// Returns the connection to the pool, unless a response may still be outstanding.
    fn give_back<T>(&self, connection: Connection, result: RedisResult<T>) -> RedisResult<T> {
        let in_step = match &result {
            Ok(_) => true,
            Err(error) => is_from_server(error),
        };
        let mut idle = unpoisoned(&self.idle);
        if in_step && idle.len() < IDLE {
            idle.push(connection);
        }
        drop(idle);
        result
    }
}

impl fmt::Debug for Pool {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Pool").field("timeout", &self.timeout).finish_non_exhaustive()
    }
}

/// Returns true if the error is a response from the server, after which the connection can be reused.
fn is_from_server(error: &RedisError) -> bool {
    matches!(error.kind(), ErrorKind::Server(_) | ErrorKind::Extension)
}

/// Converts an error of the client. The location and the key are added by the caller.
pub(super) fn into_error(operation: &'static str, error: RedisError) -> StoreError {
    use StoreErrorKind as Kind;
    let (kind, message) = match (error.kind(), error.code()) {
        _ if error.is_timeout() => (Kind::TimedOut, "the Redis server did not respond in time"),
        (ErrorKind::Io, _) => (Kind::Unreachable, "the Redis server cannot be reached"),
        (ErrorKind::AuthenticationFailed, _) | (_, Some("NOAUTH" | "WRONGPASS")) => {
            (Kind::Forbidden, "the Redis server rejected the user or the password")
        }
        (ErrorKind::Server(ServerErrorKind::NoPerm), _) => {
            (Kind::Forbidden, "the Redis server does not permit this operation to the user")
        }
        (ErrorKind::Server(ServerErrorKind::ReadOnly), _) => {
            (Kind::ReadOnly, "the Redis server is a read-only replica")
        }
        (ErrorKind::Server(kind), _) if is_temporary(kind) => {
            (Kind::Unreachable, "the Redis server is not ready")
        }
        (_, Some("BUSY")) => (Kind::Unreachable, "the Redis server is busy with a script"),
        (_, Some("OOM")) => (Kind::StorageFull, "the Redis server has no memory left for more data"),
        (_, Some("MISCONF")) => (Kind::StorageFull, "the Redis server cannot save its data to its disk"),
        (
            ErrorKind::Server(ServerErrorKind::Moved | ServerErrorKind::Ask | ServerErrorKind::CrossSlot),
            _,
        ) => (Kind::Unsupported, "the server belongs to a Redis cluster, which this store cannot use"),
        _ if says(&error, "WRONGTYPE") => {
            (Kind::Obstructed, "the key has a Redis list, hash, set or stream instead of a string")
        }
        _ if says(&error, "maximum allowed size") => {
            (Kind::TooLarge, "the value is larger than the Redis server accepts")
        }
        _ if says(&error, "max number of clients") => {
            (Kind::Unreachable, "the Redis server has reached its limit of clients")
        }
        _ if says(&error, "DB index") => {
            (Kind::NotFound, "the Redis server has no database with this number")
        }
        _ => return StoreError::new(Kind::Other, operation, error.to_string()).with_source(error),
    };
    let fault = StoreError::new(kind, operation, message);
    // The client hides the operating system's error.
    let refused = error.is_connection_refusal().then(|| io::Error::from(io::ErrorKind::ConnectionRefused));
    refused.iter().fold(fault, |fault, cause| fault.because_of(cause)).with_source(error)
}

fn is_temporary(kind: ServerErrorKind) -> bool {
    use ServerErrorKind as Kind;
    matches!(kind, Kind::BusyLoading | Kind::MasterDown | Kind::TryAgain | Kind::ClusterDown)
}

fn says(error: &RedisError, word: &str) -> bool {
    error.code() == Some(word) || error.to_string().contains(word)
}
