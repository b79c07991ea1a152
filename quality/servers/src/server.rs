//! A server and its start: the parts that the files of all servers share.

use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use super::install::{self, Need};
use super::process::Process;
use zarrox_runner::run::{self, Outcome, Program, program};

/// The time limit for a server to start.
pub(super) const LIMIT: Duration = Duration::from_secs(120);

/// The name of what data is written to, where a server wants one made before: a bucket, a container.
pub(super) const BUCKET: &str = "zarrox";

/// A server.
pub(super) struct Server {
    /// Its name on the command line.
    pub(super) name: &'static str,
    pub(super) needs: &'static [Need],
    /// The variables that it gives to tests, without the prefix.
    pub(super) variables: &'static [&'static str],
    pub(super) start: fn(&Site) -> Outcome<Started>,
}

/// A server that runs and is ready, and the values of its variables in their order.
pub(super) struct Started {
    #[expect(dead_code, reason = "they are kept, since they end when they are dropped")]
    pub(super) processes: Vec<Process>,
    pub(super) values: Vec<String>,
}

/// The place of a server that is being started.
pub(super) struct Site {
    pub(super) name: &'static str,
    /// An empty directory of its own, as an absolute path.
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

    /// Starts a server and waits until it takes connections.
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

/// Connects to a port, as a sign that the server is there.
pub(super) fn connect(port: u16) -> Outcome<TcpStream> {
    TcpStream::connect(("127.0.0.1", port)).map_err(|error| format!("port {port}: {error}"))
}

/// Returns a port that is free. Those that systems give to clients are left out, since any program might get one before the
/// server does; and two runs at the same time begin at different places.
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
