//! A server and its start: the common parts of all servers.

use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use super::install::{self, Need};
use super::process::Process;
use zarrox_runner::run::{self, Outcome, Program, program};

/// The timeout of the start of a server.
pub(super) const LIMIT: Duration = Duration::from_secs(120);

/// The name of the bucket or container, for servers on which it must be created before writing.
pub(super) const BUCKET: &str = "zarrox";

/// A server.
pub(super) struct Server {
    /// The name of the server on the command line.
    pub(super) name: &'static str,
    pub(super) needs: &'static [Need],
    /// The variables for tests, without the prefix.
    pub(super) variables: &'static [&'static str],
    pub(super) start: fn(&Site) -> Outcome<Started>,
}

/// A server that is ready, and the values of its variables in order.
pub(super) struct Started {
    #[expect(dead_code, reason = "the processes end when they are dropped")]
    pub(super) processes: Vec<Process>,
    pub(super) values: Vec<String>,
}

/// The directory of a server that is being started.
pub(super) struct Site {
    pub(super) name: &'static str,
    /// An empty directory for this server, as an absolute path.
    pub(super) directory: String,
}

impl Site {
    /// Returns a path in the server's directory.
    pub(super) fn path(&self, name: &str) -> String {
        format!("{}/{name}", self.directory)
    }

    /// Returns a new directory in the server's directory.
    pub(super) fn subdirectory(&self, name: &str) -> Outcome<String> {
        let path = self.path(name);
        run::empty_directory(&path)?;
        Ok(path)
    }

    pub(super) fn start(&self, server: &Program) -> Outcome<Process> {
        Process::start(server, self.name, Path::new(&self.directory))
    }

    /// Starts a server and waits until it accepts connections.
    pub(super) fn start_listening(&self, server: &Program, port: u16) -> Outcome<Process> {
        let mut process = self.start(server)?;
        process.wait(LIMIT, || connect(port))?;
        Ok(process)
    }

    /// Runs a Python program against a server until it succeeds.
    pub(super) fn prepare(&self, process: &mut Process, script: &str, arguments: &[&str]) -> Outcome {
        let script = program(install::python()?, ["-c", script]).with(arguments.iter().copied());
        process.wait(LIMIT, || match script.log()? {
            (true, _) => Ok(()),
            (false, log) => Err(log),
        })
    }
}

/// Returns a server in one process, with one variable.
pub(super) fn started(process: Process, value: String) -> Started {
    Started { processes: vec![process], values: vec![value] }
}

/// Connects to a port, to check that the server listens.
pub(super) fn connect(port: u16) -> Outcome<TcpStream> {
    TcpStream::connect(("127.0.0.1", port)).map_err(|error| format!("port {port}: {error}"))
}

/// Returns a free port. The ephemeral ports of the system are excluded, since another program might get such a port before the
/// server does. Two concurrent runs begin at different ports.
pub(super) fn free_port() -> Outcome<u16> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    const PORTS: std::ops::Range<u32> = 12_000..22_000;
    let start = std::process::id().wrapping_mul(64);
    for _ in PORTS {
        let offset = start.wrapping_add(NEXT.fetch_add(1, Ordering::Relaxed)) % (PORTS.end - PORTS.start);
        let port = u16::try_from(PORTS.start + offset).map_err(|error| error.to_string())?;
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return Ok(port);
        }
    }
    Err(format!("no port from {} to {} is free", PORTS.start, PORTS.end))
}
