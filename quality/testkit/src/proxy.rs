//! A proxy before a server, which simulates network failures and counts requests.
//!
//! ```
//! use std::time::Duration;
//! use zarrox_testkit::proxy::{After, Proxy};
//!
//! # let server = std::net::TcpListener::bind("127.0.0.1:0")?;
//! # let url = format!("http://{}", server.local_addr()?);
//! let proxy = Proxy::new(&url)?;
//! let url = proxy.url(); // for the store
//! proxy.set_delay(Duration::from_millis(20));
//! proxy.cut(After::Answers(1), 1); // the second answer is lost, once
//! assert_eq!(proxy.requests(), [""; 0]);
//! # Ok::<(), std::io::Error>(())
//! ```

mod faults;
mod requests;

use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

pub use faults::After;
use faults::Faults;
use requests::Requests;

/// The number of bytes that are read at once.
const CHUNK: usize = 64 * 1024;

/// The number of chunks in transit on one connection. With this number, and a delay of 100 ms, the bandwidth is 160 MB a second.
const IN_FLIGHT: usize = 256;

/// A TCP proxy on a port of the loopback interface. The proxy ends, with all its connections, when it is dropped.
///
/// All settings can be changed at any time, by any thread, and also apply to open connections.
#[derive(Debug)]
pub struct Proxy {
    url: String,
    shared: Arc<Shared>,
    listening: Option<JoinHandle<()>>,
}

/// The state that all threads of a proxy share.
#[derive(Debug)]
struct Shared {
    address: SocketAddr,
    server: SocketAddr,
    state: Mutex<State>,
    /// Notifies threads that wait for a change of the state.
    changed: Condvar,
    next: AtomicU64,
}

/// The state of a proxy.
#[derive(Debug, Default)]
struct State {
    delay: Duration,
    faults: Faults,
    /// How connections are treated.
    mode: Mode,
    /// True if the port is open.
    is_open: bool,
    connections: u64,
    requests: Vec<String>,
    /// Both streams of the open connections.
    streams: HashMap<u64, Vec<TcpStream>>,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Mode {
    #[default]
    Forward,
    Refuse,
    Stall,
    End,
}

impl Proxy {
    /// Creates a proxy before the server at a URL (`http://127.0.0.1:8000`, `ftp://u:p@127.0.0.1:2121/a`) or a bare `host:port`.
    ///
    /// # Errors
    ///
    /// When the URL has no host with a port, or no port can be opened.
    pub fn new(url: &str) -> io::Result<Self> {
        let authority = authority(url);
        let missing =
            || io::Error::new(io::ErrorKind::InvalidInput, format!("'{authority}' is not an address"));
        let server = authority.to_socket_addrs()?.next().ok_or_else(missing)?;
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            address,
            server,
            state: Mutex::new(State { is_open: true, ..State::default() }),
            changed: Condvar::new(),
            next: AtomicU64::new(0),
        });
        let listening = thread::spawn({
            let shared = Arc::clone(&shared);
            move || shared.listen(listener)
        });
        let url = url.replacen(authority, &address.to_string(), 1);
        Ok(Self { url, shared, listening: Some(listening) })
    }

    /// Returns the server's URL with the address of the proxy in it.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Delays everything that clients send by `delay`, like a connection with that latency: later data are in transit at the same
    /// time, so that the bandwidth does not shrink. Responses are not delayed: a request and its response take `delay` longer in
    /// total.
    pub fn set_delay(&self, delay: Duration) {
        self.shared.state().delay = delay;
    }

    /// Cuts a connection after this amount of further data from servers, counted over all connections. This happens `times`
    /// times, each counted from the previous cut. The connection that would have carried the next byte is cut.
    pub fn cut(&self, after: After, times: u64) {
        self.shared.state().faults.set(after, times);
    }

    /// Closes the port, so that connections are refused; open connections are cut.
    pub fn refuse(&self) {
        self.shared.set_mode(Mode::Refuse);
    }

    /// Accepts connections and never responds; open connections become silent. Data that are sent in the meantime are lost.
    pub fn stall(&self) {
        self.shared.set_mode(Mode::Stall);
    }

    /// Ends all failures and the delay. Connections that have lost data are cut.
    pub fn mend(&self) {
        self.shared.state().faults = Faults::default();
        self.set_delay(Duration::ZERO);
        self.shared.set_mode(Mode::Forward);
    }

    /// Returns the number of accepted connections.
    #[must_use]
    pub fn connections(&self) -> u64 {
        self.shared.state().connections
    }

    /// Returns the HTTP/1 requests of clients: method, target and the header `Range` if there is one, as in `GET /a/c/0
    /// bytes=0-99`. Other protocols have none.
    #[must_use]
    pub fn requests(&self) -> Vec<String> {
        self.shared.state().requests.clone()
    }

    /// Resets the counts to zero.
    pub fn reset(&self) {
        let mut state = self.shared.state();
        state.connections = 0;
        state.requests.clear();
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.shared.set_mode(Mode::End);
        let ended = self.listening.take().map(JoinHandle::join);
        debug_assert!(ended.is_some_and(|ended| ended.is_ok()), "the proxy panicked");
    }
}

/// Returns the host and port of a URL.
fn authority(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_scheme, rest)| rest);
    let authority = rest.split(['/', '?']).next().unwrap_or(rest);
    authority.rsplit('@').next().unwrap_or(authority)
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes how connections are treated, and returns when the change is in effect.
    fn set_mode(&self, mode: Mode) {
        let mut state = self.state();
        let before = std::mem::replace(&mut state.mode, mode);
        if matches!(mode, Mode::Refuse | Mode::End) || before == Mode::Stall {
            state.streams.drain().for_each(|(_, streams)| close(&streams));
        }
        self.changed.notify_all();
        if mode == Mode::Refuse && state.is_open || mode == Mode::End {
            // Connects once to wake the thread that waits for a connection.
            let _woken = TcpStream::connect(self.address);
        }
        let is_done = |state: &mut State| mode == Mode::End || state.is_open != (mode == Mode::Refuse);
        let waited = self.changed.wait_while(state, |state| !is_done(state));
        drop(waited.unwrap_or_else(PoisonError::into_inner));
    }

    /// Accepts connections until the proxy ends. The port is closed while connections are refused.
    fn listen(self: &Arc<Self>, listener: TcpListener) {
        let mut listener = Some(listener);
        loop {
            let accepted = listener.as_ref().map(TcpListener::accept);
            let mut state = self.state();
            match state.mode {
                Mode::End => return,
                Mode::Refuse => {
                    drop(accepted);
                    drop(listener.take());
                    state.is_open = false;
                    self.changed.notify_all();
                    let waited = self.changed.wait_while(state, |state| state.mode == Mode::Refuse);
                    drop(waited.unwrap_or_else(PoisonError::into_inner));
                }
                Mode::Forward | Mode::Stall if listener.is_none() => {
                    // Another program may have the port for a short time.
                    listener = TcpListener::bind(self.address).ok();
                    state.is_open = listener.is_some();
                    self.changed.notify_all();
                    drop(state);
                    thread::sleep(Duration::from_millis(1));
                }
                Mode::Forward | Mode::Stall => {
                    state.connections += u64::from(accepted.as_ref().is_some_and(Result::is_ok));
                    drop(state);
                    if let Some(Ok((client, _))) = accepted {
                        // Without a server the connection is closed.
                        let _forwarded = Connection::open(self, client);
                    }
                }
            }
        }
    }
}

/// A connection through the proxy. The connection is removed when the last of its threads ends.
struct Connection {
    shared: Arc<Shared>,
    id: u64,
    client: TcpStream,
    server: TcpStream,
    /// True if the client has sent data since the server last did.
    has_request: AtomicBool,
}

/// Bytes in transit to the server, and their arrival time.
type InFlight = (Instant, Vec<u8>);

impl Connection {
    fn open(shared: &Arc<Shared>, client: TcpStream) -> io::Result<()> {
        let id = shared.next.fetch_add(1, Ordering::Relaxed);
        if shared.keep(id, vec![client.try_clone()?]) == Mode::Stall {
            return Ok(());
        }
        let server = TcpStream::connect(shared.server);
        let server = server.inspect_err(|_| shared.forget(id))?;
        client.set_nodelay(true)?;
        server.set_nodelay(true)?;
        let streams = vec![client.try_clone()?, server.try_clone()?];
        let has_request = AtomicBool::new(false);
        let connection = Arc::new(Self { shared: Arc::clone(shared), id, client, server, has_request });
        shared.keep(id, streams);
        let (sender, receiver) = sync_channel(IN_FLIGHT);
        let [a, b, c] = [0; 3].map(|_| Arc::clone(&connection));
        // The threads end when the streams are closed, or earlier.
        thread::spawn(move || a.receive(&sender));
        thread::spawn(move || b.forward(receiver));
        thread::spawn(move || c.answer());
        Ok(())
    }

    /// Reads the data of the client.
    fn receive(&self, sender: &SyncSender<InFlight>) {
        let mut requests = Requests::default();
        let mut buffer = vec![0; CHUNK];
        while let Some(bytes) = read(&self.client, &mut buffer) {
            let mut state = self.shared.state();
            state.requests.extend(requests.feed(bytes));
            let (mode, arrival) = (state.mode, Instant::now() + state.delay);
            drop(state);
            if mode == Mode::Forward && sender.send((arrival, bytes.to_vec())).is_err() {
                return;
            }
        }
    }

    /// Writes the data to the server after the delay.
    fn forward(&self, receiver: Receiver<InFlight>) {
        for (arrival, bytes) in receiver {
            thread::sleep(arrival.saturating_duration_since(Instant::now()));
            self.has_request.store(true, Ordering::SeqCst);
            if (&self.server).write_all(&bytes).is_err() {
                return self.cut();
            }
        }
        let _closed = self.server.shutdown(Shutdown::Write);
    }

    /// Forwards the data of the server.
    fn answer(&self) {
        let mut buffer = vec![0; CHUNK];
        while let Some(bytes) = read(&self.server, &mut buffer) {
            let begins = self.has_request.swap(false, Ordering::SeqCst);
            let mut state = self.shared.state();
            let (mode, cut) = (state.mode, state.faults.cut(bytes.len(), begins));
            drop(state);
            if mode == Mode::Stall {
                continue;
            }
            let written = (&self.client).write_all(&bytes[..cut.unwrap_or(bytes.len())]);
            if cut.is_some() || written.is_err() {
                return self.cut();
            }
        }
        let _closed = self.client.shutdown(Shutdown::Write);
    }

    fn cut(&self) {
        close([&self.client, &self.server]);
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.shared.forget(self.id);
    }
}

impl Shared {
    /// Stores the streams of a connection, so that they can be closed; closes them at once if the proxy has ended.
    fn keep(&self, id: u64, streams: Vec<TcpStream>) -> Mode {
        let mut state = self.state();
        match state.mode {
            Mode::Forward | Mode::Stall => drop(state.streams.insert(id, streams)),
            Mode::Refuse | Mode::End => close(&streams),
        }
        state.mode
    }

    fn forget(&self, id: u64) {
        self.state().streams.remove(&id);
    }
}

/// Returns the next bytes; `None` at the end, and when the connection is cut.
fn read<'a>(mut stream: &TcpStream, buffer: &'a mut [u8]) -> Option<&'a [u8]> {
    let length = stream.read(buffer).ok().filter(|length| *length > 0)?;
    Some(&buffer[..length])
}

/// Closes both directions of streams. Closed streams stay closed.
fn close<'a>(streams: impl IntoIterator<Item = &'a TcpStream>) {
    for stream in streams {
        let _closed = stream.shutdown(Shutdown::Both);
    }
}

#[cfg(test)]
mod tests;
