//! Servers for the tests of stores: the real server, or the usual test server for its protocol.
//!
//! The file of each server has its requirements, its start and the check that it is ready. All servers listen on free ports of
//! the loopback interface, store their data in `target/servers/NAME`, and end with the work that they were started for.

#![expect(clippy::print_stdout, reason = "it is a library of command-line programs")]

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
mod server;
mod webdav;

use std::time::Instant;

use install::Need;
use server::{Server, Site, Started};
use zarrox_runner::run::{self, Outcome};

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

/// The prefix of every variable with which tests find servers.
const PREFIX: &str = "ZARROX_TEST_";

/// Environment variables: names and values.
pub type Variables = Vec<(String, String)>;

/// Returns the names of all servers.
fn all_names() -> Vec<&'static str> {
    SERVERS.iter().map(|server| server.name).collect()
}

/// Starts the servers with these names, or all servers if there are none, and ends them after `work`. `work` receives the
/// variables with which tests find the servers. Installs missing requirements.
///
/// # Errors
/// When a server cannot be installed or started, and when the work fails.
pub fn with<T>(names: &[&str], work: impl FnOnce(&Variables) -> Outcome<T>) -> Outcome<T> {
    let chosen = chosen(names)?;
    let needs: Vec<Need> = chosen.iter().flat_map(|server| server.needs).copied().collect();
    install::install(&needs)?;
    let begin = Instant::now();
    let running = start_all(&chosen)?;
    println!("{} servers are ready after {:.1} s", running.len(), begin.elapsed().as_secs_f64());
    work(&variables(&chosen, &running))
}

/// Returns the servers with these names, or all servers if there are none.
///
/// # Errors
/// When a name is unknown.
pub fn chosen_names(names: &[&str]) -> Outcome<Vec<&'static str>> {
    Ok(chosen(names)?.iter().map(|server| server.name).collect())
}

fn chosen(names: &[&str]) -> Outcome<Vec<&'static Server>> {
    if let Some(unknown) = names.iter().find(|name| !SERVERS.iter().any(|server| server.name == **name)) {
        return Err(format!("unknown server '{unknown}'; expected one of {}", all_names().join(", ")));
    }
    Ok(SERVERS.iter().filter(|server| names.is_empty() || names.contains(&server.name)).collect())
}

/// Starts all servers in parallel.
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
    let directory = run::absolute(format!("target/servers/{}", server.name))?;
    run::empty_directory(&directory)?;
    let started = (server.start)(&Site { name: server.name, directory })?;
    match started.values.len() == server.variables.len() {
        true => Ok(started),
        false => Err(format!("{}: not every variable has a value", server.name)),
    }
}

/// Returns the variables of all servers, and a variable that lists the servers, so that a test with a missing variable fails.
fn variables(servers: &[&Server], running: &[Started]) -> Variables {
    let names: Vec<&str> = servers.iter().flat_map(|server| server.variables).copied().collect();
    let values = running.iter().flat_map(|started| &started.values);
    let all = (format!("{PREFIX}SERVERS"), names.join(","));
    let each = names.iter().zip(values).map(|(name, value)| (format!("{PREFIX}{name}"), value.clone()));
    each.chain([all]).collect()
}
