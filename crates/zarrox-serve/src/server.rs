//! The server: its options, its address, and its lifetime.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::watch;
use zarrox::{AccessOptions, Error, ErrorKind, OpenOptions, Place, Result};

use crate::address::{escaped, escaped_path};
use crate::connections;
use crate::guard::Guard;
use crate::roots::Roots;
use crate::router::{App, router};
use crate::v3::Encoded;
use crate::work::Limits;

/// The sizes in bytes of the caches of decoded chunks and of re-encoded chunks.
const CACHED: usize = 64 << 20;
const CACHED_ENCODED: u64 = 32 << 20;

/// The memory limit in bytes, excluding results.
const MEMORY: usize = 128 << 20;

/// The minimum number of threads that may wait for stores, so that roots added later have some.
const THREADS: usize = 512;

/// A server of Zarr arrays and groups, and its builder. By default it listens on a free port of the loopback interface,
/// and requires a random token.
#[derive(Debug)]
pub struct Server {
    roots: Roots,
    bind: IpAddr,
    port: u16,
    token: Token,
    origins: Vec<String>,
    hosts: Vec<String>,
    prefix: String,
}

#[derive(Debug, Clone)]
enum Token {
    Random,
    Given(String),
    None,
}

impl Default for Server {
    fn default() -> Self {
        Self::new()
    }
}

impl Server {
    /// Creates a server without roots.
    pub fn new() -> Self {
        let fresh = (Duration::from_secs(1), Duration::from_secs(30));
        let limits = Limits { time: Duration::from_secs(30), fresh };
        Self {
            roots: Roots::new(limits, AccessOptions::new().memory(MEMORY).chunk_cache(CACHED)),
            bind: Ipv4Addr::LOCALHOST.into(),
            port: 0,
            token: Token::Random,
            origins: Vec::new(),
            hosts: Vec::new(),
            prefix: String::new(),
        }
    }

    /// Adds a root: the location of an array, a group, or several hierarchies. Its name is part of URLs.
    ///
    /// # Errors
    /// If the name is taken or invalid in a URL, or the location has no store.
    pub fn root(self, name: impl Into<String>, place: impl Into<Place>) -> Result<Self> {
        self.root_with(name, place, &OpenOptions::new())
    }

    /// Adds a root that is opened with these options, but always read-only.
    ///
    /// # Errors
    /// The errors of [`Server::root`].
    pub fn root_with(
        self,
        name: impl Into<String>,
        place: impl Into<Place>,
        options: &OpenOptions,
    ) -> Result<Self> {
        self.roots.add(&name.into(), place, options)?;
        Ok(self)
    }

    /// Sets the listening address; 127.0.0.1 by default.
    #[must_use]
    pub fn bind_to(self, address: IpAddr) -> Self {
        Self { bind: address, ..self }
    }

    /// Sets the port; 0, the default, selects a free port.
    #[must_use]
    pub fn port(self, port: u16) -> Self {
        Self { port, ..self }
    }

    /// Sets the token, of at least 8 letters, digits, `-`, `_`, `.` and `~`; `None` accepts all requests.
    #[must_use]
    pub fn token(self, token: Option<String>) -> Self {
        Self { token: token.map_or(Token::None, Token::Given), ..self }
    }

    /// Allows requests from pages of another origin, such as `https://viewer.example.org`; `*` allows all.
    #[must_use]
    pub fn allow_origin(mut self, origin: impl Into<String>) -> Self {
        self.origins.push(origin.into().trim_end_matches('/').to_owned());
        self
    }

    /// Adds a host name, without a port, such as the name that a proxy passes on. `*` allows any.
    #[must_use]
    pub fn allow_host(mut self, host: impl Into<String>) -> Self {
        self.hosts.push(host.into());
        self
    }

    /// Sets the path prefix of all URLs, as behind a proxy: `/user/me/proxy/8000`. Requests are accepted with and
    /// without it.
    #[must_use]
    pub fn prefix(self, prefix: impl Into<String>) -> Self {
        let prefix: String = prefix.into();
        let prefix = prefix.trim_matches('/');
        Self { prefix: if prefix.is_empty() { String::new() } else { format!("/{prefix}") }, ..self }
    }

    /// Sets the timeout of a response; 30 seconds by default. The timeout applies to roots that are added afterwards.
    #[must_use]
    pub fn time_limit(mut self, time: Duration) -> Self {
        self.roots.limits.time = time;
        self
    }

    /// Sets the time for which a cached node is considered fresh, in local and in remote stores; 1 and 30 seconds by
    /// default. The times apply to roots that are added afterwards.
    #[must_use]
    pub fn fresh(mut self, local: Duration, remote: Duration) -> Self {
        self.roots.limits.fresh = (local, remote);
        self
    }

    /// Starts listening.
    ///
    /// # Errors
    /// If the token is invalid, the address is in use or unavailable, or there is no source of random numbers.
    pub fn bind(self) -> Result<Bound> {
        let address = SocketAddr::new(self.bind, self.port);
        let failed = |error: io::Error| {
            let message = format!("cannot listen on {address}: {error}");
            Error::new(ErrorKind::Unreachable, message).with_source(error)
        };
        let listener = TcpListener::bind(address).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let app = self.into_app(address)?;
        let (stop, _) = watch::channel(false);
        Ok(Bound { listener, app, address, stop: StopHandle(Arc::new(stop)) })
    }

    /// Returns the service without a listener, for programs that have one. It behaves as if it listened on
    /// this address.
    ///
    /// # Errors
    /// If the token is invalid, or there is no source of random numbers.
    pub fn into_router(self, address: SocketAddr) -> Result<Router> {
        Ok(router(self.into_app(address)?))
    }

    fn into_app(self, address: SocketAddr) -> Result<App> {
        let token = match self.token {
            Token::Random => Some(random_token()?),
            Token::Given(token) => Some(checked(token)?),
            Token::None => None,
        };
        let guard = Guard {
            bound: address.ip(),
            hosts: self.hosts,
            token,
            origins: self.origins,
            cookie: format!("zarrox-{}", address.port()),
            cookie_path: format!("{}/", self.prefix),
        };
        Ok(App {
            roots: self.roots,
            guard: Arc::new(guard),
            prefix: escaped_path(&self.prefix).into(),
            registry: Arc::new(zarrox::codecs::registry()),
            encoded: Arc::new(Encoded::new(CACHED_ENCODED)),
        })
    }
}

/// The minimum length of a token that a program sets.
const LEAST_TOKEN: usize = 8;

/// Checks that a token is valid in URLs and cookies, and long enough.
fn checked(token: String) -> Result<String> {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_.~".contains(letter);
    if token.len() >= LEAST_TOKEN && token.chars().all(is_plain) {
        return Ok(token);
    }
    let message = format!(
        "a token needs at least {LEAST_TOKEN} letters, digits, '-', '_', '.' or '~', and has no others"
    );
    Err(Error::new(ErrorKind::InvalidArgument, message))
}

/// Returns a random token, which cannot be guessed.
fn random_token() -> Result<String> {
    let mut bytes = [0; 24];
    getrandom::fill(&mut bytes).map_err(|error| {
        Error::new(ErrorKind::Unreachable, format!("no random numbers for a token: {error}"))
    })?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// A listening server.
#[derive(Debug)]
pub struct Bound {
    listener: TcpListener,
    app: App,
    address: SocketAddr,
    stop: StopHandle,
}

impl std::fmt::Debug for App {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("App").field("roots", &self.roots).finish_non_exhaustive()
    }
}

/// Stops a server, from any thread.
#[derive(Debug, Clone)]
pub struct StopHandle(Arc<watch::Sender<bool>>);

impl StopHandle {
    /// Completes running requests within a short time, and accepts no others.
    pub fn stop(&self) {
        self.0.send_replace(true);
    }
}

impl Bound {
    /// Returns the listening address.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the token; `None` if no token is needed.
    pub fn token(&self) -> Option<&str> {
        self.app.guard.token.as_deref()
    }

    /// Returns the base URL, without a trailing `/`: `http://127.0.0.1:41215`.
    pub fn url(&self) -> String {
        let host = match self.address.ip() {
            // Clients cannot connect to the unspecified address.
            ip if ip.is_unspecified() => Ipv4Addr::LOCALHOST.to_string(),
            IpAddr::V6(ip) => format!("[{ip}]"),
            IpAddr::V4(ip) => ip.to_string(),
        };
        format!("http://{host}:{}{}", self.address.port(), self.app.prefix)
    }

    /// Returns the path of the page below [`Bound::url`] for frames in pages of other origins, such
    /// as notebooks. The path contains the token, or `-` if no token is needed.
    pub fn frame_path(&self) -> String {
        format!("/t/{}/", escaped(self.token().unwrap_or("-")))
    }

    /// Returns a link that contains the access token, if there is one; browsers store the token as a cookie.
    pub fn link(&self) -> String {
        match self.token() {
            Some(token) => format!("{}/?token={token}", self.url()),
            None => format!("{}/", self.url()),
        }
    }

    /// Returns the names of the roots, and the Zarr 3 URL of each.
    pub fn roots(&self) -> Vec<(String, String)> {
        let url = self.url();
        let roots = self.app.roots.list();
        roots.iter().map(|root| (root.name.clone(), format!("{url}/v3/{}", escaped(&root.name)))).collect()
    }

    /// Returns the list of roots, to which roots can be added while the server runs.
    pub fn shared_roots(&self) -> Roots {
        self.app.roots.clone()
    }

    /// Returns a handle that stops the server.
    pub fn stop_handle(&self) -> StopHandle {
        self.stop.clone()
    }

    /// Serves requests until the server is stopped.
    ///
    /// # Errors
    /// If no thread can be started.
    pub fn run(self) -> Result<()> {
        let failed = |error: io::Error| {
            Error::new(ErrorKind::Unreachable, format!("the server cannot run: {error}")).with_source(error)
        };
        raise_open_files();
        let Self { listener, app, stop, .. } = self;
        let threads = app.roots.list().iter().map(|root| root.workers.threads + root.long.threads).sum();
        let runtime = runtime(threads).map_err(failed)?;
        let outcome = runtime.block_on(async move {
            let listener = tokio::net::TcpListener::from_std(listener)?;
            connections::serve(listener, router(app), stop.0.subscribe()).await;
            Ok(())
        });
        // A hanging store does not block the shutdown.
        runtime.shutdown_background();
        outcome.map_err(failed)
    }
}

/// Raises the limit of open files to the maximum: each connection is an open file.
fn raise_open_files() {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, getrlimit, setrlimit};
        let mut limit = getrlimit(Resource::Nofile);
        limit.current = limit.maximum;
        // A lower limit only reduces the number of connections.
        let _ = setrlimit(Resource::Nofile, limit);
    }
}

/// Builds the runtime: threads for responses, and threads that may wait for stores.
fn runtime(threads: usize) -> io::Result<Runtime> {
    let mut builder = Builder::new_multi_thread();
    builder
        .worker_threads(2)
        .max_blocking_threads(threads.max(THREADS))
        .thread_name("zarrox-serve")
        .enable_io()
        .enable_time();
    builder.build()
}
