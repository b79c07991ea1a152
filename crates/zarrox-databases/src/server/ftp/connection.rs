//! Connections to an FTP server. They are opened on demand and reused, and every wait has a timeout.

use std::future::Future;
use std::io::{Error as IoError, ErrorKind};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use suppaftp::tokio::AsyncFtpStream;
use suppaftp::types::{FileType, FtpError, FtpResult, Response};
use suppaftp::{Mode, Status};
use tokio::net::TcpStream;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use zarrox_stores::{StoreError, StoreErrorKind};

/// The idle time after which a connection is tested before it is used.
const QUIET: Duration = Duration::from_secs(5);

/// The maximum length of a reply to the login, in bytes.
const REPLY: usize = 16 << 10;

/// The number of characters of a server's message that are quoted in an error.
const WORDS: usize = 300;

/// The address of a server, and the login.
pub(super) struct Server {
    pub(super) host: String,
    pub(super) port: u16,
    pub(super) user: String,
    pub(super) password: String,
    /// The longest time to wait without receiving any bytes from the server.
    pub(super) patience: Duration,
}

/// The connections to one server.
pub(super) struct Pool {
    server: Server,
    /// The number of connections that are not leased.
    free: Arc<Semaphore>,
    idle: Mutex<Vec<(Session, Instant)>>,
}

/// A connection, and its initial directory.
pub(super) struct Session {
    pub(super) ftp: AsyncFtpStream,
    pub(super) home: String,
}

/// A connection that is leased for a single operation.
pub(super) struct Lease<'p> {
    pool: &'p Pool,
    pub(super) session: Session,
    _permit: OwnedSemaphorePermit,
}

impl Pool {
    pub(super) fn new(server: Server, connections: usize) -> Self {
        Self { server, free: Arc::new(Semaphore::new(connections)), idle: Mutex::default() }
    }

    pub(super) fn server(&self) -> &Server {
        &self.server
    }

    /// Leases a connection for exclusive use.
    pub(super) async fn lease(&self, operation: &'static str) -> Result<Lease<'_>, StoreError> {
        let closed = |_| StoreError::new(StoreErrorKind::Unreachable, operation, "the store is being closed");
        let permit = Arc::clone(&self.free).acquire_owned().await.map_err(closed)?;
        while let Some((mut session, since)) = self.pop() {
            if since.elapsed() < QUIET || self.within(session.ftp.noop()).await.is_ok() {
                return Ok(Lease { pool: self, session, _permit: permit });
            }
        }
        let session = self.connect().await.map_err(|error| fault(operation, error))?;
        Ok(Lease { pool: self, session, _permit: permit })
    }

    fn pop(&self) -> Option<(Session, Instant)> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }

    async fn connect(&self) -> FtpResult<Session> {
        let Server { host, port, user, password, .. } = &self.server;
        // The brackets around an IPv6 address are part of the URL syntax.
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let connecting = async { TcpStream::connect((host, *port)).await.map_err(FtpError::ConnectionError) };
        let stream = self.within(connecting).await?;
        let newer = stream.peer_addr().is_ok_and(|address| address.is_ipv6());
        let mut ftp = self.within(AsyncFtpStream::connect_with_stream(stream)).await?;
        ftp.set_mode(if newer { Mode::ExtendedPassive } else { Mode::Passive });
        // Data connections are made to the server's own address, regardless of the address that it reports.
        ftp.set_passive_nat_workaround(true);
        self.within(log_in(&mut ftp, user, password)).await?;
        self.within(ftp.transfer_type(FileType::Binary)).await?;
        // The command is needed for servers with another default encoding; servers that always use UTF-8 may reject it.
        match self.within(ftp.opts("UTF8", Some("ON"))).await {
            Ok(_) | Err(FtpError::UnexpectedResponse(_)) => {}
            Err(error) => return Err(error),
        }
        let home = self.within(ftp.pwd()).await?.trim_end_matches('/').to_owned();
        Ok(Session { ftp, home })
    }

    /// Waits for one step of the protocol.
    pub(super) async fn within<T>(&self, step: impl Future<Output = FtpResult<T>>) -> FtpResult<T> {
        let late = |_| FtpError::ConnectionError(IoError::from(ErrorKind::TimedOut));
        timeout(self.server.patience, step).await.map_err(late)?
    }
}

impl Lease<'_> {
    /// Returns the connection to the pool, unless it is in an unknown state.
    pub(super) fn end<T>(self, result: &FtpResult<T>) {
        let sound = match result {
            Ok(_) => true,
            Err(FtpError::UnexpectedResponse(response)) => response.status != Status::NotAvailable,
            Err(_) => false,
        };
        if sound {
            let mut idle = self.pool.idle.lock().unwrap_or_else(PoisonError::into_inner);
            idle.push((self.session, Instant::now()));
        }
    }
}

/// Logs in, bypassing the client library, which would log the password.
async fn log_in(ftp: &mut AsyncFtpStream, user: &str, password: &str) -> FtpResult<()> {
    let expected = [Status::LoggedIn, Status::NeedPassword];
    if ftp.custom_command(format!("USER {user}"), &expected).await?.status == Status::LoggedIn {
        return Ok(());
    }
    let reply = exchange(&*ftp.get_ref().await, format!("PASS {password}\r\n").as_bytes()).await;
    let (code, body) = reply.map_err(FtpError::ConnectionError)?;
    match Status::from(code) {
        Status::LoggedIn | Status::CommandNotImplemented => Ok(()),
        status => Err(FtpError::UnexpectedResponse(Response::new(status, body))),
    }
}

/// Sends a command, and returns the code and the text of the reply.
async fn exchange(server: &TcpStream, mut command: &[u8]) -> Result<(u32, Vec<u8>), IoError> {
    while !command.is_empty() {
        server.writable().await?;
        match server.try_write(command) {
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            written => command = &command[written?..],
        }
    }
    let mut reply = Vec::new();
    loop {
        let mut buffer = [0; 512];
        server.readable().await?;
        match server.try_read(&mut buffer) {
            Err(error) if error.kind() == ErrorKind::WouldBlock => continue,
            Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
            read => reply.extend_from_slice(&buffer[..read?]),
        }
        if let Some(code) = code_of_whole(&reply) {
            return Ok((code, reply));
        }
        if reply.len() > REPLY {
            return Err(ErrorKind::InvalidData.into());
        }
    }
}

/// Returns the code of a complete reply. The last line of a complete reply begins with the code and a space; other lines may
/// precede it.
fn code_of_whole(reply: &[u8]) -> Option<u32> {
    let lines = reply.strip_suffix(b"\n")?;
    let code = lines.get(..3)?;
    let last = lines.rsplit(|byte| *byte == b'\n').next()?;
    last.strip_prefix(code)?.strip_prefix(b" ")?;
    std::str::from_utf8(code).ok()?.parse().ok()
}

/// Converts a client error to the error of an operation.
pub(super) fn fault(operation: &'static str, error: FtpError) -> StoreError {
    use StoreErrorKind as Kind;
    let (kind, message) = match &error {
        FtpError::ConnectionError(error) if error.kind() == ErrorKind::TimedOut => {
            (Kind::TimedOut, "no response in time".to_owned())
        }
        FtpError::ConnectionError(error) if error.kind() == ErrorKind::ConnectionRefused => {
            (Kind::Unreachable, "no connection to the server".to_owned())
        }
        FtpError::ConnectionError(error) if error.kind() == ErrorKind::FileTooLarge => {
            (Kind::TooLarge, error.to_string())
        }
        FtpError::ConnectionError(_) => (Kind::Unreachable, "the connection was interrupted".to_owned()),
        FtpError::UnexpectedResponse(response) => {
            (kind_of(response), format!("the server answered {} {}", response.status.code(), words(response)))
        }
        _ => (Kind::Other, "the server violates the protocol".to_owned()),
    };
    let fault = StoreError::new(kind, operation, message);
    // The client's error does not include its cause.
    let fault = match &error {
        FtpError::ConnectionError(cause) => fault.because_of(cause),
        _ => fault,
    };
    fault.with_source(error)
}

fn kind_of(response: &Response) -> StoreErrorKind {
    use StoreErrorKind as Kind;
    match response.status.code() {
        430 | 530 | 532 => Kind::Forbidden,
        452 | 552 => Kind::StorageFull,
        400..500 => Kind::Unreachable,
        500 | 502 | 504 => Kind::Unsupported,
        550 | 553 if is_denial(response) => Kind::Forbidden,
        550 => Kind::NotFound,
        _ => Kind::Other,
    }
}

/// Returns true if the server denies permission. This is decided by the text, since code 550 is also used for missing files.
pub(super) fn is_denial(response: &Response) -> bool {
    let words = words(response).to_lowercase();
    ["denied", "permi", "privilege", "not allowed", "access"].iter().any(|part| words.contains(part))
}

/// Returns true if the server reports a missing file.
pub(super) fn is_absence(response: &Response) -> bool {
    let words = words(response).to_lowercase();
    ["no such", "not found", "not exist", "cannot find"].iter().any(|part| words.contains(part))
}

fn words(response: &Response) -> String {
    let text = String::from_utf8_lossy(&response.body).into_owned();
    let text = text.strip_prefix(&response.status.code().to_string()).unwrap_or(&text);
    text.trim().chars().take(WORDS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replies_end_with_their_last_line() {
        assert_eq!(code_of_whole(b"230 in\r\n"), Some(230));
        assert_eq!(code_of_whole(b"230-welcome\r\n 230 x\r\n230 in\r\n"), Some(230));
        for part in ["", "230", "230 in", "230-welcome\r\n", "230-welcome\r\n230-in\r\n", "\r\n", "abc d\r\n"]
        {
            assert_eq!(code_of_whole(part.as_bytes()), None, "{part:?}");
        }
    }
}
