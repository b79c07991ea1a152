//! Servers that stores are tested against, each the real thing or what its protocol is tested with elsewhere.
//!
//! A file for each says what it needs, how it is started and when it is ready. All listen on free ports of the loopback
//! interface, keep what they hold in `target/servers/NAME`, and end with the work that they were started for.

mod azurite;
mod fake_gcs;
mod ftp;
mod hdfs;
mod install;
mod mongodb;
mod nginx;
mod process;
mod redis;
mod seaweedfs;
mod webdav;

use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use crate::run::{self, Outcome, Program, program};
use install::Need;
use process::Process;

/// All servers.
const SERVERS: &[Server] = &[
    redis::SERVER,
    mongodb::SERVER,
    seaweedfs::SERVER,
    azurite::SERVER,
    fake_gcs::SERVER,
    nginx::SERVER,
    webdav::SERVER,
    ftp::SERVER,
    hdfs::SERVER,
];

/// The beginning of the name of every variable that tells tests about servers.
const PREFIX: &str = "ZARROX_TEST_";

/// The time limit for a server to start.
const LIMIT: Duration = Duration::from_secs(120);

/// The name of what data is written to, where a server wants one made before: a bucket, a container.
const BUCKET: &str = "zarrox";

/// A server.
struct Server {
    /// Its name on the command line.
    name: &'static str,
    needs: &'static [Need],
    /// The variables that it gives to tests, without the prefix.
    variables: &'static [&'static str],
    start: fn(&Site) -> Outcome<Started>,
}

/// A server that runs and is ready, and the values of its variables in their order.
struct Started {
    #[expect(dead_code, reason = "they are kept, since they end when they are dropped")]
    processes: Vec<Process>,
    values: Vec<String>,
}

/// Environment variables: their names and values.
pub(crate) type Variables = Vec<(String, String)>;

/// The names of all servers.
pub(crate) fn names() -> Vec<&'static str> {
    SERVERS.iter().map(|server| server.name).collect()
}

/// Starts the servers with these names, or all if there are none, and ends them after the work, which is given the variables that
/// tests know them by. Installs what is missing. A server that cannot be installed or started is an error.
pub(crate) fn with<T>(names: &[&str], work: impl FnOnce(&Variables) -> Outcome<T>) -> Outcome<T> {
    let chosen = chosen(names)?;
    let needs: Vec<Need> = chosen.iter().flat_map(|server| server.needs).copied().collect();
    install::install(&needs)?;
    let begin = Instant::now();
    let running = start_all(&chosen)?;
    println!("{} servers are ready after {:.1} s", running.len(), begin.elapsed().as_secs_f64());
    work(&variables(&chosen, &running))
}

fn chosen(names: &[&str]) -> Outcome<Vec<&'static Server>> {
    if let Some(unknown) = names.iter().find(|name| !SERVERS.iter().any(|server| server.name == **name)) {
        return Err(format!("'{unknown}' is not a server: there are {}", self::names().join(", ")));
    }
    Ok(SERVERS.iter().filter(|server| names.is_empty() || names.contains(&server.name)).collect())
}

/// Starts all at the same time.
fn start_all(servers: &[&'static Server]) -> Outcome<Vec<Started>> {
    let outcomes: Vec<Outcome<Started>> = std::thread::scope(|scope| {
        let threads: Vec<_> = servers.iter().map(|server| scope.spawn(|| start(server))).collect();
        let join =
            |thread: std::thread::ScopedJoinHandle<'_, _>| thread.join().map_err(|_| "a thread panicked")?;
        threads.into_iter().map(join).collect()
    });
    let problems: Vec<&str> =
        outcomes.iter().filter_map(|outcome| outcome.as_ref().err().map(String::as_str)).collect();
    if problems.is_empty() { outcomes.into_iter().collect() } else { Err(problems.join("\n\n")) }
}

fn start(server: &Server) -> Outcome<Started> {
    let directory = absolute(&format!("target/servers/{}", server.name))?;
    run::empty_directory(&directory)?;
    let started = (server.start)(&Site { name: server.name, directory })?;
    match started.values.len() == server.variables.len() {
        true => Ok(started),
        false => Err(format!("{}: not every variable has a value", server.name)),
    }
}

/// The variables of all servers, and one that lists them, so that no test can miss its own.
fn variables(servers: &[&Server], running: &[Started]) -> Variables {
    let names: Vec<&str> = servers.iter().flat_map(|server| server.variables).copied().collect();
    let values = running.iter().flat_map(|started| &started.values);
    let all = (format!("{PREFIX}SERVERS"), names.join(","));
    let each = names.iter().zip(values).map(|(name, value)| (format!("{PREFIX}{name}"), value.clone()));
    each.chain([all]).collect()
}

/// The place of a server that is being started.
struct Site {
    name: &'static str,
    /// An empty directory of its own, as an absolute path.
    directory: String,
}

impl Site {
    /// A path in the server's directory.
    fn path(&self, name: &str) -> String {
        format!("{}/{name}", self.directory)
    }

    /// A new directory in the server's directory.
    fn subdirectory(&self, name: &str) -> Outcome<String> {
        let path = self.path(name);
        run::empty_directory(&path)?;
        Ok(path)
    }

    fn start(&self, server: &Program) -> Outcome<Process> {
        Process::start(server, self.name, Path::new(&self.directory))
    }

    /// Starts a server and waits until it takes connections.
    fn start_listening(&self, server: &Program, port: u16) -> Outcome<Process> {
        let mut process = self.start(server)?;
        process.wait(LIMIT, || connect(port))?;
        Ok(process)
    }

    /// Runs a Python program against a server until it succeeds.
    fn prepare(&self, process: &mut Process, script: &str, arguments: &[&str]) -> Outcome {
        let script = program(install::python()?, ["-c", script]).with(arguments.iter().copied());
        process.wait(LIMIT, || match script.log()? {
            (true, _) => Ok(()),
            (false, log) => Err(log),
        })
    }
}

/// A server in one process, with one variable.
fn started(process: Process, value: String) -> Started {
    Started { processes: vec![process], values: vec![value] }
}

/// Connects to a port, as a sign that the server is there.
fn connect(port: u16) -> Outcome<TcpStream> {
    TcpStream::connect(("127.0.0.1", port)).map_err(|error| format!("port {port}: {error}"))
}

/// A port that is free. Those that systems give to clients are left out, since any program might get one before the server does;
/// and two runs at the same time begin at different places.
fn free_port() -> Outcome<u16> {
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

fn absolute(path: &str) -> Outcome<String> {
    let path = std::path::absolute(path).map_err(|error| format!("{path}: {error}"))?;
    Ok(path.to_string_lossy().into_owned())
}
