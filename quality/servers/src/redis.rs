//! Redis.

use std::io::{BufRead, BufReader, Write};

use super::install::Need;
use super::server::{LIMIT, Server, Site, Started, connect, free_port, started};
use zarrox_runner::run::{Outcome, program};

pub(super) const SERVER: Server = Server {
    name: "redis",
    needs: &[Need::Debian { file: "redis-server", package: "redis-server" }],
    variables: &["REDIS"],
    start,
};

fn start(site: &Site) -> Outcome<Started> {
    let port = free_port()?;
    let server = program("redis-server", ["--bind", "127.0.0.1", "--port", &port.to_string()]);
    // Nothing is written to the disk.
    let mut process = site.start(&server.with(["--save", "", "--appendonly", "no"]))?;
    process.wait(LIMIT, || ping(port))?;
    Ok(started(process, format!("redis://127.0.0.1:{port}")))
}

/// The server accepts connections before it can respond.
fn ping(port: u16) -> Outcome {
    let mut stream = connect(port)?;
    let mut answer = String::new();
    stream.write_all(b"PING\r\n").map_err(|error| error.to_string())?;
    BufReader::new(stream).read_line(&mut answer).map_err(|error| error.to_string())?;
    if answer == "+PONG\r\n" { Ok(()) } else { Err(format!("the server answered {answer:?}")) }
}
